/* disk.c - what a loss of power would leave: files as they were when they were synced last, under
 * the names that their directories had when those were.
 *
 * files/INODE has the bytes of a file. names/PATH, with `%` for `/`, has a line for each entry of a
 * directory: its inode, `d` or `f`, its name. stage.py puts it together again. A disk may have
 * kept more than it had to; that is what killing keel alone shows. */
#include "disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_BYTES 2048

static char disk[1024];
static unsigned n_made;

void disk_begin(const char *dir)
{
    char path[PATH_BYTES];

    if (!dir)
        return;
    snprintf(disk, sizeof disk, "%s", dir);
    syscall(SYS_mkdirat, AT_FDCWD, disk, 0700);
    snprintf(path, sizeof path, "%s/files", disk);
    syscall(SYS_mkdirat, AT_FDCWD, path, 0700);
    snprintf(path, sizeof path, "%s/names", disk);
    syscall(SYS_mkdirat, AT_FDCWD, path, 0700);
}

/* A new version of a file there takes the place of the old one as a whole. */
static int begin_version(char temp[PATH_BYTES])
{
    snprintf(temp, PATH_BYTES, "%s/%u.new", disk, __atomic_add_fetch(&n_made, 1, __ATOMIC_SEQ_CST));
    return (int)syscall(SYS_openat, AT_FDCWD, temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static void end_version(int fd, const char *temp, const char *path)
{
    syscall(SYS_close, fd);
    syscall(SYS_renameat2, AT_FDCWD, temp, AT_FDCWD, path, 0);
}

static void keep_file(int fd, const struct stat *s)
{
    char source[64], temp[PATH_BYTES], path[PATH_BYTES], bytes[8192];
    int from, to = begin_version(temp);
    long n;

    snprintf(source, sizeof source, "/proc/self/fd/%d", fd); /* it may be open for writing only */
    from = (int)syscall(SYS_openat, AT_FDCWD, source, O_RDONLY | O_CLOEXEC, 0);
    while (from >= 0 && (n = syscall(SYS_read, from, bytes, sizeof bytes)) > 0)
        syscall(SYS_write, to, bytes, (size_t)n);
    syscall(SYS_close, from);
    snprintf(path, sizeof path, "%s/files/%lu", disk, (unsigned long)s->st_ino);
    end_version(to, temp, path);
}

static void write_names(DIR *dir, int to)
{
    const struct dirent *entry;
    char line[512];

    while ((entry = readdir(dir))) {
        int n = snprintf(line, sizeof line, "%lu %c %s\n", (unsigned long)entry->d_ino,
                         entry->d_type == DT_DIR ? 'd' : 'f', entry->d_name);

        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            syscall(SYS_write, to, line, (size_t)n);
    }
}

static void keep_names(const char *place)
{
    char temp[PATH_BYTES], path[PATH_BYTES], *name;
    DIR *dir = opendir(place);
    int to;

    if (!dir)
        return;
    to = begin_version(temp);
    write_names(dir, to);
    closedir(dir);
    name = path + snprintf(path, sizeof path, "%s/names/", disk);
    snprintf(name, sizeof path - (size_t)(name - path), "%s", place);
    for (; *name; name++)
        if (*name == '/')
            *name = '%';
    end_version(to, temp, path);
}

void disk_keep(int fd)
{
    char link[64], place[PATH_BYTES];
    struct stat s;
    long n;

    if (!disk[0] || fstat(fd, &s) < 0)
        return;
    if (S_ISREG(s.st_mode)) {
        keep_file(fd, &s);
        return;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = syscall(SYS_readlinkat, AT_FDCWD, link, place, sizeof place - 1);
    if (S_ISDIR(s.st_mode) && n > 0) {
        place[n] = '\0';
        keep_names(place);
    }
}

static int keep_one(const char *path, const struct stat *s, int kind, struct FTW *where)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);

    (void)s, (void)kind, (void)where;
    if (fd >= 0)
        disk_keep(fd);
    syscall(SYS_close, fd);
    return 0;
}

void disk_keep_all(const char *place)
{
    if (disk[0])
        nftw(place, keep_one, 16, FTW_PHYS);
}
