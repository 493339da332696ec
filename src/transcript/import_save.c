/* import_save.c - writes the events of an imported session. */
#include "transcript/import_save.h"

#include "base/utf8.h"
#include "base/uuid.h"
#include "engine/hide.h"
#include "port/draft.h"
#include "session/codec/codec.h"
#include "session/session_record.h"
#include "sys/loop.h"
#include "transcript/import_handles.h"

#include <limits.h>

#define APPEND_BYTES ((size_t)8 << 20) /* of records that are appended together */
#define MAX_LINE_BYTES                                                                             \
    ((size_t)1 << 10) /* of a name, also of a model's and a provider's: lists hold them all */
#define PREVIEW_BYTES 200

struct saving {
    struct import *import;
    const struct import_place *place;
    struct saved_session *saved;
    uint64_t *found;         /* credentials */
    struct import_index ids; /* that were chosen */
    bool *is_made;           /* for sessions without a parent */
    uint64_t n_given, n_all; /* messages */
    struct draft draft;      /* in the end all of them exist, or none */
};

/* The records of one stream. */
struct saved_stream {
    struct saving *saving;
    struct saved_session *saved;
    struct str id, parent;
    const struct imported *session;
    struct store *store;
    uint64_t fence;
    struct codec_writer *writer;
    struct arena arena;           /* of the records */
    struct store_record *records; /* that are not appended yet */
    size_t n, room, n_bytes;
    uint64_t first_seq, next_seq;
    bool has_history, is_replaced; /* by another one */
    uint64_t n_messages;           /* of the last history */
    struct import_names names;     /* that its messages use */
};

static void stream_done(struct saved_stream *s)
{
    arena_done(&s->arena);
    codec_writer_free(s->writer);
    import_names_done(&s->names);
}
DEFINE_AUTO_VAL(saved_stream, stream_done)

/* --- the store --- */

/* Long texts are stored at once, before the records that refer to them. */
static struct err *put_blobs(struct saved_stream *s, struct codec_record *r)
{
    struct blob_store *blobs = store_blobs(s->store, s->id);
    char handle[SHA256_HEX_SIZE];

    for (size_t i = 0; i < r->n_blobs; i++)
        if (!r->blobs[i].is_there)
            TRY(blob_put_soon(blobs, r->blobs[i].bytes, handle));
    return NULL;
}

static struct err *append(struct saved_stream *s, const struct store_summary *summary)
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
static void keep_record(struct saved_stream *s, const struct store_record *r)
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
    s->n_bytes += r->body.n + sizeof kept;
}

/* --- events --- */

static struct err *emit(struct saved_stream *s, enum event_type type, int64_t unix_ms,
                        struct event *e)
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
    codec_writer_forget(s->writer);
    TRY(failure);
    return s->n_bytes > APPEND_BYTES ? append(s, NULL) : NULL;
}

static struct err *emit_begin(struct saved_stream *s, struct str cwd)
{
    const struct imported *i = s->session;
    struct event e = {
        .body.session = {
            .cwd = cwd, .provider = i->provider, .model = i->model, .system = i->system}};

    return emit(s, EVENT_SESSION_BEGIN, i->created_ms, &e);
}

/* Without characters that would break the line that shows it. */
static struct str one_line(struct arena *a, struct str text, size_t max_bytes)
{
    AUTO(strbuf) struct strbuf line = {0};

    text = utf8_truncate(text, max_bytes);
    for (size_t i = 0; i < text.n; i++)
        strbuf_add_char(&line,
                        (unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f ? ' ' : text.p[i]);
    return arena_str(a, str_trim(strbuf_str(&line)));
}

static const char *mutation_of(enum import_step step, bool is_first_history)
{
    if (step == IMPORT_CLEAR)
        return "clear";
    if (is_first_history)
        return "fork-base";
    return step == IMPORT_COMPACT ? "compact" : step == IMPORT_REWIND ? "rewind" : "append";
}

static void find_preview(struct saved_stream *s, const struct message *m)
{
    for (size_t i = 0; i < m->n_parts && m->role == ROLE_USER && !s->saved->preview.n; i++) {
        struct str line = {0}, text = str_trim(m->parts[i].text);

        if (m->parts[i].kind == PART_TEXT && str_split(&text, '\n', &line))
            s->saved->preview = one_line(&s->saving->import->arena, line, PREVIEW_BYTES);
    }
}

static struct err *emit_message(void *self, struct imported_message *m)
{
    struct saved_stream *s = self;
    struct saving *v = s->saving;
    struct event e;

