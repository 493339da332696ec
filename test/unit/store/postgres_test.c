/* postgres_test.c - against a server of its own: a socket in a temporary directory, no TCP. */
#include "files.h"
#include "port/blob_conformance.h"
#include "store/shared_conformance.h"

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

static struct store *conformance_reopen(struct store *take_store)
{
    store_free(take_store);
    conformance_time_passes();
    return store_postgres_new(url, NULL);
}

/* --- what only this store does --- */

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
    uint64_t fence, n_done;
    struct err *error;
};

static struct err *append_until_it_fails(void *arg)
{
    struct many *m = arg;

    while (!m->error) {
        struct store_record r = record_of(m->n_done + 1, "notice", "{}");

        m->error = store_append(m->store, ID_A, r.seq, m->fence, &r, 1, NULL);
        m->n_done += !m->error;
    }
    return NULL;
}

static struct err *kill_and_restart(void *arg)
{
    struct many *m = arg;

    while (m->n_done < 20 && !m->error)
        TRY(task_yield());
    kill_server();
    start_server();
    return NULL;
}

IN_TASK(a_server_that_dies_in_the_middle_loses_nothing_that_was_acknowledged)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(store_page) struct store_page page = {0};
    AUTO(arena) struct arena a = {0};
    struct many m = {.store = s, .fence = open_new(s, ID_A, 5)};
    struct store_record r;
    struct store_lease lease;
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "append", append_until_it_fails, &m);
    group_spawn(&g, "kill", kill_and_restart, &m);
    assert_ok(group_end(&g));
    assert_true(err_is(m.error, ERR_STORAGE));
    assert_non_null(err_find_hint(m.error));
    err_free(m.error);

    /* What was told to have failed is not there; what was acknowledged is. */
    assert_ok(store_read(s, ID_A, &(struct store_query){0}, &page));
    assert_int_equal(page.n, m.n_done);

    /* The lease went with the connection; a new one works. */
    r = record_of(m.n_done + 1, "notice", "{}");
    assert_err(store_append(s, ID_A, r.seq, m.fence, &r, 1, NULL), ERR_STORAGE);
    assert_ok(store_open(s, ID_A, NULL, &a, &lease));
    assert_int_equal(lease.next_seq, m.n_done + 1);
    assert_ok(store_append(s, ID_A, r.seq, lease.fence, &r, 1, NULL));
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
        UNIT(payloads_are_kept_in_the_database),
        UNIT(a_stale_owner_is_refused_by_the_database_itself),
        UNIT(a_text_that_it_cannot_keep_is_refused_and_harms_nobody_else),
        UNIT(a_server_that_is_not_there_is_told_without_the_password),
        UNIT(a_server_that_dies_in_the_middle_loses_nothing_that_was_acknowledged),
    };

    if (!make_server()) {
        print_message("[ SKIPPED because there is no PostgreSQL server here ]\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, end_server);
}
