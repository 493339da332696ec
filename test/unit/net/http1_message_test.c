/* http1_message_test.c - heads and bodies of HTTP/1.1, without a connection. */
#include "test.h"

#include "net/http1_body.h"

/* --- heads --- */

static enum http1_fault take(struct strbuf *text, struct str bytes, bool *ret_is_whole)
{
    struct http1_head_reader r = {0};
    size_t n_used;
    enum http1_fault fault = http1_head_take(&r, bytes, &n_used, ret_is_whole);

    strbuf_add(text, strbuf_str(&r.text));
    http1_head_reader_done(&r);
    return fault;
}

static enum http1_fault parse(struct arena *a, const char *text, struct http1_head *ret_head)
{
    AUTO(strbuf) struct strbuf head = {0};
    bool is_whole = false;
    enum http1_fault fault = take(&head, str_of(text), &is_whole);

    if (fault != HTTP1_NONE)
        return fault;
    assert_true(is_whole);
    return http1_head_parse(a, strbuf_str(&head), ret_head);
}

TEST(a_head_ends_at_its_empty_line_and_what_follows_is_left)
{
    struct http1_head_reader r = {0};
    bool is_whole;
    size_t n;

    assert_int_equal(http1_head_take(&r, S("HTTP/1.1 200 OK\r\nA: b\r\n\r"), &n, &is_whole), 0);
    assert_false(is_whole);
    assert_int_equal(http1_head_take(&r, S("\nbody"), &n, &is_whole), 0);
    assert_true(is_whole);
    assert_int_equal(n, 1);
    assert_str(strbuf_str(&r.text), "HTTP/1.1 200 OK\r\nA: b\r\n\r\n");
    http1_head_reader_done(&r);
}

TEST(a_status_line_is_read_strictly)
{
    static const char *const bad[] = {"HTTP/1.2 200 OK",  "HTTP/1.1  200 OK", "HTTP/1.1 20 OK",
                                      "HTTP/1.1 2000 OK", "HTTP/1.1 +20 OK",  "HTTP/1.1 099 OK",
                                      "HTTP/1.1\t200 OK", "HTTP/1.1 200OK",   "HTTP/1.",
                                      "HTTP/1.1 200 O\rK"};
    AUTO(arena) struct arena a = {0};
    struct http1_head head;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct str text = arena_format(&a, "%s\r\n\r\n", bad[i]);

        if (parse(&a, text.p, &head) != HTTP1_NOT_HTTP)
            fail_msg("\"%s\" was taken", bad[i]);
    }
    assert_int_equal(parse(&a, "HTTP/1.0 404\r\n\r\n", &head), HTTP1_NONE);
    assert_int_equal(head.status, 404);
    assert_true(head.is_1_0);
    assert_int_equal(parse(&a, "HTTP/2 200\r\n\r\n", &head), HTTP1_NOT_HTTP);
    assert_int_equal(parse(&a, "<html>\r\n\r\n", &head), HTTP1_NOT_HTTP);
}

TEST(a_header_that_could_be_read_in_two_ways_is_refused)
{
    static const char *const bad[] = {
        "Content-Length : 5",
        "No colon",
        ": no name",
        "A\xc3\xa4: b",
        "A: b\rc",
        "A: b\x01",
        " folded at once",
        "Content-Length: 1\r\n 2",
        "Transfer-Encoding: chunked\r\n\t,x",
        "A(b): c",
    };
    AUTO(arena) struct arena a = {0};
    struct http1_head head;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct str text = arena_format(&a, "HTTP/1.1 200 OK\r\n%s\r\n\r\n", bad[i]);

        if (parse(&a, text.p, &head) != HTTP1_BAD_HEADER)
            fail_msg("\"%s\" was taken", bad[i]);
    }
}

TEST(a_header_over_many_lines_is_one_value_and_takes_no_more_memory_than_its_bytes)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct http1_head head;

    strbuf_add_cstr(&text, "HTTP/1.1 200 OK\r\nA: b\r\nX:\r\n");
    while (text.n < HTTP1_MAX_HEAD_BYTES / 2)
        strbuf_add_cstr(&text, " y\n");
    while (text.n < HTTP1_MAX_HEAD_BYTES - 100)
        strbuf_add_cstr(&text, " \n");
    strbuf_add_cstr(&text, "C: d\r\n\r\n");
    assert_int_equal(http1_head_parse(&a, strbuf_str(&text), &head), HTTP1_NONE);
    assert_int_equal(head.headers.n, 3);
    assert_str(http_headers_get(&head.headers, "a"), "b");
    assert_true(str_starts(http_headers_get(&head.headers, "x"), S("y  y  y")));
    assert_true(str_ends(http_headers_get(&head.headers, "x"), S("y  y")));
    assert_str(http_headers_get(&head.headers, "c"), "d");
    assert_true(a.used_bytes < 2 * HTTP1_MAX_HEAD_BYTES);
}