    if (m->begins && s->has_history) {
        s->is_replaced = true;
        s->n_messages = 0;
    }
    s->has_history = true;
    if (m->message) {
        hide_in_message(v->place->secrets, &m->message, v->found);
        find_preview(s, m->message);
        import_names_note(&s->names, m->message);
    }
    e = (struct event){.body.message = {.message = m->message,
                                        .index = s->n_messages,
                                        .mutation = mutation_of(m->step, !s->is_replaced)}};
    s->n_messages += m->message != NULL;
    s->saved->n_messages += m->message != NULL;
    if (v->place->on_progress)
        v->place->on_progress(v->place->self, v->n_given, v->n_all);
    v->n_given++;
    return emit(s, EVENT_HISTORY, m->unix_ms, &e);
}

static struct err *emit_end(struct saved_stream *s)
{
    AUTO(arena) struct arena a = {0};
    const struct imported *i = s->session;
    struct json *state = json_new(&a, JSON_OBJECT);
    struct event end = {.body.session.reason = "other"};
    struct event e = {.body.checkpoint = {.base_seq = codec_writer_base(s->writer),
                                          .state = state,
                                          .usage = i->usage,
                                          .cost_microcents = i->cost_microcents,
                                          .cost_is_known = i->cost_is_known,
                                          .is_estimated = i->is_estimated,
                                          .is_unpriced = i->is_unpriced,
                                          .n_rounds = i->n_rounds,
                                          .n_tool_calls = i->n_tool_calls,
                                          .active_ms = i->active_ms}};
    const struct import_state from = {.import = s->saving->import,
                                      .session = i,
                                      .names = &s->names,
                                      .blobs = store_blobs(s->store, s->id),
                                      .secrets = s->saving->place->secrets,
                                      .found = s->saving->found};

    TRY(import_state_add(&from, &a, state));
    TRY(emit(s, EVENT_CHECKPOINT, i->updated_ms, &e));
    return emit(s, EVENT_SESSION_END, i->updated_ms, &end);
}

static struct store_summary summary_of(const struct saved_stream *s, struct str cwd,
                                       struct str name)
{
    const struct imported *i = s->session;

