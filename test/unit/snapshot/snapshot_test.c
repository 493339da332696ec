/* snapshot_test.c - what is saved, what is not, and what keel says of it. */
#include "snapshot/scene.h"

#include "base/checksum.h"
#include "snapshot/coverage.h"
#include "snapshot/manifest.h"
#include "snapshot/undo_log.h"
#include "sys/dir_watch.h"

#include <semaphore.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>

/* Until the clock by which the kernel stamps files has moved on: what is changed from here on has
 * a later time than what was changed before. */
static void next_tick(void)
{
    struct timespec begun, now;

    clock_gettime(CLOCK_REALTIME, &begun);
    do
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
    while (now.tv_sec < begun.tv_sec ||
           (now.tv_sec == begun.tv_sec && now.tv_nsec <= begun.tv_nsec));
}

/* --- one file --- */

TEST(the_file_of_a_write_is_saved_before_it_runs)
{
    AUTO(scene) struct scene s;
    AUTO(strbuf) struct strbuf text = {0};
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    r = scene_begin(&s, &scene_write, scene_path(&s, "a"));
    assert_true(r.has_file);
    assert_int_equal(r.log.n, 0); /* a file is enough */
    assert_null(r.observer);
    assert_int_equal(r.file.kind, IMAGE_FILE);
    assert_ok(blob_get(s.blobs, r.file.content, &text));
    assert_str(strbuf_str(&text), "one");

    put(&s.dir, "ws/a", "two");
    scene_end(&s, &r);
    assert_int_equal(s.images.n, 1);
    assert_false(str_eq(s.images.items[0].after, s.images.items[0].content));
}

TEST(a_file_that_a_write_makes_is_told_as_nothing)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    r = scene_begin(&s, &scene_write, scene_path(&s, "d/new"));
    assert_int_equal(r.file.kind, IMAGE_NONE);
    put(&s.dir, "ws/d/new", "x");
    scene_end(&s, &r);
    assert_int_equal(scene_image(&s, "d/new")->kind, IMAGE_NONE);
}

TEST(directories_that_a_write_makes_go_with_its_file)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/d/old", "x");
    scene_remember(&s);
    r = scene_begin(&s, &scene_write, scene_path(&s, "d/e/f/new"));
    put(&s.dir, "ws/d/e/f/new", "x");
    scene_end(&s, &r);
    assert_int_equal(s.images.n, 3);
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(a_write_that_did_nothing_tells_nothing)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    r = scene_begin(&s, &scene_write, scene_path(&s, "a"));
    scene_end(&s, &r);
    assert_int_equal(s.images.n, 0);
}

TEST(a_file_behind_a_link_is_not_read)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "secret", "hush");
    scene_shell(&s, "ln -s ../secret a");
    r = scene_begin(&s, &scene_write, scene_path(&s, "a"));
    assert_int_equal(r.file.kind, IMAGE_LINK);
    scene_end(&s, &r);
}

TEST(tools_that_only_look_cost_nothing)
{
    AUTO(scene) struct scene s;
    static const struct tool read = {.name = "Read", .risk = RISK_INSPECT};
    static const struct tool output = {
        .name = "BashOutput", .risk = RISK_INSPECT, .needs = NEEDS_LAUNCHER};

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    assert_null(scene_begin(&s, &read, scene_path(&s, "a")).snapshot);
    assert_null(scene_begin(&s, &output, NULL).snapshot);
    assert_false(fs_exists(temp_path(&s.dir, "home")));
}

static bool never_writes(void *self, const struct snapshot_call *call)
{
    return false;
}

TEST(a_command_that_only_reads_costs_nothing)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    s.options.may_write = never_writes;
    put(&s.dir, "ws/a", "one");
    assert_null(scene_begin(&s, &scene_bash, NULL).snapshot);
}

/* --- commands --- */

TEST(a_command_that_changes_nothing_makes_no_file)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    scene_command(&s, "true");
    assert_int_equal(s.images.n, 0);
    assert_false(fs_exists(temp_path(&s.dir, "home")));
}

TEST(a_file_is_saved_once_however_often_it_is_written)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    scene_command(&s, "echo 2 > a; echo 3 >> a; replace a 4; rm a; echo 5 > a");
    assert_int_equal(s.images.n, 1);
    assert_str(scene_image(&s, "a")->bytes, "one");
}

TEST(a_file_that_is_as_it_was_is_not_told)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    assert_int_equal(chmod(temp_path(&s.dir, "ws/a"), 0644), 0); /* whatever the umask */
    scene_command(&s, "mv a b; mv b a; chmod 600 a; chmod 644 a; touch a; echo x > t; rm t");
    assert_int_equal(s.images.n, 0);
}

TEST(permissions_alone_cost_no_copy)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    scene_remember(&s);
    scene_command(&s, "chmod 755 a");
    assert_true(scene_image(&s, "a")->keeps_content);
    assert_int_equal(scene_image(&s, "a")->content.n, 0);
    assert_false(fs_exists(temp_path(&s.dir, "home/blobs")));
    scene_command(&s, "echo two > a"); /* what it held is known from here on */
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(in_a_directory_that_git_ignores_nothing_is_saved_but_the_change_is_told)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "ref: refs/heads/main");
    put(&s.dir, "ws/.gitignore", "build/\n*.o\n");
    put(&s.dir, "ws/build/out", "1");
    put(&s.dir, "ws/.env", "A=1");
    scene_command(&s, "echo 2 > build/out; echo 2 > .git/HEAD; echo 2 > .env; echo 2 > x.o");
    assert_int_equal(s.images.n, 3);
    assert_int_equal(scene_image(&s, ".env")->kind, IMAGE_FILE);
    assert_true(scene_image(&s, "build")->is_ignored);
    assert_true(scene_image(&s, "x.o")->is_ignored);
    scene_command(&s, "rm -rf build; mkdir build; mkdir build/sub; echo 1 > build/sub/x");
    assert_int_equal(s.images.n, 4);
    assert_int_equal(s.note.n, 0); /* a build is no reason for a warning */
    scene_try_restore(&s, /* force= */ true);
    assert_int_equal(scene_item(&s, "build")->outcome, RESTORE_LEFT);
    assert_int_equal(s.report.n_left, 1);
    assert_true(fs_exists(scene_path(&s, "build/sub/x")));
    assert_false(fs_exists(scene_path(&s, "x.o")));
}

TEST(a_directory_that_git_ignores_and_nobody_changed_is_not_told)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "x");
    put(&s.dir, "ws/.gitignore", "build/\n");
    put(&s.dir, "ws/build/log", "1");
    scene_command(&s, "echo x > build/temp; rm build/temp; mkdir build; touch y");
    assert_int_equal(s.images.n, 1);
    assert_int_equal(scene_image(&s, "y")->kind, IMAGE_NONE);
}

