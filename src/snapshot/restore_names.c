/* restore_names.c - finds the names of a plan that are one file, and those that still are that
 * file. */
#include "snapshot/restore_internal.h"

#include "snapshot/plain.h"
#include "sys/walk.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

struct anchor_search {
    struct restoring *restoring;
    const char *root;
    pthread_mutex_t lock;
    struct path_table planned; /* paths that are restored by themselves */
};

static struct str inode_key(uint64_t device, uint64_t inode, char text[48])
{
    return str_make(text, (size_t)snprintf(text, 48, "%llx:%llx", (unsigned long long)device,
                                           (unsigned long long)inode));
}

struct linked_names *restore_names_of(struct restoring *r, const struct pre_image *aim)
{
    char key[48];
    struct path_slot *slot =
        aim->n_names > 1 && aim->kind == IMAGE_FILE
            ? path_table_find(&r->names, inode_key(aim->device, aim->inode, key))
            : NULL;

    return slot ? slot->value : NULL;
}

bool restore_is_in_place(const struct pre_image *aim, const struct file_state *now)
{
    return aim->n_names > 1 && aim->kind == IMAGE_FILE && now->kind == IMAGE_FILE &&
           aim->device == now->stamp.device && aim->inode == now->stamp.inode;
}

static bool may_be_anchor(const struct restore_item *item)
{
    return item->outcome == RESTORE_PLANNED || item->outcome == RESTORE_NOT_NEEDED;
}

static void note_name(struct restoring *r, const struct restore_item *item,
                      const struct file_state *now)
{
    struct linked_names *names;
    struct path_slot *slot;
    char key[48];

    if (item->aim.n_names < 2 || item->aim.kind != IMAGE_FILE || !now->path)
        return;
    slot = path_table_put(&r->names, inode_key(item->aim.device, item->aim.inode, key));
    if (!slot->value)
        slot->value = ARENA_NEW(&r->names.arena, struct linked_names);
    names = slot->value;
    names->n++;
    names->n_all = MAX(names->n_all, item->aim.n_names);
    if (item->aim.content.n)
        names->content = item->aim.content;
    if (may_be_anchor(item) && restore_is_in_place(&item->aim, now))
        names->anchor = now->path;
}

static struct linked_names *find_file(struct restoring *r, uint64_t device, uint64_t inode)
{
    char key[48];
    struct path_slot *slot = path_table_find(&r->names, inode_key(device, inode, key));

    return slot ? slot->value : NULL;
}

static bool holds(struct restoring *r, const char *path, struct str content)
{
    struct file_state f = {.path = path};
    struct err *e = state_look(&f) && f.kind == IMAGE_FILE
                        ? state_read(&f, RESTORE_MAX_BYTES, NULL, &r->bytes)
                        : NULL;

    err_ignore(e, "nothing is stored");
    return f.is_known && str_eq(state_sign(r->arena, &f), content);
}

/* A name that was the only one left when its call changed it. */
static void join_names(struct restoring *r, struct restore_item *item, const struct file_state *now)
{
    struct linked_names *names = find_file(r, item->aim.device, item->aim.inode);

    if (item->aim.n_names != 1 || item->aim.kind != IMAGE_FILE || !now->path || !names ||
        names->n >= names->n_all)
        return;
    if (item->aim.keeps_content ? !holds(r, now->path, names->content)
                                : !str_eq(names->content, item->aim.content))
        return;
    item->aim.n_names = names->n_all;
    note_name(r, item, now);
    /* It has its former content, but in a separate file: it gets the name again. */
    if (item->outcome == RESTORE_NOT_NEEDED && !item->aim.keeps_content &&
        !restore_is_in_place(&item->aim, now))
        restore_end_item(item, RESTORE_PLANNED, (struct str){0});
}

static void count_once(struct restoring *r, const struct restore_item *item, uint64_t device,
                       uint64_t inode)
{
    struct linked_names *names = find_file(r, device, inode);

    if (!names || names == restore_names_of(r, &item->aim) || names->counted_for == item)
        return;
    names->n_new++;
    names->counted_for = item;
}

/* Counts a name of these files that was something else before the first call: once for each. */
static void count_new_name(struct restoring *r, const struct restore_item *item,
                           const struct file_state *now)
{
    for (size_t i = 0; i < item->n_became; i++)
        count_once(r, item, item->became[i]->device, item->became[i]->inode);
    if (now->path && now->kind == IMAGE_FILE)
        count_once(r, item, now->stamp.device, now->stamp.inode);
}

