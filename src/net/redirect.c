/* redirect.c - following Location, step by step and within bounds. */
#include "net/redirect.h"

#include "net/url.h"
#include "sys/loop.h"

void redirects_init(struct redirects *r, const struct http_request *request)
{
    *r = (struct redirects){.request = *request};
    if (request->total_ms)
        r->end_ms = loop_now_ms(task_loop()) + request->total_ms;
}

void redirects_done(struct redirects *r)
{
    arena_done(&r->arena);
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static bool becomes_get(int status, const char *method)
{
    bool is_post = strcmp(method, "POST") == 0;
    bool is_plain = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;

    return status == 303 ? !is_plain : (status == 301 || status == 302) && is_post;
}

static bool describes_body(struct str name)
{
    return name.n >= 8 && str_eq_nocase(str_slice(name, 0, 8), S("content-"));
}

/* Not "all but the known secrets": a caller's own header may be one. */
static bool is_plain(struct str name)
{
    static const struct str names[] = {
        S("accept"),     S("accept-language"), S("accept-encoding"), S("content-type"),
        S("user-agent"), S("range"),           S("cache-control"),
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_nocase(name, names[i]))
            return true;
    return false;
}

static void keep_headers(struct redirects *r, bool same_origin, bool has_body)
{
    struct http_headers kept = {0};

    for (size_t i = 0; i < r->request.headers.n; i++) {
        const struct http_header *h = &r->request.headers.items[i];

        if ((same_origin || is_plain(h->name)) && (has_body || !describes_body(h->name)))
            http_headers_add(&r->arena, &kept, h->name, h->value);
    }
    r->request.headers = kept;
    if (!same_origin)
        r->request.identity = (struct http_identity){0};
}

static struct err *cut_time(struct redirects *r)
{
    uint64_t now_ms;

    if (!r->end_ms)
        return NULL;
    now_ms = loop_now_ms(task_loop());
    if (now_ms >= r->end_ms)
        return err_new(ERR_TIMEOUT,
                       "following redirects took longer than the time limit of the request");
    r->request.total_ms = r->end_ms - now_ms;
    return NULL;
}

static struct err *check_hop(const struct redirects *r, const struct url *from,
                             const struct url *to)
{
    if (str_is(from->scheme, "https") && !str_is(to->scheme, "https"))
        return err_new(ERR_VALIDATION,
                       "%" STR_FMT " redirects from https to %" STR_FMT "://%" STR_FMT
                       ", and keel does not follow that",
                       STR_ARG(from->host), STR_ARG(to->scheme), STR_ARG(to->host));
    if (r->n_followed == r->request.max_redirects)
        return err_new(ERR_VALIDATION, "%" STR_FMT " redirects more than %u times",
                       STR_ARG(from->host), r->request.max_redirects);
    return NULL;
}

/* Turns the request that was answered by `status` into the next one. */
static void point_at(struct redirects *r, int status, struct str url, bool same_origin)
{
    bool keeps_body = !becomes_get(status, r->request.method);

    if (!keeps_body) {
        r->request.method = "GET";
        r->request.body = (struct str){0};
    }
    keep_headers(r, same_origin, keeps_body);
    r->request.url = url;
    r->n_followed++;
}

struct err *redirects_next(struct redirects *r, const struct http_response *response,
                           bool *ret_follow)
{
    struct str location = http_headers_get(&response->headers, "location"), next;
    bool same_origin, pinned = r->request.resolve || r->request.unix_socket;
    struct url from, to;

    *ret_follow = false;
    if (r->request.max_redirects == 0 || !is_redirect(response->status) || location.n == 0)
        return NULL;
    TRY(url_parse(&r->arena, r->request.url, &from));
    TRY(url_resolve(&r->arena, &from, location, &next));
    TRY(url_parse(&r->arena, next, &to));
    same_origin = url_same_origin(&from, &to);
    if ((pinned && !same_origin) || (r->request.stays_on_host && !url_leads_on(&from, &to)))
        return NULL;
    TRY(check_hop(r, &from, &to));
    TRY(cut_time(r));
    point_at(r, response->status, next, same_origin);
    *ret_follow = true;
    return NULL;
}
