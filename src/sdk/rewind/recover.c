/* recover.c - what a call had changed when its process died. */
#include "sdk/rewind/read_bodies.h"
#include "sdk/rewind/rewind.h"

#include "snapshot/undo_log.h"
#include "sys/loop.h"
#include "sys/work.h"
#include "view/session_log_fields.h"

#define LOG_SWEPT S("its undo log was removed, because the session was not resumed for a month")

struct open_snapshot {
    bool keeps_log;
    uint64_t seq;
    struct str call_id;
    const struct snapshot_record *record;
    bool has_ended;
};

struct call_recovery {
    struct arena arena;
    struct open_snapshot *items;
    size_t n, room;
    const struct snapshot_options *options;
    const struct open_snapshot *current;
    struct recovered_call found;
};

static void note_snapshot(void *self, uint64_t seq, const struct json *body)
{
    struct call_recovery *x = self;
    const struct snapshot_record *record = snapshot_record_parse(body, &x->arena);

    if (!record->has_file && !record->log.n && !record->tree.n) /* it only says what is not saved */
        return;
    x->items = arena_grow(&x->arena, x->items, x->n, &x->room, sizeof *x->items);
    x->items[x->n++] = (struct open_snapshot){
        .seq = seq, .call_id = json_get_text(body, "toolCallId"), .record = record};
}

/* Ids of calls may come again: the last one before it is meant. */
static void note_end(void *self, uint64_t seq, const struct json *body)
{
    struct call_recovery *x = self;
    struct str id = json_get_text(body, "toolCallId");

    for (size_t i = x->n; i-- > 0;)
        if (x->items[i].seq < seq && str_eq(x->items[i].call_id, id)) {
            x->items[i].has_ended = true;
            return;
        }
}

static struct err *recover_one(void *arg)
{
    struct call_recovery *x = arg;

    return snapshot_recover(x->options, x->current->record, x->current->has_ended, &x->arena,
                            &x->found);
}

/* The log does not exist now; whether it ever did is unknown. */
static bool may_be_swept(const struct session *s)
{
    const int64_t kept_ms = (int64_t)UNDO_LOG_KEPT_DAYS * 24 * 60 * 60 * 1000;

    return loop_unix_ms(task_loop()) - s->loaded.summary.updated_ms > kept_ms;
}

static void emit_recovered(const struct call_recovery *x, struct session *s)
{
    const struct recovered_call *found = &x->found;
    const struct open_snapshot *of = x->current;
    struct str unsaved = found->unsaved;

    if (!unsaved.n && of->record->log.n && found->has_no_log && may_be_swept(s))
        unsaved = LOG_SWEPT;
    session_emit_images(s, found->images.items, found->images.n);
    if (unsaved.n)
        session_emit_unsaved(s, of->call_id, unsaved);
}

static struct err *recover_all(struct call_recovery *x, struct session *s)
{
    for (size_t i = 0; i < x->n; i++) {
        if (x->items[i].has_ended && !x->items[i].record->log.n)
            continue;
        x->current = &x->items[i];
        TRY(work_run(recover_one, x));
        x->items[i].keeps_log = x->found.keeps_log;
        emit_recovered(x, s);
    }
    return NULL;
}

/* The logs are not needed any more when the journal has what they say. */
static struct err *forget_logs(const struct call_recovery *x, struct session *s)
{
    TRY(journal_sync(s->journal));
    for (size_t i = 0; i < x->n; i++)
        if (!x->items[i].keeps_log)
            snapshot_forget_log(x->options, x->items[i].record);
    return NULL;
}

/* Commands ran in the background when the process died, of whatever turn: the model is to hear of
 * it. */
static bool had_background(const struct session *s)
{
    return s->notice.n > 0;
}

static struct err *recover(struct call_recovery *x, struct session *s)
{
    struct store *store = s->options.store;
    struct str id = s->options.id;
    struct turn_list turns;
    uint64_t from;

    TRY(turn_list_read(store, id, &x->arena, &turns));
    if (!turns.n)
        return NULL;
    from = had_background(s) ? 0 : turns.items[turns.n - 1].seq;
    TRY(bodies_read(store, id, "snapshot", from, &x->arena, note_snapshot, x));
    if (!x->n)
        return NULL;
    TRY(bodies_read(store, id, "tool_end", from, &x->arena, note_end, x));
    TRY(recover_all(x, s));
    return forget_logs(x, s);
}

struct err *rewind_recover(struct session *s, const struct snapshot_options *o)
{
    struct call_recovery x = {.options = o};
    struct err *e = NULL;

    if ((s->loaded.last_run == LAST_RUN_CUT_OFF || had_background(s)) &&
        str_eq(s->loaded.summary.cwd, s->options.cwd))
        e = recover(&x, s);
    arena_done(&x.arena);
    return e;
}