/* The last remaining name of a file had no other when it was changed. A name that was another file
 * before does not count, even with the same content. */
static bool adopt_name(struct restoring *r, struct restore_item *item, const struct file_state *now)
{
    bool was_another = item->aim.inode && (item->aim.inode != now->stamp.inode ||
                                           item->aim.device != now->stamp.device);
    struct linked_names *names;

    if (!now->path || now->kind != IMAGE_FILE || !may_be_anchor(item) || item->aim.n_names > 1 ||
        item->aim.kind != IMAGE_FILE || was_another)
        return false;
    names = find_file(r, now->stamp.device, now->stamp.inode);
    if (!names || names->anchor || !str_eq(names->content, item->aim.content))
        return false;
    names->n++;
    names->anchor = now->path;
    item->aim.n_names = names->n_all;
    item->aim.device = now->stamp.device;
    item->aim.inode = now->stamp.inode;
    return true;
}

/* Finds names that no call has touched, by a walk. */
static bool visit_name(void *self, void *thread, const struct walk_entry *entry)
{
    struct anchor_search *x = self;
    AUTO(strbuf) struct strbuf path = {0};
    struct linked_names *names;
    struct path_slot *slot;
    struct stat st;
    char key[48];

    if (entry->is_dir) {
        pthread_mutex_lock(&x->lock);
        plain_unlock(&x->restoring->unlocks, entry->dir_fd, entry->name);
        pthread_mutex_unlock(&x->lock);
    }
    if (!entry->is_file || fstatat(entry->dir_fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(st.st_mode))
        return true;
    add_walked_path(&path, x->root, entry->path);
    pthread_mutex_lock(&x->lock);
    slot = path_table_find(&x->restoring->names, inode_key(st.st_dev, st.st_ino, key));
    names = slot ? slot->value : NULL;
    if (names && !names->anchor && names->was_missing &&
        !path_table_find(&x->planned, strbuf_str(&path))) {
        names->anchor = arena_cstr(x->restoring->arena, strbuf_str(&path));
        names->n++;
    }
    pthread_mutex_unlock(&x->lock);
    return true;
}

/* Another file may have got its number since: then its content differs. */
static void check_anchor(struct restoring *r, struct linked_names *names)
{
    if (!names || !names->was_missing || !names->anchor || holds(r, names->anchor, names->content))
        return;
    names->anchor = NULL;
    names->n--;
}

static void search_names(struct restoring *r)
{
    struct anchor_search x = {.restoring = r, .lock = PTHREAD_MUTEX_INITIALIZER};
    AUTO(virtual_places) struct virtual_places places;

    virtual_places_find(&places, r->options->roots, r->options->n_roots);
    for (size_t i = 0; i < r->plan->n; i++)
        path_table_put(&x.planned, r->plan->items[i].aim.path);
    for (size_t i = 0; i < r->options->n_roots; i++) {
        struct virtual_filter filter = {&places, r->options->roots[i]};
        struct walk_options options = {.root = r->options->roots[i],
                                       .hidden = true,
                                       .no_ignore = true,
                                       .is_left_out = virtual_filter_leaves_out,
                                       .self = &filter};
        struct walk_visitor visitor = {.visit = visit_name, .self = &x};
        struct walk_report report;

        x.root = options.root;
        err_ignore(walk_run(&options, &visitor, &report), "then the name is not found");
    }
    path_table_done(&x.planned);
    for (size_t i = 0; i < r->names.room; i++)
        check_anchor(r, r->names.slots[i].value);
}

void restore_find_names(struct restoring *r)
{
    bool has_missing = false;

    for (size_t i = 0; i < r->plan->n; i++)
        note_name(r, &r->plan->items[i], &r->plan->now[i]);
    for (size_t i = 0; i < r->plan->n && r->names.n; i++)
        join_names(r, &r->plan->items[i], &r->plan->now[i]);
    for (size_t i = 0; i < r->plan->n && r->names.n; i++)
        if (!adopt_name(r, &r->plan->items[i], &r->plan->now[i]))
            count_new_name(r, &r->plan->items[i], &r->plan->now[i]);
    for (size_t i = 0; i < r->names.room; i++) {
        struct linked_names *names = r->names.slots[i].value;

        if (names && !names->anchor && names->n_all > names->n)
            has_missing = names->was_missing = true;
    }
    if (has_missing)
        search_names(r);
}
