/* sqlite_removal.c - removes sessions while the disk is full.
 *
 * Deleting rows needs room in the log and gives none back: the database keeps its length. Payloads
 * take the room. So if a transaction finds no room, an empty file FILE-locks/ID.removed says that
 * the session is gone with all below it. Payloads that only such sessions refer to are removed at
 * once, and the rows when there is room. */
#include "store/blob_files.h"
#include "store/sqlite_store.h"
#include "sys/auto_fd.h"
#include "sys/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MARK ".removed"
#define MAX_DEPTH 1000 /* damage can make a circle of parents */
#define LITTLE_BYTES ((uint64_t)8 << 20)

/* --- the directory of the database --- */

static const char *folder_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? arena_cstr(a, str_make(path, (size_t)(slash - path) + (slash == path))) : ".";
}

const char *sqlite_blob_dir(struct arena *a, const char *path)
{
    return fs_join(a, folder_of(a, path), "blobs");
}

/* Every database has FILE-locks beside it. */
bool sqlite_has_neighbour(const char *path)
{
    AUTO(arena) struct arena a = {0};
    const char *folder = folder_of(&a, path);
    const char *own =
        arena_format(&a, "%s-locks", strrchr(path, '/') ? strrchr(path, '/') + 1 : path).p;
    DIR *d = opendir(folder);
    struct dirent *entry;
    bool found = false;

    while (d && !found && (entry = readdir(d))) {
        struct str name = str_of(entry->d_name);

        found = str_ends(name, S("-locks")) && !str_is(name, own) &&
                fs_exists(fs_join(&a, folder,
                                  arena_cstr(&a, str_slice(name, 0, name.n - strlen("-locks")))));
    }
    if (d)
        closedir(d);
    return found;
}

bool sqlite_has_little_room(const char *path)
{
    AUTO(arena) struct arena a = {0};
    struct statvfs disk;

    return statvfs(folder_of(&a, path), &disk) == 0 &&
           (uint64_t)disk.f_bavail * disk.f_frsize < LITTLE_BYTES;
}

/* --- marks --- */

static const char *mark_path(struct arena *a, const char *lock_dir, struct str id)
{
    return arena_format(a, "%s/%" STR_FMT MARK, lock_dir, STR_ARG(id)).p;
}

bool sqlite_is_marked(const char *lock_dir, struct str id)
{
    AUTO(arena) struct arena a = {0};

    return fs_exists(mark_path(&a, lock_dir, id));
}

struct err *sqlite_mark(const char *lock_dir, struct str id)
{
    AUTO(arena) struct arena a = {0};
    const char *path = mark_path(&a, lock_dir, id);
    AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    AUTO_FD dir = open(lock_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || dir < 0 || (fsync(dir) < 0 && errno != EINVAL))
        return err_errno(ERR_STORAGE, errno, "cannot create %s", path);
    return NULL;
}

void sqlite_unmark(const char *lock_dir, struct str id)
{
    AUTO(arena) struct arena a = {0};

    err_ignore(fs_remove(mark_path(&a, lock_dir, id)), "the next sweep removes it");
}

void sqlite_marks_read(const char *lock_dir, struct arena *a, struct sqlite_marks *ret_marks)
{
    DIR *d = opendir(lock_dir);
    struct dirent *entry;
    size_t room = 0;

    *ret_marks = (struct sqlite_marks){0};
    while (d && (entry = readdir(d))) {
        struct str name = str_of(entry->d_name), ending = S(MARK);

        if (!str_ends(name, ending) || !store_id_is_valid(str_slice(name, 0, name.n - ending.n)))
            continue;
        ret_marks->ids = arena_grow(a, ret_marks->ids, ret_marks->n, &room, sizeof *ret_marks->ids);
        ret_marks->ids[ret_marks->n++] = arena_str(a, str_slice(name, 0, name.n - ending.n));
    }
    if (d)
        closedir(d);
}

bool sqlite_marks_have(const struct sqlite_marks *m, struct str id)
{
    for (size_t i = 0; i < m->n; i++)
        if (str_eq(m->ids[i], id))
            return true;
    return false;
}

