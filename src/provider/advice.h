/* advice.h - what a person needs to know about a request that failed: its id, and what to do.
 *
 * Errors are taken and given back. */
#ifndef KEEL_PROVIDER_ADVICE_H
#define KEEL_PROVIDER_ADVICE_H

#include "net/http.h"
#include "provider/endpoint.h"

/* The id of an answer, in the headers; empty: they name none. */
struct str advice_request_id(const struct http_headers *headers);
/* Adds the id of the answer, by which the provider's support finds the request, to the text. */
MUST_USE struct err *advice_name_request(struct err *take_error,
                                         const struct http_headers *headers);

/* Names the provider in the error, and adds a hint unless it has one. `model` is empty if none was
 * asked for. */
MUST_USE struct err *advice_explain(const struct endpoint_config *c, struct str model,
                                    struct err *take_error);

/* Where the base URL comes from: "ANTHROPIC_BASE_URL or ...", in `a`. */
struct str advice_base_url(const struct endpoint_config *c, struct arena *a);

#endif
