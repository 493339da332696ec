/* restore_moves.c - moves files back that could not be saved.
 *
 * A file is identified by its inode number and its times. The workspace is searched only for files
 * that are not at a path of the plan. There are no temporary names, which a killed process would
 * leave: two files that have each other's names exchange them. Files that cannot be moved stay. */
#include "snapshot/restore_internal.h"

#include "base/quoted.h"
#include "sys/auto_fd.h"
#include "sys/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

#define NO_ITEM SIZE_MAX

struct move_search {
    struct restoring *restoring;
    struct path_table wanted; /* by number: the first item for this file, plus 1 */
    const char *root;
    pthread_mutex_t lock;
};

static struct str number_key(uint64_t device, uint64_t inode, char text[48])
{
    return str_make(text, (size_t)snprintf(text, 48, "%llx:%llx", (unsigned long long)device,
                                           (unsigned long long)inode));
}

/* --- wanted files --- */

static bool is_unsaved(struct arena *a, const struct pre_image *aim)
{
    struct str was;

    return aim->why_not.n || !(aim->keeps_content || image_sign(a, aim, &was));
}

static void want(struct move_search *x, size_t i)
{
    struct restoring *r = x->restoring;
    const struct restore_item *item = &r->plan->items[i];
    const struct file_identity *id = &item->aim.identity;
    struct path_slot *slot;
    char key[48];

    r->plan->moves[i].source = r->plan->moves[i].next = NO_ITEM;
    if (item->outcome != RESTORE_PLANNED || !id->inode || !is_unsaved(r->arena, &item->aim) ||
        state_compare_identity(&r->plan->now[i], item->aim.kind, id) != SAME_FILE_NO)
        return;
    slot = path_table_put(&x->wanted, number_key(id->device, id->inode, key));
    if (slot->value)
        r->plan->moves[i].next = (size_t)(uintptr_t)slot->value - 1;
    slot->value = (void *)(uintptr_t)(i + 1);
}

static size_t first_wanted(const struct move_search *x, uint64_t device, uint64_t inode)
{
    char key[48];
    const struct path_slot *slot = path_table_find(&x->wanted, number_key(device, inode, key));

    return slot ? (size_t)(uintptr_t)slot->value - 1 : NO_ITEM;
}

/* --- searching --- */

/* Was this name one of the file before the first call? Then the file keeps it. */
static bool keeps_name(const struct pre_image *aim, const struct file_state *now)
{
    return aim->kind == IMAGE_FILE &&
           (aim->identity.inode ? aim->identity.inode : aim->inode) == now->stamp.inode;
}

static void take_source(struct restoring *r, size_t i, const struct file_state *found, size_t at,
                        bool is_changed)
{
    struct restore_move *move = &r->plan->moves[i];

    *move = (struct restore_move){
        .from = arena_cstr(r->arena, str_of(found->path)),
        .source = at,
        .next = move->next,
        .is_source = move->is_source,
        .is_changed = is_changed,
        .is_link = at == NO_ITEM ? r->plan->items[i].aim.n_names > 1
                                 : keeps_name(&r->plan->items[at].aim, found),
        .is = {.device = found->stamp.device,
               .inode = found->stamp.inode,
               .size = found->stamp.size,
               .mtime_ns = found->stamp.mtime_ns,
               .ctime_ns = found->stamp.ctime_ns},
    };
    if (at != NO_ITEM)
        r->plan->moves[at].is_source = !move->is_link;
}

/* `at` is the item of the path; NO_ITEM: none. */
static void offer(struct move_search *x, const struct file_state *found, size_t at)
{
    struct restoring *r = x->restoring;
    size_t i = first_wanted(x, found->stamp.device, found->stamp.inode);

    for (; i != NO_ITEM; i = r->plan->moves[i].next) {
        const struct pre_image *aim = &r->plan->items[i].aim;
        enum same_file same = state_compare_identity(found, aim->kind, &aim->identity);

        if (r->plan->moves[i].from || same == SAME_FILE_NO)
            continue;
        if (same != SAME_FILE_UNSURE)
            take_source(r, i, found, at, same == SAME_FILE_CHANGED);
        else if (at != NO_ITEM)
            restore_end_item(&r->plan->items[at], RESTORE_LEFT,
                             arena_format(r->arena,
                                          "it may be the rest of %" STR_FMT
                                          ", which could not be saved",
                                          STR_ARG(quoted(r->arena, aim->path))));
        return;
    }
}

