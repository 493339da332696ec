/* exchange_error.c - why an exchange failed, and what to do about it. */
#include "net/http1_client.h"

/* "30 s", "1500 ms" */
static struct str duration(struct arena *a, uint64_t ms)
{
    return ms % 1000 ? arena_format(a, "%llu ms", (unsigned long long)ms)
                     : arena_format(a, "%llu s", (unsigned long long)(ms / 1000));
}

struct err *exchange_connect_timeout(const struct route *r, uint64_t connect_ms)
{
    AUTO(arena) struct arena a = {0};

    return err_hint(err_new(ERR_TIMEOUT, "connecting to %s took longer than %" STR_FMT,
                            r->kind == ROUTE_DIRECT ? r->peer : r->proxy_peer,
                            STR_ARG(duration(&a, connect_ms))),
                    "check the network, and whether HTTPS_PROXY must be set");
}

struct err *exchange_idle_timeout(const struct route *r, uint64_t idle_ms)
{
    AUTO(arena) struct arena a = {0};

    return err_new(ERR_TIMEOUT, "%" STR_FMT " sent nothing for %" STR_FMT, STR_ARG(r->target.host),
                   STR_ARG(duration(&a, idle_ms)));
}

struct err *exchange_total_timeout(const struct route *r, uint64_t total_ms)
{
    AUTO(arena) struct arena a = {0};

    return err_new(ERR_TIMEOUT, "the request to %" STR_FMT " took longer than %" STR_FMT,
                   STR_ARG(r->target.host), STR_ARG(duration(&a, total_ms)));
}

struct err *exchange_head_missing(const struct route *r, size_t n_bytes)
{
    return err_new(ERR_NETWORK, "%s closed the connection %s", r->peer,
                   n_bytes ? "in the middle of its headers" : "without an answer");
}

struct err *exchange_fault(const struct route *r, enum http1_fault fault)
{
    if (fault == HTTP1_BAD_CHUNK)
        return err_new(ERR_NETWORK, "lost the connection to %s: %s", r->peer,
                       http1_fault_text(fault));
    if (fault == HTTP1_TOO_LONG)
        return err_hint(err_new(ERR_BAD_RESPONSE,
                                "%s sent headers that are too long: more than %zu bytes", r->peer,
                                HTTP1_MAX_HEAD_BYTES),
                        "check that the URL is the API's");
    return err_hint(err_new(ERR_BAD_RESPONSE, "%s did not answer in HTTP/1: %s", r->peer,
                            http1_fault_text(fault)),
                    "check the URL: it may need https:// instead of http://, or another port");
}

struct err *exchange_body_missing(const struct route *r, const struct http1_body *b)
{
    if (b->framing == HTTP1_BY_LENGTH)
        return err_new(ERR_NETWORK,
                       "lost the connection to %s: %llu bytes of the answer are missing", r->peer,
                       (unsigned long long)b->n_left);
    return err_new(ERR_NETWORK, "lost the connection to %s: %s", r->peer,
                   b->framing == HTTP1_BY_CHUNKS
                       ? "the last chunk of the answer is missing"
                       : "it was closed without a TLS close notification");
}

struct err *exchange_too_large(const struct route *r, size_t max_bytes)
{
    return err_new(ERR_BAD_RESPONSE,
                   "the response of %" STR_FMT " is larger than its limit of %zu bytes",
                   STR_ARG(r->target.host), max_bytes);
}

struct err *exchange_too_much_between(const struct route *r, uint64_t n_bytes)
{
    return err_new(ERR_BAD_RESPONSE, "%" STR_FMT " sent %llu MiB that are not part of its answer",
                   STR_ARG(r->target.host), (unsigned long long)(n_bytes >> 20));
}
