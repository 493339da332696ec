/* proxy_fuzz.c - whatever a command sends, what is passed on is what was checked.
 *
 * The input is a request as it comes in: what is taken for one says the same when it is written and
 * read again, and its body ends at the same byte however it is cut. Its first line is also tried as
 * a rule, and all of it as an answer of a server. */
#include "sandbox/proxy/host_rules.h"
#include "sandbox/proxy/request.h"
#include "sandbox/proxy/response_head.h"

static void check_same(const struct proxy_request *a, const struct proxy_request *b)
{
    BUG_IF(!str_eq(a->method, b->method) || !str_eq(a->path, b->path));
    BUG_IF(!url_same_origin(&a->target, &b->target));
    BUG_IF(a->body.kind != b->body.kind || a->body.n_left != b->body.n_left);
    BUG_IF(a->headers.n != b->headers.n || a->is_http_1_0 != b->is_http_1_0);
    for (size_t i = 0; i < a->headers.n; i++) {
        BUG_IF(!str_eq(a->headers.items[i].name, b->headers.items[i].name));
        BUG_IF(!str_eq(a->headers.items[i].value, b->headers.items[i].value));
    }
}

static void check_written(struct arena *a, const struct proxy_request *r)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct proxy_request again;
    struct err *e;

    proxy_request_write(&out, r, /* to_proxy= */ true, (struct str){0});
    BUG_IF(proxy_head_length(strbuf_str(&out), 0) != out.n);
    e = proxy_request_parse(a, strbuf_str(&out), &again);
    /* A '/' that was added may have made the URL too long. */
    BUG_IF(e && r->path.n < URL_MAX_BYTES / 2);
    if (!e)
        check_same(r, &again);
    err_free(e);
}

/* Where the body ends; -1: it is malformed, -2: it goes on. */
static long body_end(struct proxy_body b, struct str bytes, size_t step)
{
    size_t n_all = 0, n = step;

    while (n == step && n_all < bytes.n) {
        struct err *e = proxy_body_take(&b, str_slice(bytes, n_all, step), &n);

        err_free(e);
        if (e)
            return -1;
        n_all += n;
    }
    return proxy_body_is_over(&b) ? (long)n_all : -2;
}

static void check_rule(struct arena *a, struct str text, const struct url *target)
{
    struct net_rules rules = {0};
    struct err *e = net_rules_add(a, &rules, NET_ALLOW, text);

    err_free(e);
    if (e)
        return;
    err_free(net_rules_check(&rules, target));
    e = net_rules_check_address(&rules, target, S("127.0.0.1"), /* is_public= */ false);
    BUG_IF(!e); /* no rule of that list allows a private address */
    err_free(e);
}

/* What is written is a head again, and says nothing else when it is written once more. */
static void check_answer(struct str head)
{
    AUTO(strbuf) struct strbuf once = {0};
    AUTO(strbuf) struct strbuf twice = {0};
    bool is_last = proxy_answer_write(&once, head);

    BUG_IF(proxy_head_length(strbuf_str(&once), 0) != once.n);
    BUG_IF(proxy_answer_write(&twice, strbuf_str(&once)) != is_last);
    BUG_IF(!str_eq(strbuf_str(&once), strbuf_str(&twice)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena a = {0};
    struct str all = str_make((const char *)data, size), rest;
    size_t n = proxy_head_length(all, 0);
    struct url target = {.host = S("a.example.com"), .port = 80};
    struct proxy_request r;
    struct err *e;

    check_rule(&a, str_slice(all, 0, str_find_char(all, '\r')), &target);
    if (n == 0 || n > PROXY_HEAD_MAX_BYTES)
        return 0;
    BUG_IF(proxy_head_length(all, n - 1) != n);
    if (proxy_answer_begins(all))
        check_answer(str_slice(all, 0, n));
    e = proxy_request_parse(&a, str_slice(all, 0, n), &r);
    rest = str_skip(all, n);
    if (!e && !r.is_connect) {
        check_written(&a, &r);
        BUG_IF(body_end(r.body, rest, 1) != body_end(r.body, rest, size));
        BUG_IF(body_end(r.body, rest, 7) != body_end(r.body, rest, size));
    }
    err_free(e);
    return 0;
}
