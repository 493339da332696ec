/* deltas.c - what reading a stream costs per delta: time, and allocations after warm-up. */
#include "bench.h"

#include "provider/decode.h"

#include <stdlib.h>

#define N_DELTAS 20000
#define N_WARM_UP 2000
#define CHUNK 16384

/* Counts every allocation of this program. */
static long n_allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void *realloc(void *block, size_t size);

void *malloc(size_t size)
{
    n_allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    n_allocations++;
    return __libc_calloc(n, size);
}

void *realloc(void *block, size_t size)
{
    n_allocations++;
    return __libc_realloc(block, size);
}

struct watch {
    long n_deltas, before;
};

static void on_delta(void *self, const struct delta *d)
{
    struct watch *w = self;

    if (++w->n_deltas == N_WARM_UP)
        w->before = n_allocations;
}

static void build(struct strbuf *out)
{
    strbuf_add_cstr(out,
                    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":"
                    "\"m\",\"usage\":{\"input_tokens\":1}}}\n\n"
                    "event: content_block_start\ndata: {\"type\":\"content_block_start\","
                    "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n");
    for (int i = 0; i < N_DELTAS; i++)
        strbuf_addf(out,
                    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
                    "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" word%d\"}}\n\n",
                    i % 1000);
    strbuf_add_cstr(out,
                    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}"
                    "\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"
                    "\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n"
                    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
}

static double decode(struct str stream, struct watch *w)
{
    AUTO(reply) struct reply reply;
    AUTO(decoder) struct decoder decoder;
    AUTO(err) struct err *e = NULL;
    double start = seconds();

    reply_init(&reply, (struct delta_sink){on_delta, w});
    decoder_init(&decoder, &protocol_anthropic_messages, 200, NULL, 0, &reply);
    for (size_t at = 0; at < stream.n && !e; at += CHUNK)
        e = decoder_feed(&decoder, str_slice(stream, at, CHUNK));
    if (!e)
        e = decoder_end(&decoder);
    if (e) {
        fprintf(stderr, "%s\n", e->text);
        exit(EXIT_FAILURE);
    }
    return seconds() - start;
}

int main(void)
{
    AUTO(strbuf) struct strbuf stream = {0};
    double best = 1e9;
    long allocations = 0;

    build(&stream);
    for (int i = 0; i < 10; i++) {
        struct watch w = {0};
        double took = decode(strbuf_str(&stream), &w);

        best = MIN(best, took);
        allocations = n_allocations - w.before;
    }
    printf(
        "{\"deltas\":%d,\"ns_per_delta\":%.0f,\"mb_s\":%.1f,\"allocations_after_warm_up\":%ld}\n",
        N_DELTAS, best / N_DELTAS * 1e9, (double)stream.n / best / 1e6, allocations);
    return EXIT_SUCCESS;
}
