#pragma once
/* Certificates and keys out of PEM text. Encrypted keys are refused: nobody is there to
 * type a password, and OpenSSL would ask the terminal. */
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include <openssl/x509.h>

/* Every certificate in the text, at least one; the caller frees with pem_certs_free. */
STACK_OF(X509) * pem_certs(struct str pem, struct err *err);
void pem_certs_free(STACK_OF(X509) * certs); /* NULL is fine */

/* The caller frees with EVP_PKEY_free. */
EVP_PKEY *pem_key(struct str pem, struct err *err);

/* Certificate chain and key parse, and the key belongs to the first certificate. */
bool pem_pair_check(struct str cert_pem, struct str key_pem, struct err *err) MUST_CHECK;
/* When the first certificate expires. */
bool pem_not_after(struct str cert_pem, struct wall_time *ret, struct err *err) MUST_CHECK;
