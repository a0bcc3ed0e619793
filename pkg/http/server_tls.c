#include "server_internal.h"
#include "http/pem.h"
#include <openssl/err.h>

static int choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_len,
                           const unsigned char *offered, unsigned offered_len, void *self)
{
    (void)ssl, (void)self;
    static const unsigned char http11[] = "\x08http/1.1";
    unsigned char *chosen;
    if (SSL_select_next_proto(&chosen, ret_len, http11, sizeof http11 - 1, offered, offered_len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK; /* go on without; it is HTTP/1.1 all the same */
    *ret = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static bool use_chain(SSL_CTX *ctx, struct str pem, struct err *err)
{
    STACK_OF(X509) *certs = pem_certs(pem, err);
    if (!certs)
        return err_wrap(err, "server certificate");
    bool ok = SSL_CTX_use_certificate(ctx, sk_X509_value(certs, 0)) == 1;
    for (int i = 1; ok && i < sk_X509_num(certs); i++)
        ok = SSL_CTX_add1_chain_cert(ctx, sk_X509_value(certs, i)) == 1;
    pem_certs_free(certs);
    return ok || err_set(err, ERR_INVALID, "server certificate is not usable");
}

static bool use_key(SSL_CTX *ctx, struct str pem, struct err *err)
{
    EVP_PKEY *key = pem_key(pem, err);
    if (!key)
        return err_wrap(err, "server key");
    bool ok = SSL_CTX_use_PrivateKey(ctx, key) == 1 && SSL_CTX_check_private_key(ctx) == 1;
    EVP_PKEY_free(key);
    return ok || err_set(err, ERR_INVALID, "server key does not belong to the certificate");
}

/* Asked for, not demanded: who sends none is answered without a subject. */
static bool ask_for_client_certificates(SSL_CTX *ctx, struct str pem, struct err *err)
{
    STACK_OF(X509) *certs = pem_certs(pem, err);
    if (!certs)
        return err_wrap(err, "client certificate authority");
    for (int i = 0; i < sk_X509_num(certs); i++) {
        X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), sk_X509_value(certs, i));
        SSL_CTX_add_client_CA(ctx, sk_X509_value(certs, i));
    }
    pem_certs_free(certs);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    return true;
}

static void set_limits(SSL_CTX *ctx)
{
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(ctx, 0);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
}

SSL_CTX *server_tls_new(const struct http_server_options *options, struct err *err)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (!ctx) {
        err_set(err, ERR_FATAL, "OpenSSL gives no server context");
        return NULL;
    }
    set_limits(ctx);
    bool ok = use_chain(ctx, options->tls_cert_pem, err) && use_key(ctx, options->tls_key_pem, err) &&
              (str_empty(options->tls_client_ca_pem) ||
               ask_for_client_certificates(ctx, options->tls_client_ca_pem, err));
    ERR_clear_error();
    if (ok)
        return ctx;
    SSL_CTX_free(ctx);
    return NULL;
}

char *server_tls_subject(SSL *ssl)
{
    X509 *cert = SSL_get1_peer_certificate(ssl);
    if (!cert)
        return NULL;
    char *subject = NULL;
    unsigned char *text = NULL;
    X509_NAME *name = X509_get_subject_name(cert);
    int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    int len =
        at < 0 ? -1 : ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    struct str value = { .ptr = (char *)text, .len = len > 0 ? (size_t)len : 0 };
    /* A NUL inside would let "admin\0.example" pass for "admin". */
    if (value.len && SSL_get_verify_result(ssl) == X509_V_OK && str_find_byte(value, '\0') < 0)
        subject = str_dup_c(value);
    OPENSSL_free(text);
    X509_free(cert);
    ERR_clear_error();
    return subject;
}
