/* walk_test.c - walks over small trees, which show up as sorted lists of paths. */
#include "sys/walk.h"

#include "files.h"
#include "sys/tasks.h"
#include "sys/work.h"

#include <pthread.h>
#include <signal.h>

struct seen {
    pthread_mutex_t lock;
    char **paths;
    size_t n;
    size_t n_at_most; /* ends the walk when so many were seen; 0: never */
    bool had_signals;
    bool waits; /* until the walk is over */
    int n_threads, n_threads_ended;
};

static bool note(void *self, void *thread, const struct walk_entry *entry)
{
    const char *mark = entry->is_dir ? "/" : entry->is_link ? "@" : entry->is_file ? "" : "?";
    struct seen *seen = self;
    sigset_t blocked;
    bool goes_on;

    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    pthread_mutex_lock(&seen->lock);
    seen->had_signals |= !sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGTERM);
    seen->paths = mem_resize(seen->paths, (seen->n + 1) * sizeof *seen->paths);
    seen->paths[seen->n] = mem_alloc(entry->path.n + 2);
    memcpy(seen->paths[seen->n], entry->path.p, entry->path.n);
    strcat(seen->paths[seen->n++], mark);
    goes_on = !seen->n_at_most || seen->n < seen->n_at_most;
    pthread_mutex_unlock(&seen->lock);
    while (seen->waits && !atomic_load(entry->is_over))
        usleep(100);
    return goes_on;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "a b/ b/c": what was seen, sorted. */
static struct strbuf list(struct seen *seen)
{
    struct strbuf text = {0};

    if (seen->n)
        qsort(seen->paths, seen->n, sizeof *seen->paths, compare);
    for (size_t i = 0; i < seen->n; i++) {
        strbuf_addf(&text, "%s%s", i ? " " : "", seen->paths[i]);
        mem_free(seen->paths[i]);
    }
    mem_free(seen->paths);
    seen->paths = NULL;
    seen->n = 0;
    return text;
}

static struct walk_report walk(struct seen *seen, const struct walk_options *options)
{
    const struct walk_visitor visitor = {.visit = note, .self = seen};
    struct walk_report report;

    assert_ok(walk_run(options, &visitor, &report));
    return report;
}

static void assert_walk_(const struct walk_options *options, const char *want, const char *file,
                         int line)
{
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct walk_report report = walk(&seen, options);
    size_t n = seen.n;
    AUTO(strbuf) struct strbuf text = list(&seen);

    assert_str_(strbuf_str(&text), want, file, line);
    assert_int_equal(report.n_entries, n);
}
#define assert_walk(options, want) assert_walk_((options), (want), __FILE__, __LINE__)

TEST(every_entry_is_seen_once)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a", "");
    put(&d, "b/c", "");
    put(&d, "b/d/e", "");
    put(&d, "empty/", "");
    assert_walk((&(struct walk_options){.root = d.path}), "a b/ b/c b/d/ b/d/e empty/");
    assert_walk((&(struct walk_options){.root = d.path, .n_threads = 1}),
                "a b/ b/c b/d/ b/d/e empty/");
}

TEST(many_files_are_shared_by_the_threads_and_each_is_seen_once)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    char name[64];

    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, i % 3 ? "flat/f%04d" : "d%02d/f%04d", i % 3 ? i : i % 50, i);
        put(&d, name, "");
    }
    walk(&seen, &(struct walk_options){.root = d.path, .n_threads = 8});
    assert_int_equal(seen.n, 3000 + 50 + 1);
    qsort(seen.paths, seen.n, sizeof *seen.paths, compare);
    for (size_t i = 1; i < seen.n; i++)
        assert_string_not_equal(seen.paths[i - 1], seen.paths[i]);
    AUTO(strbuf) struct strbuf text = list(&seen);
}

TEST(directories_deeper_than_those_kept_open_are_read)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct walk_report report;
    char path[512] = "";

    for (int i = 0; i < 100; i++) {
        strcat(path, "d/");
        put(&d, path, "");
    }
    report = walk(&seen, &(struct walk_options){.root = d.path});
    assert_int_equal(report.n_entries, 100);
    assert_int_equal(report.n_unreadable, 0);
    AUTO(strbuf) struct strbuf text = list(&seen);
}

