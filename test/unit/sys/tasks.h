/* tasks.h - what the tests of tasks share.
 *
 * A task has a stack of its own, where cmocka's asserts must not be used: they jump to the test's.
 * So tasks return errors, with EXPECT, and the test asserts that its loop's result is fine. */
#ifndef KEEL_TEST_UNIT_SYS_TASKS_H
#define KEEL_TEST_UNIT_SYS_TASKS_H

#include "sys/loop.h"
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Threads are dear: fewer of them stand for the same thing. */
#ifdef KEEL_TASK_THREADS
enum { N_MANY = 2000 };
#else
enum { N_MANY = 10000 };
#endif

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return err_new(ERR_INTERNAL, "%s:%d: not so: %s", __FILE__, __LINE__, #condition);     \
    } while (0)

/* Frees the error. */
#define EXPECT_ERR(e, wanted)                                                                      \
    do {                                                                                           \
        AUTO(err) struct err *got_ = (e);                                                          \
        if (!err_is(got_, wanted))                                                                 \
            return err_new(ERR_INTERNAL, "%s:%d: wanted %s, got %s", __FILE__, __LINE__,           \
                           err_code(wanted), got_ ? got_->text : "no error");                      \
    } while (0)

/* The whole message, causes too. Frees the error. */
#define EXPECT_TEXT(e, wanted)                                                                     \
    do {                                                                                           \
        AUTO(err) struct err *got_ = (e);                                                          \
        AUTO_FREE char *text_ = got_ ? err_message(got_) : NULL;                                   \
        if (!text_ || strcmp(text_, wanted) != 0)                                                  \
            return err_new(ERR_INTERNAL, "%s:%d: wanted \"%s\", got \"%s\"", __FILE__, __LINE__,   \
                           wanted, text_ ? text_ : "no error");                                    \
    } while (0)

/* On a virtual clock that starts at 0. */
static inline struct err *run_tasks(task_fn fn, void *arg)
{
    struct virtual_clock clock;
    AUTO(loop) struct loop *l = NULL;

    virtual_clock_init(&clock, 0);
    l = loop_new(&clock.clock);
    return loop_run(l, fn, arg);
}

/* Runs fn in a child process and returns what it wrote to stderr; the signal that ended it is in
 * *ret_signal, or 0. For promises whose breaking aborts. */
static inline struct strbuf run_in_child(void (*fn)(void), int *ret_signal)
{
    struct strbuf text = {0};
    int fds[2], status;
    ssize_t n;
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        close(fds[1]);
        fn();
        _exit(0);
    }
    close(fds[1]);
    do {
        n = read(fds[0], strbuf_reserve(&text, 4096), 4096);
        strbuf_grew(&text, n > 0 ? (size_t)n : 0);
    } while (n > 0);
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    *ret_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return text;
}

static inline void assert_aborts_(void (*fn)(void), const char *words, const char *file, int line)
{
    int signal;
    AUTO(strbuf) struct strbuf text = run_in_child(fn, &signal);

    if (signal != SIGABRT || !strstr(strbuf_cstr(&text), words)) {
        print_error("wanted an abort and \"%s\", got signal %d and \"%s\"\n", words, signal,
                    strbuf_cstr(&text));
        _fail(file, line);
    }
}
#define assert_aborts(fn, words) assert_aborts_((fn), (words), __FILE__, __LINE__)

/* For loop_post(): a second passes on the loop's virtual clock, whatever is under way outside. */
static inline void let_a_second_pass(void *arg)
{
    struct loop *l = arg;
    const struct clock *clock = loop_clock(l);

    clock->advance_to_ms(clock->self, loop_now_ms(l) + 1000);
}

static inline uint64_t now_ms(void)
{
    return loop_now_ms(task_loop());
}

#endif
