/* postgres_test.c - against a server of its own: a socket in a temporary directory, no TCP. */
#include "files.h"
#include "port/blob_conformance.h"
#include "store/collect_conformance.h"
#include "store/proxy.h"
#include "store/timed_conformance.h"

#include "store/postgres.h"
#include "store/postgres_conn.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/prctl.h>

static struct temp_dir dir;
static char server_dir[300], bin_dir[200];
static pid_t server;
static unsigned n_stores;
static char url[900];

/* --- the server --- */

/* PostgreSQL does not run as root. */
static void drop_root(void)
{
    if (getuid() == 0 && (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0))
        _exit(126);
}

/* argv[0] becomes the whole path: by it they find their other programs. */
static pid_t start_program(const char *name, const char *argv[])
{
    char program[300];
    pid_t pid;

    snprintf(program, sizeof program, "%s/%s", bin_dir, name);
    pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);

        drop_root();
        prctl(PR_SET_PDEATHSIG, SIGQUIT); /* no server outlives a test that failed */
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        argv[0] = program;
        if (chdir(server_dir) == 0)
            execv(program, (char *const *)argv);
        _exit(127);
    }
    return pid;
}

static int run_to_end(const char *name, const char *argv[])
{
    int status;
    pid_t pid = start_program(name, argv);

    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool find_programs(void)
{
    glob_t found;
    bool has = glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) == 0;

    if (has) {
        const char *last = found.gl_pathv[found.gl_pathc - 1];

        snprintf(bin_dir, sizeof bin_dir, "%.*s", (int)(strlen(last) - strlen("/initdb")), last);
        globfree(&found);
    }
    return has;
}

static void start_server(void)
{
    char socket_setting[400];
    const char *argv[] = {"postgres",           "-D", "data",      "-c", "listen_addresses=",  "-c",
                          socket_setting,       "-c", "fsync=off", "-c", "max_connections=50", "-c",
                          "shared_buffers=8MB", NULL};
    const char *ready[] = {"pg_isready", "-q", "-h", server_dir, "-d", "postgres", NULL};

    snprintf(socket_setting, sizeof socket_setting, "unix_socket_directories=%s", server_dir);
    server = start_program("postgres", argv);
    for (unsigned i = 0; run_to_end("pg_isready", ready) != 0; i++)
        if (waitpid(server, NULL, WNOHANG) == server) { /* children of the old one still live */
            assert_true(i < 1000);
            server = start_program("postgres", argv);
        }
}

/* As if the machine had lost its power. Its children go when they see that it is gone. */
static void kill_server(void)
{
    char name[320];

    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    snprintf(name, sizeof name, "%s/data/postmaster.pid", server_dir);
    unlink(name);
}

static bool make_server(void)
{
    const char *argv[] = {"initdb", "-D",   "data",      "-U",         "keel", "--auth=trust",
                          "-E",     "UTF8", "--no-sync", "--locale=C", NULL};

    if (!find_programs())
        return false;
    dir = temp_dir_make();
    snprintf(server_dir, sizeof server_dir, "%s/pg", dir.path);
    assert_int_equal(chmod(dir.path, 0755), 0);
    assert_int_equal(mkdir(server_dir, 0700), 0);
    if (getuid() == 0)
        assert_int_equal(chown(server_dir, 65534, 65534), 0);
    assert_int_equal(run_to_end("initdb", argv), 0);
    start_server();
    return true;
}

/* --- stores: a database each --- */

static void create_database(const char *name)
{
    char command[64];
    const char *argv[] = {"psql",     "-h", server_dir, "-U",    "keel", "-d",
                          "postgres", "-q", "-c",       command, NULL};

    snprintf(command, sizeof command, "CREATE DATABASE %s", name);
    assert_int_equal(run_to_end("psql", argv), 0);
}

static struct store *conformance_store(void)
{
    char name[32];

    snprintf(name, sizeof name, "s%u", n_stores++);
    create_database(name);
    snprintf(url, sizeof url, "postgresql:///%s?host=%s&user=keel", name, server_dir);
    return store_postgres_new(url, NULL);
}

static struct store *conformance_again(void)
{
    return store_postgres_new(url, NULL);
}

/* Of the store that was made last. */
static void run_sql(const char *sql)
{
    const char *argv[] = {"psql", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql, url, NULL};

    assert_int_equal(run_to_end("psql", argv), 0);
}

/* What that means to the database. */
static void conformance_time_passes(void)
{
    run_sql("UPDATE keel_sessions SET until = until - interval '6 seconds'");
}

