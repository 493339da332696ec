/* probe_files.c - changes files and what is known about them, in the less usual ways. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Calls that are younger than the headers of Debian 12. The numbers hold on every architecture. */
#define NR_FCHMODAT2 452
#define NR_SETXATTRAT 463
#define NR_FILE_GETATTR 468
#define NR_FILE_SETATTR 469

enum { HANDLE_BYTES = 128 };

static int open_to_read(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* --- a program with a set-user-ID bit --- */

enum { SET_ID_MODE = 06755 };

static int set_id_open(char **a)
{
    return ended("open", open(a[0], O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, SET_ID_MODE));
}

static int set_id_openat2(char **a)
{
    struct open_how how = {.flags = O_CREAT | O_EXCL | O_WRONLY, .mode = SET_ID_MODE};

    return ended("openat2", syscall(SYS_openat2, AT_FDCWD, a[0], &how, sizeof(how)));
}

static int set_id_creat(char **a)
{
    return ended("creat", creat(a[0], SET_ID_MODE));
}

static int set_id_mknod(char **a)
{
    return ended("mknod", mknod(a[0], S_IFREG | SET_ID_MODE, 0));
}

/* Without a name at first. */
static int set_id_tmpfile(char **a)
{
    int fd = open(".", O_TMPFILE | O_WRONLY | O_CLOEXEC, SET_ID_MODE);
    char path[64];

    if (fd < 0)
        return stopped("open");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return ended("linkat", linkat(AT_FDCWD, path, AT_FDCWD, a[0], AT_SYMLINK_FOLLOW));
}

static int set_id_fchmodat2(char **a)
{
    int fd = open(a[0], O_CREAT | O_WRONLY | O_CLOEXEC, 0755);

    if (fd < 0)
        return stopped("open");
    return ended("fchmodat2", syscall(NR_FCHMODAT2, fd, "", SET_ID_MODE, AT_EMPTY_PATH));
}

static int set_id_fchmod(char **a)
{
    int fd = open(a[0], O_CREAT | O_WRONLY | O_CLOEXEC, 0755);

    return fd < 0 ? stopped("open") : ended("fchmod", fchmod(fd, SET_ID_MODE));
}

/* Exchanges two names without pause, until it is ended. */
static int exchange_always(char **a)
{
    if (renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1], RENAME_EXCHANGE) < 0)
        return stopped("renameat2");
    printf("ready\n");
    fflush(stdout);
    for (;;)
        renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1], RENAME_EXCHANGE);
}

/* A whole subvolume, with all that mounts hide in it. */
static int by_snapshot(char **a)
{
    struct btrfs_ioctl_vol_args_v2 args = {.fd = open(a[0], O_RDONLY | O_CLOEXEC)};
    int to = open(a[1], O_RDONLY | O_CLOEXEC);

    if (args.fd < 0 || to < 0)
        return stopped("open");
    snprintf(args.name, sizeof(args.name), "%s", a[2]);
    return ended("BTRFS_IOC_SNAP_CREATE_V2", ioctl(to, BTRFS_IOC_SNAP_CREATE_V2, &args));
}

static int by_mmap(char **a)
{
    int fd = open(a[0], O_RDWR | O_CLOEXEC);
    char *bytes;

    if (fd < 0)
        return stopped("open");
    bytes = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        return stopped("mmap");
    bytes[0] = '!';
    return reached();
}

static int by_truncate(char **a)
{
    return ended("truncate", truncate(a[0], 1));
}

static int by_ftruncate(char **a)
{
    int fd = open(a[0], O_WRONLY | O_CLOEXEC);

    return fd < 0 ? stopped("open") : ended("ftruncate", ftruncate(fd, 1));
}

static int by_fallocate(char **a)
{
    int fd = open(a[0], O_RDWR | O_CLOEXEC);

    return fd < 0 ? stopped("open") : ended("fallocate", fallocate(fd, 0, 0, 100));
}