TEST(links_are_reported_and_never_followed)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a/b", "");
    assert_int_equal(symlink("..", temp_path(&d, "a/up")), 0);
    assert_int_equal(symlink("a", temp_path(&d, "dir")), 0);
    assert_int_equal(symlink("nowhere", temp_path(&d, "gone")), 0);
    assert_int_equal(mkfifo(temp_path(&d, "pipe"), 0600), 0);
    assert_walk((&(struct walk_options){.root = d.path}), "a/ a/b a/up@ dir@ gone@ pipe?");
}

/* Notes what is seen; "d" becomes a link to "../out" after it was seen and before it is read. */
struct swapping {
    struct seen seen;
    const struct temp_dir *dir;
};

static bool note_and_swap(void *self, void *thread, const struct walk_entry *entry)
{
    struct swapping *s = self;

    if (str_is(entry->path, "d")) {
        assert_int_equal(rename(temp_path(s->dir, "in/d"), temp_path(s->dir, "moved")), 0);
        assert_int_equal(symlink("../out", temp_path(s->dir, "in/d")), 0);
    }
    return note(&s->seen, thread, entry);
}

TEST(a_directory_that_becomes_a_link_before_it_is_read_is_not_followed)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct swapping s = {.seen.lock = PTHREAD_MUTEX_INITIALIZER, .dir = &d};
    const struct walk_visitor visitor = {.visit = note_and_swap, .self = &s};
    struct walk_report report;

    put(&d, "in/d/a", "");
    put(&d, "out/secret", "");
    assert_ok(walk_run(&(struct walk_options){.root = temp_path(&d, "in"), .n_threads = 1},
                       &visitor, &report));
    AUTO(strbuf) struct strbuf text = list(&s.seen);
    assert_str(strbuf_str(&text), "d/");
    assert_int_equal(report.n_unreadable, 0);
}

TEST(a_root_that_is_open_is_walked_wherever_its_path_leads_now)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO_FREE char *root = mem_strdup(temp_path(&d, "in"));
    struct walk_options options = {.root = root, .has_root_fd = true};

    put(&d, "in/a", "");
    put(&d, "out/secret", "");
    options.root_fd = open(options.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(rename(options.root, temp_path(&d, "moved")), 0);
    assert_int_equal(symlink("out", options.root), 0);
    assert_walk(&options, "a");
    assert_walk(&options, "a"); /* as often as one likes */
    close(options.root_fd);
}

TEST(rules_above_an_open_root_are_not_read_through_a_link)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO_FREE char *root = mem_strdup(temp_path(&d, "top/in"));
    struct walk_options options = {.root = root, .has_root_fd = true};

    put(&d, "top/.git/", "");
    put(&d, "top/.gitignore", "b\n");
    put(&d, "top/in/a", "");
    put(&d, "top/in/b", "");
    put(&d, "out/.git/", "");
    put(&d, "out/.gitignore", "a\n");
    options.root_fd = open(options.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_walk(&options, "a");
    assert_int_equal(rename(temp_path(&d, "top"), temp_path(&d, "moved")), 0);
    assert_int_equal(symlink("out", temp_path(&d, "top")), 0);
    assert_walk(&options, "a b");
    close(options.root_fd);
}

TEST(hidden_names_are_left_out_unless_asked_for_and_git_always)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, ".git/config", "");
    put(&d, ".hidden/x", "");
    put(&d, ".env", "");
    put(&d, "a", "");
    put(&d, "sub/.git", "gitdir: nowhere\n");
    assert_walk((&(struct walk_options){.root = d.path}), "a sub/");
    assert_walk((&(struct walk_options){.root = d.path, .hidden = true}),
                ".env .hidden/ .hidden/x a sub/");
}

/* --- rules --- */

TEST(ignored_files_are_left_out)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, ".gitignore", "*.o\n/build/\n!keep.o\n");
    put(&d, "a.o", "");
    put(&d, "build/x", "");
    put(&d, "sub/build/x", "");
    put(&d, "sub/keep.o", "");
    put(&d, "sub/.gitignore", "x\n!a.o\n");
    put(&d, "sub/a.o", "");
    assert_walk((&(struct walk_options){.root = d.path}), "sub/ sub/a.o sub/build/ sub/keep.o");
    assert_walk((&(struct walk_options){.root = d.path, .no_ignore = true}),
                "a.o build/ build/x sub/ sub/a.o sub/build/ sub/build/x sub/keep.o");
}

