/* snapshot_test.c - what is saved, what is left out, and what is told of it. */
#include "snapshot/scene.h"

#include "snapshot/manifest.h"

#include <sys/stat.h>

static size_t count_reads(struct scene *s, const struct file_tree *known)
{
    struct file_tree_scope scope = {.roots = s->roots, .n_roots = 1};
    struct file_tree_limits limits = {1000, 1 << 20, 1 << 20, /* racy_ns= */ 1};
    AUTO(file_tree) struct file_tree *t = NULL;
    struct fill_report report;

    assert_ok(file_tree_take(&scope, &limits, &t));
    file_tree_reuse(t, known, &limits);
    assert_ok(file_tree_fill(t, &limits, s->blobs, &report));
    return report.n_read;
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
    assert_int_equal(r.tree.n, 0); /* a file is enough */
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

/* --- the workspace --- */

TEST(what_git_ignores_is_left_out)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "ref: refs/heads/main");
    put(&s.dir, "ws/.gitignore", "build/\n");
    put(&s.dir, "ws/build/out", "1");
    put(&s.dir, "ws/.env", "A=1");
    scene_command(&s, "echo 2 > build/out; echo 2 > .git/HEAD; echo 2 > .env");
    assert_int_equal(s.images.n, 1);
    assert_int_equal(scene_image(&s, ".env")->kind, IMAGE_FILE);
}

TEST(a_file_that_rules_have_hidden_before_is_not_taken_for_new)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "x");
    put(&s.dir, "ws/.gitignore", "*.env\nbuild/\n");
    put(&s.dir, "ws/secret.env", "A=1");
    put(&s.dir, "ws/build/out", "1");
    scene_command(&s, ": > .gitignore; echo B=2 >> secret.env; mv build out");
    scene_try_restore(&s, /* force= */ true);
    assert_true(fs_exists(scene_path(&s, "secret.env")));
    assert_true(fs_exists(scene_path(&s, "out/out")));
    assert_true(s.note.n > 0); /* and it is told */
}

TEST(a_file_that_rules_hide_now_is_not_taken_for_removed)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "x");
    put(&s.dir, "ws/a.txt", "one");
    put(&s.dir, "ws/b.txt", "one");
    scene_command(&s, "echo '*.txt' > .gitignore; echo two > b.txt");
    assert_int_equal(s.images.n, 2);
    assert_true(scene_image(&s, "b.txt")->after.n > 0);
}

TEST(that_the_repository_itself_is_gone_is_told)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/.git/HEAD", "x");
    scene_command(&s, "rm -rf .git");
    assert_true(str_find(s.note, S(".git is gone")) != STR_NONE);
}

TEST(keels_own_home_is_left_out)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/.keel/settings.json", "{}");
    s.options.home = scene_path(&s, ".keel");
    scene_command(&s, "echo 2 > .keel/settings.json; echo x > y");
    assert_int_equal(s.images.n, 1);
}

TEST(unchanged_files_are_read_once)
{
    AUTO(scene) struct scene s;
    struct file_tree_scope scope;
    struct file_tree_limits limits = {1000, 1 << 20, 1 << 20, /* racy_ns= */ 1};
    AUTO(file_tree) struct file_tree *known = NULL;
    struct fill_report report;

    scene_open(&s);
    scope = (struct file_tree_scope){.roots = s.roots, .n_roots = 1};
    for (int i = 0; i < 50; i++)
        put(&s.dir, arena_format(&s.arena, "ws/d%d/f%d", i % 7, i).p, "text");
    assert_int_equal(count_reads(&s, NULL), 50);
    assert_ok(file_tree_take(&scope, &limits, &known));
    assert_ok(file_tree_fill(known, &limits, s.blobs, &report));
    known->taken_ns = INT64_MAX; /* long after all files were written */
    assert_int_equal(count_reads(&s, known), 0);
    put(&s.dir, "ws/d3/f3", "other");
    assert_int_equal(count_reads(&s, known), 1);
    known->taken_ns = 0; /* before: none of the stamps can be relied on */
    assert_int_equal(count_reads(&s, known), 50);
}

