#include "test_tls.h"
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

static char *take_text(BIO *bio)
{
    char *data;
    long len = BIO_get_mem_data(bio, &data);
    char *text = str_dup_c((struct str){ .ptr = data, .len = (size_t)len });
    BIO_free(bio);
    return text;
}

static char *cert_text(X509 *cert)
{
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, cert);
    return take_text(bio);
}

static char *key_text(EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    return take_text(bio);
}

static void extend(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    X509_add_ext(cert, extension, -1);
    X509_EXTENSION_free(extension);
}

static X509 *blank_cert(EVP_PKEY *key, const char *common_name)
{
    static long serial = 1;
    X509 *cert = X509_new();
    X509_set_version(cert, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_set_pubkey(cert, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
                               (const unsigned char *)common_name, -1, -1, 0);
    return cert;
}

void test_ca_init(struct test_ca *ca, const char *name)
{
    ca->key = EVP_EC_gen("P-256");
    ca->cert = blank_cert(ca->key, name);
    X509_set_issuer_name(ca->cert, X509_get_subject_name(ca->cert));
    extend(ca->cert, ca->cert, NID_basic_constraints, "critical,CA:TRUE");
    extend(ca->cert, ca->cert, NID_key_usage, "critical,keyCertSign,cRLSign");
    X509_sign(ca->cert, ca->key, EVP_sha256());
    ca->pem = cert_text(ca->cert);
}

void test_ca_done(struct test_ca *ca)
{
    X509_free(ca->cert);
    EVP_PKEY_free(ca->key);
    free(ca->pem);
}

void test_pair_init(struct test_pair *pair, const struct test_ca *ca, const char *common_name,
                    const char *names)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = blank_cert(key, common_name);
    X509_set_issuer_name(cert, X509_get_subject_name(ca->cert));
    extend(cert, ca->cert, NID_ext_key_usage, names ? "serverAuth" : "clientAuth");
    if (names)
        extend(cert, ca->cert, NID_subject_alt_name, names);
    X509_sign(cert, ca->key, EVP_sha256());
    pair->cert_pem = cert_text(cert);
    pair->key_pem = key_text(key);
    X509_free(cert);
    EVP_PKEY_free(key);
}

void test_pair_done(struct test_pair *pair)
{
    free(pair->cert_pem);
    free(pair->key_pem);
}
