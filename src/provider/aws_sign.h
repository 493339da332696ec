/* aws_sign.h - signs a request for AWS: Signature Version 4, in the Authorization header. Pure. */
#ifndef KEEL_PROVIDER_AWS_SIGN_H
#define KEEL_PROVIDER_AWS_SIGN_H

#include "net/http.h"

struct aws_signer {
    struct str key_id, secret_key;
    struct str session_token; /* empty: none */
    struct str region, service;
    int64_t unix_ms; /* the time now; AWS refuses what is minutes old */
};

/* Adds x-amz-date, x-amz-security-token where there is one, and authorization. Of the headers that
 * are there content-* and x-amz-* are signed, besides the host; none may change afterwards. */
MUST_USE struct err *aws_sign(const struct aws_signer *s, struct arena *a,
                              struct http_request *request);

#endif
