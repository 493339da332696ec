/* sqlite_test.c */
#include "files.h"
#include "store/collect_conformance.h"
#include "store/place_conformance.h"

#include "store/sqlite.h"
#include "store/sqlite_db.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct temp_dir dir;
static unsigned n_stores;
static char path[512], folder[512];

static struct store *conformance_store(void)
{
    char name[32];

    if (!n_stores)
        dir = temp_dir_make();
    snprintf(name, sizeof name, "s%u", n_stores++);
    snprintf(folder, sizeof folder, "%s", temp_path(&dir, name));
    snprintf(path, sizeof path, "%.400s/keel.db", folder);
    return store_sqlite_new(path);
}

static void conformance_time_passes(void)
{
}

static struct store *conformance_again(void)
{
    return store_sqlite_new(path);
}

static const char *conformance_folder(void)
{
    return folder;
}

static struct store *conformance_reopen(struct store *take_store)
{
    store_free(take_store);
    return store_sqlite_new(path);
}

/* A session with records, in a database that is closed. */
static void make_session(size_t n)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(strbuf) struct strbuf body = {0};
    uint64_t fence = open_new(s, ID_A, 5);

    strbuf_addf(&body, "{\"x\":\"%1000s\"}", "");
    for (size_t i = 1; i <= n; i++)
        append_one(s, ID_A, fence, i, "notice", strbuf_cstr(&body));
    store_close(s, ID_A, fence);
}

static void assert_told(struct err *take_error, const char *text, const char *hint)
{
    AUTO(err) struct err *e = take_error;
    AUTO_FREE char *message = e ? err_message(e) : NULL;

    assert_true(err_is(e, ERR_STORAGE));
    if (!strstr(message, text))
        fail_msg("\"%s\" does not say \"%s\"", message, text);
    assert_non_null(err_find_hint(e));
    if (!strstr(err_find_hint(e), hint))
        fail_msg("\"%s\" does not advise \"%s\"", err_find_hint(e), hint);
}

/* --- files that are no good --- */

IN_TASK(a_file_that_is_no_database_is_told_and_left_alone)
{
    AUTO(strbuf) struct strbuf after = {0};
    AUTO(store) struct store *s = conformance_store();

    mkdir(folder, 0700);
    write_file(path, S("This is a letter to my aunt, and it is longer than a database's header."));
    assert_told(open_again(s), "file is not a database", "another store with --store");
    after = read_file(path);
    assert_str(strbuf_str(&after),
               "This is a letter to my aunt, and it is longer than a database's header.");
    unlink(path);
    assert_ok(open_again(s)); /* the same store, once the file is out of the way */
}

IN_TASK(a_database_that_was_cut_in_two_is_told_and_works_once_it_is_restored)
{
    AUTO(strbuf) struct strbuf whole = {0};
    struct err *e = NULL;

    make_session(200);
    whole = read_file(path);
    assert_int_equal(truncate(path, (off_t)whole.n / 2), 0);
    {
        AUTO(store) struct store *s = store_sqlite_new(path);
        AUTO(store_page) struct store_page page = {0};

        e = store_read(s, ID_A, &(struct store_query){0}, &page);
        assert_told(e, "malformed", "recover");
    }
    write_file(path, strbuf_str(&whole));
    {
        AUTO(store) struct store *s = store_sqlite_new(path);
        AUTO(store_page) struct store_page page = {0};

        assert_ok(store_read(s, ID_A, &(struct store_query){0}, &page));
        assert_int_equal(page.n, 200);
        assert_ok(open_again(s));
    }
}

IN_TASK(a_database_of_a_newer_keel_is_not_touched)
{
    struct sqlite_db db = {0};
    AUTO(store) struct store *s = NULL;

    make_session(1);
    assert_ok(sqlite_db_open(&db, path));
    assert_int_equal(db.api.exec(db.handle, "PRAGMA user_version = 1000", NULL, NULL, NULL), 0);
    sqlite_db_close(&db);
    s = store_sqlite_new(path);
    assert_told(open_again(s), "newer keel", "update keel");
}

/* --- a write-ahead log that was damaged --- */

#define PAGE_BYTES 4096
#define FRAME_HEAD_BYTES 24
#define FRAME_BYTES (FRAME_HEAD_BYTES + PAGE_BYTES)
#define LOG_HEAD_BYTES 32
#define N_LOGGED 4

static struct strbuf database, wal; /* as a process that died has left them */

static const char *beside(const char *suffix)
{
    static char name[600];

    snprintf(name, sizeof name, "%s%s", path, suffix);
    return name;
}

static uint64_t log_size(void)
{
    struct stat st;

    assert_int_equal(stat(beside("-wal"), &st), 0);
    return (uint64_t)st.st_size;
}

