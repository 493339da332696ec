/* undo_recorder.c - saves what a command is about to change, path by path. */
#include "snapshot/undo_recorder_internal.h"

#include "snapshot/plain.h"
#include "sys/auto_fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>

#define MAX_DEPTH 256    /* of a directory that is moved */
#define MAX_IGNORED 1000 /* files that git ignores, one by one */
#define IGNORED_SHARE 16 /* of all bytes that may be saved, for these */
/* Contents up to these lengths, of one file and of all files of the command, go into the undo log
 * and the journal, which are written anyway: a blob needs a new file and two syncs. */
#define SHORT_FILE ((size_t)16 << 10)
#define SHORT_FILES ((size_t)32 << 10)

/* --- saving one path --- */

static const char *why_too_large(const struct undo_recorder *r, const struct file_state *f,
                                 bool saves)
{
    uint64_t n_bytes = saves ? r->n_bytes : r->n_hashed_bytes;

    if (f->is_ignored && saves &&
        r->n_ignored_bytes + f->stamp.size > r->options.max_bytes / IGNORED_SHARE)
        return "git ignores it, and the command changed too many ignored files";
    if (f->stamp.size > r->options.max_file_bytes)
        return "it is larger than snapshot.maxFileBytes allows";
    if (n_bytes + f->stamp.size > r->options.max_bytes)
        return "the command changed more than snapshot.maxBytes allows";
    return NULL;
}

static void note_missed(struct undo_recorder *r, struct str why)
{
    if (!r->missed.n)
        r->missed = arena_str(&r->by_path.arena, why);
}

/* The buffer has its content. */
static struct err *save_content(struct undo_recorder *r, struct file_state *f)
{
    struct str bytes = strbuf_str(&r->buffer);
    char handle[SHA256_HEX_SIZE];

    f->has_bytes = bytes.n <= SHORT_FILE && r->n_short_bytes + bytes.n <= SHORT_FILES;
    if (f->has_bytes) {
        f->bytes = arena_str(&r->by_path.arena, bytes);
        r->n_short_bytes += bytes.n;
    } else {
        TRY(blob_put_soon(r->options.blobs, bytes, handle));
        r->n_blobs++;
    }
    f->is_saved = true;
    r->n_bytes += bytes.n;
    r->n_ignored_bytes += f->is_ignored ? bytes.n : 0;
    return NULL;
}

/* Reads it, unless it was read; without `saves` only for its hash. Problems of the file go to
 * why_not. */
static void read_content(struct undo_recorder *r, struct file_state *f, bool saves)
{
    const struct file_state as_it_was = *f;
    struct err *e;

    if (!state_has_content(f) || f->is_known || f->why_not)
        return;
    f->why_not = f->kind == IMAGE_FILE ? why_too_large(r, f, saves) : NULL;
    if (f->why_not)
        return;
    e = state_read(f, r->options.max_file_bytes, NULL, &r->buffer);
    state_take_attributes(f, &as_it_was);
    if (!e && f->is_known && saves)
        e = save_content(r, f);
    if (e) {
        AUTO_FREE char *text = err_message(e);

        f->why_not = arena_format(&r->by_path.arena, "it could not be stored: %s", text).p;
        err_ignore(e, "the change is reported as one that cannot be undone");
    } else if (!saves) {
        r->n_hashed_bytes += r->buffer.n;
    }
}

struct str undo_recorder_inode_key(const struct file_state *f, char text[INODE_KEY_SIZE])
{
    return str_make(text, (size_t)snprintf(text, INODE_KEY_SIZE, "%llx:%llx",
                                           (unsigned long long)f->stamp.device,
                                           (unsigned long long)f->stamp.inode));
}

static void link_by_inode(struct undo_recorder *r, struct change_entry *entry)
{
    char key[INODE_KEY_SIZE];
    struct path_slot *slot =
        path_table_put(&r->by_inode, undo_recorder_inode_key(&entry->before, key));

    entry->same_file = slot->value;
    slot->value = entry;
    if (entry->same_file) /* one of its names may be gone */
        entry->before.n_names = MAX(entry->before.n_names, entry->same_file->before.n_names);
}

