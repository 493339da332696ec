/* blob_files.c - content by its hash, one file each.
 *
 * A file appears whole under its final name or not at all: readers never see half of one, and two
 * writers of the same content do not disturb each other. Blocking calls of a task run in a
 * worker. */
#include "store/blob_files.h"

#include "sys/auto_fd.h"
#include "sys/fs.h"
#include "sys/temp_file.h"
#include "sys/work.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/* Up to this many files are made durable one by one. For more, and for the first of a store, the
 * whole file system is synced: one flush instead of thousands. But that also writes what others
 * have changed there, which may be much. */
enum { MAX_ONE_BY_ONE = 8 };

struct blob_files {
    struct blob_store store;
    char *dir;
    const char *suffix; /* NULL: sorted into directories by the first two digits */

    pthread_mutex_t syncing; /* held while files are made durable; taken before `lock` */
    pthread_mutex_t lock;
    /* The directory at the first put; 0: nothing was put. */
    dev_t dir_device;
    ino_t dir_inode;
    /* files that may not be durable yet */
    struct {
        char *path;
        uint64_t number;   /* of the put */
        bool is_new_shard; /* the put created its directory */
    } soon[MAX_ONE_BY_ONE];
    size_t n_soon;
    uint64_t n_puts, last_unnamed; /* the last put that is not in the list; 0: none */
    /* A sync has failed. The kernel then takes unwritten pages for written ones, and the next sync
     * reports nothing. So what is not known to be durable is written again. */
    bool is_suspect;
};

/* One operation for a worker. */
struct blob_job {
    struct blob_files *files;
    struct err *(*run)(struct blob_job *job);
    const char *path, *shard;
    struct arena arena;
    struct str bytes;
    uint64_t from;
    size_t n;
    struct strbuf *out;
    uint64_t size;
    const char *paths[MAX_ONE_BY_ONE]; /* to make durable */
    size_t n_paths;
    bool has_new_dir, has_new_shard, is_durable, is_for_all;
    bool is_suspect; /* of the store, at the start of the job */
};

static struct err *blob_job_run(void *arg)
{
    struct blob_job *job = arg;

    return job->run(job);
}

static struct err *run(struct blob_job *job)
{
    struct err *e = task_self() ? work_run(blob_job_run, job) : blob_job_run(job);

    arena_done(&job->arena);
    return e;
}

static void locate(struct blob_job *job, struct blob_files *f, struct str handle)
{
    job->files = f;
    if (f->suffix) {
        job->shard = f->dir;
        job->path =
            arena_format(&job->arena, "%s/%" STR_FMT "%s", f->dir, STR_ARG(handle), f->suffix).p;
        return;
    }
    job->shard = fs_join(&job->arena, f->dir, arena_cstr(&job->arena, str_slice(handle, 0, 2)));
    job->path = fs_join(&job->arena, job->shard, arena_cstr(&job->arena, handle));
}

/* --- the directory --- */

/* Earlier puts are lost with a directory that was moved or removed. The caller that refers to them
 * must learn this. */
static struct err *check_dir(struct blob_files *f)
{
    struct stat s = {0};
    bool is_there = stat(f->dir, &s) == 0, is_same;

    pthread_mutex_lock(&f->lock);
    is_same = !f->dir_inode || (is_there && s.st_ino == f->dir_inode && s.st_dev == f->dir_device);
    pthread_mutex_unlock(&f->lock);
    if (is_same)
        return NULL;
    return err_hint(err_new(ERR_STORAGE, "%s was moved or removed while in use", f->dir),
                    "put it back if you can; keel stores nothing more until it is restarted");
}

static void remember_dir(struct blob_files *f)
{
    struct stat s;

    pthread_mutex_lock(&f->lock);
    if (!f->dir_inode && stat(f->dir, &s) == 0) {
        f->dir_device = s.st_dev;
        f->dir_inode = s.st_ino;
    }
    pthread_mutex_unlock(&f->lock);
}

static struct err *make_dirs(struct blob_job *job)
{
    TRY(check_dir(job->files));
    TRY(fs_make_dirs(job->files->dir, 0700));
    return fs_make_dirs(job->shard, 0700);
}

void blob_files_forget_dir(struct blob_store *b)
{
    struct blob_files *f = (struct blob_files *)b;

    pthread_mutex_lock(&f->lock);
    f->dir_inode = 0;
    pthread_mutex_unlock(&f->lock);
}

/* --- put --- */

