/* import_save.c - writes the events of an imported session. */
#include "transcript/import_save.h"

#include "base/utf8.h"
#include "base/uuid.h"
#include "engine/hide.h"
#include "port/draft.h"
#include "session/codec.h"
#include "session/record.h"
#include "sys/loop.h"

struct saving {
    struct import *import;
    const struct import_place *place;
    struct saved_session *saved;
    struct draft draft; /* all of them are there in the end, or none is */
};

#define APPEND_BYTES ((size_t)64 << 20) /* of records that are appended together */

/* The records of one stream. */
struct stream {
    struct str id, parent;
    const struct imported *session;
    struct store *store;
    uint64_t fence;
    struct codec_writer *writer;
    struct arena arena;           /* of the records */
    struct store_record *records; /* that are not appended yet */
    size_t n, room, n_bytes;
    uint64_t first_seq, next_seq;
    uint64_t n_messages; /* of the last history */
};

static void stream_done(struct stream *s)
{
    arena_done(&s->arena);
    codec_writer_free(s->writer);
}
DEFINE_AUTO_VAL(stream, stream_done)

/* --- the store --- */

/* Long texts go at once: they need not wait for what refers to them. */
static struct err *put_blobs(struct stream *s, struct codec_record *r)
{
    struct blob_store *blobs = store_blobs(s->store, s->id);
    char handle[SHA256_HEX_SIZE];

    for (size_t i = 0; i < r->n_blobs; i++)
        if (!r->blobs[i].is_there)
            TRY(blob_put_soon(blobs, r->blobs[i].bytes, handle));
    return NULL;
}

static struct err *append(struct stream *s, const struct store_summary *summary)
{
    TRY(blob_sync(store_blobs(s->store, s->id)));
    TRY(store_append(s->store, s->id, s->first_seq, s->fence, s->records, s->n, summary));
    arena_done(&s->arena);
    s->arena = (struct arena){0};
    s->records = NULL;
    s->n = s->room = s->n_bytes = 0;
    s->first_seq = s->next_seq;
    return NULL;
}

/* Without the texts that are blobs now. */
static void keep_record(struct stream *s, const struct store_record *r)
{
    struct store_record kept = *r;
    struct str *payloads = ARENA_ARRAY(&s->arena, r->n_payloads, struct str);

    for (size_t i = 0; i < r->n_payloads; i++)
        payloads[i] = arena_str(&s->arena, r->payloads[i]);
    kept.payloads = payloads;
    kept.type = arena_str(&s->arena, r->type);
    kept.run_id = arena_str(&s->arena, r->run_id);
    kept.body = arena_str(&s->arena, r->body);
    s->records = arena_grow(&s->arena, s->records, s->n, &s->room, sizeof *s->records);
    s->records[s->n++] = kept;
    s->n_bytes += r->body.n;
}

/* --- events --- */

static struct err *emit(struct stream *s, enum event_type type, int64_t unix_ms, struct event *e)
{
    static const struct owner main_agent = {"agent", {"main", 4}, NULL};
    struct codec_record record;
    struct err *failure;

    e->type = type;
    e->seq = s->next_seq++;
    e->unix_ms = unix_ms;
    e->stream = s->id;
    e->parent_stream = s->parent;
    e->owner = &main_agent;
    BUG_IF(codec_write(s->writer, e, NULL, &record)); /* nothing of it streams */
    codec_record_end(&record);
    failure = put_blobs(s, &record);
    keep_record(s, &record.record);
    codec_record_done(&record);
    TRY(failure);
    return s->n_bytes > APPEND_BYTES ? append(s, NULL) : NULL;
}

static struct err *emit_begin(struct stream *s, struct str cwd)
{
    const struct imported *i = s->session;
    struct event e = {
        .body.session = {
            .cwd = cwd, .provider = i->provider, .model = i->model, .system = i->system}};

    return emit(s, EVENT_SESSION_BEGIN, i->created_ms, &e);
}

static const char *mutation_of(enum import_step step, bool is_first_history)
{
    if (step == IMPORT_CLEAR)
        return "clear";
    if (is_first_history)
        return "fork-base";
    return step == IMPORT_COMPACT ? "compact" : step == IMPORT_REWIND ? "rewind" : "append";
}

