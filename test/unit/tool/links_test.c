/* links_test.c - the file tools when the path that was decided about becomes a link. */
#include "calls.h"
#include "either_way.h"
#include "tool/file/change.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/fsuid.h>
#include <sys/stat.h>

#define IS_LINK "became a symbolic link after it was checked\nHint: try again"

/* A workspace, and files that are not in it. */
struct world {
    struct tool_fixture f;
    struct arena arena;
};

static void decide(struct world *w, const char *name)
{
    w->f.context.target = arena_cstr(&w->arena, str_of(temp_path(&w->f.dir, name)));
}

static struct world world_make(const char *target)
{
    struct world w = {.f = tool_fixture_make()};

    put(&w.f.dir, "in/file", "inside\n");
    put(&w.f.dir, "in/dir/file", "inside\n");
    put(&w.f.dir, "out/file", "secret\n");
    put(&w.f.dir, "out/other", "secret\n");
    assert_int_equal(symlink("../out/file", temp_path(&w.f.dir, "in/link")), 0);
    assert_int_equal(symlink("../out", temp_path(&w.f.dir, "in/dirlink")), 0);
    decide(&w, target);
    return w;
}

/* Nothing outside was written, made or left. */
static void assert_untouched(struct world *w)
{
    assert_file(&w->f, "out/file", "secret\n");
    assert_file(&w->f, "out/other", "secret\n");
    assert_int_equal(count_entries(temp_path(&w->f.dir, "out")), 2);
}

static void world_done(struct world *w)
{
    tool_fixture_done(&w->f);
    arena_done(&w->arena);
}
DEFINE_AUTO_VAL(world, world_done)

/* Each takes the other's name, at once. */
static void exchange(const struct temp_dir *d, const char *a, const char *b)
{
    assert_int_equal(
        renameat2(AT_FDCWD, temp_path(d, a), AT_FDCWD, temp_path(d, b), RENAME_EXCHANGE), 0);
}

/* --- before the call --- */

TEST(a_file_that_has_become_a_link_is_not_read)
{
    AUTO(world) struct world w = world_make("in/file");

    exchange(&w.f.dir, "in/file", "in/link");
    assert_fails(&w.f, &tool_read, "{\"file_path\":\"in/file\"}", "in/file " IS_LINK);
}

TEST(a_directory_that_has_become_a_link_is_not_read_through)
{
    AUTO(world) struct world w = world_make("in/dir/file");

    exchange(&w.f.dir, "in/dir", "in/dirlink");
    assert_fails(&w.f, &tool_read, "{\"file_path\":\"in/dir/file\"}", "in/dir/file " IS_LINK);
}

TEST(a_file_that_has_become_a_link_is_neither_written_nor_edited)
{
    AUTO(world) struct world w = world_make("in/file");

    assert_works(&w.f, &tool_read, "{\"file_path\":\"in/file\"}");
    exchange(&w.f.dir, "in/file", "in/link");
    assert_fails(&w.f, &tool_write, "{\"file_path\":\"in/file\",\"content\":\"x\"}", IS_LINK);
    assert_fails(&w.f, &tool_edit,
                 "{\"file_path\":\"in/file\",\"old_string\":\"secret\",\"new_string\":\"x\"}",
                 IS_LINK);
    assert_fails(&w.f, &tool_edit,
                 "{\"file_path\":\"in/file\",\"edits\":[{\"old_string\":\"secret\","
                 "\"new_string\":\"x\"}]}",
                 IS_LINK);
    assert_untouched(&w);
}

TEST(no_file_is_made_behind_a_link)
{
    AUTO(world) struct world w = world_make("in/dir/new/file");

    exchange(&w.f.dir, "in/dir", "in/dirlink");
    assert_fails(&w.f, &tool_write, "{\"file_path\":\"in/dir/new/file\",\"content\":\"x\"}",
                 IS_LINK);
    assert_untouched(&w);
}

