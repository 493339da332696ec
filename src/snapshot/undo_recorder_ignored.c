/* undo_recorder_ignored.c - notes changes in directories that git ignores, but not their contents.
 *
 * Tools create them and can create them again, they have more files than the rest, and a partial
 * former state would mislead those tools. The first paths of each are looked at again: a program
 * that opens its log without writing has changed nothing. A command that reaches more paths than
 * that has changed something. */
#include "snapshot/undo_recorder_internal.h"

#define MAX_DIRS 1000
#define IGNORED_TEXT "git ignores it, so changes by commands are not saved"

static struct ignored_dir *add_dir(struct undo_recorder *r, struct str path)
{
    struct ignored_dir *dir = ARENA_NEW(&r->by_path.arena, struct ignored_dir);
    struct path_slot *slot = path_table_put(&r->ignored, path);

    slot->value = dir;
    dir->before.path = slot->path.p;
    state_look(&dir->before);
    dir->before.is_ignored = true;
    dir->before.why_not = IGNORED_TEXT;
    undo_log_add(&r->log, &dir->before, /* has_attributes_only= */ false);
    return dir;
}

static bool has_seen(const struct ignored_dir *dir, struct str path)
{
    for (size_t i = 0; i < dir->n_seen; i++)
        if (str_is(path, dir->seen[i].path))
            return true;
    return false;
}

void undo_recorder_note_ignored(struct undo_recorder *r, struct str top, struct str path)
{
    struct path_slot *slot = path_table_find(&r->ignored, top);
    struct ignored_dir *dir = slot ? slot->value : NULL;

    if (!dir && r->ignored.n >= MAX_DIRS) {
        r->has_more_ignored = true;
        return;
    }
    if (!dir)
        dir = add_dir(r, top);
    if (dir->has_more || has_seen(dir, path))
        return;
    if (dir->n_seen == ARRAY_LEN(dir->seen)) {
        dir->has_more = true;
        return;
    }
    dir->seen[dir->n_seen].path = arena_cstr(&r->by_path.arena, path);
    state_look(&dir->seen[dir->n_seen++]);
}

void undo_recorder_note_made(struct undo_recorder *r, const struct file_state *before)
{
    struct str path = str_of(before->path);
    struct path_slot *slot = path_table_find(&r->ignored, path);
    struct ignored_dir *dir;

    undo_recorder_note_ignored(r, path, path);
    if (slot || !(slot = path_table_find(&r->ignored, path)))
        return;
    dir = slot->value;
    dir->before.kind = IMAGE_NONE;
    dir->has_more = true;
}

/* --- afterwards --- */

/* If it still is a directory, the paths in it show more. */
static bool has_changed(const struct file_state *before)
{
    struct file_state now = {.path = before->path};

    return !state_look(&now) || !state_eq(before, &now) ||
           (state_has_content(&now) && state_is_racy(before));
}

static bool was_moved(const struct file_state *before)
{
    struct file_state now = {.path = before->path};

    return before->kind == IMAGE_DIRECTORY &&
           (!state_look(&now) || now.stamp.inode != before->stamp.inode);
}

static bool has_changed_inside(const struct ignored_dir *dir)
{
    bool has_any = dir->has_more;

    for (size_t i = 0; i < dir->n_seen && !has_any; i++)
        has_any = strcmp(dir->seen[i].path, dir->before.path) != 0 && has_changed(&dir->seen[i]);
    return has_any;
}

static void look_at_dir(struct ignored_dir *dir, struct arena *a, struct pre_images *images)
{
    struct file_state now = {.path = dir->before.path};
    bool is_inside = has_changed_inside(dir);

    if (!is_inside && !has_changed(&dir->before) && !was_moved(&dir->before))
        return;
    state_look(&now);
    pre_images_add(images, a, state_image(a, &dir->before, /* keeps_content= */ !is_inside, &now));
    dir->n_seen = 0;
    dir->has_more = false;
}

void undo_recorder_look_at_ignored(struct undo_recorder *r, struct arena *a,
                                   struct pre_images *images)
{
    for (size_t i = 0; i < r->ignored.room; i++)
        if (r->ignored.slots[i].value)
            look_at_dir(r->ignored.slots[i].value, a, images);
}