TEST(that_something_was_ignored_is_reported)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    AUTO(strbuf) struct strbuf text = {0};

    put(&d, ".gitignore", "*.o\n");
    put(&d, "a.c", "");
    put(&d, "sub/.git/x", "");
    assert_false(walk(&seen, &(struct walk_options){.root = d.path}).has_ignored);
    put(&d, "lib/a.o", "");
    assert_true(walk(&seen, &(struct walk_options){.root = d.path}).has_ignored);
    assert_false(
        walk(&seen, &(struct walk_options){.root = d.path, .no_ignore = true}).has_ignored);
    text = list(&seen);
}

TEST(a_dot_ignore_file_outranks_git_and_counts_the_same_way)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, ".ignore", "!a.log\nsecret\n");
    put(&d, "sub/.gitignore", "*.log\n");
    put(&d, "sub/a.log", "");
    put(&d, "sub/b.log", "");
    put(&d, "sub/secret", "");
    assert_walk((&(struct walk_options){.root = d.path}), "sub/ sub/a.log");
}

TEST(a_rule_that_takes_back_shows_a_hidden_name)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, ".gitignore", ".*\n!.example\n");
    put(&d, ".example", "");
    put(&d, ".other", "");
    assert_walk((&(struct walk_options){.root = d.path}), ".example");
}

TEST(excludes_of_the_repository_count_also_in_a_linked_work_tree)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "main/.git/info/exclude", "x\n");
    put(&d, "main/.git/worktrees/w/commondir", "../..\n");
    put(&d, "main/x", "");
    put(&d, "main/y", "");
    put(&d, "linked/.git", "gitdir: ../main/.git/worktrees/w\n");
    put(&d, "linked/x", "");
    put(&d, "linked/y", "");
    assert_walk((&(struct walk_options){.root = d.path}), "linked/ linked/y main/ main/y");
}

TEST(rules_above_the_root_count_up_to_the_repository_and_no_further)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, ".gitignore", "outside\n");
    put(&d, "repo/.git/info/exclude", "excluded\n");
    put(&d, "repo/.gitignore", "/a/b/anchored\ntop\n");
    put(&d, "repo/a/.gitignore", "b/middle\n");
    put(&d, "repo/a/b/anchored", "");
    put(&d, "repo/a/b/excluded", "");
    put(&d, "repo/a/b/middle", "");
    put(&d, "repo/a/b/outside", "");
    put(&d, "repo/a/b/c/top", "");
    put(&d, "repo/a/b/c/anchored", "");
    assert_walk((&(struct walk_options){.root = temp_path(&d, "repo/a/b")}),
                "c/ c/anchored outside");
}

TEST(rules_above_a_root_that_is_in_no_repository_do_not_count)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, ".gitignore", "x\n");
    put(&d, "a/x", "");
    assert_walk((&(struct walk_options){.root = temp_path(&d, "a")}), "x");
}

TEST(a_nested_repository_goes_by_its_own_rules)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, ".git/HEAD", "");
    put(&d, ".gitignore", "x\n");
    put(&d, ".ignore", "z\n");
    put(&d, "inner/.git/info/exclude", "y\n");
    put(&d, "inner/x", "");
    put(&d, "inner/y", "");
    put(&d, "inner/z", "");
    put(&d, "x", "");
    assert_walk((&(struct walk_options){.root = d.path}), "inner/ inner/x");
}

