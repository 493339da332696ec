/* writes.c - a command that changes files in ways that no shell has: writes WHAT [ARG].
 *
 * It runs in the workspace of a box and ends with 0 when all went as it must, watched or not. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: not so: %s (%s)\n", __LINE__, #condition, strerror(errno));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { NEW = O_WRONLY | O_CREAT };

static void make(int dir, const char *path, int flags)
{
    int fd = openat(dir, path, flags, 0644);

    CHECK(fd >= 0);
    close(fd);
}

/* --- every way to say it --- */

static void from_directories(void)
{
    int d = (mkdirat(AT_FDCWD, "d", 0755), open("d", O_RDONLY | O_DIRECTORY)), fd;

    CHECK(d >= 0);
    make(d, "x", NEW);
    make(d, "../y", NEW);
    CHECK(mkdirat(d, "e/", 0755) == 0);
    CHECK(syscall(SYS_renameat2, d, "x", AT_FDCWD, "y", RENAME_EXCHANGE) == 0);
    CHECK(renameat(d, "x", d, "e/z") == 0);
    CHECK(symlinkat("z", d, "e/soft") == 0);
    make(d, "e/soft", O_WRONLY);
    CHECK(openat(d, "e/soft", O_WRONLY | O_NOFOLLOW) < 0 && errno == ELOOP);
    CHECK(fchdir(d) == 0);
    make(AT_FDCWD, "./e//.//w", NEW);
    CHECK(linkat(AT_FDCWD, "e/w", d, "hard", 0) == 0);
    CHECK(unlinkat(d, "e/../hard", 0) == 0);
    CHECK(unlinkat(d, "e/soft/", 0) < 0);
    fd = open("e", O_PATH);
    CHECK(chdir("/") == 0);
    make(fd, "v", NEW);
    CHECK(unlinkat(fd, "v", 0) == 0 && truncate("/dev/null", 0) < 0);
}

static void by_descriptor(const char *path)
{
    int fd = open(path, O_RDONLY);

    CHECK(fd >= 0 && fchmod(fd, 0600) == 0);
    CHECK(fchown(fd, getuid(), getgid()) == 0);
    CHECK(fsetxattr(fd, "user.x", "y", 1, 0) == 0 || errno == EOPNOTSUPP);
    CHECK(fchownat(fd, "", getuid(), getgid(), AT_EMPTY_PATH) == 0);
    CHECK(chmod(".", 0755) == 0);
    CHECK(lchown("soft", getuid(), getgid()) == 0 && chmod("soft", 0644) == 0);
    CHECK(unlink(path) == 0);
    make(AT_FDCWD, path, NEW);
    CHECK(fchmod(fd, 0644) == 0); /* it has no name any more, and another has its name */
}

