/* secret_keys.c - the names of fields with credentials. */
#include "base/secret_keys.h"

#include "base/ascii.h"

/* Lower case and without separators. Whole names: "tokens" and "max_tokens" are not secret. */
static const char *const names[] = {
    "accesskey",          "accesstoken",   "apikey",       "apisecret",
    "apitoken",           "authorization", "authtoken",    "bearertoken",
    "clientsecret",       "cookie",        "credentials",  "idtoken",
    "passphrase",         "passwd",        "password",     "privatekey",
    "proxyauthorization", "refreshtoken",  "secret",       "secretaccesskey",
    "secretkey",          "securitytoken", "sessiontoken", "setcookie",
    "signingkey",         "signingsecret", "token",        "webhooksecret",
    "xamzsecuritytoken",  "xapikey",       "xauthtoken",   "xgoogapikey",
};

bool key_is_secret(struct str key)
{
    char plain[32];
    size_t n = 0;

    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];

        if (c == '-' || c == '_')
            continue;
        if (n == sizeof plain)
            return false;
        plain[n++] = ascii_lower(c);
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(str_make(plain, n), str_of(names[i])))
            return true;
    return false;
}
