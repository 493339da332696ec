/* get.c - sends requests, follows redirects, and reads the first bytes of the body. */
#include "tool/web/get.h"

#include "sys/task.h"
#include "tool/web/route.h"

void web_answer_init(struct web_answer *answer)
{
    *answer = (struct web_answer){0};
    strbuf_init(&answer->body, WEB_MAX_BYTES);
}

void web_answer_done(struct web_answer *answer)
{
    strbuf_done(&answer->body);
    arena_done(&answer->arena);
}

/* "https://good.example@evil.example/" would fit a rule for good.example. */
static struct err *check_url(const struct url *u)
{
    if (!str_is(u->scheme, "http") && !str_is(u->scheme, "https"))
        return err_new(
            ERR_VALIDATION,
            "cannot fetch %" STR_FMT ": addresses, only http: and https:", STR_ARG(u->scheme));
    if (u->userinfo.n)
        return err_hint(err_new(ERR_VALIDATION, "the address has a user before its host, %" STR_FMT,
                                STR_ARG(u->host)),
                        "remove everything up to and including the '@'");
    return NULL;
}

static struct err *open_url(struct http_client *client, const struct tool_config *config,
                            struct arena *a, const struct url *u, struct http_exchange **ret_x,
                            struct http_response *ret_response)
{
    struct http_request request = {.url = url_format(a, u)};
    struct web_route route;

    TRY(check_url(u));
    TRY(web_route_find(a, u, config, &route));
    request.resolve = route.resolve;
    request.proxy = route.proxy;
    request.no_proxy = !route.proxy;
    http_headers_add(a, &request.headers, S("User-Agent"), S("keel/" KEEL_VERSION));
    http_headers_add(a, &request.headers, S("Accept"),
                     S("text/markdown, text/html, text/plain, application/json, */*;q=0.5"));
    http_headers_add(a, &request.headers, S("Accept-Encoding"), S("identity"));
    return http_open(client, &request, ret_x, ret_response);
}

/* --- redirects --- */

static bool is_redirect(const struct http_response *response)
{
    int status = response->status;

    return (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) &&
           http_headers_get(&response->headers, "location").n > 0;
}

static bool tells_apart(const struct web_limits *limits, struct str from, struct str to)
{
    const struct path_filter *f = limits->hidden;

    return f && f->tells_apart && f->tells_apart(f->self, from, to);
}

/* Sets *u to the next address, or answer->elsewhere to one that is a call of its own. */
static struct err *follow_redirect(const struct web_limits *limits, struct web_answer *answer,
                                   const struct http_response *response, struct url *u)
{
    struct str next;
    struct url to;

    TRY(url_resolve(&answer->arena, u, http_headers_get(&response->headers, "location"), &next));
    TRY(url_parse(&answer->arena, next, &to));
    next = url_format(&answer->arena, &to);
    answer->is_told_apart = url_leads_on(u, &to) && tells_apart(limits, answer->url, next);
    if (url_leads_on(u, &to) && !answer->is_told_apart)
        *u = to;
    else
        answer->elsewhere = next;
    return NULL;
}

/* --- the body --- */

static struct err *read_body(struct http_client *client, struct http_exchange *x,
                             struct web_answer *answer)
{
    size_t max_bytes = answer->status >= 400 ? WEB_MAX_ERROR_BYTES : WEB_MAX_BYTES;

    while (!answer->was_cut) {
        size_t room = max_bytes - answer->body.n;
        struct str bytes;

        TRY(http_read(client, x, &bytes));
        if (bytes.n == 0)
            return NULL;
        strbuf_add(&answer->body, str_slice(bytes, 0, room));
        answer->was_cut = bytes.n > room;
    }
    return NULL;
}

/* One request and its response. */
static struct err *get_hop(struct http_client *client, const struct web_limits *limits,
                           struct url *u, struct web_answer *answer, bool *ret_again)
{
    struct arena *a = &answer->arena;
    struct http_response response;
    struct http_exchange *x;
    struct err *e;

    TRY(open_url(client, limits->config, a, u, &x, &response));
    answer->url = url_format(a, u);
    answer->status = response.status;
    *ret_again = false;
    if (is_redirect(&response)) {
        e = follow_redirect(limits, answer, &response, u);
        *ret_again = !answer->elsewhere.n;
    } else {
        answer->content_type = arena_str(a, http_headers_get(&response.headers, "content-type"));
        answer->content_encoding =
            arena_str(a, http_headers_get(&response.headers, "content-encoding"));
        e = read_body(client, x, answer);
    }
    http_close(client, x);
    return e;
}

struct err *web_get(struct http_client *client, const struct web_limits *limits, struct str url,
                    struct web_answer *answer)
{
    bool again = true;
    struct url u;

    TRY(url_parse(&answer->arena, arena_str(&answer->arena, url), &u));
    for (unsigned n = 0; n <= WEB_MAX_REDIRECTS && again; n++)
        TRY(get_hop(client, limits, &u, answer, &again));
    if (again)
        return err_new(ERR_VALIDATION, "%" STR_FMT " redirects more than %d times", STR_ARG(u.host),
                       WEB_MAX_REDIRECTS);
    return NULL;
}

/* --- failures --- */

/* Ends a sentence unless it has an end. */
static const char *full_stop(const char *sentence)
{
    size_t n = strlen(sentence);

    return n && strchr(".?!", sentence[n - 1]) ? "" : ".";
}

struct err *web_outcome(struct tool_result *result, struct err *take_error)
{
    AUTO(err) struct err *e = take_error;
    AUTO_FREE char *text = NULL;
    const char *hint;

    if (!e)
        return NULL;
    TRY(task_check()); /* the request's own deadline has ended: this is the caller's */
    text = err_message(e);
    hint = err_find_hint(e);
    tool_result_fail(result, "%s%s", text, full_stop(text));
    if (hint)
        tool_result_addf(result, " Hint: %s%s", hint, full_stop(hint));
    result->code = e->kind;
    return NULL;
}