struct file_state undo_recorder_unreported(const struct file_state *f)
{
    return (struct file_state){
        .path = f->path, .kind = IMAGE_OTHER, .n_names = f->n_names, .why_not = UNDO_UNREPORTED};
}

static void add_to_log(struct undo_recorder *r, const struct change_entry *entry)
{
    struct file_state before =
        entry->is_late ? undo_recorder_unreported(&entry->before) : entry->before;

    undo_recorder_share(r, entry);
    if (!undo_log_add(&r->log, &before, entry->has_attributes_only && !entry->is_late))
        note_missed(r, S("the command changed more files than keel can remember"));
}

/* A failure to store them is reported when they are missing in a restore. */
static void save_xattrs(struct undo_recorder *r, const struct file_state *f)
{
    err_ignore(state_save_xattrs(f, r->options.blobs), "a rewind says that they are lost");
}

/* A change in the number of names changes the time, too. But then that name, or the existing one,
 * is recorded, and its state is used. */
static bool is_late(const struct undo_recorder *r, const struct file_state *f)
{
    return f->kind == IMAGE_FILE && f->changed_ns > r->began_ns;
}

struct change_entry *undo_recorder_add_entry(struct undo_recorder *r, struct str path,
                                             const struct file_state *before,
                                             bool has_attributes_only)
{
    struct path_slot *slot = path_table_put(&r->by_path, path);
    struct change_entry *entry = ARENA_NEW(&r->by_path.arena, struct change_entry);

    slot->value = entry;
    *entry = (struct change_entry){.before = *before,
                                   .last = *before,
                                   .has_attributes_only = has_attributes_only,
                                   .is_late = is_late(r, before)};
    entry->before.path = entry->last.path = slot->path.p;
    save_xattrs(r, &entry->before);
    if (r->n == r->room) {
        r->room = MAX((size_t)64, 2 * r->room);
        r->entries = mem_resize(r->entries, r->room * sizeof(struct change_entry *));
    }
    r->entries[r->n++] = entry;
    if (before->stamp.inode && /* otherwise it was changed without a report */
        (before->n_names > 1 || (before->n_names && (has_attributes_only || r->by_inode.n))))
        link_by_inode(r, entry);
    add_to_log(r, entry);
    return entry;
}

static void set_content(struct file_state *f, const struct file_state *content)
{
    f->is_known = content->is_known;
    f->is_saved = content->is_saved;
    f->why_not = content->why_not;
    f->has_bytes = content->has_bytes;
    f->bytes = content->bytes;
    memcpy(f->digest, content->digest, sizeof f->digest);
    f->stamp = content->stamp;
    f->seen_ns = content->seen_ns;
}

/* Only the hash shows whether it is unchanged: a command that changes content without a report can
 * also set the time back. Content that was not read with the attributes stays unsaved. */
void undo_recorder_take_content(struct undo_recorder *r, struct change_entry *entry,
                                const struct file_state *content)
{
    struct file_state *before = &entry->before;
    bool can_compare = before->is_known && content->is_known;

    entry->has_attributes_only = false;
    if (content->kind != before->kind ||
        (can_compare && memcmp(before->digest, content->digest, sizeof before->digest) != 0)) {
        *before = entry->last = undo_recorder_unreported(before);
    } else if (can_compare) {
        set_content(before, content);
        set_content(&entry->last, content);
    } else if (!before->why_not) {
        before->why_not = content->why_not;
    }
    add_to_log(r, entry);
}

/* The first entry of this file. */
static struct change_entry *find_by_inode(const struct undo_recorder *r, const struct file_state *f)
{
    char key[INODE_KEY_SIZE];
    struct path_slot *slot = state_has_content(f) && r->by_inode.n
                                 ? path_table_find(&r->by_inode, undo_recorder_inode_key(f, key))
                                 : NULL;

    return slot ? slot->value : NULL;
}

/* The file of an entry with attributes only is about to be written. Another command may have
 * written it before. */
static void complete_entry(struct undo_recorder *r, struct change_entry *entry,
                           struct file_state *now)
{
    struct peer_state known;

