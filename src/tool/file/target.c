/* target.c - finds and opens the file of a call. */
#include "tool/file/target.h"

#include "sys/fs.h"
#include "sys/work.h"
#include "tool/file/shown.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- where it is --- */

struct err *target_resolve(struct arena *a, const char *absolute_path, const char *cwd,
                           const char **ret_target)
{
    const char *target = fs_resolve(a, absolute_path);
    struct stat st;

    if (lstat(target, &st) == 0 && S_ISLNK(st.st_mode))
        return err_hint(err_new(ERR_TOOL_FAILED, "%s is a link to a file that does not exist",
                                path_shown(cwd, absolute_path)),
                        "use the file that it names, or remove the link first");
    *ret_target = target;
    return NULL;
}

struct resolving {
    struct arena *arena;
    const char *path, *cwd, *target;
};

static struct err *target_resolve_in_worker(void *arg)
{
    struct resolving *job = arg;

    return target_resolve(job->arena, job->path, job->cwd, &job->target);
}

struct err *target_find(const struct tool_context *c, struct tool_result *r,
                        const char *absolute_path, const char **ret_target)
{
    struct resolving job = {&r->arena, absolute_path, tool_state_cwd(c->state), c->target};

    if (!c->target)
        TRY(work_run(target_resolve_in_worker, &job));
    *ret_target = job.target;
    return NULL;
}

/* --- stamps --- */

struct err *file_stamp_take(const struct spot *spot, bool *ret_exists, struct file_stamp *ret_stamp)
{
    struct stat st;

    TRY(spot_look(spot, ret_exists, &st));
    if (*ret_exists)
        *ret_stamp = file_stamp_of(&st);
    return NULL;
}

/* --- opening --- */

#define OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY)

static const char *name_of_type(mode_t mode)
{
    if (S_ISFIFO(mode))
        return "a pipe";
    if (S_ISSOCK(mode))
        return "a socket";
    return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "a special file";
}

static struct err *check_type(const char *path, mode_t mode)
{
    if (S_ISREG(mode))
        return NULL;
    if (S_ISDIR(mode))
        return err_hint(err_new(ERR_TOOL_FAILED, "%s is a directory, not a file", path),
                        "list it with Glob (pattern \"*\", path \"%s\") or with ls in Bash", path);
    return err_hint(err_new(ERR_TOOL_FAILED, "%s is %s, not a file", path, name_of_type(mode)),
                    "only regular files can be read and written here");
}

static struct err *check_open(const char *path, int fd, struct open_file *ret_file)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_errno(ERR_TOOL_FAILED, errno, "cannot read %s", path);
    TRY(check_type(path, st.st_mode));
    *ret_file = (struct open_file){
        .path = path,
        .fd = fd,
        .mode = st.st_mode & 07777,
        .stamp = file_stamp_of(&st),
        .n_left = st.st_size ? (uint64_t)st.st_size : OPEN_FILE_MADE_MAX,
        .is_made = st.st_size == 0,
    };
    return NULL;
}

struct err *open_file_open(const struct spot *spot, bool *ret_exists, struct open_file *ret_file)
{
    struct stat st;
    struct err *e;
    int fd;

    /* Before it is opened: opening a pipe or a device can have effects. */
    TRY(spot_look(spot, ret_exists, &st));
    if (!*ret_exists)
        return NULL;
    TRY(check_type(spot->shown, st.st_mode));
    TRY(spot_open(spot, OPEN_FLAGS, &fd));
    *ret_exists = fd >= 0;
    if (fd < 0) /* gone by now */
        return NULL;
    e = check_open(spot->shown, fd, ret_file);
    if (e)
        close(fd);
    return e;
}

bool open_file_may_write(const struct open_file *f)
{
    char path[32];

    if (faccessat(f->fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) == 0)
        return true;
    if (errno != ENOSYS && errno != EINVAL && errno != EPERM)
        return false;
    /* Older kernels than 5.8, and some filters, accept only paths. This one leads to the open
     * file. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->fd);
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

void open_file_done(struct open_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

struct err *open_file_read(struct open_file *f, size_t n, struct strbuf *out, bool *ret_at_end)
{
    n = (size_t)MIN((uint64_t)n, f->n_left);
    *ret_at_end = false;
    while (n && !*ret_at_end) {
        char *at = strbuf_reserve(out, n);
        ssize_t got;

        if (!at)
            return strbuf_check(out, f->path);
        got = read(f->fd, at, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(ERR_TOOL_FAILED, errno, "cannot read %s", f->path);
        strbuf_grew(out, (size_t)got);
        n -= (size_t)got;
        f->n_left -= (uint64_t)got;
        *ret_at_end = got == 0;
    }
    *ret_at_end |= f->n_left == 0;
    return NULL;
}

/* --- failures --- */

struct err *failure_as_result(struct tool_result *r, struct err *take_error)
{
    AUTO(err) struct err *e = take_error;
    AUTO_FREE char *text = NULL;
    const char *hint;

    if (!e || err_is(e, ERR_CANCELLED) || err_is(e, ERR_TIMEOUT))
        return TAKE(e);
    text = err_message(e);
    hint = err_find_hint(e);
    tool_result_fail(r, "%s", text);
    if (hint)
        tool_result_addf(r, "\nHint: %s", hint);
    return NULL;
}
