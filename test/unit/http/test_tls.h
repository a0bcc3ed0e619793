#pragma once
/* Certificates made on the spot: nothing to expire in the repository. */
#include "base/str.h"
#include <openssl/x509.h>

struct test_ca {
    X509 *cert;
    EVP_PKEY *key;
    char *pem;
};

struct test_pair {
    char *cert_pem;
    char *key_pem;
};

void test_ca_init(struct test_ca *ca, const char *name);
void test_ca_done(struct test_ca *ca);

/* `names` as OpenSSL writes them, "DNS:localhost,IP:127.0.0.1"; NULL: a client certificate. */
void test_pair_init(struct test_pair *pair, const struct test_ca *ca, const char *common_name,
                    const char *names);
void test_pair_done(struct test_pair *pair);
