/* connections_test.c - how connections are made, kept, replaced and given up. */
#include "test.h"

#include "net/trial.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- names: two.test has two addresses, the second one a server's --- */

static const char *first_address = "127.0.0.2";
static unsigned n_lookups;

static struct addrinfo *make_address(const char *text)
{
    struct addrinfo *info = calloc(1, sizeof *info + sizeof(struct sockaddr_in));
    struct sockaddr_in *address = (struct sockaddr_in *)(void *)(info + 1);

    address->sin_family = AF_INET;
    inet_pton(AF_INET, text, &address->sin_addr);
    info->ai_family = AF_INET;
    info->ai_addr = (struct sockaddr *)address;
    return info;
}

__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **ret_list)
{
    if (!name || strcmp(name, "two.test") != 0)
        return EAI_NONAME;
    __atomic_add_fetch(&n_lookups, 1, __ATOMIC_SEQ_CST);
    *ret_list = make_address(first_address);
    (*ret_list)->ai_next = make_address("127.0.0.1");
    return 0;
}

__attribute__((visibility("default"))) void freeaddrinfo(struct addrinfo *list)
{
    while (list) {
        struct addrinfo *next = list->ai_next;

        free(list);
        list = next;
    }
}

static struct err *get_two(struct trial *t)
{
    struct str url = arena_format(&t->arena, "http://two.test:%d/", server_port(t->server));

    TRY(fetch(t, &(struct http_request){.url = url}));
    return fetch(t, &(struct http_request){.url = url});
}

TEST(an_address_that_refuses_is_followed_by_the_next_and_a_name_is_looked_up_once)
{
    AUTO(trial) struct trial t = {.act = get_two};
    struct server_script script = {S(OK_HEAD "Connection: close\r\nContent-Length: 5\r\n\r\nhello"),
                                   0, SERVER_CLOSES};

    n_lookups = 0;
    assert_ok(get_scripted(&t, &script));
    assert_int_equal(n_lookups, 1);
    assert_int_equal(server_n_connections(t.server), 2);
}

/* A listener whose queue is full: the kernel drops what else wants to connect. */
struct deaf {
    int fd, peers[8];
};

static void deaf_start(struct deaf *d, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    inet_pton(AF_INET, "127.0.0.2", &address.sin_addr);
    d->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(d->fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(d->fd, 0), 0);
    for (size_t i = 0; i < ARRAY_LEN(d->peers); i++) {
        d->peers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(d->peers[i], (struct sockaddr *)&address, sizeof address);
    }
}

static void deaf_stop(struct deaf *d)
{
    for (size_t i = 0; i < ARRAY_LEN(d->peers); i++)
        close(d->peers[i]);
    close(d->fd);
}

TEST(an_address_that_does_not_answer_is_not_waited_for_alone)
{
    AUTO(trial) struct trial t = {.act = get_two};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    struct deaf deaf;

    t.server = server_start(server_play, &script);
    deaf_start(&deaf, server_port(t.server));
    assert_ok(trial_run(&t));
    deaf_stop(&deaf);
    assert_str(strbuf_str(&t.body), "hello");
}

static struct err *get_deaf(struct trial *t)
{
    struct str url = arena_format(&t->arena, "http://127.0.0.2:%d/", server_port(t->server));

    return fetch(t, &(struct http_request){.url = url, .connect_ms = 30});
}

TEST(connecting_times_out_while_nobody_answers)
{
    AUTO(trial) struct trial t = {.act = get_deaf};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    AUTO(err) struct err *e = NULL;
    struct deaf deaf;

    t.server = server_start(server_play, &script);
    deaf_start(&deaf, server_port(t.server));
    e = trial_run(&t);
    deaf_stop(&deaf);
    assert_true(err_is(e, ERR_TIMEOUT));
    assert_non_null(strstr(e->text, "connecting to 127.0.0.2:"));
}

/* --- reuse --- */

/* Answers once, and closes when the next request has come. */
static void serve_once(struct server_connection *c, void *arg)
{
    if (server_read_request(c) && server_send(c, S(HELLO), 0))
        server_read_request(c);
}

static struct err *post_twice(struct trial *t)
{
    struct http_request request = {.method = "POST", .url = url_of(t, "/"), .body = S("body")};

    TRY(fetch(t, &request));
    return fetch(t, &request);
}

TEST(a_kept_connection_that_dies_without_a_byte_is_replaced_once)
{
    AUTO(trial) struct trial t = {.act = post_twice};

    t.server = server_start(serve_once, NULL);
    assert_ok(trial_run(&t));
    assert_int_equal(server_n_connections(t.server), 2);
    assert_int_equal(server_n_requests(t.server), 3);
}

