/* proxy_test.c - the proxy between clients and servers on the loopback.
 *
 * Names are looked up in a table here. The clock is moved by hand, so that time-outs take no time.
 */
#include "sandbox/proxy/proxy.h"

#include "net/lookup.h"
#include "net/server.h"
#include "sys/tasks.h"
#include "sys/work.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>

struct bed {
    struct arena arena;
    struct net_rules rules;
    const char *own_proxy; /* the person's, with %d for the server's port; NULL: none */
    struct proxy *proxy;
    struct group group;
    struct server *server;
    int port; /* of the proxy */
    struct strbuf told;
    struct err *(*act)(struct bed *b);

    struct clock clock;
    uint64_t now_ms;
};

/* --- names --- */

static unsigned n_lookups;

static struct err *look_up(struct lookup *l)
{
    static const struct {
        const char *host, *addresses[3];
    } table[] = {
        {"good.test", {"127.0.0.1"}},
        {"second.test", {"127.0.0.3", "127.0.0.1"}}, /* nobody listens at the first */
        {"inner.test", {"127.0.0.1"}},
        {"mixed.test", {"93.184.216.34", "127.0.0.1"}},
        {"metadata.test", {"169.254.169.254"}},
        {"mapped.test", {"::ffff:127.0.0.1"}},
    };

    n_lookups++;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        for (size_t j = 0; strcmp(table[i].host, l->host) == 0 && table[i].addresses[j]; j++)
            snprintf(l->addresses[l->n++], sizeof l->addresses[0], "%s", table[i].addresses[j]);
    return task_yield();
}

/* --- a proxy and a server --- */

static void on_refusal(void *self, struct str host, const struct err *why)
{
    struct bed *b = self;

    strbuf_addf(&b->told, "%" STR_FMT ": %s\n", STR_ARG(host), why->text);
}

static struct err *listen_on_loopback(struct bed *b)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n_bytes = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    EXPECT(fd >= 0 && bind(fd, (struct sockaddr *)&address, n_bytes) == 0 && listen(fd, 128) == 0);
    EXPECT(getsockname(fd, (struct sockaddr *)&address, &n_bytes) == 0);
    b->port = ntohs(address.sin_port);
    proxy_listen(b->proxy, fd);
    return NULL;
}

static struct err *allow(struct bed *b, enum net_list list, const char *host)
{
    return net_rules_add(&b->arena, &b->rules, list,
                         arena_format(&b->arena, "%s:%d", host, server_port(b->server)));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static struct str with_port(struct bed *b, const char *format)
{
    int port = server_port(b->server);

    return arena_format(&b->arena, format, port, port);
}
#pragma GCC diagnostic pop

static struct err *run_bed(void *arg)
{
    struct bed *b = arg;
    const char *environment[2] = {NULL};
    struct err *e;

