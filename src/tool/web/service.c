/* service.c - asks a search service: the parts they share, then each of them. */
#include "tool/web/service.h"

#include "base/utf8.h"
#include "net/url.h"
#include "sys/clean_env.h"
#include "sys/env.h"
#include "tool/html/markdown_text.h"

#define MAX_ANSWER_BYTES ((size_t)2 << 20)
#define MAX_QUERY_CHARS 400 /* Brave's limit */
#define MAX_ERROR_TEXT 300  /* bytes of an answer to show */

/* --- the question --- */

static void add_sites(struct strbuf *out, const struct json *domains, const char *before,
                      const char *between)
{
    bool is_first = true;

    json_each (domain, domains) {
        struct str name = json_str(domain);

        if (str_starts(name, S("*.")))
            name = str_skip(name, 2);
        strbuf_addf(out, "%ssite:%" STR_FMT, is_first ? before : between, STR_ARG(name));
        is_first = false;
    }
}

struct str web_query_words(struct arena *a, const struct web_query *q)
{
    AUTO(strbuf) struct strbuf words = {0};
    bool has_many = q->allowed_domains && q->allowed_domains->n > 1;

    strbuf_add(&words, q->text);
    add_sites(&words, q->allowed_domains, has_many ? " (" : " ", " OR ");
    if (has_many)
        strbuf_add_char(&words, ')');
    add_sites(&words, q->blocked_domains, " -", " -");
    if (utf8_count(strbuf_str(&words)) > MAX_QUERY_CHARS)
        return q->text;
    return arena_str(a, strbuf_str(&words));
}

struct str web_add_parameter(struct arena *a, struct str url, const char *name, struct str value)
{
    AUTO(strbuf) struct strbuf out = {0};

    strbuf_add(&out, url);
    strbuf_add_char(&out, str_find_char(url, '?') == STR_NONE ? '?' : '&');
    strbuf_addf(&out, "%s=", name);
    url_add_encoded(&out, value);
    return arena_str(a, strbuf_str(&out));
}

/* --- the answer --- */

/* A service may quote what it received: keep our key out of the result. */
static struct str without_secret(struct arena *a, struct str text, struct str secret)
{
    AUTO(strbuf) struct strbuf out = {0};
    size_t at;

    if (secret.n == 0 || str_find(text, secret) == STR_NONE)
        return text;
    while ((at = str_find(text, secret)) != STR_NONE) {
        strbuf_add(&out, str_slice(text, 0, at));
        strbuf_add(&out, S("[REDACTED]"));
        text = str_skip(text, at + secret.n);
    }
    strbuf_add(&out, text);
    return arena_str(a, strbuf_str(&out));
}

static struct err *status_error(const struct web_ask *ask, int status, struct str answer)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct err *e;

    markdown_add_plain(&text, utf8_truncate(answer, MAX_ERROR_TEXT));
    e = err_new(ERR_TOOL_FAILED, "%s answered with status %d%s%s", ask->service, status,
                text.n ? ": " : "", strbuf_cstr(&text));
    if (status == 429)
        return err_hint(e, "too many searches in a short time; wait before the next one");
    return ask->hint ? err_hint(e, "%s", ask->hint) : e;
}

static struct err *ask_in_time(struct tool_context *c, struct arena *a, const struct web_ask *ask,
                               struct http_response *ret_response, struct strbuf *answer)
{
    AUTO(deadline) struct deadline limit;
    struct http_request request = {.url = ask->url,
                                   .headers = ask->headers,
                                   .max_body_bytes = MAX_ANSWER_BYTES,
                                   .max_redirects = 3,
                                   .stays_on_host = true};
    struct http_client *client;

    deadline_begin(&limit, WEB_SEARCH_MS, "the search");
    TRY(c->http->get(c->http->self, &client));
    return http_fetch(client, &request, a, ret_response, answer);
}

struct err *web_ask_json(struct tool_context *c, struct arena *a, const struct web_ask *ask,
                         struct json **ret_answer)
{
    AUTO(strbuf) struct strbuf body = {0};
    struct http_response response;
    struct json_where where;
    struct str answer;

    strbuf_init(&body, MAX_ANSWER_BYTES);
    TRY(ask_in_time(c, a, ask, &response, &body));
    answer = without_secret(a, arena_str(a, strbuf_str(&body)), ask->secret);
    if (response.status != 200)
        return status_error(ask, response.status, answer);
    if (!json_parse_at(a, answer, JSON_REPAIR_UTF8, ret_answer, &where))
        return err_new(ERR_TOOL_FAILED, "the answer of %s is not JSON", ask->service);
    return NULL;
}

/* --- Brave Search --- */

#define BRAVE_ENDPOINT "https://api.search.brave.com/res/v1/web/search"

static struct str brave_key_variable(const struct tool_config *config)
{
    struct str name = config->search.key_variable;

