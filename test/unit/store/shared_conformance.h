/* shared_conformance.h - what a store must do that several processes use at once. Adapters' tests
 * list STORE_SHARES and define conformance_again(): the store that was made last, once more; and
 * conformance_time_passes(): as much as a lease lasts that its holder no longer renews. Where
 * leases are bound to their process it does nothing. */
#ifndef KEEL_TEST_UNIT_STORE_SHARED_CONFORMANCE_H
#define KEEL_TEST_UNIT_STORE_SHARED_CONFORMANCE_H

#include "port/store_conformance.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

static struct store *conformance_again(void);
static void conformance_time_passes(void);

/* Runs it in a process of its own; failures are printed there. */
static inline pid_t start_process(task_fn fn, void *arg)
{
    pid_t pid = fork();

    if (pid == 0) {
        struct err *e = loop_run_once(fn, arg);

        if (e)
            fprintf(stderr, "process %ld: %s\n", (long)getpid(), e->text);
        _exit(e ? 1 : 0);
    }
    assert_true(pid > 0);
    return pid;
}

static inline void assert_ends_well(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* --- eight writers --- */

#define N_WRITERS 8
#define N_SESSIONS_EACH 3
#define N_RECORDS_EACH 20

static inline struct str writers_id(struct arena *a, unsigned writer, unsigned i)
{
    return arena_format(a, "writer-%u-%u", writer, i);
}

static inline struct err *write_sessions(void *arg)
{
    unsigned number = *(unsigned *)arg;
    AUTO(store) struct store *s = conformance_again();
    AUTO(arena) struct arena a = {0};

    for (unsigned i = 0; i < N_SESSIONS_EACH; i++) {
        struct str id = writers_id(&a, number, i);
        struct store_summary create = summary_of(id, 5);
        struct store_lease lease;

        TRY(store_open(s, id, &create, &a, &lease));
        for (uint64_t seq = 1; seq <= N_RECORDS_EACH; seq++) {
            struct store_record r = record_of(seq, "notice", "{\"x\":\"some text\"}");

            TRY(store_append(s, id, seq, lease.fence, &r, 1, NULL));
        }
        store_close(s, id, lease.fence);
    }
    return NULL;
}

static inline struct err *check_sessions(void *arg)
{
    AUTO(store) struct store *s = conformance_again();
    AUTO(arena) struct arena a = {0};
    struct store_summary *items;
    size_t n;

    assert_ok(store_list(s, &(struct store_list_query){0}, &a, &items, &n));
    assert_int_equal(n, N_WRITERS * N_SESSIONS_EACH);
    for (size_t i = 0; i < n; i++) {
        AUTO(store_page) struct store_page page = {0};

        assert_int_equal(items[i].next_seq, N_RECORDS_EACH + 1);
        assert_false(items[i].is_open);
        assert_ok(store_read(s, items[i].id, &(struct store_query){0}, &page));
        assert_int_equal(page.n, N_RECORDS_EACH);
    }
    return NULL;
}

TEST(eight_processes_write_at_once_and_lose_nothing)
{
    unsigned numbers[N_WRITERS];
    pid_t children[N_WRITERS];

    store_free(conformance_store());
    for (unsigned i = 0; i < N_WRITERS; i++) {
        numbers[i] = i;
        children[i] = start_process(write_sessions, &numbers[i]);
    }
    for (size_t i = 0; i < N_WRITERS; i++)
        assert_ends_well(children[i]);
    assert_ok(loop_run_once(check_sessions, NULL));
}

/* --- a lease and its end --- */

struct holder {
    int tell; /* a pipe: the pid of a child that it has started */
};

/* Opens the session, starts a program and does nothing more. */
static inline struct err *hold_lease(void *arg)
{
    const struct holder *h = arg;
    const char *const argv[] = {"sleep", "1000", NULL};
    AUTO(store) struct store *s = conformance_again();
    AUTO(arena) struct arena a = {0};
    struct store_summary create = summary_of(ID_A, 5);
    struct store_record r = record_of(1, "notice", "{\"n\":1}");
    struct store_lease lease;
    pid_t child;

    TRY(store_open(s, ID_A, &create, &a, &lease));
    TRY(store_append(s, ID_A, 1, lease.fence, &r, 1, NULL));
    if (posix_spawnp(&child, argv[0], NULL, NULL, (char *const *)argv, environ) != 0)
        return err_new(ERR_INTERNAL, "cannot start sleep");
    if (write(h->tell, &child, sizeof child) != sizeof child)
        return err_new(ERR_INTERNAL, "cannot tell");
    for (;;)
        pause();
}

static inline struct err *take_over(void *arg)
{
    const pid_t *pids = arg; /* the holder, its child */
    AUTO(store) struct store *s = conformance_again();
    AUTO(arena) struct arena a = {0};
    struct store_lease lease;
    struct err *e = store_open(s, ID_A, NULL, &a, &lease);

    assert_true(err_is(e, ERR_STORAGE));
    assert_non_null(strstr(err_find_hint(e), "--fork-session"));
    err_free(e);
    assert_err(store_remove(s, ID_A), ERR_STORAGE);
    assert_int_equal(kill(pids[0], SIGKILL), 0);
    assert_int_equal(waitpid(pids[0], NULL, 0), pids[0]);
    assert_int_equal(kill(pids[1], 0), 0); /* still lives */
    conformance_time_passes();
    assert_ok(store_open(s, ID_A, NULL, &a, &lease));
    assert_int_equal(lease.next_seq, 2);
    append_one(s, ID_A, lease.fence, 2, "notice", "{\"n\":2}");
    assert_bodies(s, ID_A, "1:{\"n\":1} 2:{\"n\":2} ", .from = 1);
    store_close(s, ID_A, lease.fence);
    return NULL;
}

TEST(the_lease_of_a_killed_process_is_free_even_if_its_children_live)
{
    struct holder h;
    int ends[2];
    pid_t pids[2];

    store_free(conformance_store());
    assert_int_equal(pipe(ends), 0);
    h.tell = ends[1];
    pids[0] = start_process(hold_lease, &h);
    assert_int_equal(read(ends[0], &pids[1], sizeof pids[1]), sizeof pids[1]);
    assert_ok(loop_run_once(take_over, pids));
    kill(pids[1], SIGKILL);
    close(ends[0]);
    close(ends[1]);
}

#define STORE_SHARES                                                                               \
    UNIT(eight_processes_write_at_once_and_lose_nothing),                                          \
        UNIT(the_lease_of_a_killed_process_is_free_even_if_its_children_live)

#endif
