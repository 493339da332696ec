/* proxy_request_test.c - heads and bodies that commands send: what passes, and as what. */
#include "sandbox/proxy/request.h"

#include "test.h"

static void assert_written(const char *head, const char *want)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct proxy_request r;

    assert_int_equal(proxy_head_length(str_of(head), 0), strlen(head));
    assert_ok(proxy_request_parse(&a, str_of(head), &r));
    proxy_request_write(&out, &r, /* to_proxy= */ false, (struct str){0});
    assert_str(strbuf_str(&out), want);
}

static void assert_bad(struct str head, const char *why)
{
    AUTO(arena) struct arena a = {0};
    struct proxy_request r;
    AUTO(err) struct err *e = proxy_request_parse(&a, head, &r);

    if (!err_is(e, ERR_VALIDATION) || str_find(str_of(e->text), str_of(why)) == STR_NONE)
        fail_msg("\"%s\"\n is %s", head.p, e ? e->text : "fine");
}

TEST(the_end_of_a_head_is_found_wherever_it_was_cut)
{
    const char *text = "GET http://a/ HTTP/1.1\r\n\r\nrest";

    for (size_t n_seen = 0; n_seen < 26; n_seen++) {
        assert_int_equal(proxy_head_length(str_make(text, n_seen), n_seen / 2), 0);
        assert_int_equal(proxy_head_length(str_of(text), n_seen), 26);
    }
}

TEST(a_tunnel_names_its_host_and_port)
{
    AUTO(arena) struct arena a = {0};
    struct proxy_request r;

    assert_ok(proxy_request_parse(
        &a, S("CONNECT Example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nX: y\r\n\r\n"), &r));
    assert_true(r.is_connect);
    assert_str(r.target.host, "example.com");
    assert_int_equal(r.target.port, 443);
    assert_ok(proxy_request_parse(&a, S("CONNECT [::1]:80 HTTP/1.0\r\n\r\n"), &r));
    assert_str(r.target.host, "::1");
    assert_ok(proxy_request_parse(&a, S("CONNECT a.b:80 HTTP/1.1\r\nHost: a.b\r\n\r\n"), &r));
}