    return name.n ? name : S(WEB_BRAVE_KEY_VARIABLE);
}

struct str web_brave_key(const struct tool_config *config)
{
    return str_trim(env_get(config->environment, brave_key_variable(config)));
}

struct err *web_search_brave(struct tool_context *c, struct web_hits *hits)
{
    const struct tool_config *config = c->config;
    struct web_ask ask = {.service = "Brave Search", .secret = web_brave_key(config)};
    struct str variable = brave_key_variable(config);
    const struct web_query *q = hits->query;
    bool is_limited = q->allowed_domains || q->blocked_domains;
    struct arena *a = hits->arena;
    struct json *answer;

    if (ask.secret.n == 0)
        return err_hint(err_new(ERR_CONFIGURATION, "Brave Search needs a key"),
                        "set the environment variable %" STR_FMT, STR_ARG(variable));
    ask.url = config->search.url.n ? config->search.url : S(BRAVE_ENDPOINT);
    ask.url = web_add_parameter(a, ask.url, "q", web_query_words(a, q));
    ask.url = web_add_parameter(a, ask.url, "count", is_limited ? S("20") : S("10"));
    ask.url = web_add_parameter(a, ask.url, "text_decorations", S("0"));
    ask.hint =
        arena_format(a, "check the key in the environment variable %" STR_FMT, STR_ARG(variable)).p;
    http_headers_add(a, &ask.headers, S("Accept"), S("application/json"));
    http_headers_add(a, &ask.headers, S("X-Subscription-Token"), ask.secret);
    TRY(web_ask_json(c, a, &ask, &answer));
    web_hits_add_json(hits, json_get(json_get(answer, "web"), "results"), "description");
    return NULL;
}

/* --- SearXNG, run by the operator --- */

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

/* --- a command of the operator --- */

#define MAX_OUTPUT_BYTES ((size_t)1 << 20)
#define MAX_ERROR_BYTES 1024

static struct err *check_search_command(const struct proc_output *o)
{
    AUTO(strbuf) struct strbuf complaint = {0};

    markdown_add_plain(&complaint, utf8_truncate(strbuf_str(&o->err), MAX_ERROR_BYTES));
    if (o->timed_out)
        return err_new(ERR_TOOL_FAILED, "the search command took longer than %d s",
                       WEB_SEARCH_MS / 1000);
    if (!o->status.exited)
        return err_new(ERR_TOOL_FAILED, "the search command was killed by signal %d",
                       o->status.signal);
    if (o->status.exit_code != 0)
        return err_new(ERR_TOOL_FAILED, "the search command exited with code %d%s%s",
                       o->status.exit_code, complaint.n ? ": " : "", strbuf_cstr(&complaint));
    if (o->n_out_bytes > MAX_OUTPUT_BYTES)
        return err_new(ERR_TOOL_FAILED, "the search command printed more than 1 MB");
    return NULL;
}

static struct launcher *launcher_of(const struct tool_context *c)
{
    return c->config->search.launcher ? c->config->search.launcher : c->launcher;
}

/* The query is an argument, never a part of the script. */
static struct err *run_search_command(struct tool_context *c, struct arena *a, struct str query,
                                      struct proc_output *output)
{
    AUTO(proc) struct proc *p = NULL;
    struct str script = arena_format(a, "%" STR_FMT " \"$1\"", STR_ARG(c->config->search.command));
    const char *argv[] = {"sh", "-c", script.p, "sh", arena_cstr(a, query), NULL};
    struct proc_spec spec = {
        .argv = argv,
        .environment = environment_without(a, c->config->environment, c->config->secrets,
                                           c->config->search.key_variable),
        .cwd = tool_state_workspace(c->state),
    };

    TRY(launcher_start(launcher_of(c), &spec, &p));
    return proc_collect(p, WEB_SEARCH_MS, output);
}

struct err *web_search_command(struct tool_context *c, struct web_hits *hits)
{
    AUTO(proc_output) struct proc_output output = {0};

    if (c->config->search.command.n == 0)
        return err_hint(err_new(ERR_CONFIGURATION, "no search command is configured"),
                        "set webSearch.command in the settings");
    if (!launcher_of(c))
        return err_new(ERR_TOOL_UNAVAILABLE,
                       "the search service is a command, and commands are not available here");
    if (str_find_char(hits->query->text, 0) != STR_NONE)
        return err_new(ERR_VALIDATION, "the query contains a NUL character");
    strbuf_init(&output.out, MAX_OUTPUT_BYTES);
    strbuf_init(&output.err, MAX_ERROR_BYTES);
    TRY(run_search_command(c, hits->arena, hits->query->text, &output));
    TRY(check_search_command(&output));
    web_hits_add_output(hits, arena_str(hits->arena, strbuf_str(&output.out)));
    if (hits->n == 0 && hits->n_unusable)
        return err_new(ERR_TOOL_FAILED, "the search command printed no result with an address");
    return NULL;
}
