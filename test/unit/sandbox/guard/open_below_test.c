/* below_test.c - whether a path leads where its name says. */
#include "sandbox/guard/open_below.h"

#include "files.h"

#include <unistd.h>

static struct temp_dir make_tree(void)
{
    struct temp_dir d = temp_dir_make();

    assert_ok(fs_make_dirs(temp_path(&d, "a/b"), 0755));
    assert_ok(fs_write_atomic(temp_path(&d, "a/file"), S("text"), 0644));
    assert_int_equal(symlink("a", temp_path(&d, "link")), 0);
    assert_int_equal(symlink("nowhere", temp_path(&d, "a/dangling")), 0);
    return d;
}

TEST(a_path_without_links_leads_where_its_name_says)
{
    AUTO(temp_dir) struct temp_dir d = make_tree();

    assert_false(below_has_link(d.path, temp_path(&d, "a")));
    assert_false(below_has_link(d.path, temp_path(&d, "a/file")));
    assert_false(below_has_link("/", "/dev/null"));
}

TEST(a_link_is_seen_at_the_end_and_on_the_way)
{
    AUTO(temp_dir) struct temp_dir d = make_tree();

    assert_true(below_has_link(d.path, temp_path(&d, "link")));
    assert_true(below_has_link(d.path, temp_path(&d, "link/file")));
    assert_true(below_has_link(d.path, temp_path(&d, "a/dangling")));
}

TEST(what_is_not_there_leads_nowhere_else)
{
    AUTO(temp_dir) struct temp_dir d = make_tree();

    assert_false(below_has_link(d.path, temp_path(&d, "none")));
    assert_false(below_has_link(d.path, temp_path(&d, "none/at/all")));
    assert_false(below_has_link(d.path, temp_path(&d, "a/file/in/a/file")));
}

TEST(dots_and_doubled_slashes_count_as_links)
{
    AUTO(temp_dir) struct temp_dir d = make_tree();

    assert_true(below_has_link(d.path, temp_path(&d, "a/../a/file")));
    assert_true(below_has_link(d.path, temp_path(&d, "a/./file")));
    assert_true(below_has_link(d.path, temp_path(&d, "a//file")));
    assert_true(below_has_link(d.path, d.path));
}

RUN_TESTS(UNIT(a_path_without_links_leads_where_its_name_says),
          UNIT(a_link_is_seen_at_the_end_and_on_the_way),
          UNIT(what_is_not_there_leads_nowhere_else), UNIT(dots_and_doubled_slashes_count_as_links))