    if (undo_recorder_find_shared(r, str_of(entry->before.path), &known) &&
        !known.has_attributes_only) {
        undo_recorder_take_content(r, entry, &known.state);
        return;
    }
    if (entry->before.is_known)
        read_content(r, now, /* saves= */ true);
    undo_recorder_take_content(r, entry, now);
}

/* A file is written by one of its names: entries of its other names with attributes only need the
 * content, too. */
static void save_other_names(struct undo_recorder *r, struct file_state *f)
{
    for (struct change_entry *entry = find_by_inode(r, f); entry; entry = entry->same_file)
        if (entry->has_attributes_only)
            complete_entry(r, entry, f);
}

static void save_again(struct undo_recorder *r, struct change_entry *entry, bool wants_content)
{
    struct file_state now = {.path = entry->before.path};

    if (!wants_content || (!entry->has_attributes_only && !r->by_inode.n))
        return;
    if (!state_look(&now))
        return;
    now.is_ignored = entry->before.is_ignored;
    if (entry->has_attributes_only && state_has_content(&now) && now.kind == entry->before.kind)
        complete_entry(r, entry, &now);
    save_other_names(r, &now);
}

/* It may have been changed by another of its names, whose former state is also its own. A file
 * whose only name is recorded got this name without a report. */
static const struct change_entry *take_from_other_name(const struct undo_recorder *r,
                                                       struct file_state *f)
{
    const struct change_entry *other = find_by_inode(r, f);
    const char *path = f->path;
    bool is_ignored = f->is_ignored;

    while (other && other->before.n_names < 2)
        other = other->same_file;
    if (!other)
        return NULL;
    *f = other->before;
    f->path = path;
    f->is_ignored = is_ignored;
    return other;
}

/* Adds it with its present state, or with the former state of another of its names. */
static struct change_entry *add_path(struct undo_recorder *r, struct str path, struct file_state *f,
                                     bool has_attributes_only)
{
    const struct change_entry *other;

    if (!has_attributes_only)
        save_other_names(r, f);
    other = take_from_other_name(r, f);
    if (other)
        has_attributes_only &= other->has_attributes_only;
    else
        read_content(r, f, /* saves= */ !has_attributes_only);
    return undo_recorder_add_entry(r, path, f, has_attributes_only);
}

/* Another running command has changed it first. If that changed only attributes, the content is
 * unchanged. */
static bool save_as_peers_did(struct undo_recorder *r, struct str path, bool wants_content)
{
    struct peer_state known;

    if (!undo_recorder_find_shared(r, path, &known))
        return false;
    save_again(r, undo_recorder_add_entry(r, path, &known.state, known.has_attributes_only),
               wants_content);
    return true;
}

/* Notes it if a directory above it is ignored. */
static bool is_in_ignored(struct undo_recorder *r, struct str path)
{
    struct str top;

    if (coverage_judge(&r->rules, path, /* is_dir= */ false, &top) != COVERAGE_IGNORED ||
        str_eq(top, path))
        return false;
    undo_recorder_note_ignored(r, top, path);
    return true;
}

/* Is it covered? So is a single file that git ignores: it may be the only copy. */
static bool is_recorded(struct undo_recorder *r, struct str path, struct file_state *f)
{
    bool is_dir = f->kind == IMAGE_DIRECTORY;
    struct str top;
    enum coverage_verdict verdict = coverage_judge(&r->rules, path, is_dir, &top);

    if (verdict != COVERAGE_IGNORED)
        return verdict == COVERAGE_FULL || coverage_is_root(r->options.coverage, path);
    if (is_dir) {
        undo_recorder_note_ignored(r, top, path);
        return false;
    }
    if (r->n_ignored == MAX_IGNORED) {
        r->has_more_ignored = true;
        return false;
    }
    r->n_ignored++;
    f->is_ignored = true;
    return true;
}

/* Records its present state, unless it was recorded. `has_state`: *f is that state. */
static void save_path(struct undo_recorder *r, struct str path, bool wants_content,
                      struct file_state *f, bool has_state)
{
    struct path_slot *slot = path_table_find(&r->by_path, path);
    AUTO_FREE char *text = str_dup(path);

