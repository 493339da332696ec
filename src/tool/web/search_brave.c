/* search_brave.c - Brave Search. */
#include "sys/env.h"
#include "tool/web/service.h"

#define ENDPOINT "https://api.search.brave.com/res/v1/web/search"

static struct str key_variable(const struct tool_config *config)
{
    struct str name = config->search.key_variable;

    return name.n ? name : S(WEB_BRAVE_KEY_VARIABLE);
}

struct str web_brave_key(const struct tool_config *config)
{
    return str_trim(env_get(config->environment, key_variable(config)));
}

static bool is_limited(const struct web_query *q)
{
    return q->allowed_domains || q->blocked_domains;
}

static struct str ask_url(struct arena *a, const struct tool_config *config,
                          const struct web_query *q)
{
    struct str url = config->search.url.n ? config->search.url : S(ENDPOINT);

    url = web_add_parameter(a, url, "q", web_query_words(a, q));
    url = web_add_parameter(a, url, "count", is_limited(q) ? S("20") : S("10"));
    return web_add_parameter(a, url, "text_decorations", S("0"));
}

struct err *web_search_brave(struct tool_context *c, struct web_hits *hits)
{
    struct web_ask ask = {.service = "Brave Search", .secret = web_brave_key(c->config)};
    struct str variable = key_variable(c->config);
    struct json *answer;

    if (ask.secret.n == 0)
        return err_hint(err_new(ERR_CONFIGURATION, "Brave Search needs a key"),
                        "set the environment variable %" STR_FMT, STR_ARG(variable));
    ask.url = ask_url(hits->arena, c->config, hits->query);
    ask.hint = arena_format(hits->arena, "check the key in the environment variable %" STR_FMT,
                            STR_ARG(variable))
                   .p;
    http_headers_add(hits->arena, &ask.headers, S("Accept"), S("application/json"));
    http_headers_add(hits->arena, &ask.headers, S("X-Subscription-Token"), ask.secret);
    TRY(web_ask_json(c, hits->arena, &ask, &answer));
    web_hits_add_json(hits, json_get(json_get(answer, "web"), "results"), "description");
    return NULL;
}
