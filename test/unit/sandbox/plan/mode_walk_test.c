/* mode_walk_test.c - what its mode closes to others, found by one walk. Runs as root and, with
 * "user", as an ordinary user, to whom the files belong then. */
#include "sandbox/plan/mode_walk.h"

#include "files.h"
#include "sandbox/as_user.h"
#include "sandbox/plan/plan.h"

#include <sys/stat.h>

/* A machine of its own. */
struct machine {
    struct temp_dir dir;
    struct arena arena;
    struct path_list opened, private_places, not_public;
    const char *home; /* in it; NULL: none */
};

static void machine_init(struct machine *m)
{
    static const char *const trees[] = {"etc/",           "opt/",       "srv/",
                                        "usr/local/etc/", "var/cache/", "var/lib/apt/",
                                        "home/user/",     "var/log/"};

    *m = (struct machine){.dir = temp_dir_make()};
    m->opened.arena = m->private_places.arena = m->not_public.arena = &m->arena;
    for (size_t i = 0; i < ARRAY_LEN(trees); i++)
        put(&m->dir, trees[i], "");
}

static void machine_done(struct machine *m)
{
    temp_dir_done(&m->dir);
    arena_done(&m->arena);
}

static void put_mode(struct machine *m, const char *path, mode_t mode)
{
    AUTO_FREE char *name = mem_strdup(path);
    size_t n = strlen(name);

    put(&m->dir, path, "x");
    if (name[n - 1] == '/')
        name[n - 1] = 0;
    assert_int_equal(chmod(temp_path(&m->dir, name), mode), 0);
}

static void walk(struct machine *m, bool finds_private, bool finds_not_public)
{
    m->private_places.n = m->not_public.n = 0;
    mode_walk_end(mode_walk_begin(&(struct mode_walk_options){.finds_private = finds_private,
                                                              .finds_not_public = finds_not_public,
                                                              .home = m->home,
                                                              .opened = &m->opened,
                                                              .root = m->dir.path}),
                  &m->private_places, &m->not_public);
}

static bool lists(const struct path_list *l, const char *path)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->paths[i], path) == 0)
            return true;
    return false;
}

static bool covers(const struct path_list *l, const char *path)
{
    for (size_t i = 0; i < l->n; i++)
        if (path_is_in(path, l->paths[i]))
            return true;
    return false;
}

static bool is_root(void)
{
    return geteuid() == 0;
}

static void assert_same(const struct path_list *a, const struct path_list *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++)
        assert_string_equal(a->paths[i], b->paths[i]);
}

TEST(one_walk_answers_both_questions)
{
    struct machine m;

    machine_init(&m);
    put_mode(&m, "etc/app/key", 0600);
    put_mode(&m, "etc/app/settings", 0644);
    put_mode(&m, "opt/app/for_group", 0640);
    put_mode(&m, "opt/a/b/c/d/e/deep", 0600);
    put_mode(&m, "usr/local/lib/app/key", 0400);
    put_mode(&m, "srv/web/key", 0600);
    put_mode(&m, "var/lib/base/", 0700);
    walk(&m, true, true);
    assert_int_equal(m.private_places.n, is_root() ? 4 : 0);
    if (is_root()) {
        assert_string_equal(m.private_places.paths[0], "/etc/app/key");
        assert_string_equal(m.private_places.paths[1], "/opt/app/for_group");
        assert_string_equal(m.private_places.paths[2], "/srv/web/key");
        assert_string_equal(m.private_places.paths[3], "/var/lib/base");
    }
    assert_int_equal(m.not_public.n, 4);
    assert_string_equal(m.not_public.paths[0], "/etc/app/key");
    assert_string_equal(m.not_public.paths[1], "/opt/app/for_group");
    assert_string_equal(m.not_public.paths[2], "/usr/local/lib/app/key");
    assert_string_equal(m.not_public.paths[3], "/opt/a/b/c/d/e/deep");
    machine_done(&m);
}

