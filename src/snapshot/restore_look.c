/* restore_look.c - finds out which items of a plan may, and which must be restored. */
#include "snapshot/restore_internal.h"

#include "base/quoted.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_NAMED 3 /* of files that stay in a directory */

void restore_end_item(struct restore_item *item, enum restore_outcome outcome, struct str why)
{
    item->outcome = outcome;
    item->why = why;
}

void restore_fail_item(struct restoring *r, struct restore_item *item, const char *what)
{
    restore_end_item(item, RESTORE_FAILED, arena_format(r->arena, "%s: %s", what, strerror(errno)));
}

/* --- permitted? --- */

bool restore_is_inside(const struct restore_options *o, struct str path)
{
    struct str rest = path, name;

    if (path.n == 0 || path.p[0] != '/' || str_find_char(path, '\0') != STR_NONE)
        return false;
    rest = str_skip(rest, 1);
    while (str_split(&rest, '/', &name))
        if (name.n == 0 || str_is(name, ".") || str_is(name, ".."))
            return false;
    for (size_t i = 0; i < o->n_roots; i++) {
        struct str root = str_of(str_is(str_of(o->roots[i]), "/") ? "" : o->roots[i]);

        if (path.n > root.n + 1 && str_starts(path, root) && path.p[root.n] == '/')
            return true;
    }
    return false;
}

/* Only permissions and owner of the workspace itself are restored. */
static bool is_root(const struct restore_options *o, const struct pre_image *aim)
{
    for (size_t i = 0; i < o->n_roots; i++)
        if (str_is(aim->path, o->roots[i]))
            return aim->kind == IMAGE_DIRECTORY;
    return false;
}

static bool is_own(const struct restore_options *o, struct str path)
{
    struct str home = str_of(o->home);

    if (home.n && str_starts(path, home) && (path.n == home.n || path.p[home.n] == '/'))
        return true;
    return o->own && o->own->is_hidden(o->own->self, path, /* is_dir= */ false);
}

/* Looks at the present state. */
static void look_at_path(struct restoring *r, struct restore_item *item, struct file_state *now)
{
    const struct pre_image *aim = &item->aim;

    if (!restore_is_inside(r->options, aim->path) && !is_root(r->options, aim)) {
        restore_end_item(item, RESTORE_IMPOSSIBLE, S("it is outside the workspace"));
        return;
    }
    if (is_own(r->options, aim->path)) {
        restore_end_item(item, RESTORE_IMPOSSIBLE, S("it belongs to keel itself"));
        return;
    }
    now->path = arena_cstr(r->arena, aim->path);
    if (!state_look(now))
        restore_end_item(item, RESTORE_FAILED, S("keel has no access to it"));
    else if (is_root(r->options, aim) && now->kind != IMAGE_DIRECTORY)
        restore_end_item(item, RESTORE_FAILED, S("the workspace no longer exists"));
    else if (r->options->unlocked && str_is(aim->path, r->options->unlocked))
        now->mode = r->options->unlocked_mode;
}

/* --- needed? --- */

static bool has_owner(const struct pre_image *aim, const struct file_state *now)
{
    return !aim->has_owner || (aim->uid == now->uid && aim->gid == now->gid);
}

/* Is it a separate file, or the one that it shared with other names? */
static bool has_names(const struct pre_image *aim, const struct file_state *now)
{
    return !aim->n_names || (aim->n_names == 1 && now->n_names <= 1) ||
           (aim->inode == now->stamp.inode && aim->device == now->stamp.device);
}

static bool is_as_it_was(struct arena *a, const struct pre_image *aim, const struct file_state *now)
{
    struct str was;

    if (aim->kind != now->kind || aim->mode != now->mode || !has_owner(aim, now) ||
        !has_names(aim, now) || (aim->has_xattrs && !state_has_xattrs(now, aim->xattrs)))
        return false;
    return aim->keeps_content || (image_sign(a, aim, &was) && str_eq(was, state_sign(a, now)));
}