    f->path = text;
    if (is_in_ignored(r, path))
        return;
    if (slot) {
        save_again(r, slot->value, wants_content);
        return;
    }
    if (save_as_peers_did(r, path, wants_content))
        return;
    if (!has_state && !state_look(f)) {
        if (coverage_has(&r->rules, path, /* is_dir= */ false)) {
            f->why_not = "keel has no access to it";
            undo_recorder_add_entry(r, path, f, /* has_attributes_only= */ false);
        }
        return;
    }
    if (!is_recorded(r, path, f))
        return;
    add_path(r, path, f,
             /* has_attributes_only= */ !wants_content && f->kind != IMAGE_NONE &&
                 f->kind != IMAGE_DIRECTORY);
}

static bool is_in_roots(const struct undo_recorder *r, struct str path)
{
    const struct coverage *c = r->options.coverage;

    for (size_t i = 0; i < c->n_roots; i++)
        if (str_starts(path, str_of(c->roots[i])) &&
            (str_is(str_of(c->roots[i]), "/") || path.p[strlen(c->roots[i])] == '/'))
            return true;
    return false;
}

static bool is_uncovered(struct undo_recorder *r, struct str path)
{
    struct str top;
    enum coverage_verdict verdict = coverage_judge(&r->rules, path, /* is_dir= */ false, &top);

    return verdict == COVERAGE_NONE || (verdict == COVERAGE_IGNORED && !str_eq(top, path));
}

/* A file that is not covered may have covered names, which see what is written by this one. The
 * look after the command finds them. */
static void save_uncovered(struct undo_recorder *r, struct str path)
{
    AUTO_FREE char *text = str_dup(path);
    struct file_state f = {.path = text};

    if (path_table_find(&r->by_path, path) || !is_in_roots(r, path) || !is_uncovered(r, path) ||
        !state_look(&f) || f.kind != IMAGE_FILE || f.n_names < 2)
        return;
    add_path(r, path, &f, /* has_attributes_only= */ false)->is_uncovered = true;
}

/* --- moved directories --- */

struct moved_tree {
    struct undo_recorder *recorder;
    struct strbuf from, to;
    unsigned depth;
};

static void save_moved(struct moved_tree *t);

/* Its contents; the directory is readable meanwhile, its own mode is recorded already. */
static void save_list(struct moved_tree *t)
{
    AUTO(unlocks) struct unlocks unlocks = {0};
    DIR *list = plain_open_list(strbuf_cstr(&t->from), &unlocks);
    size_t n_from = t->from.n, n_to = t->to.n;
    const struct dirent *entry;

    if (!list) {
        note_missed(t->recorder, S("a moved directory could not be read"));
        return;
    }
    while ((entry = readdir(list))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        strbuf_addf(&t->from, "/%s", entry->d_name);
        strbuf_addf(&t->to, "/%s", entry->d_name);
        save_moved(t);
        strbuf_cut(&t->from, n_from);
        strbuf_cut(&t->to, n_to);
    }
    closedir(list);
}

/* A file that comes from a place that is not recorded was not created by the command. */
static void save_target(struct undo_recorder *r, struct str to, bool comes_from_unrecorded)
{
    struct file_state f = {0};

    if (comes_from_unrecorded && !path_table_find(&r->by_path, to)) {
        AUTO_FREE char *text = str_dup(to);

        f.path = text;
        if (state_look(&f) && f.kind == IMAGE_NONE && coverage_has(&r->rules, to, false)) {
            f.why_not = "it was moved here from a place that is not recorded";
            undo_recorder_add_entry(r, to, &f, /* has_attributes_only= */ false);
            return;
        }
    }
    save_path(r, to, /* wants_content= */ true, &f, /* has_state= */ false);
}

static bool is_saved_when_moved(struct undo_recorder *r, struct str from, bool is_dir)
{
    struct str top;
    enum coverage_verdict verdict = coverage_judge(&r->rules, from, is_dir, &top);

    if (verdict == COVERAGE_IGNORED && (is_dir || !str_eq(top, from)))
        undo_recorder_note_ignored(r, top, from);
    return verdict == COVERAGE_FULL ||
           (verdict == COVERAGE_IGNORED && !is_dir && str_eq(top, from));
}

