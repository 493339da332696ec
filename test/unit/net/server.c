/* server.c - accept, read a request, send bytes. */
#include "net/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STUCK_AFTER_MS 200

struct server_connection {
    struct server *server;
    struct server_connection *next;
    pthread_t thread;
    int fd;
    struct strbuf input; /* may hold the start of the next request */
};

struct server {
    server_fn fn;
    void *arg;
    int fd;
    int port;
    char url[64];
    pthread_t thread;
    pthread_mutex_t lock; /* for the two below */
    struct server_connection *connections;
    struct strbuf last_request;
    atomic_uint n_connections, n_requests;
    atomic_size_t n_sent_bytes;
    atomic_bool is_stuck;
};

/* --- one connection --- */

/* Length of the request at the start of the input, 0 when it is not whole yet. */
static size_t request_length(struct str input)
{
    size_t head = str_find(input, S("\r\n\r\n"));
    size_t length_at = str_find(input, S("Content-Length: "));
    size_t n_body = 0;

    if (head == STR_NONE)
        return 0;
    if (length_at < head)
        n_body = strtoul(input.p + length_at + 16, NULL, 10);
    return input.n >= head + 4 + n_body ? head + 4 + n_body : 0;
}

static bool receive(struct server_connection *c)
{
    char bytes[4096];
    ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);

    if (n <= 0)
        return false;
    strbuf_add(&c->input, str_make(bytes, (size_t)n));
    return true;
}

bool server_read_request(struct server_connection *c)
{
    size_t n;

    while (!(n = request_length(strbuf_str(&c->input))))
        if (!receive(c))
            return false;
    pthread_mutex_lock(&c->server->lock);
    strbuf_clear(&c->server->last_request);
    strbuf_add(&c->server->last_request, str_slice(strbuf_str(&c->input), 0, n));
    pthread_mutex_unlock(&c->server->lock);
    strbuf_drop_front(&c->input, n);
    c->server->n_requests++;
    return true;
}

bool server_read_raw(struct server_connection *c, char *ret_bytes, size_t n)
{
    while (n) {
        size_t n_now = MIN(n, c->input.n);

        if (n_now == 0 && !receive(c))
            return false;
        if (ret_bytes && n_now) {
            memcpy(ret_bytes, c->input.p, n_now);
            ret_bytes += n_now;
        }
        strbuf_drop_front(&c->input, n_now);
        n -= n_now;
    }
    return true;
}

static bool wait_for_room(struct server_connection *c)
{
    struct pollfd p = {.fd = c->fd, .events = POLLOUT};

    if (poll(&p, 1, STUCK_AFTER_MS) == 0) {
        c->server->is_stuck = true;
        poll(&p, 1, -1);
        c->server->is_stuck = false;
    }
    return !(p.revents & (POLLERR | POLLHUP));
}

bool server_send(struct server_connection *c, struct str bytes, size_t step)
{
    while (bytes.n) {
        struct str part = str_slice(bytes, 0, step ? step : SIZE_MAX);
        ssize_t n = send(c->fd, part.p, part.n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n > 0) {
            c->server->n_sent_bytes += (size_t)n;
            bytes = str_skip(bytes, (size_t)n);
        } else if (errno != EAGAIN || !wait_for_room(c)) {
            return false;
        }
    }
    return true;
}

int server_fd(const struct server_connection *c)
{
    return c->fd;
}

void server_wait_for_close(struct server_connection *c)
{
    while (receive(c))
        strbuf_clear(&c->input);
}

void server_play(struct server_connection *c, void *arg)
{
    const struct server_script *script = arg;

    while (server_read_request(c)) {
        if (!server_send(c, script->response, script->step) || script->then == SERVER_CLOSES)
            return;
        if (script->then == SERVER_STALLS)
            server_wait_for_close(c);
    }
}

static void *connection_main(void *arg)
{
    struct server_connection *c = arg;

    c->server->fn(c, c->server->arg);
    shutdown(c->fd, SHUT_RDWR); /* the fd itself lives until server_stop() has joined us */
    return NULL;
}

/* --- the listener --- */

static void start_thread(pthread_t *thread, void *(*fn)(void *), void *arg)
{
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 512 << 10);
    BUG_IF(pthread_create(thread, &attributes, fn, arg) != 0);
    pthread_attr_destroy(&attributes);
}

static void *listener_main(void *arg)
{
    struct server *s = arg;
    int fd, on = 1;

    while ((fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0 || errno == ECONNABORTED) {
        struct server_connection *c;

        if (fd < 0)
            continue;
        c = mem_alloc(sizeof *c);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        c->server = s;
        c->fd = fd;
        pthread_mutex_lock(&s->lock);
        c->next = s->connections;
        s->connections = c;
        start_thread(&c->thread, connection_main, c);
        pthread_mutex_unlock(&s->lock);
        s->n_connections++;
    }
    return NULL;
}

static struct server *start(int fd, server_fn fn, void *arg)
{
    struct server *s = mem_alloc(sizeof *s);

    BUG_IF(fd < 0 || listen(fd, 4096) < 0);
    s->fd = fd;
    s->fn = fn;
    s->arg = arg;
    pthread_mutex_init(&s->lock, NULL);
    start_thread(&s->thread, listener_main, s);
    return s;
}

struct server *server_start(server_fn fn, void *arg)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct server *s;

    BUG_IF(bind(fd, (struct sockaddr *)&address, sizeof address) < 0);
    s = start(fd, fn, arg);
    BUG_IF(getsockname(fd, (struct sockaddr *)&address, &size) < 0);
    s->port = ntohs(address.sin_port);
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%d", s->port);
    return s;
}

struct server *server_start_unix(const char *path, server_fn fn, void *arg)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    BUG_IF(strlen(path) >= sizeof address.sun_path);
    strcpy(address.sun_path, path);
    BUG_IF(bind(fd, (struct sockaddr *)&address, sizeof address) < 0);
    return start(fd, fn, arg);
}

void server_stop(struct server *s)
{
    if (!s)
        return;
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
    while (s->connections) {
        struct server_connection *c = s->connections;

        s->connections = c->next;
        shutdown(c->fd, SHUT_RDWR);
        pthread_join(c->thread, NULL);
        close(c->fd);
        strbuf_done(&c->input);
        mem_free(c);
    }
    strbuf_done(&s->last_request);
    pthread_mutex_destroy(&s->lock);
    mem_free(s);
}

int server_port(const struct server *s)
{
    return s->port;
}

const char *server_url(const struct server *s)
{
    return s->url;
}

unsigned server_n_connections(const struct server *s)
{
    return s->n_connections;
}

unsigned server_n_requests(const struct server *s)
{
    return s->n_requests;
}

size_t server_n_sent_bytes(const struct server *s)
{
    return s->n_sent_bytes;
}

bool server_is_stuck(const struct server *s)
{
    return s->is_stuck;
}

char *server_take_request(struct server *s)
{
    char *text;

    pthread_mutex_lock(&s->lock);
    text = strbuf_take(&s->last_request);
    pthread_mutex_unlock(&s->lock);
    return text;
}

char *server_copy_request(struct server *s)
{
    char *text;

    pthread_mutex_lock(&s->lock);
    text = str_dup(strbuf_str(&s->last_request));
    pthread_mutex_unlock(&s->lock);
    return text;
}
