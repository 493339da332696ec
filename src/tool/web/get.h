/* get.h - one GET of an untrusted address.
 *
 * Every hop goes through route.h. Redirects are followed on the same host only, at most ten, and
 * from http to https but not back. A redirect to another host or port, or to an address that a rule
 * treats otherwise, is an answer that names the address.
 * Only the first bytes of the body are kept. May wait until the caller's deadline. */
#ifndef KEEL_TOOL_WEB_GET_H
#define KEEL_TOOL_WEB_GET_H

#include "port/tool.h"

#define WEB_MAX_BYTES ((size_t)5 << 20)        /* of a page */
#define WEB_MAX_ERROR_BYTES ((size_t)64 << 10) /* of an error page */
#define WEB_MAX_REDIRECTS 10

struct web_answer {
    struct arena arena; /* holds the strings */
    int status;
    struct str url;       /* after redirects */
    struct str elsewhere; /* the target of a redirect that was not followed; empty: none */
    bool is_told_apart;   /* because of a rule about that address */
    struct str content_type, content_encoding; /* headers as they came */
    struct strbuf body;
    bool was_cut; /* the body was longer */
};
void web_answer_init(struct web_answer *answer);
void web_answer_done(struct web_answer *answer);
DEFINE_AUTO_VAL(web_answer, web_answer_done)

struct web_limits {
    const struct tool_config *config;
    const struct path_filter *hidden; /* with the rules; NULL: none */
};
/* ERR_VALIDATION: the address, or one on the way, must not be fetched. */
MUST_USE struct err *web_get(struct http_client *client, const struct web_limits *limits,
                             struct str url, struct web_answer *answer);

/* Consumes the error. An error that concerns the model (no such host, a timeout of the request
 * itself) becomes a failed result. An interruption of the task is returned. NULL in, NULL out. */
MUST_USE struct err *web_outcome(struct tool_result *result, struct err *take_error);

#endif
