/* mount_table_test.c - by which other paths a file is reached. */
#include "base/mount_table.h"

#include "test.h"

static void add_line(void *self, const char *alias, const char *shows)
{
    strbuf_addf(self, "%s is %s\n", alias, shows);
}

#define assert_aliases(mountinfo, path, want)                                                      \
    do {                                                                                           \
        AUTO(arena) struct arena a_ = {0};                                                         \
        AUTO(strbuf) struct strbuf got_ = {0};                                                     \
        struct mount_table t_;                                                                     \
        mount_table_parse(&t_, &a_, S(mountinfo));                                                 \
        mount_table_each_alias(&t_, &a_, path, add_line, &got_);                                   \
        assert_str(strbuf_str(&got_), want);                                                       \
    } while (0)

#define ROOT "1 0 8:1 / / rw - ext4 /dev/a rw\n"

TEST(a_bind_mount_shows_a_directory_again)
{
    assert_aliases(ROOT "2 1 8:1 /home /srv/sysroot rw - ext4 /dev/a rw\n", "/home/me/.ssh",
                   "/srv/sysroot/me/.ssh is /home/me/.ssh\n");
    assert_aliases(ROOT "2 1 8:1 / /mnt/all rw shared:1 master:2 - ext4 /dev/a rw\n",
                   "/home/me/.ssh", "/mnt/all/home/me/.ssh is /home/me/.ssh\n");
    assert_aliases(ROOT "2 1 8:1 /home/me/.ssh /keys rw - ext4 /dev/a rw\n", "/home/me/.ssh",
                   "/keys is /home/me/.ssh\n");
}

TEST(file_systems_that_store_nothing_are_known_by_their_type)
{
    AUTO(arena) struct arena a = {0};
    struct mount_table t;

    mount_table_parse(&t, &a,
                      S(ROOT "2 1 0:5 / /proc rw - proc proc rw\n"
                             "3 1 0:6 / /dev rw - devtmpfs udev rw\n"
                             "4 3 0:7 / /dev/shm rw - tmpfs tmpfs rw\n"
                             "5 1 0:8 /unit /home/me/cg rw - cgroup2 cgroup2 rw\n"));
    assert_false(mount_entry_is_virtual(mount_table_find(&t, S("/etc/passwd"))));
    assert_true(mount_entry_is_virtual(mount_table_find(&t, S("/proc/1/status"))));
    assert_true(mount_entry_is_virtual(mount_table_find(&t, S("/dev/null"))));
    assert_false(mount_entry_is_virtual(mount_table_find(&t, S("/dev/shm/project"))));
    assert_true(mount_entry_is_virtual(mount_table_find(&t, S("/home/me/cg/x"))));
}

TEST(a_part_of_a_directory_is_shown)
{
    assert_aliases(ROOT "2 1 8:1 /home/me/.ssh/keys /keys rw - ext4 /dev/a rw\n", "/home/me/.ssh",
                   "/keys is /home/me/.ssh/keys\n");
    assert_aliases(ROOT "2 1 8:1 /home/you /srv rw - ext4 /dev/a rw\n", "/home",
                   "/srv is /home/you\n");
}

TEST(an_overlay_shows_the_directories_that_it_is_made_of)
{
    assert_aliases(ROOT "2 1 0:9 / /view rw - overlay x rw,lowerdir=/srv:/home,upperdir=/up\n",
                   "/home/me/.ssh", "/view/me/.ssh is /home/me/.ssh\n");
    assert_aliases(ROOT "2 1 0:9 / /view rw - overlay x rw,lowerdir+=/home/me,upperdir=/up\n",
                   "/home/me/.ssh", "/view/.ssh is /home/me/.ssh\n");
    assert_aliases(ROOT "2 1 0:9 / /view rw - overlay x rw,lowerdir=/srv,upperdir=/home/me/.ssh\n",
                   "/home/me/.ssh", "/view is /home/me/.ssh\n");
    assert_aliases(ROOT "2 1 0:9 / /view rw - overlay x rw,lowerdir=/home/m\\134:e,upperdir=/up\n",
                   "/home/m:e/.ssh", "/view/.ssh is /home/m:e/.ssh\n");
    assert_aliases(ROOT "2 1 0:9 / /view rw - overlay x rw,lowerdir=/home/me/.ssh/keys\n",
                   "/home/me/.ssh", "/view is /home/me/.ssh/keys\n");
    assert_aliases(ROOT "2 1 0:9 / /view rw - overlay x rw,lowerdir=home:/\n", "/home/me/.ssh", "");
}

TEST(a_program_that_mounts_a_directory_shows_it)
{
    assert_aliases(ROOT "2 1 0:9 / /view rw - fuse.bindfs /home/me rw,user_id=0\n", "/home/me/.ssh",
                   "/view/.ssh is /home/me/.ssh\n");
}

TEST(the_root_of_a_container_is_not_what_its_host_calls_by_a_hidden_name)
{
    assert_aliases("1 0 0:9 / / rw - overlay x rw,lowerdir=/var/lib/docker/a,upperdir="
                   "/var/lib/docker/b\n",
                   "/var/lib/docker", "");
}

TEST(other_file_systems_show_nothing_of_it)
{
    assert_aliases(ROOT "2 1 8:2 / /mnt rw - ext4 /dev/b rw\n", "/home/me/.ssh", "");
    assert_aliases(ROOT "2 1 8:1 /srv /mnt rw - ext4 /dev/a rw\n", "/home/me/.ssh", "");
    assert_aliases(ROOT "2 1 8:1 /home/meat /mnt rw - ext4 /dev/a rw\n", "/home/me", "");
}

