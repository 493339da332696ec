/* probe_processes.c - reaches for processes outside, and tries to outlive the command. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECRET_MAX = 64, SHM_BYTES = 64 };

/* ---- the one who is attacked ---- */

static char secret[SECRET_MAX];
static volatile sig_atomic_t n_signals;

static void count_signal(int number)
{
    (void)number;
    n_signals++;
}

static int tracer(void)
{
    char line[256];
    int pid = -1;
    FILE *f = fopen("/proc/self/status", "re");

    while (f && fgets(line, sizeof(line), f) && sscanf(line, "TracerPid: %d", &pid) != 1)
        ;
    if (f)
        fclose(f);
    return pid;
}

static void report_victim(void)
{
    struct rlimit files;

    getrlimit(RLIMIT_NOFILE, &files);
    printf("signals %d memory %s files %llu tracer %d priority %d\n", (int)n_signals, secret,
           (unsigned long long)files.rlim_cur, tracer(), getpriority(PRIO_PROCESS, 0));
    fflush(stdout);
}

/* Waits outside with a secret in its memory and an open file; tells how it is for every line. */
static int victim(char **a)
{
    static const int numbers[] = {SIGUSR1, SIGUSR2, SIGIO, SIGTERM, SIGHUP, SIGINT};
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    int file = open(a[0], O_RDWR | O_APPEND);
    char line[16];

    if (file < 0 || read(file, secret, sizeof(secret) - 1) <= 0)
        return stopped(a[0]);
    secret[strcspn(secret, "\n")] = '\0';
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaction(numbers[i], &action, NULL);
    printf("%d %lu %d\n", (int)getpid(), (unsigned long)(uintptr_t)secret, file);
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin))
        report_victim();
    return 0;
}

/* ---- processes outside ---- */

static pid_t to_pid(const char *text)
{
    return (pid_t)strtol(text, NULL, 10);
}

static int by_ptrace(char **a)
{
    pid_t pid = to_pid(a[0]);

    if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0)
        return stopped("ptrace");
    waitpid(pid, NULL, __WALL);
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    return reached();
}

static int by_seize(char **a)
{
    return ended("ptrace", ptrace(PTRACE_SEIZE, to_pid(a[0]), NULL, NULL));
}

static int vm_read(char **a)
{
    char bytes[SECRET_MAX] = "";
    struct iovec here = {.iov_base = bytes, .iov_len = sizeof(bytes) - 1};
    struct iovec there = {.iov_base = (void *)strtoul(a[1], NULL, 10),
                          .iov_len = sizeof(bytes) - 1};

    if (process_vm_readv(to_pid(a[0]), &here, 1, &there, 1, 0) < 0)
        return stopped("process_vm_readv");
    printf("%s\n", bytes);
    return 0;
}

static int vm_write(char **a)
{
    char bytes[] = "overwritten";
    struct iovec here = {.iov_base = bytes, .iov_len = sizeof(bytes)};
    struct iovec there = {.iov_base = (void *)strtoul(a[1], NULL, 10), .iov_len = sizeof(bytes)};

    return ended("process_vm_writev", process_vm_writev(to_pid(a[0]), &here, 1, &there, 1, 0));
}

static int open_memory(const char *pid, int flags)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%s/mem", pid);
    return open(path, flags | O_CLOEXEC);
}

static int mem_read(char **a)
{
    char bytes[SECRET_MAX] = "";
    int fd = open_memory(a[0], O_RDONLY);

    if (fd < 0)
        return stopped("open mem");
    if (pread(fd, bytes, sizeof(bytes) - 1, (off_t)strtoul(a[1], NULL, 10)) < 0)
        return stopped("pread");
    printf("%s\n", bytes);
    return 0;
}

static int mem_write(char **a)
{
    int fd = open_memory(a[0], O_RDWR);

    if (fd < 0)
        return stopped("open mem");
    return ended("pwrite", pwrite(fd, "overwritten", 12, (off_t)strtoul(a[1], NULL, 10)));
}

static int pidfd_signal(char **a)
{
    int fd = (int)syscall(SYS_pidfd_open, to_pid(a[0]), 0);

    if (fd < 0)
        return stopped("pidfd_open");
    return ended("pidfd_send_signal", syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0));
}

/* The directory of a process in /proc serves as a pidfd. */
static int proc_signal(char **a)
{
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/%s", a[0]);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return stopped(path);
    return ended("pidfd_send_signal", syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0));
}

static int by_tgkill(char **a)
{
    return ended("tgkill", syscall(SYS_tgkill, to_pid(a[0]), to_pid(a[0]), SIGUSR1));
}

static int by_sigqueue(char **a)
{
    return ended("sigqueue", sigqueue(to_pid(a[0]), SIGUSR1, (union sigval){.sival_int = 1}));
}

