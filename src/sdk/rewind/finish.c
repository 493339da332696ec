/* finish.c - does what is left of a rewind whose process was killed.
 *
 * The journal has what files were before the turn, and behind the rewind what it found in those
 * that it was about to change. Each is as it was found, and is restored now, or as it was to
 * become. One that is neither was changed by somebody else since, and stays. */
#include "sdk/rewind/guarded.h"
#include "sdk/rewind/own_files.h"
#include "sdk/rewind/read_bodies.h"

#include "snapshot/state.h"
#include "sys/work.h"
#include "view/session_log_fields.h"

#include <stdlib.h>

struct finishing {
    struct arena *arena;
    struct unfinished_rewind which;
    struct pre_images before; /* of calls from the turn on */
    struct pre_images found;  /* by the rewind */
    struct restore_plan plan;
    struct restore_options restore;
    const struct rewind_options *options;
    const struct store *store;
    struct finished_rewind *finished;
};

static void sort_image(void *self, uint64_t seq, const struct json *body)
{
    struct finishing *f = self;
    const struct pre_image *image = pre_image_parse(body, f->arena);

    if (seq < f->which.at)
        pre_images_add(&f->before, f->arena, *image);
    else if (f->found.n < f->which.n_files)
        pre_images_add(&f->found, f->arena, *image);
}

/* What the rewind found at a path. Of what is moved back only the number and times are known. */
static bool find_left(const struct finishing *f, const struct pre_image *found,
                      struct str *ret_left)
{
    if (found->keeps_content) {
        *ret_left = found->after; /* it is the same before and after */
        return true;
    }
    if (image_sign(f->arena, found, ret_left))
        return true;
    if (found->kind == IMAGE_FILE && found->identity.inode)
        *ret_left = identity_sign(f->arena, &found->identity);
    else if (found->kind == IMAGE_OTHER)
        *ret_left = str_of(image_kind_name(found->kind));
    else
        return false;
    return true;
}

/* Only what the rewind had decided to change, and only while it is as it was found. Both lists are
 * in the order of their paths. */
static void keep_undone(struct finishing *f)
{
    size_t n = 0, k = 0;

    for (size_t i = 0; i < f->plan.n; i++) {
        struct restore_item item = f->plan.items[i];

        while (k < f->found.n && str_cmp(f->found.items[k].path, item.aim.path) < 0)
            k++;
        if (k == f->found.n || !str_eq(f->found.items[k].path, item.aim.path))
            continue;
        if (!find_left(f, &f->found.items[k], &item.aim.after))
            continue;
        item.knows_before = item.changed_between = false;
        f->plan.items[n++] = item;
    }
    f->plan.n = n;
}

static struct err *change(struct finishing *f, struct rewind_guard *g, struct strbuf *notes)
{
    struct pre_images undo; /* the journal has it already */

    TRY(restore_look(&f->plan, &f->restore, f->arena, &undo));
    TRY(rewind_guard_begin(g, f->options, &f->restore, f->store));
    restore_change(&f->plan, &f->restore, f->arena, &f->finished->report);
    return rewind_guard_check(g, notes);
}

static struct err *restore(void *arg)
{
    struct finishing *f = arg;
    AUTO(rewind_guard) struct rewind_guard g = {0};
    AUTO(strbuf) struct strbuf notes = {0};
    struct err *e = change(f, &g, &notes);

    f->finished->notes = arena_str(f->arena, strbuf_str(&notes));
    return e;
}

static void find_roots(struct finishing *f, struct session *s)
{
    const struct rewind_options *o = f->options;
    const char **roots = ARENA_ARRAY(f->arena, o->n_added_dirs + 1, const char *);
    size_t n = 0;

    for (size_t i = 0; i <= o->n_added_dirs; i++) {
        AUTO_FREE char *real = realpath(i ? o->added_dirs[i - 1] : o->workspace, NULL);

        if (real)
            roots[n++] = arena_cstr(f->arena, str_of(real));
    }
    f->restore = (struct restore_options){
        .roots = roots,
        .n_roots = n,
        .blobs = store_blobs(s->options.store, s->options.id),
        .home = rewind_home_outside(o->home, roots, n, f->arena),
        .own = own_files(s->options.store, o->workspace, o->added_dirs, o->n_added_dirs, f->arena)};
}

/* Not even the journal had all of it: once more from the beginning. */
static struct err *do_again(struct finishing *f, struct session *s)
{
    struct rewind_options again = *f->options;
    struct rewind r;

    again.turn = f->which.turn;
    again.keeps_messages = !f->which.takes_messages;
    again.keeps_files = f->which.keeps_files;
    again.force = f->which.force;
    TRY(rewind_plan(s->options.store, s->options.id, &again, f->arena, &r));
    TRY(rewind_apply(&r, s, &again, f->arena));
    f->finished->report = r.report;
    f->finished->notes = r.notes;
    return NULL;
}

static struct err *finish_files(struct finishing *f, struct session *s)
{
    TRY(bodies_read(s->options.store, s->options.id, "pre_image", f->which.from, f->arena,
                    sort_image, f));
    restore_plan(f->before.items, f->before.n, f->arena, &f->plan);
    keep_undone(f);
    find_roots(f, s);
    TRY(work_run(restore, f));
    return session_rewind_end(s);
}

struct err *rewind_finish(struct session *s, const struct rewind_options *o, struct arena *a,
                          struct finished_rewind *ret_finished)
{
    struct finishing f = {.arena = a,
                          .which = session_unfinished_rewind(s),
                          .options = o,
                          .store = s->options.store,
                          .finished = ret_finished};

    *ret_finished = (struct finished_rewind){0};
    if (!f.which.turn || !str_eq(s->loaded.summary.cwd, s->options.cwd))
        return NULL;
    ret_finished->turn = f.which.turn;
    return f.which.is_told ? finish_files(&f, s) : do_again(&f, s);
}