/* Is it as the last call left it, or as before that call, as after a restore that died on its
 * way? */
static bool is_as_left(struct arena *a, const struct file_state *now,
                       const struct restore_item *item)
{
    struct file_state unread = *now;
    struct str sign;

    unread.is_known &= !str_starts(item->aim.after, S("stamp:"));
    sign = state_sign(a, &unread);
    return str_eq(sign, item->aim.after) || (item->knows_before && str_eq(sign, item->before));
}

bool restore_must_go(const struct restore_item *item, const struct file_state *now)
{
    bool is_dir = now->kind == IMAGE_DIRECTORY, was_dir = item->aim.kind == IMAGE_DIRECTORY;

    return item->outcome == RESTORE_PLANNED && now->kind != IMAGE_NONE &&
           (item->aim.kind == IMAGE_NONE || is_dir != was_dir);
}

/* Does the file keep names that the plan does not touch? */
static bool has_other_names(const struct restoring *r, const struct file_state *now)
{
    unsigned n = 0;

    for (size_t i = 0; i < r->plan->n; i++) {
        const struct file_state *other = &r->plan->now[i];

        if (other->stamp.inode != now->stamp.inode || other->stamp.device != now->stamp.device ||
            r->plan->items[i].aim.keeps_content)
            continue;
        if (restore_is_in_place(&r->plan->items[i].aim, other))
            return false; /* it is written in place */
        n++;
    }
    return now->n_names > n;
}

static bool is_in_its_place(const struct pre_image *aim, const struct file_state *now)
{
    return aim->kind == now->kind && aim->identity.inode == now->stamp.inode;
}

/* A file that could not be saved can be moved back, or is still there, or is lost. */
static bool judge_unsaved(struct restore_item *item, const struct file_state *now,
                          const struct restore_move *move)
{
    struct pre_image *aim = &item->aim;

    if (aim->kind != IMAGE_DIRECTORY &&
        state_compare_identity(now, aim->kind, &aim->identity) == SAME_FILE_YES)
        aim->keeps_content = true;
    else if (aim->is_ignored && aim->kind == IMAGE_NONE && now->kind == IMAGE_NONE)
        aim->keeps_content = true;
    else if (aim->is_ignored && aim->keeps_content && is_in_its_place(aim, now))
        ;
    else if (!move->from && !(move->is_source && aim->kind == IMAGE_NONE))
        return false;
    aim->why_not = (struct str){0};
    return true;
}

static void judge_change(struct restoring *r, struct restore_item *item,
                         const struct file_state *now, const struct restore_move *move)
{
    const struct pre_image *aim = &item->aim;
    bool keeps_content = aim->keeps_content && !move->from;
    bool is_replaced = !keeps_content && !move->is_source && state_has_content(now);

    if (keeps_content && aim->kind != now->kind)
        restore_end_item(item, RESTORE_CONFLICT, S("something else is there now"));
    else if (r->options->force)
        return;
    else if (!keeps_content && !is_as_left(r->arena, now, item))
        restore_end_item(item, RESTORE_CONFLICT, S("it has changed since"));
    else if (item->changed_between)
        restore_end_item(item, RESTORE_CONFLICT, S("someone else changed it in the meantime"));
    else if (is_replaced && now->why_not && !has_other_names(r, now))
        restore_end_item(
            item, RESTORE_CONFLICT,
            arena_format(r->arena, "it cannot be saved before it is replaced: %s", now->why_not));
}

static struct err *judge_item(struct restoring *r, struct restore_item *item,
                              struct file_state *now, const struct restore_move *move)
{
    uint64_t max_bytes = r->options->max_file_bytes;
    struct pre_image *aim = &item->aim;
    struct str was;

