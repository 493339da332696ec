/* rsa_sign.h - RSA with SHA-256 (RS256), by OpenSSL's libcrypto, which net/tls.h uses as well.
 * Loaded on first use. */
#ifndef KEEL_SYS_RSA_SIGN_H
#define KEEL_SYS_RSA_SIGN_H

#include "base/strbuf.h"

/* Appends the signature. `pem` is a private key without a passphrase. ERR_CONFIGURATION without
 * the library, ERR_VALIDATION when the key cannot be used. */
MUST_USE struct err *rsa_sign_sha256(struct str pem, struct str bytes, struct strbuf *signature);

#endif