TEST(git_lists_the_same_files)
{
    static const char *const rules[][2] = {
        {".gitignore", "*.o\n/out/\nlogs/**/*.log\n!logs/keep/*.log\nsub/*\n!sub/deep/\n"},
        {"sub/deep/.gitignore", "*.c\n!main.c\n"},
        {"logs/.gitignore", "b*\n!/b1/\n"},
    };
    static const char *const dirs[] = {"",         "out/", "logs/",     "logs/keep/",    "logs/b1/",
                                       "logs/b2/", "sub/", "sub/deep/", "sub/deep/out/", "other/"};
    static const char *const names[] = {"a.o", "a.log", "main.c", "x.c", "b1", "read me"};
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    const char *init[] = {"git", "-C", d.path, "init", "-q", NULL};
    const char *ls[] = {"git", "-C", d.path, "ls-files", "-co", "-z", "--exclude-standard", NULL};
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    AUTO(strbuf) struct strbuf listed = {0}, by_git = {0}, by_keel = {0};
    char out[] = "/tmp/keel-walk-XXXXXX";
    size_t n_seen = 0;
    struct str rest, path;

    if (run_program(init, "/dev/null", "/dev/null") != 0) {
        print_message("[ SKIPPED because git cannot be run ]\n");
        skip();
    }
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            AUTO(strbuf) struct strbuf name = {0};

            if (strcmp(dirs[i], "logs/") || strcmp(names[k], "b1")) {
                strbuf_addf(&name, "%s%s", dirs[i], names[k]);
                put(&d, strbuf_cstr(&name), "");
            }
        }
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        put(&d, rules[i][0], rules[i][1]);

    close(mkstemp(out));
    assert_int_equal(run_program(ls, "/dev/null", out), 0);
    listed = read_file(out);
    unlink(out);
    rest = strbuf_str(&listed);
    while (rest.n && str_split(&rest, '\0', &path)) {
        struct walk_entry entry = {.path = path, .is_file = true};
        atomic_bool is_over = false;

        entry.is_over = &is_over;
        note(&seen, NULL, &entry);
    }
    n_seen = seen.n;
    by_git = list(&seen);
    walk(&seen, &(struct walk_options){.root = d.path, .hidden = true});
    for (size_t i = 0, n = seen.n; i < n; i++) /* git lists files only */
        if (str_ends(str_of(seen.paths[i]), S("/"))) {
            mem_free(seen.paths[i]);
            seen.paths[i--] = seen.paths[--n];
            seen.n--;
        }
    by_keel = list(&seen);
    assert_str(strbuf_str(&by_keel), strbuf_cstr(&by_git));
    assert_in_range(n_seen, 20, 50);
}

/* --- limits --- */

static bool is_secret(void *self, struct str path, bool is_dir)
{
    return str_is(path, "a/secret") || (is_dir && str_is(path, "b"));
}

TEST(what_the_caller_leaves_out_is_not_seen_nor_entered)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a/b", "");
    put(&d, "a/secret", "");
    put(&d, "b/x", "");
    assert_walk((&(struct walk_options){.root = d.path, .is_left_out = is_secret}), "a/ a/b");
}

TEST(a_walk_ends_at_its_largest_number_of_entries)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct walk_report report;

    put(&d, "a", "");
    put(&d, "b", "");
    put(&d, "c", "");
    report = walk(&seen, &(struct walk_options){.root = d.path, .max_entries = 2});
    assert_true(report.was_cut);
    assert_int_equal(report.n_entries, 2);
    assert_int_equal(seen.n, 2);
    AUTO(strbuf) struct strbuf first = list(&seen);
    report = walk(&seen, &(struct walk_options){.root = d.path, .max_entries = 3});
    assert_false(report.was_cut);
    AUTO(strbuf) struct strbuf second = list(&seen);
}

TEST(a_walk_goes_no_deeper_than_told)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct walk_report report;

    put(&d, "a/b/c", "");
    report = walk(&seen, &(struct walk_options){.root = d.path, .max_depth = 1});
    AUTO(strbuf) struct strbuf text = list(&seen);
    assert_str(strbuf_str(&text), "a/ a/b/");
    assert_true(report.is_too_deep);
    assert_false(report.was_cut);
    assert_int_equal(report.max_depth, 1);
}

TEST(a_visitor_can_end_the_walk)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .n_at_most = 1};
    struct walk_report report;

    put(&d, "a/x", "");
    put(&d, "b/x", "");
    report = walk(&seen, &(struct walk_options){.root = d.path, .n_threads = 1});
    AUTO(strbuf) struct strbuf text = list(&seen);
    assert_int_equal(report.n_entries, 1);
    assert_false(report.was_cut || report.was_cancelled);
}

TEST(directories_that_may_not_be_read_are_counted)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct walk_report report;

    put(&d, "a/x", "");
    put(&d, "b", "");
    assert_int_equal(chmod(temp_path(&d, "a"), 0), 0);
    if (access(temp_path(&d, "a"), R_OK) == 0) {
        chmod(temp_path(&d, "a"), 0700);
        print_message("[ SKIPPED because this user may read everything ]\n");
        skip();
    }
    report = walk(&seen, &(struct walk_options){.root = d.path});
    chmod(temp_path(&d, "a"), 0700);
    AUTO(strbuf) struct strbuf text = list(&seen);
    assert_str(strbuf_str(&text), "a/ b");
    assert_int_equal(report.n_unreadable, 1);
}

TEST(a_root_that_is_no_directory_is_an_error)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    const struct walk_visitor visitor = {.visit = note};
    struct walk_options options = {.root = temp_path(&d, "a")};
    struct walk_report report;

    assert_err(walk_run(&options, &visitor, &report), ERR_VALIDATION);
    put(&d, "a", "");
    assert_err(walk_run(&options, &visitor, &report), ERR_VALIDATION);
}

