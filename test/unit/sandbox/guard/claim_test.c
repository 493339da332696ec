/* claim_test.c - who runs commands in a directory, and what is known after a crash. */
#include "sandbox/guard/claim.h"

#include "files.h"

/* A keel: as many as are wanted, in one process. */
struct keel {
    struct claims *all;
    struct claim *claim;
};

static struct keel keel_open(const struct temp_dir *d)
{
    struct keel k = {claims_new(temp_path(d, "guard"))};

    assert_ok(claims_get(k.all, temp_path(d, "ws"), &k.claim));
    assert_true(claim_try_lock(k.claim));
    claim_unlock(k.claim);
    return k;
}

/* As by KILL: nothing is written, and the locks are free. */
static void keel_die(struct keel *k)
{
    claims_free(k->all);
    *k = (struct keel){0};
}

static void keel_close(struct keel *k)
{
    claim_end(k->claim);
    claim_leave(k->claim);
    keel_die(k);
}

static struct temp_dir place(void)
{
    struct temp_dir d = temp_dir_make();

    put(&d, "ws/", "");
    return d;
}

TEST(one_keel_at_a_time_has_the_lock)
{
    AUTO(temp_dir) struct temp_dir d = place();
    struct keel one = keel_open(&d), two = keel_open(&d);

    assert_true(claim_try_lock(one.claim));
    assert_false(claim_try_lock(two.claim));
    claim_unlock(one.claim);
    assert_true(claim_try_lock(two.claim));
    keel_die(&two);
    assert_true(claim_try_lock(one.claim));
    keel_close(&one);
}

TEST(commands_of_others_are_known_while_they_run)
{
    AUTO(temp_dir) struct temp_dir d = place();
    struct keel one = keel_open(&d), two = keel_open(&d);
    int supervisor;

    assert_false(claim_is_run_by_others(two.claim));
    assert_ok(claim_begin(one.claim));
    assert_true(claim_is_run_by_others(two.claim) && claim_is_used_by_others(two.claim));
    assert_false(claim_is_run_by_others(one.claim));
    claim_end(one.claim);
    assert_false(claim_is_run_by_others(two.claim));
    assert_true(claim_is_used_by_others(two.claim));

    /* A supervisor lives longer than its keel. */
    assert_ok(claim_begin(one.claim));
    supervisor = dup(claims_running_fd(one.all));
    keel_die(&one);
    assert_true(claim_is_run_by_others(two.claim));
    assert_false(claim_is_used_by_others(two.claim));
    close(supervisor);
    assert_false(claim_is_run_by_others(two.claim));
    assert_true(claim_is_broken(two.claim));
    keel_close(&two);
}

TEST(who_dies_while_a_command_runs_leaves_it_broken)
{
    AUTO(temp_dir) struct temp_dir d = place();
    struct keel one = keel_open(&d), two = keel_open(&d);

    assert_ok(claim_begin(one.claim));
    keel_die(&one);
    assert_true(claim_is_broken(two.claim));
    assert_ok(claim_mend(two.claim));
    assert_false(claim_is_broken(two.claim));

    one = keel_open(&d);
    assert_ok(claim_begin(one.claim));
    claim_end(one.claim);
    keel_die(&one);
    assert_false(claim_is_broken(two.claim));
    keel_close(&two);
}

TEST(while_another_s_commands_run_it_is_not_idle)
{
    AUTO(temp_dir) struct temp_dir d = place();
    struct keel one = keel_open(&d), two = keel_open(&d), three = keel_open(&d);

    assert_ok(claim_begin(one.claim));
    assert_ok(claim_begin(two.claim));
    keel_close(&one);
    keel_die(&two);
    assert_true(claim_is_broken(three.claim));
    keel_close(&three);
}

static void replace_in_state(const struct temp_dir *d, const char *from, const char *to)
{
    AUTO(strbuf) struct strbuf path = {0};
    DIR *dir = opendir(temp_path(d, "guard"));
    const struct dirent *entry;

    while ((entry = readdir(dir)))
        if (str_ends(str_of(entry->d_name), S(".state")))
            strbuf_addf(&path, "%s/%s", temp_path(d, "guard"), entry->d_name);
    closedir(dir);
    {
        struct strbuf text = read_file(strbuf_cstr(&path));
        size_t at = str_find(strbuf_str(&text), str_of(from));

        assert_true(at != STR_NONE);
        memcpy(text.p + at, to, strlen(to));
        write_file(strbuf_cstr(&path), strbuf_str(&text));
        strbuf_done(&text);
    }
}