    TRY(allow(b, NET_ALLOW_PRIVATE, "good.test"));
    TRY(allow(b, NET_ALLOW_PRIVATE, "second.test"));
    TRY(allow(b, NET_ALLOW_PRIVATE, "127.0.0.1"));
    TRY(allow(b, NET_ALLOW, "*"));
    if (b->own_proxy)
        environment[0] = arena_format(&b->arena, "all_proxy=%s", with_port(b, b->own_proxy).p).p;
    group_begin(&b->group, 0, GROUP_KEEP_GOING);
    b->proxy = proxy_new(&(struct proxy_options){
        .rules = &b->rules,
        .environment = environment,
        .group = &b->group,
        .on_refusal = on_refusal,
        .self = b,
        .look_up = look_up,
    });
    e = listen_on_loopback(b);
    if (!e)
        e = b->act(b);
    group_cancel(&b->group);
    err_ignore(group_end(&b->group), "it was cancelled");
    proxy_free(b->proxy);
    return e;
}

static uint64_t bed_now_ms(void *self)
{
    return ((const struct bed *)self)->now_ms;
}

static int64_t bed_unix_ms(void *self)
{
    return (int64_t)bed_now_ms(self);
}

static void bed_run(struct bed *b)
{
    struct loop *l;
    struct err *e;

    b->clock = (struct clock){bed_now_ms, bed_unix_ms, NULL, b};
    n_lookups = 0;
    l = loop_new(&b->clock);
    e = loop_run(l, run_bed, b);
    loop_free(l);
    server_stop(b->server);
    strbuf_done(&b->told);
    arena_done(&b->arena);
    assert_ok(e);
}

/* A test in a task, with a server that plays the script. */
#define PROXY_TEST(name, ...)                                                                      \
    static struct err *name##_in_bed(struct bed *b);                                               \
    TEST(name)                                                                                     \
    {                                                                                              \
        struct server_script script = {__VA_ARGS__};                                               \
        struct bed b = {.act = name##_in_bed, .server = server_start(server_play, &script)};       \
                                                                                                   \
        bed_run(&b);                                                                               \
    }                                                                                              \
    static struct err *name##_in_bed(struct bed *b)

#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
/* As a command gets it that has not asked for a tunnel. */
#define ANSWER_ENDING "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"

/* --- clients --- */

static struct err *open_client(struct bed *b, int *ret_fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)b->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    *ret_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(connect(*ret_fd, (struct sockaddr *)&address, sizeof address) == 0);
    EXPECT(fcntl(*ret_fd, F_SETFL, O_NONBLOCK) == 0);
    return NULL;
}

static struct err *send_bytes(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);

        EXPECT(n > 0 || errno == EAGAIN);
        if (n < 0)
            TRY(task_wait_fd(fd, TASK_FD_WRITE, NULL));
        bytes = str_skip(bytes, n > 0 ? (size_t)n : 0);
    }
    return NULL;
}

/* Until there are n bytes in `out`, or it ends. */
static struct err *receive_bytes(int fd, size_t n_wanted, struct strbuf *out)
{
    char bytes[4096];
    ssize_t n = 1;

    while (n && out->n < n_wanted) {
        TRY(task_wait_fd(fd, TASK_FD_READ, NULL));
        n = recv(fd, bytes, MIN(sizeof bytes, n_wanted - out->n), 0);
        EXPECT(n >= 0);
        strbuf_add(out, str_make(bytes, (size_t)n));
    }
    return NULL;
}

/* A whole exchange: "%d" in the request is the server's port. */
static struct err *ask(struct bed *b, const char *format, struct strbuf *answer)
{
    struct err *e;
    int fd;

    strbuf_clear(answer);
    TRY(open_client(b, &fd));
    e = send_bytes(fd, with_port(b, format));
    if (!e)
        e = receive_bytes(fd, SIZE_MAX, answer);
    close(fd);
    return e;
}

static bool says(const struct strbuf *b, const char *text)
{
    if (str_find(strbuf_str(b), str_of(text)) != STR_NONE)
        return true;
    print_error("want \"%s\"\n in \"%s\"\n", text, strbuf_cstr(b));
    return false;
}

static struct err *open_tunnel(struct bed *b, int *ret_fd)
{
    static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";
    AUTO(strbuf) struct strbuf answer = {0};

    TRY(open_client(b, ret_fd));
    TRY(send_bytes(*ret_fd, arena_format(&b->arena, "CONNECT good.test:%d HTTP/1.1\r\n\r\n",
                                         server_port(b->server))));
    TRY(receive_bytes(*ret_fd, strlen(established), &answer));
    EXPECT(str_is(strbuf_str(&answer), established));
    return NULL;
}

static struct err *do_nothing(void *arg)
{
    (void)arg;
    return NULL;
}

/* Lets all happen that can without the clock. */
static struct err *let_happen(void)
{
    for (int i = 0; i < 3; i++)
        TRY(work_run(do_nothing, NULL));
    return NULL;
}

/* Moves the clock until there is something to read; how long that took. */
static struct err *pass_time_until_readable(struct bed *b, int fd, uint64_t *ret_ms)
{
    struct pollfd p = {fd, POLLIN, 0};
    uint64_t start_ms = b->now_ms;

