/* mounts_test.c - the table of mounts, read once and again when it has changed. */
#include "sys/mounts.h"

#include "test.h"

#include <sched.h>
#include <sys/mount.h>

TEST(the_mount_of_proc_is_known)
{
    struct mounts m = MOUNTS_NONE;
    const struct mount_table *t;

    assert_ok(mounts_look(&m, &t));
    assert_str(mount_table_find(t, S("/proc/self"))->type, "proc");
    assert_ok(mounts_look(&m, &t));
    assert_str(mount_table_find(t, S("/proc/self"))->type, "proc");
    mounts_done(&m);
}

TEST(a_new_mount_is_seen)
{
    struct mounts m = MOUNTS_NONE;
    const struct mount_table *t;

    if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) {
        print_message("SKIPPED: mounts may not be made here\n");
        skip();
    }
    assert_int_equal(mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL), 0);
    assert_ok(mounts_look(&m, &t));
    assert_int_equal(mount("none", "/mnt", "tmpfs", 0, NULL), 0);
    assert_ok(mounts_look(&m, &t));
    assert_str(mount_table_find(t, S("/mnt/x"))->type, "tmpfs");
    mounts_done(&m);
}

RUN_TESTS(UNIT(the_mount_of_proc_is_known), UNIT(a_new_mount_is_seen))