/* A file without a name in one directory gets a name in another one. */
static int tmpfile_link(char **a)
{
    char path[64];
    int fd = open(a[0], O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);

    if (fd < 0)
        return stopped("open with O_TMPFILE");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return ended("linkat", linkat(AT_FDCWD, path, AT_FDCWD, a[1], AT_SYMLINK_FOLLOW));
}

static int by_rename(char **a)
{
    return ended("rename", rename(a[0], a[1]));
}

static int by_exchange(char **a)
{
    return ended("renameat2", renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1], RENAME_EXCHANGE));
}

static int by_link(char **a)
{
    return ended("link", link(a[0], a[1]));
}

static int by_chmod(char **a)
{
    return ended("chmod", chmod(a[0], 0777));
}

static int by_fchmod(char **a)
{
    int fd = open_to_read(a[0]);

    return fd < 0 ? stopped("open") : ended("fchmod", fchmod(fd, 0777));
}

static int by_fchmodat2(char **a)
{
    return ended("fchmodat2", syscall(NR_FCHMODAT2, AT_FDCWD, a[0], 0777, AT_SYMLINK_NOFOLLOW));
}

static int chmod_by_proc(char **a)
{
    char path[64];
    int fd = open(a[0], O_PATH | O_CLOEXEC);

    if (fd < 0)
        return stopped("open");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return ended("chmod", chmod(path, 0777));
}

/* To the ids that the file has: it needs the same rights and gives up the set-uid bit. */
static int by_chown(char **a)
{
    struct stat st;

    if (stat(a[0], &st) < 0)
        return stopped("stat");
    return ended("chown", chown(a[0], st.st_uid, st.st_gid));
}

static int by_fchown(char **a)
{
    struct stat st;
    int fd = open_to_read(a[0]);

    if (fd < 0 || fstat(fd, &st) < 0)
        return stopped("open");
    return ended("fchown", fchown(fd, st.st_uid, st.st_gid));
}

static int by_utimes(char **a)
{
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

    return ended("utimensat", utimensat(AT_FDCWD, a[0], times, 0));
}

static int by_futimens(char **a)
{
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    int fd = open_to_read(a[0]);

    return fd < 0 ? stopped("open") : ended("futimens", futimens(fd, times));
}

static int by_setxattr(char **a)
{
    return ended("setxattr", setxattr(a[0], "user.attack", "x", 1, 0));
}

static int by_lsetxattr(char **a)
{
    return ended("lsetxattr", lsetxattr(a[0], "user.attack", "x", 1, 0));
}

static int by_fsetxattr(char **a)
{
    int fd = open_to_read(a[0]);

    return fd < 0 ? stopped("open") : ended("fsetxattr", fsetxattr(fd, "user.attack", "x", 1, 0));
}

static int by_setxattrat(char **a)
{
    static const char value[] = "x";
    struct {
        uint64_t value;
        uint32_t size, flags;
    } args = {.value = (uintptr_t)value, .size = 1};

    return ended("setxattrat",
                 syscall(NR_SETXATTRAT, AT_FDCWD, a[0], 0, "user.attack", &args, sizeof(args)));
}

static int by_removexattr(char **a)
{
    return ended("removexattr", removexattr(a[0], "user.canary"));
}

/* What setfacl -m u:1:rwx does. */
static int set_acl(char **a)
{
    static const uint8_t acl[] = {
        2,    0, 0, 0,                         /* version */
        0x01, 0, 6, 0, 0xff, 0xff, 0xff, 0xff, /* the owner: rw */
        0x02, 0, 7, 0, 1,    0,    0,    0,    /* user 1: rwx */
        0x04, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, /* the group: r */
        0x10, 0, 7, 0, 0xff, 0xff, 0xff, 0xff, /* the mask */
        0x20, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, /* others: r */
    };

    return ended("setxattr", setxattr(a[0], "system.posix_acl_access", acl, sizeof(acl), 0));
}

