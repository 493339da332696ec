/* restore_test.c - what commands do to files, and that it can be taken back. */
#include "snapshot/scene.h"

#include <sys/stat.h>

static void put_project(struct scene *s)
{
    put(&s->dir, "ws/a.txt", "one\n");
    put(&s->dir, "ws/empty", "");
    put(&s->dir, "ws/src/main.c", "int main(void);\n");
    put(&s->dir, "ws/src/deep/er/x.h", "#define X\n");
    put_bytes(&s->dir, "ws/data.bin", S("\0\1\2\377\376\n\r"));
    put(&s->dir, "ws/run.sh", "#!/bin/sh\n");
    scene_shell(s, "chmod 755 run.sh; chmod 600 a.txt; ln -s a.txt link; ln -s nowhere broken");
    scene_shell(s, "mkdir nothing; chmod 711 src/deep");
    scene_remember(s);
}

/* Each on a fresh project: done by one command, and taken back byte for byte. */
static void takes_back(const char *line)
{
    AUTO(scene) struct scene s;
    AUTO(strbuf) struct strbuf changed = {0};

    scene_open(&s);
    put_project(&s);
    scene_command(&s, line);
    scene_describe(&s, &changed);
    if (strcmp(strbuf_cstr(&changed), strbuf_cstr(&s.remembered)) == 0)
        fail_msg("changes nothing: %s", line);
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(a_file_that_was_changed_is_as_it_was)
{
    takes_back("echo two >> a.txt");
    takes_back("echo ONE > a.txt"); /* the same size, the same second */
    takes_back("echo x > empty");
    takes_back("echo x >> data.bin");
    takes_back("truncate src/main.c");
    takes_back("replace src/main.c long");
    takes_back(": > src/main.c");
}

TEST(a_file_that_was_removed_is_there_again)
{
    takes_back("rm a.txt");
    takes_back("rm empty data.bin link broken");
}

TEST(a_file_that_was_made_is_gone)
{
    takes_back("echo new > new.txt");
    takes_back("mkdir -p p/q/r && touch p/q/r/s p/t");
    takes_back("mkdir p");
    takes_back("ln -s /etc/passwd escape");
    takes_back("mkfifo pipe");
    takes_back("cp -a src copy");
}

TEST(what_was_renamed_has_its_old_name)
{
    takes_back("mv a.txt b.txt");
    takes_back("mv src lib");
    takes_back("mv src/deep .");
    takes_back("mv a.txt t && mv run.sh a.txt && mv t run.sh");
    takes_back("exch a.txt src/main.c");
    takes_back("exch src nothing");
    takes_back("ln a.txt hard && echo more >> hard");
}

TEST(permissions_are_as_they_were)
{
    takes_back("chmod 640 a.txt");
    takes_back("chmod 644 run.sh");
    takes_back("chmod 700 src");
    takes_back("chmod 000 src");
    takes_back("chmod -R 500 src && rm -f a.txt");
    takes_back("echo x > src/main.c; echo new > src/new; chmod 600 src");
    takes_back("chmod 000 a.txt; mv src lib; chmod 000 lib");
}

TEST(a_tree_that_was_removed_is_there_again)
{
    takes_back("rm -rf src");
    takes_back("rm -rf nothing src data.bin");
    takes_back("rm -rf a.txt src run.sh link nothing; echo gone > a.txt");
}

TEST(what_became_something_else_is_itself_again)
{
    takes_back("rm a.txt && mkdir a.txt && touch a.txt/in");
    takes_back("rm -rf src && echo file > src");
    takes_back("rm -rf src && ln -s /etc src");
    takes_back("rm link && echo plain > link");
    takes_back("rm a.txt && ln -s data.bin a.txt");
    takes_back("ln -sf data.bin link");
    takes_back("rm link && mkdir link");
}

TEST(names_may_hold_any_bytes)
{
    takes_back("echo x > a\tb\377\001c && rm a.txt");
}

TEST(several_commands_are_taken_back_at_once)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put_project(&s);
    scene_command(&s, "echo two >> a.txt; mkdir d");
    scene_command(&s, "mv a.txt d/b.txt; rm -rf src");
    scene_command(&s, "rm d/b.txt; mkdir src; echo other > src/main.c");
    scene_command(&s, "echo again > a.txt");
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(taking_back_can_be_taken_back)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put_project(&s);
    scene_command(&s, "rm -rf src; echo new > new; echo two >> a.txt; ln -sfn x link");
    scene_remember(&s);
    scene_restore(&s);
    s.images = s.report.undo;
    scene_restore(&s);
    scene_assert_same(&s);
}

/* --- conflicts --- */