TEST(thousands_of_files_that_git_ignores_are_one_record)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "x");
    put(&s.dir, "ws/.gitignore", "node_modules\n");
    r = scene_begin(&s, &scene_bash, NULL);
    scene_run(&s, &r, "mkdir node_modules");
    for (int i = 0; i < 5000; i++) {
        char line[64];

        snprintf(line, sizeof line, "mkdir node_modules/%d; echo x > node_modules/%d/x", i, i);
        scene_run(&s, &r, line);
    }
    scene_end(&s, &r);
    assert_int_equal(s.images.n, 1);
    assert_true(scene_image(&s, "node_modules")->is_ignored);
}

TEST(a_single_file_that_git_ignores_comes_back_with_its_time)
{
    AUTO(scene) struct scene s;
    struct stat st;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "x");
    put(&s.dir, "ws/.gitignore", "*.db\n*.o\n");
    put(&s.dir, "ws/local.db", "the only copy");
    put(&s.dir, "ws/main.o", "old");
    scene_shell(&s, "touch -d 2020-01-01T00:00:00Z main.o");
    scene_remember(&s);
    scene_command(&s, "rm local.db; echo new > main.o; echo x > made.o");
    scene_restore(&s);
    scene_assert_same(&s);
    assert_int_equal(stat(scene_path(&s, "main.o"), &st), 0);
    assert_int_equal(st.st_mtime, 1577836800);
}

TEST(too_much_of_what_git_ignores_is_told_and_takes_no_room_from_the_rest)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    s.options.max_bytes = 16 * 4;
    put(&s.dir, "ws/.git/HEAD", "x");
    put(&s.dir, "ws/.gitignore", "*.o\n");
    put(&s.dir, "ws/1.o", "abc");
    put(&s.dir, "ws/2.o", "abc");
    put(&s.dir, "ws/a.c", "a source of more bytes than that");
    scene_command(&s, "echo > 1.o; echo > 2.o; echo > a.c");
    assert_int_equal(s.note.n, 0);
    scene_try_restore(&s, /* force= */ false);
    assert_int_equal(scene_item(&s, "1.o")->outcome, RESTORE_DONE);
    assert_int_equal(scene_item(&s, "2.o")->outcome, RESTORE_LEFT);
    assert_int_equal(scene_item(&s, "a.c")->outcome, RESTORE_DONE);
}

TEST(rules_count_as_they_were_before_the_command)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "x");
    put(&s.dir, "ws/a.txt", "one");
    put(&s.dir, "ws/b.txt", "one");
    scene_remember(&s);
    scene_command(&s, "echo *.txt > .gitignore; echo two > b.txt; rm a.txt");
    assert_int_equal(s.images.n, 3);
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(what_git_ignores_and_a_command_moves_comes_back)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "x");
    put(&s.dir, "ws/.gitignore", "*.env\nbuild/\n");
    put(&s.dir, "ws/secret.env", "A=1");
    put(&s.dir, "ws/build/out", "1");
    put(&s.dir, "ws/src/build/in", "1");
    scene_remember(&s);
    scene_command(&s, ": > .gitignore; echo B=2 >> secret.env; mv build out; mv secret.env s; "
                      "mv src lib");
    assert_int_equal(s.note.n, 0);
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(what_a_command_changes_in_what_it_moved_is_not_mixed_up)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "x");
    put(&s.dir, "ws/.gitignore", "build/\n");
    put(&s.dir, "ws/build/out", "1");
    scene_command(&s, "mv build bin; echo 2 > bin/out");
    scene_try_restore(&s, /* force= */ false);
    assert_int_equal(scene_item(&s, "build")->outcome, RESTORE_LEFT);
    assert_true(fs_exists(scene_path(&s, "bin/out")));
}

TEST(that_the_repository_itself_is_gone_is_told)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "x");
    scene_command(&s, "rm -rf .git");
    assert_true(str_find(s.note, S(".git was removed")) != STR_NONE);
    assert_true(str_find(s.unsaved, S(".git was removed")) != STR_NONE);
}

TEST(that_a_command_moved_head_is_told)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "ref: refs/heads/main");
    put(&s.dir, "ws/.git/logs/HEAD", "one\n");
    scene_command(&s, "echo x > .git/index");
    assert_int_equal(s.unsaved.n, 0);
    scene_command(&s, "echo two >> .git/logs/HEAD");
    assert_true(str_find(s.unsaved, S("it moved HEAD")) != STR_NONE);
    assert_int_equal(s.note.n, 0);
}

TEST(keels_own_home_is_not_saved)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/.keel/settings.json", "{}");
    s.options.home = scene_path(&s, ".keel");
    scene_command(&s, "echo 2 > .keel/settings.json; echo x > y");
    assert_int_equal(s.images.n, 1);
}

TEST(a_tree_of_thousands_of_files_that_is_removed_comes_back)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    scene_shell(&s, "mkdir a b; for d in a b; do (cd $d; seq 1000 | split -l 1 -a 3 -); done");
    scene_remember(&s);
    scene_command(&s, "rm -rf a; mv b c; echo x > c/xaaa");
    assert_int_equal(s.note.n, 0);
    scene_restore(&s);
    scene_assert_same(&s);
}

/* --- what a launcher cannot report --- */

TEST(a_command_that_is_not_observed_says_so_each_time)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    for (int i = 0; i < 2; i++) {
        struct snapshot_record r = scene_begin(&s, &scene_bash, NULL);

        s.note = (struct str){0};
        r.observer->missed(r.observer, "the sandbox is off");
        scene_shell(&s, "echo two >> a");
        scene_end(&s, &r);
        assert_str(s.unsaved, "the sandbox is off");
        assert_int_equal(s.images.n, 0);
        assert_int_equal(s.note.n > 0, i == 0); /* the person hears it once */
    }
}

TEST(a_change_that_was_not_announced_is_told_and_stays)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    put(&s.dir, "ws/b", "one");
    put(&s.dir, "ws/d/c", "one");
    r = scene_begin(&s, &scene_bash, NULL);
    next_tick();
    scene_run(&s, &r, "echo two > a");
    scene_shell(&s, "echo two > b; rm d/c");
    scene_end(&s, &r);
    assert_int_equal(scene_image(&s, "a")->why_not.n, 0);
    assert_str(scene_image(&s, "b")->why_not,
               "it changed while a command ran, but the change was not reported");
    assert_true(scene_image(&s, "d")->why_not.n > 0); /* something in it is gone */
    assert_true(str_find(s.note, S("/b (it changed")) != STR_NONE);
    scene_try_restore(&s, /* force= */ false);
    assert_int_equal(scene_item(&s, "a")->outcome, RESTORE_DONE);
    assert_int_equal(scene_item(&s, "b")->outcome, RESTORE_IMPOSSIBLE);
    assert_int_equal(s.report.n_failed, 2);
}