TEST(a_question_alone_has_the_same_answer)
{
    struct machine m, n;

    machine_init(&m);
    m.home = "/home/user";
    put_mode(&m, "home/user/.tool/token", 0600);
    put_mode(&m, "home/user/.config/a/token", 0600);
    put_mode(&m, "home/user/letter", 0600);
    for (int i = 0; i < 40; i++) {
        put_mode(&m, arena_format(&m.arena, "etc/%d/x/%d/key", i % 7, i).p, i % 3 ? 0600 : 0644);
        put_mode(&m, arena_format(&m.arena, "usr/local/%d/%d", i % 5, i).p, i % 4 ? 0644 : 0640);
        put_mode(&m, arena_format(&m.arena, "opt/%d/%d/", i % 6, i).p, i % 5 ? 0755 : 0750);
    }
    walk(&m, true, true);
    n = m;
    n.private_places = n.not_public = (struct path_list){.arena = &m.arena};
    walk(&n, true, false);
    assert_same(&n.private_places, &m.private_places);
    assert_int_equal(n.not_public.n, 0);
    walk(&n, false, true);
    assert_same(&n.not_public, &m.not_public);
    assert_int_equal(n.private_places.n, 0);
    assert_true(lists(&m.private_places, "/home/user/.tool/token"));
    assert_true(lists(&m.private_places, "/home/user/.config/a/token"));
    assert_false(lists(&m.private_places, "/home/user/letter"));
    assert_int_equal(lists(&m.private_places, "/etc/1/x/1/key"), is_root());
    assert_true(lists(&m.not_public, "/etc/1/x/1/key") && lists(&m.not_public, "/usr/local/0/0"));
    assert_true(lists(&m.not_public, "/opt/5/5"));
    machine_done(&m);
}

TEST(a_directory_that_is_closed_is_found_as_a_whole)
{
    struct machine m;

    machine_init(&m);
    put_mode(&m, "etc/closed/in/key", 0600);
    put_mode(&m, "etc/closed/", 0750);
    put_mode(&m, "etc/listed/in/key", 0600);
    put_mode(&m, "etc/listed/", 0754); /* may be listed, not entered */
    walk(&m, true, true);
    assert_int_equal(m.not_public.n, 2);
    assert_true(lists(&m.not_public, "/etc/closed") && lists(&m.not_public, "/etc/listed"));
    assert_int_equal(m.private_places.n, is_root() ? 2 : 0);
    assert_int_equal(lists(&m.private_places, "/etc/closed"), is_root());
    assert_int_equal(lists(&m.private_places, "/etc/listed/in/key"), is_root());
    machine_done(&m);
}

TEST(nothing_is_looked_at_in_what_is_opened)
{
    struct machine m;

    machine_init(&m);
    m.home = "/home/user";
    put_mode(&m, "opt/work/key", 0600);
    put_mode(&m, "opt/other/key", 0600);
    put_mode(&m, "home/user/.tool/token", 0600);
    path_list_add(&m.opened, "/opt/work");
    walk(&m, true, true);
    assert_int_equal(m.not_public.n, 1);
    assert_string_equal(m.not_public.paths[0], "/opt/other/key");
    assert_int_equal(m.private_places.n, is_root() ? 2 : 1);
    assert_false(lists(&m.private_places, "/opt/work/key"));
    path_list_add(&m.opened, "/opt");
    path_list_add(&m.opened, "/home/user");
    walk(&m, true, true);
    assert_int_equal(m.not_public.n + m.private_places.n, 0);
    machine_done(&m);
}

/* Commands make as many files there as they like. */
TEST(what_is_opened_takes_no_room_from_the_rest)
{
    struct machine m;

    machine_init(&m);
    m.home = "/home/user";
    put_mode(&m, "home/user/.config/tool/token", 0600);
    put_mode(&m, "home/user/.work/", 0755);
    for (int i = 0; i < 20100; i++)
        put_mode(&m, arena_format(&m.arena, "home/user/.work/%d", i).p, i < 600 ? 0600 : 0644);
    path_list_add(&m.opened, "/home/user/.work");
    walk(&m, true, false);
    assert_int_equal(m.private_places.n, 1);
    assert_string_equal(m.private_places.paths[0], "/home/user/.config/tool/token");
    machine_done(&m);
}

TEST(too_many_private_files_are_hidden_with_their_directories)
{
    struct machine m;

    machine_init(&m);
    m.home = "/home/user";
    for (int i = 0; i < 400; i++) {
        put_mode(&m, arena_format(&m.arena, "home/user/.tool/%d", i).p, 0600);
        put_mode(&m, arena_format(&m.arena, "home/user/.config/a/%d", i).p, 0600);
    }
    put_mode(&m, "home/user/.config/b/1", 0600);
    put_mode(&m, "home/user/.config/b/2", 0600);
    walk(&m, true, false);
    assert_int_equal(m.private_places.n, 512 + 2);
    assert_true(lists(&m.private_places, "/home/user/.config/a"));
    assert_true(lists(&m.private_places, "/home/user/.config/b"));
    assert_false(lists(&m.private_places, "/home/user/.config"));
    machine_done(&m);
}

TEST(what_the_person_may_not_read_needs_no_hiding)
{
    struct machine m;

    machine_init(&m);
    put_mode(&m, "etc/shut", 0);
    walk(&m, true, true);
    assert_int_equal(m.not_public.n, is_root());
    machine_done(&m);
}

