/* mounts_test.c - the table of mounts, read once and again when it has changed. */
#include "sys/mounts.h"

#include "own_mounts.h"
#include "test.h"

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

    if (!own_mounts()) {
        print_message("[ SKIPPED because nothing can be mounted here ]\n");
        skip();
    }
    assert_ok(mounts_look(&m, &t));
    assert_int_equal(mount("none", "/mnt", "tmpfs", 0, NULL), 0);
    assert_ok(mounts_look(&m, &t));
    assert_str(mount_table_find(t, S("/mnt/x"))->type, "tmpfs");
    mounts_done(&m);
}

RUN_TESTS(UNIT(the_mount_of_proc_is_known), UNIT(a_new_mount_is_seen))