/* --- threads --- */

static void *begin(void *self)
{
    struct seen *seen = self;

    pthread_mutex_lock(&seen->lock);
    seen->n_threads++;
    pthread_mutex_unlock(&seen->lock);
    return seen;
}

static void end(void *self, void *thread)
{
    struct seen *seen = thread;

    pthread_mutex_lock(&seen->lock);
    seen->n_threads_ended++;
    pthread_mutex_unlock(&seen->lock);
}

TEST(threads_begin_and_end_with_all_signals_blocked)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const struct walk_visitor visitor = {
        .begin_thread = begin, .end_thread = end, .visit = note, .self = &seen};
    struct walk_options options = {.root = d.path, .n_threads = 3};
    struct walk_report report;
    sigset_t before, after;

    put(&d, "a/b", "");
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_ok(walk_run(&options, &visitor, &report));
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    AUTO(strbuf) struct strbuf text = list(&seen);
    assert_int_equal(seen.n_threads, 3);
    assert_int_equal(seen.n_threads_ended, 3);
    assert_false(seen.had_signals);
    assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
}

struct cancelled_walk {
    struct seen seen;
    const char *root;
    struct walk_report report;
};

static struct err *walk_in_worker(void *arg)
{
    struct cancelled_walk *c = arg;
    const struct walk_visitor visitor = {.visit = note, .self = &c->seen};
    struct walk_options options = {.root = c->root, .n_threads = 2};

    return walk_run(&options, &visitor, &c->report);
}

static struct err *run_walk(void *arg)
{
    err_ignore(work_run(walk_in_worker, arg), "its report tells");
    return NULL;
}

static struct err *cancel_walk(void *arg)
{
    struct cancelled_walk *c = arg;
    struct group g;
    bool has_begun = false;
    struct err *e = NULL;

    group_begin(&g, 0, 0);
    group_spawn(&g, "walk", run_walk, c);
    while (!has_begun && !e) {
        e = task_yield();
        pthread_mutex_lock(&c->seen.lock);
        has_begun = c->seen.n > 0;
        pthread_mutex_unlock(&c->seen.lock);
    }
    group_cancel(&g);
    TRY(e);
    return group_end(&g);
}

TEST(a_cancelled_task_ends_its_walk)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct cancelled_walk c = {.root = d.path,
                               .seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .waits = true}};

    put(&d, "a", "");
    put(&d, "b", "");
    put(&d, "c", "");
    assert_ok(run_tasks(cancel_walk, &c));
    AUTO(strbuf) struct strbuf text = list(&c.seen);
    assert_true(c.report.was_cancelled);
}

RUN_TESTS(UNIT(every_entry_is_seen_once),
          UNIT(many_files_are_shared_by_the_threads_and_each_is_seen_once),
          UNIT(directories_deeper_than_those_kept_open_are_read),
          UNIT(links_are_reported_and_never_followed),
          UNIT(a_directory_that_becomes_a_link_before_it_is_read_is_not_followed),
          UNIT(a_root_that_is_open_is_walked_wherever_its_path_leads_now),
          UNIT(rules_above_an_open_root_are_not_read_through_a_link),
          UNIT(hidden_names_are_left_out_unless_asked_for_and_git_always),
          UNIT(ignored_files_are_left_out), UNIT(that_something_was_ignored_is_reported),
          UNIT(a_dot_ignore_file_outranks_git_and_counts_the_same_way),
          UNIT(a_rule_that_takes_back_shows_a_hidden_name),
          UNIT(excludes_of_the_repository_count_also_in_a_linked_work_tree),
          UNIT(rules_above_the_root_count_up_to_the_repository_and_no_further),
          UNIT(rules_above_a_root_that_is_in_no_repository_do_not_count),
          UNIT(a_nested_repository_goes_by_its_own_rules), UNIT(git_lists_the_same_files),
          UNIT(what_the_caller_leaves_out_is_not_seen_nor_entered),
          UNIT(a_walk_ends_at_its_largest_number_of_entries), UNIT(a_walk_goes_no_deeper_than_told),
          UNIT(a_visitor_can_end_the_walk), UNIT(directories_that_may_not_be_read_are_counted),
          UNIT(a_root_that_is_no_directory_is_an_error),
          UNIT(threads_begin_and_end_with_all_signals_blocked),
          UNIT(a_cancelled_task_ends_its_walk))