/* Divides by zero if not. */
static bool is_true(const char *condition)
{
    AUTO(arena) struct arena a = {0};
    const char *sql = arena_format(&a, "SELECT 1 / (CASE WHEN %s THEN 1 ELSE 0 END)", condition).p;
    const char *argv[] = {"psql", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql, url, NULL};

    return run_to_end("psql", argv) == 0;
}

static bool conformance_is_renewed(struct str id)
{
    AUTO(arena) struct arena a = {0};

    return is_true(arena_format(&a,
                                "EXISTS (SELECT 1 FROM keel_sessions WHERE id = '%" STR_FMT
                                "' AND until > clock_timestamp())",
                                STR_ARG(id))
                       .p);
}

static struct store *conformance_reopen(struct store *take_store)
{
    store_free(take_store);
    conformance_time_passes();
    return store_postgres_new(url, NULL);
}

/* --- what only this store does --- */

static void conformance_hours_pass(void)
{
    run_sql("UPDATE keel_doomed SET since = since - interval '2 hours'");
}

IN_TASK(payloads_are_kept_in_the_database)
{
    AUTO(store) struct store *s = conformance_store();
    struct blob_store *b = store_blobs(s, ID_A);

    b->max_bytes = 1 << 20;
    blob_conforms(b);
    blob_conforms_in_a_worker(b);
}

IN_TASK(a_stale_owner_is_refused_by_the_database_itself)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(postgres_args) struct postgres_args none = {0};
    AUTO(arena) struct arena a = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r = record_of(1, "notice", "{}");
    struct store_summary child = {.id = ID_B, .parent = ID_A, .created_ms = 6};
    const char *takes_over[] = {
        "psql", "-q", "-c", "UPDATE keel_sessions SET fence = fence + 1 WHERE parent = ''",
        url,    NULL};

    assert_ok(store_add_child(s, &child, fence));
    assert_int_equal(run_to_end("psql", takes_over), 0);
    assert_err(store_append(s, ID_A, 1, fence, &r, 1, NULL), ERR_STORAGE);
    assert_err(store_append(s, ID_B, 1, fence, &r, 1, NULL), ERR_STORAGE);
    assert_bodies(s, ID_A, "", .from = 1);
    assert_bodies(s, ID_B, "", .from = 1);
}

IN_TASK(a_row_that_was_changed_is_told_and_the_rest_is_read)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(store_page) struct store_page page = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    const char *changes[] = {"psql", "-q", "-c", "UPDATE keel_records SET turn = 7 WHERE seq = 2",
                             url,    NULL};

    for (uint64_t seq = 1; seq <= 3; seq++)
        append_one(s, ID_A, fence, seq, "notice", "{}");
    assert_int_equal(run_to_end("psql", changes), 0);
    assert_ok(store_read(s, ID_A, &(struct store_query){.from = 1}, &page));
    assert_true(page.n == 1 && page.has_more);
    store_page_done(&page);
    assert_err(store_read(s, ID_A, &(struct store_query){.from = 2}, &page), ERR_STORAGE);
    assert_int_equal(page.go_on_at, 3);
    assert_int_equal(page.damaged_at, 2);
    assert_bodies(s, ID_A, "3:{} ", .from = 3);
}

IN_TASK(the_last_record_that_was_changed_is_passed_over)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    const char *changes[] = {"psql", "-q", "-c", "UPDATE keel_records SET turn = 7 WHERE seq = 2",
                             url,    NULL};

    append_core(s, ID_A, fence, 1, "r", "run_begin", "{}");
    append_core(s, ID_A, fence, 2, "r", "run_end", "{}");
    assert_last(s, "0:: 0:: 2:run_end:{} ");
    assert_int_equal(run_to_end("psql", changes), 0);
    assert_last(s, "0:: 0:: 1:run_begin:{} ");
}

IN_TASK(a_text_that_it_cannot_keep_is_refused_and_harms_nobody_else)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r = record_of(1, "notice", "{}");

    r.body = S("{\"x\":\"\xff\"}");
    assert_err(store_append(s, ID_A, 1, fence, &r, 1, NULL), ERR_STORAGE);
    r.body = S("{\"x\":\"\0\"}");
    assert_err(store_append(s, ID_A, 1, fence, &r, 1, NULL), ERR_STORAGE);
    append_one(s, ID_A, fence, 1, "notice", "{\"n\":1}");
    assert_bodies(s, ID_A, "1:{\"n\":1} ", .from = 1);
}