    while (poll(&p, 1, 0) == 0) {
        EXPECT(b->now_ms - start_ms < 1000000);
        b->now_ms += 500;
        TRY(let_happen());
    }
    *ret_ms = b->now_ms - start_ms;
    return NULL;
}

/* --- what passes --- */

PROXY_TEST(a_plain_request_is_passed_on_and_answered, S(ANSWER))
{
    AUTO(strbuf) struct strbuf answer = {0};
    AUTO_FREE char *request = NULL;

    TRY(ask(b,
            "GET http://good.test:%d/p?q HTTP/1.1\r\nHost: good.test:%d\r\nX: y\r\n"
            "Proxy-Connection: keep-alive\r\n\r\n",
            &answer));
    EXPECT(str_is(strbuf_str(&answer), ANSWER_ENDING));
    request = server_take_request(b->server);
    EXPECT(
        str_is(str_of(request), arena_format(&b->arena,
                                             "GET /p?q HTTP/1.1\r\nHost: good.test:%d\r\nX: y\r\n"
                                             "Connection: close\r\n\r\n",
                                             server_port(b->server))
                                    .p));
    return NULL;
}

PROXY_TEST(a_body_is_passed_on_whole, S(ANSWER))
{
    AUTO(strbuf) struct strbuf answer = {0};
    AUTO_FREE char *request = NULL;

    TRY(ask(b, "POST http://good.test:%d/ HTTP/1.1\r\nContent-Length: 9\r\n\r\nsome body",
            &answer));
    EXPECT(str_is(strbuf_str(&answer), ANSWER_ENDING));
    request = server_take_request(b->server);
    EXPECT(str_ends(str_of(request), S("\r\nConnection: close\r\n\r\nsome body")));
    return NULL;
}

PROXY_TEST(a_tunnel_carries_bytes_both_ways, S(ANSWER), .then = SERVER_GOES_ON)
{
    AUTO(strbuf) struct strbuf answer = {0};
    int fd;

    TRY(open_tunnel(b, &fd));
    for (int i = 0; i < 3; i++) {
        strbuf_clear(&answer);
        TRY(send_bytes(fd, S("GET / HTTP/1.1\r\n\r\n")));
        TRY(receive_bytes(fd, strlen(ANSWER), &answer));
        EXPECT(str_is(strbuf_str(&answer), ANSWER));
    }
    EXPECT(server_n_connections(b->server) == 1 && server_n_requests(b->server) == 3);
    close(fd);
    return NULL;
}

PROXY_TEST(bytes_that_come_with_the_request_belong_to_the_tunnel, S(ANSWER))
{
    AUTO(strbuf) struct strbuf answer = {0};

    TRY(ask(b, "CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n", &answer));
    EXPECT(str_is(strbuf_str(&answer), "HTTP/1.1 200 Connection established\r\n\r\n" ANSWER));
    EXPECT(n_lookups == 0);
    return NULL;
}

PROXY_TEST(a_name_is_looked_up_once_and_the_next_address_is_tried, S(ANSWER))
{
    AUTO(strbuf) struct strbuf answer = {0};

    TRY(ask(b, "GET http://second.test:%d/ HTTP/1.1\r\n\r\n", &answer));
    EXPECT(str_is(strbuf_str(&answer), ANSWER_ENDING));
    EXPECT(n_lookups == 1);
    return NULL;
}

enum { N_MUCH = 4 << 20 };

static char byte_at(size_t i)
{
    return (char)(i * 7 % 251);
}

static struct err *receive_much(struct bed *b)
{
    AUTO(strbuf) struct strbuf answer = {0};
    size_t n_wrong = 0;

    TRY(ask(b, "GET http://good.test:%d/ HTTP/1.1\r\n\r\n", &answer));
    for (size_t i = 0; i < answer.n; i++)
        n_wrong += answer.p[i] != byte_at(i);
    EXPECT(answer.n == N_MUCH && n_wrong == 0);
    return NULL;
}

