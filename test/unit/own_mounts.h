/* own_mounts.h - a mount namespace for a test that mounts something; also where it is not run by
 * root, if users may make namespaces. */
#ifndef KEEL_TEST_UNIT_OWN_MOUNTS_H
#define KEEL_TEST_UNIT_OWN_MOUNTS_H

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static inline bool write_own(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return is_written;
}

/* In it the user keeps the number that it has: new files have an owner. */
static inline bool own_users(void)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    char users[64], groups[64];

    snprintf(users, sizeof users, "%u %u 1", uid, uid);
    snprintf(groups, sizeof groups, "%u %u 1", gid, gid);
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_own("/proc/self/setgroups", "deny") &&
           write_own("/proc/self/uid_map", users) && write_own("/proc/self/gid_map", groups);
}

/* For a process with one thread. False where nothing can be mounted. (Words that say nothing, as
 * Valgrind wants to read some.) */
static inline bool own_mounts(void)
{
    return (unshare(CLONE_NEWNS) == 0 || own_users()) &&
           mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0;
}

#endif