/* The kernel sends the signal: a pipe of ours has another process as its owner. */
static int by_sigio(char **a)
{
    int pipe_fds[2];

    if (pipe(pipe_fds) < 0)
        return stopped("pipe");
    if (fcntl(pipe_fds[0], F_SETOWN, to_pid(a[0])) < 0 ||
        fcntl(pipe_fds[0], F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
        return stopped("F_SETOWN");
    return ended("write", write(pipe_fds[1], "x", 1));
}

static int take_process_fd(char **a)
{
    int pid_fd = (int)syscall(SYS_pidfd_open, to_pid(a[0]), 0);
    int fd;

    if (pid_fd < 0)
        return stopped("pidfd_open");
    fd = (int)syscall(SYS_pidfd_getfd, pid_fd, atoi(a[1]), 0);
    return fd < 0 ? stopped("pidfd_getfd") : write_line(fd);
}

static int by_prlimit(char **a)
{
    const struct rlimit few = {.rlim_cur = 20, .rlim_max = 20};

    return ended("prlimit", prlimit(to_pid(a[0]), RLIMIT_NOFILE, &few, NULL));
}

static int by_setpriority(char **a)
{
    return ended("setpriority", setpriority(PRIO_PROCESS, (id_t)to_pid(a[0]), 19));
}

static int by_setpriority_of_all(char **a)
{
    (void)a;
    return ended("setpriority", setpriority(PRIO_USER, 0, 19));
}

/* ---- memory and messages by key ---- */

static int shm_make(char **a)
{
    int id = shmget((key_t)atoi(a[0]), SHM_BYTES, IPC_CREAT | 0600);
    char *bytes = id < 0 ? (char *)-1 : shmat(id, NULL, 0);

    if (bytes == (char *)-1)
        return stopped("shmget");
    snprintf(bytes, SHM_BYTES, "%s", a[1]);
    return reached();
}

static int shm_read(char **a)
{
    int id = shmget((key_t)atoi(a[0]), 0, 0);
    char *bytes = id < 0 ? (char *)-1 : shmat(id, NULL, SHM_RDONLY);

    if (bytes == (char *)-1)
        return stopped("shmget");
    printf("%s\n", bytes);
    return 0;
}

static int shm_remove(char **a)
{
    return ended("shmctl", shmctl(shmget((key_t)atoi(a[0]), 0, 0), IPC_RMID, NULL));
}

static int mq_make(char **a)
{
    mqd_t queue = mq_open(a[0], O_CREAT | O_WRONLY, 0600, NULL);

    if (queue == (mqd_t)-1)
        return stopped("mq_open");
    return ended("mq_send", mq_send(queue, a[1], strlen(a[1]), 0));
}

static int print_message(mqd_t queue)
{
    char bytes[8192 + 1] = "";

    if (queue == (mqd_t)-1)
        return stopped("the queue");
    if (mq_receive(queue, bytes, sizeof(bytes) - 1, NULL) < 0)
        return stopped("mq_receive");
    printf("%s\n", bytes);
    return 0;
}

static int mq_read(char **a)
{
    return print_message(mq_open(a[0], O_RDONLY | O_NONBLOCK));
}

/* A queue is a file of a file system that may be mounted; who has opened that has the queue. */
static int mq_read_file(char **a)
{
    return print_message(open(a[0], O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

static int mq_remove(char **a)
{
    return ended("mq_unlink", mq_unlink(a[0]));
}

/* ---- what stays behind ---- */

/* Which descriptors beyond the three usual ones came along. */
static int list_fds(char **a)
{
    struct stat st;

    (void)a;
    for (int fd = 3; fd < 1024; fd++)
        if (fstat(fd, &st) == 0)
            printf("descriptor %d of type %o\n", fd, (unsigned)(st.st_mode & S_IFMT));
    return 0;
}

static void linger(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    alarm(60); /* a survivor that nobody finds ends by itself */
    for (;;)
        pause();
}

/* Two forks and a session of its own, as a daemon does. The argument is how it is found again. */
static int daemonize(char **a)
{
    pid_t pid = fork();

    (void)a;
    if (pid == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        linger();
    }
    if (pid < 0)
        return stopped("fork");
    waitpid(pid, NULL, 0);
    return reached();
}

static int stay(char **a)
{
    (void)a;
    printf("REACHED\n");
    fflush(stdout);
    linger();
    return 0;
}

/* A process that is never the same for long: whoever kills by a list of ids comes too late. It ends
 * when the file is there, or after a minute. */
static int keep_forking(char **a)
{
    const long end = (long)time(NULL) + 60;
    pid_t pid = fork();

    if (pid < 0)
        return stopped("fork");
    if (pid > 0)
        return reached();
    setsid();
    while (access(a[1], F_OK) != 0 && time(NULL) < end) {
        pid = fork();
        if (pid > 0)
            _exit(0);
        usleep(50000);
    }
    _exit(0);
}

/* Each is gone before anybody has read who its parent is. They end after three seconds. */
static void fork_without_pause(void)
{
    const long end = (long)time(NULL) + 3;

    while (time(NULL) < end) {
        if (fork() > 0)
            break;
        setsid();
    }
    _exit(0);
}

static int storm(char **a)
{
    (void)a;
    for (int i = 0; i < 150; i++)
        if (fork() == 0)
            fork_without_pause();
    return reached();
}

const struct deed process_deeds[] = {
    {"victim", 2, victim}, /* the second is only to be seen */
    {"ptrace", 1, by_ptrace},
    {"seize", 1, by_seize},
    {"vm-read", 2, vm_read},
    {"vm-write", 2, vm_write},
    {"mem-read", 2, mem_read},
    {"mem-write", 2, mem_write},
    {"pidfd-signal", 1, pidfd_signal},
    {"proc-signal", 1, proc_signal},
    {"tgkill", 1, by_tgkill},
    {"sigqueue", 1, by_sigqueue},
    {"sigio", 1, by_sigio},
    {"pidfd-getfd", 2, take_process_fd},
    {"prlimit", 1, by_prlimit},
    {"setpriority", 1, by_setpriority},
    {"setpriority-all", 0, by_setpriority_of_all},
    {"shm-make", 2, shm_make},
    {"shm-read", 1, shm_read},
    {"shm-remove", 1, shm_remove},
    {"mq-make", 2, mq_make},
    {"mq-read", 1, mq_read},
    {"mq-read-file", 1, mq_read_file},
    {"mq-remove", 1, mq_remove},
    {"fds", 0, list_fds},
    {"daemon", 1, daemonize},
    {"stay", 1, stay},
    {"keep-forking", 2, keep_forking},
    {"storm", 0, storm},
    {NULL, 0, NULL},
};