    return (struct store_summary){.id = s->id,
                                  .parent = s->parent,
                                  .cwd = cwd,
                                  .name = name,
                                  .provider = i->provider,
                                  .model = i->model,
                                  .preview = s->saved->preview,
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

/* Its own id, unless the store or this file already has it. */
static struct err *choose_id(struct saving *v, size_t index)
{
    struct saved_session *saved = &v->saved[index];
    struct store_summary other;
    bool is_taken = true;

    saved->id = v->import->sessions[index].id;
    if (store_id_is_valid(saved->id) && !import_index_find(&v->ids, import_key(saved->id)))
        TRY(store_find(v->place->store, saved->id, &v->import->arena, &other, &is_taken));
    saved->has_new_id = is_taken;
    if (is_taken)
        saved->id = new_id(v);
    *import_index_at(&v->ids, import_key(saved->id)) = 1;
    return NULL;
}

/* --- saving --- */

static struct err *save_one(struct saving *v, size_t index, uint64_t fence)
{
    const struct imported *session = &v->import->sessions[index];
    bool is_root = session->parent_index == IMPORT_NO_PARENT;
    struct store *store = v->place->store;
    AUTO(saved_stream)
    struct saved_stream s = {.saving = v,
                             .saved = &v->saved[index],
                             .id = v->saved[index].id,
                             .session = session,
                             .store = store,
                             .fence = fence,
                             .writer = codec_writer_new(),
                             .first_seq = 1,
                             .next_seq = 1};
    struct str name = v->place->name.n && is_root ? v->place->name : session->name;
    struct store_summary summary;

    if (!is_root)
        s.parent = v->saved[session->parent_index].id;
    summary = summary_of(&s, session->cwd, name);
    if (!is_root)
        TRY(store_add_child(store, &summary, fence));
    TRY(emit_begin(&s, session->cwd));
    TRY(import_each(v->import, session, emit_message, &s));
    TRY(emit_end(&s));
    summary = summary_of(&s, session->cwd, name);
    TRY(append(&s, &summary));
    return is_root ? session_record_save(store, s.id) : NULL;
}

/* In the order of the file, which has parents first. */
static struct err *save_below(struct saving *v, size_t root, uint64_t fence)
{
    AUTO(arena) struct arena a = {0};
    bool *is_below = ARENA_ARRAY(&a, v->import->n, bool);

    is_below[root] = true;
    for (size_t i = root + 1; i < v->import->n; i++) {
        size_t parent = v->import->sessions[i].parent_index;

        if (parent == IMPORT_NO_PARENT || !is_below[parent])
            continue;
        is_below[i] = true;
        TRY(save_one(v, i, fence));
    }
    return NULL;
}

static struct err *save_root(struct saving *v, size_t index)
{
    AUTO(arena) struct arena a = {0};
    const struct imported *session = &v->import->sessions[index];
    struct store *store = v->place->store;
    struct store_summary create = {
        .id = v->saved[index].id,
        .cwd = session->cwd,
        .name = v->place->name.n ? v->place->name : session->name,
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
        return err_new(ERR_STORAGE, "session %" STR_FMT " already exists", STR_ARG(create.id));
    }
    v->is_made[index] = true;
    e = save_one(v, index, lease.fence);
    if (!e)
        e = save_below(v, index, lease.fence);
    task_shield_begin();
    store_close(store, create.id, lease.fence);
    task_shield_end();
    return e;
}

/* If something cannot be removed, the next keel does it. */
static void undo(struct saving *v)
{
    bool is_gone = true;

    task_shield_begin();
    for (size_t i = 0; i < v->import->n; i++) {
        AUTO(err) struct err *e = NULL;

        if (v->is_made[i])
            e = store_remove(v->place->store, v->saved[i].id);
        is_gone = is_gone && !e;
    }
    task_shield_end();
    if (is_gone)
        draft_end(&v->draft);
    else
        draft_done(&v->draft);
}

/* Cleans the values of the store's index and lists: like all foreign text, they are searched for
 * credentials. */
static void clean_facts(struct saving *v, struct imported *s)
{
    struct arena *a = &v->import->arena;
    const struct secrets *secrets = v->place->secrets;
    int64_t now = clock_unix_ms(loop_clock(task_loop()));

    s->name = hide_in_str(secrets, a, one_line(a, s->name, MAX_LINE_BYTES), v->found);
    s->provider = one_line(a, s->provider, MAX_LINE_BYTES);
    s->model = one_line(a, s->model, MAX_LINE_BYTES);
    s->system = hide_in_str(secrets, a, s->system, v->found);
    if (!s->cwd.n || s->cwd.n >= PATH_MAX || str_find_char(s->cwd, 0) != STR_NONE)
        s->cwd = v->place->cwd;
    if (!s->created_ms)
        s->created_ms = s->updated_ms = now;
    v->n_all += s->n;
}

static struct err *save_all(struct saving *v)
{
    for (size_t k = 0; k < v->import->n; k++) {
        clean_facts(v, &v->import->sessions[k]);
        TRY(choose_id(v, k));
    }
    for (size_t k = 0; k < v->import->n; k++)
        if (v->import->sessions[k].parent_index == IMPORT_NO_PARENT)
            TRY(save_root(v, k));
    return NULL;
}

struct err *import_save(struct import *i, const struct import_place *place,
                        struct saved_session *ret_saved, uint64_t *ret_found)
{
    struct saving v = {.import = i,
                       .place = place,
                       .saved = ret_saved,
                       .found = ret_found,
                       .is_made = ARENA_ARRAY(&i->arena, i->n, bool),
                       .draft = DRAFT_NONE};
    struct err *e;

    *ret_found = 0;
    memset(ret_saved, 0, i->n * sizeof *ret_saved);
    e = save_all(&v);
    if (e)
        undo(&v);
    else
        draft_end(&v.draft);
    import_index_done(&v.ids);
    return e;
}