static bool visit_moved(void *self, void *thread, const struct walk_entry *entry)
{
    struct move_search *x = self;
    AUTO(strbuf) struct strbuf path = {0};
    struct file_state found = {0};
    struct stat st;

    if (fstatat(entry->dir_fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        first_wanted(x, st.st_dev, st.st_ino) == NO_ITEM)
        return true;
    add_walked_path(&path, x->root, entry->path);
    found.path = strbuf_cstr(&path);
    pthread_mutex_lock(&x->lock);
    if (!path_table_find(&x->restoring->by_path, strbuf_str(&path)) && state_look(&found))
        offer(x, &found, NO_ITEM);
    pthread_mutex_unlock(&x->lock);
    return true;
}

static void search_workspace(struct move_search *x)
{
    const struct restore_options *o = x->restoring->options;
    AUTO(virtual_places) struct virtual_places places;

    virtual_places_find(&places, o->roots, o->n_roots);
    for (size_t i = 0; i < o->n_roots; i++) {
        struct virtual_filter filter = {&places, o->roots[i]};
        struct walk_options options = {.root = o->roots[i],
                                       .hidden = true,
                                       .no_ignore = true,
                                       .is_left_out = virtual_filter_leaves_out,
                                       .self = &filter};
        struct walk_visitor visitor = {.visit = visit_moved, .self = x};
        struct walk_report report;

        x->root = o->roots[i];
        err_ignore(walk_run(&options, &visitor, &report), "then it is not found");
    }
}

/* Another item for the same file is there, or will be: this is one more name of it. */
static void share_source(struct restoring *r, size_t first)
{
    size_t i = first;

    while (i != NO_ITEM && !r->plan->moves[i].from)
        i = r->plan->moves[i].next;
    for (size_t k = first; i != NO_ITEM && k != NO_ITEM; k = r->plan->moves[k].next) {
        struct restore_move *move = &r->plan->moves[k];

        if (move->from || r->plan->items[k].aim.kind != IMAGE_FILE)
            continue;
        move->from = r->plan->now[i].path;
        move->is = r->plan->moves[i].is;
        move->is_changed = r->plan->moves[i].is_changed;
        move->is_link = true;
    }
}

static bool has_all(const struct move_search *x)
{
    for (size_t i = 0; i < x->wanted.room; i++)
        if (x->wanted.slots[i].value &&
            !x->restoring->plan->moves[(size_t)(uintptr_t)x->wanted.slots[i].value - 1].from)
            return false;
    return true;
}

void restore_find_moves(struct restoring *r)
{
    struct move_search x = {.restoring = r, .lock = PTHREAD_MUTEX_INITIALIZER};

    for (size_t i = 0; i < r->plan->n; i++)
        want(&x, i);
    for (size_t i = 0; i < r->plan->n && x.wanted.n; i++)
        if (r->plan->now[i].path && r->plan->now[i].kind != IMAGE_NONE)
            offer(&x, &r->plan->now[i], i);
    if (!has_all(&x))
        search_workspace(&x);
    for (size_t i = 0; i < x.wanted.room; i++)
        if (x.wanted.slots[i].value)
            share_source(r, (size_t)(uintptr_t)x.wanted.slots[i].value - 1);
    path_table_done(&x.wanted);
}

/* --- permitted? --- */

static void keep_source(struct restoring *r, size_t source, const struct restore_item *of)
{
    struct restore_item *item = source == NO_ITEM ? NULL : &r->plan->items[source];

    if (!item || item->outcome != RESTORE_PLANNED || !r->plan->moves[source].is_source)
        return;
    item->moves = false;
    restore_end_item(item, RESTORE_LEFT,
                     arena_format(r->arena, "it is %" STR_FMT ", which is not moved back",
                                  STR_ARG(quoted(r->arena, of->aim.path))));
}

static bool source_stays(const struct restoring *r, const struct restore_move *move)
{
    const struct restore_item *source =
        move->source == NO_ITEM ? NULL : &r->plan->items[move->source];

    return source && !move->is_link && source->outcome != RESTORE_PLANNED &&
           source->outcome != RESTORE_IMPOSSIBLE;
}

static bool has_items_in(const struct restoring *r, const char *dir)
{
    struct str from = str_of(dir);

    for (size_t i = 0; i < r->plan->n; i++) {
        struct str path = r->plan->items[i].aim.path;

        if (path.n > from.n && str_starts(path, from) && path.p[from.n] == '/')
            return true;
    }
    return false;
}

static void settle_move(struct restoring *r, size_t i)
{
    struct restore_item *item = &r->plan->items[i];
    struct restore_move *move = &r->plan->moves[i];
    struct restore_item *source = move->source == NO_ITEM ? NULL : &r->plan->items[move->source];
    struct str from = quoted(r->arena, str_of(move->from));

    if (source_stays(r, move))
        restore_end_item(item,
                         source->outcome == RESTORE_CONFLICT ? RESTORE_CONFLICT : RESTORE_LEFT,
                         arena_format(r->arena, "it is now at %" STR_FMT ", which stays: %" STR_FMT,
                                      STR_ARG(from), STR_ARG(source->why)));
    if (item->aim.kind == IMAGE_DIRECTORY && has_items_in(r, move->from))
        restore_end_item(item, RESTORE_LEFT,
                         arena_format(r->arena,
                                      "it is now at %" STR_FMT ", where files in it were changed",
                                      STR_ARG(from)));
    if (item->outcome != RESTORE_PLANNED) {
        keep_source(r, move->source, item);
        move->from = NULL;
        return;
    }
    if (move->is_link)
        return;
    item->why = arena_format(r->arena, "it is moved back from %" STR_FMT, STR_ARG(from));
    path_table_put(&r->sources, str_of(move->from));
    if (source) {
        source->moves = true;
        source->why = arena_format(r->arena, "it is moved back to %" STR_FMT,
                                   STR_ARG(quoted(r->arena, item->aim.path)));
    }
}

void restore_settle_moves(struct restoring *r)
{
    path_table_done(&r->sources);
    for (size_t i = 0; i < r->plan->n; i++)
        if (r->plan->moves[i].from)
            settle_move(r, i);
}

bool restore_moves_are_settled(const struct restoring *r)
{
    for (size_t i = 0; i < r->plan->n; i++) {
        const struct restore_move *move = &r->plan->moves[i];

        if (move->from && (r->plan->items[i].outcome != RESTORE_PLANNED || source_stays(r, move)))
            return false;
    }
    return true;
}

/* --- moving --- */

static bool rename_to(int from_fd, const char *from_name, int dir_fd, const char *name,
                      unsigned flags)
{
    if (renameat2(from_fd, from_name, dir_fd, name, flags) == 0)
        return true;
    return errno == EINVAL && flags == RENAME_NOREPLACE &&
           faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
           renameat(from_fd, from_name, dir_fd, name) == 0;
}

/* The file of this path is at the other one now. */
static void follow_exchange(struct restoring *r, size_t i)
{
    const struct restore_move *move = &r->plan->moves[i];

    for (size_t k = 0; k < r->plan->n; k++)
        if (k != i && r->plan->moves[k].from && r->plan->moves[k].source == i) {
            r->plan->moves[k].from = move->from;
            r->plan->moves[k].source = move->source;
        }
    r->plan->moves[i].is_source = false;
}

static void leave_source(struct restoring *r, size_t source)
{
    if (source == NO_ITEM)
        return;
    r->plan->moves[source].is_source = false;
    r->plan->moves[source].is_gone = true;
    if (r->plan->items[source].aim.kind == IMAGE_NONE)
        restore_end_item(&r->plan->items[source], RESTORE_DONE, (struct str){0});
}

static bool is_still_there(int fd, const char *name, const struct file_identity *is)
{
    struct stat st;

    if (fd < 0 || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    errno = ESTALE;
    return st.st_ino == is->inode && st.st_dev == is->device;
}

/* Restores its name; owner and permissions come next. */
static bool move_name(struct restoring *r, size_t i, int dir_fd, const char *name)
{
    const struct restore_move *move = &r->plan->moves[i];
    const char *from_name;
    AUTO_FD from_fd = plain_open_writable(move->from, &r->unlocks, &from_name);

    if (!is_still_there(from_fd, from_name, &move->is))
        return false;
    if (move->is_link)
        return restore_put_name(r, dir_fd, name, move->from);
    if (r->plan->moves[i].is_source) {
        if (!rename_to(from_fd, from_name, dir_fd, name, RENAME_EXCHANGE))
            return false;
        follow_exchange(r, i);
        return true;
    }
    if (!rename_to(from_fd, from_name, dir_fd, name,
                   r->plan->now[i].kind == IMAGE_NONE || move->is_gone ? RENAME_NOREPLACE : 0))
        return false;
    leave_source(r, move->source);
    return true;
}

static void move_item(struct restoring *r, size_t i)
{
    struct restore_item *item = &r->plan->items[i];
    const char *name;
    AUTO_FD dir_fd = restore_open_parent(r, r->plan->now[i].path, &name);

    if (dir_fd < 0 || !move_name(r, i, dir_fd, name)) {
        AUTO(strbuf) struct strbuf what = {0};

        strbuf_add_cstr(&what, "it cannot be moved back from ");
        quoted_add(&what, str_of(r->plan->moves[i].from));
        restore_fail_item(r, item, strbuf_cstr(&what));
        keep_source(r, r->plan->moves[i].source, item);
        return;
    }
    restore_put_attributes(r, item, dir_fd, name);
    if (item->outcome == RESTORE_DONE && item->aim.is_ignored &&
        item->aim.kind == IMAGE_DIRECTORY && !item->aim.keeps_content)
        restore_end_item(item, RESTORE_PARTLY,
                         S("it is back, but git ignores it, so its contents were not saved"));
    if (item->outcome == RESTORE_DONE && r->plan->moves[i].is_changed)
        restore_end_item(item, RESTORE_PARTLY,
                         S("it is back, but its content has changed and was not saved"));
}

void restore_do_moves(struct restoring *r)
{
    for (int is_link = 0; is_link < 2; is_link++)
        for (size_t i = 0; i < r->plan->n; i++) {
            const struct restore_move *move = &r->plan->moves[i];

            if (move->from && move->is_link == is_link &&
                r->plan->items[i].outcome == RESTORE_PLANNED)
                move_item(r, i);
        }
}
