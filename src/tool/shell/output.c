/* output.c - keeps the two ends of an output, and makes text of them. */
#include "tool/shell/output.h"

#include "base/utf8.h"
#include "sys/work.h"

#include <inttypes.h>

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

/* A NUL is no text, but that it is there may be what matters (find -print0). */
static void add_nuls(struct strbuf *out, size_t n)
{
    for (size_t i = 0; i < MIN(n, (size_t)MAX_NULS); i++)
        strbuf_add_cstr(out, NUL_MARK);
    if (n > MAX_NULS)
        strbuf_addf(out, "[%zu NUL bytes]", n);
}

static void add_text(struct strbuf *out, struct str bytes)
{
    while (bytes.n > 0) {
        size_t n = str_find_char(bytes, '\0'), n_nuls = 0;

        n = n == STR_NONE ? bytes.n : n;
        utf8_add_repaired(out, str_slice(bytes, 0, n));
        bytes = str_skip(bytes, n);
        while (n_nuls < bytes.n && bytes.p[n_nuls] == '\0')
            n_nuls++;
        add_nuls(out, n_nuls);
        bytes = str_skip(bytes, n_nuls);
    }
}

/* Of a line that was written over, what it was at last: a terminal shows no more. */
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

/* Where the tail was cut out of the middle of a character, its rest says nothing. */
static struct str skip_rest_of_char(struct str s)
{
    for (int i = 0; i < 3 && s.n > 0 && ((unsigned char)*s.p & 0xC0) == 0x80; i++)
        s = str_skip(s, 1);
    return s;
}

static void add_head(const struct output *o, uint64_t n_lost, struct strbuf *out)
{
    struct str head = strbuf_str(&o->head);

    output_add_clean(out, str_slice(head, 0, head.n - utf8_incomplete_tail(head)));
    if (!str_ends(strbuf_str(out), S("\n")))
        strbuf_add_char(out, '\n');
    strbuf_addf(out, "... [%" PRIu64 " bytes of output left out] ...\n", n_lost);
}

struct job {
    const struct output *output;
    struct strbuf *out;
};

static struct err *make_text(void *arg)
{
    const struct job *j = arg;
    const struct output *o = j->output;
    AUTO(strbuf) struct strbuf rest = {0};
    uint64_t n_lost = tail_start(&o->tail);

    if (n_lost > 0)
        add_head(o, n_lost, j->out);
    else
        strbuf_add(&rest, strbuf_str(&o->head)); /* a character may lie across the two */
    tail_copy(&o->tail, 0, &rest);
    output_add_clean(j->out, n_lost > 0 ? skip_rest_of_char(strbuf_str(&rest)) : strbuf_str(&rest));
    return NULL;
}

struct err *output_add_text(const struct output *o, struct strbuf *out)
{
    struct job job = {o, out};

    return o->head.n > OUTPUT_SHORT_BYTES ? work_run(make_text, &job) : make_text(&job);
}