TEST(much_is_carried_by_little_buffers)
{
    AUTO_FREE char *body = mem_alloc(N_MUCH);
    struct server_script script = {.response = str_make(body, N_MUCH)};
    struct bed b = {.act = receive_much, .server = server_start(server_play, &script)};

    for (size_t i = 0; i < N_MUCH; i++)
        body[i] = byte_at(i);
    bed_run(&b);
}

/* --- what does not --- */

PROXY_TEST(a_refused_host_is_told_once, S(ANSWER))
{
    AUTO(strbuf) struct strbuf answer = {0};

    for (int i = 0; i < 3; i++)
        TRY(ask(b, "CONNECT good.test:1 HTTP/1.1\r\n\r\n", &answer));
    EXPECT(says(&answer, "HTTP/1.1 403 Forbidden by keel\r\n"));
    EXPECT(says(&answer, "adds \"good.test:1\" to network.allow in ~/.keel/settings.json\n"));
    TRY(ask(b, "GET http://93.184.216.34/ HTTP/1.1\r\n\r\n", &answer));
    EXPECT(says(&answer, " 403 "));
    EXPECT(str_is(strbuf_str(&b->told), "good.test: commands may not connect to good.test:1\n"
                                        "93.184.216.34: commands may not connect to "
                                        "93.184.216.34\n"));
    EXPECT(n_lookups == 0 && server_n_connections(b->server) == 0);
    return NULL;
}

PROXY_TEST(a_name_with_a_private_address_is_refused, S(ANSWER))
{
    static const char *const names[] = {"inner", "mixed", "metadata", "mapped"};
    AUTO(strbuf) struct strbuf answer = {0};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        TRY(ask(b, arena_format(&b->arena, "CONNECT %s.test:%%d HTTP/1.1\r\n\r\n", names[i]).p,
                &answer));
        EXPECT(says(&answer, " 403 ") && says(&answer, "is not on the public Internet"));
        EXPECT(says(&answer, "network.allowPrivate"));
    }
    EXPECT(server_n_connections(b->server) == 0);
    return NULL;
}

PROXY_TEST(a_name_without_an_address_is_a_bad_gateway, S(ANSWER))
{
    AUTO(strbuf) struct strbuf answer = {0};

    TRY(ask(b, "GET http://gone.test:%d/ HTTP/1.1\r\n\r\n", &answer));
    EXPECT(says(&answer, " 502 ") && says(&answer, "cannot resolve the host name gone.test"));
    EXPECT(b->told.n == 0);
    return NULL;
}

PROXY_TEST(what_is_no_request_is_refused, S(ANSWER))
{
    static const char *const requests[] = {
        "\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: good.test\r\n\r\n",
        "GET http://good.test:%d/ HTTP/1.1\r\nHost: inner.test:%d\r\n\r\n",
        "POST http://good.test:%d/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "\x16\x03\x01\x02\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    };
    AUTO(strbuf) struct strbuf answer = {0}, much = {0};

    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        TRY(ask(b, requests[i], &answer));
        EXPECT(says(&answer, "HTTP/1.1 400 Bad Request\r\n"));
    }
    for (size_t i = 0; i < 20 << 10; i++)
        strbuf_add_char(&much, 'x');
    TRY(ask(b, strbuf_cstr(&much), &answer));
    EXPECT(says(&answer, " 400 ") && says(&answer, "too long"));
    EXPECT(server_n_connections(b->server) == 0);
    return NULL;
}

PROXY_TEST(a_second_request_behind_the_first_is_not_passed_on, S(ANSWER), .then = SERVER_GOES_ON)
{
    AUTO(strbuf) struct strbuf answer = {0};
    uint64_t ms;
    int fd;

    TRY(open_client(b, &fd));
    TRY(send_bytes(fd, arena_format(&b->arena,
                                    "POST http://good.test:%d/ HTTP/1.1\r\nContent-Length: 1\r\n"
                                    "\r\nxGET http://inner.test/ HTTP/1.1\r\n"
                                    "Host: inner.test\r\n\r\n",
                                    server_port(b->server))));
    TRY(receive_bytes(fd, strlen(ANSWER_ENDING), &answer));
    TRY(pass_time_until_readable(b, fd, &ms));
    TRY(receive_bytes(fd, SIZE_MAX, &answer));
    EXPECT(str_is(strbuf_str(&answer), ANSWER_ENDING));
    EXPECT(server_n_requests(b->server) == 1);
    close(fd);
    return NULL;
}

