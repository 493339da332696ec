/* output.c - a ring of bytes, the two ends of an output as text, and its newest lines as they come.
 */
#include "tool/shell/output.h"

#include "base/utf8.h"
#include "sys/work.h"

#include <inttypes.h>

/* --- the last bytes of a stream ---
 *
 * The byte at a position is stored at that position modulo the limit, even while the memory grows:
 * until then nothing has wrapped around. */

#define FIRST_ROOM ((size_t)4 << 10)

void tail_init(struct tail *t, size_t max_bytes)
{
    *t = (struct tail){.max_bytes = max_bytes};
}

void tail_done(struct tail *t)
{
    mem_free(t->p);
    *t = (struct tail){0};
}

uint64_t tail_start(const struct tail *t)
{
    return t->end > t->max_bytes ? t->end - t->max_bytes : 0;
}

void tail_add(struct tail *t, struct str bytes)
{
    size_t needed;

    if (bytes.n > t->max_bytes) {
        t->end += bytes.n - t->max_bytes;
        bytes = str_skip(bytes, bytes.n - t->max_bytes);
    }
    needed = (size_t)MIN(t->end + bytes.n, (uint64_t)t->max_bytes);
    if (needed > t->room) {
        t->room = MIN(MAX(MAX(t->room * 2, needed), FIRST_ROOM), t->max_bytes);
        t->p = mem_resize(t->p, t->room);
    }
    while (bytes.n > 0) {
        size_t at = (size_t)(t->end % t->max_bytes), n = MIN(bytes.n, t->max_bytes - at);

        memcpy(t->p + at, bytes.p, n);
        t->end += n;
        bytes = str_skip(bytes, n);
    }
}

void tail_copy(const struct tail *t, uint64_t from, struct strbuf *out)
{
    from = MAX(from, tail_start(t));
    while (from < t->end) {
        size_t at = (size_t)(from % t->max_bytes);
        size_t n = (size_t)MIN(t->end - from, (uint64_t)(t->max_bytes - at));

        strbuf_add(out, str_make(t->p + at, n));
        from += n;
    }
}

/* --- the head and the tail --- */

#define HEAD_BYTES (OUTPUT_MAX_BYTES / 2)

void output_init(struct output *o)
{
    strbuf_init(&o->head, HEAD_BYTES);
    tail_init(&o->tail, OUTPUT_MAX_BYTES - HEAD_BYTES);
    o->n_newlines = 0;
}

void output_done(struct output *o)
{
    strbuf_done(&o->head);
    tail_done(&o->tail);
}

static uint64_t count_newlines(struct str bytes)
{
    uint64_t n = 0;
    size_t at;

    while ((at = str_find_char(bytes, '\n')) != STR_NONE) {
        bytes = str_skip(bytes, at + 1);
        n++;
    }
    return n;
}

struct output_gap output_find_gap(const struct output *o)
{
    struct output_gap gap = {.n_bytes = tail_start(&o->tail),
                             .n_total_bytes = o->head.n + o->tail.end,
                             .n_total_lines = o->n_newlines};
    uint64_t n_in_head = count_newlines(strbuf_str(&o->head));
    AUTO(strbuf) struct strbuf tail = {0};

    if (gap.n_bytes == 0)
        return gap;
    tail_copy(&o->tail, 0, &tail);
    gap.n_lines = o->n_newlines - n_in_head - count_newlines(strbuf_str(&tail));
    gap.after_line = n_in_head + !str_ends(strbuf_str(&o->head), S("\n"));
    gap.n_total_lines += !str_ends(strbuf_str(&tail), S("\n"));
    return gap;
}

void output_add(struct output *o, struct str bytes)
{
    size_t n_head = MIN(bytes.n, HEAD_BYTES - o->head.n);

    o->n_newlines += count_newlines(bytes);
    strbuf_add(&o->head, str_slice(bytes, 0, n_head));
    tail_add(&o->tail, str_skip(bytes, n_head));
}

/* --- as text --- */

#define NUL_MARK "\xE2\x90\x80" /* U+2400 */
#define MAX_NULS 4              /* in a row that are shown one by one */

