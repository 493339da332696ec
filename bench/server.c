/* server.c - a provider for the benchmarks: answers as Anthropic's Messages API does, at once.
 *
 *     bench-server PORT LOG
 *
 * What it answers stands in the request, behind its last "SCN: ":
 *
 *     SCN: stream N    N short deltas of text
 *     SCN: tools N     N rounds that call the shell tool with `true ROUND`, then a text
 *     SCN: writes N    the same with `echo ROUND >>written`
 *     SCN: reads N     N rounds that call Read for noteROUND.txt, then a text
 *
 * Anything else, and a request that offers no tools (side agents that make up a title), gets a
 * short text. Every answer comes in pieces that have nothing to do with its events, as over a
 * network. The log has one line of JSON for each answer, with times in ms of the monotonic clock:
 * when the request's first bytes had come (t), when all had (tbody), and when the answer was sent
 * (tend). */
#include "bench.h"

#include "base/strbuf.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECE_BYTES 8192
#define READ_BYTES 65536

/* --- requests --- */

enum scene { SCENE_SHORT, SCENE_STREAM, SCENE_TOOLS, SCENE_WRITES, SCENE_READS };
static const char *const scene_names[] = {"short", "stream", "tools", "writes", "reads"};

struct request {
    struct str head, body;
    enum scene scene;
    int n;        /* deltas, or rounds */
    int n_rounds; /* that there were already */
    double came, complete;
};

static size_t find_last(struct str s, struct str needle)
{
    size_t at = 0, next, found = STR_NONE;

    while ((next = str_find(str_skip(s, at), needle)) != STR_NONE) {
        found = at + next;
        at = found + needle.n;
    }
    return found;
}

static int count(struct str s, struct str needle)
{
    size_t next;
    int n = 0;

    for (; (next = str_find(s, needle)) != STR_NONE; n++)
        s = str_skip(s, next + needle.n);
    return n;
}

static bool has(struct str s, struct str needle)
{
    return str_find(s, needle) != STR_NONE;
}

static void read_scene(struct request *q)
{
    size_t at = find_last(q->body, S("SCN: "));
    char word[16] = "";

    if (at == STR_NONE || !has(q->body, S("\"tools\":")))
        return;
    /* the buffer ends with a NUL */
    if (sscanf(q->body.p + at, "SCN: %15[a-z] %d", word, &q->n) != 2)
        return;
    q->n_rounds = count(q->body, S("\"tool_result\""));
    if (strcmp(word, "stream") == 0)
        q->scene = SCENE_STREAM;
    else if (strcmp(word, "tools") == 0 && q->n_rounds < q->n)
        q->scene = SCENE_TOOLS;
    else if (strcmp(word, "writes") == 0 && q->n_rounds < q->n)
        q->scene = SCENE_WRITES;
    else if (strcmp(word, "reads") == 0 && q->n_rounds < q->n)
        q->scene = SCENE_READS;
}

static size_t content_length(struct str head)
{
    const char *found = strcasestr(head.p, "\r\ncontent-length:");

    return found && found < head.p + head.n
               ? strtoul(found + strlen("\r\ncontent-length:"), NULL, 10)
               : 0;
}

/* Reads until `in` holds one whole request; false when the peer is gone. */
static bool read_request(int fd, struct strbuf *in, struct request *ret_request)
{
    struct request q = {.came = in->n ? seconds() : 0};

    for (;;) {
        size_t end = str_find(strbuf_str(in), S("\r\n\r\n"));
        char *room;
        ssize_t n;

        if (end != STR_NONE) {
            q.head = str_slice(strbuf_str(in), 0, end + strlen("\r\n\r\n"));
            q.body = str_slice(strbuf_str(in), q.head.n, content_length(q.head));
            if (q.body.n == content_length(q.head))
                break;
        }
        room = strbuf_reserve(in, READ_BYTES);
        n = room ? recv(fd, room, READ_BYTES, 0) : -1;
        if (n <= 0)
            return false;
        if (!q.came)
            q.came = seconds();
        strbuf_grew(in, (size_t)n);
    }
    q.complete = seconds();
    read_scene(&q);
    *ret_request = q;
    return true;
}

/* --- answers --- */

static void add_event(struct strbuf *out, const char *name, const char *rest)
{
    AUTO(strbuf) struct strbuf event = {0};

    strbuf_addf(&event, "event: %s\ndata: {\"type\":\"%s\"%s}\n\n", name, name, rest);
    strbuf_addf(out, "%zx\r\n%s\r\n", event.n, strbuf_cstr(&event));
}

static void add_delta(struct strbuf *out, int i)
{
    char delta[128];

    /* no two are alike: some peers end an answer that repeats itself */
    snprintf(delta, sizeof delta,
             ",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" %x\"}",
             (unsigned)(i + 1) * 2654435761u);
    add_event(out, "content_block_delta", delta);
}

static void add_text(struct strbuf *out, int n_deltas)
{
    add_event(out, "content_block_start",
              ",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}");
    for (int i = 0; i < n_deltas; i++)
        add_delta(out, i);
}

