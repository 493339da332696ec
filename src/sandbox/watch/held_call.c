/* held_call.c - reads a held call's arguments and says what they mean. */
#include "sandbox/watch/held_call.h"

#include "exec/write_calls.h"
#include "sys/auto_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

/* --- the process's memory --- */

enum { SMALLEST_PAGE = 4096 };

/* Where a filter keeps keel from the call there may still be the file. */
static ssize_t read_mem_file(pid_t process, uint64_t address, void *to, size_t n)
{
    char path[64];
    AUTO_FD fd = -1;
    ssize_t got;

    snprintf(path, sizeof path, "/proc/%d/mem", (int)process);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        errno = errno == EACCES ? EPERM : errno;
        return -1;
    }
    got = pread(fd, to, n, (off_t)address);
    if (got <= 0)
        errno = EFAULT;
    return got;
}

static ssize_t read_memory(pid_t process, uint64_t address, void *to, size_t n)
{
    struct iovec ours = {to, n}, theirs = {(void *)(uintptr_t)address, n};
    ssize_t got = process_vm_readv(process, &ours, 1, &theirs, 1, 0);

    if (got < 0 && (errno == EPERM || errno == ENOSYS))
        got = read_mem_file(process, address, to, n);
    return got;
}

/* Page by page, as only what is before the end of the text must be there. */
static int read_text(pid_t process, uint64_t address, char ret[PATH_MAX])
{
    size_t n = 0;

    while (n < PATH_MAX) {
        size_t room = SMALLEST_PAGE - (size_t)((address + n) % SMALLEST_PAGE);
        ssize_t got = read_memory(process, address + n, ret + n, MIN(room, PATH_MAX - n));

        if (got <= 0)
            return got < 0 ? errno : EFAULT;
        if (memchr(ret + n, 0, (size_t)got))
            return 0;
        n += (size_t)got;
    }
    return ENAMETOOLONG;
}

/* --- what the call means --- */

static const struct write_call *find_call(int number)
{
    for (size_t i = 0; i < ARRAY_LEN(write_calls); i++)
        if (write_calls[i].call == number)
            return &write_calls[i];
    return NULL;
}

static enum write_kind kind_of(const struct write_call *w, unsigned flags)
{
    switch ((enum write_call_kind)w->kind) {
    case WRITE_CALL_OPEN:
    case WRITE_CALL_CONTENT:
        return WRITE_CONTENT;
    case WRITE_CALL_ATTRIBUTES:
    case WRITE_CALL_LINK_ATTRIBUTES:
        return WRITE_ATTRIBUTES;
    case WRITE_CALL_REMOVE:
        return WRITE_REMOVAL;
    case WRITE_CALL_RENAME:
        return flags & RENAME_EXCHANGE ? WRITE_EXCHANGE : WRITE_RENAME;
    case WRITE_CALL_NAME:
    case WRITE_CALL_LINK:
        break;
    }
    return WRITE_NEW_NAME;
}

static bool follows_last(const struct write_call *w, unsigned flags)
{
    switch ((enum write_call_kind)w->kind) {
    case WRITE_CALL_OPEN:
        return !(flags & O_NOFOLLOW) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    case WRITE_CALL_CONTENT:
        return true;
    case WRITE_CALL_ATTRIBUTES:
        return !(flags & AT_SYMLINK_NOFOLLOW);
    default:
        return false;
    }
}

/* What one of the two paths means. */
struct place_args {
    int dir_arg, path_arg;
    bool follows_last, may_be_empty;
};

static int find_place(struct held_call *c, struct command_path *p, const struct seccomp_notif *call,
                      const struct place_args *a)
{
    const uint64_t *args = (const uint64_t *)call->data.args;
    pid_t process = (pid_t)call->pid;
    int dir = a->dir_arg == WRITE_CALL_NONE ? AT_FDCWD : (int)args[a->dir_arg], error;

    if (a->path_arg == WRITE_CALL_NONE)
        return command_path_find_fd(p, c->roots, process, dir);
    error = read_text(process, args[a->path_arg], c->text);
    if (error)
        return error;
    if (!c->text[0] && a->may_be_empty)
        return command_path_find_fd(p, c->roots, process, dir);
    return command_path_find(p, c->roots, process, dir, c->text, a->follows_last);
}

/* What the command will hear of it by itself, so that nothing changes. */
static bool is_failure(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP ||
           error == ENAMETOOLONG;
}

static enum held_call_answer fail(struct held_call *c, int error)
{
    c->error = error;
    return error == EFAULT     ? HELD_CALL_FAULT
           : is_failure(error) ? HELD_CALL_IGNORE
                               : HELD_CALL_MISSED;
}

enum held_call_answer held_call_read(struct held_call *c, const struct seccomp_notif *call)
{
    const struct write_call *w = find_call(call->data.nr);
    unsigned flags = w && w->flags != WRITE_CALL_NONE ? (unsigned)call->data.args[w->flags] : 0;
    bool is_link = w && w->kind == WRITE_CALL_LINK, has_to = w && w->to_path != WRITE_CALL_NONE;
    bool takes_empty = w && w->kind == WRITE_CALL_ATTRIBUTES && flags & AT_EMPTY_PATH;
    int error, to_error = 0;

    if (!w)
        return HELD_CALL_IGNORE;
    if (c->is_blind)
        return fail(c, ESRCH);
    error = find_place(c, &c->path, call,
                       &(struct place_args){w->dir, w->path, follows_last(w, flags), takes_empty});
    if (error)
        return fail(c, error);
    if (has_to)
        to_error = find_place(c, &c->to, call,
                              &(struct place_args){w->to_dir, w->to_path,
                                                   is_link && flags & AT_SYMLINK_FOLLOW,
                                                   is_link && flags & AT_EMPTY_PATH});
    if (to_error && !(is_link && to_error == ENOENT)) /* a file that had no name yet */
        return fail(c, to_error);
    c->notice = (struct write_notice){kind_of(w, flags), c->path.text, NULL};
    if (has_to && !to_error)
        c->notice.to = c->to.text;
    if (write_roots_count(c->roots, c->path.text) ||
        (c->notice.to && write_roots_count(c->roots, c->notice.to)))
        return HELD_CALL_REPORT;
    return HELD_CALL_IGNORE;
}