    max_bytes = max_bytes ? max_bytes : RESTORE_MAX_BYTES;
    if ((aim->why_not.n || !(aim->keeps_content || image_sign(r->arena, aim, &was))) &&
        !judge_unsaved(item, now, move)) {
        restore_end_item(item, aim->is_ignored ? RESTORE_LEFT : RESTORE_IMPOSSIBLE,
                         aim->why_not.n ? aim->why_not : S("it was not saved"));
        return NULL;
    }
    if (state_has_content(now) && !(aim->keeps_content && now->kind == aim->kind))
        TRY(state_read(now, max_bytes, move->is_source ? NULL : r->options->blobs, &r->bytes));
    if (r->options->blobs)
        TRY(state_save_xattrs(now, r->options->blobs));
    if (is_as_it_was(r->arena, aim, now))
        restore_end_item(item, RESTORE_NOT_NEEDED, (struct str){0});
    else
        judge_change(r, item, now, move);
    return NULL;
}

/* --- directories that cannot be removed --- */

/* Will this name be gone when its directory is removed? */
static bool goes_away(const struct restoring *r, struct str path)
{
    const struct path_slot *slot = path_table_find(&r->by_path, path);
    const struct restore_item *item;

    if (path_table_find(&r->sources, path))
        return true;
    if (!slot)
        return false;
    item = slot->value;
    return restore_must_go(item, &r->plan->now[item - r->plan->items]) ||
           (item->aim.kind == IMAGE_NONE && item->outcome == RESTORE_NOT_NEEDED);
}

static void name_staying(struct restoring *r, const char *dir, DIR *list, struct strbuf *out)
{
    const struct dirent *entry;
    size_t n = 0;

    while ((entry = readdir(list))) {
        AUTO(strbuf) struct strbuf path = {0};

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        strbuf_addf(&path, "%s/%s", dir, entry->d_name);
        if (goes_away(r, strbuf_str(&path)))
            continue;
        if (n++ < MAX_NAMED) {
            strbuf_add_cstr(out, n > 1 ? ", " : "");
            quoted_add(out, str_of(entry->d_name));
        }
    }
    if (n > MAX_NAMED)
        strbuf_addf(out, " and %zu more", n - MAX_NAMED);
}

/* It contains .git, or files of another program or person. */
static void keep_filled(struct restoring *r, struct restore_item *item,
                        const struct file_state *now, const struct restore_move *move)
{
    AUTO(unlocks) struct unlocks unlocks = {0};
    AUTO(strbuf) struct strbuf names = {0};
    DIR *list;

    if (now->kind != IMAGE_DIRECTORY || !restore_must_go(item, now) || move->is_source)
        return;
    list = plain_open_list(now->path, &unlocks);
    if (!list)
        return; /* removing it fails and reports it */
    name_staying(r, now->path, list, &names);
    closedir(list);
    if (names.n)
        restore_end_item(item, RESTORE_LEFT,
                         arena_format(r->arena, "it still contains %s, which keel did not save",
                                      strbuf_cstr(&names)));
}

/* --- all --- */

bool restore_make_undo(struct restoring *r, size_t i, struct pre_image *ret_undo)
{
    const struct pre_image *aim = &r->plan->items[i].aim;
    const struct restore_move *move = &r->plan->moves[i];
    struct file_state now = r->plan->now[i];
    bool is_moved_dir = move->is_source && now.kind == IMAGE_DIRECTORY;
    bool keeps_content = is_moved_dir || (aim->keeps_content && !move->from);

    now.is_ignored = aim->is_ignored || is_moved_dir;
    if (is_moved_dir)
        now.why_not = "its contents were moved, and not saved";
    *ret_undo = state_image(r->arena, &now, keeps_content, NULL);
    ret_undo->has_xattrs |= aim->has_xattrs;
    if (move->from) {
        ret_undo->after = aim->kind == IMAGE_FILE ? identity_sign(r->arena, &move->is)
                                                  : str_of(image_kind_name(aim->kind));
        return true;
    }
    if (!aim->keeps_content)
        return image_sign(r->arena, aim, &ret_undo->after);
    ret_undo->after = state_sign(r->arena, &now);
    return true;
}