TEST(a_file_that_somebody_else_changed_since_is_left_alone)
{
    AUTO(scene) struct scene s;
    AUTO(strbuf) struct strbuf text = {0};

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    put(&s.dir, "ws/b", "one");
    scene_command(&s, "echo two > a; echo two > b; echo new > c");
    put(&s.dir, "ws/a", "a person's");
    put(&s.dir, "ws/c", "a person's");
    scene_try_restore(&s, /* force= */ false);
    assert_int_equal(scene_item(&s, "a")->outcome, RESTORE_CONFLICT);
    assert_int_equal(scene_item(&s, "b")->outcome, RESTORE_DONE);
    assert_int_equal(scene_item(&s, "c")->outcome, RESTORE_CONFLICT);
    assert_int_equal(s.report.n_conflicts, 2);
    assert_ok(fs_read(scene_path(&s, "a"), &text, NULL));
    assert_str(strbuf_str(&text), "a person's");

    scene_try_restore(&s, /* force= */ true);
    strbuf_clear(&text);
    assert_ok(fs_read(scene_path(&s, "a"), &text, NULL));
    assert_str(strbuf_str(&text), "one");
    assert_false(fs_exists(scene_path(&s, "c")));
}

TEST(a_change_between_two_calls_is_not_lost_unseen)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    scene_command(&s, "echo two > a");
    put(&s.dir, "ws/a", "a person's");
    scene_command(&s, "echo three > a");
    scene_try_restore(&s, /* force= */ false);
    assert_int_equal(scene_item(&s, "a")->outcome, RESTORE_CONFLICT);
    assert_str(scene_item(&s, "a")->why, "someone else changed it in the meantime");
}

TEST(calls_side_by_side_are_no_conflict)
{
    AUTO(scene) struct scene s;
    struct snapshot_record first, second;

    scene_open(&s);
    put_project(&s);
    first = scene_begin(&s, &scene_bash, NULL);
    second = scene_begin(&s, &scene_bash, NULL);
    scene_run(&s, &first, "echo two > a.txt; chmod 700 run.sh; rm -rf src");
    scene_run(&s, &second, "echo three > a.txt; echo x > run.sh; echo x > src");
    scene_run(&s, &first, "echo four > a.txt; rm src");
    scene_end(&s, &first);
    scene_run(&s, &second, "echo five > a.txt; rm run.sh");
    scene_end(&s, &second);
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(files_of_a_person_keep_a_new_directory_alive)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    scene_command(&s, "mkdir d; echo x > d/theirs");
    put(&s.dir, "ws/d/mine", "a person's");
    scene_try_restore(&s, /* force= */ false);
    assert_false(fs_exists(scene_path(&s, "d/theirs")));
    assert_true(fs_exists(scene_path(&s, "d/mine")));
    assert_int_equal(scene_item(&s, "d")->outcome, RESTORE_LEFT);
    assert_non_null(strstr(scene_item(&s, "d")->why.p, "it still contains mine"));
}

/* --- bounds --- */

TEST(nothing_outside_of_the_roots_is_touched)
{
    static const char *const bad[] = {"/etc/keel-test", "%s/../x", "%s/a/../../x", "%s//x",
                                      "relative",       "",        "%s/",          "%sx/y"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO(scene) struct scene s;
        struct pre_image image = {.kind = IMAGE_DIRECTORY, .mode = 0755};
        const char *percent;
        char path[PATH_MAX + 64];

        scene_open(&s);
        percent = strstr(bad[i], "%s");
        snprintf(path, sizeof path, "%s%s", percent ? s.workspace : bad[i],
                 percent ? percent + 2 : "");
        image.path = str_of(path);
        pre_images_add(&s.images, &s.arena, image);
        scene_try_restore(&s, /* force= */ true);
        assert_int_equal(s.plan.items[0].outcome, RESTORE_IMPOSSIBLE);
        assert_true(bad[i][0] == '\0' || percent || !fs_exists(path));
    }
}

TEST(the_whole_file_system_may_be_the_root)
{
    AUTO(scene) struct scene s;
    struct snapshot_record r;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    s.roots[0] = "/";
    r = scene_begin(&s, &scene_write, scene_path(&s, "a"));
    put(&s.dir, "ws/a", "two");
    scene_end(&s, &r);
    scene_try_restore(&s, /* force= */ false);
    assert_int_equal(scene_item(&s, "a")->outcome, RESTORE_DONE);
}

TEST(a_link_that_was_put_in_the_way_is_not_followed)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/d/a", "one");
    put(&s.dir, "elsewhere/a", "two\n");
    scene_command(&s, "echo two > d/a");
    scene_shell(&s, "rm -r d && ln -s ../elsewhere d");
    scene_try_restore(&s, /* force= */ true);
    assert_int_equal(scene_item(&s, "d/a")->outcome, RESTORE_FAILED);
    scene_shell(&s, "grep -q two ../elsewhere/a");
}