IN_TASK(a_short_log_is_left_to_the_next_process_and_a_long_one_emptied)
{
    make_session(1);
    assert_true(log_size() > 0);
    {
        AUTO(store) struct store *s = store_sqlite_new(path);
        AUTO(store_page) struct store_page page = {0};

        assert_ok(store_read(s, ID_A, &(struct store_query){0}, &page));
        assert_int_equal(page.n, 1);
    }
    assert_true(log_size() > 0); /* who only looks leaves it, too */
    make_session(200);
    assert_int_equal(log_size(), 0);
}

/* As it is when the last who has closed it has found a long log. */
static void empty_log(void)
{
    struct sqlite_db db;

    assert_ok(sqlite_db_open(&db, path));
    assert_int_equal(
        db.api.wal_checkpoint_v2(db.handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL),
        SQLITE_OK);
    sqlite_db_close(&db);
}

/* So many records are in the log, and none of them is in the database. */
static void leave_log_of(unsigned n_records)
{
    AUTO(store) struct store *s = NULL;
    AUTO(arena) struct arena a = {0};
    struct store_lease lease;
    char body[32];

    make_session(0);
    empty_log();
    s = store_sqlite_new(path);
    assert_ok(store_open(s, ID_A, NULL, &a, &lease));
    for (unsigned i = 1; i <= n_records; i++) {
        snprintf(body, sizeof body, "{\"n\":%u}", i);
        append_one(s, ID_A, lease.fence, i, "history_mutation", body);
    }
    database = read_file(path);
    wal = read_file(beside("-wal"));
}

static void leave_log(void)
{
    leave_log_of(N_LOGGED);
    assert_int_equal((wal.n - LOG_HEAD_BYTES) % FRAME_BYTES, 0);
}

static void forget_log(void)
{
    strbuf_done(&database);
    strbuf_done(&wal);
}

/* With this log the store must open, hold the first so many records and nothing else, and go on. */
static size_t count_left(struct str log)
{
    AUTO(store) struct store *s = store_sqlite_new(path);
    AUTO(store_page) struct store_page page = {0}, after = {0};
    AUTO(arena) struct arena a = {0};
    struct store_lease lease;
    struct store_record r;
    char body[32];

    write_file(path, strbuf_str(&database));
    unlink(beside("-shm"));
    write_file(beside("-wal"), log);
    assert_ok(store_read(s, ID_A, &(struct store_query){0}, &page));
    for (size_t i = 0; i < page.n; i++) {
        snprintf(body, sizeof body, "{\"n\":%zu}", i + 1);
        assert_int_equal(page.records[i].seq, i + 1);
        assert_str(page.records[i].body, body);
    }
    assert_ok(store_open(s, ID_A, NULL, &a, &lease));
    assert_int_equal(lease.next_seq, page.n + 1);
    r = record_of(page.n + 1, "notice", "{}");
    assert_ok(store_append(s, ID_A, r.seq, lease.fence, &r, 1, NULL));
    assert_ok(store_read(s, ID_A, &(struct store_query){0}, &after));
    assert_int_equal(after.n, page.n + 1);
    store_close(s, ID_A, lease.fence);
    return page.n;
}

/* Every byte would take minutes. Something can change only where a head or a page ends, so there it
 * is every byte. */
static size_t next_cut(size_t n)
{
    size_t in_frame = n < LOG_HEAD_BYTES ? 0 : (n - LOG_HEAD_BYTES) % FRAME_BYTES;

    return n + (in_frame < FRAME_HEAD_BYTES + 4 || in_frame > FRAME_BYTES - 4 ? 1 : 64);
}

IN_TASK(a_log_of_sqlite_that_ends_anywhere_leaves_the_records_before)
{
    size_t left = 0;

    leave_log();
    for (size_t n = 0; n < wal.n; n = next_cut(n)) {
        size_t now = count_left(str_slice(strbuf_str(&wal), 0, n));

        assert_true(now >= left && now < N_LOGGED);
        left = now;
    }
    assert_int_equal(left, N_LOGGED - 1);
    assert_int_equal(count_left(strbuf_str(&wal)), N_LOGGED);
    forget_log();
}

/* Its heads byte by byte, its pages here and there. */
static size_t next_change(size_t i)
{
    return i + ((i - LOG_HEAD_BYTES) % FRAME_BYTES < FRAME_HEAD_BYTES ? 1 : 61);
}

IN_TASK(a_log_of_sqlite_with_changed_bytes_never_gives_a_wrong_record)
{
    leave_log();
    for (size_t i = wal.n - FRAME_BYTES; i < wal.n; i = next_change(i)) {
        char was = wal.p[i];
        const char values[] = {was ^ 1, (char)~was, was ? '\0' : ' '};

        for (size_t k = 0; k < ARRAY_LEN(values); k++) {
            wal.p[i] = values[k];
            assert_int_equal(count_left(strbuf_str(&wal)), N_LOGGED - 1);
        }
        wal.p[i] = was;
    }
    forget_log();
}

