/* blob_files.c - content by its hash, one file each.
 *
 * A file is created whole under its final name or not at all, so readers never see half of one,
 * and two writers of the same content do not disturb each other. What blocks runs in a worker
 * when a task calls. */
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

/* So many files are made durable one by one. For more, or with new directories, the whole file
 * system is: one flush where a file each would need thousands. But that writes what others have
 * changed there, too, which may be much. */
enum { MAX_ONE_BY_ONE = 8 };

struct blob_files {
    struct blob_store store;
    char *dir;
    const char *suffix; /* NULL: by the first two digits, in directories of their own */

    /* what may not be durable yet */
    pthread_mutex_t lock;
    struct {
        char *path;
        uint64_t number; /* of the put */
    } soon[MAX_ONE_BY_ONE];
    size_t n_soon;
    uint64_t n_puts, last_unnamed; /* the last put that is not in the list; 0: there is none */
};

/* One operation, for handing over to a worker. */
struct job {
    const struct blob_files *files;
    struct err *(*run)(struct job *job);
    const char *path, *shard;
    struct arena arena;
    struct str bytes;
    uint64_t from;
    size_t n;
    struct strbuf *out;
    uint64_t size;
    const char *paths[MAX_ONE_BY_ONE]; /* to make durable */
    size_t n_paths;
    bool has_new_dir, is_durable, is_for_all;
};

static struct err *run_job(void *arg)
{
    struct job *job = arg;

    return job->run(job);
}

static struct err *run(struct job *job)
{
    struct err *e = task_self() ? work_run(run_job, job) : run_job(job);

    arena_done(&job->arena);
    return e;
}

static void locate(struct job *job, const struct blob_files *f, struct str handle)
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

/* --- put --- */

static bool has_size(const char *path, size_t n_bytes)
{
    struct stat s;

    return stat(path, &s) == 0 && (uint64_t)s.st_size == n_bytes;
}

/* A file that is durable, and its name, is of the first second of all times, so that nobody has to
 * make it durable again. Should the mark get lost, somebody does. */
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

static struct err *put_job(struct job *job)
{
    bool created;

    if (has_size(job->path, job->bytes.n))
        return NULL;
    TRY(fs_make_dirs(job->files->dir, 0700));
    TRY(fs_make_dirs(job->shard, 0700));
    TRY(fs_create(job->path, job->bytes, 0600, &created));
    if (created || has_size(job->path, job->bytes.n))
        return NULL;
    return fs_write_atomic(job->path, job->bytes, 0600); /* a damaged one stood there */
}