IN_TASK(a_server_that_is_not_there_is_told_without_the_password)
{
    AUTO(store)
    struct store *s = store_postgres_new("postgresql://me:hush-hush@/x?host=/nowhere/at/all", NULL);
    AUTO(arena) struct arena a = {0};
    struct store_lease lease;
    struct err *e = store_open(s, ID_A, NULL, &a, &lease);

    assert_true(err_is(e, ERR_STORAGE));
    assert_non_null(strstr(e->text, "cannot connect to PostgreSQL"));
    assert_null(strstr(e->text, "hush-hush"));
    assert_non_null(err_find_hint(e));
    err_free(e);
}

/* --- a server that dies --- */

struct many {
    struct store *store;
    uint64_t fence, n_done, n_all;
};

static struct err *append_many(void *arg)
{
    struct many *m = arg;

    while (m->n_done < m->n_all) {
        struct store_record r = record_of(m->n_done + 1, "notice", "{}");

        TRY(store_append(m->store, ID_A, r.seq, m->fence, &r, 1, NULL));
        m->n_done++;
    }
    return NULL;
}

static struct err *kill_and_restart(void *arg)
{
    struct many *m = arg;

    while (m->n_done < 20)
        TRY(task_yield());
    kill_server();
    start_server();
    return NULL;
}

static void assert_all_there_once(struct store *s, uint64_t n)
{
    AUTO(store_page) struct store_page page = {0};

    assert_ok(store_read(s, ID_A, &(struct store_query){0}, &page));
    assert_int_equal(page.n, n);
    for (size_t i = 0; i < page.n; i++)
        assert_int_equal(page.records[i].seq, i + 1);
}

IN_TASK(a_server_that_dies_in_the_middle_loses_nothing_and_the_session_continues)
{
    AUTO(store) struct store *s = conformance_store();
    struct many m = {.store = s, .fence = open_new(s, ID_A, 5), .n_all = 40};
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "append", append_many, &m);
    group_spawn(&g, "kill", kill_and_restart, &m);
    assert_ok(group_end(&g));
    assert_all_there_once(s, 40);
}

static struct err *cut_connections(void *arg)
{
    struct many *m = arg;

    for (uint64_t at = 10; at < m->n_all; at += 10) {
        while (m->n_done < at)
            TRY(task_yield());
        run_sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'keel'");
    }
    return NULL;
}

IN_TASK(a_connection_that_is_lost_again_and_again_loses_no_lease)
{
    AUTO(store) struct store *s = conformance_store();
    struct many m = {.store = s, .fence = open_new(s, ID_A, 5), .n_all = 60};
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "append", append_many, &m);
    group_spawn(&g, "cut", cut_connections, &m);
    assert_ok(group_end(&g));
    assert_all_there_once(s, 60);
}

/* --- a server that says nothing --- */

static pid_t proxy;

/* The store that was made last, through a proxy. */
static struct store *through_proxy(uint64_t timeout_ms)
{
    char from[400], to[400], other[900], name[32];

    snprintf(name, sizeof name, "s%u", n_stores - 1);
    snprintf(from, sizeof from, "%s/.s.PGSQL.1", server_dir);
    snprintf(to, sizeof to, "%s/.s.PGSQL.5432", server_dir);
    proxy = proxy_start(from, to);
    snprintf(other, sizeof other, "postgresql:///%s?host=%s&port=1&user=keel", name, server_dir);
    return store_postgres_new(other, &(struct postgres_options){.timeout_ms = timeout_ms});
}

/* Server, time and setting are named. */
static void assert_given_up(struct err *take_error)
{
    AUTO(err) struct err *e = take_error;
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    assert_true(err_is(e, ERR_STORAGE));
    assert_non_null(strstr(text, server_dir));
    assert_non_null(strstr(text, "has not answered"));
    assert_non_null(strstr(err_find_hint(e), "sessions.storeTimeoutSeconds"));
}

IN_TASK(a_server_that_says_nothing_is_given_up_by_every_call)
{
    AUTO(store) struct store *direct = conformance_store();
    AUTO(store) struct store *s = through_proxy(300);
    AUTO(store_page) struct store_page page = {0};
    AUTO(arena) struct arena a = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r = record_of(1, "notice", "{}");
    char handle[SHA256_HEX_SIZE];
    struct store_lease lease;
    int64_t now_ms;

    assert_ok(store_now(s, &now_ms)); /* there is a connection for looks, too */
    proxy_silence(proxy);
    assert_given_up(store_append(s, ID_A, 1, fence, &r, 1, NULL));
    assert_given_up(store_read(s, ID_A, &(struct store_query){0}, &page));
    assert_given_up(store_open(s, ID_B, NULL, &a, &lease));
    assert_given_up(store_remove(s, ID_B));
    assert_given_up(blob_put(store_blobs(s, ID_A), S("{}"), handle));
    store_close(s, ID_A, fence);
    proxy_end(proxy);
}