static size_t log_end(void)
{
    size_t end = wal.n;

    while (end && wal.p[end - 1] == '\0')
        end--;
    return end;
}

/* A long log gets room ahead of time, and goes on in it. */
IN_TASK(a_log_with_room_behind_its_end_is_read_to_its_end)
{
    const unsigned n_logged = 100;

    leave_log_of(n_logged);
    assert_true(log_end() + FRAME_BYTES < wal.n);
    assert_int_equal(count_left(strbuf_str(&wal)), n_logged);
    assert_int_equal(count_left(str_slice(strbuf_str(&wal), 0, log_end())), n_logged);
    assert_int_equal(count_left(str_slice(strbuf_str(&wal), 0, log_end() - 1)), n_logged - 1);
    forget_log();
}

/* --- a database that may only be read --- */

static struct err *make_in_task(void *arg)
{
    make_session(3);
    return NULL;
}

static struct err *read_in_task(void *arg)
{
    AUTO(store) struct store *s = conformance_again();
    AUTO(store_page) struct store_page page = {0};

    assert_ok(store_read(s, ID_A, &(struct store_query){0}, &page));
    assert_int_equal(page.n, 3);
    assert_ok(open_again(s));
    return NULL;
}

TEST(a_database_that_may_not_be_written_is_told_and_unharmed)
{
    assert_ok(loop_run_once(make_in_task, NULL));
    assert_int_equal(chmod(dir.path, 0755), 0);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    assert_ends_well(start_process(write_where_it_is_forbidden, NULL));
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(chmod(path, 0600), 0);
    assert_ok(loop_run_once(read_in_task, NULL));
}

/* --- payloads that nothing refers to any more --- */

/* As if hours had passed since payloads were put or lost their last reference. */
static void let_hours_pass(const char *name)
{
    char command[700];
    struct sqlite_db db = {0};

    assert_ok(sqlite_db_open(&db, name));
    assert_int_equal(db.api.exec(db.handle, "UPDATE doomed SET since = 1", NULL, NULL, NULL), 0);
    sqlite_db_close(&db);
    snprintf(command, sizeof command,
             "find '%s' -path '*blobs/*' -type f -exec touch -a -d 2001-01-01 {} +", folder);
    assert_int_equal(system(command), 0);
}

static void conformance_hours_pass(void)
{
    let_hours_pass(path);
}

/* --- two databases in one directory --- */

static const char *database_named(const char *name)
{
    static char names[4][600];
    static unsigned n;
    char *to = names[n++ % 4];

    snprintf(to, sizeof names[0], "%s/%s", folder, name);
    return to;
}

IN_TASK(databases_in_one_directory_do_not_remove_each_others_payloads)
{
    static const char *const names[][2] = {
        {"a.db", "b.db"}, {"keel.db", "b.db"}, {"a.db", "keel.db"}};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        AUTO(store) struct store *unused = conformance_store();
        AUTO(store) struct store *s = store_sqlite_new(database_named(names[i][0]));
        AUTO(store) struct store *other = store_sqlite_new(database_named(names[i][1]));

        refer_to(s, ID_A, S("said in both"));
        refer_to(other, ID_B, S("said in both"));
        assert_ok(store_remove(s, ID_A));
        let_hours_pass(database_named(names[i][0]));
        assert_ok(store_sweep(s));
        assert_true(has_payload(other, ID_B, S("said in both")));
    }
}

IN_TASK(what_a_database_does_not_need_goes_when_there_is_no_other_one)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(store) struct store *other = store_sqlite_new(database_named("other.db"));

    refer_to(s, ID_A, S("said in both"));
    refer_to(other, ID_B, S("said in both"));
    assert_ok(store_remove(s, ID_A));
    let_hours_pass(path);
    store_free(TAKE(other));
    assert_int_equal(unlink(database_named("other.db")), 0);
    assert_ok(store_sweep(s));
    assert_false(has_payload(s, ID_A, S("said in both")));
}

/* --- a database that is busy --- */

struct busy {
    int tell, listen;
};

/* Another program that holds the database until it is told to let go. */
static struct err *hold_database(void *arg)
{
    const struct busy *b = arg;
    struct sqlite_db db = {0};
    char byte = 'x';

    TRY(sqlite_db_open(&db, path));
    TRY(sqlite_begin_transaction(&db));
    if (write(b->tell, &byte, 1) != 1 || read(b->listen, &byte, 1) != 1)
        return err_new(ERR_INTERNAL, "the pipe is broken");
    TRY(sqlite_end_transaction(&db, NULL));
    sqlite_db_close(&db);
    return NULL;
}

