/* save_points.c - where a run has files saved: before a call, after it, at its own end.
 *
 * That something cannot be saved never keeps a tool from running; the person reads it. What a child
 * run changes is recorded in the stream of the outermost run: a rewind undoes all of a turn. */
#include "engine/run_state.h"

static void report_note(struct run *r, struct str note)
{
    if (note.n)
        run_notice(r, SEVERITY_WARNING, "snapshot", note);
}

static void report_failure(struct run *r, const char *what, struct err *take_error)
{
    AUTO(err) struct err *e = err_wrap(take_error, "%s", what);
    AUTO_FREE char *text = err_message(e);

    report_note(r, str_of(text));
}

static void emit_images(struct run *r, struct str call_id, const struct pre_images *images)
{
    for (size_t i = 0; i < images->n; i++) {
        struct event e = {.body.image = {.call_id = call_id, .image = &images->items[i]}};

        run_emit(r, EVENT_PRE_IMAGE, &e);
    }
}

/* What a rewind will not be able to undo is recorded, too. */
static void emit_unsaved(struct run *r, const struct owner *owner, struct str call_id,
                         struct str why)
{
    struct snapshot_record record = {.unsaved = why};
    struct event e = {.owner = owner, .body.snapshot = {.call_id = call_id, .record = &record}};

    if (why.n)
        run_emit(r, EVENT_SNAPSHOT, &e);
}

static struct str text_of(struct arena *a, const struct err *failure)
{
    AUTO_FREE char *text = err_message(failure);

    return arena_str(a, str_of(text));
}

/* --- what takes long is shown --- */

#define SLOW_MS 1000

struct slow_look {
    struct call *call;
    struct str text; /* what is done */
    struct group group;
};

static struct err *slow_look_show(void *arg)
{
    struct slow_look *l = arg;

    TRY(task_sleep(SLOW_MS));
    call_show_progress(l->call, l->text);
    return NULL;
}

static void slow_look_begin(struct slow_look *l)
{
    group_begin(&l->group, 0, 0);
    group_spawn(&l->group, "slow look", slow_look_show, l);
}

static void slow_look_end(struct slow_look *l)
{
    group_cancel(&l->group);
    err_ignore(group_end(&l->group), "it was cancelled");
}

/* --- before, after, at the end --- */

static bool may_change_files(const struct call *c)
{
    enum risk risk = verdict_class(&c->verdict);

    return c->run->kit->snapshotter && (risk == RISK_MODIFY || risk == RISK_EXECUTE);
}

static struct err *begin_snapshot(struct call *c, const struct snapshot_call *call,
                                  struct snapshot_record *ret_record)
{
    struct slow_look look = {.call = c, .text = S("keel saves files before this call\n")};
    struct err *e;

    if (!may_change_files(c))
        return snapshot_begin(c->run->kit->snapshotter, call, &c->arena, ret_record);
    slow_look_begin(&look);
    e = snapshot_begin(c->run->kit->snapshotter, call, &c->arena, ret_record);
    slow_look_end(&look);
    return e;
}

static struct err *end_snapshot(struct call *c, struct snapshot_changes *ret_changes)
{
    struct slow_look look = {.call = c, .text = S("keel checks what this call has changed\n")};
    struct err *e;

    if (!c->snapshot)
        return snapshot_end(c->run->kit->snapshotter, NULL, &c->arena, ret_changes);
    slow_look_begin(&look);
    e = snapshot_end(c->run->kit->snapshotter, TAKE(c->snapshot), &c->arena, ret_changes);
    slow_look_end(&look);
    return e;
}

struct err *save_before(struct call *c)
{
    struct run *r = run_root(c->run);
    struct snapshot_call call = {
        .tool = c->verdict.entry->tool, .args = c->verdict.args, .target = c->verdict.target};
    struct snapshot_record record;
    struct event e = {.owner = &c->owner,
                      .body.snapshot = {.call_id = c->part->id, .record = &record}};
    struct err *failure = begin_snapshot(c, &call, &record);

    if (err_is(failure, ERR_CANCELLED))
        return failure;
    if (failure) {
        record.unsaved = text_of(&c->arena, failure);
        report_failure(r, "the changes of this call cannot be undone", failure);
    }
    c->snapshot = record.snapshot;
    c->observer = record.observer;
    report_note(r, record.note);
    emit_images(r, (struct str){0}, &record.before);
    if (record.has_file || record.log.n || record.unsaved.n)
        run_emit(r, EVENT_SNAPSHOT, &e);
    /* It becomes durable, and the call's beginning with it, while the tool gets ready. */
    run_hurry(c->run, RECORDER_DURABLE);
    return NULL;
}

/* However the call ended, files may have changed. */
void save_after(struct call *c)
{
    struct run *r = run_root(c->run);
    struct snapshot_changes changes;
    struct err *failure;

    write_observer_unref(TAKE(c->observer)); /* commands in the background hold it, too */
    task_shield_begin();
    failure = end_snapshot(c, &changes);
    task_shield_end();
    if (failure) {
        changes.unsaved = text_of(&c->arena, failure);
        report_failure(r, "the changes of this call are unknown", failure);
    }
    emit_unsaved(r, &c->owner, c->part->id, changes.unsaved);
    emit_images(r, c->part->id, &changes.images);
    report_note(r, changes.note);
}

void save_at_end(struct run *r)
{
    struct snapshot_changes changes;
    struct err *failure;

    if (r->input->parent)
        return; /* its parent hears of what outlives it */
    task_shield_begin();
    failure = snapshot_settle(r->kit->snapshotter, &r->arena, &changes);
    task_shield_end();
    if (failure) {
        changes.unsaved = text_of(&r->arena, failure);
        report_failure(r, "the changes of background commands are unknown", failure);
    }
    emit_unsaved(r, NULL, (struct str){0}, changes.unsaved);
    emit_images(r, (struct str){0}, &changes.images);
    report_note(r, changes.note);
}