TEST(a_file_that_became_a_name_of_another_is_one_of_its_own_again)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/a", "");
    put(&s.dir, "ws/f", "");
    scene_remember(&s);
    scene_command(&s, "ln -f a f");
    scene_command(&s, "rm a");
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(a_file_with_the_same_content_is_a_name_of_the_other_again)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    scene_shell(&s, "touch d; ln d f");
    scene_remember(&s);
    scene_command(&s, "replace d 1");
    scene_command(&s, "echo 2 >> f");
    scene_command(&s, "rm f; touch f");
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(a_name_that_was_several_files_meanwhile_is_no_missing_one)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    put(&s.dir, "ws/a", "one");
    scene_remember(&s);
    scene_command(&s, "echo new > f");
    scene_command(&s, "ln -f a f");
    scene_command(&s, "echo two > f; rm f");
    scene_command(&s, "rm a");
    scene_restore(&s);
    scene_assert_same(&s);
}

TEST(a_file_that_cannot_be_moved_back_is_not_replaced)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    s.options.max_file_bytes = 4;
    s.max_restored = 6;
    put(&s.dir, "ws/b", "old");
    put(&s.dir, "ws/f", "unsaved");
    scene_command(&s, "mv f b; mkdir f; echo in-the-way > f/a");
    scene_try_restore(&s, /* force= */ false);
    assert_int_equal(scene_item(&s, "f")->outcome, RESTORE_LEFT);
    assert_int_equal(scene_item(&s, "b")->outcome, RESTORE_LEFT);
    scene_shell(&s, "[ $(cat b) = unsaved ]");
}

TEST(content_that_is_gone_from_the_store_is_told)
{
    AUTO(scene) struct scene s;

    scene_open(&s);
    scene_shell(&s, "head -c 20000 /dev/zero > a"); /* a short one needs no store */
    scene_command(&s, "rm a");
    scene_shell(&s, "rm -rf ../home/blobs");
    scene_try_restore(&s, /* force= */ false);
    assert_int_equal(scene_item(&s, "a")->outcome, RESTORE_FAILED);
    assert_int_equal(s.report.n_failed, 1);
}

/* --- plans are pure --- */

TEST(a_plan_aims_at_the_earliest_image_of_each_path)
{
    AUTO(arena) struct arena a = {0};
    struct restore_plan plan;
    const struct pre_image images[] = {
        {.path = S("/w/b"), .kind = IMAGE_NONE, .after = S("1")},
        {.path = S("/w/a"), .kind = IMAGE_FILE, .content = S("x"), .after = S("y")},
        {.path = S("/w/a"), .kind = IMAGE_FILE, .content = S("y"), .after = S("z")},
        {.path = S("/w/b"), .kind = IMAGE_FILE, .content = S("9"), .after = {0}},
    };

    restore_plan(images, ARRAY_LEN(images), &a, &plan);
    assert_int_equal(plan.n, 2);
    assert_str(plan.items[0].aim.path, "/w/a");
    assert_str(plan.items[0].aim.content, "x");
    assert_str(plan.items[0].aim.after, "z");
    assert_false(plan.items[0].changed_between);
    assert_int_equal(plan.items[1].aim.kind, IMAGE_NONE);
    assert_true(plan.items[1].changed_between);
}

RUN_TESTS(UNIT(a_file_that_was_changed_is_as_it_was), UNIT(a_file_that_was_removed_is_there_again),
          UNIT(a_file_that_was_made_is_gone), UNIT(what_was_renamed_has_its_old_name),
          UNIT(permissions_are_as_they_were), UNIT(a_tree_that_was_removed_is_there_again),
          UNIT(what_became_something_else_is_itself_again), UNIT(names_may_hold_any_bytes),
          UNIT(several_commands_are_taken_back_at_once), UNIT(taking_back_can_be_taken_back),
          UNIT(a_file_that_somebody_else_changed_since_is_left_alone),
          UNIT(a_change_between_two_calls_is_not_lost_unseen),
          UNIT(calls_side_by_side_are_no_conflict),
          UNIT(files_of_a_person_keep_a_new_directory_alive),
          UNIT(nothing_outside_of_the_roots_is_touched),
          UNIT(the_whole_file_system_may_be_the_root),
          UNIT(a_link_that_was_put_in_the_way_is_not_followed),
          UNIT(a_file_that_became_a_name_of_another_is_one_of_its_own_again),
          UNIT(a_file_with_the_same_content_is_a_name_of_the_other_again),
          UNIT(a_name_that_was_several_files_meanwhile_is_no_missing_one),
          UNIT(a_file_that_cannot_be_moved_back_is_not_replaced),
          UNIT(content_that_is_gone_from_the_store_is_told),
          UNIT(a_plan_aims_at_the_earliest_image_of_each_path))
