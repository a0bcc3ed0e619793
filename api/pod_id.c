/* Who a row of podsMetric is about, in 16 bytes: SipHash-2-4 with 128 bits of result. A
 * pod's name is chosen by its owner, so the function must not let anybody find two names
 * that are one. */
#include "api/nodemetric.h"

struct sip {
    uint64_t v[4];
    uint64_t word; /* the last, incomplete 8 bytes */
    uint64_t length;
};

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

static void sip_word(struct sip *sip)
{
    sip->v[3] ^= sip->word;
    sip_round(sip->v);
    sip_round(sip->v);
    sip->v[0] ^= sip->word;
    sip->word = 0;
}

static void sip_add(struct sip *sip, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        sip->word |= (uint64_t)(unsigned char)text.ptr[i] << (sip->length++ % 8 * 8);
        if (sip->length % 8 == 0)
            sip_word(sip);
    }
}

static uint64_t sip_take(struct sip *sip)
{
    for (int i = 0; i < 4; i++)
        sip_round(sip->v);
    return sip->v[0] ^ sip->v[1] ^ sip->v[2] ^ sip->v[3];
}

struct pod_id pod_id_of(struct str ns, struct str name)
{
    static const uint64_t key[2] = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };
    struct sip sip = { .v = { key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f83),
                              key[0] ^ UINT64_C(0x6c7967656e657261),
                              key[1] ^ UINT64_C(0x7465646279746573) } };
    sip_add(&sip, ns);
    sip_add(&sip, STR("/"));
    sip_add(&sip, name);
    sip.word |= sip.length << 56;
    sip_word(&sip);
    struct pod_id id;
    sip.v[2] ^= 0xee;
    id.half[0] = sip_take(&sip);
    sip.v[1] ^= 0xdd;
    id.half[1] = sip_take(&sip);
    return id;
}

int pod_id_order(struct pod_id a, struct pod_id b)
{
    if (a.half[0] != b.half[0])
        return a.half[0] < b.half[0] ? -1 : 1;
    return (a.half[1] > b.half[1]) - (a.half[1] < b.half[1]);
}
