/* dir_prefetch.c - reads many directories with several threads: for the first look at a large tree,
 * which the kernel makes expensive. It changes nothing. */
#include "sys/dir_watch_internal.h"

#include "sys/open_below.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MAX_THREADS = 4,
    MAX_BYTES = 256 << 10, /* of one directory */
};

struct prefetching {
    const struct dir_watch *watch;
    struct dir_prefetch *items;
    size_t n;
    size_t next; /* atomic */
};

/* False: it must be read in the usual way. */
static bool read_whole(int fd, struct dir_prefetch *p, char *buffer)
{
    ssize_t n;

    while ((n = syscall(SYS_getdents64, fd, buffer, DIR_BUFFER_BYTES)) > 0) {
        if (p->n + (size_t)n > MAX_BYTES)
            return false;
        p->bytes = mem_resize(p->bytes, p->n + (size_t)n);
        memcpy(p->bytes + p->n, buffer, (size_t)n);
        p->n += (size_t)n;
    }
    return n == 0;
}

static void prefetch_one(const struct dir_watch *w, struct dir_prefetch *p, char *buffer)
{
    int fd = open_below(w->root_fd, p->path, O_RDONLY | O_DIRECTORY);

    if (fd < 0)
        return;
    p->is_whole = fstat(fd, &p->st) == 0 && dir_may_search(&p->st) && read_whole(fd, p, buffer);
    close(fd);
}

static void *prefetch_run(void *arg)
{
    struct prefetching *all = arg;
    AUTO_FREE char *buffer = mem_alloc(DIR_BUFFER_BYTES);
    size_t at;

    while ((at = __atomic_fetch_add(&all->next, 1, __ATOMIC_RELAXED)) < all->n)
        prefetch_one(all->watch, &all->items[at], buffer);
    return NULL;
}

void dir_prefetch(const struct dir_watch *w, struct dir_prefetch *items, size_t n)
{
    struct prefetching all = {w, items, n, 0};
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[MAX_THREADS];
    int n_threads = 0;
    sigset_t none, before;

    sigfillset(&none);
    pthread_sigmask(SIG_SETMASK, &none, &before);
    while (n_threads < MIN(n_cpus, MAX_THREADS) - 1 &&
           pthread_create(&threads[n_threads], NULL, prefetch_run, &all) == 0)
        n_threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    prefetch_run(&all);
    while (n_threads > 0)
        pthread_join(threads[--n_threads], NULL);
}
