/* draft_test.c - what a killed process has begun is removed by a later one, and nothing else. */
#include "files.h"
#include "port/draft.h"
#include "store/files.h"
#include "sys/loop.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define ID_WHOLE S("0190a000-0000-7000-8000-00000000000a")
#define ID_FIRST S("0190a000-0000-7000-8000-00000000000b")
#define ID_SECOND S("0190a000-0000-7000-8000-00000000000c")
#define N_DRAFTS 300

/* The store of a test, as each of its processes opens it. */
static struct store *store_in(const struct temp_dir *d)
{
    struct store *s = store_files_new(temp_path(d, "sessions"));

    drafts_keep_in(s, d->path, S("place"));
    return s;
}

static struct err *make_session(struct store *s, struct str id, int64_t created_ms)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary create = {.id = id, .created_ms = created_ms, .updated_ms = created_ms};
    struct store_lease lease;

    TRY(store_open(s, id, &create, &a, &lease));
    store_close(s, id, lease.fence);
    return NULL;
}

static bool has_session(struct store *s, struct str id)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary found;
    bool is_there;

    assert_ok(store_find(s, id, &a, &found, &is_there));
    return is_there;
}

static size_t n_notes(const struct temp_dir *d)
{
    return count_entries(temp_path(d, "unfinished"));
}

/* --- another process --- */

struct peer {
    struct temp_dir dir;
    int ready[2]; /* closed, without a byte, when it has failed */
    pid_t pid, parent;
};

static void peer_is_ready(struct peer *p)
{
    if (write(p->ready[1], "", 1) != 1)
        _exit(1);
}

static void peer_kill(struct peer *p)
{
    int status;

    kill(p->pid, SIGKILL);
    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    assert_true(WIFSIGNALED(status)); /* it did not end by itself */
}

/* Runs `fn` in a process of its own, and `test` in a task once that is ready. */
static void with_peer(task_fn fn, task_fn test)
{
    struct peer p = {.dir = temp_dir_make(), .parent = getpid()};
    char byte;

    assert_int_equal(pipe(p.ready), 0);
    p.pid = fork();
    if (p.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(p.ready[0]);
        err_ignore(loop_run_once(fn, &p), "the parent waits for the byte");
        _exit(1);
    }
    assert_true(p.pid > 0);
    close(p.ready[1]);
    assert_int_equal(read(p.ready[0], &byte, 1), 1);
    close(p.ready[0]);
    assert_ok(loop_run_once(test, &p));
    temp_dir_done(&p.dir);
}

static struct err *peer_sweep(void *arg)
{
    struct peer *p = arg;
    AUTO(store) struct store *s = store_in(&p->dir);

    drafts_sweep(s);
    peer_is_ready(p);
    while (getppid() == p->parent)
        drafts_sweep(s);
    return NULL;
}

/* A session, and a draft of two. With another time than 6 the second one is another's. */
static struct err *peer_make(struct peer *p, int64_t second_ms)
{
    AUTO(store) struct store *s = store_in(&p->dir);
    AUTO(draft) struct draft d = DRAFT_NONE;

    TRY(make_session(s, ID_WHOLE, 4));
    TRY(draft_begin(&d, s, ID_FIRST, 5));
    TRY(make_session(s, ID_FIRST, 5));
    draft_add(&d, ID_SECOND, 6);
    TRY(make_session(s, ID_SECOND, second_ms));
    peer_is_ready(p);
    pause();
    return NULL;
}

static struct err *peer_make_two(void *arg)
{
    return peer_make(arg, 6);
}

static struct err *peer_make_one(void *arg)
{
    return peer_make(arg, 7);
}

/* --- what is promised --- */

static struct err *make_drafts(void *arg)
{
    struct peer *p = arg;
    AUTO(store) struct store *s = store_in(&p->dir);
    AUTO(arena) struct arena a = {0};

    for (unsigned i = 0; i < N_DRAFTS; i++) {
        AUTO(draft) struct draft d = DRAFT_NONE;

        /* Every other one again with the id of the one before. */
        TRY(draft_begin(&d, s, arena_format(&a, "draft-%u", i / 2), 5));
        assert_true(d.fd >= 0);
        assert_int_equal(access(d.path, F_OK), 0);
        draft_end(&d);
    }
    peer_kill(p);
    assert_int_equal(n_notes(&p->dir), 0);
    return NULL;
}

TEST(drafts_are_made_while_another_process_sweeps)
{
    with_peer(peer_sweep, make_drafts);
}

static struct err *sweep_dead(void *arg)
{
    struct peer *p = arg;
    AUTO(store) struct store *s = store_in(&p->dir);

    peer_kill(p);
    assert_true(has_session(s, ID_FIRST));
    assert_true(has_session(s, ID_SECOND));
    drafts_sweep(s);
    assert_false(has_session(s, ID_FIRST));
    assert_false(has_session(s, ID_SECOND));
    assert_true(has_session(s, ID_WHOLE));
    assert_int_equal(n_notes(&p->dir), 0);
    return NULL;
}

TEST(the_sessions_of_a_killed_process_are_removed)
{
    with_peer(peer_make_two, sweep_dead);
}

static struct err *sweep_living(void *arg)
{
    struct peer *p = arg;
    AUTO(store) struct store *s = store_in(&p->dir);
    AUTO(draft) struct draft d = DRAFT_NONE;

    drafts_sweep(s);
    assert_true(has_session(s, ID_FIRST));
    assert_true(has_session(s, ID_SECOND));
    assert_int_equal(n_notes(&p->dir), 1);
    assert_err(draft_begin(&d, s, ID_FIRST, 9), ERR_STORAGE);
    peer_kill(p);
    return NULL;
}

TEST(the_sessions_of_a_process_that_lives_stay)
{
    with_peer(peer_make_two, sweep_living);
}

static struct err *sweep_anothers(void *arg)
{
    struct peer *p = arg;
    AUTO(store) struct store *s = store_in(&p->dir);

    peer_kill(p);
    drafts_sweep(s);
    assert_false(has_session(s, ID_FIRST));
    assert_true(has_session(s, ID_SECOND));
    return NULL;
}

TEST(a_session_with_another_time_stays)
{
    with_peer(peer_make_one, sweep_anothers);
}

static struct err *sweep_elsewhere(void *arg)
{
    struct peer *p = arg;
    AUTO(store) struct store *s = store_in(&p->dir);

    peer_kill(p);
    drafts_keep_in(s, p->dir.path, S("another place"));
    drafts_sweep(s);
    assert_true(has_session(s, ID_FIRST));
    assert_int_equal(n_notes(&p->dir), 1);
    return NULL;
}

TEST(drafts_of_another_store_stay)
{
    with_peer(peer_make_two, sweep_elsewhere);
}

RUN_TESTS(UNIT(drafts_are_made_while_another_process_sweeps),
          UNIT(the_sessions_of_a_killed_process_are_removed),
          UNIT(the_sessions_of_a_process_that_lives_stay), UNIT(a_session_with_another_time_stays),
          UNIT(drafts_of_another_store_stay))