static void save_moved(struct moved_tree *t)
{
    struct undo_recorder *r = t->recorder;
    struct str from = strbuf_str(&t->from);
    struct file_state f = {.path = strbuf_cstr(&t->from)};
    bool may_look = state_look(&f), is_dir = f.kind == IMAGE_DIRECTORY;
    bool is_covered = is_saved_when_moved(r, from, is_dir);

    if (!may_look && is_covered)
        note_missed(r, S("a moved file could not be read"));
    if (!may_look || f.kind == IMAGE_NONE)
        return;
    if (is_covered)
        save_path(r, from, /* wants_content= */ true, &f, /* has_state= */ true);
    save_target(r, strbuf_str(&t->to), !is_covered && is_in_roots(r, from));
    if (!is_dir || (!is_covered && is_in_roots(r, from)))
        return;
    if (t->depth == MAX_DEPTH) {
        note_missed(r, S("directories nested more than 256 levels deep were moved"));
        return;
    }
    t->depth++;
    save_list(t);
    t->depth--;
}

static void save_rename(struct undo_recorder *r, const char *from, const char *to)
{
    struct moved_tree t = {.recorder = r};

    strbuf_add_cstr(&t.from, from);
    strbuf_add_cstr(&t.to, to);
    save_moved(&t);
    strbuf_done(&t.from);
    strbuf_done(&t.to);
}

/* --- the observer --- */

static void note_dir(struct undo_recorder *r, const char *path)
{
    size_t slash = path ? str_rfind_char(str_of(path), '/') : STR_NONE;

    if (slash != STR_NONE)
        path_table_put(&r->dirs, str_make(path, MAX(slash, (size_t)1)));
}

static void save_notice(struct undo_recorder *r, const struct write_notice *n)
{
    struct file_state f = {0};

    note_dir(r, n->path);
    note_dir(r, n->to);
    switch (n->kind) {
    case WRITE_CONTENT:
        save_uncovered(r, str_of(n->path));
        save_path(r, str_of(n->path), /* wants_content= */ true, &f, false);
        break;
    case WRITE_REMOVAL:
        save_path(r, str_of(n->path), /* wants_content= */ true, &f, false);
        break;
    case WRITE_ATTRIBUTES:
        save_path(r, str_of(n->path), /* wants_content= */ false, &f, false);
        break;
    case WRITE_RENAME:
        save_rename(r, n->path, n->to);
        break;
    case WRITE_EXCHANGE:
        save_rename(r, n->path, n->to);
        save_rename(r, n->to, n->path);
        break;
    case WRITE_NEW_NAME:
        if (n->to) /* writes by the new name change the old file */
            save_path(r, str_of(n->to), /* wants_content= */ false, &f, false);
        f = (struct file_state){0};
        save_path(r, str_of(n->path), /* wants_content= */ true, &f, false);
        break;
    }
}

/* A command must not wait for the disk. Most change one or two files, which are on disk when the
 * command ends. */
static void undo_recorder_about_to(struct write_observer *o, const struct write_notice *notice)
{
    struct undo_recorder *r = (struct undo_recorder *)o;

    pthread_mutex_lock(&r->lock);
    if (!r->is_closed)
        save_notice(r, notice);
    if (r->n_blobs > r->n_looked_blobs && !r->has_begun_sync && !r->is_closed) {
        r->has_begun_sync = true;
        sync_ahead_begin(r->options.disk);
    }
    pthread_mutex_unlock(&r->lock);
}

static void undo_recorder_missed(struct write_observer *o, const char *why)
{
    struct undo_recorder *r = (struct undo_recorder *)o;

    pthread_mutex_lock(&r->lock);
    note_missed(r, str_of(why));
    pthread_mutex_unlock(&r->lock);
}

