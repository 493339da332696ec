/* postgres_renew.c - a thread that renews the leases of a store.
 *
 * It is not a task: a loop that computes for long must not lose its sessions. It has a connection
 * of its own, so it does not wait for long answers on another. A process that is stopped stops it,
 * too: that is the purpose of a lease. */
#include "store/postgres_store.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define N_RENEWALS 3 /* during one lease */

static size_t copy_leases(struct postgres_store *p, struct arena *a, struct str **ret_ids,
                          uint64_t **ret_fences)
{
    size_t n = 0, i = 0;

    pthread_mutex_lock(&p->renewer.lock);
    for (const struct postgres_lease *l = p->leases; l; l = l->next)
        n++;
    *ret_ids = ARENA_ARRAY(a, n, struct str);
    *ret_fences = ARENA_ARRAY(a, n, uint64_t);
    for (const struct postgres_lease *l = p->leases; l; l = l->next, i++) {
        (*ret_ids)[i] = arena_str(a, str_of(l->id));
        (*ret_fences)[i] = l->fence;
    }
    pthread_mutex_unlock(&p->renewer.lock);
    return n;
}

static bool renew_all(struct postgres_store *p, struct postgres_conn *c)
{
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = NULL;
    uint64_t *fences;
    struct str *ids;
    size_t n = copy_leases(p, &a, &ids, &fences);

    if (n)
        e = postgres_renew(c, p->owner, p->lease_ms, ids, fences, n);
    return !e; /* the next append reports what is lost */
}

static bool is_stopped(int stop_fd, uint64_t wait_ms)
{
    struct pollfd p = {.fd = stop_fd, .events = POLLIN};

    return poll(&p, 1, (int)wait_ms) > 0;
}

static void *renew_in_thread(void *arg)
{
    struct postgres_store *p = arg;
    uint64_t pause_ms = p->lease_ms / N_RENEWALS;
    struct postgres_server server;
    struct postgres_conn c;
    bool is_done = true;

    /* If the server is silent on this connection, another one is tried while there is time. */
    postgres_server_init(&server, p->server.url, MAX(pause_ms, (uint64_t)1));
    postgres_conn_init(&c, &server);
    c.stop_fd = p->renewer.stop_fd;
    while (!is_stopped(c.stop_fd, is_done ? pause_ms : pause_ms / 4)) {
        atomic_store(&server.silent_until_ms, 0);
        is_done = renew_all(p, &c);
    }
    postgres_conn_done(&c);
    postgres_server_done(&server);
    return NULL;
}

struct err *postgres_start_renewing(struct postgres_store *p)
{
    struct postgres_renewer *r = &p->renewer;
    sigset_t all, before;
    int error;

    if (r->is_running)
        return NULL;
    r->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (r->stop_fd < 0)
        return err_errno(ERR_STORAGE, errno, "cannot renew leases in PostgreSQL");
    sigfillset(&all); /* signals are for the loop's thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&r->thread, NULL, renew_in_thread, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    r->is_running = !error;
    if (!error)
        return NULL;
    close(r->stop_fd);
    return err_errno(ERR_STORAGE, error, "cannot renew leases in PostgreSQL");
}

void postgres_stop_renewing(struct postgres_store *p)
{
    struct postgres_renewer *r = &p->renewer;

    if (!r->is_running)
        return;
    eventfd_write(r->stop_fd, 1);
    pthread_join(r->thread, NULL); /* it waits only for the server and for this */
    close(r->stop_fd);
    r->is_running = false;
}