PROXY_TEST(chunks_that_are_none_end_the_connection, S(""), .then = SERVER_STALLS)
{
    AUTO(strbuf) struct strbuf answer = {0};

    TRY(ask(b,
            "POST http://good.test:%d/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
            "5;x\r\nhello\r\n0\r\n\r\n",
            &answer));
    EXPECT(answer.n == 0);
    return NULL;
}

/* --- time and number --- */

PROXY_TEST(a_request_that_comes_slowly_is_cut_off, S(ANSWER))
{
    AUTO(strbuf) struct strbuf answer = {0};
    uint64_t ms = 0;
    int fd;

    TRY(open_client(b, &fd));
    for (int i = 0; i < 5; i++) {
        TRY(send_bytes(fd, S("G")));
        TRY(let_happen());
        b->now_ms += 1000;
    }
    TRY(pass_time_until_readable(b, fd, &ms));
    EXPECT(b->now_ms <= 21000);
    TRY(receive_bytes(fd, SIZE_MAX, &answer));
    EXPECT(answer.n == 0);
    close(fd);
    return NULL;
}

static struct err *send_for_ever(void *arg)
{
    static const char zeros[1 << 16];

    for (;;)
        TRY(send_bytes(*(int *)arg, str_make(zeros, sizeof zeros)));
}

/* A flood that does not end, on a connection that was refused: others are served, and the clock
 * counts. */
PROXY_TEST(a_client_that_never_stops_is_cut_off, S(ANSWER))
{
    AUTO(strbuf) struct strbuf answer = {0};
    struct err *e, *of_flood;
    struct group flood;
    int fd;

    TRY(open_client(b, &fd));
    TRY(send_bytes(fd, S("GET / HTTP/1.1\r\n\r\n")));
    group_begin(&flood, 0, GROUP_KEEP_GOING);
    group_spawn(&flood, "flood", send_for_ever, &fd);
    e = ask(b, "GET http://good.test:%d/ HTTP/1.1\r\n\r\n", &answer);
    while (!e && flood.n_live && b->now_ms < 10000) {
        b->now_ms += 500;
        e = let_happen();
    }
    group_cancel(&flood);
    of_flood = group_end(&flood);
    close(fd);
    if (!e && err_is(of_flood, ERR_CANCELLED))
        e = err_new(ERR_INTERNAL, "it could still send");
    err_free(of_flood);
    TRY(e);
    EXPECT(str_is(strbuf_str(&answer), ANSWER_ENDING));
    return NULL;
}

PROXY_TEST(a_tunnel_in_which_nothing_happens_ends, S(ANSWER), .then = SERVER_GOES_ON)
{
    AUTO(strbuf) struct strbuf answer = {0};
    uint64_t ms = 0;
    int fd;

    TRY(open_tunnel(b, &fd));
    b->now_ms += 299000;
    TRY(send_bytes(fd, S("GET / HTTP/1.1\r\n\r\n")));
    TRY(receive_bytes(fd, strlen(ANSWER), &answer));
    TRY(pass_time_until_readable(b, fd, &ms));
    EXPECT(ms >= 299000 && ms <= 301000);
    strbuf_clear(&answer);
    TRY(receive_bytes(fd, SIZE_MAX, &answer));
    EXPECT(answer.n == 0);
    close(fd);
    return NULL;
}

