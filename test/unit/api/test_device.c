#include "api/device.h"
#include "api/nrt.h"
#include "support.h"

#define META "\"metadata\":{\"name\":\"node-1\",\"labels\":{\"node.koordinator.sh/gpu-vendor\":\"nvidia\"}}"
#define GPU(core_)                                                                                           \
    "{\"type\":\"gpu\",\"health\":true,\"resources\":{\"koordinator.sh/gpu-core\":\"" core_ "\"}}"

static const struct kube_object *device_from(struct fixture *fixture, const char *json)
{
    const struct kube_object *object = fixture_object(fixture, &device_kind, json);
    assert_non_null(object);
    return object;
}

static void device__sums_healthy_entries(void **state)
{
    struct fixture *fixture = *state;
    const struct kube_object *object = device_from(
        fixture,
        "{" META ",\"spec\":{\"devices\":[" GPU("100") "," GPU(
            "50") ","
                  "{\"type\":\"gpu\",\"health\":false,\"resources\":{\"koordinator.sh/gpu-core\":\"7\"}},"
                  "{\"type\":\"gpu\",\"resources\":{\"koordinator.sh/gpu-core\":\"7\"}},"
                  "{\"type\":\"rdma\",\"health\":true},{\"type\":\"fpga\",\"health\":true}]}}");
    const struct device *device = device_of(object);
    assert_int_equal(device->gpu_count, 2);
    assert_int_equal(device->rdma_count, 1);
    assert_int_equal(device->has, 1u << OWNED_GPU_CORE);
    assert_true(device->sums[OWNED_GPU_CORE - OWNED_GPU] == (__int128)150 * API_NANO_PER_UNIT);
    assert_str(istr_str(device->labels[DEVICE_GPU_VENDOR]), "nvidia");
    assert_null(device->labels[DEVICE_GPU_MODEL]);
    kube_object_unref(object);
}

static void device__negative_amounts_are_told_and_absent(void **state)
{
    struct fixture *fixture = *state;
    const struct kube_object *object =
        device_from(fixture, "{" META ",\"spec\":{\"devices\":[" GPU("-1") "]}}");
    assert_int_equal(device_of(object)->has, 0);
    assert_string_equal(fixture->path, "spec.devices[0].resources.koordinator.sh/gpu-core");
    kube_object_unref(object);
}

static void ref_17_device_of_equal_sums_is_the_same(void **state)
{
    struct fixture *fixture = *state;
    const struct kube_object *a = device_from(fixture, "{" META ",\"spec\":{\"devices\":[" GPU("100") "]}}");
    const struct kube_object *b =
        device_from(fixture, "{" META ",\"spec\":{\"devices\":[{\"type\":\"fpga\"}," GPU("100000m") "]}}");
    const struct kube_object *c = device_from(fixture, "{" META ",\"spec\":{\"devices\":[" GPU("99") "]}}");
    assert_true(device_kind.same(a, b));
    assert_false(device_kind.same(a, c));
    kube_object_unref(a);
    kube_object_unref(b);
    kube_object_unref(c);
}

static void nrt__keeps_the_zones_and_what_the_cpu_is(void **state)
{
    struct fixture *fixture = *state;
    const struct kube_object *object = fixture_object(
        fixture, &nrt_kind,
        "{\"metadata\":{\"name\":\"n\",\"annotations\":{\"node.koordinator.sh/cpu-basic-info\":\"{}\"}},"
        "\"topologyPolicies\":[\"None\"],\"zones\":[ {\"name\": \"node-0\", \"costs\":[1]} ]}");
    const struct kube_object *bare =
        fixture_object(fixture, &nrt_kind, "{\"metadata\":{\"name\":\"n\"},\"zones\":{}}");
    assert_str(istr_str(nrt_of(object)->cpu_basic_info), "{}");
    assert_str(istr_str(nrt_of(object)->zones), "[{\"name\":\"node-0\",\"costs\":[1]}]");
    assert_null(nrt_of(bare)->zones);
    assert_null(nrt_of(bare)->cpu_basic_info);
    assert_false(nrt_kind.same(object, bare));
    kube_object_unref(object);
    kube_object_unref(bare);
}

#define FIXED(test_) cmocka_unit_test_setup_teardown(test_, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXED(device__sums_healthy_entries),
        FIXED(device__negative_amounts_are_told_and_absent),
        FIXED(ref_17_device_of_equal_sums_is_the_same),
        FIXED(nrt__keeps_the_zones_and_what_the_cpu_is),
    };
    return cmocka_run_group_tests_name("api/device", tests, NULL, NULL);
}
