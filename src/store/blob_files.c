/* blob_files.c - content by its hash, one file each.
 *
 * A file is created whole under its final name or not at all, so readers never see half of one,
 * and two writers of the same content do not disturb each other. What blocks runs in a worker
 * when a task calls. */
#include "store/blob_files.h"

#include "sys/auto_fd.h"
#include "sys/fs.h"
#include "sys/work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct blob_files {
    struct blob_store store;
    char *dir;
    const char *suffix; /* NULL: by the first two digits, in directories of their own */
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

static struct err *write_temp(struct str bytes, char *temp)
{
    AUTO_FD fd = mkostemp(temp, O_CLOEXEC);

    if (fd < 0)
        return err_errno(ERR_STORAGE, errno, "cannot create %s", temp);
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(ERR_STORAGE, errno, "cannot write %s", temp);
        bytes = str_skip(bytes, (size_t)n);
    }
    return NULL;
}

/* Whoever else stores this content now writes the same: the last rename wins, and does no harm. */
static struct err *put_soon_job(struct job *job)
{
    char *temp = (char *)arena_format(&job->arena, "%s.XXXXXX", job->path).p;
    struct err *e;

    if (has_size(job->path, job->bytes.n))
        return NULL;
    if (!fs_is_dir(job->shard)) {
        TRY(fs_make_dirs(job->files->dir, 0700));
        TRY(fs_make_dirs(job->shard, 0700));
    }
    e = write_temp(job->bytes, temp);
    if (!e && rename(temp, job->path) < 0)
        e = err_errno(ERR_STORAGE, errno, "cannot create %s", job->path);
    if (e)
        unlink(temp);
    return e;
}

static struct err *put_soon(struct blob_store *b, struct str bytes, char handle[SHA256_HEX_SIZE])
{
    struct job job = {.run = put_soon_job, .bytes = bytes};

    sha256_hex(bytes, handle);
    locate(&job, (struct blob_files *)b, str_of(handle));
    return run(&job);
}

/* All of the file system: one flush where a file each would need thousands. */
static struct err *sync_job(struct job *job)
{
    const char *dir = job->files->dir;
    AUTO_FD fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT) /* nothing was ever put */
        return NULL;
    if (fd < 0 || syncfs(fd) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot make %s durable", dir);
    return NULL;
}

static struct err *sync_files(struct blob_store *b)
{
    struct job job = {.run = sync_job, .files = (struct blob_files *)b};

    return run(&job);
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