/* The first request on every connection is answered, the second one with half a head. */
static void serve_half(struct server_connection *c, void *arg)
{
    if (server_read_request(c) && server_send(c, S(HELLO), 0) && server_read_request(c))
        server_send(c, S("HTTP/1.1 2"), 0);
}

TEST(a_kept_connection_that_dies_in_the_middle_of_an_answer_is_not_replaced)
{
    AUTO(trial) struct trial t = {.act = post_twice};

    t.server = server_start(serve_half, NULL);
    assert_err(trial_run(&t), ERR_NETWORK);
    assert_int_equal(server_n_requests(t.server), 2);
}

static void serve_nothing(struct server_connection *c, void *arg)
{
    server_read_request(c);
}

TEST(a_fresh_connection_that_dies_is_not_replaced)
{
    AUTO(trial) struct trial t = {.act = get};

    t.server = server_start(serve_nothing, NULL);
    assert_err(trial_run(&t), ERR_NETWORK);
    assert_int_equal(server_n_connections(t.server), 1);
}

static void check_not_kept(struct str response)
{
    AUTO(trial) struct trial t = {.act = get_twice};
    struct server_script script = {response, 0, SERVER_GOES_ON};

    assert_ok(get_scripted(&t, &script));
    assert_int_equal(server_n_connections(t.server), 2);
}

TEST(a_connection_is_not_kept_when_it_says_so_or_says_too_much)
{
    check_not_kept(S(OK_HEAD "Connection: close\r\nContent-Length: 5\r\n\r\nhello"));
    check_not_kept(S("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"));
    check_not_kept(S(HELLO "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"));
}

static struct err *get_by_two_identities(struct trial *t)
{
    TRY(get(t));
    TRY(fetch(t,
              &(struct http_request){.url = url_of(t, "/"), .identity = {.certificate = "/none"}}));
    return get(t);
}

TEST(a_connection_of_another_identity_is_not_shared)
{
    AUTO(trial) struct trial t = {.act = get_by_two_identities};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};

    assert_ok(get_scripted(&t, &script));
    assert_int_equal(server_n_connections(t.server), 2);
}

static struct err *get_two_targets(struct trial *t)
{
    TRY(fetch(t, &(struct http_request){.url = S("http://a.test/")}));
    return fetch(t, &(struct http_request){.url = S("http://b.test/")});
}

TEST(plain_requests_share_a_connection_to_their_proxy)
{
    AUTO(trial) struct trial t = {.act = get_two_targets};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    AUTO_FREE char *request = NULL;
    const char *environment[2] = {0};

    t.server = server_start(server_play, &script);
    environment[0] = arena_format(&t.arena, "http_proxy=http://u%%73er:p%%40ss@127.0.0.1:%d",
                                  server_port(t.server))
                         .p;
    t.options.ca.environment = environment;
    assert_ok(trial_run(&t));
    assert_int_equal(server_n_connections(t.server), 1);
    request = server_take_request(t.server);
    assert_non_null(strstr(request, "GET http://b.test/ HTTP/1.1\r\n"));
    assert_non_null(strstr(request, "\r\nProxy-Authorization: Basic dXNlcjpwQHNz\r\n"));
}

static struct err *get_and_sleep(struct trial *t)
{
    TRY(get(t));
    TRY(task_sleep(3600000));
    return get(t);
}

TEST(a_connection_is_not_kept_for_ever)
{
    static const char *const no_environment[] = {NULL};
    AUTO(trial) struct trial t = {.act = get_and_sleep, .options.ca.environment = no_environment};
    struct server_script script = {S(HELLO), 0, SERVER_GOES_ON};
    struct virtual_clock clock;
    AUTO(loop) struct loop *loop = NULL;

    t.server = server_start(server_play, &script);
    virtual_clock_init(&clock, 0);
    loop = loop_new(&clock.clock);
    assert_ok(loop_run(loop, trial_main, &t));
    assert_int_equal(server_n_connections(t.server), 2);
}

/* --- answers that come early --- */

enum { LARGE_BYTES = 32 << 20 };

static struct err *post_large(struct trial *t)
{
    char *body = mem_alloc(LARGE_BYTES);
    struct err *e =
        fetch(t, &(struct http_request){
                     .method = "POST", .url = url_of(t, "/"), .body = str_make(body, LARGE_BYTES)});

    mem_free(body);
    return e;
}

