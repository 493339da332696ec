/* identity.c - looks at a file, with the time when it was made. */
#include "sandbox/guard/identity.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <time.h>

static int64_t nanoseconds(int64_t seconds, int64_t more)
{
    return seconds * 1000000000 + more;
}

static struct timespec time_of(const struct statx_timestamp *t)
{
    return (struct timespec){.tv_sec = t->tv_sec, .tv_nsec = t->tv_nsec};
}

int identity_look(int dir, const char *name, struct stat *ret_stat, struct identity *ret_identity)
{
    struct statx x;

    if (statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &x) <
        0)
        return -1;
    *ret_stat = (struct stat){
        .st_dev = makedev(x.stx_dev_major, x.stx_dev_minor),
        .st_ino = x.stx_ino,
        .st_mode = x.stx_mode,
        .st_nlink = x.stx_nlink,
        .st_uid = x.stx_uid,
        .st_gid = x.stx_gid,
        .st_size = (off_t)x.stx_size,
        .st_mtim = time_of(&x.stx_mtime),
        .st_ctim = time_of(&x.stx_ctime),
    };
    *ret_identity = (struct identity){.inode = x.stx_ino};
    if (x.stx_mask & STATX_BTIME)
        ret_identity->born_ns = nanoseconds(x.stx_btime.tv_sec, x.stx_btime.tv_nsec);
    return 0;
}

int64_t identity_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return nanoseconds(now.tv_sec, now.tv_nsec);
}
