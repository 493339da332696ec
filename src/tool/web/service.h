/* service.h - the services that WebSearch can use.
 *
 * The operator chooses the service and its address, which may be on a private network. All of them
 * may wait, at most 15 s. If none is configured, the model's own provider searches
 * (search_model.h). Keys appear in no result and no error. */
#ifndef KEEL_TOOL_WEB_SERVICE_H
#define KEEL_TOOL_WEB_SERVICE_H

#include "port/tool.h"
#include "tool/web/hits.h"

#define WEB_SEARCH_MS 15000

/* Each adds its results to the hits, whose arena and query it uses. ERR_TOOL_FAILED: the service
 * did not answer properly. */
MUST_USE struct err *web_search_brave(struct tool_context *c, struct web_hits *hits);
MUST_USE struct err *web_search_searxng(struct tool_context *c, struct web_hits *hits);
MUST_USE struct err *web_search_command(struct tool_context *c, struct web_hits *hits);

/* Is one of them configured? */
bool web_has_service(const struct tool_config *config);

/* --- for them --- */

#define WEB_BRAVE_KEY_VARIABLE "BRAVE_API_KEY"
/* The value of the variable that holds Brave's key; empty: not set. */
struct str web_brave_key(const struct tool_config *config);

/* The query with its domains as `site:` words, unless services would reject the length. */
struct str web_query_words(struct arena *a, const struct web_query *q) MUST_USE;
/* url + "?" or "&" + name=value */
struct str web_add_parameter(struct arena *a, struct str url, const char *name,
                             struct str value) MUST_USE;

/* Sends a request to a service and parses its answer. `secret` is removed from the answer. */
struct web_ask {
    const char *service; /* for errors: "Brave Search" */
    struct str url;
    struct http_headers headers;
    struct str secret; /* may be empty */
    const char *hint;  /* for an answer that is not a success; may be NULL */
};
MUST_USE struct err *web_ask_json(struct tool_context *c, struct arena *a,
                                  const struct web_ask *ask, struct json **ret_answer);

#endif