/* Adds an image for a file that is moved away from a path outside the plan, so that it can be moved
 * there again. */
static void add_source_undo(struct restoring *r, size_t i, struct pre_images *undo)
{
    const struct restore_move *move = &r->plan->moves[i];
    struct file_state now = {.path = move->from};

    if (!move->from || move->is_link || move->source != SIZE_MAX || !state_look(&now))
        return;
    now.is_ignored = r->plan->items[i].aim.is_ignored;
    now.why_not = "it was moved, and not saved";
    pre_images_add(undo, r->arena, state_image(r->arena, &now, now.kind == IMAGE_DIRECTORY, NULL));
}

static int by_path(const void *a, const void *b)
{
    return str_cmp(((const struct pre_image *)a)->path, ((const struct pre_image *)b)->path);
}

static void add_undo(struct restoring *r, struct pre_images *undo)
{
    struct pre_image image;

    for (size_t i = 0; i < r->plan->n; i++) {
        if (r->plan->items[i].outcome != RESTORE_PLANNED)
            continue;
        if (restore_make_undo(r, i, &image))
            pre_images_add(undo, r->arena, image);
        add_source_undo(r, i, undo);
    }
    if (undo->n)
        qsort(undo->items, undo->n, sizeof *undo->items, by_path);
}

static void index_paths(struct restoring *r)
{
    for (size_t i = 0; i < r->plan->n; i++)
        path_table_put(&r->by_path, r->plan->items[i].aim.path)->value = &r->plan->items[i];
}

static struct err *look(struct restoring *r, struct pre_images *undo)
{
    struct restore_plan *plan = r->plan;

    index_paths(r);
    for (size_t i = 0; i < plan->n; i++)
        look_at_path(r, &plan->items[i], &plan->now[i]);
    restore_find_moves(r);
    for (size_t i = 0; i < plan->n; i++)
        if (plan->items[i].outcome == RESTORE_PLANNED)
            TRY(judge_item(r, &plan->items[i], &plan->now[i], &plan->moves[i]));
    do { /* what stays may be in the way of a move, and what is not moved stays */
        restore_settle_moves(r);
        for (size_t i = plan->n; i-- > 0;)
            keep_filled(r, &plan->items[i], &plan->now[i], &plan->moves[i]);
    } while (!restore_moves_are_settled(r));
    add_undo(r, undo);
    return r->options->blobs ? blob_sync(r->options->blobs) : NULL;
}

/* A plan is looked at again before it is carried out. */
static void reset_items(struct restore_plan *plan, struct arena *a)
{
    bool is_first = !plan->aims;

    if (is_first)
        plan->aims = ARENA_ARRAY(a, plan->n + 1, struct pre_image);
    for (size_t i = 0; i < plan->n; i++) {
        struct restore_item *item = &plan->items[i];

        if (is_first)
            plan->aims[i] = item->aim;
        item->aim = plan->aims[i];
        item->moves = false;
        restore_end_item(item, RESTORE_PLANNED, (struct str){0});
    }
}

struct err *restore_look(struct restore_plan *plan, const struct restore_options *options,
                         struct arena *a, struct pre_images *ret_undo)
{
    struct restoring r = {.options = options,
                          .arena = a,
                          .plan = plan,
                          .bytes = {.max_bytes = RESTORE_MAX_BYTES + (1 << 18)}};
    struct err *e;

    reset_items(plan, a);
    plan->now = ARENA_ARRAY(a, plan->n + 1, struct file_state);
    plan->moves = ARENA_ARRAY(a, plan->n + 1, struct restore_move);
    *ret_undo = (struct pre_images){0};
    e = look(&r, ret_undo);
    path_table_done(&r.by_path);
    path_table_done(&r.sources);
    strbuf_done(&r.bytes);
    return e;
}
