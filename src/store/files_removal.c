/* files_removal.c - removes a session and all below it, so that a crash leaves all of it or
 * nothing.
 *
 * `.locks/ROOT.removal` lists the sessions to remove. Once the list has its name, they are gone:
 * readers skip them, and a process that finds the list unlocked removes the rest of their files.
 * Logs go first, because they make a session; the list goes last. */
#include "store/files_store.h"

#include "store/session_lock.h"
#include "sys/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_LIST ((size_t)64 << 20)

/* --- the list --- */

static const char *list_path(struct arena *a, const char *dir, struct str root)
{
    return arena_format(a, "%s/%" STR_FMT FILES_REMOVAL, files_lock_dir(a, dir), STR_ARG(root)).p;
}

static struct err *write_list(const char *dir, struct str root, const struct str *ids, size_t n)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {.max_bytes = MAX_LIST};

    for (size_t i = 0; i < n; i++)
        strbuf_addf(&text, "%" STR_FMT "\n", STR_ARG(ids[i]));
    TRY(strbuf_check(&text, "the list of sessions to remove"));
    return fs_write_atomic(list_path(&a, dir, root), strbuf_str(&text), 0600);
}

void files_removal_read(const char *dir, struct str root, struct arena *a, struct str **ret_ids,
                        size_t *ret_n)
{
    AUTO(arena) struct arena paths = {0};
    AUTO(strbuf) struct strbuf text = {.max_bytes = MAX_LIST};
    size_t room = 0;
    struct str rest, line;
    bool exists;

    *ret_ids = NULL;
    *ret_n = 0;
    err_ignore(fs_read(list_path(&paths, dir, root), &text, &exists), "then it removes nothing");
    rest = arena_str(a, strbuf_str(&text));
    while (rest.n && str_split(&rest, '\n', &line))
        if (store_id_is_valid(line)) {
            *ret_ids = arena_grow(a, *ret_ids, *ret_n, &room, sizeof **ret_ids);
            (*ret_ids)[(*ret_n)++] = line;
        }
}

/* --- files --- */

static struct err *remove_payloads(const char *dir, struct str id)
{
    char path[FILES_MAX_PATH];
    struct dirent *entry;
    DIR *payloads;

    TRY(files_path(path, dir, id, FILES_PAYLOADS));
    payloads = opendir(path);
    if (!payloads)
        return NULL;
    while ((entry = readdir(payloads)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(payloads), entry->d_name, 0);
    closedir(payloads);
    if (rmdir(path) < 0 && errno != ENOENT)
        return err_errno(ERR_STORAGE, errno, "cannot remove %s", path);
    return NULL;
}

/* Removes what was cut off the ends of logs. */
static void remove_torn(const char *dir, const struct str *ids, size_t n)
{
    struct dirent *entry;
    DIR *d = opendir(dir);

    while (d && (entry = readdir(d))) {
        size_t at = str_find(str_of(entry->d_name), S(".jsonl.torn-"));

        for (size_t i = 0; at != STR_NONE && i < n; i++)
            if (str_eq(str_make(entry->d_name, at), ids[i])) {
                unlinkat(dirfd(d), entry->d_name, 0);
                break;
            }
    }
    if (d)
        closedir(d);
}

static struct err *remove_named(const char *dir, struct str id, const char *ending)
{
    char path[FILES_MAX_PATH];

    TRY(files_path(path, dir, id, ending));
    return fs_remove(path);
}

static struct err *remove_all(const char *dir, const struct str *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        TRY(remove_named(dir, ids[i], ".jsonl"));
    for (size_t i = 0; i < n; i++) {
        TRY(remove_named(dir, ids[i], ".json"));
        TRY(remove_payloads(dir, ids[i]));
    }
    remove_torn(dir, ids, n);
    files_index_forget_or_drop(dir, ids, n);
    return files_sync_dir(dir);
}

static struct err *carry_out(const char *dir, struct str root, const struct str *ids, size_t n)
{
    AUTO(arena) struct arena a = {0};
    struct err *e;
    int lock;

    TRY(files_index_lock(dir, &lock));
    e = remove_all(dir, ids, n);
    close(lock);
    return e ? e : fs_remove(list_path(&a, dir, root));
}

/* --- a full disk --- */

/* On a full disk, derived files make room: the list of sessions, and the records of those that
 * go. */
static struct err *list_removal(const char *dir, struct str root, const struct str *ids, size_t n)
{
    struct err *e = write_list(dir, root, ids, n);
    int lock;