/* What chattr +d does: a file that is open for reading is enough. */
static int set_flags(char **a)
{
    int fd = open_to_read(a[0]);
    long flags = 0;

    if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
        return stopped("FS_IOC_GETFLAGS");
    flags ^= FS_NODUMP_FL;
    return ended("FS_IOC_SETFLAGS", ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static int set_fsxattr(char **a)
{
    int fd = open_to_read(a[0]);
    struct fsxattr attributes = {0};

    if (fd < 0 || ioctl(fd, FS_IOC_FSGETXATTR, &attributes) < 0)
        return stopped("FS_IOC_FSGETXATTR");
    attributes.fsx_xflags ^= FS_XFLAG_NODUMP;
    return ended("FS_IOC_FSSETXATTR", ioctl(fd, FS_IOC_FSSETXATTR, &attributes));
}

static int by_file_setattr(char **a)
{
    uint64_t attributes[3] = {0}; /* struct file_attr: the flags come first */

    if (syscall(NR_FILE_GETATTR, AT_FDCWD, a[0], attributes, sizeof(attributes), 0) < 0)
        return stopped("file_getattr");
    attributes[0] ^= FS_XFLAG_NODUMP;
    return ended("file_setattr",
                 syscall(NR_FILE_SETATTR, AT_FDCWD, a[0], attributes, sizeof(attributes), 0));
}

/* Opens again, for writing, what stands on a descriptor that was opened for reading. */
static int reopen(char **a)
{
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/self/fd/%s", a[0]);
    fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    return fd < 0 ? stopped(path) : write_line(fd);
}

static int fchmod_fd(char **a)
{
    return ended("fchmod", fchmod(atoi(a[0]), 0777));
}

static int futimens_fd(char **a)
{
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

    return ended("futimens", futimens(atoi(a[0]), times));
}

static int fsetxattr_fd(char **a)
{
    return ended("fsetxattr", fsetxattr(atoi(a[0]), "user.attack", "x", 1, 0));
}

static int print_path(char **a)
{
    return print_file(AT_FDCWD, a[0]);
}

static int read_below_fd(char **a)
{
    return print_file(atoi(a[0]), a[1]);
}

static int write_below_fd(char **a)
{
    int fd = openat(atoi(a[0]), a[1], O_WRONLY | O_APPEND | O_CLOEXEC);

    return fd < 0 ? stopped(a[1]) : write_line(fd);
}

static int write_fd(char **a)
{
    return write_line(atoi(a[0]));
}

/* The handle of a file, in hexadecimal: made outside, where the attacker would guess it. */
static int handle_of(char **a)
{
    union {
        struct file_handle head;
        char bytes[sizeof(struct file_handle) + HANDLE_BYTES];
    } handle = {.head.handle_bytes = HANDLE_BYTES};
    int mount_id;

    if (name_to_handle_at(AT_FDCWD, a[0], &handle.head, &mount_id, 0) < 0)
        return stopped("name_to_handle_at");
    for (size_t i = 0; i < sizeof(struct file_handle) + handle.head.handle_bytes; i++)
        printf("%02x", (unsigned char)handle.bytes[i]);
    printf("\n");
    return 0;
}

static int open_handle(char **a, int flags)
{
    union {
        struct file_handle head;
        char bytes[sizeof(struct file_handle) + HANDLE_BYTES];
    } handle = {.head.handle_bytes = 0};
    int mount_fd = open(a[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (mount_fd < 0) {
        stopped(a[0]);
        return -1;
    }
    for (size_t i = 0; i < sizeof(handle.bytes) && a[1][2 * i]; i++) {
        const char digits[] = {a[1][2 * i], a[1][2 * i + 1], '\0'};
        handle.bytes[i] = (char)strtol(digits, NULL, 16);
    }
    return open_by_handle_at(mount_fd, &handle.head, flags);
}

static int read_handle(char **a)
{
    int fd = open_handle(a, O_RDONLY);

    return fd < 0 ? stopped("open_by_handle_at") : print_all(fd);
}

static int write_handle(char **a)
{
    int fd = open_handle(a, O_WRONLY | O_APPEND);

    return fd < 0 ? stopped("open_by_handle_at") : write_line(fd);
}

static int bind_socket(char **a)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (fd < 0)
        return stopped("socket");
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", a[0]);
    return ended("bind", bind(fd, (struct sockaddr *)&address, sizeof(address)));
}

/* A device node in the workspace, then what is on the device. */
static int by_mknod(char **a)
{
    char bytes[512];
    int fd;

    if (mknod(a[0], S_IFBLK | 0600, (dev_t)strtoull(a[1], NULL, 10)) < 0)
        return stopped("mknod");
    fd = open(a[0], O_RDONLY | O_CLOEXEC);
    return fd < 0 ? stopped("open") : ended("read", read(fd, bytes, sizeof(bytes)));
}

static int open_device(char **a)
{
    return ended(a[0], open(a[0], strchr(a[1], 'w') ? O_WRONLY : O_RDONLY));
}

/* Whoever opens the file to write it has to wait then. */
static int by_lease(char **a)
{
    int fd = open(a[0], O_RDONLY | O_CLOEXEC);

    return fd < 0 ? stopped(a[0]) : ended("F_SETLEASE", fcntl(fd, F_SETLEASE, F_RDLCK));
}

const struct deed file_deeds[] = {
    {"mmap", 1, by_mmap},
    {"truncate", 1, by_truncate},
    {"ftruncate", 1, by_ftruncate},
    {"fallocate", 1, by_fallocate},
    {"tmpfile-link", 2, tmpfile_link},
    {"rename", 2, by_rename},
    {"exchange", 2, by_exchange},
    {"link", 2, by_link},
    {"chmod", 1, by_chmod},
    {"fchmod", 1, by_fchmod},
    {"fchmodat2", 1, by_fchmodat2},
    {"chmod-by-proc", 1, chmod_by_proc},
    {"chown", 1, by_chown},
    {"fchown", 1, by_fchown},
    {"utimes", 1, by_utimes},
    {"futimens", 1, by_futimens},
    {"setxattr", 1, by_setxattr},
    {"lsetxattr", 1, by_lsetxattr},
    {"fsetxattr", 1, by_fsetxattr},
    {"setxattrat", 1, by_setxattrat},
    {"removexattr", 1, by_removexattr},
    {"set-acl", 1, set_acl},
    {"set-flags", 1, set_flags},
    {"set-fsxattr", 1, set_fsxattr},
    {"file-setattr", 1, by_file_setattr},
    {"reopen", 1, reopen},
    {"fchmod-fd", 1, fchmod_fd},
    {"futimens-fd", 1, futimens_fd},
    {"fsetxattr-fd", 1, fsetxattr_fd},
    {"set-id-open", 1, set_id_open},
    {"set-id-openat2", 1, set_id_openat2},
    {"set-id-creat", 1, set_id_creat},
    {"set-id-mknod", 1, set_id_mknod},
    {"set-id-tmpfile", 1, set_id_tmpfile},
    {"set-id-fchmod", 1, set_id_fchmod},
    {"set-id-fchmodat2", 1, set_id_fchmodat2},
    {"exchange-always", 2, exchange_always},
    {"lease", 1, by_lease},
    {"snapshot", 3, by_snapshot},
    {"print", 1, print_path},
    {"read-below-fd", 2, read_below_fd},
    {"write-below-fd", 2, write_below_fd},
    {"write-fd", 1, write_fd},
    {"handle-of", 1, handle_of},
    {"read-handle", 2, read_handle},
    {"write-handle", 2, write_handle},
    {"bind-socket", 1, bind_socket},
    {"mknod", 2, by_mknod},
    {"open-device", 2, open_device},
    {NULL, 0, NULL},
};