IN_TASK(a_server_that_says_nothing_from_the_beginning_is_given_up)
{
    AUTO(store) struct store *direct = conformance_store();
    AUTO(store) struct store *s = through_proxy(300);
    AUTO(arena) struct arena a = {0};
    struct store_lease lease;

    proxy_silence(proxy);
    assert_given_up(store_open(s, ID_B, NULL, &a, &lease));
    proxy_end(proxy);
}

struct lonely {
    struct store *store;
    uint64_t fence;
    struct err *error;
    bool began;
};

static struct err *append_to_silence(void *arg)
{
    struct lonely *l = arg;
    struct store_record r = record_of(1, "notice", "{}");

    task_shield_begin();
    l->began = true;
    l->error = store_append(l->store, ID_A, 1, l->fence, &r, 1, NULL);
    task_shield_end();
    return NULL;
}

/* The time-out is longer than a test may take. */
IN_TASK(a_task_that_is_cancelled_waits_no_longer_for_a_silent_server)
{
    AUTO(store) struct store *direct = conformance_store();
    AUTO(store) struct store *s = through_proxy(600000);
    struct lonely l = {.store = s, .fence = open_new(s, ID_A, 5)};
    AUTO(store_page) struct store_page page = {0};
    struct group g;

    proxy_silence(proxy);
    group_begin(&g, 0, 0);
    group_spawn(&g, "append", append_to_silence, &l);
    while (!l.began)
        assert_ok(task_yield());
    group_cancel(&g);
    assert_ok(group_end(&g));
    assert_given_up(l.error);
    assert_given_up(store_read(s, ID_A, &(struct store_query){0}, &page)); /* at once */
    store_close(s, ID_A, l.fence);
    proxy_end(proxy);
}

static struct err *connect_to_silence(void *arg)
{
    struct lonely *l = arg;
    AUTO(arena) struct arena a = {0};
    struct store_lease lease;

    l->began = true;
    l->error = store_open(l->store, ID_B, NULL, &a, &lease);
    return NULL;
}

IN_TASK(a_task_that_is_cancelled_while_it_connects_waits_no_longer)
{
    AUTO(store) struct store *direct = conformance_store();
    AUTO(store) struct store *s = through_proxy(600000);
    struct lonely l = {.store = s};
    struct group g;

    proxy_silence(proxy);
    group_begin(&g, 0, 0);
    group_spawn(&g, "open", connect_to_silence, &l);
    while (!l.began)
        assert_ok(task_yield());
    group_cancel(&g);
    assert_ok(group_end(&g));
    assert_non_null(l.error);
    err_free(l.error);
    proxy_end(proxy);
}

/* What it had sent comes to the server after another one has the session. */
IN_TASK(a_holder_that_was_cut_off_writes_nothing_when_it_is_connected_again)
{
    AUTO(store) struct store *direct = conformance_store();
    AUTO(store) struct store *s = through_proxy(300);
    AUTO(arena) struct arena a = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r = record_of(1, "notice", "{\"by\":\"holder\"}");
    struct store_lease lease;

    assert_err(store_open(direct, ID_A, NULL, &a, &lease), ERR_STORAGE);
    proxy_silence(proxy);
    assert_given_up(store_append(s, ID_A, 1, fence, &r, 1, NULL));
    conformance_time_passes();
    assert_ok(store_open(direct, ID_A, NULL, &a, &lease));
    assert_int_equal(kill(proxy, SIGCONT), 0);
    assert_err(store_append(s, ID_A, 1, fence, &r, 1, NULL), ERR_STORAGE);
    store_free(TAKE(s));
    while (!is_true("(SELECT count(*) FROM pg_stat_activity WHERE application_name = 'keel'"
                    " AND datname = current_database()) <= 3"))
        assert_ok(task_yield());
    assert_bodies(direct, ID_A, "", .from = 1);
    append_one(direct, ID_A, lease.fence, 1, "notice", "{\"by\":\"other\"}");
    store_close(direct, ID_A, lease.fence);
    proxy_end(proxy);
}