static void add_text(struct strbuf *out, struct str bytes)
{
    while (bytes.n > 0) {
        size_t n = str_find_char(bytes, '\0'), n_nuls = 0;

        n = n == STR_NONE ? bytes.n : n;
        utf8_add_repaired(out, str_slice(bytes, 0, n));
        bytes = str_skip(bytes, n);
        while (n_nuls < bytes.n && bytes.p[n_nuls] == '\0')
            n_nuls++;
        /* A NUL is not text, but that it is there may matter (find -print0). */
        for (size_t i = 0; i < MIN(n_nuls, (size_t)MAX_NULS); i++)
            strbuf_add_cstr(out, NUL_MARK);
        if (n_nuls > MAX_NULS)
            strbuf_addf(out, "[%zu NUL bytes]", n_nuls);
        bytes = str_skip(bytes, n_nuls);
    }
}

/* The last state of a line that was overwritten, as on a terminal. */
static struct str last_state(struct str line)
{
    while (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return str_skip(line, str_rfind_char(line, '\r') + 1); /* STR_NONE + 1 is 0 */
}

void output_add_clean(struct strbuf *out, struct str bytes)
{
    while (bytes.n > 0) {
        size_t n = str_find_char(bytes, '\n');
        struct str line = str_slice(bytes, 0, n == STR_NONE ? bytes.n : n);

        add_text(out, last_state(line));
        if (n != STR_NONE)
            strbuf_add_cstr(out, str_ends(line, S("\r")) ? "\r\n" : "\n");
        bytes = str_skip(bytes, line.n + (n != STR_NONE));
    }
}

/* If the tail starts inside a character, drops the rest of it. */
static struct str skip_rest_of_char(struct str s)
{
    for (int i = 0; i < 3 && s.n > 0 && ((unsigned char)*s.p & 0xC0) == 0x80; i++)
        s = str_skip(s, 1);
    return s;
}

struct output_text_job {
    const struct output *output;
    struct strbuf *out;
};

static struct err *output_make_text(void *arg)
{
    const struct output_text_job *j = arg;
    const struct output *o = j->output;
    AUTO(strbuf) struct strbuf rest = {0};
    struct str head = strbuf_str(&o->head);
    uint64_t n_lost = tail_start(&o->tail);

    if (n_lost == 0) { /* a character may be split between the two ends */
        strbuf_add(&rest, head);
        tail_copy(&o->tail, 0, &rest);
        output_add_clean(j->out, strbuf_str(&rest));
        return NULL;
    }
    output_add_clean(j->out, str_slice(head, 0, head.n - utf8_incomplete_tail(head)));
    if (!str_ends(strbuf_str(j->out), S("\n")))
        strbuf_add_char(j->out, '\n');
    strbuf_addf(j->out, "... [%" PRIu64 " bytes of output left out] ...\n", n_lost);
    tail_copy(&o->tail, 0, &rest);
    output_add_clean(j->out, skip_rest_of_char(strbuf_str(&rest)));
    return NULL;
}

struct err *output_add_text(const struct output *o, struct strbuf *out)
{
    struct output_text_job job = {o, out};

    return o->head.n > OUTPUT_SHORT_BYTES ? work_run(output_make_text, &job)
                                          : output_make_text(&job);
}

/* --- progress --- */

enum { PERIOD_MS = 100 };

void progress_add(struct shell_progress *p, struct str bytes, uint64_t now_ms)
{
    size_t n_old;

    if (!p->context->on_progress)
        return;
    if (bytes.n > sizeof p->newest)
        bytes = str_skip(bytes, bytes.n - sizeof p->newest);
    n_old = MIN(p->n, sizeof p->newest - bytes.n);
    memmove(p->newest, p->newest + p->n - n_old, n_old);
    memcpy(p->newest + n_old, bytes.p, bytes.n);
    p->n = n_old + bytes.n;
    if (now_ms >= p->next_ms)
        progress_show(p, now_ms);
}

uint64_t progress_wait_ms(const struct shell_progress *p, uint64_t now_ms)
{
    if (p->n == 0)
        return UINT64_MAX;
    return p->next_ms > now_ms ? p->next_ms - now_ms : 0;
}

/* An incomplete character at the end is shown later, with its rest. */
void progress_show(struct shell_progress *p, uint64_t now_ms)
{
    AUTO(strbuf) struct strbuf text = {0};
    size_t n_later = utf8_incomplete_tail(str_make(p->newest, p->n));

    output_add_clean(&text, str_make(p->newest, p->n - n_later));
    memmove(p->newest, p->newest + p->n - n_later, n_later);
    p->n = n_later;
    p->next_ms = now_ms + PERIOD_MS;
    if (text.n)
        tool_progress(p->context, strbuf_str(&text));
}