static bool has_size(const char *path, size_t n_bytes)
{
    struct stat s;

    return stat(path, &s) == 0 && (uint64_t)s.st_size == n_bytes;
}

/* The access time of a file is the time of its last put, give or take this. Collectors use it: a
 * file that was put lately may be referred to soon. */
#define TOUCH_EVERY_S 300

/* Does the whole file exist, and is it safe from collectors for a while? */
static bool is_there(const char *path, size_t n_bytes)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    struct stat s;

    if (stat(path, &s) < 0 || (uint64_t)s.st_size != n_bytes)
        return false;
    if (s.st_atim.tv_sec > time(NULL) - TOUCH_EVERY_S)
        return true;
    return utimensat(AT_FDCWD, path, times, 0) == 0 || errno != ENOENT;
}

/* A file that is durable, with its name, has this modification time, so that it is not synced
 * again. If the mark gets lost, it is synced once more. */
#define DURABLE_SECOND 1

static bool is_marked(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && s.st_mtim.tv_sec == DURABLE_SECOND;
}

static void mark(const char *path)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = DURABLE_SECOND}};

    utimensat(AT_FDCWD, path, times, 0);
}

/* An existing file may be damaged, or its writer has not synced it yet. */
static struct err *job_put(struct blob_job *job)
{
    bool created = false;

    if (is_there(job->path, job->bytes.n) && is_marked(job->path))
        return NULL;
    TRY(make_dirs(job));
    if (!fs_exists(job->path))
        TRY(fs_create(job->path, job->bytes, 0600, &created));
    if (!created)
        TRY(fs_write_atomic(job->path, job->bytes, 0600));
    mark(job->path);
    remember_dir(job->files);
    return NULL;
}

static bool is_suspect(struct blob_files *f)
{
    bool result;

    pthread_mutex_lock(&f->lock);
    result = f->is_suspect;
    pthread_mutex_unlock(&f->lock);
    return result;
}

static struct err *blob_files_put(struct blob_store *b, struct str bytes,
                                  char handle[SHA256_HEX_SIZE])
{
    struct blob_job job = {.run = job_put, .bytes = bytes};

    sha256_hex(bytes, handle);
    locate(&job, (struct blob_files *)b, str_of(handle));
    return run(&job);
}

/* --- many at once --- */

static struct err *write_all(int fd, struct str bytes, const char *path)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(ERR_STORAGE, errno, "cannot write %s", path);
        bytes = str_skip(bytes, (size_t)n);
    }
    return NULL;
}