PROXY_TEST(more_connections_than_may_be_wait_for_their_turn, S(ANSWER), .then = SERVER_GOES_ON)
{
    AUTO(strbuf) struct strbuf answer = {0};
    int fds[PROXY_MAX_CONNECTIONS], last;
    struct pollfd p = {.events = POLLIN};

    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        TRY(open_tunnel(b, &fds[i]));
    TRY(open_client(b, &last));
    TRY(send_bytes(last, S("GET / HTTP/1.1\r\n\r\n")));
    /* One that is open is still served; meanwhile the last one is not. */
    TRY(send_bytes(fds[0], S("GET / HTTP/1.1\r\n\r\n")));
    TRY(receive_bytes(fds[0], strlen(ANSWER), &answer));
    p.fd = last;
    EXPECT(poll(&p, 1, 0) == 0);
    close(fds[0]);
    strbuf_clear(&answer);
    TRY(receive_bytes(last, SIZE_MAX, &answer));
    EXPECT(says(&answer, " 400 "));
    close(last);
    for (size_t i = 1; i < ARRAY_LEN(fds); i++)
        close(fds[i]);
    return NULL;
}

static atomic_bool is_closed;

static void note_close(struct server_connection *c, void *arg)
{
    (void)arg;
    server_wait_for_close(c);
    is_closed = true;
}

static struct err *hang_up(struct bed *b)
{
    int fd;

    TRY(open_tunnel(b, &fd));
    TRY(send_bytes(fd, S("half a word")));
    close(fd);
    while (!is_closed)
        TRY(let_happen());
    return NULL;
}

TEST(the_server_learns_that_the_client_is_gone)
{
    struct bed b = {.act = hang_up, .server = server_start(note_close, NULL)};

    bed_run(&b); /* ends: the clock stands */
}

/* --- the person's own proxy --- */

/* The server is that proxy. */
#define OWN_PROXY_TEST(name, url, ...)                                                             \
    static struct err *name##_in_bed(struct bed *b);                                               \
    TEST(name)                                                                                     \
    {                                                                                              \
        struct server_script script = {__VA_ARGS__};                                               \
        struct bed b = {                                                                           \
            .act = name##_in_bed, .server = server_start(server_play, &script), .own_proxy = url}; \
                                                                                                   \
        bed_run(&b);                                                                               \
    }                                                                                              \
    static struct err *name##_in_bed(struct bed *b)

OWN_PROXY_TEST(a_plain_request_goes_through_the_person_s_proxy, "http://me:p%%40ss@127.0.0.1:%d",
               S(ANSWER))
{
    AUTO(strbuf) struct strbuf answer = {0};
    AUTO_FREE char *request = NULL;

    TRY(ask(b, "GET http://gone.test:%d/p HTTP/1.1\r\nProxy-Authorization: Basic eDp5\r\n\r\n",
            &answer));
    EXPECT(str_is(strbuf_str(&answer), ANSWER_ENDING));
    request = server_take_request(b->server);
    EXPECT(str_is(str_of(request), arena_format(&b->arena,
                                                "GET http://gone.test:%d/p HTTP/1.1\r\n"
                                                "Host: gone.test:%d\r\n"
                                                "Proxy-Authorization: Basic bWU6cEBzcw==\r\n"
                                                "Connection: close\r\n\r\n",
                                                server_port(b->server), server_port(b->server))
                                       .p));
    return NULL;
}

#define QUOTED "\r\n\r\n<p>You sent Proxy-Authorization: Basic bWU6cDRzc3cwcmQtbG9uZw==</p>"

OWN_PROXY_TEST(a_proxy_that_quotes_its_password_does_not_tell_the_command,
               "http://me:p4ssw0rd-long@127.0.0.1:%d",
               S("HTTP/1.1 502 Bad\r\nX-Quote: me:p4ssw0rd-long" QUOTED))
{
    AUTO(strbuf) struct strbuf answer = {0};

    TRY(ask(b, "GET http://gone.test:%d/p HTTP/1.1\r\n\r\n", &answer));
    EXPECT(says(&answer, "X-Quote: [REDACTED]\r\n"));
    EXPECT(says(&answer, "Proxy-Authorization: Basic [REDACTED]</p>"));
    return NULL;
}

OWN_PROXY_TEST(a_tunnel_goes_through_the_person_s_proxy, "127.0.0.1:%d",
               S("HTTP/1.1 200 Go\r\nX: y\r\n\r\nearly bytes"))
{
    AUTO(strbuf) struct strbuf answer = {0};
    AUTO_FREE char *request = NULL;

    TRY(ask(b, "CONNECT gone.test:%d HTTP/1.1\r\n\r\n", &answer));
    EXPECT(str_is(strbuf_str(&answer), "HTTP/1.1 200 Connection established\r\n\r\nearly bytes"));
    request = server_take_request(b->server);
    EXPECT(str_is(str_of(request),
                  arena_format(&b->arena,
                               "CONNECT gone.test:%d HTTP/1.1\r\nHost: gone.test:%d\r\n\r\n",
                               server_port(b->server), server_port(b->server))
                      .p));
    return NULL;
}

OWN_PROXY_TEST(a_refusal_of_the_person_s_proxy_is_told, "http://127.0.0.1:%d",
               S("HTTP/1.1 407 Who are you\r\n\r\n"))
{
    AUTO(strbuf) struct strbuf answer = {0};

    TRY(ask(b, "CONNECT gone.test:%d HTTP/1.1\r\n\r\n", &answer));
    EXPECT(says(&answer, " 502 ") && says(&answer, "answered with status 407"));
    return NULL;
}

OWN_PROXY_TEST(the_person_s_proxy_is_not_asked_for_what_the_rules_refuse, "http://127.0.0.1:%d",
               S(ANSWER))
{
    static const char *const targets[] = {"inner.test:%d", "metadata.test:%d", "localhost:%d",
                                          "good.test:22", "169.254.169.254:80"};
    AUTO(strbuf) struct strbuf answer = {0};

    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        TRY(ask(b, arena_format(&b->arena, "CONNECT %s HTTP/1.1\r\n\r\n", targets[i]).p, &answer));
        EXPECT(says(&answer, " 403 "));
    }
    EXPECT(server_n_connections(b->server) == 0);
    return NULL;
}