TEST(links_and_what_they_lead_to_are_not_looked_at)
{
    struct machine m;

    machine_init(&m);
    put_mode(&m, "elsewhere/key", 0600);
    put_mode(&m, "srv/real/app/key", 0600);
    assert_int_equal(symlink(temp_path(&m.dir, "elsewhere"), temp_path(&m.dir, "etc/dir")), 0);
    assert_int_equal(symlink("../elsewhere/key", temp_path(&m.dir, "etc/file")), 0);
    walk(&m, true, true);
    assert_int_equal(m.not_public.n + m.private_places.n, 0);
    /* A tree itself may be one. */
    assert_int_equal(rmdir(temp_path(&m.dir, "opt")), 0);
    assert_int_equal(symlink("srv/real", temp_path(&m.dir, "opt")), 0);
    walk(&m, true, true);
    assert_int_equal(m.not_public.n, 0);
    assert_int_equal(lists(&m.private_places, "/opt/app/key"), is_root());
    machine_done(&m);
}

TEST(many_in_one_directory_are_hidden_with_it)
{
    struct machine m;

    machine_init(&m);
    for (int i = 0; i < 17; i++) {
        put_mode(&m, arena_format(&m.arena, "etc/%d", i).p, 0600);
        put_mode(&m, arena_format(&m.arena, "etc/many/%d", i).p, 0600);
    }
    walk(&m, true, true);
    assert_int_equal(m.not_public.n, 18);
    assert_true(lists(&m.not_public, "/etc/many") && lists(&m.not_public, "/etc/16"));
    assert_int_equal(m.private_places.n, is_root() ? 34 : 0);
    machine_done(&m);
}

TEST(too_many_places_are_hidden_with_their_trees)
{
    struct machine m;

    machine_init(&m);
    for (int i = 0; i < 300; i++)
        put_mode(&m, arena_format(&m.arena, "opt/app/%02d/%d", i / 15, i).p, 0600);
    put_mode(&m, "usr/local/a/b/c/key", 0600);
    walk(&m, true, true);
    assert_true(lists(&m.not_public, "/opt/app") && lists(&m.not_public, "/usr/local/a"));
    assert_in_range(m.not_public.n, 256, 258);
    for (int i = 0; i < 300; i++)
        assert_true(covers(&m.not_public, arena_format(&m.arena, "/opt/app/%02d/%d", i / 15, i).p));
    machine_done(&m);
}

/* What lies in /etc counts first, however much there is elsewhere. */
TEST(a_huge_directory_hides_nothing_that_comes_before_it)
{
    struct machine m;
    char path[64];

    machine_init(&m);
    put_mode(&m, "etc/a/b/c/d/e/key", 0600);
    put_mode(&m, "opt/key", 0600);
    put_mode(&m, "opt/x/huge/", 0755);
    for (int i = 0; i < 20100; i++) {
        snprintf(path, sizeof path, "opt/x/huge/%d", i);
        assert_int_equal(symlink("x", temp_path(&m.dir, path)), 0);
    }
    for (int i = 0; i < 5; i++) {
        walk(&m, true, true);
        assert_true(lists(&m.not_public, "/opt/key"));
        assert_int_equal(lists(&m.private_places, "/etc/a/b/c/d/e/key"), is_root());
    }
    machine_done(&m);
}

TEST(a_walk_that_nobody_needs_ends)
{
    struct machine m;

    machine_init(&m);
    mode_walk_end(NULL, NULL, NULL);
    mode_walk_end(mode_walk_begin(&(struct mode_walk_options){
                      .finds_private = true, .finds_not_public = true, .root = m.dir.path}),
                  NULL, NULL);
    machine_done(&m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_walk_answers_both_questions),
        cmocka_unit_test(a_question_alone_has_the_same_answer),
        cmocka_unit_test(a_directory_that_is_closed_is_found_as_a_whole),
        cmocka_unit_test(nothing_is_looked_at_in_what_is_opened),
        cmocka_unit_test(what_is_opened_takes_no_room_from_the_rest),
        cmocka_unit_test(too_many_private_files_are_hidden_with_their_directories),
        cmocka_unit_test(what_the_person_may_not_read_needs_no_hiding),
        cmocka_unit_test(links_and_what_they_lead_to_are_not_looked_at),
        cmocka_unit_test(many_in_one_directory_are_hidden_with_it),
        cmocka_unit_test(too_many_places_are_hidden_with_their_trees),
        cmocka_unit_test(a_huge_directory_hides_nothing_that_comes_before_it),
        cmocka_unit_test(a_walk_that_nobody_needs_ends),
    };

    if (!is_user_as_asked(argc, argv))
        return SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