TEST(a_command_that_was_refused_has_changed_nothing)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    r = scene_begin(&s, &scene_bash, NULL);
    r.observer->has_begun = false;
    next_tick();
    scene_shell(&s, "echo two > a"); /* a person */
    scene_end(&s, &r);
    assert_int_equal(s.images.n, 0);
    assert_int_equal(s.unsaved.n, 0);
}

static bool covers(const char *workspace, const char *path, bool is_dir)
{
    AUTO(coverage) struct coverage c;
    struct covered_rules rules;
    bool has_it;

    coverage_init(&c, &(struct snapshot_options){.workspace = workspace});
    covered_rules_init(&rules, &c);
    has_it = coverage_has(&rules, str_of(path), is_dir);
    covered_rules_done(&rules);
    return has_it;
}

/* The kernel makes up what is in them, and it changes all the time. */
TEST(file_systems_that_store_nothing_are_no_part_of_an_undo)
{
    AUTO(virtual_places) struct virtual_places places;
    char self[64];

    assert_false(covers("/", "/proc", /* is_dir= */ true));
    assert_false(covers("/", "/proc/sys/kernel/hostname", /* is_dir= */ false));
    assert_true(covers("/", "/etc/hostname", /* is_dir= */ false));
    assert_true(covers("/", "/procure", /* is_dir= */ true));
    snprintf(self, sizeof self, "/proc/%d/status", (int)getpid());
    assert_false(covers("/proc/self", self, /* is_dir= */ false));

    virtual_places_find(&places, (const char *const[]){"/"}, 1);
    assert_true(virtual_places_has(&places, S("/proc")));
    assert_false(virtual_places_has(&places, S("/proc/sys")));
    assert_true(virtual_places_hold(&places, S("/proc/sys/kernel")));
    assert_false(virtual_places_hold(&places, S("/etc/hostname")));
}

TEST(a_change_that_is_announced_only_afterwards_is_told)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    put(&s.dir, "ws/b", "one");
    put(&s.dir, "ws/c", "one");
    r = scene_begin(&s, &scene_bash, NULL);
    next_tick();
    scene_shell(&s, "echo two > b");
    scene_run(&s, &r, "chmod 600 a; echo three > b; echo three > a; ln c d; rm d; echo two > c");
    scene_end(&s, &r);
    assert_str(scene_image(&s, "b")->why_not,
               "it changed while a command ran, but the change was not reported");
    assert_int_equal(scene_image(&s, "a")->why_not.n, 0);
    assert_int_equal(scene_image(&s, "c")->why_not.n, 0);
}

TEST(a_command_cannot_hide_a_change_behind_rules_of_its_own)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "x");
    put(&s.dir, "ws/d/a", "one");
    r = scene_begin(&s, &scene_bash, NULL);
    next_tick();
    scene_shell(&s, "echo '*' > d/.gitignore; echo two > d/a");
    scene_end(&s, &r);
    assert_true(scene_image(&s, "d/.gitignore")->why_not.n > 0);
}

TEST(changes_are_found_in_the_log_of_a_watched_workspace)
{
    AUTO(scene) struct scene s;
    struct dir_watches *watches = dir_watches_new();
    struct dir_watch *w;
    struct snapshot_record r;

    scene_open(&s);
    scene_shell(&s, "mkdir $(seq 600); echo one > 7/a; echo one > 8/b; touch 9/c");
    w = dir_watches_get(watches, s.workspace);
    dir_watch_follow_files(w);
    assert_ok(dir_watch_update(w, NULL));
    dir_watch_settle(w);
    dir_watch_wait(w);
    assert_ok(dir_watch_update(w, NULL));
    s.options.watches = watches;
    scene_shell(&s, "echo a person > 1/mine"); /* before the command */
    r = scene_begin(&s, &scene_bash, NULL);
    scene_run(&s, &r, "echo two > 7/a; mkdir new; echo x > new/y; mv 10 11/z; chmod 600 12");
    scene_shell(&s, "echo two > 8/b; rm 9/c");
    scene_end(&s, &r);
    assert_true(scene_image(&s, "8/b")->why_not.n > 0);
    assert_true(scene_image(&s, "9/c")->why_not.n > 0);
    for (size_t i = 0; i < s.images.n; i++)
        if (s.images.items[i].why_not.n && !str_ends(s.images.items[i].path, S("/8/b")) &&
            !str_ends(s.images.items[i].path, S("/9/c")))
            fail_msg("%" STR_FMT " is reported", STR_ARG(s.images.items[i].path));
    snapshotter_free(TAKE(s.snapshotter));
    dir_watch_unref(w);
    dir_watches_free(watches);
}

TEST(files_of_write_and_edit_beside_a_command_are_no_strangers)
{
    AUTO(scene) struct scene s;
    struct snapshot_record command, write;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    command = scene_begin(&s, &scene_bash, NULL);
    write = scene_begin(&s, &scene_write, scene_path(&s, "a"));
    next_tick();
    put(&s.dir, "ws/a", "two");
    scene_end(&s, &write);
    scene_end(&s, &command);
    assert_int_equal(s.images.n, 1);
    assert_int_equal(scene_image(&s, "a")->why_not.n, 0);
}

/* --- changes behind an announced change of attributes --- */

#define UNREPORTED "it changed while a command ran, but the change was not reported"

/* What a command does that means harm: it changes what the file holds, announces nothing, and sets
 * the time back. */
static void change_unseen(struct scene *s, const char *name, const char *text)
{
    const char *path = scene_path(s, name);
    struct stat st;
    int fd = open(path, O_WRONLY);

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(ftruncate(fd, (off_t)strlen(text)), 0);
    assert_int_equal(futimens(fd, (struct timespec[]){st.st_atim, st.st_mtim}), 0);
    close(fd);
}

static void assert_unreported(struct scene *s, const char *name)
{
    assert_str(scene_image(s, name)->why_not, UNREPORTED);
    scene_try_restore(s, /* force= */ true);
    assert_int_equal(scene_item(s, name)->outcome, RESTORE_IMPOSSIBLE);
}

TEST(content_that_changed_between_a_chmod_and_a_write_is_not_restored)
{
    static const char *const changes[] = {"evl", "", "much longer than it was"};

    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        AUTO(scene) struct scene s;
        struct snapshot_record r;

        scene_open(&s);
        put(&s.dir, "ws/a", "one");
        r = scene_begin(&s, &scene_bash, NULL);
        scene_run(&s, &r, "chmod 600 a");
        change_unseen(&s, "a", changes[i]);
        scene_run(&s, &r, "echo two >> a");
        scene_end(&s, &r);
        assert_true(str_find(s.note, S("/a (" UNREPORTED)) != STR_NONE);
        assert_unreported(&s, "a");
    }
}

