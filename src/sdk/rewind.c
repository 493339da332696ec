/* rewind.c - finds the turn, what files were then, and takes both back. */
#include "sdk/rewind.h"
#include "sdk/bodies.h"

#include "sys/work.h"
#include "view/journal_fields.h"

#include <stdlib.h>

/* --- which turn --- */

static struct err *find_turn(struct rewind *r, unsigned number)
{
    r->turn = number ? turn_list_find(&r->turns, number) : turn_list_last(&r->turns);
    if (r->turn)
        return NULL;
    if (!number)
        return err_new(ERR_VALIDATION, "there is no turn to take back");
    return err_hint(err_new(ERR_VALIDATION, "there is no turn %u", number),
                    "keel session show prints the turns with their numbers");
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

static void find_roots(struct rewind *r, const struct rewind_options *o, struct arena *a)
{
    const char **roots = ARENA_ARRAY(a, o->n_added_dirs + 1, const char *);
    size_t n = 0;

    roots[n++] = real_path(o->workspace, a);
    for (size_t i = 0; i < o->n_added_dirs; i++)
        roots[n++] = real_path(o->added_dirs[i], a);
    r->restore = (struct restore_options){.roots = roots, .n_roots = n, .force = o->force};
}

/* --- looking and changing block --- */

struct work {
    struct rewind *rewind;
    struct arena *arena;
    struct pre_images undo;
};

static struct err *look(void *arg)
{
    struct work *w = arg;

    return restore_look(&w->rewind->plan, &w->rewind->restore, w->arena, &w->undo);
}

static struct err *change(void *arg)
{
    struct work *w = arg;

    restore_change(&w->rewind->plan, &w->rewind->restore, w->arena, &w->rewind->report);
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
    find_roots(r, o, a);
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
    for (size_t i = 0; i < r->plan.n; i++)
        r->plan.items[i].outcome = RESTORE_PLANNED;
    r->restore.blobs = store_blobs(s->options.store, s->options.id);
    return work_run(look, w);
}

struct err *rewind_apply(struct rewind *r, struct session *s, const struct rewind_options *o,
                         struct arena *a)
{
    struct work w = {.rewind = r, .arena = a};
    struct err *e;

    TRY(look_again(r, s, &w));
    task_shield_begin(); /* half of it helps nobody */
    e = session_rewind(s, &(struct session_rewind){.turn = r->turn->number,
                                                   .seq = r->turn->seq,
                                                   .takes_messages = !o->keeps_messages,
                                                   .files = w.undo.items,
                                                   .n_files = w.undo.n});
    if (!e)
        e = work_run(change, &w);
    task_shield_end();
    return e;
}
