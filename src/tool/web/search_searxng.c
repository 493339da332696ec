/* search_searxng.c - a SearXNG of the operator's. */
#include "net/url.h"
#include "tool/web/service.h"

struct err *web_search_searxng(struct tool_context *c, struct web_hits *hits)
{
    struct arena *a = hits->arena;
    struct web_ask ask = {.service = "SearXNG"};
    struct json *answer;

    if (c->config->search.url.n == 0)
        return err_hint(err_new(ERR_CONFIGURATION, "the address of SearXNG is not set"),
                        "set webSearch.url in the settings");
    TRY(url_join(a, c->config->search.url, S("search"), &ask.url));
    ask.url = web_add_parameter(a, ask.url, "q", web_query_words(a, hits->query));
    ask.url = web_add_parameter(a, ask.url, "format", S("json"));
    ask.hint = "check that its settings.yml lists json under search.formats";
    http_headers_add(a, &ask.headers, S("Accept"), S("application/json"));
    TRY(web_ask_json(c, a, &ask, &answer));
    web_hits_add_json(hits, json_get(answer, "results"), "content");
    return NULL;
}