TEST(content_that_changed_behind_a_chmod_is_reported_though_size_and_time_did_not)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    r = scene_begin(&s, &scene_bash, NULL);
    scene_run(&s, &r, "chmod 600 a");
    change_unseen(&s, "a", "evl");
    scene_end(&s, &r);
    scene_command(&s, "echo two > a"); /* finds what the first one left, which is not what was */
    assert_unreported(&s, "a");
}

TEST(content_that_changed_behind_a_chmod_is_not_restored_by_any_name_of_the_file)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    put(&s.dir, "ws/c", "one");
    scene_shell(&s, "ln a b; ln c d");
    r = scene_begin(&s, &scene_bash, NULL);
    scene_run(&s, &r, "chmod 600 a; chmod 600 c; chmod 640 d; ln c e");
    change_unseen(&s, "a", "evl");
    change_unseen(&s, "d", "evl");
    scene_run(&s, &r, "echo two >> b; echo two > e");
    scene_end(&s, &r);
    assert_unreported(&s, "a");
    assert_unreported(&s, "b");
    assert_unreported(&s, "c");
    assert_unreported(&s, "d");
    assert_int_equal(scene_image(&s, "e")->kind, IMAGE_NONE);
}

TEST(a_file_with_several_names_that_is_announced_after_it_changed_is_reported)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    put(&s.dir, "ws/c", "one");
    scene_shell(&s, "ln a b; ln c d; ln c e");
    r = scene_begin(&s, &scene_bash, NULL);
    next_tick();
    change_unseen(&s, "a", "evl");
    scene_run(&s, &r, "echo two > b; rm d; echo two > c");
    scene_end(&s, &r);
    assert_unreported(&s, "a");
    assert_unreported(&s, "b");
    assert_int_equal(scene_image(&s, "c")->why_not.n, 0);
    assert_int_equal(scene_image(&s, "d")->why_not.n, 0);
}

TEST(other_names_of_a_file_announced_too_late_are_reported_in_a_watched_workspace)
{
    AUTO(scene) struct scene s;
    struct dir_watches *watches = dir_watches_new();
    struct dir_watch *w;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    put(&s.dir, "ws/c", "one");
    scene_shell(&s, "ln a b; ln c d");
    w = dir_watches_get(watches, s.workspace);
    dir_watch_follow_files(w);
    assert_ok(dir_watch_update(w, NULL));
    dir_watch_settle(w);
    dir_watch_wait(w);
    assert_ok(dir_watch_update(w, NULL));
    s.options.watches = watches;
    r = scene_begin(&s, &scene_bash, NULL);
    next_tick();
    change_unseen(&s, "a", "evl");
    scene_run(&s, &r, "echo two > a; chmod 600 c");
    change_unseen(&s, "c", "evl");
    scene_end(&s, &r);
    assert_unreported(&s, "a");
    assert_unreported(&s, "b"); /* the kernel reports only the name by which it was opened */
    assert_unreported(&s, "c");
    assert_unreported(&s, "d");
    snapshotter_free(TAKE(s.snapshotter));
    dir_watch_unref(w);
    dir_watches_free(watches);
}

TEST(a_file_that_takes_the_name_of_another_behind_a_chmod_is_reported)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    put(&s.dir, "ws/b", "one");
    put(&s.dir, "ws/c", "one");
    put(&s.dir, "ws/d", "one");
    r = scene_begin(&s, &scene_bash, NULL);
    next_tick();
    scene_run(&s, &r, "chmod 600 a; chmod 600 c");
    scene_shell(&s, "mv a b; mv c d");
    scene_run(&s, &r, "echo two > d");
    scene_end(&s, &r);
    assert_unreported(&s, "a");
    assert_unreported(&s, "b");
    assert_unreported(&s, "d");
}

/* Changes the file when keel has looked at it and is about to read it. */
struct meddler {
    struct scene *scene;
    unsigned n_asked;
};

static bool meddle(const void *self, struct str path, bool is_dir)
{
    struct meddler *m = (struct meddler *)self;

    if (str_ends(path, S("/a")) && ++m->n_asked == 2)
        change_unseen(m->scene, "a", "evl");
    return false;
}

TEST(a_file_that_changes_while_keel_reads_it_is_reported)
{
    static const char *const commands[] = {"echo two >> a", "chmod 600 a"};

    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        AUTO(scene) struct scene s;
        struct meddler meddler = {.scene = &s};
        struct path_filter own = {.is_hidden = meddle, .self = &meddler};
        struct snapshot_record r;

        scene_open(&s);
        put(&s.dir, "ws/a", "one");
        s.options.own = &own;
        r = scene_begin(&s, &scene_bash, NULL);
        next_tick();
        scene_run(&s, &r, commands[i]);
        scene_end(&s, &r);
        assert_true(meddler.n_asked > 1);
        assert_unreported(&s, "a");
        scene_restart(&s);
    }
}

TEST(content_that_changed_behind_a_chmod_of_another_command_is_reported)
{
    AUTO(scene) struct scene s;
    struct snapshot_record one, two;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    one = scene_begin(&s, &scene_bash, NULL);
    two = scene_begin(&s, &scene_bash, NULL);
    scene_run(&s, &one, "chmod 600 a");
    change_unseen(&s, "a", "evl");
    scene_run(&s, &two, "echo two > a");
    scene_end(&s, &two);
    assert_unreported(&s, "a");
    s.images.n = 0;
    scene_end(&s, &one);
    assert_unreported(&s, "a");
}

TEST(what_another_command_wrote_after_a_chmod_and_announced_comes_back)
{
    AUTO(scene) struct scene s;
    struct snapshot_record one, two;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    scene_remember(&s);
    one = scene_begin(&s, &scene_bash, NULL);
    two = scene_begin(&s, &scene_bash, NULL);
    scene_run(&s, &one, "chmod 600 a");
    scene_run(&s, &two, "echo two > a");
    scene_run(&s, &one, "echo three > a");
    scene_end(&s, &one);
    scene_end(&s, &two);
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(content_that_changed_before_it_was_announced_is_not_restored_after_a_crash)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;
    struct recovered_call found;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    put(&s.dir, "ws/b", "one");
    r = scene_begin(&s, &scene_bash, NULL);
    next_tick();
    scene_run(&s, &r, "chmod 600 a");
    change_unseen(&s, "a", "evl");
    change_unseen(&s, "b", "evl");
    scene_run(&s, &r, "echo two > a; echo two > b");
    assert_ok(snapshot_recover(&s.options, &r, /* has_ended= */ false, &s.arena, &found));
    s.images = found.images;
    assert_unreported(&s, "a");
    assert_unreported(&s, "b");
    scene_end(&s, &r);
}

