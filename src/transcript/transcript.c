/* transcript.c - reads a session and its children, and hands their events to a form. */
#include "transcript/transcript.h"

#include "session/codec.h"
#include "transcript/writer.h"

#define FLUSH_BYTES ((size_t)256 << 10)
#define MAX_DEPTH 16 /* of runs within runs; deeper ones are no session of ours */

static const struct writer_ops *const forms[] = {
    [TRANSCRIPT_JSONL] = &writer_jsonl,
    [TRANSCRIPT_JSON] = &writer_json,
    [TRANSCRIPT_MARKDOWN] = &writer_markdown,
    [TRANSCRIPT_HTML] = &writer_html,
};

bool transcript_form_find(struct str name, enum transcript_form *ret_form)
{
    static const struct {
        const char *name;
        enum transcript_form form;
    } names[] = {
        {"jsonl", TRANSCRIPT_JSONL}, {"json", TRANSCRIPT_JSON}, {"markdown", TRANSCRIPT_MARKDOWN},
        {"md", TRANSCRIPT_MARKDOWN}, {"html", TRANSCRIPT_HTML}, {"htm", TRANSCRIPT_HTML},
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_nocase(name, str_of(names[i].name))) {
            *ret_form = names[i].form;
            return true;
        }
    return false;
}

static struct err *flush(const struct transcript *t, struct writer *w)
{
    struct err *e;

    TRY(strbuf_check(&w->out, "an event of the session"));
    if (w->out.n == 0)
        return NULL;
    e = t->write(t->self, strbuf_str(&w->out));
    strbuf_clear(&w->out);
    return e;
}

/* The summary is no event: nobody has searched it yet. */
static struct store_summary without_secrets(const struct transcript *t, struct arena *a,
                                            const struct store_summary *s)
{
    struct store_summary shown = *s;
    struct str *texts[] = {&shown.name, &shown.preview, &shown.cwd};
    AUTO(strbuf) struct strbuf hidden = {0};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = arena_str(a, secrets_hide(t->secrets, *texts[i], &hidden, NULL));
    return shown;
}

static struct err *write_events(const struct transcript *t, struct writer *w,
                                struct codec_reader *r)
{
    const struct event *e;

    for (;;) {
        AUTO(err) struct err *failure = codec_read(r, &e);

        if (codec_reader_has_failed(r))
            return TAKE(failure);
        if (failure && t->on_broken)
            t->on_broken(t->self, failure);
        if (failure)
            continue;
        if (!e)
            return NULL;
        w->ops->event(w, e);
        if (w->out.n >= FLUSH_BYTES || strbuf_is_over(&w->out))
            TRY(flush(t, w));
    }
}

static struct err *write_stream(const struct transcript *t, struct writer *w,
                                const struct store_summary *s, unsigned depth)
{
    AUTO(codec_reader)
    struct codec_reader *r = codec_reader_new(t->store, s->id, 1, CODEC_READ_ALL);
    AUTO(arena) struct arena a = {0};
    struct store_summary shown = without_secrets(t, &a, s);
    uint64_t base;

    if (w->ops->begin)
        w->ops->begin(w, &shown, depth);
    TRY(write_events(t, w, r));
    if (w->ops->end)
        w->ops->end(w, codec_reader_history(r, &base));
    return flush(t, w);
}

static struct err *write_tree(const struct transcript *t, struct writer *w,
                              const struct store_summary *s, unsigned depth)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary *children = NULL;
    size_t n = 0;

    TRY(write_stream(t, w, s, depth));
    if (t->without_children || depth == MAX_DEPTH)
        return NULL;
    TRY(store_list(t->store, &(struct store_list_query){.parent = s->id}, &a, &children, &n));
    while (n-- > 0)
        TRY(write_tree(t, w, &children[n], depth + 1));
    return NULL;
}

struct err *transcript_write(const struct transcript *t)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary shown = without_secrets(t, &a, t->session);
    struct writer *w = forms[t->form]->make();
    struct err *e;

    strbuf_init(&w->out, WRITER_MAX_BYTES);
    w->ops = forms[t->form];
    w->secrets = t->secrets;
    if (w->ops->open)
        w->ops->open(w, &shown);
    e = write_tree(t, w, t->session, 0);
    if (!e && w->ops->close)
        w->ops->close(w);
    if (!e)
        e = flush(t, w);
    strbuf_done(&w->out);
    w->ops->free(w);
    return e;
}
