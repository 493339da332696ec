/* locked_file_test.c */
#include "base/arena.h"
#include "sys/locked_file.h"
#include "temp_dir.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *make(struct arena *a, const char *dir, const char *name)
{
    const char *path = arena_format(a, "%s/%s", dir, name).p;

    assert_int_equal(mknod(path, S_IFREG | 0600, 0), 0);
    return path;
}

/* Does this process hold a lock on the file? A child asks: its own locks are not in the way. */
static bool is_locked(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC), pipes[2];
    bool held = false;

    assert_true(fd >= 0 && pipe(pipes) == 0);
    if (fork() == 0) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

        held = fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
        _exit(write(pipes[1], &held, sizeof held) != sizeof held);
    }
    assert_int_equal(read(pipes[0], &held, sizeof held), sizeof held);
    close(pipes[0]);
    close(pipes[1]);
    return held; /* the descriptor stays open: closing it would be the accident */
}

TEST(a_file_that_somebody_has_locked_is_not_opened_again)
{
    AUTO(arena) struct arena a = {0};
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    const char *path = make(&a, dir.path, "db"), *other = make(&a, dir.path, "other");
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct locked_file *f = locked_file_new(path);
    int own = open(path, O_RDWR | O_CLOEXEC), fd;

    assert_int_equal(fcntl(own, F_SETLK, &whole), 0);
    assert_int_equal(locked_file_openat(AT_FDCWD, path, O_RDONLY), -1);
    assert_int_equal(errno, EBUSY);
    assert_int_equal(link(path, arena_format(&a, "%s/link", dir.path).p), 0);
    assert_int_equal(
        locked_file_openat(AT_FDCWD, arena_format(&a, "%s/link", dir.path).p, O_RDONLY), -1);
    fd = locked_file_openat(AT_FDCWD, other, O_RDONLY);
    assert_true(fd >= 0);
    close(fd);
    /* As after a race: the name meant another file when it was looked at. */
    assert_int_equal(locked_file_check(open(path, O_RDONLY | O_CLOEXEC)), -1);
    assert_int_equal(errno, EBUSY);
    assert_true(is_locked(path));
    fd = locked_file_openat(AT_FDCWD, path, O_PATH);
    assert_true(fd >= 0);
    close(fd);
    assert_true(is_locked(path));
    locked_file_free(f);
}

TEST(it_may_be_opened_when_the_last_user_is_gone)
{
    AUTO(arena) struct arena a = {0};
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    const char *path = make(&a, dir.path, "db");
    struct locked_file *first = locked_file_new(path), *second = locked_file_new(path);
    int fd;

    locked_file_free(first);
    assert_true(locked_file_is_at(AT_FDCWD, path, O_RDONLY));
    locked_file_free(second);
    fd = locked_file_openat(AT_FDCWD, path, O_RDONLY);
    assert_true(fd >= 0);
    close(fd);
}

TEST(what_is_not_there_needs_no_guard)
{
    assert_null(locked_file_new("/nonexistent/file"));
    locked_file_free(NULL);
}

RUN_TESTS(UNIT(a_file_that_somebody_has_locked_is_not_opened_again),
          UNIT(it_may_be_opened_when_the_last_user_is_gone), UNIT(what_is_not_there_needs_no_guard))