TEST(a_plain_request_is_written_anew)
{
    assert_written("GET http://Example.com/a?b=c HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\n"
                   "User-Agent:curl \r\n\r\n",
                   "GET /a?b=c HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\nUser-Agent: curl\r\n"
                   "Connection: close\r\n\r\n");
    assert_written("POST HTTP://a:8080?x HTTP/1.0\r\nContent-Length: 0005\r\n\r\n",
                   "POST /?x HTTP/1.0\r\nHost: a:8080\r\nContent-Length: 5\r\n"
                   "Connection: close\r\n\r\n");
    assert_written("PUT http://[::1]:81 HTTP/1.1\r\nHost: [::1]:81\r\nTransfer-Encoding: Chunked"
                   "\r\n\r\n",
                   "PUT / HTTP/1.1\r\nHost: [::1]:81\r\nTransfer-Encoding: chunked\r\n"
                   "Connection: close\r\n\r\n");
    assert_written("PUT http://a/ HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
                   "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

TEST(a_further_proxy_is_told_the_whole_target)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct proxy_request r;

    assert_ok(proxy_request_parse(
        &a, S("GET http://a:81/p HTTP/1.1\r\nProxy-Authorization: Basic eDp5\r\n\r\n"), &r));
    proxy_request_write(&out, &r, /* to_proxy= */ true, S("Basic bTptZQ=="));
    assert_str(strbuf_str(&out),
               "GET http://a:81/p HTTP/1.1\r\nHost: a:81\r\n"
               "Proxy-Authorization: Basic bTptZQ==\r\nConnection: close\r\n\r\n");
}

TEST(headers_between_neighbours_are_left_out)
{
    assert_written("GET http://a/ HTTP/1.1\r\nConnection: keep-alive, X-Mine\r\nKeep-Alive: 5\r\n"
                   "Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eDp5\r\nTE: gzip\r\n"
                   "Trailer: x\r\nUpgrade: h2c\r\nx-mine: 1\r\nX-Other: 2\r\nconnection: y\r\n"
                   "Y: 3\r\n\r\n",
                   "GET / HTTP/1.1\r\nHost: a\r\nX-Other: 2\r\nConnection: close\r\n\r\n");
}

TEST(what_servers_could_read_in_two_ways_is_refused)
{
#define HEAD(lines) S("POST http://a/ HTTP/1.1\r\n" lines "\r\n\r\n")
    assert_bad(HEAD("Content-Length: 5\r\nContent-Length: 5"), "more than once");
    assert_bad(HEAD("Content-Length: 5\r\nTransfer-Encoding: chunked"), "more than once");
    assert_bad(HEAD("Content-Length: 5, 5"), "Content-Length");
    assert_bad(HEAD("Content-Length: +5"), "Content-Length");
    assert_bad(HEAD("Content-Length: 0x5"), "Content-Length");
    assert_bad(HEAD("Content-Length: "), "Content-Length");
    assert_bad(HEAD("Content-Length: 9999999999999999999"), "Content-Length");
    assert_bad(HEAD("Transfer-Encoding: gzip, chunked"), "Transfer-Encoding");
    assert_bad(HEAD("Transfer-Encoding: identity"), "Transfer-Encoding");
    assert_bad(HEAD("Transfer-Encoding: \vchunked"), "control");
    assert_bad(HEAD("Transfer-Encoding: chunked\r\nTransfer-Encoding: x"), "more than once");
    assert_bad(HEAD("Transfer-Encoding : chunked"), "malformed");
    assert_bad(HEAD("X: y\r\n Transfer-Encoding: chunked"), "malformed");
    assert_bad(HEAD("X: y\r\n\tz"), "malformed");
    assert_bad(HEAD("X: y\nHost: b"), "control");
    assert_bad(HEAD("X: y\rHost: b"), "control");
    assert_bad(HEAD("X: y\0z"), "control");
    assert_bad(HEAD("no colon"), "malformed");
    assert_bad(HEAD(": empty"), "malformed");
    assert_bad(HEAD("X\xff: y"), "malformed");
    assert_bad(S("POST http://a/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), "Encoding");
}

TEST(another_host_than_the_target_s_is_refused)
{
    assert_bad(HEAD("Host: b"), "does not match the target");
    assert_bad(HEAD("Host: a:81"), "does not match the target");
    assert_bad(HEAD("Host: a\r\nHost: a"), "more than one Host");
    assert_bad(HEAD("Host:"), "host is malformed");
    assert_bad(HEAD("Host: a@b"), "host is malformed");
    assert_bad(HEAD("Host: a/b"), "host is malformed");
    assert_bad(S("GET http://a:81/ HTTP/1.1\r\nHost: a\r\n\r\n"), "does not match the target");
    assert_bad(S("CONNECT a:443 HTTP/1.1\r\nHost: b\r\n\r\n"), "does not match the target");
    assert_bad(S("CONNECT a:443 HTTP/1.1\r\nHost: a:80\r\n\r\n"), "does not match the target");
}

TEST(a_malformed_request_line_is_refused)
{
#define LINE(line) S(line "\r\n\r\n")
    assert_bad(LINE("GET / HTTP/1.1"), "this is a proxy");
    assert_bad(LINE("GET https://a/ HTTP/1.1"), "not an http:// URL");
    assert_bad(LINE("GET ftp://a/ HTTP/1.1"), "not an http:// URL");
    assert_bad(LINE("GET http:/// HTTP/1.1"), "not an http:// URL");
    assert_bad(LINE("GET http://user@a/ HTTP/1.1"), "a user");
    assert_bad(LINE("GET http://@a/ HTTP/1.1"), "a user");
    assert_bad(LINE("GET http://a/#b HTTP/1.1"), "a fragment");
    assert_bad(LINE("GET http://a/b c HTTP/1.1"), "not an http:// URL");
    assert_bad(LINE("GET http://0x7f.1/ HTTP/1.1"), "not an http:// URL");
    assert_bad(LINE("GET http://a\\@b/ HTTP/1.1"), "not an http:// URL");
    assert_bad(LINE("GET  http://a/ HTTP/1.1"), "not an http:// URL");
    assert_bad(LINE("GET http://a/ HTTP/2.0"), "HTTP/1.1");
    assert_bad(LINE("GET http://a/ http/1.1"), "HTTP/1.1");
    assert_bad(LINE("G(T http://a/ HTTP/1.1"), "method");
    assert_bad(LINE("GET http://a/"), "three words");
    assert_bad(LINE(""), "three words");
    assert_bad(LINE("CONNECT a HTTP/1.1"), "port");
    assert_bad(LINE("CONNECT a: HTTP/1.1"), "port");
    assert_bad(LINE("CONNECT http://a:80 HTTP/1.1"), "host is malformed");
    assert_bad(LINE("CONNECT a:80/x HTTP/1.1"), "host is malformed");
    assert_bad(LINE("CONNECT u@a:80 HTTP/1.1"), "host is malformed");
    assert_bad(LINE("CONNECT a:99999 HTTP/1.1"), "host is malformed");
    assert_bad(S("CONNECT a:1 HTTP/1.1\r\nContent-Length: 3\r\n\r\n"), "must not have a body");
    assert_bad(S("CONNECT a:1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"),
               "must not have a body");
}

TEST(more_than_a_hundred_headers_are_refused)
{
    AUTO(strbuf) struct strbuf head = {0};
    AUTO(arena) struct arena a = {0};
    struct proxy_request r;

    strbuf_add_cstr(&head, "GET http://a/ HTTP/1.1\r\n");
    for (int i = 0; i < PROXY_MAX_HEADERS; i++)
        strbuf_addf(&head, "X-%d: y\r\n", i);
    strbuf_add_cstr(&head, "\r\n");
    assert_ok(proxy_request_parse(&a, strbuf_str(&head), &r));
    strbuf_cut(&head, head.n - 2);
    strbuf_add_cstr(&head, "X: y\r\n\r\n");
    assert_bad(strbuf_str(&head), "too many");
}

/* --- bodies --- */

/* How many of the bytes are the body's; STR_NONE: it is malformed, SIZE_MAX - 1: there is more to
 * come. */
#define UNFINISHED (SIZE_MAX - 1)
static size_t take_in_steps(struct proxy_body b, struct str all, size_t step)
{
    size_t n_all = 0, n = 0;

    do {
        struct err *e = proxy_body_take(&b, str_slice(all, n_all, step), &n);

        err_free(e);
        if (e)
            return STR_NONE;
        n_all += n;
    } while (n == step && n_all < all.n);
    return proxy_body_is_over(&b) ? n_all : UNFINISHED;
}

static void assert_body(struct proxy_body b, const char *text, size_t want)
{
    for (size_t step = 1; step <= strlen(text) + 1; step++)
        if (take_in_steps(b, str_of(text), step) != want)
            fail_msg("\"%s\" in steps of %zu: %zu, not %zu", text, step,
                     take_in_steps(b, str_of(text), step), want);
}

TEST(a_body_of_known_length_ends_there)
{
    assert_body((struct proxy_body){0}, "GET", 0);
    assert_body((struct proxy_body){.n_left = 5}, "helloGET", 5);
    assert_body((struct proxy_body){.n_left = 5}, "hell", UNFINISHED);
}

TEST(chunks_end_with_an_empty_one)
{
    struct proxy_body chunked = {.kind = PROXY_BODY_CHUNKED};

    assert_body(chunked, "0\r\n\r\nGET http://b/", 5);
    assert_body(chunked, "5\r\nhello\r\n00a\r\n0123456789\r\n0\r\n\r\n", 32);
    assert_body(chunked, "A\r\n\r\n\r\n\r\n\r\n\r\n\r\n0\r\n\r\nx", 20);
    assert_body(chunked, "5\r\nhel", UNFINISHED);
    assert_body(chunked, "0\r\n", UNFINISHED);
}

TEST(chunks_that_could_be_read_in_two_ways_are_refused)
{
    static const char *const bad[] = {
        "5;x=y\r\nhello\r\n",    "5 \r\nhello\r\n", " 5\r\nhello\r\n", "5\nhello\r\n", "\r\n",
        "0x5\r\nhello\r\n",      "-5\r\n",          "5\r\nhellox",     "5\r\nhello\n", "g\r\n",
        "0\r\nX: y\r\n\r\n",     "5\r\rhello\r\n",  "5\r\nhello\r\r",  "0\r\nGET",     "+5\r\n",
        "1234567890abcdef1\r\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_body((struct proxy_body){.kind = PROXY_BODY_CHUNKED}, bad[i], STR_NONE);
}

RUN_TESTS(UNIT(the_end_of_a_head_is_found_wherever_it_was_cut),
          UNIT(a_tunnel_names_its_host_and_port), UNIT(a_plain_request_is_written_anew),
          UNIT(a_further_proxy_is_told_the_whole_target),
          UNIT(headers_between_neighbours_are_left_out),
          UNIT(what_servers_could_read_in_two_ways_is_refused),
          UNIT(another_host_than_the_target_s_is_refused),
          UNIT(a_malformed_request_line_is_refused), UNIT(more_than_a_hundred_headers_are_refused),
          UNIT(a_body_of_known_length_ends_there), UNIT(chunks_end_with_an_empty_one),
          UNIT(chunks_that_could_be_read_in_two_ways_are_refused))
