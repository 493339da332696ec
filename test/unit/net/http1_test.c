/* http1_test.c - the HTTP client against a real server on the loopback. */
#include "test.h"

#include "net/trial.h"
#include "net/url.h"
#include "sys/loop.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* --- names: our own resolver stands before libc's --- */

static pthread_mutex_t resolver_gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint n_resolving;

/* Looking up stuck.test takes until the gate is opened. */
__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **ret_list)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        (__typeof__(&getaddrinfo))dlsym(RTLD_NEXT, "getaddrinfo");

    if (name && strcmp(name, "stuck.test") == 0) {
        n_resolving++;
        pthread_mutex_lock(&resolver_gate);
        pthread_mutex_unlock(&resolver_gate);
        n_resolving--;
        return EAI_NONAME;
    }
    if (name && strcmp(name, "missing.test") == 0)
        return EAI_NONAME;
    return real(name, service, hints, ret_list);
}

/* --- bodies --- */

static void check_body(struct str response, enum server_then then, const char *want)
{
    static const size_t steps[] = {0, 1, 7};

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        AUTO(trial) struct trial t = {0};
        struct server_script script = {response, steps[i], then};

        assert_ok(get_scripted(&t, &script));
        assert_int_equal(t.response.status, 200);
        assert_str(strbuf_str(&t.body), want);
    }
}

TEST(a_body_ends_by_its_length_by_its_last_chunk_or_by_the_end_of_the_connection)
{
    check_body(S(HELLO), SERVER_GOES_ON, "hello");
    check_body(S(OK_HEAD "Content-Length: 0\r\n\r\n"), SERVER_GOES_ON, "");
    check_body(S(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"
                         "5\r\nhello\r\n1;x=y\r\n \r\n5\r\nworld\r\n0\r\nTrailer: x\r\n\r\n"),
               SERVER_GOES_ON, "hello world");
    check_body(S(OK_HEAD "\r\nuntil the end"), SERVER_CLOSES, "until the end");
}

TEST(a_response_of_any_status_is_a_response_and_its_headers_are_there)
{
    AUTO(trial) struct trial t = {0};
    struct server_script script = {
        S("HTTP/1.1 529 Overloaded\r\nRetry-After: 7\r\nX-Empty:\r\nX-Two:  a b \r\n folded\r\n"
          "Content-Length: 4\r\n\r\nbusy"),
        0, SERVER_GOES_ON};

    assert_ok(get_scripted(&t, &script));
    assert_int_equal(t.response.status, 529);
    assert_str(http_headers_get(&t.response.headers, "retry-after"), "7");
    assert_str(http_headers_get(&t.response.headers, "x-two"), "a b    folded");
    assert_str(http_headers_get(&t.response.headers, "x-empty"), "");
    assert_int_equal(t.response.headers.n, 4);
    assert_str(strbuf_str(&t.body), "busy");
    assert_str(t.response.final_url, arena_cstr(&t.arena, url_of(&t, "/")));
}

TEST(a_provisional_response_is_not_the_answer)
{
    check_body(S("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" HELLO), SERVER_GOES_ON, "hello");
}

/* --- what is sent --- */

static struct err *post(struct trial *t)
{
    struct http_request request = {
        .method = "POST",
        .url = url_of(t, "/v1/messages?a=b#c"),
        .body = S("{\"a\":1}"),
    };

    http_headers_add(&t->arena, &request.headers, S("X-Key"), S("k"));
    http_headers_add(&t->arena, &request.headers, S("X-Empty"), S(""));
    http_headers_add(&t->arena, &request.headers, S("Content-Type"), S("application/json"));
    return fetch(t, &request);
}

TEST(a_request_arrives_as_it_was_made)
{
    AUTO(trial) struct trial t = {.act = post, .options.user_agent = "keel-test"};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    AUTO_FREE char *request = NULL, *want = NULL;

    assert_ok(get_scripted(&t, &script));
    request = server_take_request(t.server);
    assert_true(asprintf(&want,
                         "POST /v1/messages?a=b HTTP/1.1\r\n"
                         "Host: 127.0.0.1:%d\r\n"
                         "User-Agent: keel-test\r\n"
                         "Accept: */*\r\n"
                         "X-Key: k\r\n"
                         "X-Empty:\r\n"
                         "Content-Type: application/json\r\n"
                         "Content-Length: 7\r\n"
                         "\r\n"
                         "{\"a\":1}",
                         server_port(t.server)) > 0);
    assert_string_equal(request, want);
}