/* It takes the same way as an interrupted connection, whatever had been sent. */
IN_TASK(a_server_that_answers_again_in_time_has_lost_nothing)
{
    AUTO(store) struct store *direct = conformance_store();
    AUTO(store) struct store *s = through_proxy(60000);
    struct many m = {.store = s, .fence = open_new(s, ID_A, 5), .n_all = 3};

    proxy_silence(proxy);
    assert_int_equal(kill(proxy, SIGCONT), 0);
    assert_ok(append_many(&m));
    assert_all_there_once(s, 3);
    store_close(s, ID_A, m.fence);
    proxy_end(proxy);
}

/* As root the test may stop what belongs to the server. */
static void signal_backends(int number)
{
    AUTO(arena) struct arena a = {0};
    const char *path = arena_format(&a, "%s/pids", server_dir).p;
    FILE *file;
    int pid;

    run_sql(arena_format(&a,
                         "COPY (SELECT pid FROM pg_stat_activity WHERE application_name = 'keel'"
                         " AND datname = current_database()) TO '%s'",
                         path)
                .p);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fscanf(file, "%d", &pid) == 1)
        assert_int_equal(kill(pid, number), 0);
    fclose(file);
}

IN_TASK(a_backend_that_is_stopped_is_given_up_and_the_session_continues_with_another)
{
    AUTO(store) struct store *maker = conformance_store();
    AUTO(store)
    struct store *s = store_postgres_new(url, &(struct postgres_options){.timeout_ms = 300});
    struct many m = {.store = s, .fence = open_new(s, ID_A, 5), .n_all = 3};

    signal_backends(SIGSTOP);
    assert_ok(append_many(&m));
    assert_all_there_once(s, 3);
    store_close(s, ID_A, m.fence);
    signal_backends(SIGCONT);
}

/* --- a database of another keel --- */

static void assert_version_is_refused(struct store **s, const char *version, const char *says)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf sql = {0};
    AUTO_FREE char *text = NULL;
    struct store_lease lease;
    struct err *e;

    strbuf_addf(&sql, "UPDATE keel_version SET version = %s", version);
    run_sql(strbuf_cstr(&sql));
    store_free(*s);
    *s = conformance_again();
    e = store_open(*s, ID_A, NULL, &a, &lease);
    assert_non_null(e);
    assert_int_equal(e->kind, ERR_STORAGE);
    text = err_message(e);
    assert_non_null(strstr(text, says));
    err_free(e);
    strbuf_clear(&sql);
    strbuf_addf(&sql, "(SELECT version FROM keel_version) = %s", version);
    assert_true(is_true(strbuf_cstr(&sql)));
}

IN_TASK(a_database_of_an_older_or_a_newer_keel_is_left_alone)
{
    AUTO(store) struct store *s = conformance_store();

    store_close(s, ID_A, open_new(s, ID_A, 5));
    assert_version_is_refused(&s, "1", "before the first release");
    assert_version_is_refused(&s, "2", "before the first release");
    assert_version_is_refused(&s, "5", "a newer keel");
}

static int end_server(void **state)
{
    kill(server, SIGQUIT);
    waitpid(server, NULL, 0);
    temp_dir_done(&dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_CONFORMS,
        STORE_SHARES,
        STORE_COLLECTS,
        STORE_HAS_TIMED_LEASES,
        UNIT(payloads_are_kept_in_the_database),
        UNIT(a_stale_owner_is_refused_by_the_database_itself),
        UNIT(a_row_that_was_changed_is_told_and_the_rest_is_read),
        UNIT(the_last_record_that_was_changed_is_passed_over),
        UNIT(a_text_that_it_cannot_keep_is_refused_and_harms_nobody_else),
        UNIT(a_server_that_is_not_there_is_told_without_the_password),
        UNIT(a_server_that_dies_in_the_middle_loses_nothing_and_the_session_continues),
        UNIT(a_connection_that_is_lost_again_and_again_loses_no_lease),
        UNIT(a_server_that_says_nothing_is_given_up_by_every_call),
        UNIT(a_server_that_says_nothing_from_the_beginning_is_given_up),
        UNIT(a_task_that_is_cancelled_waits_no_longer_for_a_silent_server),
        UNIT(a_task_that_is_cancelled_while_it_connects_waits_no_longer),
        UNIT(a_holder_that_was_cut_off_writes_nothing_when_it_is_connected_again),
        UNIT(a_server_that_answers_again_in_time_has_lost_nothing),
        UNIT(a_backend_that_is_stopped_is_given_up_and_the_session_continues_with_another),
        UNIT(a_database_of_an_older_or_a_newer_keel_is_left_alone),
    };

    if (!make_server()) {
        print_message("[ SKIPPED because there is no PostgreSQL server here ]\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, end_server);
}
