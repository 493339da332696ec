/* advice.h - what a person needs to know about a failed request: its id, and what to do next. */
#ifndef KEEL_PROVIDER_ADVICE_H
#define KEEL_PROVIDER_ADVICE_H

#include "net/http.h"
#include "provider/endpoint.h"

/* The id of an answer, from its headers; empty: none. */
struct str advice_request_id(const struct http_headers *headers);
/* Adds the id of the answer to the text of the error: the provider's support can find the request
 * by it. */
MUST_USE struct err *advice_name_request(struct err *take_error,
                                         const struct http_headers *headers);

/* Names the provider in the error, and adds a hint unless it has one. `model` is empty if none was
 * asked for. */
MUST_USE struct err *advice_explain(const struct endpoint_config *c, struct str model,
                                    struct err *take_error);

/* Where the base URL is configured: "ANTHROPIC_BASE_URL or ...", in `a`. */
struct str advice_base_url(const struct endpoint_config *c, struct arena *a);

#endif