/* Escaped twice: a string in a string. */
static void write_args(char *out, size_t size, const struct request *q)
{
    bool writes = q->scene == SCENE_WRITES;

    if (q->scene == SCENE_READS)
        snprintf(out, size, "{\\\"file_path\\\":\\\"note%d.txt\\\"}", q->n_rounds + 1);
    else
        snprintf(out, size,
                 "{\\\"command\\\":\\\"%s %d%s\\\",\\\"description\\\":\\\"Do little\\\"}",
                 writes ? "echo" : "true", q->n_rounds + 1, writes ? " >>written" : "");
}

static void add_call(struct strbuf *out, const struct request *q)
{
    bool is_lower = has(q->body, S("\"name\":\"bash\""));
    const char *shell = is_lower ? "bash" : "Bash";
    char args[128], text[256];

    snprintf(text, sizeof text,
             ",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_%d\","
             "\"name\":\"%s\",\"input\":{}}",
             q->n_rounds, q->scene == SCENE_READS ? "Read" : shell);
    add_event(out, "content_block_start", text);
    write_args(args, sizeof args, q);
    snprintf(text, sizeof text,
             ",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"%s\"}",
             args);
    add_event(out, "content_block_delta", text);
}

static void add_stream(struct strbuf *out, const struct request *q)
{
    bool calls = q->scene >= SCENE_TOOLS;

    strbuf_add(out, S("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                      "transfer-encoding: chunked\r\n\r\n"));
    add_event(out, "message_start",
              ",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\","
              "\"model\":\"claude-sonnet-4-5\",\"content\":[],\"stop_reason\":null,"
              "\"stop_sequence\":null,\"usage\":{\"input_tokens\":100,\"output_tokens\":1}}");
    if (calls)
        add_call(out, q);
    else
        add_text(out, q->scene == SCENE_STREAM ? q->n : 2);
    add_event(out, "content_block_stop", ",\"index\":0");
    add_event(out, "message_delta",
              calls ? ",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},"
                      "\"usage\":{\"output_tokens\":10}"
                    : ",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},"
                      "\"usage\":{\"output_tokens\":10}");
    add_event(out, "message_stop", "");
    strbuf_add(out, S("0\r\n\r\n"));
}

static void add_whole(struct strbuf *out)
{
    const char *text = "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":"
                       "\"claude-sonnet-4-5\",\"content\":[{\"type\":\"text\",\"text\":\"Hello\"}],"
                       "\"stop_reason\":\"end_turn\",\"stop_sequence\":null,\"usage\":"
                       "{\"input_tokens\":100,\"output_tokens\":1}}";

    strbuf_addf(out,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n\r\n"
                "%s",
                strlen(text), text);
}

static bool asks_for_messages(const struct request *q)
{
    struct str line = str_slice(q->head, 0, str_find_char(q->head, '\r'));

    return str_starts(line, S("POST ")) &&
           (has(line, S("/messages ")) || has(line, S("/messages?")));
}

static void add_answer(struct strbuf *out, const struct request *q)
{
    if (!asks_for_messages(q))
        strbuf_add(out, S("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"));
    else if (has(q->body, S("\"stream\":true")))
        add_stream(out, q);
    else
        add_whole(out);
}

/* --- connections --- */

struct server {
    int listener;
    FILE *log;
};

struct connection {
    const struct server *server;
    int fd;
};

static bool send_all(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = send(fd, bytes.p, MIN(bytes.n, (size_t)PIECE_BYTES), MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        bytes = str_skip(bytes, (size_t)n);
    }
    return true;
}

static void write_log(const struct server *s, const struct request *q)
{
    fprintf(s->log,
            "{\"scn\":\"%s\",\"rounds\":%d,\"bytes\":%zu,\"t\":%.4f,\"tbody\":%.4f,"
            "\"tend\":%.4f}\n",
            scene_names[q->scene], q->n_rounds, q->body.n, q->came * 1e3, q->complete * 1e3,
            seconds() * 1e3);
    fflush(s->log);
}

static void *serve(void *arg)
{
    struct connection *c = arg;
    AUTO(strbuf) struct strbuf in = {0}, out = {0};
    struct request q;
    bool is_open = true;

    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    while (is_open && read_request(c->fd, &in, &q)) {
        strbuf_clear(&out);
        add_answer(&out, &q);
        is_open = send_all(c->fd, strbuf_str(&out));
        write_log(c->server, &q);
        strbuf_drop_front(&in, q.head.n + q.body.n);
    }
    close(c->fd);
    mem_free(c);
    return NULL;
}

static int listen_on(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 64)) {
        perror("bench-server");
        exit(EXIT_FAILURE);
    }
    return fd;
}

int main(int argc, char **argv)
{
    struct server s;

    if (argc != 3 || !(s.log = fopen(argv[2], "a"))) {
        fprintf(stderr, "usage: bench-server PORT LOG\n");
        return EXIT_FAILURE;
    }
    s.listener = listen_on(atoi(argv[1]));
    fprintf(s.log, "{}\n");
    fflush(s.log);
    for (;;) {
        struct connection *c = mem_alloc(sizeof *c);
        pthread_t thread;

        *c = (struct connection){&s, accept(s.listener, NULL, NULL)};
        if (c->fd < 0 || pthread_create(&thread, NULL, serve, c)) {
            perror("bench-server");
            return EXIT_FAILURE;
        }
        pthread_detach(thread);
    }
}