static struct err *find_parent(struct sqlite_db *db, struct str id, struct arena *a,
                               struct str *ret_parent)
{
    bool has_row;
    struct err *e;

    TRY(sqlite_begin(db, SQL_PARENT));
    sqlite_text(db, SQL_PARENT, 1, id);
    e = sqlite_step(db, SQL_PARENT, &has_row);
    *ret_parent = (struct str){0};
    if (!e && has_row)
        *ret_parent = arena_str(a, sqlite_column_text(db, SQL_PARENT, 0));
    sqlite_end(db, SQL_PARENT);
    return e;
}

struct err *sqlite_is_removed(struct sqlite_db *db, const struct sqlite_marks *m, struct str id,
                              bool *ret_removed)
{
    AUTO(arena) struct arena a = {0};

    *ret_removed = false;
    for (size_t depth = 0; m->n && id.n && depth < MAX_DEPTH && !*ret_removed; depth++) {
        *ret_removed = sqlite_marks_have(m, id);
        TRY(find_parent(db, id, &a, &id));
    }
    return NULL;
}

/* --- payloads --- */

/* Streams that are removed, sorted. */
struct removed_streams {
    int64_t *numbers;
    size_t n;
};

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static struct err *find_removed(struct sqlite_db *db, const char *lock_dir, struct arena *a,
                                struct removed_streams *ret_streams)
{
    struct sqlite_marks marks;
    size_t room = 0;

    *ret_streams = (struct removed_streams){0};
    sqlite_marks_read(lock_dir, a, &marks);
    for (size_t i = 0; i < marks.n; i++) {
        int64_t *numbers;
        size_t n;

        TRY(sqlite_find_tree(db, marks.ids[i], a, &numbers, &n));
        for (size_t k = 0; k < n; k++) {
            ret_streams->numbers = arena_grow(a, ret_streams->numbers, ret_streams->n, &room,
                                              sizeof *ret_streams->numbers);
            ret_streams->numbers[ret_streams->n++] = numbers[k];
        }
    }
    if (ret_streams->n)
        qsort(ret_streams->numbers, ret_streams->n, sizeof(int64_t), compare_numbers);
    return NULL;
}

/* Does a session that is not removed refer to it? */
static struct err *is_needed(struct sqlite_db *db, struct str handle,
                             const struct removed_streams *removed, bool *ret_needed)
{
    bool has_row;
    struct err *e;

    *ret_needed = false;
    TRY(sqlite_begin(db, SQL_REFERRERS));
    sqlite_text(db, SQL_REFERRERS, 1, handle);
    while (!*ret_needed && !(e = sqlite_step(db, SQL_REFERRERS, &has_row)) && has_row) {
        int64_t number = sqlite_column_int(db, SQL_REFERRERS, 0);

        *ret_needed =
            !bsearch(&number, removed->numbers, removed->n, sizeof number, compare_numbers);
    }
    sqlite_end(db, SQL_REFERRERS);
    return *ret_needed ? NULL : e;
}

static struct err *drop_payloads_of(struct sqlite_db *db, const struct sqlite_job *j,
                                    int64_t stream, const struct removed_streams *removed)
{
    bool has_row, needed, gone;
    struct err *e;

    TRY(sqlite_begin(db, SQL_PAYLOADS));
    sqlite_int(db, SQL_PAYLOADS, 1, stream);
    while (!(e = sqlite_step(db, SQL_PAYLOADS, &has_row)) && has_row) {
        struct str handle = sqlite_column_text(db, SQL_PAYLOADS, 0);

        e = is_needed(db, handle, removed, &needed);
        if (!e && !needed)
            e = blob_files_collect(j->blobs, handle, INT64_MAX, &gone);
        if (e)
            break;
    }
    sqlite_end(db, SQL_PAYLOADS);
    return e;
}

struct err *sqlite_job_drop_payloads(struct sqlite_db *db, struct sqlite_job *j)
{
    AUTO(arena) struct arena a = {0};
    struct removed_streams removed;

    TRY(find_removed(db, j->lock_dir, &a, &removed));
    for (size_t i = 0; i < removed.n; i++)
        TRY(drop_payloads_of(db, j, removed.numbers[i], &removed));
    return NULL;
}
