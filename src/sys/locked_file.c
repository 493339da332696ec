/* locked_file.c - a short list of files, checked before another file is opened. */
#include "sys/locked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

struct locked_file {
    dev_t device;
    ino_t inode;
    unsigned n_users;
    int *parked; /* opened in a race: closing them would drop the locks */
    size_t n_parked;
    struct locked_file *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct locked_file *files; /* guarded by the mutex */
static atomic_uint n_files;       /* most processes have none, and must not pay for them */

static struct locked_file *find(const struct stat *st)
{
    struct locked_file *f = files;

    while (f && (f->device != st->st_dev || f->inode != st->st_ino))
        f = f->next;
    return f;
}

struct locked_file *locked_file_new(const char *path)
{
    struct locked_file *f;
    struct stat st;

    if (stat(path, &st) < 0)
        return NULL;
    pthread_mutex_lock(&mutex);
    f = find(&st);
    if (!f) {
        f = mem_alloc(sizeof *f);
        *f = (struct locked_file){.device = st.st_dev, .inode = st.st_ino, .next = files};
        files = f;
        n_files++;
    }
    f->n_users++;
    pthread_mutex_unlock(&mutex);
    return f;
}

static void forget(struct locked_file *f)
{
    struct locked_file **at = &files;

    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    n_files--;
    for (size_t i = 0; i < f->n_parked; i++)
        close(f->parked[i]);
    mem_free(f->parked);
    mem_free(f);
}

void locked_file_free(struct locked_file *f)
{
    if (!f)
        return;
    pthread_mutex_lock(&mutex);
    if (--f->n_users == 0)
        forget(f);
    pthread_mutex_unlock(&mutex);
}

bool locked_file_is_at(int dir_fd, const char *name, int flags)
{
    struct stat st;
    bool is_locked;

    if (!n_files || (flags & O_PATH) ||
        fstatat(dir_fd, name, &st, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0) < 0)
        return false;
    pthread_mutex_lock(&mutex);
    is_locked = find(&st) != NULL;
    pthread_mutex_unlock(&mutex);
    return is_locked;
}

int locked_file_check(int take_fd)
{
    struct locked_file *f;
    struct stat st;

    if (!n_files || take_fd < 0 || fstat(take_fd, &st) < 0)
        return take_fd;
    pthread_mutex_lock(&mutex);
    f = find(&st);
    if (f && !(fcntl(take_fd, F_GETFL) & O_PATH)) {
        f->parked = mem_resize(f->parked, (f->n_parked + 1) * sizeof *f->parked);
        f->parked[f->n_parked++] = take_fd;
        take_fd = -1;
    }
    pthread_mutex_unlock(&mutex);
    if (take_fd < 0)
        errno = EBUSY;
    return take_fd;
}

int locked_file_openat(int dir_fd, const char *name, int flags)
{
    if (locked_file_is_at(dir_fd, name, flags)) {
        errno = EBUSY;
        return -1;
    }
    return locked_file_check(openat(dir_fd, name, flags));
}
