/* rewind.c - finds the turn, what files were then, and takes both back. */
#include "sdk/rewind/rewind.h"
#include "sdk/rewind/guarded.h"
#include "sdk/rewind/own_files.h"
#include "sdk/rewind/read_bodies.h"

#include "sys/work.h"
#include "view/session_log_fields.h"

#include <stdlib.h>

/* --- which turn --- */

static struct err *find_turn(struct rewind *r, unsigned number)
{
    r->turn = number ? turn_list_find(&r->turns, number) : turn_list_last(&r->turns);
    if (r->turn)
        return NULL;
    if (!number)
        return err_new(ERR_VALIDATION, "no turn to undo");
    return err_hint(err_new(ERR_VALIDATION, "turn %u does not exist", number),
                    "keel session show lists the turns and their numbers");
}

static void count_turns(struct rewind *r)
{
    for (size_t i = 0; i < r->turns.n; i++) {
        const struct turn_entry *t = &r->turns.items[i];

        r->n_turns += t->is_live && t->seq >= r->turn->seq;
    }
}

/* --- which files --- */

struct image_list {
    struct arena *arena;
    struct pre_image *items;
    size_t n, room;
};

static void add_image(void *self, uint64_t seq, const struct json *body)
{
    struct image_list *l = self;

    l->items = arena_grow(l->arena, l->items, l->n, &l->room, sizeof *l->items);
    l->items[l->n++] = *pre_image_parse(body, l->arena);
}

/* --- where --- */

static const char *real_path(const char *dir, struct arena *a)
{
    AUTO_FREE char *real = realpath(dir, NULL);

    return real ? arena_cstr(a, str_of(real)) : dir;
}

const char *rewind_home_outside(const char *home, const char *const *roots, size_t n,
                                struct arena *a)
{
    const char *real = home ? real_path(home, a) : NULL;

    for (size_t i = 0; real && i < n; i++)
        if (str_starts(str_of(roots[i]), str_of(real)))
            return NULL;
    return real;
}

static void find_roots(struct rewind *r, struct store *s, const struct rewind_options *o,
                       struct arena *a)
{
    const char **roots = ARENA_ARRAY(a, o->n_added_dirs + 1, const char *);
    size_t n = 0;

    roots[n++] = real_path(o->workspace, a);
    for (size_t i = 0; i < o->n_added_dirs; i++)
        roots[n++] = real_path(o->added_dirs[i], a);
    r->restore = (struct restore_options){.roots = roots,
                                          .n_roots = n,
                                          .force = o->force,
                                          .home = rewind_home_outside(o->home, roots, n, a),
                                          .unlocked = o->is_unlocked ? roots[0] : NULL,
                                          .unlocked_mode = o->workspace_mode,
                                          .own = own_files(s, roots[0], roots + 1, n - 1, a)};
}

/* --- what cannot be undone --- */

struct unsaved_list {
    struct rewind *rewind;
    struct arena *arena;
};

static void add_unsaved(void *self, uint64_t seq, const struct json *body)
{
    struct unsaved_list *l = self;
    struct rewind *r = l->rewind;
    struct str why = json_get_text(body, "unsaved");

    if (!why.n)
        return;
    r->unsaved =
        arena_grow(l->arena, r->unsaved, r->n_unsaved, &r->unsaved_room, sizeof *r->unsaved);
    r->unsaved[r->n_unsaved++] =
        (struct rewind_unsaved){.call_id = json_get_text(body, "toolCallId"), .why = why};
}

/* The same id may come again in a later turn; the last call before has it then, too. */
static void name_unsaved(void *self, uint64_t seq, const struct json *body)
{
    struct unsaved_list *l = self;
    struct str id = json_get_text(body, "toolCallId");
    const struct json *args = json_get(body, "parameters");
    struct str command = json_get_text(args, "command");

    for (size_t i = 0; i < l->rewind->n_unsaved; i++) {
        struct rewind_unsaved *u = &l->rewind->unsaved[i];

        if (u->tool.n || !str_eq(u->call_id, id))
            continue;
        u->tool = json_get_text(body, "toolName");
        u->what = command.n ? command : json_get_text(args, "file_path");
    }
}

