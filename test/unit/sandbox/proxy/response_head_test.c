/* proxy_answer_test.c - heads of answers, as commands get them. */
#include "sandbox/proxy/response_head.h"

#include "test.h"

static void assert_written(const char *head, bool is_last, const char *want)
{
    AUTO(strbuf) struct strbuf out = {0};

    assert_true(proxy_answer_begins(str_of(head)));
    assert_int_equal(proxy_answer_write(&out, str_of(head)), is_last);
    assert_str(strbuf_str(&out), want);
}

TEST(the_end_of_the_connection_is_told)
{
    assert_written("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", true,
                   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n");
    assert_written("HTTP/1.0 404 Gone\r\n\r\n", true,
                   "HTTP/1.0 404 Gone\r\nConnection: close\r\n\r\n");
}

TEST(what_the_server_says_of_the_connection_is_replaced)
{
    assert_written("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nX: y\r\n"
                   "proxy-connection : keep-alive\r\nETag: 1\r\n\r\n",
                   true, "HTTP/1.1 200 OK\r\nX: y\r\nETag: 1\r\nConnection: close\r\n\r\n");
}

TEST(an_interim_answer_is_left_alone)
{
    assert_written("HTTP/1.1 100 Continue\r\nConnection: keep-alive\r\n\r\n", false,
                   "HTTP/1.1 100 Continue\r\nConnection: keep-alive\r\n\r\n");
}

TEST(what_is_no_answer_is_told_from_its_first_bytes)
{
    assert_true(proxy_answer_begins(S("")));
    assert_true(proxy_answer_begins(S("HTT")));
    assert_true(proxy_answer_begins(S("HTTP/1.1 200 OK")));
    assert_false(proxy_answer_begins(S("SSH-2.0")));
    assert_false(proxy_answer_begins(S("\n")));
    assert_false(proxy_answer_begins(S("HTTP/1.1 200 OK\nX: y\n\n")));
}

RUN_TESTS(UNIT(the_end_of_the_connection_is_told),
          UNIT(what_the_server_says_of_the_connection_is_replaced),
          UNIT(an_interim_answer_is_left_alone),
          UNIT(what_is_no_answer_is_told_from_its_first_bytes))