/* --- limits --- */

TEST(five_thousand_files_are_saved_and_over_the_limit_none_is)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    scene_shell(&s,
                "mkdir a b c d e; for d in a b c d e; do (cd $d; seq 1000 | split -l 1 -a 3 -); "
                "done");
    scene_remember(&s);
    scene_command(&s, "rm -rf a b; echo x > c/xaaa");
    assert_int_equal(s.note.n, 0);
    scene_restore(&s);
    scene_assert_same(&s);

    scene_restart(&s);
    s.images = (struct pre_images){0};
    s.options.max_files = 5000;
    assert_null(scene_begin(&s, &scene_bash, NULL).tree.p);
    assert_true(str_find(s.note, S("more than 5000 files")) != STR_NONE);
    assert_true(str_find(s.note, S("snapshot.maxFiles")) != STR_NONE);
}

TEST(a_limit_is_told_once)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "1");
    put(&s.dir, "ws/b", "1");
    s.options.max_files = 1;
    r = scene_begin(&s, &scene_bash, NULL);
    assert_true(s.note.n > 0);
    scene_end(&s, &r);
    r = scene_begin(&s, &scene_bash, NULL);
    assert_int_equal(s.note.n, 0);
    scene_end(&s, &r);
}

TEST(small_files_are_saved_first_when_there_is_no_room_for_all)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/small", "1234");
    scene_shell(&s, "head -c 3000 /dev/zero > large; head -c 100 /dev/zero > middle");
    s.options.max_bytes = 2000;
    scene_command(&s, "rm small middle large");
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
    scene_command(&s, "echo more >> big; head -c 9000 /dev/zero > made");
    assert_true(scene_image(&s, "big")->why_not.n > 0);
    assert_true(str_find(s.note, S("big")) != STR_NONE);
    /* one that the command made can go, large as it is */
    assert_true(str_starts(scene_image(&s, "made")->after, S("stamp:")));
    scene_try_restore(&s, /* force= */ false);
    assert_int_equal(scene_item(&s, "made")->outcome, RESTORE_DONE);
}

TEST(a_file_that_may_not_be_read_is_told)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/closed", "x");
    scene_shell(&s, "chmod 777 . ../ws; mkdir -p ../home; chmod 777 .. ../home; chmod 000 closed");
    if (geteuid() == 0 && seteuid(65534) < 0)
        fail_msg("cannot give up being root");
    scene_command(&s, "rm -f closed");
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    assert_str(scene_image(&s, "closed")->why_not, "it may not be read");
}

/* --- keel dies in the middle --- */

TEST(what_was_told_before_the_command_is_enough)
{
    AUTO(scene) struct scene s;
    struct snapshot_record told;

    scene_open(&s);
    put(&s.dir, "ws/src/a", "one");
    put(&s.dir, "ws/src/b", "two");
    put(&s.dir, "ws/c", "three");
    scene_remember(&s);
    scene_command(&s, "true"); /* so that the next list is a difference */
    put(&s.dir, "ws/c", "four");
    scene_remember(&s);
    told = scene_begin(&s, &scene_bash, NULL);
    scene_shell(&s, "rm -rf src; echo new > new; echo five > c");
    /* no end is told */
    assert_ok(snapshot_recover(&s.options, &told, &s.arena, &s.images));
    scene_restore(&s);
    scene_assert_same(&s);
    scene_end(&s, &told);
}

TEST(a_write_that_was_under_way_can_be_taken_back)
{
    AUTO(scene) struct scene s;
    struct snapshot_record told;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    scene_remember(&s);
    told = scene_begin(&s, &scene_write, scene_path(&s, "a"));
    put(&s.dir, "ws/a", "two");
    assert_ok(snapshot_recover(&s.options, &told, &s.arena, &s.images));
    scene_restore(&s);
    scene_assert_same(&s);
    scene_end(&s, &told);
}

TEST(a_damaged_list_is_an_error)
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
    struct file_tree *t;

    scene_open(&s);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char handle[SHA256_HEX_SIZE];

        assert_ok(blob_put(s.blobs, bad[i], handle));
        assert_err(manifest_load(s.blobs, str_of(handle), &t), ERR_STORAGE);
    }
}