/* That no command ran was not on the disk yet, perhaps. */
TEST(after_the_machine_stopped_nothing_is_believed_but_a_keel_that_left)
{
    AUTO(temp_dir) struct temp_dir d = place();
    struct keel one = keel_open(&d), two = keel_open(&d);

    assert_ok(claim_begin(one.claim));
    claim_end(one.claim);
    keel_die(&one);
    assert_false(claim_is_broken(two.claim));
    replace_in_state(&d, "boot ", "boot 0000");
    assert_true(claim_is_broken(two.claim));
    assert_ok(claim_begin(two.claim));
    keel_close(&two);
    two = keel_open(&d);
    replace_in_state(&d, "boot ", "boot 0000");
    assert_false(claim_is_broken(two.claim));
    keel_close(&two);
}

static void note(void *self, const char *root)
{
    strbuf_addf(self, "%s ", strrchr(root, '/') + 1);
}

TEST(directories_are_found_that_nobody_has_left_in_order)
{
    AUTO(temp_dir) struct temp_dir d = place();
    AUTO(strbuf) struct strbuf all = {0}, used = {0};
    struct keel one = keel_open(&d);
    struct claim *other;

    put(&d, "a\nb/", "");
    assert_ok(claims_get(one.all, temp_path(&d, "a\nb"), &other));
    assert_ok(claim_begin(one.claim));
    claim_end(one.claim);
    claim_leave(one.claim);
    assert_ok(claim_begin(other));
    claims_each_used_root(one.all, note, &used);
    assert_string_equal(strbuf_cstr(&used), "a\nb ");
    claims_each_root(one.all, note, &all);
    assert_int_equal(all.n, strlen("a\nb ws "));
    claim_end(other);
    claim_leave(other);
    keel_close(&one);
}

TEST(who_dies_between_commands_leaves_it_deserted)
{
    AUTO(temp_dir) struct temp_dir d = place();
    struct keel one = keel_open(&d), two = keel_open(&d);

    assert_ok(claim_begin(one.claim));
    claim_end(one.claim);
    assert_false(claim_is_deserted(two.claim));
    keel_die(&one);
    assert_true(claim_is_deserted(two.claim) && !claim_is_broken(two.claim));
    assert_ok(claim_mend(two.claim));
    assert_false(claim_is_deserted(two.claim));
    keel_close(&two);
}

TEST(directories_that_are_gone_leave_no_files)
{
    AUTO(temp_dir) struct temp_dir d = place();
    AUTO(strbuf) struct strbuf all = {0};
    struct keel one = keel_open(&d);

    assert_ok(claim_write_baseline(one.claim, S("text")));
    assert_ok(claim_begin(one.claim));
    keel_close(&one);
    assert_int_equal(count_entries(temp_path(&d, "guard/baselines")), 1);
    assert_int_equal(rename(temp_path(&d, "ws"), temp_path(&d, "old")), 0);
    put(&d, "ws/", "");
    one = keel_open(&d);
    claims_each_used_root(one.all, note, &all);
    assert_int_equal(count_entries(temp_path(&d, "guard/baselines")), 0);
    assert_int_equal(count_entries(temp_path(&d, "guard")), 2);
    keel_close(&one);
}

TEST(a_baseline_that_another_has_written_is_noticed)
{
    AUTO(temp_dir) struct temp_dir d = place();
    struct keel one = keel_open(&d), two = keel_open(&d);
    AUTO(strbuf) struct strbuf bytes = {0};
    bool exists = true;

    assert_ok(claim_read_baseline(one.claim, &bytes, &exists));
    assert_false(exists || claim_has_new_baseline(one.claim));
    assert_ok(claim_write_baseline(two.claim, S("text")));
    assert_false(claim_has_new_baseline(two.claim));
    assert_true(claim_has_new_baseline(one.claim));
    strbuf_done(&bytes);
    assert_ok(claim_read_baseline(one.claim, &bytes, &exists));
    assert_str(strbuf_str(&bytes), "text");
    assert_false(claim_has_new_baseline(one.claim));
    keel_close(&one);
    keel_close(&two);
}

TEST(another_directory_of_the_same_name_is_another)
{
    AUTO(temp_dir) struct temp_dir d = place();
    struct keel one = keel_open(&d), two;

    assert_ok(claim_begin(one.claim));
    assert_int_equal(rename(temp_path(&d, "ws"), temp_path(&d, "old")), 0);
    put(&d, "ws/", "");
    two = keel_open(&d);
    assert_false(claim_is_run_by_others(two.claim));
    keel_close(&one);
    keel_close(&two);
}

RUN_TESTS(UNIT(one_keel_at_a_time_has_the_lock), UNIT(commands_of_others_are_known_while_they_run),
          UNIT(who_dies_while_a_command_runs_leaves_it_broken),
          UNIT(while_another_s_commands_run_it_is_not_idle),
          UNIT(after_the_machine_stopped_nothing_is_believed_but_a_keel_that_left),
          UNIT(directories_are_found_that_nobody_has_left_in_order),
          UNIT(who_dies_between_commands_leaves_it_deserted),
          UNIT(directories_that_are_gone_leave_no_files),
          UNIT(a_baseline_that_another_has_written_is_noticed),
          UNIT(another_directory_of_the_same_name_is_another))