TEST(what_a_command_writes_after_a_chmod_comes_back)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    put(&s.dir, "ws/b", "one");
    put(&s.dir, "ws/c", "one");
    put(&s.dir, "ws/d", "one");
    put(&s.dir, "ws/e", "one");
    put(&s.dir, "ws/f", "one");
    scene_shell(&s, "ln -s a link; ln e g; ln e h");
    scene_remember(&s);
    r = scene_begin(&s, &scene_bash, NULL);
    next_tick();
    scene_run(&s, &r,
              "chmod 600 a; chmod 755 b; chmod 000 c; chmod 640 d; chmod 600 e; chmod 600 f");
    scene_shell(&s, "touch -c -d 2020-01-01 b d"); /* times are not announced */
    scene_run(&s, &r,
              "echo two > a; replace b two; rm c; rm h; echo two >> g; ln f i; "
              "echo two > i; mv f j");
    scene_end(&s, &r);
    assert_int_equal(s.note.n, 0);
    assert_true(scene_image(&s, "d")->keeps_content);
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(what_is_written_after_a_chmod_of_more_than_the_limits_allow_is_reported)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/a", "123456");
    put(&s.dir, "ws/b", "123456");
    put(&s.dir, "ws/c", "123456");
    put(&s.dir, "ws/large", "1234567890");
    s.options.max_bytes = 15;
    s.options.max_file_bytes = 8;
    scene_command(&s, "chmod 600 a; chmod 600 large; chmod 600 b; chmod 600 c");
    assert_int_equal(s.note.n, 0);
    for (size_t i = 0; i < s.images.n; i++)
        assert_true(s.images.items[i].keeps_content);
    s.images.n = 0;
    scene_command(&s, "chmod 640 a; chmod 640 large; chmod 640 b; chmod 640 c; "
                      "echo 2 > a; echo 2 > large; echo 2 > c");
    scene_try_restore(&s, /* force= */ false);
    assert_int_equal(scene_item(&s, "a")->outcome, RESTORE_DONE);
    assert_int_equal(scene_item(&s, "b")->outcome, RESTORE_DONE);
    assert_int_equal(scene_item(&s, "large")->outcome, RESTORE_IMPOSSIBLE);
    assert_true(str_find(scene_item(&s, "large")->why, S("snapshot.maxFileBytes")) != STR_NONE);
    assert_int_equal(scene_item(&s, "c")->outcome, RESTORE_IMPOSSIBLE);
    assert_true(str_find(scene_item(&s, "c")->why, S("snapshot.maxBytes")) != STR_NONE);
}

/* --- limits --- */

TEST(what_is_over_the_limit_of_a_command_is_told)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/small", "1234");
    scene_shell(&s, "head -c 3000 /dev/zero > large; head -c 100 /dev/zero > middle");
    s.options.max_bytes = 2000;
    scene_command(&s, "rm small large middle");
    assert_int_equal(scene_image(&s, "small")->why_not.n, 0);
    assert_int_equal(scene_image(&s, "middle")->why_not.n, 0);
    assert_true(str_find(scene_image(&s, "large")->why_not, S("snapshot.maxBytes")) != STR_NONE);
    scene_try_restore(&s, /* force= */ false);
    assert_int_equal(scene_item(&s, "large")->outcome, RESTORE_IMPOSSIBLE);
    assert_int_equal(scene_item(&s, "small")->outcome, RESTORE_DONE);
}

TEST(a_file_over_the_cap_is_told_when_it_changes_and_not_before)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    scene_shell(&s, "head -c 5000 /dev/zero > big; echo x > y");
    s.options.max_file_bytes = 4096;
    scene_command(&s, "echo z > y");
    assert_int_equal(s.images.n, 1);
    assert_int_equal(s.note.n, 0);
    scene_command(&s, "echo more >> big");
    assert_true(scene_image(&s, "big")->why_not.n > 0);
    assert_true(str_find(s.note, S("big")) != STR_NONE);
    /* one that the command made can go, large as it is */
    s.images = (struct pre_images){0};
    scene_command(&s, "mkdir d; cp -a big d/made; chmod 600 big");
    assert_true(str_starts(scene_image(&s, "d/made")->after, S("stamp:")));
    scene_restore(&s);
    assert_false(fs_exists(scene_path(&s, "d")));
}

TEST(a_file_that_may_not_be_read_is_told_unless_it_is_our_own)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/closed", "x");
    scene_shell(&s, "chmod 777 . ../ws; mkdir -p ../home; chmod 777 .. ../home; chmod 000 closed");
    if (geteuid() == 0 && seteuid(65534) < 0)
        fail_msg("cannot give up being root");
    put(&s.dir, "ws/mine", "y");
    scene_command(&s, "chmod 000 mine");
    scene_command(&s, "rm -f closed mine");
    if (getuid() == 0) {
        assert_int_equal(seteuid(0), 0);
        assert_str(scene_image(&s, "closed")->why_not, "keel may not read it");
    }
    assert_int_equal(scene_image(&s, "mine")->why_not.n, 0);
}

/* --- keel dies in the middle --- */

TEST(what_the_undo_log_says_is_enough)
{
    AUTO(scene) struct scene s;
    struct snapshot_record told;
    struct recovered_call found;
    bool has_xattrs;

    scene_open(&s);
    put(&s.dir, "ws/src/a", "one");
    put(&s.dir, "ws/src/b", "two");
    put(&s.dir, "ws/c", "three");
    put(&s.dir, "ws/run", "x");
    scene_shell(&s, "ln c also");
    has_xattrs = setxattr(temp_path(&s.dir, "ws/src/a"), "user.colour", "red", 3, 0) == 0;
    scene_remember(&s);
    told = scene_begin(&s, &scene_bash, NULL);
    assert_true(told.log.n > 0);
    scene_run(&s, &told, "rm -rf src; echo new > new; chmod 755 c; echo five > c; chmod 700 run");
    /* no end is told */
    assert_ok(snapshot_recover(&s.options, &told, /* has_ended= */ false, &s.arena, &found));
    s.images = found.images;
    scene_restore(&s);
    scene_assert_same(&s);
    if (has_xattrs)
        assert_int_equal(getxattr(temp_path(&s.dir, "ws/src/a"), "user.colour", NULL, 0), 3);
    scene_end(&s, &told);
}