/* --- the next process --- */

TEST(a_new_process_reads_only_what_has_changed)
{
    AUTO(scene) struct scene s;
    struct snapshot_record first, second;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    first = scene_begin(&s, &scene_bash, NULL);
    scene_end(&s, &first);
    scene_restart(&s);
    second = scene_begin(&s, &scene_bash, NULL);
    assert_true(str_eq(first.tree, second.tree));
    scene_end(&s, &second);
}

TEST(content_that_retention_has_removed_is_saved_again)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    s.options.racy_ns = 1;
    put(&s.dir, "ws/a", "one");
    scene_remember(&s);
    scene_command(&s, "true");
    scene_restart(&s);
    scene_shell(&s, "cd ../home/blobs && rm -f */$(printf one | sha256sum | cut -c 1-64)");
    scene_command(&s, "rm a");
    scene_restore(&s);
    scene_assert_same(&s);
}

/* --- in the background --- */

static bool is_busy(void *self)
{
    return ((struct scene *)self)->is_busy;
}

TEST(what_a_command_in_the_background_did_is_told_at_the_next_look)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;
    struct snapshot_changes changes;

    scene_open(&s);
    s.options.is_busy = is_busy;
    s.options.self = &s;
    put(&s.dir, "ws/a", "one");
    put(&s.dir, "ws/b", "one");
    put(&s.dir, "ws/c", "one");
    scene_remember(&s);
    r = scene_begin(&s, &scene_bash, NULL);
    s.is_busy = true; /* it has started */
    scene_end(&s, &r);
    put(&s.dir, "ws/a", "background");
    r = scene_begin(&s, &scene_write, scene_path(&s, "b"));
    assert_int_equal(r.before.n, 1);
    put(&s.dir, "ws/b", "written");
    scene_end(&s, &r);
    s.is_busy = false; /* it has ended, and has done something before */
    put(&s.dir, "ws/c", "background");
    assert_ok(snapshot_settle(s.snapshotter, &s.arena, &changes));
    assert_int_equal(changes.images.n, 1);
    pre_images_add(&s.images, &s.arena, changes.images.items[0]);
    assert_ok(snapshot_settle(s.snapshotter, &s.arena, &changes));
    assert_int_equal(changes.images.n, 0);
    scene_restore(&s);
    scene_assert_same(&s);
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

RUN_TESTS(UNIT(the_file_of_a_write_is_saved_before_it_runs),
          UNIT(a_file_that_a_write_makes_is_told_as_nothing),
          UNIT(a_write_that_did_nothing_tells_nothing), UNIT(a_file_behind_a_link_is_not_read),
          UNIT(tools_that_only_look_cost_nothing), UNIT(a_command_that_only_reads_costs_nothing),
          UNIT(what_git_ignores_is_left_out),
          UNIT(a_file_that_rules_have_hidden_before_is_not_taken_for_new),
          UNIT(a_file_that_rules_hide_now_is_not_taken_for_removed),
          UNIT(that_the_repository_itself_is_gone_is_told), UNIT(keels_own_home_is_left_out),
          UNIT(unchanged_files_are_read_once),
          UNIT(five_thousand_files_are_saved_and_over_the_limit_none_is),
          UNIT(a_limit_is_told_once),
          UNIT(small_files_are_saved_first_when_there_is_no_room_for_all),
          UNIT(a_file_over_the_cap_is_told_when_it_changes_and_not_before),
          UNIT(a_file_that_may_not_be_read_is_told),
          UNIT(what_was_told_before_the_command_is_enough),
          UNIT(a_write_that_was_under_way_can_be_taken_back), UNIT(a_damaged_list_is_an_error),
          UNIT(a_new_process_reads_only_what_has_changed),
          UNIT(content_that_retention_has_removed_is_saved_again),
          UNIT(what_a_command_in_the_background_did_is_told_at_the_next_look),
          UNIT(what_a_person_does_between_two_commands_is_not_told))