OWN_PROXY_TEST(a_proxy_of_another_kind_is_told, "socks5://127.0.0.1:%d", S(ANSWER))
{
    AUTO(strbuf) struct strbuf answer = {0};

    TRY(ask(b, "CONNECT good.test:%d HTTP/1.1\r\n\r\n", &answer));
    EXPECT(says(&answer, " 502 ") && says(&answer, "is not of the form http://host:port"));
    return NULL;
}

RUN_TESTS(UNIT(a_plain_request_is_passed_on_and_answered), UNIT(a_body_is_passed_on_whole),
          UNIT(a_tunnel_carries_bytes_both_ways),
          UNIT(bytes_that_come_with_the_request_belong_to_the_tunnel),
          UNIT(a_name_is_looked_up_once_and_the_next_address_is_tried),
          UNIT(much_is_carried_by_little_buffers), UNIT(a_refused_host_is_told_once),
          UNIT(a_name_with_a_private_address_is_refused),
          UNIT(a_name_without_an_address_is_a_bad_gateway), UNIT(what_is_no_request_is_refused),
          UNIT(a_second_request_behind_the_first_is_not_passed_on),
          UNIT(chunks_that_are_none_end_the_connection),
          UNIT(a_request_that_comes_slowly_is_cut_off), UNIT(a_client_that_never_stops_is_cut_off),
          UNIT(a_tunnel_in_which_nothing_happens_ends),
          UNIT(more_connections_than_may_be_wait_for_their_turn),
          UNIT(the_server_learns_that_the_client_is_gone),
          UNIT(a_plain_request_goes_through_the_person_s_proxy),
          UNIT(a_tunnel_goes_through_the_person_s_proxy),
          UNIT(a_proxy_that_quotes_its_password_does_not_tell_the_command),
          UNIT(a_refusal_of_the_person_s_proxy_is_told),
          UNIT(the_person_s_proxy_is_not_asked_for_what_the_rules_refuse),
          UNIT(a_proxy_of_another_kind_is_told))