TEST(a_connection_ends_where_the_response_says_so)
{
    static const struct {
        const char *head;
        bool closes;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nConnection: x, Close\r\n\r\n", true},
        {"HTTP/1.0 200 OK\r\n\r\n", true},
        {"HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\n\r\n", false},
    };
    AUTO(arena) struct arena a = {0};
    struct http1_head head;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(parse(&a, cases[i].head, &head), HTTP1_NONE);
        assert_int_equal(head.closes, cases[i].closes);
    }
}

TEST(heads_have_a_limit_of_bytes_and_of_lines)
{
    AUTO(strbuf) struct strbuf many = {0};
    AUTO(arena) struct arena a = {0};
    struct http1_head_reader r = {0};
    struct http1_head head;
    enum http1_fault fault = HTTP1_NONE;
    bool is_whole;
    size_t n;

    strbuf_add_cstr(&many, "HTTP/1.1 200 OK\r\n");
    for (size_t i = 0; i < HTTP1_MAX_HEADERS + 1; i++)
        strbuf_add_cstr(&many, "a:b\r\n");
    strbuf_add_cstr(&many, "\r\n");
    assert_int_equal(http1_head_parse(&a, strbuf_str(&many), &head), HTTP1_BAD_HEADER);
    while (fault == HTTP1_NONE) { /* provisional ones, without an end */
        fault = http1_head_take(&r, S("HTTP/1.1 100 Continue\r\n\r\n"), &n, &is_whole);
        strbuf_clear(&r.text);
        assert_true(r.n_bytes <= HTTP1_MAX_HEAD_BYTES);
    }
    assert_int_equal(fault, HTTP1_TOO_LONG);
    http1_head_reader_done(&r);
}

/* --- bodies --- */

static enum http1_fault init(struct http1_body *b, const char *headers, bool is_to_head)
{
    AUTO(arena) struct arena a = {0};
    struct http1_head head;
    enum http1_fault fault =
        parse(&a, arena_format(&a, "HTTP/1.1 200 OK\r\n%s\r\n", headers).p, &head);

    return fault == HTTP1_NONE ? http1_body_init(b, &head, is_to_head) : fault;
}

TEST(a_body_whose_length_is_told_twice_or_wrongly_is_refused)
{
    static const struct {
        const char *headers;
        enum http1_fault fault;
    } cases[] = {
        {"Content-Length: 5\r\nContent-Length: 5\r\n", HTTP1_BAD_LENGTH},
        {"Content-Length: 5, 5\r\n", HTTP1_BAD_LENGTH},
        {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", HTTP1_BAD_LENGTH},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", HTTP1_BAD_LENGTH},
        {"Content-Length: -1\r\n", HTTP1_BAD_LENGTH},
        {"Content-Length: +1\r\n", HTTP1_BAD_LENGTH},
        {"Content-Length: 0x10\r\n", HTTP1_BAD_LENGTH},
        {"Content-Length: 9999999999999999999\r\n", HTTP1_BAD_LENGTH},
        {"Content-Length:\r\n", HTTP1_BAD_LENGTH},
        {"Transfer-Encoding: gzip\r\n", HTTP1_BAD_CODING},
        {"Transfer-Encoding: gzip, chunked\r\n", HTTP1_BAD_CODING},
        {"Transfer-Encoding: chunked\r\n", HTTP1_NONE},
        {"Content-Length: 5\r\n", HTTP1_NONE},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http1_body b;

        if (init(&b, cases[i].headers, false) != cases[i].fault)
            fail_msg("%s", cases[i].headers);
    }
}

TEST(some_responses_have_no_body_whatever_they_say)
{
    static const char *const heads[] = {"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n",
                                        "HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n"};
    AUTO(arena) struct arena a = {0};
    struct http1_head head;
    struct http1_body b;

    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        assert_int_equal(parse(&a, heads[i], &head), HTTP1_NONE);
        assert_int_equal(http1_body_init(&b, &head, false), HTTP1_NONE);
        assert_true(b.is_over);
    }
    assert_int_equal(init(&b, "Content-Length: 5\r\n", /* is_to_head= */ true), HTTP1_NONE);
    assert_true(b.is_over);
}

static enum http1_fault decode(const char *chunks, struct strbuf *content, bool *ret_is_over)
{
    struct http1_body b;
    AUTO_FREE char *bytes = mem_strdup(chunks);
    size_t n_content, n_used;
    enum http1_fault fault;