static struct err *find_unsaved(struct rewind *r, struct store *s, struct str id, struct arena *a)
{
    struct unsaved_list l = {r, a};

    TRY(bodies_read(s, id, "snapshot", r->turn->seq, a, add_unsaved, &l));
    if (!r->n_unsaved)
        return NULL;
    return bodies_read(s, id, "tool_execution_request", r->turn->seq, a, name_unsaved, &l);
}

/* --- looking and changing block --- */

struct work {
    struct rewind *rewind;
    const struct rewind_options *options;
    const struct store *store;
    struct arena *arena;
    struct pre_images undo;
    struct rewind_guard guard;
};

static struct err *look(void *arg)
{
    struct work *w = arg;

    return restore_look(&w->rewind->plan, &w->rewind->restore, w->arena, &w->undo);
}

static struct err *guard(void *arg)
{
    struct work *w = arg;

    return rewind_guard_begin(&w->guard, w->options, &w->rewind->restore, w->store);
}

static struct err *change(void *arg)
{
    struct work *w = arg;
    AUTO(strbuf) struct strbuf notes = {0};
    struct err *e;

    restore_change(&w->rewind->plan, &w->rewind->restore, w->arena, &w->rewind->report);
    e = rewind_guard_check(&w->guard, &notes);
    w->rewind->notes = arena_str(w->arena, strbuf_str(&notes));
    return e;
}

static struct err *leave(void *arg)
{
    struct work *w = arg;

    rewind_guard_done(&w->guard);
    return NULL;
}

/* --- the whole --- */

static struct err *plan_files(struct store *s, struct str id, const struct rewind_options *o,
                              struct arena *a, struct rewind *r)
{
    struct image_list images = {.arena = a};
    struct work w = {.rewind = r, .arena = a};

    if (o->keeps_files)
        return NULL;
    find_roots(r, s, o, a);
    TRY(find_unsaved(r, s, id, a));
    TRY(bodies_read(s, id, "pre_image", r->turn->seq, a, add_image, &images));
    restore_plan(images.items, images.n, a, &r->plan);
    return work_run(look, &w);
}

struct err *rewind_plan(struct store *s, struct str id, const struct rewind_options *o,
                        struct arena *a, struct rewind *ret_rewind)
{
    *ret_rewind = (struct rewind){0};
    TRY(turn_list_read(s, id, a, &ret_rewind->turns));
    TRY(find_turn(ret_rewind, o->turn));
    count_turns(ret_rewind);
    return plan_files(s, id, o, a, ret_rewind);
}

/* Between the plan and now somebody may have been at the files, so they are looked at again. */
static struct err *look_again(struct rewind *r, struct session *s, struct work *w)
{
    r->restore.blobs = store_blobs(s->options.store, s->options.id);
    TRY(work_run(look, w));
    return w->options->keeps_files ? NULL : work_run(guard, w);
}

static struct err *apply(struct work *w, struct session *s)
{
    const struct rewind_options *o = w->options;

    TRY(session_rewind(s, &(struct session_rewind){.turn = w->rewind->turn->number,
                                                   .seq = w->rewind->turn->seq,
                                                   .takes_messages = !o->keeps_messages,
                                                   .keeps_files = o->keeps_files,
                                                   .force = o->force,
                                                   .files = w->undo.items,
                                                   .n_files = w->undo.n}));
    TRY(work_run(change, w));
    return session_rewind_end(s);
}

struct err *rewind_apply(struct rewind *r, struct session *s, const struct rewind_options *o,
                         struct arena *a)
{
    struct work w = {.rewind = r, .options = o, .store = s->options.store, .arena = a};
    struct err *e = look_again(r, s, &w);

    task_shield_begin(); /* half of it is of no use */
    if (!e)
        e = apply(&w, s);
    err_ignore(work_run(leave, &w), "a shielded task is not cancelled");
    task_shield_end();
    return e;
}