static void undo_recorder_free(struct write_observer *o)
{
    struct undo_recorder *r = (struct undo_recorder *)o;

    covered_rules_done(&r->rules);
    path_table_done(&r->by_path);
    path_table_done(&r->by_inode);
    path_table_done(&r->dirs);
    path_table_done(&r->ignored);
    mem_free(r->entries);
    undo_log_done(&r->log);
    strbuf_done(&r->buffer);
    pthread_mutex_destroy(&r->lock);
    mem_free(r);
}

/* --- life cycle --- */

struct undo_recorder *undo_recorder_new(const struct undo_recorder_options *options)
{
    struct undo_recorder *r = mem_alloc(sizeof *r);

    r->observer = (struct write_observer){.about_to = undo_recorder_about_to,
                                          .missed = undo_recorder_missed,
                                          .free = undo_recorder_free,
                                          .n_refs = 1};
    r->options = *options;
    r->began_ns = state_now_ns();
    r->buffer.max_bytes = options->max_file_bytes + RECORDER_READ_ROOM;
    pthread_mutex_init(&r->lock, NULL);
    covered_rules_init(&r->rules, options->coverage);
    undo_log_init(&r->log, options->home, options->spare);
    return r;
}

void undo_recorder_close(struct undo_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    r->is_closed = true;
    pthread_mutex_unlock(&r->lock);
}

void undo_recorder_unref(struct undo_recorder *r)
{
    if (r)
        write_observer_unref(&r->observer);
}

struct write_observer *undo_recorder_observer(struct undo_recorder *r)
{
    return &r->observer;
}

const char *undo_recorder_log_name(const struct undo_recorder *r)
{
    return r->log.name;
}

bool undo_recorder_is_in_use(const struct undo_recorder *r)
{
    return atomic_load_explicit(&r->observer.n_refs, memory_order_acquire) > 1;
}

bool undo_recorder_has_begun(const struct undo_recorder *r)
{
    return atomic_load(&r->observer.has_begun);
}

size_t undo_recorder_n_entries(struct undo_recorder *r)
{
    size_t n;

    pthread_mutex_lock(&r->lock);
    n = r->n + r->ignored.n;
    pthread_mutex_unlock(&r->lock);
    return n;
}

bool undo_recorder_has_missed(struct undo_recorder *r)
{
    bool has_missed;

    pthread_mutex_lock(&r->lock);
    has_missed = r->missed.n > 0;
    pthread_mutex_unlock(&r->lock);
    return has_missed;
}

bool undo_recorder_has(struct undo_recorder *r, struct str path)
{
    const struct change_entry *entry;
    const struct path_slot *slot;
    bool has_it;

    pthread_mutex_lock(&r->lock);
    slot = path_table_find(&r->by_path, path);
    entry = slot ? slot->value : NULL;
    has_it = entry && !entry->is_late;
    pthread_mutex_unlock(&r->lock);
    return has_it;
}

bool undo_recorder_has_file(struct undo_recorder *r, uint64_t device, uint64_t inode)
{
    struct file_state f = {.kind = IMAGE_FILE, .stamp = {.device = device, .inode = inode}};
    const struct change_entry *entry;

    pthread_mutex_lock(&r->lock);
    entry = find_by_inode(r, &f);
    while (entry && (entry->is_late || entry->before.n_names < 2))
        entry = entry->same_file;
    pthread_mutex_unlock(&r->lock);
    return entry != NULL;
}

bool undo_recorder_has_in(struct undo_recorder *r, struct str dir)
{
    bool has_one;

    pthread_mutex_lock(&r->lock);
    has_one = path_table_find(&r->dirs, dir) != NULL;
    pthread_mutex_unlock(&r->lock);
    return has_one;
}

bool undo_recorder_covers(struct undo_recorder *r, struct str path, bool is_dir)
{
    bool has_it;

    pthread_mutex_lock(&r->lock);
    has_it = coverage_has(&r->rules, path, is_dir);
    pthread_mutex_unlock(&r->lock);
    return has_it;
}

bool undo_recorder_covers_rules(struct undo_recorder *r, struct str path)
{
    bool has_it;

    pthread_mutex_lock(&r->lock);
    has_it = coverage_has_rules(&r->rules, path);
    pthread_mutex_unlock(&r->lock);
    return has_it;
}