TEST(an_end_that_the_journal_knows_is_not_told_again)
{
    AUTO(scene) struct scene s;
    struct snapshot_record told, copy;
    struct recovered_call found;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    copy = told = scene_begin(&s, &scene_bash, NULL);
    scene_run(&s, &told, "echo two > a");
    scene_end(&s, &told);
    assert_ok(snapshot_recover(&s.options, &copy, /* has_ended= */ true, &s.arena, &found));
    assert_int_equal(found.images.n, 0);
    assert_ok(snapshot_recover(&s.options, &copy, /* has_ended= */ false, &s.arena, &found));
    assert_int_equal(found.images.n, 1); /* it was told, but the journal did not get it */
    snapshotter_forget_logs(s.snapshotter);
    assert_ok(snapshot_recover(&s.options, &copy, /* has_ended= */ false, &s.arena, &found));
    assert_int_equal(found.images.n, 0);
}

TEST(logs_go_when_a_later_command_has_run)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    for (int i = 0; i < 5; i++)
        scene_command(&s, "echo two >> a");
    /* the last one, and one for the next */
    scene_shell(&s, "[ $(ls ../home/undo | wc -l) = 2 ]");
    snapshotter_forget_logs(s.snapshotter);
    scene_shell(&s, "[ $(ls ../home/undo | wc -l) = 0 ]");
}

TEST(a_log_that_is_used_again_has_nothing_of_the_one_before)
{
    AUTO(scene) struct scene s;
    AUTO(strbuf) struct strbuf text = {0};
    struct undo_records records;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    for (int i = 0; i < 3; i++)
        scene_command(&s, "echo two >> a; echo two >> b");
    scene_shell(&s, "ls -i ../home/undo | sort | cut -d' ' -f1 > ../inodes");
    r = scene_begin(&s, &scene_bash, NULL);
    scene_run(&s, &r, "echo three > a");
    scene_shell(&s, "ls -i ../home/undo | sort | cut -d' ' -f1 | cmp - ../inodes");
    assert_ok(
        fs_read(temp_path(&s.dir, arena_format(&s.arena, "home/undo/%s", r.log.p).p), &text, NULL));
    assert_true(text.n > strlen("keel-undo 3") + 300); /* records of the one before are in it */
    undo_log_parse(strbuf_str(&text), r.log, &s.arena, &records);
    assert_int_equal(records.n, 1);
    assert_false(records.is_reported);
    assert_false(records.is_cut);
    scene_end(&s, &r);
}

TEST(a_log_counts_as_far_as_it_is_whole)
{
    AUTO(scene) struct scene s;
    AUTO(strbuf) struct strbuf text = {0};
    struct snapshot_record r;
    struct undo_records whole, part;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    put(&s.dir, "ws/b", "one");
    r = scene_begin(&s, &scene_bash, NULL);
    scene_run(&s, &r, "echo two > a; echo two > b; chmod 600 a");
    assert_ok(
        fs_read(temp_path(&s.dir, arena_format(&s.arena, "home/undo/%s", r.log.p).p), &text, NULL));
    undo_log_parse(strbuf_str(&text), r.log, &s.arena, &whole);
    assert_int_equal(whole.n, 2);
    assert_false(whole.is_cut);
    for (size_t n = 0; n < text.n; n++) {
        undo_log_parse(str_slice(strbuf_str(&text), 0, n), r.log, &s.arena, &part);
        assert_true(part.n < 2 || n == text.n - 1);
        assert_true(part.is_cut == (n > 0));
    }
    for (size_t i = 0; i < text.n; i++) {
        text.p[i] ^= 1;
        undo_log_parse(strbuf_str(&text), r.log, &s.arena, &part);
        if (i != strlen("keel-undo ")) { /* else it is one of version 2, which has no end */
            assert_true(part.n < 2 || i == text.n - 1);
            assert_true(part.is_cut);
        }
        text.p[i] ^= 1;
    }
    scene_end(&s, &r);
}

TEST(a_log_of_the_first_version_can_be_read)
{
    AUTO(arena) struct arena a = {0};
    static const char hash[] = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
    struct str record = arena_format(&a, "file 644 1 2 1 3 4 5 6 7 %s \t/ws/a", hash);
    struct str text =
        arena_format(&a, "keel-undo 1%c%016llx %s%c", 0,
                     (unsigned long long)checksum_add(CHECKSUM_START, record), record.p, 0);
    struct undo_records all;

    undo_log_parse(text, S("0123456789abcdef0123456789abcdef"), &a, &all);
    assert_int_equal(all.n, 1);
    assert_string_equal(all.items[0].state.path, "/ws/a");
    assert_true(all.items[0].state.is_saved);
    assert_false(all.items[0].state.has_bytes);
    assert_false(all.is_cut);
}

TEST(a_log_of_a_later_version_is_not_all_of_it)
{
    AUTO(arena) struct arena a = {0};
    struct undo_records all;

    undo_log_parse(S("keel-undo 4\0\0"), S("0123456789abcdef0123456789abcdef"), &a, &all);
    assert_int_equal(all.n, 0);
    assert_true(all.is_cut);
}

TEST(a_name_in_a_directory_that_was_closed_is_found)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    scene_shell(&s, "mkdir d; echo one > d/a; chmod 644 d/a; ln d/a a; chmod 620 d");
    scene_command(&s, "chmod 300 a");
    assert_true(scene_image(&s, "d/a")->keeps_content);
    assert_int_equal(scene_image(&s, "d/a")->mode, 0644);
    scene_shell(&s, "[ $(stat -c %a d) = 620 ]");
    scene_restore(&s);
    scene_shell(&s, "chmod 755 d; [ $(stat -c %a d/a) = 644 ]");
}

/* --- short contents --- */

TEST(short_contents_take_no_blob)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/empty", "");
    scene_shell(&s, "printf 'a\\0b' > a; ln -s a link; head -c 16384 /dev/zero > b;"
                    "head -c 16384 /dev/zero | tr '\\0' x > c; head -c 16385 /dev/zero > d");
    scene_remember(&s);
    scene_command(&s, "rm empty a link; echo new > b; echo new > c; echo new > d; echo new > e");
    assert_true(scene_image(&s, "empty")->has_bytes);
    assert_int_equal(scene_image(&s, "empty")->bytes.n, 0);
    assert_true(str_eq(scene_image(&s, "a")->bytes, S("a\0b")));
    assert_str(scene_image(&s, "link")->bytes, "a");
    assert_true(scene_image(&s, "b")->has_bytes);
    assert_false(scene_image(&s, "c")->has_bytes); /* more than all may take */
    assert_false(scene_image(&s, "d")->has_bytes); /* more than one may take */
    assert_false(scene_image(&s, "e")->has_bytes); /* there was none */
    scene_shell(&s, "[ $(find ../home/blobs -type f | wc -l) = 2 ]");
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(short_contents_come_back_after_a_crash)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;
    struct recovered_call found;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    put(&s.dir, "ws/empty", "");
    scene_remember(&s);
    r = scene_begin(&s, &scene_bash, NULL);
    scene_run(&s, &r, "echo two > a; chmod 600 empty; echo two > empty");
    assert_ok(snapshot_recover(&s.options, &r, /* has_ended= */ false, &s.arena, &found));
    scene_shell(&s, "[ ! -e ../home/blobs ]");
    s.images = found.images;
    scene_restore(&s);
    scene_assert_same(&s);
    scene_end(&s, &r);
}