static void through_proc(void)
{
    int fd = open("file", O_RDONLY), pipes[2];
    char path[64];

    CHECK(fd >= 0 && pipe(pipes) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    make(AT_FDCWD, path, O_WRONLY);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    make(AT_FDCWD, path, O_WRONLY);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    make(AT_FDCWD, path, O_WRONLY);
    snprintf(path, sizeof path, "/proc/self/fd/%d", pipes[1]);
    make(AT_FDCWD, path, O_WRONLY);
    make(AT_FDCWD, "/proc/self/cwd/new", NEW);
    make(AT_FDCWD, "/proc/thread-self/root/proc/self/cwd/new", NEW);
}

/* In the others' processes, if they are to be seen at all. */
static void without_name(void)
{
    int fd = open(".", O_TMPFILE | O_WRONLY, 0644);
    char path[64];

    if (fd < 0 && errno == EOPNOTSUPP)
        exit(77);
    CHECK(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(linkat(AT_FDCWD, path, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW) == 0);
}

/* --- hostile paths --- */

static bool fails(long result, int error)
{
    return result < 0 && errno == error;
}

static void with_bad_paths(void)
{
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char longest[PATH_MAX + 1], name[300];

    CHECK(pages != MAP_FAILED && munmap(pages + 2 * 4096, 4096) == 0);
    CHECK(fails(syscall(SYS_openat, AT_FDCWD, NULL, NEW, 0644), EFAULT));
    CHECK(fails(syscall(SYS_openat, AT_FDCWD, (void *)1, NEW, 0644), EFAULT));
    CHECK(fails(syscall(SYS_openat, AT_FDCWD, (void *)(uintptr_t)-2, NEW, 0644), EFAULT));
    CHECK(fails(syscall(SYS_renameat2, AT_FDCWD, "file", AT_FDCWD, (void *)1, 0), EFAULT));
    memset(pages + 2 * 4096 - 5, 'a', 5);
    CHECK(fails(syscall(SYS_openat, AT_FDCWD, pages + 2 * 4096 - 5, NEW, 0644), EFAULT));
    memcpy(pages + 4096 - 3, "across", 7);
    make(AT_FDCWD, pages + 4096 - 3, NEW);
    memcpy(pages + 2 * 4096 - 5, "edge", 5);
    make(AT_FDCWD, pages + 2 * 4096 - 5, NEW);

    memset(longest, '/', sizeof longest);
    memcpy(longest, "./", 2);
    memcpy(longest + PATH_MAX - 1 - 4, "long", 5);
    make(AT_FDCWD, longest, NEW);
    memcpy(longest + PATH_MAX - 4, "long", 5);
    CHECK(fails(open(longest, NEW, 0644), ENAMETOOLONG));
    memset(name, 'n', sizeof name);
    name[255] = 0;
    make(AT_FDCWD, name, NEW);
    name[255] = 'n';
    name[256] = 0;
    CHECK(fails(open(name, NEW, 0644), ENAMETOOLONG));
    CHECK(fails(open("", NEW, 0644), ENOENT));
    CHECK(fails(open("file/x", NEW, 0644), ENOTDIR));
    CHECK(fails(open("no/x", NEW, 0644), ENOENT));
    CHECK(fails(open(".", O_WRONLY), EISDIR));
    CHECK(fails(openat(999, "x", NEW, 0644), EBADF));
    make(AT_FDCWD, "a\nb\xff\x01 (deleted)", NEW);
}

/* The kernel begins anew when somebody mounts something on the way, and goes on counting links. */
static void make_along_most(const char *path)
{
    int fd, n = 0;

    do
        fd = open(path, NEW, 0644);
    while (fd < 0 && errno == ELOOP && n++ < 1000);
    CHECK(fd >= 0);
    close(fd);
}

static void along_links(void)
{
    char from[16], to[16];

    CHECK(symlink("loop", "loop") == 0 && fails(open("loop", NEW, 0644), ELOOP));
    CHECK(symlink("end", "l0") == 0);
    for (int i = 1; i <= 40; i++) {
        snprintf(from, sizeof from, "l%d", i);
        snprintf(to, sizeof to, "l%d", i - 1);
        CHECK(symlink(to, from) == 0);
    }
    make_along_most("l39"); /* the fortieth link */
    CHECK(fails(open("l40", NEW, 0644), ELOOP));
}

/* Deeper than any path can be. */
static void in_the_deep(void)
{
    char name[201];

    memset(name, 'd', 200);
    name[200] = 0;
    for (int i = 0; i < 25; i++)
        CHECK(mkdir(name, 0755) == 0 && chdir(name) == 0);
    make(AT_FDCWD, "bottom", NEW);
    CHECK(unlink("bottom") == 0);
    for (int i = 0; i < 25; i++)
        CHECK(chdir("..") == 0 && rmdir(name) == 0);
}

/* --- hostile processes --- */

static void set_apart(void)
{
    CHECK(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
    make(AT_FDCWD, "apart", NEW);
}

static void from_secret_memory(void)
{
    int fd = (int)syscall(447 /* memfd_secret */, O_CLOEXEC);
    char *text;

    if (fd < 0)
        exit(77);
    CHECK(ftruncate(fd, 4096) == 0);
    text = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(text != MAP_FAILED);
    strcpy(text, "secret");
    CHECK(fails(open(text, NEW, 0644), EFAULT) && access("secret", F_OK) < 0);
}

static int install(struct sock_filter *code, unsigned short n, unsigned long flags)
{
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags,
                        &(struct sock_fprog){.len = n, .filter = code});
}

static void with_own_filters(void)
{
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_filter hold[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)};
    struct sock_filter none[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unlinkat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};

    CHECK(fails(install(hold, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER), EBUSY));
    CHECK(install(all, 1, 0) == 0);
    CHECK(install(none, 4, 0) == 0);
    make(AT_FDCWD, "filtered", NEW);
    CHECK(fails(unlinkat(AT_FDCWD, "filtered", 0), EPERM));
}

static int n_each;

static void *make_many(void *arg)
{
    char name[64];

    for (int i = 0; i < n_each; i++) {
        snprintf(name, sizeof name, "t%d", (int)(intptr_t)arg);
        make(AT_FDCWD, name, NEW);
    }
    return NULL;
}

enum { N_THREADS = 8 };

static void in_a_flood(int n)
{
    pthread_t threads[N_THREADS];

    n_each = n / N_THREADS;
    for (int i = 0; i < N_THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, make_many, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void in_children(void)
{
    int status;
    pid_t pid = vfork();

    if (pid == 0) {
        close(open("of-vfork", NEW, 0644));
        _exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
    for (int i = 0; i < 50; i++) {
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            make(AT_FDCWD, "of-fork", NEW);
            _exit(0);
        }
    }
    while (wait(&status) > 0)
        CHECK(status == 0);
}

static void on_alarm(int signal)
{
}

/* A handler that asks for no restart: open() ends with EINTR only where the kernel cannot keep
 * signals waiting meanwhile, and a program that has such handlers tries again. */
static void among_signals(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval often = {{0, 100}, {0, 100}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 500;) {
        int fd = open("signalled", NEW, 0644);

        CHECK(fd >= 0 || errno == EINTR);
        i += fd >= 0;
        if (fd >= 0)
            close(fd);
    }
}

static void make_for_ever(void)
{
    for (;;)
        make(AT_FDCWD, "killed", NEW);
}

/* Killed while their calls are held. */
static void until_killed(void)
{
    for (int i = 0; i < 100; i++) {
        pid_t pid = fork();

        CHECK(pid >= 0);
        if (pid == 0)
            make_for_ever();
        make(AT_FDCWD, "killer", NEW); /* waits for its turn */
        CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
    }
}

static char swapped[64] = "one";
static volatile bool has_swapped_enough;

static void *swap_path(void *arg)
{
    while (!has_swapped_enough) {
        memcpy(swapped, "../outside", 11);
        memcpy(swapped, "d/x", 4);
        memcpy(swapped, "one", 4);
    }
    return NULL;
}

static void with_changing_path(void)
{
    pthread_t thread;

    mkdir("d", 0755);
    CHECK(pthread_create(&thread, NULL, swap_path, NULL) == 0);
    for (int i = 0; i < 500; i++) {
        int fd = open(swapped, NEW, 0644);

        if (fd >= 0)
            close(fd);
    }
    has_swapped_enough = true;
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        {"from-directories", from_directories},
        {"through-proc", through_proc},
        {"without-name", without_name},
        {"bad-paths", with_bad_paths},
        {"links", along_links},
        {"deep", in_the_deep},
        {"apart", set_apart},
        {"secret-memory", from_secret_memory},
        {"own-filters", with_own_filters},
        {"children", in_children},
        {"signals", among_signals},
        {"until-killed", until_killed},
        {"changing-path", with_changing_path},
        {"for-ever", make_for_ever},
    };

    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run();
            return 0;
        }
    CHECK(argc == 3);
    if (strcmp(argv[1], "flood") == 0)
        in_a_flood(atoi(argv[2]));
    else
        by_descriptor(argv[2]);
    return 0;
}
