/* streams.c - many answers at once: N concurrent HTTP streams in one process.
 *
 * A child process plays the provider: it holds every stream half-way until all are there, so that
 * the memory is measured while all are open, then sends the rest. */
#include "bench.h"

#include "net/http1.h"
#include "provider/endpoint.h"
#include "sys/loop.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define N_HEAD_DELTAS 50
#define N_TAIL_DELTAS 50

/* --- the provider --- */

static void add_delta(struct strbuf *out, int i)
{
    strbuf_addf(out,
                "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                "\"text_delta\",\"text\":\" word%d\"}}\n\n",
                i);
}

static void build(struct strbuf *head, struct strbuf *tail)
{
    strbuf_add_cstr(head,
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                    "connection: close\r\n\r\ndata: {\"type\":\"message_start\",\"message\":{}}"
                    "\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
                    "{\"type\":\"text\",\"text\":\"\"}}\n\n");
    for (int i = 0; i < N_HEAD_DELTAS; i++)
        add_delta(head, i);
    for (int i = 0; i < N_TAIL_DELTAS; i++)
        add_delta(tail, i);
    strbuf_add_cstr(tail,
                    "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
                    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}"
                    "\n\ndata: {\"type\":\"message_stop\"}\n\n");
}

static void send_all(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        bytes = str_skip(bytes, (size_t)n);
    }
}

/* Requests here are small and come in one piece. */
static void play_provider(int listener, int go, int n_streams)
{
    AUTO(strbuf) struct strbuf head = {0}, tail = {0};
    int *peers = mem_alloc((size_t)n_streams * sizeof *peers);
    int epoll = epoll_create1(0), n_peers = 0, n_asked = 0;
    char request[65536];

    build(&head, &tail);
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &(struct epoll_event){EPOLLIN, {.fd = listener}});
    while (n_asked < n_streams) {
        struct epoll_event event;

        if (epoll_wait(epoll, &event, 1, -1) != 1)
            continue;
        if (event.data.fd == listener) {
            int fd = accept(listener, NULL, NULL);

            peers[n_peers++] = fd;
            epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &(struct epoll_event){EPOLLIN, {.fd = fd}});
            continue;
        }
        epoll_ctl(epoll, EPOLL_CTL_DEL, event.data.fd, NULL);
        if (read(event.data.fd, request, sizeof request) > 0)
            send_all(event.data.fd, strbuf_str(&head));
        n_asked++;
    }
    if (read(go, request, 1) == 1)
        for (int i = 0; i < n_peers; i++) {
            send_all(peers[i], strbuf_str(&tail));
            close(peers[i]);
        }
    _exit(EXIT_SUCCESS);
}

/* --- the streams --- */

struct bench {
    int port, go, n_streams;
    struct provider *provider;
    struct http_client *http;
    int n_half_way, n_complete;
    size_t n_text_bytes;
    long before_kib, half_way_kib;
};

struct stream {
    struct bench *bench;
    int n_deltas;
};

static void on_delta(void *self, const struct delta *d)
{
    struct stream *s = self;
    struct bench *b = s->bench;

    b->n_text_bytes += d->text.n;
    if (++s->n_deltas == N_HEAD_DELTAS && ++b->n_half_way == b->n_streams) {
        b->half_way_kib = resident_kib();
        if (write(b->go, "g", 1) != 1)
            exit(EXIT_FAILURE);
    }
}

static struct err *ask(void *arg)
{
    struct stream s = {.bench = arg};
    struct bench *b = arg;
    AUTO(message) struct message *m = message_new(ROLE_USER, S("u"));
    const struct message *messages[] = {m};
    AUTO(reply) struct reply reply;

    message_add_text(m, S("go"));
    reply_init(&reply, (struct delta_sink){on_delta, &s});
    TRY(provider_ask(b->provider,
                     &(struct model_request){.provider = S("p"),
                                             .model = S("m"),
                                             .messages = messages,
                                             .n_messages = 1,
                                             .stream = true},
                     &(struct provider_call){.http = b->http}, &reply));
    b->n_complete += reply.is_complete && s.n_deltas == N_HEAD_DELTAS + N_TAIL_DELTAS;
    return NULL;
}

static struct err *run(void *arg)
{
    struct bench *b = arg;
    AUTO(arena) struct arena a = {0};
    struct group g;
    struct err *e;

    b->http = http1_client_new(&(struct http1_options){0});
    TRY(endpoint_provider_new(
        &(struct endpoint_config){.id = S("p"),
                                  .protocol = &protocol_anthropic_messages,
                                  .dialect = &(struct dialect){0},
                                  .base_url = arena_format(&a, "http://127.0.0.1:%d", b->port)},
        &b->provider));
    b->before_kib = resident_kib();
    group_begin(&g, 0, 0);
    for (int i = 0; i < b->n_streams; i++)
        group_spawn(&g, "stream", ask, b);
    e = group_end(&g);
    provider_free(b->provider);
    http_client_free(b->http);
    return e;
}

int main(int argc, char **argv)
{
    struct bench b = {.n_streams = argc > 1 ? atoi(argv[1]) : 2000};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), go[2];
    struct rlimit files = {65536, 65536};
    AUTO(err) struct err *e = NULL;
    double start;

    setrlimit(RLIMIT_NOFILE, &files);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096) || pipe(go) ||
        getsockname(listener, (struct sockaddr *)&address, &size))
        return EXIT_FAILURE;
    b.port = ntohs(address.sin_port);
    b.go = go[1];
    if (fork() == 0)
        play_provider(listener, go[0], b.n_streams);
    start = seconds();
    e = loop_run_once(run, &b);
    if (e) {
        AUTO_FREE char *text = err_message(e);
        fprintf(stderr, "%s\n", text);
    }
    printf("{\"streams\":%d,\"complete\":%d,\"kib_per_stream\":%.1f,\"text_bytes\":%zu,"
           "\"seconds\":%.2f}\n",
           b.n_streams, b.n_complete, (double)(b.half_way_kib - b.before_kib) / b.n_streams,
           b.n_text_bytes / (size_t)b.n_streams, seconds() - start);
    return e || b.n_complete != b.n_streams ? EXIT_FAILURE : EXIT_SUCCESS;
}
