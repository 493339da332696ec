/* undo_recorder_look.c - finds the changes of a command: looks again at announced paths. */
#include "snapshot/undo_recorder_internal.h"

#include "snapshot/plain.h"
#include "sys/walk.h"

#include <fcntl.h>
#include <sys/stat.h>

/* --- one path --- */

static bool has_same_stamp(const struct file_state *a, const struct file_state *b)
{
    return state_eq_attributes(a, b) && stamp_eq(&a->stamp, &b->stamp) && !state_is_racy(a);
}

/* For files that were not read: changes of attributes do not affect time and size. */
static bool has_same_content(const struct file_state *a, const struct file_state *b)
{
    if (a->kind != b->kind || a->stamp.inode != b->stamp.inode ||
        a->stamp.device != b->stamp.device)
        return false;
    if (a->is_known && b->is_known)
        return memcmp(a->digest, b->digest, sizeof a->digest) == 0;
    return a->stamp.mtime_ns == b->stamp.mtime_ns && a->stamp.size == b->stamp.size;
}

static struct pre_image image_of(const struct change_entry *entry, const struct file_state *now,
                                 struct arena *a)
{
    struct file_state before = entry->before;
    bool keeps_content = entry->has_attributes_only && has_same_content(&before, now);

    if (keeps_content)
        before.why_not = NULL;
    else if (entry->has_attributes_only && before.is_known)
        before = undo_recorder_unreported(&before);
    else if (entry->has_attributes_only && !before.why_not)
        before.why_not = "its content changed before keel could save it";
    return state_image(a, &before, keeps_content, now);
}

/* The same content, but in a separate file, or in one with other names? */
static bool has_other_names(const struct file_state *last, const struct file_state *now)
{
    return last->kind == IMAGE_FILE && (last->n_names > 1 || now->n_names > 1) &&
           (last->stamp.inode != now->stamp.inode || last->stamp.device != now->stamp.device);
}

/* Is there something to report? *now is the present state. */
static struct err *look_at_entry(const struct change_entry *entry, uint64_t max_file_bytes,
                                 struct strbuf *buffer, struct file_state *now, bool *ret_changed)
{
    *now = (struct file_state){.path = entry->before.path};
    *ret_changed = true;
    if (!state_look(now)) {
        now->kind = IMAGE_OTHER;
        return NULL;
    }
    *ret_changed = false;
    if (has_same_stamp(&entry->last, now)) {
        *now = entry->last;
        return NULL;
    }
    if (state_has_content(now) && now->stamp.size <= max_file_bytes &&
        (!entry->has_attributes_only || entry->last.is_known))
        TRY(state_read(now, max_file_bytes, NULL, buffer));
    if (entry->has_attributes_only)
        *ret_changed =
            !state_eq_attributes(&entry->last, now) || !has_same_content(&entry->last, now);
    else
        *ret_changed = !state_eq(&entry->last, now) || has_other_names(&entry->last, now);
    return NULL;
}

/* A directory may be ignored where a file of the same name would not be. */
static bool is_ignored_now(struct undo_recorder *r, const struct change_entry *entry,
                           const struct file_state *now)
{
    return entry->before.kind == IMAGE_NONE && now->kind == IMAGE_DIRECTORY &&
           !coverage_has(&r->rules, str_of(now->path), /* is_dir= */ true);
}

/* Another command has written the content while this one changed only attributes. */
static void take_content_of_peer(struct undo_recorder *r, struct change_entry *entry,
                                 const struct file_state *now)
{
    struct peer_state known;

    if (entry->has_attributes_only && !has_same_content(&entry->before, now) &&
        undo_recorder_find_shared(r, str_of(entry->before.path), &known) &&
        !known.has_attributes_only)
        undo_recorder_take_content(r, entry, &known.state);
}

/* From the given entry on. */
static struct err *look_at_all(struct undo_recorder *r, size_t from, struct arena *a,
                               struct pre_images *images)
{
    for (size_t i = from; i < r->n; i++) {
        struct change_entry *entry = r->entries[i];
        struct file_state now;
        bool has_changed;

        TRY(look_at_entry(entry, r->options.max_file_bytes, &r->buffer, &now, &has_changed));
        if (has_changed)
            take_content_of_peer(r, entry, &now);
        if (has_changed && is_ignored_now(r, entry, &now))
            undo_recorder_note_made(r, &entry->before);
        else if (has_changed && !entry->is_uncovered) /* only its other names are restored */
            pre_images_add(images, a, image_of(entry, &now, a));
        entry->has_changed |= has_changed;
        entry->last = now;
    }
    return NULL;
}

/* --- other names of changed files --- */

/* Writes by one name are visible by the others, too. Names that still exist and were not announced
 * existed before. */
struct name_search {
    struct undo_recorder *recorder;
    const char *root;
    pthread_mutex_t lock;
    struct path_table found; /* paths, with the entry of another name */
    struct unlocks unlocks;  /* directories that were locked */
};

static bool wants_names(const struct change_entry *first)
{
    unsigned n = 0;
    bool has_changed = false;

    for (const struct change_entry *entry = first; entry; entry = entry->same_file) {
        n++;
        has_changed |= entry->has_changed;
    }
    return has_changed && n < first->before.n_names;
}

