/* jsonl.c - a transcript as the lines of the session's log. */
#include "transcript/writer.h"

#include "view/journal.h"

struct jsonl {
    struct writer writer;
    struct strbuf line, hidden;
};

static struct writer *make(void)
{
    struct jsonl *j = mem_alloc(sizeof *j);

    strbuf_init(&j->line, WRITER_MAX_BYTES);
    strbuf_init(&j->hidden, WRITER_MAX_BYTES);
    return &j->writer;
}

static void add_line(struct jsonl *j)
{
    struct writer *w = &j->writer;
    struct str line = str_slice(strbuf_str(&j->line), 0, j->line.n - 1);

    if (strbuf_is_over(&j->line))
        strbuf_set_over(&w->out);
    strbuf_add(&w->out, secrets_hide_in_json_text(w->secrets, line, &j->hidden, NULL));
    strbuf_add_char(&w->out, '\n');
    strbuf_clear(&j->line);
}

static void add_event(struct writer *w, const struct event *e)
{
    struct jsonl *j = (struct jsonl *)w;

    strbuf_clear(&j->line);
    journal_write(e, &j->line);
    add_line(j);
    if (journal_write_shown(e, &j->line))
        add_line(j);
}

static void free_all(struct writer *w)
{
    struct jsonl *j = (struct jsonl *)w;

    strbuf_done(&j->line);
    strbuf_done(&j->hidden);
    mem_free(j);
}

const struct writer_ops writer_jsonl = {.make = make, .event = add_event, .free = free_all};