static struct err *put(struct blob_store *b, struct str bytes, char handle[SHA256_HEX_SIZE])
{
    struct job job = {.run = put_job, .bytes = bytes};

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

/* What stands there stays, if it is whole: it may be durable, and this is not. */
static struct err *write_new(struct job *job)
{
    AUTO_FD dir_fd = open(job->shard, O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO(temp_file) struct temp_file t = TEMP_FILE_NONE;

    if (dir_fd < 0 || temp_file_open(&t, dir_fd, strrchr(job->path, '/') + 1) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot create %s", job->path);
    TRY(write_all(t.fd, job->bytes, job->path));
    if (temp_file_create(&t) == 0 || (errno == EEXIST && has_size(job->path, job->bytes.n)))
        return NULL;
    if (errno != EEXIST || temp_file_replace(&t) < 0) /* a damaged one stood there */
        return err_errno(ERR_STORAGE, errno, "cannot create %s", job->path);
    return NULL;
}

static struct err *put_soon_job(struct job *job)
{
    if (has_size(job->path, job->bytes.n)) {
        job->is_durable = is_marked(job->path);
        return NULL;
    }
    if (!fs_is_dir(job->shard)) {
        job->has_new_dir = true;
        TRY(fs_make_dirs(job->files->dir, 0700));
        TRY(fs_make_dirs(job->shard, 0700));
    }
    return write_new(job);
}

static size_t find_soon(const struct blob_files *f, const char *path)
{
    size_t i = 0;

    while (i < f->n_soon && strcmp(f->soon[i].path, path) != 0)
        i++;
    return i;
}

/* One that was there already, too: who put it may not have come to sync it. */
static void note_soon(struct blob_files *f, const char *path, bool has_new_dir)
{
    size_t i;

    pthread_mutex_lock(&f->lock);
    f->n_puts++;
    i = find_soon(f, path);
    if (has_new_dir || i == MAX_ONE_BY_ONE) {
        f->last_unnamed = f->n_puts;
    } else {
        if (i == f->n_soon)
            f->soon[f->n_soon++].path = mem_strdup(path);
        f->soon[i].number = f->n_puts;
    }
    pthread_mutex_unlock(&f->lock);
}

static struct err *put_soon(struct blob_store *b, struct str bytes, char handle[SHA256_HEX_SIZE])
{
    struct blob_files *f = (struct blob_files *)b;
    AUTO(arena) struct arena paths = {0};
    struct job job = {.run = put_soon_job, .bytes = bytes};
    const char *path;

    sha256_hex(bytes, handle);
    locate(&job, f, str_of(handle));
    path = arena_cstr(&paths, str_of(job.path));
    TRY(run(&job));
    if (!job.is_durable)
        note_soon(f, path, job.has_new_dir);
    return NULL;
}

/* --- making them durable --- */

/* Gone is fine: somebody has removed it. */
static struct err *sync_path(const char *path, int flags, int (*sync)(int fd))
{
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | flags);

    if (fd < 0 && errno == ENOENT)
        return NULL;
    if (fd < 0 || sync(fd) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot make %s durable", path);
    return NULL;
}

static struct err *sync_one(struct job *job, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dir = arena_cstr(&job->arena, str_make(path, (size_t)(slash - path)));

    TRY(sync_path(path, 0, fdatasync));
    return sync_path(dir, O_DIRECTORY, fsync);
}

static struct err *sync_job(struct job *job)
{
    if (job->is_for_all)
        TRY(sync_path(job->files->dir, O_DIRECTORY, syncfs));
    for (size_t i = 0; i < job->n_paths; i++) {
        if (!job->is_for_all)
            TRY(sync_one(job, job->paths[i]));
        mark(job->paths[i]);
    }
    return NULL;
}

/* All that was put up to now; the number of the last one. */
static uint64_t collect_soon(struct blob_files *f, struct job *job)
{
    uint64_t n_puts;

    pthread_mutex_lock(&f->lock);
    n_puts = f->n_puts;
    job->is_for_all = f->last_unnamed > 0;
    for (size_t i = 0; i < f->n_soon; i++)
        job->paths[job->n_paths++] = arena_cstr(&job->arena, str_of(f->soon[i].path));
    pthread_mutex_unlock(&f->lock);
    return n_puts;
}

/* What was put again meanwhile stays. */
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

static struct err *sync_files(struct blob_store *b)
{
    struct blob_files *f = (struct blob_files *)b;
    struct job job = {.run = sync_job, .files = f};
    uint64_t n_puts = collect_soon(f, &job);

    if (job.n_paths == 0 && !job.is_for_all)
        return NULL;
    TRY(run(&job));
    forget_soon(f, n_puts);
    return NULL;
}

/* --- get --- */

static struct err *not_there(struct str handle)
{
    return err_hint(err_new(ERR_STORAGE, "stored content %.12s... is not there", handle.p),
                    "it may have been removed by the retention or quota setting");
}

static struct err *get_job(struct job *job)
{
    struct err *e = fs_read_range(job->path, job->from, job->n, job->out);

    if (e && !fs_exists(job->path)) {
        err_ignore(e, "the caller gets a better one");
        return not_there(str_make(strrchr(job->path, '/') + 1, SHA256_HEX_SIZE - 1));
    }
    return e;
}

static struct err *get(struct blob_store *b, struct str handle, uint64_t from, size_t n,
                       struct strbuf *out)
{
    struct job job = {.run = get_job, .from = from, .n = n, .out = out};

    locate(&job, (struct blob_files *)b, handle);
    return run(&job);
}

static struct err *size_job(struct job *job)
{
    struct stat s;

    if (stat(job->path, &s) < 0)
        return not_there(str_make(strrchr(job->path, '/') + 1, SHA256_HEX_SIZE - 1));
    job->size = (uint64_t)s.st_size;
    return NULL;
}

static struct err *size(struct blob_store *b, struct str handle, uint64_t *ret_bytes)
{
    struct job job = {.run = size_job};

    locate(&job, (struct blob_files *)b, handle);
    TRY(run(&job));
    *ret_bytes = job.size;
    return NULL;
}

static struct err *remove_job(struct job *job)
{
    return fs_remove(job->path);
}

static struct err *remove_blob(struct blob_store *b, struct str handle)
{
    struct job job = {.run = remove_job};

    locate(&job, (struct blob_files *)b, handle);
    return run(&job);
}

static void free_files(struct blob_store *b)
{
    struct blob_files *f = (struct blob_files *)b;

    forget_soon(f, UINT64_MAX);
    pthread_mutex_destroy(&f->lock);
    mem_free(f->dir);
    mem_free(f);
}

static const struct blob_ops ops = {.put = put,
                                    .get = get,
                                    .size = size,
                                    .remove = remove_blob,
                                    .put_soon = put_soon,
                                    .sync = sync_files,
                                    .free = free_files};

static struct blob_store *make(const char *dir, const char *suffix, size_t max_bytes)
{
    struct blob_files *f = mem_alloc(sizeof *f);

    f->store = (struct blob_store){.ops = &ops, .max_bytes = max_bytes};
    f->dir = mem_strdup(dir);
    f->suffix = suffix;
    pthread_mutex_init(&f->lock, NULL);
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