/* Refuses after the first bytes, and reads no more. */
static void serve_refusal(struct server_connection *c, void *arg)
{
    if (server_read_raw(c, NULL, 100) &&
        server_send(c, S("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig"), 0))
        pthread_barrier_wait(arg);
}

static struct err *post_refused(struct trial *t)
{
    struct err *e = post_large(t);

    pthread_barrier_wait(t->server_arg);
    return e;
}

TEST(a_refusal_is_heard_while_the_body_is_being_sent)
{
    AUTO(trial) struct trial t = {.act = post_refused};
    pthread_barrier_t heard;

    pthread_barrier_init(&heard, NULL, 2);
    t.server_arg = &heard;
    t.server = server_start(serve_refusal, &heard);
    assert_ok(trial_run(&t));
    assert_int_equal(t.response.status, 413);
    assert_str(strbuf_str(&t.body), "big");
    server_stop(TAKE(t.server));
    pthread_barrier_destroy(&heard);
}

/* Answers before it reads on: the rest of the body is sent while the answer is read. */
static void serve_both_ways(struct server_connection *c, void *arg)
{
    if (server_read_raw(c, NULL, 100) &&
        server_send(c, S(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"), 0) &&
        server_read_raw(c, NULL, LARGE_BYTES))
        server_send(c, S("4\r\ndone\r\n0\r\n\r\n"), 0);
}

TEST(a_body_is_sent_on_while_the_answer_is_read)
{
    AUTO(trial) struct trial t = {.act = post_large};

    t.server = server_start(serve_both_ways, NULL);
    assert_ok(trial_run(&t));
    assert_str(strbuf_str(&t.body), "done");
}

/* --- hostile servers --- */

TEST(an_answer_that_is_cut_at_any_byte_is_an_error)
{
    static const struct str answers[] = {
        S("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 5\r\n\r\nhello"),
        S(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n"),
    };

    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        for (size_t n = 0; n < answers[i].n; n++) {
            AUTO(trial) struct trial t = {0};
            struct server_script script = {str_slice(answers[i], 0, n), 0, SERVER_CLOSES};
            AUTO(err) struct err *e = get_scripted(&t, &script);

            if (!err_is(e, ERR_NETWORK))
                fail_msg("cut at %zu of answer %zu: %s", n, i, e ? e->text : "no error");
        }
}

static void check_refused(struct str response)
{
    AUTO(trial) struct trial t = {0};
    struct server_script script = {response, 0, SERVER_STALLS};
    AUTO(err) struct err *e = get_scripted(&t, &script);

    if (!err_is(e, ERR_BAD_RESPONSE) || !strstr(e->text, "did not answer in HTTP/1"))
        fail_msg("%s", e ? e->text : "no error");
}

TEST(an_answer_that_two_readers_could_read_differently_is_refused)
{
    check_refused(S(OK_HEAD "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"));
    check_refused(S(OK_HEAD "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"));
    check_refused(S(OK_HEAD "Content-Length: -5\r\n\r\nhello"));
    check_refused(S(OK_HEAD "Content-Length: 99999999999999999999\r\n\r\nhello"));
    check_refused(S(OK_HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n"));
    check_refused(S(OK_HEAD "Content-Length : 5\r\n\r\nhello"));
    check_refused(S("\x16\x03\x01\x02\x00"));
}

static void serve_provisional(struct server_connection *c, void *arg)
{
    if (server_read_request(c))
        while (server_send(c, S("HTTP/1.1 102 Processing\r\n\r\n"), 0))
            ;
}

TEST(provisional_answers_without_an_end_are_cut_off)
{
    AUTO(trial) struct trial t = {.act = get};
    AUTO(err) struct err *e = NULL;

    t.server = server_start(serve_provisional, NULL);
    e = trial_run(&t);
    assert_true(err_is(e, ERR_BAD_RESPONSE));
    assert_non_null(strstr(e->text, "too long"));
}

static struct err *read_huge_chunk(struct trial *t)
{
    return fetch(t, &(struct http_request){.url = url_of(t, "/"), .idle_ms = 30});
}

TEST(a_chunk_of_an_exabyte_takes_no_memory)
{
    AUTO(trial) struct trial t = {.act = read_huge_chunk};
    struct server_script script = {
        S(OK_HEAD "Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\nabc"), 0, SERVER_STALLS};

    assert_err(get_scripted(&t, &script), ERR_TIMEOUT);
}

/* --- cancelling, at every stage --- */

struct cancelled {
    struct trial *trial;
    const struct http_request *request;
};

static struct err *fetch_cancelled(void *arg)
{
    struct cancelled *c = arg;

    return fetch(c->trial, c->request);
}

/* When the server has a connection, the exchange waits for the next thing it sends. */
static struct err *cancel_when_connected(struct trial *t, const struct http_request *request)
{
    struct cancelled c = {t, request};
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "cancelled", fetch_cancelled, &c);
    while (server_n_connections(t->server) == 0)
        assert_ok(task_yield());
    for (int i = 0; i < 100; i++) /* so that it has got as far as it can */
        assert_ok(task_yield());
    group_cancel(&g);
    assert_err(group_end(&g), ERR_CANCELLED);
    return NULL;
}

static struct err *cancel_handshake(struct trial *t)
{
    struct str url = arena_format(&t->arena, "https://127.0.0.1:%d/", server_port(t->server));

    return cancel_when_connected(t, &(struct http_request){.url = url});
}

static struct err *cancel_tunnel(struct trial *t)
{
    return cancel_when_connected(
        t, &(struct http_request){.url = S("https://a.test/"), .proxy = server_url(t->server)});
}

static struct err *cancel_socks(struct trial *t)
{
    const char *proxy = arena_format(&t->arena, "socks5h://127.0.0.1:%d", server_port(t->server)).p;

    return cancel_when_connected(
        t, &(struct http_request){.url = S("http://a.test/"), .proxy = proxy});
}

static struct err *cancel_sending(struct trial *t)
{
    AUTO_FREE char *body = mem_alloc(LARGE_BYTES);

    return cancel_when_connected(t, &(struct http_request){.method = "POST",
                                                           .url = url_of(t, "/"),
                                                           .body = str_make(body, LARGE_BYTES)});
}

static struct err *cancel_connecting(struct trial *t)
{
    struct str url = arena_format(&t->arena, "http://127.0.0.2:%d/", server_port(t->server));
    struct http_request request = {.url = url};
    struct cancelled c = {t, &request};
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "cancelled", fetch_cancelled, &c);
    for (int i = 0; i < 100; i++)
        assert_ok(task_yield());
    group_cancel(&g);
    assert_err(group_end(&g), ERR_CANCELLED);
    return NULL;
}

static void serve_silence(struct server_connection *c, void *arg)
{
    pthread_barrier_wait(arg);
}

static void check_cancel(struct err *(*act)(struct trial *t))
{
    AUTO(trial) struct trial t = {.act = act};
    pthread_barrier_t over;
    unsigned n;

    pthread_barrier_init(&over, NULL, 2);
    t.server = server_start(serve_silence, &over);
    assert_ok(trial_run(&t));
    n = server_n_connections(t.server);
    if (n)
        pthread_barrier_wait(&over);
    server_stop(TAKE(t.server));
    pthread_barrier_destroy(&over);
}

TEST(a_cancelled_exchange_ends_at_every_stage)
{
    struct server *place = server_start(serve_nothing, NULL);
    AUTO(trial) struct trial t = {.act = cancel_connecting, .server = place};
    struct deaf deaf;

    deaf_start(&deaf, server_port(place));
    assert_ok(trial_run(&t));
    deaf_stop(&deaf);
    check_cancel(cancel_handshake);
    check_cancel(cancel_tunnel);
    check_cancel(cancel_socks);
    check_cancel(cancel_sending);
}

/* --- SOCKS --- */

struct socks {
    const char *greeting, *login; /* what is expected, `login` or NULL */
    struct str answer, login_answer;
    unsigned char request[64];
    size_t n_request;
    struct str reply;
};

static void serve_socks(struct server_connection *c, void *arg)
{
    struct socks *s = arg;

    if (!server_read_raw(c, NULL, strlen(s->greeting)) || !server_send(c, s->answer, 0))
        return;
    if (s->login &&
        (!server_read_raw(c, NULL, strlen(s->login)) || !server_send(c, s->login_answer, 0)))
        return;
    if (server_read_raw(c, (char *)s->request, s->n_request) && server_send(c, s->reply, 0) &&
        server_read_request(c))
        server_send(c, S(HELLO), 0);
}

static struct err *get_by_socks(struct trial *t)
{
    return fetch(t, &(struct http_request){.url = S("http://two.test:80/x"), .proxy = t->proxy});
}

#define SOCKS_OK S("\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")

static struct err *run_socks(struct trial *t, struct socks *s, const char *format)
{
    t->act = get_by_socks;
    t->server = server_start(serve_socks, s);
    t->proxy = arena_format(&t->arena, "%s127.0.0.1:%d", format, server_port(t->server)).p;
    return trial_run(t);
}

TEST(a_socks_proxy_is_given_the_name_or_the_address)
{
    AUTO(trial) struct trial by_name = {0}, by_address = {0};
    struct socks name = {"\x05\x01-", NULL, S("\x05\x00"), {0}, {0}, 4 + 1 + 8 + 2, SOCKS_OK};
    struct socks address = {"\x05\x01-", NULL, S("\x05\x00"), {0}, {0}, 4 + 4 + 2, SOCKS_OK};
    AUTO_FREE char *request = NULL;

    assert_ok(run_socks(&by_name, &name, "socks5h://"));
    assert_memory_equal(name.request, "\x05\x01\x00\x03\x08two.test\x00\x50", name.n_request);
    request = server_take_request(by_name.server);
    assert_true(str_starts(str_of(request), S("GET /x HTTP/1.1\r\nHost: two.test\r\n")));
    assert_ok(run_socks(&by_address, &address, "socks5://"));
    assert_memory_equal(address.request, "\x05\x01\x00\x01\x7f\x00\x00\x02\x00\x50",
                        address.n_request);
}

TEST(a_socks_proxy_gets_user_and_password)
{
    AUTO(trial) struct trial good = {0}, bad = {0};
    struct socks right = {"\x05\x02--", "\x01\x04user\x04p@ss", S("\x05\x02"), S("\x01\x00"),
                          {0},          4 + 1 + 8 + 2,          SOCKS_OK};
    struct socks wrong = {"\x05\x02--", "\x01\x04user\x04p@ss", S("\x05\x02"), S("\x01\x01"),
                          {0},          4 + 1 + 8 + 2,          SOCKS_OK};
    AUTO(err) struct err *e = NULL;

    assert_ok(run_socks(&good, &right, "socks5h://us%65r:p%40ss@"));
    e = run_socks(&bad, &wrong, "socks5h://us%65r:p%40ss@");
    assert_true(err_is(e, ERR_NETWORK));
    assert_non_null(strstr(e->text, "rejects the user name"));
    assert_null(strstr(e->text, "ss@"));
}

TEST(a_socks_proxy_that_refuses_says_why)
{
    AUTO(trial) struct trial t = {0};
    struct socks s = {"\x05\x01-",
                      NULL,
                      S("\x05\x00"),
                      {0},
                      {0},
                      4 + 1 + 8 + 2,
                      S("\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00")};
    AUTO(err) struct err *e = run_socks(&t, &s, "socks5h://");

    assert_true(err_is(e, ERR_NETWORK));
    assert_non_null(strstr(e->text, "refuses to connect to two.test:80: its rules"));
}

TEST(a_proxy_of_another_kind_is_refused)
{
    AUTO(trial) struct trial t = {.act = get_by_socks, .proxy = "socks4://127.0.0.1:1"};
    AUTO(err) struct err *e = trial_run(&t);

    assert_true(err_is(e, ERR_NETWORK));
    assert_non_null(strstr(e->text, "socks5://"));
}

RUN_TESTS(UNIT(an_address_that_refuses_is_followed_by_the_next_and_a_name_is_looked_up_once),
          UNIT(an_address_that_does_not_answer_is_not_waited_for_alone),
          UNIT(connecting_times_out_while_nobody_answers),
          UNIT(a_kept_connection_that_dies_without_a_byte_is_replaced_once),
          UNIT(a_kept_connection_that_dies_in_the_middle_of_an_answer_is_not_replaced),
          UNIT(a_fresh_connection_that_dies_is_not_replaced),
          UNIT(a_connection_is_not_kept_when_it_says_so_or_says_too_much),
          UNIT(a_connection_of_another_identity_is_not_shared),
          UNIT(plain_requests_share_a_connection_to_their_proxy),
          UNIT(a_connection_is_not_kept_for_ever),
          UNIT(a_refusal_is_heard_while_the_body_is_being_sent),
          UNIT(a_body_is_sent_on_while_the_answer_is_read),
          UNIT(an_answer_that_is_cut_at_any_byte_is_an_error),
          UNIT(an_answer_that_two_readers_could_read_differently_is_refused),
          UNIT(provisional_answers_without_an_end_are_cut_off),
          UNIT(a_chunk_of_an_exabyte_takes_no_memory),
          UNIT(a_cancelled_exchange_ends_at_every_stage),
          UNIT(a_socks_proxy_is_given_the_name_or_the_address),
          UNIT(a_socks_proxy_gets_user_and_password), UNIT(a_socks_proxy_that_refuses_says_why),
          UNIT(a_proxy_of_another_kind_is_refused))
