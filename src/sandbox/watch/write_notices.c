/* write_notices.c - a thread for each command, between the kernel and the observer. */
#include "sandbox/watch/write_notices.h"

#include "sandbox/watch/held_call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS /* Linux 6.6 */
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

/* A thread that waits for a file system longer than that is left to itself. */
enum { MAX_WAIT_S = 2 };

struct notice_thread {
    struct notice_thread *next;
    pthread_t thread;
    int listener, stop;
    struct write_roots roots;
    struct held_call call;
    bool has_missed;
    pthread_mutex_t reporting;       /* held from the last look whether a call is still there */
    struct write_observer *observer; /* for who holds it; NULL: nothing is reported any more */
    atomic_uint n_refs;              /* the thread's and the list's */
};

struct write_notices {
    pthread_mutex_t lock; /* for the list */
    struct notice_thread *threads;
    int stop; /* readable: all threads shall end */
};

static void thread_unref(struct notice_thread *t)
{
    if (atomic_fetch_sub(&t->n_refs, 1) != 1)
        return;
    write_roots_done(&t->roots);
    write_observer_unref(t->observer);
    pthread_mutex_destroy(&t->reporting);
    if (t->listener >= 0)
        close(t->listener);
    if (t->stop >= 0)
        close(t->stop);
    mem_free(t);
}

/* --- one call --- */

static void tell_missed(struct notice_thread *t, int error)
{
    if (t->has_missed)
        return;
    t->has_missed = true;
    t->observer->missed(
        t->observer, error == EPERM ? "a program of the command does not let keel see its changes"
                     : error == EOVERFLOW ? "the command changes files whose paths are too long"
                                          : "keel could not follow the command's changes");
}

/* The pid and the memory behind it may have become another process's while keel looked. Once it is
 * known that the call still waits, its process cannot go away unnoticed. */
static bool is_waiting(const struct notice_thread *t, uint64_t id)
{
    return ioctl(t->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

static void report(struct notice_thread *t, enum held_call_answer answer, uint64_t id)
{
    pthread_mutex_lock(&t->reporting);
    if (t->observer && is_waiting(t, id)) {
        if (answer == HELD_CALL_REPORT)
            t->observer->about_to(t->observer, &t->call.notice);
        else
            tell_missed(t, t->call.error);
    }
    pthread_mutex_unlock(&t->reporting);
}

/* There may be none any more: signals and other threads of its process end what waits. */
static void serve_call(struct notice_thread *t)
{
    struct seccomp_notif call = {0};
    struct seccomp_notif_resp response = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    enum held_call_answer answer;

    if (ioctl(t->listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
        return;
    answer = held_call_read(&t->call, &call);
    if (answer == HELD_CALL_REPORT || answer == HELD_CALL_MISSED)
        report(t, answer, call.id);
    response.id = call.id;
    if (answer == HELD_CALL_FAULT) {
        response.flags = 0;
        response.error = -EFAULT;
    }
    ioctl(t->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* --- threads --- */

/* Until the last process of the command is gone. */
static void *notice_thread_run(void *arg)
{
    struct notice_thread *t = arg;

    for (;;) {
        struct pollfd fds[] = {{t->listener, POLLIN, 0}, {t->stop, POLLIN, 0}};

        int n = poll(fds, ARRAY_LEN(fds), -1);

        if (n > 0 && (fds[1].revents || !(fds[0].revents & POLLIN)))
            break;
        serve_call(t); /* waits by itself where poll() cannot */
    }
    thread_unref(t);
    return NULL;
}

static bool has_ended(const struct notice_thread *t)
{
    struct pollfd fd = {t->listener, 0, 0};

    return poll(&fd, 1, 0) > 0 && fd.revents & POLLHUP;
}

static int start_thread(struct notice_thread *t)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&t->thread, NULL, notice_thread_run, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Gives the observer back; the thread, which may still be on its way, needs none. */
static void release_observer(struct notice_thread *t)
{
    struct write_observer *observer;

    pthread_mutex_lock(&t->reporting);
    observer = TAKE(t->observer);
    pthread_mutex_unlock(&t->reporting);
    write_observer_unref(observer);
}

static void end_thread(struct notice_thread *t)
{
    struct timespec limit;

    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += MAX_WAIT_S;
    if (pthread_timedjoin_np(t->thread, NULL, &limit) != 0)
        pthread_detach(t->thread);
    thread_unref(t);
}

/* --- the set --- */

struct write_notices *write_notices_new(void)
{
    struct write_notices *n = mem_alloc(sizeof *n);

    pthread_mutex_init(&n->lock, NULL);
    n->stop = -1;
    return n;
}

void write_notices_free(struct write_notices *n)
{
    struct notice_thread *next;

    if (!n)
        return;
    if (n->stop >= 0)
        (void)!write(n->stop, &(uint64_t){1}, sizeof(uint64_t));
    for (struct notice_thread *t = n->threads; t; t = next) {
        next = t->next;
        end_thread(t);
    }
    if (n->stop >= 0)
        close(n->stop);
    pthread_mutex_destroy(&n->lock);
    mem_free(n);
}

/* Takes those out that have ended, as a list. */
static struct notice_thread *take_ended(struct write_notices *n)
{
    struct notice_thread *ended = NULL, *t;

    for (struct notice_thread **at = &n->threads; (t = *at);)
        if (has_ended(t)) {
            *at = t->next;
            t->next = ended;
            ended = t;
        } else {
            at = &t->next;
        }
    return ended;
}

struct err *write_notices_add(struct write_notices *n, int take_listener,
                              struct write_observer *observer,
                              const struct write_notices_scope *scope)
{
    struct notice_thread *t = mem_alloc(sizeof *t);
    int error = 0;

    /* A call for one processor instead of two, where the kernel can do that. */
    ioctl(take_listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
    *t = (struct notice_thread){.listener = take_listener, .n_refs = 2};
    t->observer = write_observer_ref(observer);
    t->call.roots = &t->roots;
    t->call.is_blind = !command_path_can_look();
    pthread_mutex_init(&t->reporting, NULL);
    write_roots_init(&t->roots, scope->roots, scope->n_roots, scope->scratch);
    pthread_mutex_lock(&n->lock);
    if (n->stop < 0)
        n->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->stop = n->stop < 0 ? -1 : fcntl(n->stop, F_DUPFD_CLOEXEC, 0);
    error = t->stop < 0 ? errno : start_thread(t);
    if (!error) {
        t->next = n->threads;
        n->threads = t;
    }
    pthread_mutex_unlock(&n->lock);
    if (!error)
        return NULL;
    t->n_refs = 1;
    thread_unref(t);
    return err_errno(ERR_SANDBOX, error, "cannot follow a command's changes");
}

bool write_notices_are_settled(struct write_notices *n)
{
    bool is_settled = true;

    pthread_mutex_lock(&n->lock);
    for (struct notice_thread *t = n->threads; t && is_settled; t = t->next)
        if (has_ended(t)) {
            is_settled = pthread_mutex_trylock(&t->reporting) == 0;
            if (is_settled)
                pthread_mutex_unlock(&t->reporting);
        }
    pthread_mutex_unlock(&n->lock);
    return is_settled;
}

void write_notices_settle(struct write_notices *n)
{
    struct notice_thread *ended, *next;

    pthread_mutex_lock(&n->lock);
    ended = take_ended(n);
    pthread_mutex_unlock(&n->lock);
    for (; ended; ended = next) {
        next = ended->next;
        release_observer(ended);
        pthread_detach(ended->thread);
        thread_unref(ended);
    }
}