static bool visit_name(void *self, void *thread, const struct walk_entry *entry)
{
    struct name_search *x = self;
    AUTO(strbuf) struct strbuf path = {0};
    struct file_state f = {0};
    struct path_slot *slot;
    struct stat st;
    char key[INODE_KEY_SIZE];

    if (entry->is_dir) {
        pthread_mutex_lock(&x->lock);
        plain_unlock(&x->unlocks, entry->dir_fd, entry->name);
        pthread_mutex_unlock(&x->lock);
    }
    if (!entry->is_file || fstatat(entry->dir_fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return true;
    f.stamp = (struct stamp){.device = st.st_dev, .inode = st.st_ino};
    add_walked_path(&path, x->root, entry->path);
    pthread_mutex_lock(&x->lock);
    slot = path_table_find(&x->recorder->by_inode, undo_recorder_inode_key(&f, key));
    if (slot && wants_names(slot->value) &&
        !path_table_find(&x->recorder->by_path, strbuf_str(&path)))
        path_table_put(&x->found, strbuf_str(&path))->value = slot->value;
    pthread_mutex_unlock(&x->lock);
    return true;
}

static void add_names(struct name_search *x)
{
    for (size_t i = 0; i < x->found.room; i++) {
        const struct path_slot *slot = &x->found.slots[i];

        if (slot->value && coverage_has(&x->recorder->rules, slot->path, /* is_dir= */ false)) {
            const struct change_entry *other = slot->value;
            struct file_state before =
                other->is_late ? undo_recorder_unreported(&other->before) : other->before;

            undo_recorder_add_entry(x->recorder, slot->path, &before,
                                    other->has_attributes_only && !other->is_late);
        }
    }
}

static struct err *find_names(struct undo_recorder *r)
{
    const struct coverage *c = r->options.coverage;
    struct name_search x = {.recorder = r, .lock = PTHREAD_MUTEX_INITIALIZER};
    bool is_needed = false;
    struct err *e = NULL;

    for (size_t i = 0; i < r->by_inode.room && !is_needed; i++)
        is_needed = r->by_inode.slots[i].value && wants_names(r->by_inode.slots[i].value);
    for (size_t i = 0; i < c->n_roots && is_needed && !e; i++) {
        struct virtual_filter filter = {&c->virtual_places, c->roots[i]};
        struct walk_options options = {.root = c->roots[i],
                                       .hidden = true,
                                       .is_left_out = virtual_filter_leaves_out,
                                       .self = &filter};
        struct walk_visitor visitor = {.visit = visit_name, .self = &x};
        struct walk_report report;
        unsigned mode;

        x.root = c->roots[i];
        unlocks_open(&x.unlocks, x.root, &mode);
        e = walk_run(&options, &visitor, &report);
        unlocks_done(&x.unlocks);
    }
    if (!e)
        add_names(&x);
    path_table_done(&x.found);
    return e;
}

struct err *undo_recorder_look(struct undo_recorder *r, bool is_last, struct arena *a,
                               struct pre_images *ret_images, struct str *ret_unsaved)
{
    struct err *e;
    size_t n;

    *ret_images = (struct pre_images){0};
    pthread_mutex_lock(&r->lock);
    r->has_begun_sync = false;
    r->n_looked_blobs = r->n_blobs;
    e = look_at_all(r, 0, a, ret_images);
    n = r->n;
    if (!e)
        e = find_names(r);
    if (!e)
        e = look_at_all(r, n, a, ret_images);
    if (!e)
        undo_recorder_look_at_ignored(r, a, ret_images);
    if (is_last && !e)
        undo_log_end(&r->log);
    *ret_unsaved = arena_str(a, r->missed);
    if (!r->missed.n && r->has_more_ignored)
        *ret_unsaved = S("it changed more than 1,000 files that git ignores");
    pthread_mutex_unlock(&r->lock);
    return e;
}

/* --- after a crash --- */

/* The first record of a path counts, with the content of a later one. */
static void merge_records(const struct undo_records *records, struct path_table *entries)
{
    for (size_t i = 0; i < records->n; i++) {
        const struct undo_record *record = &records->items[i];
        struct path_slot *slot = path_table_put(entries, str_of(record->state.path));
        struct change_entry *entry = slot->value;

        if (entry && entry->has_attributes_only && !record->has_attributes_only) {
            struct file_state attributes = entry->before;

            entry->before = record->state;
            state_take_attributes(&entry->before, &attributes);
            entry->before.n_names = attributes.n_names;
            entry->has_attributes_only = false;
        } else if (!entry) {
            slot->value = entry = ARENA_NEW(&entries->arena, struct change_entry);
            entry->before = record->state;
            entry->has_attributes_only = record->has_attributes_only;
        }
        entry->last = entry->before;
    }
}

/* Only the recorder knew what had changed in it. */
static bool is_ignored_dir(const struct file_state *before)
{
    return before->is_ignored && before->why_not && !state_has_content(before);
}

struct err *undo_recorder_recover(const struct undo_records *records, uint64_t max_file_bytes,
                                  struct arena *a, struct pre_images *ret_images)
{
    AUTO(path_table) struct path_table entries = {0};
    AUTO(strbuf) struct strbuf buffer = {.max_bytes = max_file_bytes + RECORDER_READ_ROOM};

    *ret_images = (struct pre_images){0};
    merge_records(records, &entries);
    for (size_t i = 0; i < entries.room; i++) {
        const struct change_entry *entry = entries.slots[i].value;
        struct file_state now;
        bool has_changed;

        if (!entry)
            continue;
        TRY(look_at_entry(entry, max_file_bytes, &buffer, &now, &has_changed));
        if (has_changed || is_ignored_dir(&entry->before))
            pre_images_add(ret_images, a, image_of(entry, &now, a));
    }
    return NULL;
}