static struct err *emit_history(struct stream *s)
{
    const struct imported *session = s->session;
    bool is_first = true;
    size_t index = 0;

    for (size_t i = 0; i < session->n; i++) {
        const struct imported_message *m = &session->items[i];
        struct event e;

        if (m->begins && i > 0) {
            is_first = false;
            index = 0;
        }
        e = (struct event){.body.message = {.message = m->message,
                                            .index = index,
                                            .mutation = mutation_of(m->step, is_first)}};
        TRY(emit(s, EVENT_HISTORY, m->unix_ms, &e));
        index += m->message != NULL;
    }
    s->n_messages = index;
    return NULL;
}

static struct err *emit_end(struct stream *s)
{
    AUTO(arena) struct arena a = {0};
    const struct imported *i = s->session;
    struct event end = {.body.session.reason = "other"};
    struct event e = {.body.checkpoint = {.base_seq = codec_writer_base(s->writer),
                                          .state = json_new(&a, JSON_OBJECT),
                                          .usage = i->usage,
                                          .cost_microcents = i->cost_microcents,
                                          .cost_is_known = i->cost_is_known,
                                          .is_estimated = i->is_estimated,
                                          .is_unpriced = i->is_unpriced,
                                          .n_rounds = i->n_rounds,
                                          .n_tool_calls = i->n_tool_calls,
                                          .active_ms = i->active_ms}};

    TRY(emit(s, EVENT_CHECKPOINT, i->updated_ms, &e));
    return emit(s, EVENT_SESSION_END, i->updated_ms, &end);
}

static struct store_summary summary_of(const struct stream *s, struct str cwd, struct str name)
{
    const struct imported *i = s->session;

    return (struct store_summary){.id = s->id,
                                  .parent = s->parent,
                                  .cwd = cwd,
                                  .name = name,
                                  .provider = i->provider,
                                  .model = i->model,
                                  .preview = i->preview,
                                  .created_ms = i->created_ms,
                                  .updated_ms = i->updated_ms,
                                  .n_messages = s->n_messages};
}

/* --- ids --- */

static struct str new_id(struct saving *v)
{
    const struct random *random = v->place->random ? v->place->random : &random_system;
    char id[UUID_TEXT_SIZE];
    unsigned char bytes[10];

    random_fill(random, bytes, sizeof bytes);
    uuid_v7(clock_unix_ms(loop_clock(task_loop())), bytes, id);
    return arena_str(&v->import->arena, str_of(id));
}

static struct err *choose_id(struct saving *v, size_t index)
{
    struct saved_session *saved = &v->saved[index];
    struct store_summary other;
    bool is_taken = true;

    saved->id = v->import->sessions[index].id;
    if (store_id_is_valid(saved->id))
        TRY(store_find(v->place->store, saved->id, &v->import->arena, &other, &is_taken));
    saved->has_new_id = is_taken;
    if (is_taken)
        saved->id = new_id(v);
    return NULL;
}

/* The session above, by the id that it had. It comes first in every file that has both. */
static bool find_parent(const struct saving *v, size_t index, size_t *ret_parent)
{
    const struct imported *sessions = v->import->sessions;

    for (size_t i = 0; sessions[index].parent.n && i < index; i++)
        if (str_eq(sessions[i].id, sessions[index].parent)) {
            *ret_parent = i;
            return true;
        }
    return false;
}

/* --- all of it --- */

static struct err *save_one(struct saving *v, size_t index, struct str parent, uint64_t fence)
{
    struct imported *session = &v->import->sessions[index];
    struct store *store = v->place->store;
    AUTO(stream)
    struct stream s = {.id = v->saved[index].id,
                       .parent = parent,
                       .session = session,
                       .store = store,
                       .fence = fence,
                       .writer = codec_writer_new(),
                       .first_seq = 1,
                       .next_seq = 1};
    struct str cwd = session->cwd.n ? session->cwd : v->place->cwd;
    struct str name = v->place->name.n && !parent.n ? v->place->name : session->name;
    struct store_summary summary;