/* A whole file that exists stays unless `replaces`: it may be durable, and the new one is not. */
static struct err *write_file(const char *shard, const char *path, struct str bytes, bool replaces)
{
    AUTO_FD dir_fd = open(shard, O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO(temp_file) struct temp_file t = TEMP_FILE_NONE;

    if (dir_fd < 0 || temp_file_open(&t, dir_fd, strrchr(path, '/') + 1) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot create %s", path);
    TRY(write_all(t.fd, bytes, path));
    if (!replaces && temp_file_create(&t) == 0)
        return NULL;
    if (!replaces && errno == EEXIST && has_size(path, bytes.n))
        return NULL;
    if ((!replaces && errno != EEXIST) || temp_file_replace(&t) < 0) /* over a damaged one */
        return err_errno(ERR_STORAGE, errno, "cannot create %s", path);
    return NULL;
}

static struct err *job_put_soon(struct blob_job *job)
{
    if (is_there(job->path, job->bytes.n)) {
        job->is_durable = is_marked(job->path);
        if (job->is_durable || !job->is_suspect)
            return NULL;
    }
    if (!fs_is_dir(job->shard)) {
        job->has_new_dir = !fs_is_dir(job->files->dir);
        job->has_new_shard = true;
        TRY(make_dirs(job));
    }
    remember_dir(job->files);
    return write_file(job->shard, job->path, job->bytes, job->is_suspect);
}

/* Notes existing files too: their writer may not have synced them. */
static void note_soon(struct blob_files *f, const char *path, const struct blob_job *job)
{
    size_t i = 0;

    pthread_mutex_lock(&f->lock);
    f->n_puts++;
    while (i < f->n_soon && strcmp(f->soon[i].path, path) != 0)
        i++;
    if (job->has_new_dir || i == MAX_ONE_BY_ONE) {
        f->last_unnamed = f->n_puts;
    } else {
        if (i == f->n_soon) {
            f->soon[f->n_soon++].path = mem_strdup(path);
            f->soon[i].is_new_shard = false;
        }
        f->soon[i].number = f->n_puts;
        f->soon[i].is_new_shard |= job->has_new_shard;
    }
    pthread_mutex_unlock(&f->lock);
}

static struct err *blob_files_put_soon(struct blob_store *b, struct str bytes,
                                       char handle[SHA256_HEX_SIZE])
{
    struct blob_files *f = (struct blob_files *)b;
    AUTO(arena) struct arena paths = {0};
    struct blob_job job = {.run = job_put_soon, .bytes = bytes, .is_suspect = is_suspect(f)};
    const char *path;

    sha256_hex(bytes, handle);
    locate(&job, f, str_of(handle));
    path = arena_cstr(&paths, str_of(job.path));
    TRY(run(&job));
    if (!job.is_durable)
        note_soon(f, path, &job);
    return NULL;
}

/* --- making them durable --- */

/* A missing file is fine: somebody removed it. */
static struct err *sync_path(const char *path, int flags, int (*sync)(int fd))
{
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | flags);

    if (fd < 0 && errno == ENOENT)
        return NULL;
    if (fd < 0 || sync(fd) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot make %s durable", path);
    return NULL;
}

static const char *shard_of(struct blob_job *job, const char *path)
{
    return arena_cstr(&job->arena, str_make(path, (size_t)(strrchr(path, '/') - path)));
}

static struct err *sync_one(struct blob_job *job, const char *path)
{
    const char *dir = shard_of(job, path);

    TRY(sync_path(path, 0, fdatasync));
    return sync_path(dir, O_DIRECTORY, fsync);
}

static struct err *sync_all(struct blob_job *job)
{
    if (job->is_for_all)
        return sync_path(job->files->dir, O_DIRECTORY, syncfs);
    for (size_t i = 0; i < job->n_paths; i++)
        TRY(sync_one(job, job->paths[i]));
    return job->has_new_shard ? sync_path(job->files->dir, O_DIRECTORY, fsync) : NULL;
}

/* Writes what the kernel still has of it to a new file, which the next sync writes. */
static struct err *write_again(struct blob_job *job, const char *path)
{
    AUTO(strbuf) struct strbuf bytes = {0};

    TRY(fs_read_range(path, 0, SIZE_MAX, &bytes));
    return write_file(shard_of(job, path), path, strbuf_str(&bytes), true);
}

static struct err *sync_collected(struct blob_job *job)
{
    struct err *e = sync_all(job);

    for (size_t i = 0; i < job->n_paths; i++)
        if (!e)
            mark(job->paths[i]);
        else if (!is_marked(job->paths[i]))
            err_ignore(write_again(job, job->paths[i]), "the sync has failed anyway");
    return e;
}

/* Collects all puts so far. Returns the number of the last one. */
static uint64_t collect_soon(struct blob_files *f, struct blob_job *job)
{
    uint64_t n_puts;

    pthread_mutex_lock(&f->lock);
    n_puts = f->n_puts;
    job->is_for_all = f->last_unnamed > 0;
    for (size_t i = 0; i < f->n_soon; i++) {
        job->paths[job->n_paths++] = arena_cstr(&job->arena, str_of(f->soon[i].path));
        job->has_new_shard |= f->soon[i].is_new_shard;
    }
    pthread_mutex_unlock(&f->lock);
    return n_puts;
}

static bool has_soon(struct blob_files *f)
{
    bool has_some;

    pthread_mutex_lock(&f->lock);
    has_some = f->n_soon || f->last_unnamed;
    pthread_mutex_unlock(&f->lock);
    return has_some;
}

/* Keeps files that were put again meanwhile. */
static void forget_soon(struct blob_files *f, uint64_t n_puts)
{
    size_t n_kept = 0;

    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < f->n_soon; i++)
        if (f->soon[i].number > n_puts)
            f->soon[n_kept++] = f->soon[i];
        else
            mem_free(f->soon[i].path);
    f->n_soon = n_kept;
    if (f->last_unnamed <= n_puts)
        f->last_unnamed = 0;
    pthread_mutex_unlock(&f->lock);
}

static void suspect(struct blob_files *f)
{
    pthread_mutex_lock(&f->lock);
    f->is_suspect = true;
    pthread_mutex_unlock(&f->lock);
}

/* One at a time: the kernel reports a failure once, and the next sync must find the files
 * rewritten. */
static struct err *job_sync(struct blob_job *job)
{
    struct blob_files *f = job->files;
    struct err *e = NULL;
    uint64_t n_puts;

