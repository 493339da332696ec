/* web_cache_test.c - pages that WebFetch keeps for a while. */
#include "test.h"

#include "tool/web.h"
#include "tool/web/cache.h"

static const struct web_test_page pages[] = {
    {"/text", TEXT_HEAD, S("some text")},
    {"/teapot", "HTTP/1.1 418 I'm a teapot\r\n", S("")},
    {"/zip", OK_HEAD, S("PK\3\4\24\0\0\0")},
    {"/leaves", "HTTP/1.1 302 Found\r\nLocation: //other.test/\r\n", S("")},
};

struct repeated {
    struct web *web;
    const char *args;
    uint64_t pause_ms;
    struct tool_result first, second;
};

static struct err *fetch_twice(void *arg)
{
    struct repeated *r = arg;

    web_begin(r->web);
    r->first = tool_call_in_task(&r->web->fixture, &tool_web_fetch, r->args);
    assert_ok(task_sleep(r->pause_ms));
    r->second = tool_call_in_task(&r->web->fixture, &tool_web_fetch, r->args);
    web_end(r->web);
    return NULL;
}

/* The second text; how many requests were made is left to the caller. */
static struct str second_text(struct web *w, const char *path, uint64_t pause_ms)
{
    struct repeated r = {.web = w, .pause_ms = pause_ms};
    struct str text;

    web_serve(w, pages, ARRAY_LEN(pages));
    r.args = arena_format(&w->arena, "{\"url\":\"%s\"}", web_url(w, "127.0.0.1", path)).p;
    web_run(w, fetch_twice, &r);
    text = web_without_port(w, &r.second);
    tool_result_done(&r.first);
    tool_result_done(&r.second);
    return text;
}

TEST(a_page_is_kept_for_a_while_and_says_so)
{
    AUTO(web) struct web w = web_make();

    assert_str(second_text(&w, "/text", 15 * 60 * 1000 - 1),
               "URL: http://127.0.0.1:PORT/text\nStatus: 200\nType: text/plain\n"
               "Note: from the cache, fetched 899 s ago.\n\nsome text");
    assert_int_equal(server_n_requests(w.server), 1);
}

TEST(a_page_is_fetched_again_after_15_minutes)
{
    AUTO(web) struct web w = web_make();

    assert_str(second_text(&w, "/text", 15 * 60 * 1000),
               "URL: http://127.0.0.1:PORT/text\nStatus: 200\nType: text/plain\n\n"
               "some text");
    assert_int_equal(server_n_requests(w.server), 2);
}

TEST(failures_and_redirects_are_not_kept)
{
    static const char *const paths[] = {"/teapot", "/zip", "/leaves"};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        AUTO(web) struct web w = web_make();

        second_text(&w, paths[i], 1);
        assert_int_equal(server_n_requests(w.server), 2);
    }
}

static struct web_page *page_of(size_t n_bytes)
{
    struct web_page *p = mem_alloc(sizeof *p);

    strbuf_init(&p->content, WEB_CACHE_MAX_BYTES * 2);
    strbuf_grew(&p->content, strbuf_reserve(&p->content, n_bytes) ? n_bytes : 0);
    return p;
}

TEST(the_cache_holds_so_many_pages_and_drops_the_oldest)
{
    struct web_cache *c = mem_alloc(sizeof *c);
    uint64_t age_ms;

    for (unsigned i = 0; i < WEB_CACHE_MAX_PAGES + 1; i++) {
        char url[16];

        snprintf(url, sizeof url, "%u", i);
        web_cache_add(c, str_of(url), page_of(10), i);
    }
    assert_null(web_cache_find(c, S("0"), 100, &age_ms));
    assert_non_null(web_cache_find(c, S("1"), 100, &age_ms));
    assert_int_equal(age_ms, 99);
    assert_non_null(web_cache_find(c, S("64"), 100, &age_ms));
    web_cache_done(c);
    mem_free(c);
}

TEST(the_cache_holds_so_many_bytes_and_drops_the_oldest)
{
    struct web_cache *c = mem_alloc(sizeof *c);
    uint64_t age_ms;

    web_cache_add(c, S("a"), page_of((size_t)10 << 20), 1);
    web_cache_add(c, S("b"), page_of((size_t)10 << 20), 2);
    web_cache_add(c, S("c"), page_of((size_t)20 << 20), 3);
    assert_null(web_cache_find(c, S("a"), 4, &age_ms));
    assert_non_null(web_cache_find(c, S("b"), 4, &age_ms));
    assert_non_null(web_cache_find(c, S("c"), 4, &age_ms));
    assert_true(c->n_bytes <= WEB_CACHE_MAX_BYTES);
    web_cache_add(c, S("d"), page_of(WEB_CACHE_MAX_BYTES), 5);
    assert_null(web_cache_find(c, S("d"), 6, &age_ms));
    assert_non_null(web_cache_find(c, S("c"), 6, &age_ms));
    web_cache_done(c);
    assert_int_equal(c->n_bytes, 0);
    mem_free(c);
}

TEST(a_page_in_the_cache_is_replaced_by_the_newer_one)
{
    struct web_cache *c = mem_alloc(sizeof *c);
    uint64_t age_ms;

    web_cache_add(c, S("a"), page_of(1), 1);
    web_cache_add(c, S("a"), page_of(2), 5);
    assert_int_equal(web_cache_find(c, S("a"), 6, &age_ms)->content.n, 2);
    assert_int_equal(age_ms, 1);
    assert_int_equal(c->n, 1);
    web_cache_done(c);
    mem_free(c);
}

RUN_TESTS(UNIT(a_page_is_kept_for_a_while_and_says_so),
          UNIT(a_page_is_fetched_again_after_15_minutes), UNIT(failures_and_redirects_are_not_kept),
          UNIT(the_cache_holds_so_many_pages_and_drops_the_oldest),
          UNIT(the_cache_holds_so_many_bytes_and_drops_the_oldest),
          UNIT(a_page_in_the_cache_is_replaced_by_the_newer_one))