    summary = summary_of(&s, cwd, name);
    if (parent.n)
        TRY(store_add_child(store, &summary, fence));
    TRY(emit_begin(&s, cwd));
    TRY(emit_history(&s));
    TRY(emit_end(&s));
    summary.n_messages = s.n_messages;
    TRY(append(&s, &summary));
    return parent.n ? NULL : session_record_save(store, s.id);
}

/* In the order of the file, which has those above first. */
static struct err *save_below(struct saving *v, size_t root, uint64_t fence)
{
    AUTO(arena) struct arena a = {0};
    bool *is_below = ARENA_ARRAY(&a, v->import->n, bool);
    size_t parent;

    is_below[root] = true;
    for (size_t i = root + 1; i < v->import->n; i++) {
        if (!find_parent(v, i, &parent) || !is_below[parent])
            continue;
        is_below[i] = true;
        TRY(save_one(v, i, v->saved[parent].id, fence));
    }
    return NULL;
}

/* What was begun is taken away again when it does not come to an end. */
static struct err *save_root(struct saving *v, size_t index)
{
    AUTO(arena) struct arena a = {0};
    const struct imported *session = &v->import->sessions[index];
    struct store *store = v->place->store;
    struct store_summary create = {
        .id = v->saved[index].id,
        .cwd = session->cwd.n ? session->cwd : v->place->cwd,
        .name = v->place->name.n ? v->place->name : session->name,
        .preview = session->preview,
        .created_ms = session->created_ms,
    };
    struct store_lease lease;
    struct err *e;

    if (v->draft.path)
        draft_add(&v->draft, create.id, create.created_ms);
    else
        TRY(draft_begin(&v->draft, store, create.id, create.created_ms));
    TRY(store_open(store, create.id, &create, &a, &lease));
    if (!lease.is_new) {
        store_close(store, create.id, lease.fence);
        return err_new(ERR_STORAGE, "there is a session %" STR_FMT " already", STR_ARG(create.id));
    }
    e = save_one(v, index, (struct str){0}, lease.fence);
    if (!e)
        e = save_below(v, index, lease.fence);
    task_shield_begin();
    store_close(store, create.id, lease.fence);
    if (e)
        err_ignore(store_remove(store, create.id), "why it was to be removed is told");
    task_shield_end();
    return e;
}

static void fill_times(struct import *i)
{
    int64_t now = clock_unix_ms(loop_clock(task_loop()));

    for (size_t k = 0; k < i->n; k++) {
        struct imported *s = &i->sessions[k];

        if (s->created_ms)
            continue;
        s->created_ms = s->updated_ms = now;
        for (size_t m = 0; m < s->n; m++)
            s->items[m].unix_ms = now;
    }
}

#define MAX_NAME_BYTES ((size_t)1 << 10) /* lists hold all names */

/* As everything else that comes from outside. */
static void hide(struct import *i, const struct secrets *secrets, uint64_t *found)
{
    for (size_t k = 0; k < i->n; k++) {
        struct imported *s = &i->sessions[k];

        s->name = hide_in_str(secrets, &i->arena, utf8_truncate(s->name, MAX_NAME_BYTES), found);
        s->preview = hide_in_str(secrets, &i->arena, s->preview, found);
        s->system = hide_in_str(secrets, &i->arena, s->system, found);
        for (size_t m = 0; m < s->n; m++)
            if (s->items[m].message)
                hide_in_message(secrets, &s->items[m].message, found);
    }
}

static struct err *save_all(struct saving *v)
{
    size_t parent;

    for (size_t k = 0; k < v->import->n; k++)
        TRY(choose_id(v, k));
    for (size_t k = 0; k < v->import->n; k++)
        if (!find_parent(v, k, &parent))
            TRY(save_root(v, k));
    return NULL;
}

struct err *import_save(struct import *i, const struct import_place *place,
                        struct saved_session *ret_saved, uint64_t *ret_found)
{
    struct saving v = {.import = i, .place = place, .saved = ret_saved, .draft = DRAFT_NONE};
    struct err *e;

    *ret_found = 0;
    hide(i, place->secrets, ret_found);
    fill_times(i);
    e = save_all(&v);
    draft_end(&v.draft); /* one that failed has removed what it began */
    return e;
}
