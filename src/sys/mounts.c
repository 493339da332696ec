/* mounts.c - reads /proc/self/mountinfo when it has changed. */
#include "sys/mounts.h"

#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

static const char path[] = "/proc/self/mountinfo";

void mounts_done(struct mounts *m)
{
    if (m->fd >= 0)
        close(m->fd);
    arena_done(&m->arena);
    *m = MOUNTS_NONE;
}

static bool has_changed(const struct mounts *m)
{
    struct pollfd p = {.fd = m->fd, .events = POLLPRI};

    return poll(&p, 1, 0) != 0;
}

static struct err *read_all(int fd, struct strbuf *out)
{
    char bytes[4096];
    ssize_t n;

    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_errno(ERR_SANDBOX, errno, "cannot read %s", path);
    while ((n = read(fd, bytes, sizeof bytes)) != 0) {
        if (n < 0 && errno != EINTR)
            return err_errno(ERR_SANDBOX, errno, "cannot read %s", path);
        strbuf_add(out, str_make(bytes, n > 0 ? (size_t)n : 0));
    }
    return strbuf_check(out, "the table of mounts");
}

struct err *mounts_look(struct mounts *m, const struct mount_table **ret_table)
{
    AUTO(strbuf) struct strbuf text = {0};
    bool is_new = m->fd < 0;

    if (is_new)
        m->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (m->fd < 0 && errno == EACCES)
        return err_hint(err_errno(ERR_SANDBOX, errno, "cannot open %s", path), "%s",
                        NESTED_SANDBOX_HINT);
    if (m->fd < 0)
        return err_errno(ERR_SANDBOX, errno, "cannot open %s", path);
    if (has_changed(m) || is_new) {
        TRY(read_all(m->fd, &text));
        arena_clear(&m->arena);
        m->version++;
        mount_table_parse(&m->table, &m->arena, strbuf_str(&text));
    }
    *ret_table = &m->table;
    return NULL;
}
