/* transcript.c - reads a session and its children, and passes their events to a form. */
#include "transcript/transcript.h"

#include "transcript/writer.h"

#define MAX_DEPTH 16 /* of runs within runs; keel makes no deeper ones */

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

/* --- the tree --- */

struct visit {
    const struct transcript *transcript;
    struct redaction *redaction;
    struct err *(*each)(void *self, const struct store_summary *s, unsigned depth);
    void *self;
};

/* The summary is not an event, and was not searched yet. */
static struct store_summary without_secrets(struct redaction *r, struct arena *a,
                                            const struct store_summary *s)
{
    struct store_summary shown = *s;
    struct str *texts[] = {&shown.name, &shown.preview, &shown.cwd};
    AUTO(strbuf) struct strbuf hidden = {0};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = arena_str(a, redaction_hide(r, *texts[i], &hidden));
    return shown;
}

static struct err *visit_tree(const struct visit *v, const struct store_summary *s, unsigned depth)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary shown = without_secrets(v->redaction, &a, s), *children = NULL;
    size_t n = 0;

    TRY(v->each(v->self, &shown, depth));
    if (v->transcript->without_children || depth == MAX_DEPTH)
        return NULL;
    TRY(store_list(v->transcript->store, &(struct store_list_query){.parent = s->id}, &a, &children,
                   &n));
    while (n-- > 0)
        TRY(visit_tree(v, &children[n], depth + 1));
    return NULL;
}

struct err *transcript_each(const struct transcript *t, struct redaction *r,
                            struct err *(*each)(void *self, const struct store_summary *s,
                                                unsigned depth),
                            void *self)
{
    return visit_tree(&(struct visit){t, r, each, self}, t->session, 0);
}

/* --- credentials --- */

struct redaction_learning {
    const struct transcript *transcript;
    struct redaction *redaction;
};

/* Only messages and calls count; content that records refer to is loaded with them. */
static const bool not_learned_from[EVENT_N_TYPES] = {
    [EVENT_PROVIDER_REQUEST] = true, [EVENT_NATIVE_PAYLOAD] = true, [EVENT_DELTA] = true,
    [EVENT_PRE_IMAGE] = true,        [EVENT_TOOL_PROGRESS] = true,  [EVENT_TOOL_COMMITTED] = true,
    [EVENT_BATCH_BEGIN] = true,
};

/* A log has a call before its arguments are known, and documents have results that quote them. So
 * the values to hide are collected first. Unreadable records are reported when they are written. */
static struct err *learn_stream(void *self, const struct store_summary *s, unsigned depth)
{
    struct redaction_learning *l = self;
    AUTO(codec_reader)
    struct codec_reader *r = codec_reader_new(l->transcript->store, s->id, 1, CODEC_READ_CORE);
    const struct event *e;

    codec_reader_leave(r, CODEC_PASS);
    codec_reader_skip(r, not_learned_from);
    for (;;) {
        AUTO(err) struct err *failure = codec_read(r, &e);

        if (codec_reader_has_failed(r))
            return TAKE(failure);
        if (!failure && !e)
            return NULL;
        if (e && e->type == EVENT_HISTORY && e->body.message.message)
            redaction_learn(l->redaction, e->body.message.message);
        if (e && e->type == EVENT_RESPONSE_NORMALIZED && e->body.message.message)
            redaction_learn(l->redaction, e->body.message.message);
        if (e && e->type == EVENT_TOOL_REQUEST)
            redaction_learn_args(l->redaction, e->body.tool.args);
    }
}

/* --- events --- */

void writer_flush(struct writer *w)
{
    struct err *e = strbuf_check(&w->out, "an event of the session");

    if (!e && !w->error && w->out.n)
        e = w->transcript->write(w->transcript->self, strbuf_str(&w->out));
    if (w->error)
        err_free(e);
    else
        w->error = e;
    strbuf_clear(&w->out);
}

static struct err *write_events(struct writer *w, uint64_t n_all)
{
    const struct transcript *t = w->transcript;
    const struct event *e;

    for (;;) {
        AUTO(err) struct err *failure = codec_read(w->reader, &e);

        if (codec_reader_has_failed(w->reader))
            return TAKE(failure);
        if (failure && t->on_broken)
            t->on_broken(t->self, failure);
        if (failure)
            continue;
        if (!e)
            return NULL;
        w->ops->event(w, e);
        if (t->on_progress)
            t->on_progress(t->self, e->seq, n_all);
        if (w->out.n >= WRITER_FLUSH_BYTES || strbuf_is_over(&w->out))
            writer_flush(w);
        if (w->error)
            return TAKE(w->error);
    }
}

static struct err *write_stream(void *self, const struct store_summary *s, unsigned depth)
{
    struct writer *w = self;
    AUTO(codec_reader)
    struct codec_reader *r = codec_reader_new(w->transcript->store, s->id, 1, CODEC_READ_ALL);

    codec_reader_leave(r, w->transcript->with_requests ? CODEC_LEAVE_ENDS : CODEC_PASS);
    codec_reader_forms(r, w->transcript->find_form);
    if (w->ops->unwanted)
        codec_reader_skip(r, w->ops->unwanted);
    w->reader = r;
    if (w->ops->begin)
        w->ops->begin(w, s, depth);
    TRY(write_events(w, s->next_seq));
    if (w->ops->end)
        w->ops->end(w);
    writer_flush(w);
    return TAKE(w->error);
}

static struct err *write_form(const struct transcript *t, struct redaction *r,
                              const struct writer_ops *ops)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary shown = without_secrets(r, &a, t->session);
    struct writer *w = ops->make();
    struct err *e;

    strbuf_init(&w->out, WRITER_MAX_BYTES);
    w->ops = ops;
    w->transcript = t;
    w->redaction = r;
    if (ops->open)
        ops->open(w, &shown);
    e = transcript_each(t, r, write_stream, w);
    if (!e && ops->close)
        ops->close(w);
    if (!e) {
        writer_flush(w);
        e = TAKE(w->error);
    }
    err_free(w->error);
    strbuf_done(&w->out);
    ops->free(w);
    return e;
}

struct err *transcript_write(const struct transcript *t)
{
    static const struct writer_ops *const forms[] = {[TRANSCRIPT_JSONL] = &writer_jsonl,
                                                     [TRANSCRIPT_MARKDOWN] = &writer_markdown,
                                                     [TRANSCRIPT_HTML] = &writer_html};
    AUTO(redaction) struct redaction r = {.known = t->secrets};

    TRY(transcript_each(t, &r, learn_stream, &(struct redaction_learning){t, &r}));
    redaction_ready(&r);
    return t->form == TRANSCRIPT_JSON ? transcript_write_record(t, &r)
                                      : write_form(t, &r, forms[t->form]);
}