    if (!e)
        return NULL;
    err_ignore(e, "the last try says what is wrong");
    TRY(files_index_lock(dir, &lock));
    files_index_drop(dir);
    close(lock);
    e = write_list(dir, root, ids, n);
    if (!e)
        return NULL;
    err_ignore(e, "the last try says what is wrong");
    for (size_t i = 0; i < n; i++)
        TRY(remove_named(dir, ids[i], ".json"));
    e = write_list(dir, root, ids, n);
    return e ? err_hint(e, "check the free disk space and the permissions of the directory") : NULL;
}

/* --- after a crash --- */

struct err *files_removal_finish(const char *dir, struct str root)
{
    AUTO(arena) struct arena a = {0};
    struct str *ids;
    size_t n;

    files_removal_read(dir, root, &a, &ids, &n);
    return n ? carry_out(dir, root, ids, n) : NULL;
}

void files_removal_try(const char *dir, struct str root)
{
    AUTO(arena) struct arena a = {0};
    const char *lock_dir = files_lock_dir(&a, dir);
    struct err *e;
    int fd;

    if (!store_id_is_valid(root))
        return;
    e = session_lock_take(lock_dir, root, &fd);
    if (!e) {
        e = files_removal_finish(dir, root);
        session_lock_release(lock_dir, root, fd);
    }
    err_ignore(e, "it is being done, or the next process tries it again; it counts as gone");
}

/* A session that is being created has no log yet either, but its lock is held. */
static void sweep_lock(const char *dir, const char *lock_dir, struct str id)
{
    char path[FILES_MAX_PATH];
    struct err *e;
    int fd;

    e = files_path(path, dir, id, ".jsonl");
    if (!e && fs_exists(path))
        return;
    if (!e)
        e = session_lock_take(lock_dir, id, &fd);
    if (!e)
        session_lock_release(lock_dir, id, fd);
    err_ignore(e, "somebody has it");
}

void files_removal_sweep(const char *dir)
{
    AUTO(arena) struct arena a = {0};
    const char *lock_dir = files_lock_dir(&a, dir);
    DIR *d = opendir(lock_dir);
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        struct str name = str_of(entry->d_name), removal = S(FILES_REMOVAL), lock = S(".lock");

        if (str_ends(name, removal))
            files_removal_try(dir, str_slice(name, 0, name.n - removal.n));
        else if (str_ends(name, lock) && store_id_is_valid(str_slice(name, 0, name.n - lock.n)))
            sweep_lock(dir, lock_dir, str_slice(name, 0, name.n - lock.n));
    }
    if (d)
        closedir(d);
}

/* --- removing --- */

/* Is it the session itself, or below it? Damage can make a circle of parents. */
static bool is_below(const struct files_index *x, const struct files_entry *e, struct str id)
{
    for (size_t depth = 0; e && depth <= x->n; depth++) {
        if (str_eq(e->summary.id, id))
            return true;
        e = e->summary.parent.n ? files_find_entry(x, e->summary.parent) : NULL;
    }
    return false;
}

/* An earlier removal of the same root has its list in the same place: it is completed first. */
static struct err *remove_below(const char *dir, const struct files_index *x, struct str root,
                                struct str id)
{
    AUTO(arena) struct arena a = {0};
    struct str *ids = ARENA_ARRAY(&a, x->n + 1, struct str);
    size_t n = 0;

    for (size_t i = 0; i < x->n; i++)
        if (str_eq(x->entries[i].root, root) && !str_eq(x->entries[i].summary.id, id) &&
            is_below(x, &x->entries[i], id))
            ids[n++] = x->entries[i].summary.id;
    ids[n++] = id;
    TRY(files_removal_finish(dir, root));
    TRY(list_removal(dir, root, ids, n));
    return carry_out(dir, root, ids, n);
}

struct err *files_removal_run(const char *dir, struct str id)
{
    AUTO(arena) struct arena a = {0};
    AUTO(files_index) struct files_index x = {0};
    const char *lock_dir = files_lock_dir(&a, dir);
    const struct files_entry *entry;
    struct str root;
    struct err *e;
    int lock_fd;

    TRY(files_index_read(dir, &x));
    entry = files_find_entry(&x, id);
    root = entry ? entry->root : id;
    TRY(session_lock_take(lock_dir, root, &lock_fd));
    e = remove_below(dir, &x, root, id);
    session_lock_release(lock_dir, root, lock_fd);
    return e;
}
