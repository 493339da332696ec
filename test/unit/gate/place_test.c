/* place_test.c - where paths lead. */
#include "gate/place.h"
#include "yard.h"

static struct place find(struct yard *y, const char *path)
{
    const char *full = yard_path(y, path);

    return place_find(&y->arena, full, full);
}

static void leads_to(struct yard *y, const char *path, const char *want)
{
    assert_string_equal(find(y, path).real, yard_path(y, want));
}

TEST(a_path_without_links_leads_where_it_says)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    leads_to(&y, "proj/src/a.c", "proj/src/a.c");
    leads_to(&y, "proj//./src/a.c/", "proj/src/a.c");
    assert_int_equal(find(&y, "proj/src").n_via, 0);
    assert_string_equal(place_find(&y.arena, "/", "/").real, "/");
    assert_string_equal(place_find(&y.arena, "/..", "/../..").real, "/");
}

TEST(links_are_followed_wherever_they_stand)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_link(&y, "proj/file", "@out/secret.txt");
    yard_link(&y, "proj/dir", "../out");
    yard_link(&y, "proj/twice", "dir/../out/./secret.txt");
    leads_to(&y, "proj/file", "out/secret.txt");
    leads_to(&y, "proj/dir/secret.txt", "out/secret.txt");
    leads_to(&y, "proj/twice", "out/secret.txt");
    assert_string_equal(find(&y, "proj/file").given, yard_path(&y, "proj/file"));
}

TEST(what_does_not_exist_is_kept_as_it_is)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    yard_link(&y, "proj/dir", "../out");
    yard_link(&y, "proj/dangling", "nowhere/x");
    leads_to(&y, "proj/new/b.c", "proj/new/b.c");
    leads_to(&y, "proj/dir/new/b.c", "out/new/b.c");
    leads_to(&y, "proj/dangling", "proj/nowhere/x");
    leads_to(&y, "proj/src/a.c/below/a/file", "proj/src/a.c/below/a/file");
    leads_to(&y, "proj/new/../dir/x", "out/x");
}

TEST(what_was_seen_before_leads_where_it_would_alone)
{
    static const char *const paths[] = {
        "proj/src/a.c",     "proj/dir/secret.txt", "proj/src/a.c/below", "proj/new/b.c",
        "proj/new/../dir",  "proj/new/deep/c.c",   "proj/dangling",      "proj/nowhere/x/y",
        "proj/dir/new/b.c", "proj/loop/x",         "out/new/b.c",        "proj/src/link/x",
    };
    AUTO(yard) struct yard y;
    struct seen_paths seen = {.arena = &y.arena};

    yard_init(&y);
    yard_link(&y, "proj/dir", "../out");
    yard_link(&y, "proj/dangling", "nowhere/x");
    yard_link(&y, "proj/loop", "loop");
    yard_link(&y, "proj/src/link", "../dir/./../out");
    for (size_t i = 0; i < 3 * ARRAY_LEN(paths); i++) {
        const char *path = yard_path(&y, paths[i % ARRAY_LEN(paths)]);
        struct place alone = place_find(&y.arena, path, path);
        struct place again = place_find_again(&y.arena, path, path, &seen);

        if (alone.real)
            assert_string_equal(again.real, alone.real);
        else
            assert_null(again.real);
        assert_int_equal(again.n_via, alone.n_via);
        for (size_t k = 0; k < alone.n_via; k++)
            assert_string_equal(again.via[k], alone.via[k]);
    }
}

TEST(many_paths_that_begin_alike_are_all_seen)
{
    AUTO(yard) struct yard y;
    struct seen_paths seen = {.arena = &y.arena};

    yard_init(&y);
    yard_link(&y, "proj/src/l150", "@out");
    for (int i = 0; i < 300; i++) {
        const char *path = yard_path(&y, arena_format(&y.arena, "proj/src/l%d", i).p);
        struct place place = place_find_again(&y.arena, path, path, &seen);

        assert_string_equal(place.real, i == 150 ? yard_path(&y, "out") : path);
    }
}

TEST(dots_are_counted_from_where_a_link_has_led)
{
    AUTO(yard) struct yard y;

    yard_init(&y);
    put(&y.dir, "out/deep/er/x", "");
    yard_link(&y, "proj/dir", "../out/deep/er");
    leads_to(&y, "proj/dir/../y", "out/deep/y");
}

TEST(the_names_on_the_way_are_told)
{
    AUTO(yard) struct yard y;
    struct place p;

    yard_init(&y);
    yard_link(&y, "proj/one", "two");
    yard_link(&y, "proj/two", "src/a.c");
    p = find(&y, "proj/one");
    assert_int_equal(p.n_via, 2);
    assert_string_equal(p.via[0], yard_path(&y, "proj/one"));
    assert_string_equal(p.via[1], yard_path(&y, "proj/two"));
}

TEST(links_in_circles_and_endless_paths_lead_nowhere)
{
    AUTO(yard) struct yard y;
    AUTO(strbuf) struct strbuf name = {0};

    yard_init(&y);
    yard_link(&y, "proj/a", "b");
    yard_link(&y, "proj/b", "a");
    yard_link(&y, "proj/self", "self/self/x");
    assert_null(find(&y, "proj/a").real);
    assert_null(find(&y, "proj/self").real);
    assert_null(find(&y, "proj/a/x").real);
    while (name.n <= PATH_MAX_BYTES)
        strbuf_add_cstr(&name, "/abc");
    assert_null(place_find(&y.arena, "/", strbuf_cstr(&name)).real);
}

TEST(a_directory_holds_itself_and_what_is_below)
{
    AUTO(arena) struct arena a = {0};

    assert_true(place_is_in("/a/b", "/a"));
    assert_true(place_is_in("/a", "/a"));
    assert_false(place_is_in("/ab", "/a"));
    assert_false(place_is_in("/", "/a"));
    assert_true(place_is_in("/a", "/"));
    assert_string_equal(place_rename(&a, "/a/b", "/a", "/x/y"), "/x/y/b");
    assert_string_equal(place_rename(&a, "/a", "/a", "/"), "/");
    assert_string_equal(place_rename(&a, "/a/b", "/a", "/"), "/b");
    assert_string_equal(place_rename(&a, "/", "/", "/x"), "/x");
    assert_string_equal(place_rename(&a, "/b", "/", "/x"), "/x/b");
    assert_null(place_rename(&a, "/ab", "/a", "/x"));
}

RUN_TESTS(UNIT(a_path_without_links_leads_where_it_says),
          UNIT(links_are_followed_wherever_they_stand), UNIT(what_does_not_exist_is_kept_as_it_is),
          UNIT(what_was_seen_before_leads_where_it_would_alone),
          UNIT(many_paths_that_begin_alike_are_all_seen),
          UNIT(dots_are_counted_from_where_a_link_has_led), UNIT(the_names_on_the_way_are_told),
          UNIT(links_in_circles_and_endless_paths_lead_nowhere),
          UNIT(a_directory_holds_itself_and_what_is_below))
