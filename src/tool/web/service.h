/* service.h - the services that WebSearch can ask, one file each.
 *
 * Which one is asked, and where it is, is the operator's choice: it may be on a private network.
 * All of them may wait, 15 s at most. Where none is configured the model's own provider is asked
 * (search_model.h). Their keys appear in no result and no error. */
#ifndef KEEL_TOOL_WEB_SERVICE_H
#define KEEL_TOOL_WEB_SERVICE_H

#include "port/tool.h"
#include "tool/web/hits.h"

#define WEB_SEARCH_MS 15000

/* Each adds what it finds to the hits, whose arena and query it uses. ERR_TOOL_FAILED: the service
 * did not answer as it should. */
MUST_USE struct err *web_search_brave(struct tool_context *c, struct web_hits *hits);
MUST_USE struct err *web_search_searxng(struct tool_context *c, struct web_hits *hits);
MUST_USE struct err *web_search_command(struct tool_context *c, struct web_hits *hits);

/* Is one of them configured? */
bool web_has_service(const struct tool_config *config);

/* --- for them --- */

#define WEB_BRAVE_KEY_VARIABLE "BRAVE_API_KEY"
/* The value of the variable that holds the key of Brave; empty: it is not set. */
struct str web_brave_key(const struct tool_config *config);

/* The query with its domains as `site:` words, while that is no longer than services take. */
struct str web_query_words(struct arena *a, const struct web_query *q) MUST_USE;
/* url + "?" or "&" + name=value */
struct str web_add_parameter(struct arena *a, struct str url, const char *name,
                             struct str value) MUST_USE;

/* Asks a service and parses its answer. `secret` is taken out of whatever comes back. */
struct web_ask {
    const char *service; /* for errors: "Brave Search" */
    struct str url;
    struct http_headers headers;
    struct str secret; /* may be empty */
    const char *hint;  /* for an answer that is no success; may be NULL */
};
MUST_USE struct err *web_ask_json(struct tool_context *c, struct arena *a,
                                  const struct web_ask *ask, struct json **ret_answer);

#endif
