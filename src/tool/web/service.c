/* service.c - what asking any search service takes. */
#include "tool/web/service.h"

#include "base/utf8.h"
#include "net/url.h"
#include "tool/html/markdown_text.h"

#define MAX_ANSWER_BYTES ((size_t)2 << 20)
#define MAX_QUERY_CHARS 400 /* that Brave takes */
#define MAX_ERROR_TEXT 300  /* bytes that are shown of an answer */

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

/* A service that quotes what it was sent must not tell the model our key. */
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
                                   .max_redirects = 3};
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
