/* kernel.h - system calls and structures that some C libraries lack.
 *
 * keel-exec is built with musl if available, else with glibc. The headers of the kernel declare the
 * arguments of these calls; <sys/mount.h> conflicts with them. */
#ifndef KEEL_EXEC_KERNEL_H
#define KEEL_EXEC_KERNEL_H

#include <fcntl.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

/* An entry of a directory, from getdents64(). */
struct kernel_dirent {
    uint64_t d_ino;
    int64_t d_off;
    uint16_t d_reclen;
    uint8_t d_type;
    char d_name[];
};

static inline ssize_t kernel_getdents(int fd, void *buffer, size_t size)
{
    return (ssize_t)syscall(SYS_getdents64, fd, buffer, size);
}

static inline int kernel_mount(const char *source, const char *target, const char *type,
                               unsigned long flags)
{
    return (int)syscall(SYS_mount, source, target, type, flags, NULL);
}

static inline int kernel_open_tree(int dir, const char *path, unsigned flags)
{
    return (int)syscall(SYS_open_tree, dir, path, flags);
}

static inline int kernel_move_mount(int from, int to, const char *to_path, unsigned flags)
{
    return (int)syscall(SYS_move_mount, from, "", to, to_path, flags | MOVE_MOUNT_F_EMPTY_PATH);
}

static inline int kernel_mount_setattr(int dir, const char *path, unsigned flags,
                                       const struct mount_attr *attr)
{
    return (int)syscall(SYS_mount_setattr, dir, path, flags, attr, sizeof *attr);
}

static inline int kernel_fsopen(const char *type, unsigned flags)
{
    return (int)syscall(SYS_fsopen, type, flags);
}

static inline int kernel_fsconfig(int fd, unsigned command, const char *key, const char *value)
{
    return (int)syscall(SYS_fsconfig, fd, command, key, value, 0);
}

static inline int kernel_fsmount(int fd, unsigned flags, unsigned attributes)
{
    return (int)syscall(SYS_fsmount, fd, flags, attributes);
}

/* The result of statx(), as far as it is used. */
struct kernel_statx {
    uint32_t mask;
    uint32_t block_size;
    uint64_t attributes;
    uint64_t owner[2];
    uint64_t inode;
    uint64_t sizes[2];
    uint64_t known_attributes;
    uint64_t times[8];
    uint32_t of_device[2];
    uint32_t device_major, device_minor;
    uint64_t mount;
    uint64_t rest[13];
};
_Static_assert(sizeof(struct kernel_statx) == 256, "as large as the kernel's");
_Static_assert(offsetof(struct kernel_statx, device_major) == 136, "where the kernel has it");
_Static_assert(offsetof(struct kernel_statx, mount) == 144, "where the kernel has it");
#define KERNEL_STATX_MOUNT_ROOT 0x2000ull /* Linux 5.8 */
#define KERNEL_STATX_INODE 0x100u
#define KERNEL_STATX_MOUNT 0x1000u    /* Linux 5.8 */
#define KERNEL_STATX_DONT_SYNC 0x4000 /* no request to a server */

static inline int kernel_statx(int fd, struct kernel_statx *ret)
{
    return (int)syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, KERNEL_STATX_MOUNT,
                        ret);
}

/* Like kernel_statx(), for the target of a link of /proc. */
static inline int kernel_statx_at(int dir, const char *name, struct kernel_statx *ret)
{
    return (int)syscall(SYS_statx, dir, name, AT_NO_AUTOMOUNT | KERNEL_STATX_DONT_SYNC,
                        KERNEL_STATX_INODE, ret);
}

static inline int kernel_pidfd_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static inline int kernel_pidfd_signal(int pidfd, int signal)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

static inline int64_t kernel_ms_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline int64_t kernel_now_ms(void)
{
    return kernel_ms_of(CLOCK_MONOTONIC);
}

/* How long to keep trying. On a busy machine neither keel-exec nor the processes that it waits for
 * get a turn, so besides the time some of the processor's must have been used. */
struct patience {
    int64_t end_ms, end_cpu_ms;
};

static inline struct patience patience_of(int ms)
{
    enum { MIN_CPU_MS = 20 };

    return (struct patience){kernel_now_ms() + ms,
                             kernel_ms_of(CLOCK_PROCESS_CPUTIME_ID) + MIN_CPU_MS};
}

static inline bool patience_lasts(const struct patience *p)
{
    return kernel_now_ms() < p->end_ms || kernel_ms_of(CLOCK_PROCESS_CPUTIME_ID) < p->end_cpu_ms;
}

#endif