TEST(the_system_of_ostree_shows_homes_twice)
{
    static const char table[] = "1 0 8:1 /ostree/deploy/f/deploy/abc.0 / rw - xfs /dev/a rw\n"
                                "2 1 8:1 / /sysroot ro - xfs /dev/a rw\n"
                                "3 1 8:1 /ostree/deploy/f/var /var rw - xfs /dev/a rw\n";
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf got = {0};
    struct mount_table t;

    mount_table_parse(&t, &a, str_of(table));
    mount_table_each_alias(&t, &a, "/var/home/me/.ssh", add_line, &got);
    assert_str(strbuf_str(&got),
               "/sysroot/ostree/deploy/f/var/home/me/.ssh is /var/home/me/.ssh\n");
}

TEST(subvolumes_are_parts_of_one_file_system)
{
    assert_aliases("1 0 0:30 /@ / rw - btrfs /dev/a rw,subvol=/@\n"
                   "2 1 0:30 /@home /home rw - btrfs /dev/a rw,subvol=/@home\n"
                   "3 1 0:30 / /mnt/top rw - btrfs /dev/a rw,subvol=/\n"
                   "4 1 0:30 /@snapshots/7 /mnt/then rw - btrfs /dev/a rw\n",
                   "/home/me/.ssh",
                   "/me/.ssh is /home/me/.ssh\n" /* the root may be a snapshot of it too */
                   "/mnt/top/@home/me/.ssh is /home/me/.ssh\n"
                   "/mnt/then/me/.ssh is /home/me/.ssh\n"
                   "/home/.snapshots is /home/me/.ssh\n");
}

TEST(snapshots_of_zfs_are_mounts_of_their_own)
{
    assert_aliases("1 0 0:30 / / rw - zfs pool/root rw\n"
                   "2 1 0:31 / /home rw - zfs pool/home rw\n"
                   "3 2 0:32 / /home/.zfs/snapshot/then ro - zfs pool/home@then ro\n"
                   "4 1 0:33 / /mnt rw - zfs pool/homes rw\n",
                   "/home/me/.ssh",
                   "/home/.zfs/snapshot/then/me/.ssh is /home/me/.ssh\n"
                   "/home/.zfs is /home/me/.ssh\n");
}

TEST(a_mount_that_is_covered_shows_nothing)
{
    assert_aliases(ROOT "2 1 8:1 /home /mnt/a rw - ext4 /dev/a rw\n"
                        "3 1 0:9 / /mnt rw - tmpfs none rw\n",
                   "/home/me/.ssh", "");
    assert_aliases(ROOT "2 1 8:1 /home /mnt rw - ext4 /dev/a rw\n"
                        "3 2 0:9 / /mnt rw - tmpfs none rw\n",
                   "/home/me/.ssh", "");
}

TEST(the_topmost_mount_on_the_way_shows_a_path)
{
    AUTO(arena) struct arena a = {0};
    struct mount_table t;

    mount_table_parse(&t, &a,
                      S("1 0 8:1 / / rw - ext4 a rw\n2 1 8:2 / /home rw - ext4 b rw\n"
                        "3 2 8:3 / /home rw - ext4 c rw\n4 3 8:4 / /home/me rw - ext4 d rw\n"));
    assert_int_equal(mount_table_find(&t, S("/home/me/x"))->id, 4);
    assert_int_equal(mount_table_find(&t, S("/home/you"))->id, 3);
    assert_int_equal(mount_table_find(&t, S("/homeless"))->id, 1);
    assert_int_equal(mount_table_find(&t, S("/"))->id, 1);
}

TEST(blanks_in_names_are_read)
{
    assert_aliases(ROOT "2 1 8:1 /my\\040home /a\\134b\\040c rw - ext4 /dev/a rw\n",
                   "/my home/.ssh", "/a\\b c/.ssh is /my home/.ssh\n");
}

TEST(lines_that_are_no_mounts_are_skipped)
{
    assert_aliases("", "/home", "");
    assert_aliases("nonsense\n1 2\n" ROOT "5 1 0:4 net:[402] /run/ns rw - nsfs nsfs rw\n"
                   "8 1 8:1 /../home /far rw - ext4 a rw\n9 1 8:1 /home /a//b rw - ext4 a rw\n"
                   "7 1 8:1 /home /mnt rw\nx 1 8:1 /home /mnt rw - ext4 a rw\n"
                   "2 1 8:1 /home /mnt rw - ext4 a rw",
                   "/home/me", "/mnt/me is /home/me\n");
}

RUN_TESTS(UNIT(a_bind_mount_shows_a_directory_again),
          UNIT(file_systems_that_store_nothing_are_known_by_their_type),
          UNIT(a_part_of_a_directory_is_shown),
          UNIT(an_overlay_shows_the_directories_that_it_is_made_of),
          UNIT(a_program_that_mounts_a_directory_shows_it),
          UNIT(the_root_of_a_container_is_not_what_its_host_calls_by_a_hidden_name),
          UNIT(other_file_systems_show_nothing_of_it), UNIT(the_system_of_ostree_shows_homes_twice),
          UNIT(subvolumes_are_parts_of_one_file_system),
          UNIT(snapshots_of_zfs_are_mounts_of_their_own),
          UNIT(a_mount_that_is_covered_shows_nothing),
          UNIT(the_topmost_mount_on_the_way_shows_a_path), UNIT(blanks_in_names_are_read),
          UNIT(lines_that_are_no_mounts_are_skipped))
