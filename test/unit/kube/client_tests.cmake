# What talks: settings, credentials, answers, requests, Events.
koord_test(kube_impersonate SOURCES test_impersonate.c LINKS kube_core)
koord_test(kube_exec_credential SOURCES test_exec_credential.c LINKS kube_core)
koord_test(kube_answer SOURCES test_answer.c LINKS kube_core)
if(TARGET kube)
    koord_test(kube_kubeconfig SOURCES test_kubeconfig.c scratch_dir.c LINKS kube)
    koord_test(kube_auth SOURCES test_auth.c scratch_dir.c LINKS kube)
endif()
if(TARGET kube AND TARGET http_server)
    koord_library(kube_fixture
        SOURCES kube_fixture.c scratch_dir.c ../http/test_tls.c
        LINKS kube http_server PkgConfig::cmocka)
    target_include_directories(kube_fixture PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ../http)
    koord_test(kube_client SOURCES test_client.c LINKS kube_fixture)
    koord_test(kube_exec_run SOURCES test_exec_run.c LINKS kube_fixture)
    koord_test(kube_exec_plugin SOURCES test_exec_plugin.c LINKS kube_fixture)
    target_link_options(kube_exec_plugin PRIVATE
        -Wl,--wrap=loop_timer_set,--wrap=loop_wall,--wrap=exec_plugin_new)
    koord_test(kube_events SOURCES test_events.c LINKS kube_fixture)
endif()
if(TARGET kube AND TARGET http_server)
    koord_test(kube_leader SOURCES test_leader.c lease_server.c LINKS kube http_server)
    target_link_options(kube_leader PRIVATE -Wl,--wrap=mono_now)
endif()