static struct err *send_every_method(struct trial *t)
{
    static const struct {
        const char *method;
        const char *body;
        const char *line;
        bool has_length;
    } cases[] = {
        {"GET", "", "GET /", false},       {"GET", "x", "GET /", true},
        {"POST", "", "POST /", true},      {"PUT", "x", "PUT /", true},
        {"DELETE", "", "DELETE /", false}, {"PATCH", "", "PATCH /", true},
        {"HEAD", "", "HEAD /", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_FREE char *request = NULL;

        TRY(fetch(t, &(struct http_request){.method = cases[i].method,
                                            .url = url_of(t, "/"),
                                            .body = str_of(cases[i].body)}));
        request = server_take_request(t->server);
        assert_true(str_starts(str_of(request), str_of(cases[i].line)));
        assert_int_equal(strstr(request, "Content-Length") != NULL, cases[i].has_length);
        assert_null(strstr(request, "Content-Type"));
        assert_null(strstr(request, "Expect"));
        assert_null(strstr(request, "Accept-Encoding"));
    }
    return NULL;
}

TEST(methods_are_sent_with_a_length_where_one_belongs)
{
    AUTO(trial) struct trial t = {.act = send_every_method};
    struct server_script script = {S(OK_HEAD "Content-Length: 0\r\n\r\n"), 0, SERVER_GOES_ON};

    assert_ok(get_scripted(&t, &script));
}

static struct err *post_a_megabyte(struct trial *t)
{
    char *body = ARENA_ARRAY(&t->arena, 1 << 20, char);

    memset(body, 'x', 1 << 20);
    return fetch(t, &(struct http_request){
                        .method = "POST", .url = url_of(t, "/"), .body = str_make(body, 1 << 20)});
}

TEST(a_large_body_is_sent_whole)
{
    AUTO(trial) struct trial t = {.act = post_a_megabyte};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    AUTO_FREE char *request = NULL;

    assert_ok(get_scripted(&t, &script));
    request = server_take_request(t.server);
    assert_int_equal(strlen(strstr(request, "\r\n\r\n")), 4 + (1 << 20));
}

static struct err *get_with_userinfo(struct trial *t)
{
    struct str url =
        arena_format(&t->arena, "http://us%%65r:p%%40ss@127.0.0.1:%d/", server_port(t->server));