    assert_int_equal(init(&b, "Transfer-Encoding: chunked\r\n", false), HTTP1_NONE);
    fault = http1_body_decode(&b, bytes, strlen(bytes), &n_content, &n_used);
    strbuf_add(content, str_make(bytes, n_content));
    *ret_is_over = b.is_over;
    return fault;
}

TEST(chunks_are_joined_in_place_and_what_came_before_a_bad_one_is_kept)
{
    static const struct {
        const char *chunks, *content;
        enum http1_fault fault;
        bool is_over;
    } cases[] = {
        {"5\r\nhello\r\n6; a=\"b\"\r\n world\r\n0\r\n\r\n", "hello world", HTTP1_NONE, true},
        {"1\na\n2\nbc\n0\n\n", "abc", HTTP1_NONE, true},
        {"00000000000000000005\r\nhello\r\n0\r\nA: b\r\nC: d\r\n\r\n", "hello", HTTP1_NONE, true},
        {"5\r\nhello\r\n", "hello", HTTP1_NONE, false},
        {"5\r\nhello\r\nzz\r\n", "hello", HTTP1_BAD_CHUNK, false},
        {"5\r\nhelloX\r\n", "hello", HTTP1_BAD_CHUNK, false},
        {"-1\r\n", "", HTTP1_BAD_CHUNK, false},
        {"\r\n", "", HTTP1_BAD_CHUNK, false},
        {"5\rhello", "", HTTP1_BAD_CHUNK, false},
        {"1000000000000000\r\n", "", HTTP1_BAD_CHUNK, false},
        {"ffffffffffffffffff\r\n", "", HTTP1_BAD_CHUNK, false},
        {"5 x\r\nhello\r\n0\r\n\r\n", "hello", HTTP1_NONE, true},
        {"0\r\nA: b\r\n\rx\r\n", "", HTTP1_NONE, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(strbuf) struct strbuf content = {0};
        bool is_over;

        if (decode(cases[i].chunks, &content, &is_over) != cases[i].fault)
            fail_msg("the fault of \"%s\"", cases[i].chunks);
        assert_str(strbuf_str(&content), cases[i].content);
        assert_int_equal(is_over, cases[i].is_over);
    }
}

TEST(trailers_have_a_limit)
{
    AUTO(strbuf) struct strbuf chunks = {0}, content = {0};
    bool is_over;

    strbuf_add_cstr(&chunks, "0\r\n");
    while (chunks.n < HTTP1_MAX_TRAILER_BYTES + 100)
        strbuf_add_cstr(&chunks, "Trailer: some more of it\r\n");
    assert_int_equal(decode(strbuf_cstr(&chunks), &content, &is_over), HTTP1_TOO_LONG);
}

/* --- requests --- */

static struct str write_head(struct arena *a, struct strbuf *out, const char *url, bool is_absolute)
{
    struct http_request request = {.method = "GET", .url = str_of(url)};
    struct http1_form form = {.is_absolute = is_absolute, .user_agent = "test"};
    struct url u;

    strbuf_clear(out);
    assert_ok(url_parse(a, request.url, &u));
    http1_write_head(out, &request, &u, &form);
    return strbuf_str(out);
}

TEST(a_request_names_its_host_as_the_url_does)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};

    assert_true(str_starts(write_head(&a, &out, "https://Example.com:443", false),
                           S("GET / HTTP/1.1\r\nHost: example.com\r\n")));
    assert_true(str_starts(write_head(&a, &out, "https://example.com:80/a?b#c", false),
                           S("GET /a?b HTTP/1.1\r\nHost: example.com:80\r\n")));
    assert_true(str_starts(write_head(&a, &out, "http://[::1]:8080/", false),
                           S("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n")));
    assert_true(str_starts(write_head(&a, &out, "http://u:p@example.com/a", true),
                           S("GET http://example.com/a HTTP/1.1\r\nHost: example.com\r\n"
                             "Authorization: Basic dTpw\r\n")));
}

RUN_TESTS(UNIT(a_head_ends_at_its_empty_line_and_what_follows_is_left),
          UNIT(a_status_line_is_read_strictly),
          UNIT(a_header_that_could_be_read_in_two_ways_is_refused),
          UNIT(a_header_over_many_lines_is_one_value_and_takes_no_more_memory_than_its_bytes),
          UNIT(a_connection_ends_where_the_response_says_so),
          UNIT(heads_have_a_limit_of_bytes_and_of_lines),
          UNIT(a_body_whose_length_is_told_twice_or_wrongly_is_refused),
          UNIT(some_responses_have_no_body_whatever_they_say),
          UNIT(chunks_are_joined_in_place_and_what_came_before_a_bad_one_is_kept),
          UNIT(trailers_have_a_limit), UNIT(a_request_names_its_host_as_the_url_does))
