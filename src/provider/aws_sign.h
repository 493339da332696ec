/* aws_sign.h - signs a request for AWS: Signature Version 4, in the Authorization header. Pure. */
#ifndef KEEL_PROVIDER_AWS_SIGN_H
#define KEEL_PROVIDER_AWS_SIGN_H

#include "net/http.h"

struct aws_signer {
    struct str key_id, secret_key;
    struct str session_token; /* empty: none */
    struct str region, service;
    int64_t unix_ms; /* current time; AWS refuses times that are minutes off */
};

/* Adds x-amz-date, authorization and, if there is a token, x-amz-security-token. Signs the host and
 * the headers content-* and x-amz-* that are present; none of them may change afterwards. */
MUST_USE struct err *aws_sign(const struct aws_signer *s, struct arena *a,
                              struct http_request *request);

#endif