    pthread_mutex_lock(&f->syncing);
    n_puts = collect_soon(f, job);
    if (job->n_paths || job->is_for_all)
        e = sync_collected(job);
    if (e)
        suspect(f);
    else
        forget_soon(f, n_puts);
    pthread_mutex_unlock(&f->syncing);
    return e;
}

static struct err *blob_files_sync(struct blob_store *b)
{
    struct blob_job job = {.run = job_sync, .files = (struct blob_files *)b};

    return has_soon(job.files) ? run(&job) : NULL;
}

/* --- get --- */

static struct err *not_there(struct str handle)
{
    return err_hint(err_new(ERR_STORAGE, "stored content %.12s... is missing", handle.p),
                    "the retention or quota setting may have removed it");
}

/* Opening a pipe would wait for its writer. */
static struct err *check_kind(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
        return NULL;
    return err_hint(err_new(ERR_STORAGE, "%s is not a regular file", path),
                    "move it away, and put the file there if you have it");
}

static struct err *job_get(struct blob_job *job)
{
    struct err *e = check_kind(job->path);

    if (!e)
        e = fs_read_range(job->path, job->from, job->n, job->out);
    if (e && !fs_exists(job->path)) {
        err_ignore(e, "the caller gets a better one");
        return not_there(str_make(strrchr(job->path, '/') + 1, SHA256_HEX_SIZE - 1));
    }
    return e;
}

static struct err *blob_files_get(struct blob_store *b, struct str handle, uint64_t from, size_t n,
                                  struct strbuf *out)
{
    struct blob_job job = {.run = job_get, .from = from, .n = n, .out = out};

    locate(&job, (struct blob_files *)b, handle);
    return run(&job);
}

static struct err *job_size(struct blob_job *job)
{
    struct stat s;

    if (stat(job->path, &s) < 0)
        return not_there(str_make(strrchr(job->path, '/') + 1, SHA256_HEX_SIZE - 1));
    job->size = (uint64_t)s.st_size;
    return NULL;
}

static struct err *blob_files_size(struct blob_store *b, struct str handle, uint64_t *ret_bytes)
{
    struct blob_job job = {.run = job_size};

    locate(&job, (struct blob_files *)b, handle);
    TRY(run(&job));
    *ret_bytes = job.size;
    return NULL;
}

static struct err *job_remove(struct blob_job *job)
{
    return fs_remove(job->path);
}

static struct err *blob_files_remove(struct blob_store *b, struct str handle)
{
    struct blob_job job = {.run = job_remove};

    locate(&job, (struct blob_files *)b, handle);
    return run(&job);
}

struct err *blob_files_collect(struct blob_store *b, struct str handle, int64_t unix_ms,
                               bool *ret_gone)
{
    struct blob_job job = {0};
    struct stat s;
    struct err *e = NULL;

    locate(&job, (struct blob_files *)b, handle);
    *ret_gone = stat(job.path, &s) < 0 || s.st_atim.tv_sec < unix_ms / 1000;
    if (*ret_gone)
        e = fs_remove(job.path);
    arena_done(&job.arena);
    return e;
}

static void blob_files_free(struct blob_store *b)
{
    struct blob_files *f = (struct blob_files *)b;

    forget_soon(f, UINT64_MAX);
    pthread_mutex_destroy(&f->lock);
    pthread_mutex_destroy(&f->syncing);
    mem_free(f->dir);
    mem_free(f);
}

static const struct blob_ops ops = {.put = blob_files_put,
                                    .get = blob_files_get,
                                    .size = blob_files_size,
                                    .remove = blob_files_remove,
                                    .put_soon = blob_files_put_soon,
                                    .sync = blob_files_sync,
                                    .free = blob_files_free};

static struct blob_store *make(const char *dir, const char *suffix, size_t max_bytes)
{
    struct blob_files *f = mem_alloc(sizeof *f);

    f->store = (struct blob_store){.ops = &ops, .max_bytes = max_bytes};
    f->dir = mem_strdup(dir);
    f->suffix = suffix;
    pthread_mutex_init(&f->lock, NULL);
    pthread_mutex_init(&f->syncing, NULL);
    return &f->store;
}

struct blob_store *blob_files_new(const char *dir, size_t max_bytes)
{
    return make(dir, NULL, max_bytes);
}

struct blob_store *blob_files_flat_new(const char *dir, const char *suffix, size_t max_bytes)
{
    return make(dir, suffix, max_bytes);
}