    return fetch(t, &(struct http_request){.url = url});
}

TEST(user_information_in_a_url_is_sent_as_basic_authorization)
{
    AUTO(trial) struct trial t = {.act = get_with_userinfo};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    AUTO_FREE char *request = NULL;

    assert_ok(get_scripted(&t, &script));
    request = server_take_request(t.server);
    assert_non_null(strstr(request, "\r\nAuthorization: Basic dXNlcjpwQHNz\r\n"));
    assert_str(t.response.final_url, arena_cstr(&t.arena, url_of(&t, "/")));
}

/* --- broken connections --- */

static void check_failure(struct str response, enum server_then then, enum err_kind kind,
                          const char *text)
{
    AUTO(trial) struct trial t = {0};
    struct server_script script = {response, 0, then};
    AUTO(err) struct err *e = get_scripted(&t, &script);

    if (!err_is(e, kind) || !strstr(e->text, text))
        fail_msg("wanted %s with \"%s\", got %s: %s", err_code(kind), text,
                 e ? err_code(e->kind) : "no error", e ? e->text : "");
}

TEST(a_response_that_breaks_off_is_a_network_error)
{
    check_failure(S(""), SERVER_CLOSES, ERR_NETWORK, "without an answer");
    check_failure(S(OK_HEAD "Content-Le"), SERVER_CLOSES, ERR_NETWORK, "");
    check_failure(S(OK_HEAD "Content-Length: 10\r\n\r\nhello"), SERVER_CLOSES, ERR_NETWORK,
                  "lost the connection");
    check_failure(S(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"), SERVER_CLOSES,
                  ERR_NETWORK, "lost the connection");
    check_failure(S(OK_HEAD "Transfer-Encoding: chunked\r\n\r\nzzz\r\nhello\r\n0\r\n\r\n"),
                  SERVER_CLOSES, ERR_NETWORK, "lost the connection");
}

TEST(a_server_that_does_not_speak_http_sends_nonsense)
{
    check_failure(S("SSH-2.0-OpenSSH_9.2\r\n"), SERVER_CLOSES, ERR_BAD_RESPONSE, "did not answer");
    check_failure(S(OK_HEAD "Content-Length: x\r\n\r\n"), SERVER_CLOSES, ERR_BAD_RESPONSE,
                  "did not answer");
}

TEST(a_connection_that_closes_in_the_middle_of_the_headers_is_told_as_such)
{
    check_failure(S("HTTP/1.1 200 OK\r\nContent-Ty"), SERVER_CLOSES, ERR_NETWORK,
                  "closed the connection in the middle of its headers");
}

static void serve_long_line(struct server_connection *c, void *arg)
{
    if (server_read_request(c) && server_send(c, S(OK_HEAD "X-Long: "), 0))
        while (
            server_send(c, S("zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"), 0))
            ;
}

TEST(a_header_line_without_an_end_is_not_called_a_lack_of_memory)
{
    AUTO(trial) struct trial t = {.act = get};
    AUTO(err) struct err *e = NULL;

    t.server = server_start(serve_long_line, NULL);
    e = trial_run(&t);
    assert_true(err_is(e, ERR_BAD_RESPONSE));
    assert_non_null(strstr(e->text, "headers that are too long"));
}

/* Chunks of one byte, each with an extension of many. */
static void serve_extensions(struct server_connection *c, void *arg)
{
    AUTO(strbuf) struct strbuf chunk = {0};

    strbuf_add_cstr(&chunk, "1;a=");
    while (chunk.n < 65536)
        strbuf_add_cstr(&chunk, "zzzzzzzzzzzzzzzz");
    strbuf_add_cstr(&chunk, "\r\nx\r\n");
    if (server_read_request(c) &&
        server_send(c, S(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"), 0))
        while (server_send(c, strbuf_str(&chunk), 0))
            ;
}

TEST(bytes_between_the_pieces_of_a_body_have_a_limit_too)
{
    AUTO(trial) struct trial t = {.act = get};
    AUTO(err) struct err *e = NULL;

    t.server = server_start(serve_extensions, NULL);
    e = trial_run(&t);
    assert_true(err_is(e, ERR_BAD_RESPONSE));
    assert_non_null(strstr(e->text, "MiB that are not part of its answer"));
}

static struct err *read_before_the_break(struct trial *t)
{
    struct http_request request = {.url = url_of(t, "/")};
    struct http_exchange *x;
    struct err *e = NULL;

    TRY(http_open(t->client, &request, &x, &t->response));
    while (!e) {
        struct str bytes;

        e = http_read(t->client, x, &bytes);
        if (!e)
            strbuf_add(&t->body, bytes);
    }
    assert_err(e, ERR_NETWORK);
    assert_err(http_read(t->client, x, &(struct str){0}), ERR_NETWORK);
    http_close(t->client, x);
    return NULL;
}

TEST(bytes_that_came_before_a_break_are_not_lost)
{
    AUTO(trial) struct trial t = {.act = read_before_the_break};
    struct server_script script = {S(OK_HEAD "Content-Length: 10\r\n\r\nhello"), 0, SERVER_CLOSES};

    assert_ok(get_scripted(&t, &script));
    assert_str(strbuf_str(&t.body), "hello");
}

static struct err *get_from_nobody(struct trial *t)
{
    /* a port that was free a moment ago */
    struct server *s = server_start(server_play, NULL);
    struct str url = arena_format(&t->arena, "%s/", server_url(s));

    server_stop(s);
    return fetch(t, &(struct http_request){.url = url});
}

TEST(a_refused_connection_asks_whether_the_server_runs)
{
    AUTO(trial) struct trial t = {.act = get_from_nobody};
    AUTO(err) struct err *e = trial_run(&t);

    assert_true(err_is(e, ERR_NETWORK));
    assert_non_null(strstr(e->text, "cannot connect to 127.0.0.1:"));
    assert_string_equal(e->cause->text, "Connection refused");
    assert_non_null(strstr(e->hint, "is the server running at 127.0.0.1:"));
}

static struct err *get_from_missing_host(struct trial *t)
{
    return fetch(t, &(struct http_request){.url = S("http://missing.test/")});
}

TEST(an_unknown_host_is_named)
{
    AUTO(trial) struct trial t = {.act = get_from_missing_host};
    AUTO(err) struct err *e = trial_run(&t);

    assert_true(err_is(e, ERR_NETWORK));
    assert_string_equal(e->text, "cannot resolve the host name missing.test");
    assert_non_null(strstr(e->hint, "HTTPS_PROXY"));
}

/* --- caps --- */

static struct err *get_four_bytes(struct trial *t)
{
    return fetch(t, &(struct http_request){.url = url_of(t, "/"), .max_body_bytes = 4});
}

static struct err *get_five_bytes(struct trial *t)
{
    return fetch(t, &(struct http_request){.url = url_of(t, "/"), .max_body_bytes = 5});
}

TEST(a_body_may_reach_its_limit_but_not_pass_it)
{
    AUTO(trial) struct trial small = {.act = get_four_bytes}, exact = {.act = get_five_bytes};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    AUTO(err) struct err *e = get_scripted(&small, &script);

    assert_true(err_is(e, ERR_BAD_RESPONSE));
    assert_non_null(strstr(e->text, "limit of 4 bytes"));
    assert_ok(get_scripted(&exact, &script));
}

static void serve_endless_head(struct server_connection *c, void *arg)
{
    if (server_read_request(c) && server_send(c, S(OK_HEAD), 0))
        while (server_send(c, S("X-Header: some more of it\r\n"), 0))
            ;
}

TEST(a_head_without_an_end_is_cut_off)
{
    AUTO(trial) struct trial t = {.act = get};
    AUTO(err) struct err *e = NULL;

    t.server = server_start(serve_endless_head, NULL);
    e = trial_run(&t);
    assert_true(err_is(e, ERR_BAD_RESPONSE));
    assert_non_null(strstr(e->text, "headers"));
}

/* --- time-outs --- */

static struct err *get_impatiently(struct trial *t)
{
    return fetch(t, &(struct http_request){.url = url_of(t, "/"), .idle_ms = 30});
}

static struct err *get_within_total(struct trial *t)
{
    return fetch(
        t, &(struct http_request){.url = url_of(t, "/"), .total_ms = 30, .max_redirects = 1000});
}

TEST(a_silent_server_times_out_before_the_head_and_in_the_body)
{
    static const char *const starts[] = {"", OK_HEAD, OK_HEAD "Content-Length: 10\r\n\r\nhello"};

    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        AUTO(trial) struct trial t = {.act = get_impatiently};
        struct server_script script = {str_of(starts[i]), 0, SERVER_STALLS};
        AUTO(err) struct err *e = get_scripted(&t, &script);

        assert_true(err_is(e, ERR_TIMEOUT));
        assert_string_equal(e->text, "127.0.0.1 sent nothing for 30 ms");
    }
}

static void serve_slowly(struct server_connection *c, void *arg)
{
    if (server_read_request(c) && server_send(c, S(OK_HEAD "\r\n"), 0))
        while (server_send(c, S("."), 0))
            usleep(1000);
}

TEST(a_server_that_sends_for_ever_is_cut_off_by_the_total_time)
{
    AUTO(trial) struct trial t = {.act = get_within_total};
    AUTO(err) struct err *e = NULL;

    t.server = server_start(serve_slowly, NULL);
    e = trial_run(&t);
    assert_true(err_is(e, ERR_TIMEOUT));
    assert_string_equal(e->text, "the request to 127.0.0.1 took longer than 30 ms");
}

TEST(the_total_time_counts_over_redirects)
{
    AUTO(trial) struct trial t = {.act = get_within_total};
    struct server_script script = {
        S("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n"), 1,
        SERVER_GOES_ON};

    assert_err(get_scripted(&t, &script), ERR_TIMEOUT);
}

static struct err *get_from_stuck_host(struct trial *t)
{
    return fetch(t, &(struct http_request){.url = S("http://stuck.test/"), .connect_ms = 30});
}

TEST(connecting_times_out_while_the_name_is_looked_up)
{
    AUTO(trial) struct trial t = {.act = get_from_stuck_host};
    AUTO(err) struct err *e = NULL;

    pthread_mutex_lock(&resolver_gate);
    e = trial_run(&t);
    assert_true(err_is(e, ERR_TIMEOUT));
    assert_string_equal(e->text, "connecting to stuck.test:80 took longer than 30 ms");
    assert_int_equal(n_resolving, 1); /* nobody waited for the resolver */
    pthread_mutex_unlock(&resolver_gate);
    while (n_resolving)
        usleep(1000);
}

static void serve_after_a_while(struct server_connection *c, void *arg)
{
    if (server_read_request(c)) {
        usleep(20000);
        server_send(c, S(HELLO), 0);
    }
}

static struct err *get_within_virtual_second(struct trial *t)
{
    return fetch(t,
                 &(struct http_request){.url = url_of(t, "/"), .idle_ms = 1000, .total_ms = 1000});
}

TEST(a_virtual_clock_stands_while_an_exchange_waits)
{
    static const char *const no_environment[] = {NULL};
    AUTO(trial) struct trial t = {.act = get_within_virtual_second};
    struct virtual_clock clock;
    AUTO(loop) struct loop *loop = NULL;

    t.options.ca.environment = no_environment;
    t.server = server_start(serve_after_a_while, NULL);
    virtual_clock_init(&clock, 0);
    loop = loop_new(&clock.clock);
    assert_ok(loop_run(loop, trial_main, &t));
    assert_str(strbuf_str(&t.body), "hello");
    assert_true(loop_now_ms(loop) < 1000);
}

/* --- cancelling --- */

struct cancelled_child {
    struct trial *trial;
    struct str url;
    bool head_came;
};

static struct err *read_until_cancelled(void *arg)
{
    struct cancelled_child *child = arg;
    struct trial *t = child->trial;
    struct http_exchange *x;
    struct err *e;
    struct str bytes = S("-");

    TRY(http_open(t->client, &(struct http_request){.url = child->url}, &x, &t->response));
    child->head_came = true;
    do {
        e = http_read(t->client, x, &bytes);
    } while (!e && bytes.n);
    http_close(t->client, x);
    return e;
}

/* Cancels the child once `has_begun` says so. */
static struct err *cancel_when(struct trial *t, struct cancelled_child *child,
                               bool (*has_begun)(const struct cancelled_child *))
{
    struct err *e = NULL;
    struct group g;

    child->trial = t;
    group_begin(&g, 0, 0);
    group_spawn(&g, "child", read_until_cancelled, child);
    while (!e && !has_begun(child))
        e = task_yield();
    group_cancel(&g);
    assert_ok(e);
    assert_err(group_end(&g), ERR_CANCELLED);
    return NULL;
}

static bool request_has_come(const struct cancelled_child *child)
{
    return server_n_requests(child->trial->server) > 0;
}

static bool body_has_begun(const struct cancelled_child *child)
{
    return child->head_came;
}

static bool name_is_looked_up(const struct cancelled_child *child)
{
    return n_resolving > 0;
}

static struct err *cancel_before_the_head(struct trial *t)
{
    return cancel_when(t, &(struct cancelled_child){.url = url_of(t, "/")}, request_has_come);
}

static struct err *cancel_in_the_body(struct trial *t)
{
    return cancel_when(t, &(struct cancelled_child){.url = url_of(t, "/")}, body_has_begun);
}

static struct err *cancel_in_the_resolver(struct trial *t)
{
    return cancel_when(t, &(struct cancelled_child){.url = S("http://stuck.test/")},
                       name_is_looked_up);
}

TEST(a_cancelled_exchange_ends_before_the_head_and_in_the_body)
{
    AUTO(trial) struct trial early = {.act = cancel_before_the_head};
    AUTO(trial) struct trial late = {.act = cancel_in_the_body};
    struct server_script nothing = {S(""), 0, SERVER_STALLS};
    struct server_script half = {S(OK_HEAD "Content-Length: 10\r\n\r\nhello"), 0, SERVER_STALLS};

    assert_ok(get_scripted(&early, &nothing));
    assert_ok(get_scripted(&late, &half));
}

TEST(a_cancelled_exchange_does_not_wait_for_the_resolver)
{
    AUTO(trial) struct trial t = {.act = cancel_in_the_resolver};

    pthread_mutex_lock(&resolver_gate);
    assert_ok(trial_run(&t)); /* would hang here */
    assert_int_equal(n_resolving, 1);
    pthread_mutex_unlock(&resolver_gate);
    while (n_resolving)
        usleep(1000);
}

static struct err *close_without_reading(struct trial *t)
{
    struct http_request request = {.url = url_of(t, "/")};

    for (int i = 0; i < 3; i++) {
        struct http_exchange *x;

        TRY(http_open(t->client, &request, &x, &t->response));
        http_close(t->client, x);
    }
    return NULL;
}

TEST(an_exchange_may_be_closed_unread)
{
    AUTO(trial) struct trial t = {.act = close_without_reading};
    struct server_script script = {S(OK_HEAD "Content-Length: 10\r\n\r\nhello"), 0, SERVER_STALLS};

    assert_ok(get_scripted(&t, &script));
    assert_int_equal(server_n_connections(t.server), 3);
}

/* --- connections --- */

TEST(a_connection_is_kept_for_the_next_request)
{
    AUTO(trial) struct trial t = {.act = get_twice};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};

    assert_ok(get_scripted(&t, &script));
    assert_int_equal(server_n_requests(t.server), 2);
    assert_int_equal(server_n_connections(t.server), 1);
}

TEST(a_connection_that_the_server_closed_is_replaced)
{
    AUTO(trial) struct trial t = {.act = get_twice};
    struct server_script script = {S(HELLO), 0, SERVER_CLOSES};

    assert_ok(get_scripted(&t, &script));
    assert_int_equal(server_n_connections(t.server), 2);
}

enum { N_STREAMS = 200, N_PIECES = 20 };

/* Every stream waits for all others to begin. */
static void serve_together(struct server_connection *c, void *arg)
{
    pthread_barrier_t *all_there = arg;

    if (!server_read_request(c) ||
        !server_send(c, S(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"), 0))
        return;
    pthread_barrier_wait(all_there);
    for (int i = 0; i < N_PIECES; i++)
        server_send(c, S("6\r\npiece \r\n"), 0);
    server_send(c, S("0\r\n\r\n"), 0);
}

static struct err *get_one_of_many(void *arg)
{
    struct trial *t = arg;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf body = {0};
    struct http_response response;

    TRY(http_fetch(t->client, &(struct http_request){.url = url_of(t, "/")}, &a, &response, &body));
    assert_int_equal(body.n, N_PIECES * 6);
    return NULL;
}

static struct err *get_many(struct trial *t)
{
    struct group g;

    group_begin(&g, 0, 0);
    for (int i = 0; i < N_STREAMS; i++)
        group_spawn(&g, "stream", get_one_of_many, t);
    return group_end(&g);
}

TEST(two_hundred_streams_run_at_once)
{
    AUTO(trial) struct trial t = {.act = get_many};
    pthread_barrier_t all_there;

    pthread_barrier_init(&all_there, NULL, N_STREAMS);
    t.server = server_start(serve_together, &all_there);
    assert_ok(trial_run(&t));
    assert_int_equal(server_n_connections(t.server), N_STREAMS);
    server_stop(TAKE(t.server));
    pthread_barrier_destroy(&all_there);
}

/* --- a slow reader --- */

enum { FLOOD_BYTES = 64 << 20 };

static unsigned char flood_byte(size_t at)
{
    return (unsigned char)(at * 31 + (at >> 8) + (at >> 16));
}

static void serve_flood(struct server_connection *c, void *arg)
{
    static const char head[] = OK_HEAD "Content-Length: 67108864\r\n\r\n";
    size_t at = 0;

    if (!server_read_request(c) || !server_send(c, str_of(head), 0))
        return;
    while (at < FLOOD_BYTES) {
        char bytes[65536];

        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)flood_byte(at + i);
        if (!server_send(c, str_make(bytes, sizeof bytes), 0))
            return;
        at += sizeof bytes;
    }
}

static struct err *read_flood(struct trial *t, struct http_exchange *x)
{
    size_t at = 0;
    struct str bytes;

    TRY(http_read(t->client, x, &bytes));
    while (!server_is_stuck(t->server) && server_n_sent_bytes(t->server) < FLOOD_BYTES)
        TRY(task_yield());
    assert_true(server_n_sent_bytes(t->server) < FLOOD_BYTES);
    while (bytes.n) {
        assert_true(bytes.n <= 65536);
        for (size_t i = 0; i < bytes.n; i++)
            if ((unsigned char)bytes.p[i] != flood_byte(at + i))
                fail_msg("byte %zu is wrong", at + i);
        at += bytes.n;
        TRY(http_read(t->client, x, &bytes));
    }
    assert_int_equal(at, FLOOD_BYTES);
    return NULL;
}

static struct err *stop_reading_for_a_while(struct trial *t)
{
    struct http_request request = {.url = url_of(t, "/"), .max_body_bytes = FLOOD_BYTES};
    struct http_exchange *x;
    struct err *e;

    TRY(http_open(t->client, &request, &x, &t->response));
    e = read_flood(t, x);
    http_close(t->client, x);
    return e;
}

TEST(a_slow_reader_slows_the_server_down_and_loses_no_byte)
{
    AUTO(trial) struct trial t = {.act = stop_reading_for_a_while};

    t.server = server_start(serve_flood, NULL);
    assert_ok(trial_run(&t));
}

enum { N_HELD_BACK = 3000, HELD_BACK_BYTES = N_HELD_BACK * 15 };

/* Nothing is read before all was sent, so that the last pieces are held back. */
static struct err *pause_before_the_end(struct trial *t)
{
    struct http_request request = {.url = url_of(t, "/")};
    struct http_exchange *x;
    struct str bytes;
    struct err *e;

    TRY(http_open(t->client, &request, &x, &t->response));
    while (server_n_sent_bytes(t->server) < HELD_BACK_BYTES)
        assert_ok(task_yield());
    do {
        e = http_read(t->client, x, &bytes);
        if (!e)
            strbuf_add(&t->body, bytes);
    } while (!e && bytes.n);
    http_close(t->client, x);
    return e;
}

TEST(what_was_held_back_when_the_response_ended_is_not_lost)
{
    AUTO(strbuf) struct strbuf response = {0}; /* longer than the server sends it */
    AUTO(trial) struct trial t = {.act = pause_before_the_end};
    struct server_script script = {.then = SERVER_CLOSES};

    strbuf_add_cstr(&response, OK_HEAD "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < N_HELD_BACK; i++)
        strbuf_add_cstr(&response, "a\r\n0123456789\r\n");
    strbuf_add_cstr(&response, "0\r\n\r\n");
    script.response = strbuf_str(&response);
    assert_ok(get_scripted(&t, &script));
    assert_int_equal(t.body.n, N_HELD_BACK * 10);
}

/* --- redirects, proxies, addresses --- */

static void serve_redirect(struct server_connection *c, void *arg)
{
    while (server_read_request(c)) {
        bool is_first = server_n_requests(*(struct server **)arg) == 1;

        server_send(c,
                    is_first ? S("HTTP/1.1 307 Moved\r\nLocation: /new\r\nContent-Length: 4\r\n\r\n"
                                 "gone")
                             : S(HELLO),
                    0);
    }
}

static struct err *post_redirected(struct trial *t)
{
    return fetch(
        t, &(struct http_request){
               .method = "POST", .url = url_of(t, "/old"), .body = S("body"), .max_redirects = 3});
}

TEST(a_redirected_request_is_sent_again_with_its_body)
{
    AUTO(trial) struct trial t = {.act = post_redirected};
    AUTO_FREE char *request = NULL;

    t.server = server_start(serve_redirect, &t.server);
    assert_ok(trial_run(&t));
    assert_str(strbuf_str(&t.body), "hello");
    assert_str(t.response.final_url, arena_cstr(&t.arena, url_of(&t, "/new")));
    request = server_take_request(t.server);
    assert_true(str_starts(str_of(request), S("POST /new ")));
    assert_true(str_ends(str_of(request), S("\r\n\r\nbody")));
}

static struct err *get_example(struct trial *t)
{
    return fetch(t, &(struct http_request){.url = S("http://example.test/x")});
}

static struct err *get_example_secure(struct trial *t)
{
    return fetch(t, &(struct http_request){.url = S("https://example.test/x")});
}

static void set_environment(struct trial *t, const char *name, const char *more)
{
    const char **environment = ARENA_ARRAY(&t->arena, 3, const char *);

    environment[0] = arena_format(&t->arena, "%s=%s", name, server_url(t->server)).p;
    environment[1] = more;
    t->options.ca.environment = environment;
}

TEST(a_plain_request_goes_through_the_proxy_of_the_environment)
{
    AUTO(trial) struct trial t = {.act = get_example};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    AUTO_FREE char *request = NULL;

    t.server = server_start(server_play, &script);
    set_environment(&t, "http_proxy", NULL);
    assert_ok(trial_run(&t));
    assert_str(strbuf_str(&t.body), "hello");
    request = server_take_request(t.server);
    assert_true(str_starts(str_of(request), S("GET http://example.test/x HTTP/1.1\r\n")));
}

TEST(a_proxy_that_refuses_a_tunnel_is_named)
{
    AUTO(trial) struct trial t = {.act = get_example_secure};
    struct server_script script = {S("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"), 0,
                                   SERVER_CLOSES};
    AUTO_FREE char *request = NULL;
    AUTO(err) struct err *e = NULL;

    t.server = server_start(server_play, &script);
    set_environment(&t, "HTTPS_PROXY", NULL);
    e = trial_run(&t);
    assert_true(err_is(e, ERR_NETWORK));
    assert_non_null(strstr(e->text, server_url(t.server)));
    assert_non_null(strstr(e->text, "403"));
    request = server_take_request(t.server);
    assert_true(str_starts(str_of(request), S("CONNECT example.test:443 HTTP/1.1\r\n")));
}

TEST(a_proxy_that_cannot_be_used_is_named_without_its_password)
{
    static const char *const bad[] = {"http_proxy=http://user:hunter2@h:notaport",
                                      "http_proxy=gopher://user:hunter2@h",
                                      "http_proxy=http://user:hunter2@missing.test"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const char *const environment[] = {bad[i], NULL};
        AUTO(trial) struct trial t = {.act = get_example, .options.ca.environment = environment};
        AUTO(err) struct err *e = trial_run(&t);

        assert_true(err_is(e, ERR_NETWORK));
        assert_non_null(strstr(e->text, "proxy"));
        assert_null(strstr(e->text, "hunter2"));
    }
}

TEST(no_proxy_goes_direct)
{
    AUTO(trial) struct trial t = {.act = get};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    AUTO_FREE char *request = NULL;

    t.server = server_start(server_play, &script);
    set_environment(&t, "http_proxy", "NO_PROXY=localhost,127.0.0.0/8");
    assert_ok(trial_run(&t));
    request = server_take_request(t.server);
    assert_true(str_starts(str_of(request), S("GET / HTTP/1.1\r\n")));
}

static struct err *get_directly(struct trial *t)
{
    return fetch(t, &(struct http_request){.url = url_of(t, "/"), .no_proxy = true});
}

TEST(a_request_may_insist_on_going_direct)
{
    AUTO(trial) struct trial t = {.act = get_directly};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    AUTO_FREE char *request = NULL;

    t.server = server_start(server_play, &script);
    set_environment(&t, "ALL_PROXY", NULL);
    assert_ok(trial_run(&t));
    request = server_take_request(t.server);
    assert_true(str_starts(str_of(request), S("GET / HTTP/1.1\r\n")));
}

static struct err *get_example_by_proxy(struct trial *t)
{
    return fetch(t, &(struct http_request){.url = S("http://example.test/x"),
                                           .proxy = server_url(t->server)});
}

TEST(a_request_may_insist_on_a_proxy)
{
    AUTO(trial) struct trial t = {.act = get_example_by_proxy};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    AUTO_FREE char *request = NULL;

    t.server = server_start(server_play, &script);
    assert_ok(trial_run(&t));
    request = server_take_request(t.server);
    assert_true(str_starts(str_of(request), S("GET http://example.test/x HTTP/1.1\r\n")));
}

static struct err *get_resolved(struct trial *t)
{
    int port = server_port(t->server);
    struct str url = arena_format(&t->arena, "http://example.test:%d/", port);
    const char *resolve = arena_format(&t->arena, "example.test:%d:127.0.0.1", port).p;

    for (int i = 0; i < 2; i++)
        TRY(fetch(t, &(struct http_request){.url = url, .resolve = resolve}));
    return NULL;
}

TEST(a_checked_address_is_used_and_its_connection_is_not_shared)
{
    AUTO(trial) struct trial t = {.act = get_resolved};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    AUTO_FREE char *request = NULL;

    assert_ok(get_scripted(&t, &script));
    request = server_take_request(t.server);
    assert_non_null(strstr(request, "\r\nHost: example.test:"));
    assert_int_equal(server_n_connections(t.server), 2);
}

static char socket_path[64];

static struct err *get_from_unix_socket(struct trial *t)
{
    return fetch(
        t, &(struct http_request){.url = S("http://docker/v1/info"), .unix_socket = socket_path});
}

/* Whoever checked an address must not have another one used instead. */
static struct err *ask_where_pins_do_not_fit(struct trial *t)
{
    static const char *const pins[] = {"other.test:80:127.0.0.1", "pinned.test:81:127.0.0.1",
                                       "pinned.test:80:", "pinned.test:80:nonsense"};

    for (size_t i = 0; i < ARRAY_LEN(pins); i++) {
        AUTO(err)
        struct err *e =
            fetch(t, &(struct http_request){.url = S("http://pinned.test/"), .resolve = pins[i]});

        assert_true(err_is(e, ERR_VALIDATION));
    }
    return NULL;
}

TEST(a_name_is_never_looked_up_in_place_of_a_checked_address)
{
    AUTO(trial) struct trial t = {.act = ask_where_pins_do_not_fit};

    assert_ok(trial_run(&t));
}

TEST(a_unix_socket_that_is_not_there_is_named)
{
    AUTO(trial) struct trial t = {.act = get_from_unix_socket};
    AUTO(err) struct err *e = NULL;

    snprintf(socket_path, sizeof socket_path, "/tmp/keel-http1-test-none-%d", getpid());
    e = trial_run(&t);
    assert_true(err_is(e, ERR_NETWORK));
    assert_non_null(strstr(e->text, socket_path));
}

TEST(a_unix_socket_is_a_way_to_a_server)
{
    AUTO(trial) struct trial t = {.act = get_from_unix_socket};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    AUTO_FREE char *request = NULL;

    snprintf(socket_path, sizeof socket_path, "/tmp/keel-http1-test-%d", getpid());
    t.server = server_start_unix(socket_path, server_play, &script);
    assert_ok(trial_run(&t));
    unlink(socket_path);
    request = server_take_request(t.server);
    assert_true(str_starts(str_of(request), S("GET /v1/info HTTP/1.1\r\nHost: docker\r\n")));
}

/* --- the rest --- */

static void write_line(void *self, char kind, struct str text)
{
    strbuf_addf(self, "%c %" STR_FMT "\n", kind, STR_ARG(text));
}

static struct err *post_secret(struct trial *t)
{
    struct http_request request = {
        .method = "POST", .url = url_of(t, "/?key=s3cret"), .body = S("question")};

    http_headers_add(&t->arena, &request.headers, S("x-api-key"), S("s3cret"));
    return fetch(t, &request);
}

TEST(a_trace_shows_both_sides_without_credentials)
{
    AUTO(strbuf) struct strbuf lines = {0};
    AUTO(trial) struct trial t = {.act = post_secret, .trace = {write_line, &lines}};
    struct server_script script = {
        S(OK_HEAD "Set-Cookie: s3cret\r\nContent-Length: 5\r\n\r\nhello"), 0, SERVER_GOES_ON};

    assert_ok(get_scripted(&t, &script));
    assert_null(strstr(strbuf_cstr(&lines), "s3cret"));
    assert_non_null(strstr(strbuf_cstr(&lines), "> x-api-key: [REDACTED]\n} question\n< HTTP 200\n"
                                                "< Set-Cookie: [REDACTED]\n"
                                                "< Content-Length: 5\n{ hello\n"));
}

TEST(certificates_come_from_the_options_then_the_environment_then_the_system)
{
    static const char *const both[] = {"SSL_CERT_DIR=/dir", "SSL_CERT_FILE=/file", NULL};
    static const char *const dir[] = {"SSL_CERT_FILE=", "SSL_CERT_DIR=/dir", NULL};
    struct ca ca;

    ca_find(&(struct ca_options){.dir = "/own", .environment = both}, &ca);
    assert_string_equal(ca.path, "/own");
    assert_string_equal(ca.kind, "directory");
    ca_find(&(struct ca_options){.environment = both}, &ca);
    assert_string_equal(ca.path, "/file");
    assert_string_equal(ca.kind, "file");
    ca_find(&(struct ca_options){.environment = dir}, &ca);
    assert_string_equal(ca.path, "/dir");
    assert_string_equal(ca.kind, "directory");
}

RUN_TESTS(UNIT(a_body_ends_by_its_length_by_its_last_chunk_or_by_the_end_of_the_connection),
          UNIT(a_response_of_any_status_is_a_response_and_its_headers_are_there),
          UNIT(a_provisional_response_is_not_the_answer), UNIT(a_request_arrives_as_it_was_made),
          UNIT(methods_are_sent_with_a_length_where_one_belongs), UNIT(a_large_body_is_sent_whole),
          UNIT(user_information_in_a_url_is_sent_as_basic_authorization),
          UNIT(a_response_that_breaks_off_is_a_network_error),
          UNIT(a_server_that_does_not_speak_http_sends_nonsense),
          UNIT(a_connection_that_closes_in_the_middle_of_the_headers_is_told_as_such),
          UNIT(a_header_line_without_an_end_is_not_called_a_lack_of_memory),
          UNIT(bytes_between_the_pieces_of_a_body_have_a_limit_too),
          UNIT(bytes_that_came_before_a_break_are_not_lost),
          UNIT(a_refused_connection_asks_whether_the_server_runs), UNIT(an_unknown_host_is_named),
          UNIT(a_body_may_reach_its_limit_but_not_pass_it), UNIT(a_head_without_an_end_is_cut_off),
          UNIT(a_silent_server_times_out_before_the_head_and_in_the_body),
          UNIT(a_server_that_sends_for_ever_is_cut_off_by_the_total_time),
          UNIT(the_total_time_counts_over_redirects),
          UNIT(connecting_times_out_while_the_name_is_looked_up),
          UNIT(a_virtual_clock_stands_while_an_exchange_waits),
          UNIT(a_cancelled_exchange_ends_before_the_head_and_in_the_body),
          UNIT(a_cancelled_exchange_does_not_wait_for_the_resolver),
          UNIT(an_exchange_may_be_closed_unread), UNIT(a_connection_is_kept_for_the_next_request),
          UNIT(a_connection_that_the_server_closed_is_replaced),
          UNIT(two_hundred_streams_run_at_once),
          UNIT(a_slow_reader_slows_the_server_down_and_loses_no_byte),
          UNIT(what_was_held_back_when_the_response_ended_is_not_lost),
          UNIT(a_redirected_request_is_sent_again_with_its_body),
          UNIT(a_plain_request_goes_through_the_proxy_of_the_environment),
          UNIT(a_proxy_that_refuses_a_tunnel_is_named),
          UNIT(a_proxy_that_cannot_be_used_is_named_without_its_password),
          UNIT(no_proxy_goes_direct), UNIT(a_request_may_insist_on_going_direct),
          UNIT(a_request_may_insist_on_a_proxy),
          UNIT(a_checked_address_is_used_and_its_connection_is_not_shared),
          UNIT(a_name_is_never_looked_up_in_place_of_a_checked_address),
          UNIT(a_unix_socket_that_is_not_there_is_named), UNIT(a_unix_socket_is_a_way_to_a_server),
          UNIT(a_trace_shows_both_sides_without_credentials),
          UNIT(certificates_come_from_the_options_then_the_environment_then_the_system))