TEST(what_commands_side_by_side_found_is_there_for_each)
{
    AUTO(scene) struct scene s;
    struct snapshot_record one, two;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    scene_remember(&s);
    one = scene_begin(&s, &scene_bash, NULL);
    two = scene_begin(&s, &scene_bash, NULL);
    scene_run(&s, &one, "echo two > a");
    scene_run(&s, &two, "echo three > a");
    scene_end(&s, &one);
    assert_str(s.images.items[s.images.n - 1].bytes, "one");
    scene_end(&s, &two);
    assert_str(s.images.items[s.images.n - 1].bytes, "one");
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(a_short_content_that_does_not_fit_its_hash_is_not_restored)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    scene_command(&s, "echo two > a");
    s.images.items[0].bytes = S("six");
    scene_try_restore(&s, /* force= */ false);
    assert_int_equal(s.report.n_failed, 1);
    scene_shell(&s, "grep -q two a");
}

TEST(a_call_of_an_earlier_version_that_was_interrupted_is_told)
{
    AUTO(scene) struct scene s;
    struct snapshot_record old = {.tree = S("abc")};
    struct recovered_call found;

    scene_open(&s);
    assert_ok(snapshot_recover(&s.options, &old, /* has_ended= */ false, &s.arena, &found));
    assert_true(found.unsaved.n > 0);
    assert_ok(snapshot_recover(&s.options, &old, /* has_ended= */ true, &s.arena, &found));
    assert_int_equal(found.unsaved.n, 0);
}

TEST(a_write_that_was_under_way_can_be_taken_back)
{
    AUTO(scene) struct scene s;
    struct snapshot_record told;
    struct recovered_call found;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    scene_remember(&s);
    told = scene_begin(&s, &scene_write, scene_path(&s, "a"));
    put(&s.dir, "ws/a", "two");
    assert_ok(snapshot_recover(&s.options, &told, /* has_ended= */ false, &s.arena, &found));
    s.images = found.images;
    scene_restore(&s);
    scene_assert_same(&s);
    scene_end(&s, &told);
}

static void count_content(void *self, struct str handle)
{
    ++*(size_t *)self;
}

TEST(a_damaged_list_of_an_earlier_version_is_an_error)
{
    AUTO(scene) struct scene s;
    static const struct str bad[] = {
        S(""),
        S("keel-tree 1 -"),
        S("keel-tree 2 -\0"),
        S("x\0y\0"),
        S("keel-tree 1 -\0file 644 - 1 1 1 1\t/x\0"),
        S("keel-tree 1 -\0file 999 - 1 1 1 1 1 1\t/x\0"),
        S("keel-tree 1 -\0file 644 - 1 1 1 1 1 1\tx\0"),
        S("keel-tree 1 -\0thing 644 - 1 1 1 1 1 1\t/x\0"),
    };
    static const struct str good = S("keel-tree 1 -\0directory 755 - 1 1 1 1 1 1\t/d\0");
    char handle[SHA256_HEX_SIZE];
    size_t n = 0;

    scene_open(&s);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_ok(blob_put(s.blobs, bad[i], handle));
        assert_err(manifest_each_content(s.blobs, str_of(handle), count_content, &n), ERR_STORAGE);
    }
    assert_ok(blob_put(s.blobs, good, handle));
    assert_ok(manifest_each_content(s.blobs, str_of(handle), count_content, &n));
    assert_int_equal(n, 0);
}

/* --- in the background --- */

TEST(what_a_command_in_the_background_did_is_told_at_the_next_look)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r, background;
    struct snapshot_changes changes;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    put(&s.dir, "ws/b", "one");
    put(&s.dir, "ws/c", "one");
    scene_remember(&s);
    r = scene_begin(&s, &scene_bash, NULL);
    background.observer = write_observer_ref(r.observer); /* as the launcher holds it */
    scene_end(&s, &r);
    scene_run(&s, &background, "echo background > a");
    r = scene_begin(&s, &scene_write, scene_path(&s, "b"));
    assert_int_equal(r.before.n, 1);
    put(&s.dir, "ws/b", "written");
    scene_end(&s, &r);
    scene_run(&s, &background, "echo background > c; echo more >> a");
    write_observer_unref(background.observer); /* it has ended */
    assert_ok(snapshot_settle(s.snapshotter, &s.arena, &changes));
    assert_int_equal(changes.images.n, 2);
    for (size_t i = 0; i < changes.images.n; i++)
        pre_images_add(&s.images, &s.arena, changes.images.items[i]);
    assert_ok(snapshot_settle(s.snapshotter, &s.arena, &changes));
    assert_int_equal(changes.images.n, 0);
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(what_a_killed_command_in_the_background_had_done_is_in_its_log)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r, told;
    struct recovered_call found;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    scene_remember(&s);
    told = r = scene_begin(&s, &scene_bash, NULL);
    told.observer = write_observer_ref(r.observer);
    scene_end(&s, &r);
    scene_run(&s, &told, "echo background > a");
    assert_ok(snapshot_recover(&s.options, &told, /* has_ended= */ true, &s.arena, &found));
    s.images = found.images;
    scene_restore(&s);
    scene_assert_same(&s);
    write_observer_unref(told.observer);
}

TEST(an_observer_that_outlives_its_snapshotter_does_nothing)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r, late;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    r = scene_begin(&s, &scene_bash, NULL);
    late.observer = write_observer_ref(r.observer);
    scene_end(&s, &r);
    snapshotter_free(TAKE(s.snapshotter));
    scene_run(&s, &late, "echo late > a");
    write_observer_unref(late.observer);
}

TEST(what_a_person_does_between_two_commands_is_not_told)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    scene_command(&s, "true");
    put(&s.dir, "ws/a", "a person's");
    scene_command(&s, "true");
    assert_int_equal(s.images.n, 0);
}

/* --- the disk --- */

/* Blobs of the scene, with a disk that says when it is asked. */
struct slow_disk {
    struct blob_store store;
    struct blob_store *inner;
    sem_t asked;
    unsigned n_syncs;
};

static struct err *slow_disk_put_soon(struct blob_store *b, struct str bytes,
                                      char handle[SHA256_HEX_SIZE])
{
    return blob_put_soon(((struct slow_disk *)b)->inner, bytes, handle);
}