static struct err *open_b(void *arg)
{
    return open_again(arg);
}

static struct err *let_go(void *arg)
{
    const int *fd = arg;

    return write(*fd, "x", 1) == 1 ? NULL : err_new(ERR_INTERNAL, "the pipe is broken");
}

static struct err *open_while_busy(void *arg)
{
    AUTO(store) struct store *s = conformance_again();
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "open", open_b, s);
    group_spawn(&g, "let go", let_go, arg);
    return group_end(&g);
}

TEST(a_database_that_another_program_holds_is_waited_for)
{
    int to_child[2], to_us[2];
    struct busy b;
    char byte;
    pid_t pid;

    assert_ok(loop_run_once(make_in_task, NULL));
    assert_int_equal(pipe(to_child), 0);
    assert_int_equal(pipe(to_us), 0);
    b = (struct busy){.tell = to_us[1], .listen = to_child[0]};
    pid = start_process(hold_database, &b);
    assert_int_equal(read(to_us[0], &byte, 1), 1);
    assert_ok(loop_run_once(open_while_busy, &to_child[1]));
    assert_ends_well(pid);
    for (int i = 0; i < 2; i++) {
        close(to_child[i]);
        close(to_us[i]);
    }
}

/* --- a disk that fails --- */

static atomic_bool disk_fails;

/* Instead of libc's, for SQLite too. */
__attribute__((visibility("default"))) int fdatasync(int fd)
{
    if (!atomic_load(&disk_fails))
        return (int)syscall(SYS_fdatasync, fd);
    errno = EIO;
    return -1;
}

__attribute__((visibility("default"))) int fsync(int fd)
{
    return fdatasync(fd);
}

static struct err *append_soon_in_task(void *arg)
{
    const struct one_append *a = arg;
    struct store_record r = record_of(a->seq, "notice", "{}");

    return store_append_soon(a->store, a->stream, a->seq, a->fence, &r, 1, NULL);
}

static struct err *sync_in_task(void *arg)
{
    AUTO(err) struct err *e = store_sync(arg);

    assert_true(err_is(e, ERR_STORAGE));
    return NULL;
}

/* The first one begins a batch; the others wait for it, and then are one. */
IN_TASK(a_disk_that_fails_after_a_commit_is_told_to_who_waits_for_it)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    struct one_append one = {s, ID_A, fence, 1}, two = {s, ID_A, fence, 2};
    struct one_append three = {s, ID_A, fence, 3};
    struct group g;

    atomic_store(&disk_fails, true);
    group_begin(&g, 0, 0);
    group_spawn(&g, "one", append_soon_in_task, &one);
    group_spawn(&g, "two", append_soon_in_task, &two);
    group_spawn(&g, "sync", sync_in_task, s);
    assert_ok(group_end(&g));
    assert_ok(sync_in_task(s)); /* and again: what failed once is not forgotten */
    assert_err(append_soon_in_task(&three), ERR_STORAGE);
    atomic_store(&disk_fails, false);
    assert_ok(store_sync(s));
    assert_ok(append_soon_in_task(&three));
    append_one(s, ID_A, fence, 4, "notice", "{}");
    store_close(s, ID_A, fence);
    s = conformance_reopen(TAKE(s));
    assert_bodies(s, ID_A, "1:{} 2:{} 3:{} 4:{} ", 0);
}

static int remove_dir(void **state)
{
    temp_dir_done(&dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_CONFORMS,
        STORE_SHARES,
        STORE_HAS_A_PLACE,
        STORE_COLLECTS,
        UNIT(a_file_that_is_no_database_is_told_and_left_alone),
        UNIT(a_database_that_was_cut_in_two_is_told_and_works_once_it_is_restored),
        UNIT(a_database_of_a_newer_keel_is_not_touched),
        UNIT(a_short_log_is_left_to_the_next_process_and_a_long_one_emptied),
        UNIT(a_log_of_sqlite_that_ends_anywhere_leaves_the_records_before),
        UNIT(a_log_of_sqlite_with_changed_bytes_never_gives_a_wrong_record),
        UNIT(a_log_with_room_behind_its_end_is_read_to_its_end),
        UNIT(a_database_that_may_not_be_written_is_told_and_unharmed),
        UNIT(a_database_that_another_program_holds_is_waited_for),
        UNIT(a_disk_that_fails_after_a_commit_is_told_to_who_waits_for_it),
        UNIT(databases_in_one_directory_do_not_remove_each_others_payloads),
        UNIT(what_a_database_does_not_need_goes_when_there_is_no_other_one),
    };

    /* Thousands of fsyncs: in memory where there is such a place. */
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    return cmocka_run_group_tests(tests, NULL, remove_dir);
}
