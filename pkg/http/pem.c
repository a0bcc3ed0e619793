#include "http/pem.h"
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <time.h>

static BIO *pem_open(struct str pem, struct err *err)
{
    if (pem.len == 0 || pem.len > INT_MAX) {
        err_set(err, ERR_INVALID, "PEM text is empty or too large");
        return NULL;
    }
    return BIO_new_mem_buf(pem.ptr, (int)pem.len);
}

static int refuse_password(char *buf, int size, int rwflag, void *self)
{
    (void)buf, (void)size, (void)rwflag, (void)self;
    return -1;
}

/* True when the reader stopped because no further block begins, not at a broken one. */
static bool at_end(void)
{
    bool end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    return end;
}

STACK_OF(X509) * pem_certs(struct str pem, struct err *err)
{
    BIO *bio = pem_open(pem, err);
    if (!bio)
        return NULL;
    ERR_clear_error();
    STACK_OF(X509) *certs = sk_X509_new_null();
    X509 *cert;
    while ((cert = PEM_read_bio_X509(bio, NULL, refuse_password, NULL)))
        sk_X509_push(certs, cert);
    bool complete = at_end();
    BIO_free(bio);
    if (complete && sk_X509_num(certs) > 0)
        return certs;
    err_set(err, ERR_INVALID,
            complete ? "no certificate in the PEM text" : "malformed certificate in the PEM text");
    pem_certs_free(certs);
    return NULL;
}

void pem_certs_free(STACK_OF(X509) * certs)
{
    sk_X509_pop_free(certs, X509_free);
}

EVP_PKEY *pem_key(struct str pem, struct err *err)
{
    BIO *bio = pem_open(pem, err);
    if (!bio)
        return NULL;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, refuse_password, NULL);
    BIO_free(bio);
    ERR_clear_error();
    if (!key)
        err_set(err, ERR_INVALID, "no usable private key in the PEM text (encrypted ones are not supported)");
    return key;
}

bool pem_pair_check(struct str cert_pem, struct str key_pem, struct err *err)
{
    STACK_OF(X509) *certs = pem_certs(cert_pem, err);
    if (!certs)
        return false;
    EVP_PKEY *key = pem_key(key_pem, err);
    bool ok = key && X509_check_private_key(sk_X509_value(certs, 0), key) == 1;
    ERR_clear_error();
    if (key && !ok)
        err_set(err, ERR_INVALID, "private key and certificate do not belong together");
    EVP_PKEY_free(key);
    pem_certs_free(certs);
    return ok;
}

bool pem_not_after(struct str cert_pem, struct wall_time *ret, struct err *err)
{
    STACK_OF(X509) *certs = pem_certs(cert_pem, err);
    if (!certs)
        return false;
    struct tm end;
    bool ok = ASN1_TIME_to_tm(X509_get0_notAfter(sk_X509_value(certs, 0)), &end) == 1;
    pem_certs_free(certs);
    if (!ok)
        return err_set(err, ERR_INVALID, "the certificate's end cannot be read");
    ret->us = (int64_t)timegm(&end) * US_PER_S;
    return true;
}
