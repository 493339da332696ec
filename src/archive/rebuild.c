/* rebuild.c - reads the core of a stream and writes what follows from it. */
#include "archive/rebuild.h"

#include "session/codec/codec.h"
#include "session/digest.h"
#include "session/session_record.h"

struct rebuilding {
    struct arena arena;
    struct store_summary summary;
    bool is_copy;
};

static struct err *read_all(struct rebuilding *b, struct codec_reader *r, size_t *n_unreadable)
{
    const struct event *e;

    for (;;) {
        AUTO(err) struct err *failure = codec_read(r, &e);

        if (codec_reader_has_failed(r))
            return TAKE(failure);
        *n_unreadable += failure != NULL;
        if (!failure && !e)
            return NULL;
        if (e)
            digest_event(&b->summary, &b->arena, e, &b->is_copy);
    }
}

static bool has_changed(const struct store_summary *now, const struct store_summary *was)
{
    return (now->provider.n && !str_eq(now->provider, was->provider)) ||
           (now->model.n && !str_eq(now->model, was->model)) ||
           (now->preview.n && !str_eq(now->preview, was->preview)) ||
           (now->n_messages && digest_n_messages(now) != was->n_messages);
}

static struct err *write_all(struct store *s, const struct store_summary *session,
                             struct rebuilding *b, struct rebuilt *ret)
{
    b->summary.id = session->id;
    ret->has_changed_summary = has_changed(&b->summary, session);
    if (ret->has_changed_summary)
        TRY(store_update(s, &b->summary));
    ret->has_record = s->ops->record_path != NULL;
    return session_record_save(s, session->id);
}

struct err *session_rebuild(struct store *s, const struct store_summary *session,
                            struct rebuilt *ret_rebuilt)
{
    AUTO(codec_reader)
    struct codec_reader *r = codec_reader_new(s, session->id, 1, CODEC_READ_CORE);
    struct rebuilding b = {0};
    struct err *e;

    *ret_rebuilt = (struct rebuilt){0};
    codec_reader_leave(r, CODEC_PASS);
    e = read_all(&b, r, &ret_rebuilt->n_unreadable);
    if (!e)
        e = write_all(s, session, &b, ret_rebuilt);
    arena_done(&b.arena);
    return e;
}