static struct err *slow_disk_sync(struct blob_store *b)
{
    struct slow_disk *d = (struct slow_disk *)b;
    struct err *e = blob_sync(d->inner);

    d->n_syncs++;
    sem_post(&d->asked);
    return e;
}

static const struct blob_ops slow_disk_ops = {.put_soon = slow_disk_put_soon,
                                              .sync = slow_disk_sync};

/* A command that has changed a file, and whose sync has been asked for while it still runs. */
static struct snapshot_record run_until_synced(struct scene *s, struct slow_disk *d)
{
    struct snapshot_record r;

    scene_open(s);
    d->store = (struct blob_store){.ops = &slow_disk_ops, .max_bytes = BLOB_DEFAULT_MAX};
    d->inner = s->blobs;
    sem_init(&d->asked, 0, 0);
    s->options.blobs = &d->store;
    scene_shell(s, "head -c 20000 /dev/zero > a"); /* short ones are not blobs */
    r = scene_begin(s, &scene_bash, NULL);
    scene_run(s, &r, "echo two > a");
    while (sem_wait(&d->asked) != 0)
        assert_int_equal(errno, EINTR);
    return r;
}

TEST(what_a_command_changes_goes_to_the_disk_while_it_runs)
{
    AUTO(scene) struct scene s;
    struct slow_disk disk = {0};
    struct snapshot_record r = run_until_synced(&s, &disk);

    scene_run(&s, &r, "echo three > a; echo four > b");
    scene_end(&s, &r);
    assert_int_equal(disk.n_syncs, 1); /* the rest is the journal's */
    assert_int_equal(scene_image(&s, "a")->n_bytes, 20000);
    snapshotter_free(TAKE(s.snapshotter));
    sem_destroy(&disk.asked);
}

RUN_TESTS(UNIT(the_file_of_a_write_is_saved_before_it_runs),
          UNIT(a_file_that_a_write_makes_is_told_as_nothing),
          UNIT(directories_that_a_write_makes_go_with_its_file),
          UNIT(a_write_that_did_nothing_tells_nothing), UNIT(a_file_behind_a_link_is_not_read),
          UNIT(tools_that_only_look_cost_nothing), UNIT(a_command_that_only_reads_costs_nothing),
          UNIT(a_command_that_changes_nothing_makes_no_file),
          UNIT(a_file_is_saved_once_however_often_it_is_written),
          UNIT(a_file_that_is_as_it_was_is_not_told), UNIT(permissions_alone_cost_no_copy),
          UNIT(in_a_directory_that_git_ignores_nothing_is_saved_but_the_change_is_told),
          UNIT(a_directory_that_git_ignores_and_nobody_changed_is_not_told),
          UNIT(thousands_of_files_that_git_ignores_are_one_record),
          UNIT(a_single_file_that_git_ignores_comes_back_with_its_time),
          UNIT(too_much_of_what_git_ignores_is_told_and_takes_no_room_from_the_rest),
          UNIT(what_a_command_changes_in_what_it_moved_is_not_mixed_up),
          UNIT(rules_count_as_they_were_before_the_command),
          UNIT(what_git_ignores_and_a_command_moves_comes_back),
          UNIT(that_the_repository_itself_is_gone_is_told), UNIT(that_a_command_moved_head_is_told),
          UNIT(keels_own_home_is_not_saved),
          UNIT(a_tree_of_thousands_of_files_that_is_removed_comes_back),
          UNIT(a_command_that_is_not_observed_says_so_each_time),
          UNIT(a_change_that_was_not_announced_is_told_and_stays),
          UNIT(a_command_that_was_refused_has_changed_nothing),
          UNIT(file_systems_that_store_nothing_are_no_part_of_an_undo),
          UNIT(a_change_that_is_announced_only_afterwards_is_told),
          UNIT(a_command_cannot_hide_a_change_behind_rules_of_its_own),
          UNIT(changes_are_found_in_the_log_of_a_watched_workspace),
          UNIT(files_of_write_and_edit_beside_a_command_are_no_strangers),
          UNIT(content_that_changed_between_a_chmod_and_a_write_is_not_restored),
          UNIT(content_that_changed_behind_a_chmod_is_reported_though_size_and_time_did_not),
          UNIT(content_that_changed_behind_a_chmod_is_not_restored_by_any_name_of_the_file),
          UNIT(a_file_with_several_names_that_is_announced_after_it_changed_is_reported),
          UNIT(other_names_of_a_file_announced_too_late_are_reported_in_a_watched_workspace),
          UNIT(a_file_that_takes_the_name_of_another_behind_a_chmod_is_reported),
          UNIT(a_file_that_changes_while_keel_reads_it_is_reported),
          UNIT(content_that_changed_behind_a_chmod_of_another_command_is_reported),
          UNIT(what_another_command_wrote_after_a_chmod_and_announced_comes_back),
          UNIT(content_that_changed_before_it_was_announced_is_not_restored_after_a_crash),
          UNIT(what_a_command_writes_after_a_chmod_comes_back),
          UNIT(what_is_written_after_a_chmod_of_more_than_the_limits_allow_is_reported),
          UNIT(what_is_over_the_limit_of_a_command_is_told),
          UNIT(a_file_over_the_cap_is_told_when_it_changes_and_not_before),
          UNIT(a_file_that_may_not_be_read_is_told_unless_it_is_our_own),
          UNIT(what_the_undo_log_says_is_enough),
          UNIT(an_end_that_the_journal_knows_is_not_told_again),
          UNIT(logs_go_when_a_later_command_has_run),
          UNIT(a_log_that_is_used_again_has_nothing_of_the_one_before),
          UNIT(a_log_counts_as_far_as_it_is_whole), UNIT(a_log_of_the_first_version_can_be_read),
          UNIT(a_log_of_a_later_version_is_not_all_of_it),
          UNIT(a_name_in_a_directory_that_was_closed_is_found), UNIT(short_contents_take_no_blob),
          UNIT(short_contents_come_back_after_a_crash),
          UNIT(what_commands_side_by_side_found_is_there_for_each),
          UNIT(a_short_content_that_does_not_fit_its_hash_is_not_restored),
          UNIT(a_call_of_an_earlier_version_that_was_interrupted_is_told),
          UNIT(a_write_that_was_under_way_can_be_taken_back),
          UNIT(a_damaged_list_of_an_earlier_version_is_an_error),
          UNIT(what_a_command_in_the_background_did_is_told_at_the_next_look),
          UNIT(what_a_killed_command_in_the_background_had_done_is_in_its_log),
          UNIT(an_observer_that_outlives_its_snapshotter_does_nothing),
          UNIT(what_a_person_does_between_two_commands_is_not_told),
          UNIT(what_a_command_changes_goes_to_the_disk_while_it_runs))
