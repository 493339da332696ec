/* secret_keys.h - names of fields whose values are credentials. */
#ifndef KEEL_BASE_SECRET_KEYS_H
#define KEEL_BASE_SECRET_KEYS_H

#include "base/str.h"

#define REDACTED "[REDACTED]"

/* apiKey, authorization, accessToken, refreshToken, secret, password, xApiKey and the like, in any
 * case and with - or _ between the words. */
bool key_is_secret(struct str key);

#endif