TEST(a_root_that_has_become_a_link_is_not_searched)
{
    AUTO(world) struct world w = world_make("in/dir");

    exchange(&w.f.dir, "in/dir", "in/dirlink");
    assert_fails(&w.f, &tool_grep, "{\"pattern\":\"secret\",\"path\":\"in/dir\"}", IS_LINK);
    assert_fails(&w.f, &tool_glob, "{\"pattern\":\"*\",\"path\":\"in/dir\"}", IS_LINK);
    decide(&w, "in/file");
    exchange(&w.f.dir, "in/file", "in/link");
    assert_fails(&w.f, &tool_grep, "{\"pattern\":\"secret\",\"path\":\"in/file\"}", IS_LINK);
}

TEST(a_pattern_does_not_lead_on_from_a_root_that_has_become_a_link)
{
    AUTO(world) struct world w = world_make("in/dir");

    put(&w.f.dir, "out/sub/file", "");
    exchange(&w.f.dir, "in/dir", "in/dirlink");
    assert_fails(&w.f, &tool_glob, "{\"pattern\":\"sub/*\",\"path\":\"in/dir\"}", IS_LINK);
}

/* --- what was decided about counts, and the path as it was given is shown --- */

TEST(the_file_that_a_link_led_to_is_read_and_changed_under_the_name_of_the_link)
{
    AUTO(world) struct world w = world_make("out/file");
    struct stat st;

    assert_says(&w.f, &tool_read, "{\"file_path\":\"in/link\"}", "1\tsecret\n");
    assert_says(&w.f, &tool_write, "{\"file_path\":\"in/link\",\"content\":\"new\\n\"}",
                "Updated in/link (4 bytes, 1 line).\n\n"
                "--- in/link\n+++ in/link\n@@ -1 +1 @@\n-secret\n+new\n");
    assert_file(&w.f, "out/file", "new\n");
    assert_int_equal(lstat(temp_path(&w.f.dir, "in/link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

TEST(a_file_that_was_read_through_a_link_is_known_by_its_own_name)
{
    AUTO(world) struct world w = world_make("out/file");

    assert_works(&w.f, &tool_read, "{\"file_path\":\"in/link\"}");
    assert_non_null(file_state(&w.f, "out/file"));
    assert_null(file_state(&w.f, "in/link"));
    assert_works(&w.f, &tool_write, "{\"file_path\":\"out/file\",\"content\":\"x\"}");
    w.f.context.target = NULL; /* the same without a gate */
    assert_works(&w.f, &tool_write, "{\"file_path\":\"in/link\",\"content\":\"y\"}");
    assert_file(&w.f, "out/file", "y");
}

TEST(a_search_through_a_link_prints_paths_as_they_were_given)
{
    AUTO(world) struct world w = world_make("out");

    assert_says(&w.f, &tool_grep,
                "{\"pattern\":\"secret\",\"path\":\"in/dirlink\",\"output_mode\":\"count\"}",
                "in/dirlink/file:1\nin/dirlink/other:1\n[2 matches in 2 files]\n");
    decide(&w, "out/file");
    assert_says(&w.f, &tool_grep,
                "{\"pattern\":\"secret\",\"path\":\"in/link\",\"output_mode\":\"content\"}",
                "in/link:1:secret\n[1 match in 1 file]\n");
}

TEST(a_file_of_another_name_with_the_same_content_is_not_touched_by_a_write)
{
    AUTO(world) struct world w = world_make("in/file");

    assert_int_equal(link(temp_path(&w.f.dir, "in/file"), temp_path(&w.f.dir, "in/hard")), 0);
    assert_works(&w.f, &tool_read, "{\"file_path\":\"in/file\"}");
    assert_works(&w.f, &tool_write, "{\"file_path\":\"in/file\",\"content\":\"x\"}");
    assert_file(&w.f, "in/file", "x");
    assert_file(&w.f, "in/hard", "inside\n");
}

/* --- between looking and writing --- */

/* A change that has been looked at: what follows happens before it is stored. */
struct looked_at {
    struct tool_result result;
    struct file_change change;
};

static void look(struct world *w, const char *path, struct looked_at *ret)
{
    tool_result_init(&ret->result);
    assert_ok(file_change_begin(&ret->change, &w->f.context, &ret->result, str_of(path)));
    assert_ok(file_change_load(&ret->change));
    strbuf_add(&ret->change.new_text, S("new\n"));
}

static void looked_at_done(struct looked_at *l)
{
    file_change_end(&l->change);
    tool_result_done(&l->result);
}
DEFINE_AUTO_VAL(looked_at, looked_at_done)

static void assert_not_stored_(struct looked_at *l, const char *part, const char *file, int line)
{
    AUTO(err) struct err *e = file_change_store(&l->change);
    AUTO_FREE char *text = e ? err_message(e) : mem_strdup("no error");

    assert_has_(str_of(text), part, file, line);
}
#define assert_not_stored(l, part) assert_not_stored_((l), (part), __FILE__, __LINE__)

TEST(a_file_that_becomes_a_link_before_it_is_stored_is_not_written)
{
    AUTO(world) struct world w = world_make("in/file");
    AUTO(looked_at) struct looked_at l;

    assert_works(&w.f, &tool_read, "{\"file_path\":\"in/file\"}");
    look(&w, "in/file", &l);
    exchange(&w.f.dir, "in/file", "in/link");
    assert_not_stored(&l, "became a symbolic link");
    assert_file(&w.f, "in/link", "inside\n");
    assert_untouched(&w);
}

TEST(a_directory_that_becomes_a_link_before_a_file_is_stored_is_not_written_through)
{
    AUTO(world) struct world w = world_make("in/dir/file");
    AUTO(looked_at) struct looked_at l;

    assert_works(&w.f, &tool_read, "{\"file_path\":\"in/dir/file\"}");
    look(&w, "in/dir/file", &l);
    exchange(&w.f.dir, "in/dir", "in/dirlink");
    assert_ok(file_change_store(&l.change));
    assert_file(&w.f, "in/dirlink/file", "new\n"); /* the directory that was decided about */
    assert_untouched(&w);
}

TEST(a_link_that_appears_where_nothing_was_is_not_written_through)
{
    AUTO(world) struct world w = world_make("in/new");
    AUTO(looked_at) struct looked_at l;

    look(&w, "in/new", &l);
    assert_int_equal(symlink("../out/new", temp_path(&w.f.dir, "in/new")), 0);
    assert_not_stored(&l, "was created by another program in the meantime");
    assert_untouched(&w);
}

TEST(a_link_that_appears_instead_of_a_missing_directory_is_not_followed)
{
    AUTO(world) struct world w = world_make("in/a/b/new");
    AUTO(looked_at) struct looked_at l;

    look(&w, "in/a/b/new", &l);
    assert_int_equal(symlink("../out", temp_path(&w.f.dir, "in/a")), 0);
    assert_not_stored(&l, "a is not a directory");
    assert_untouched(&w);
}

TEST(a_file_that_appears_where_nothing_was_is_not_replaced)
{
    AUTO(world) struct world w = world_make("in/new");
    AUTO(looked_at) struct looked_at l;

    look(&w, "in/new", &l);
    put(&w.f.dir, "in/new", "theirs\n");
    assert_not_stored(&l, "was created by another program in the meantime");
    assert_file(&w.f, "in/new", "theirs\n");
}

TEST(a_file_that_vanishes_is_not_made_again)
{
    AUTO(world) struct world w = world_make("in/file");
    AUTO(looked_at) struct looked_at l;

    assert_works(&w.f, &tool_read, "{\"file_path\":\"in/file\"}");
    look(&w, "in/file", &l);
    assert_int_equal(unlink(temp_path(&w.f.dir, "in/file")), 0);
    assert_not_stored(&l, "was removed in the meantime");
    assert_false(fs_exists(temp_path(&w.f.dir, "in/file")));
}

TEST(a_file_that_becomes_a_directory_is_refused)
{
    AUTO(world) struct world w = world_make("in/file");
    AUTO(looked_at) struct looked_at l;

    assert_works(&w.f, &tool_read, "{\"file_path\":\"in/file\"}");
    look(&w, "in/file", &l);
    exchange(&w.f.dir, "in/file", "in/dir");
    assert_not_stored(&l, "has changed since it was read");
    assert_fails(&w.f, &tool_read, "{\"file_path\":\"in/file\"}", "is a directory, not a file");
    assert_file(&w.f, "in/file/file", "inside\n");
}

TEST(a_file_that_changes_before_it_is_stored_stays_as_it_is)
{
    AUTO(world) struct world w = world_make("in/file");
    AUTO(looked_at) struct looked_at l;

    assert_works(&w.f, &tool_read, "{\"file_path\":\"in/file\"}");
    look(&w, "in/file", &l);
    put(&w.f.dir, "in/file", "theirs, longer\n");
    assert_not_stored(&l, "has changed since it was read");
    assert_file(&w.f, "in/file", "theirs, longer\n");
}

/* --- permissions --- */

/* This thread works on files as a user without rights; root sets the stage. */
static bool begin_nobody(const struct temp_dir *d)
{
    if (geteuid() != 0) {
        print_message("[ SKIPPED because only root can act as another user ]\n");
        return false;
    }
    assert_int_equal(chmod(d->path, 0755), 0);
    setfsuid(65534);
    return true;
}

/* Before anything is made: skip() frees nothing. */
static void need_root(void)
{
    if (geteuid() != 0) {
        print_message("[ SKIPPED because only root can be others ]\n");
        skip();
    }
}

TEST(a_file_that_this_user_may_not_write_is_refused)
{
    need_root();
    AUTO(world) struct world w = world_make("in/file");
    AUTO(tool_result) struct tool_result r;
    AUTO(file_change) struct file_change change = FILE_CHANGE_NONE;
    AUTO(err) struct err *e = NULL;

    tool_result_init(&r);
    assert_works(&w.f, &tool_read, "{\"file_path\":\"in/file\"}");
    assert_true(begin_nobody(&w.f.dir));
    assert_ok(file_change_begin(&change, &w.f.context, &r, S("in/file")));
    e = file_change_load(&change);
    setfsuid(0);
    assert_non_null(e);
    assert_string_equal(e->text, "in/file is not writable (its mode is 0644)");
}

TEST(a_file_in_a_directory_that_may_not_be_written_stays_as_it_is)
{
    need_root();
    AUTO(world) struct world w = world_make("in/file");
    AUTO(looked_at) struct looked_at l = {.change = FILE_CHANGE_NONE};

    assert_int_equal(chmod(temp_path(&w.f.dir, "in/file"), 0666), 0);
    assert_works(&w.f, &tool_read, "{\"file_path\":\"in/file\"}");
    assert_true(begin_nobody(&w.f.dir));
    look(&w, "in/file", &l);
    assert_not_stored(&l, "cannot write beside");
    setfsuid(0);
    assert_file(&w.f, "in/file", "inside\n");
}

/* --- hidden places --- */

TEST(no_name_of_a_hidden_place_is_told_through_a_link)
{
    AUTO(world) struct world w = world_make("out/fil");
    struct path_filter hidden = {hides_name, "out"};
    AUTO(tool_result) struct tool_result here, missing;

    w.f.context.hidden = &hidden;
    here = tool_call(&w.f, &tool_read, "{\"file_path\":\"in/dirlink/fil\"}");
    assert_has(strbuf_str(&here.text), "\nHint: find it with Glob");
    decide(&w, "out/nothing/fil");
    missing = tool_call(&w.f, &tool_read, "{\"file_path\":\"in/dirlink/nothing/fil\"}");
    assert_has(strbuf_str(&missing.text), "\nHint: find it with Glob");
}

TEST(whether_something_is_in_a_hidden_place_is_not_told_by_a_search)
{
    AUTO(world) struct world w = world_make("out/file");
    struct path_filter hidden = {hides_name, "out"};

    w.f.context.hidden = &hidden;
    assert_fails(&w.f, &tool_grep, "{\"pattern\":\"x\",\"path\":\"in/link\"}",
                 "in/link cannot be searched");
    decide(&w, "out/nothing");
    assert_fails(&w.f, &tool_grep, "{\"pattern\":\"x\",\"path\":\"in/dirlink/nothing\"}",
                 "cannot be searched");
    w.f.context.target = NULL;
    assert_fails(&w.f, &tool_glob, "{\"pattern\":\"in/dirlink/*\"}", "cannot be searched");
}

TEST(a_rule_about_the_link_hides_what_it_leads_to)
{
    AUTO(world) struct world w = world_make("out");
    struct path_filter hidden = {hides_name, "dirlink"};

    w.f.context.hidden = &hidden;
    assert_fails(&w.f, &tool_grep, "{\"pattern\":\"secret\",\"path\":\"in/dirlink\"}",
                 "cannot be searched");
}

/* --- somebody who does nothing but that --- */

#define N_CALLS 200

/* Exchanges two names over and over, until it is told to end. */
struct swapper {
    char a[512], b[512];
    atomic_bool is_over;
    pthread_t thread;
};

static void *swap(void *arg)
{
    struct swapper *s = arg;

    while (!atomic_load(&s->is_over)) {
        renameat2(AT_FDCWD, s->a, AT_FDCWD, s->b, RENAME_EXCHANGE);
        sched_yield();
    }
    return NULL;
}

static void swapper_begin(struct swapper *s, const struct temp_dir *d, const char *a, const char *b)
{
    snprintf(s->a, sizeof s->a, "%s", temp_path(d, a));
    snprintf(s->b, sizeof s->b, "%s", temp_path(d, b));
    atomic_init(&s->is_over, false);
    assert_int_equal(pthread_create(&s->thread, NULL, swap, s), 0);
}

static void swapper_end(struct swapper *s)
{
    atomic_store(&s->is_over, true);
    pthread_join(s->thread, NULL);
}

/* Calls a tool, which may fail or not, and wants nothing of the outside in what it says. */
static void call_among_swaps(struct world *w, struct tool *t, const char *args)
{
    AUTO(tool_result) struct tool_result r = tool_call(&w->f, t, args);

    if (str_find(strbuf_str(&r.text), S("secret")) != STR_NONE)
        fail_msg("%s", strbuf_cstr(&r.text));
}

TEST(reading_and_writing_among_swaps_of_the_file_stays_inside)
{
    AUTO(world) struct world w = world_make("in/file");
    struct swapper s;

    swapper_begin(&s, &w.f.dir, "in/file", "in/link");
    for (int i = 0; i < N_CALLS; i++) {
        call_among_swaps(&w, &tool_read, "{\"file_path\":\"in/file\"}");
        call_among_swaps(&w, &tool_write, "{\"file_path\":\"in/file\",\"content\":\"ab\\n\"}");
        call_among_swaps(&w, &tool_edit,
                         "{\"file_path\":\"in/file\",\"old_string\":\"a\",\"new_string\":\"c\"}");
    }
    swapper_end(&s);
    assert_untouched(&w);
}

TEST(reading_and_writing_among_swaps_of_the_directory_stays_inside)
{
    AUTO(world) struct world w = world_make("in/dir/file");
    struct swapper s;

    swapper_begin(&s, &w.f.dir, "in/dir", "in/dirlink");
    for (int i = 0; i < N_CALLS; i++) {
        decide(&w, "in/dir/file");
        call_among_swaps(&w, &tool_read, "{\"file_path\":\"in/dir/file\"}");
        call_among_swaps(&w, &tool_write, "{\"file_path\":\"in/dir/file\",\"content\":\"ab\\n\"}");
        decide(&w, "in/dir/new/x");
        call_among_swaps(&w, &tool_write, "{\"file_path\":\"in/dir/new/x\",\"content\":\"ab\\n\"}");
    }
    swapper_end(&s);
    assert_untouched(&w);
}

TEST(searching_among_swaps_stays_inside)
{
    AUTO(world) struct world w = world_make("in/dir");
    struct swapper s;

    swapper_begin(&s, &w.f.dir, "in/dir", "in/dirlink");
    for (int i = 0; i < N_CALLS; i++) {
        decide(&w, "in/dir");
        call_among_swaps(&w, &tool_grep,
                         "{\"pattern\":\"s.*\",\"path\":\"in/dir\",\"output_mode\":\"content\"}");
        decide(&w, "in"); /* the swap is below the root */
        call_among_swaps(&w, &tool_grep,
                         "{\"pattern\":\"s.*\",\"path\":\"in\",\"output_mode\":\"content\"}");
    }
    swapper_end(&s);
    swapper_begin(&s, &w.f.dir, "in/file", "in/link");
    for (int i = 0; i < N_CALLS; i++) {
        decide(&w, "in/file");
        call_among_swaps(&w, &tool_grep,
                         "{\"pattern\":\"s.*\",\"path\":\"in/file\",\"output_mode\":\"content\"}");
    }
    swapper_end(&s);
}

RUN_TESTS_EITHER_WAY(
    UNIT(a_file_that_has_become_a_link_is_not_read),
    UNIT(a_directory_that_has_become_a_link_is_not_read_through),
    UNIT(a_file_that_has_become_a_link_is_neither_written_nor_edited),
    UNIT(no_file_is_made_behind_a_link), UNIT(a_root_that_has_become_a_link_is_not_searched),
    UNIT(a_pattern_does_not_lead_on_from_a_root_that_has_become_a_link),
    UNIT(the_file_that_a_link_led_to_is_read_and_changed_under_the_name_of_the_link),
    UNIT(a_file_that_was_read_through_a_link_is_known_by_its_own_name),
    UNIT(a_search_through_a_link_prints_paths_as_they_were_given),
    UNIT(a_file_of_another_name_with_the_same_content_is_not_touched_by_a_write),
    UNIT(a_file_that_becomes_a_link_before_it_is_stored_is_not_written),
    UNIT(a_directory_that_becomes_a_link_before_a_file_is_stored_is_not_written_through),
    UNIT(a_link_that_appears_where_nothing_was_is_not_written_through),
    UNIT(a_link_that_appears_instead_of_a_missing_directory_is_not_followed),
    UNIT(a_file_that_appears_where_nothing_was_is_not_replaced),
    UNIT(a_file_that_vanishes_is_not_made_again), UNIT(a_file_that_becomes_a_directory_is_refused),
    UNIT(a_file_that_changes_before_it_is_stored_stays_as_it_is),
    UNIT(a_file_that_this_user_may_not_write_is_refused),
    UNIT(a_file_in_a_directory_that_may_not_be_written_stays_as_it_is),
    UNIT(no_name_of_a_hidden_place_is_told_through_a_link),
    UNIT(whether_something_is_in_a_hidden_place_is_not_told_by_a_search),
    UNIT(a_rule_about_the_link_hides_what_it_leads_to),
    UNIT(reading_and_writing_among_swaps_of_the_file_stays_inside),
    UNIT(reading_and_writing_among_swaps_of_the_directory_stays_inside),
    UNIT(searching_among_swaps_stays_inside))
