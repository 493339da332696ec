/* misbehave.c - a child with bad habits, for the tests of processes. The first argument says which.
 * Each says "ready" once its habit is in place. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void stay_forever(void)
{
    for (;;)
        pause();
}

static void say_ready(void)
{
    puts("ready");
    fflush(stdout);
}

static void ignore_term(const char *unused)
{
    signal(SIGTERM, SIG_IGN);
    say_ready();
    stay_forever();
}

/* A grandchild in a session of its own that nothing but KILL ends. */
static void start_daemon(void)
{
    int up[2];
    char byte;

    if (pipe(up) < 0)
        exit(2);
    if (fork() == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        close(up[0]);
        (void)!write(up[1], "x", 1);
        close_range(0, ~0U, 0);
        stay_forever();
    }
    (void)!read(up[0], &byte, 1);
    close(up[0]);
    close(up[1]);
}

static void leave_daemons(const char *how_many)
{
    for (int i = 0; i < atoi(how_many); i++)
        start_daemon();
    say_ready();
}

static void stay_with_daemons(const char *how_many)
{
    leave_daemons(how_many);
    stay_forever();
}

/* Never the same process for long: each forks the next and exits. */
static void relay(bool leaves_group)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    say_ready();
    close_range(0, 2, 0);
    for (;;) {
        if (fork() > 0)
            _exit(0);
        if (leaves_group)
            setsid();
    }
}

static void run_a_relay(const char *unused)
{
    relay(/* leaves_group= */ false);
}

static void run_a_relay_of_sessions(const char *unused)
{
    relay(/* leaves_group= */ true);
}

static void flood(const char *unused)
{
    static char block[65536];

    memset(block, 'x', sizeof block);
    for (;;)
        if (write(STDOUT_FILENO, block, sizeof block) < 0)
            exit(1);
}

static void fill_both(const char *n_bytes)
{
    char block[4096];

    memset(block, 'x', sizeof block);
    for (long left = atol(n_bytes); left > 0; left -= (long)sizeof block) {
        (void)!write(STDOUT_FILENO, block, sizeof block);
        (void)!write(STDERR_FILENO, block, sizeof block);
    }
}

static void close_pipes(const char *unused)
{
    say_ready();
    close_range(0, 2, 0);
    stay_forever();
}

static void stop_itself(const char *unused)
{
    say_ready();
    raise(SIGSTOP);
    stay_forever();
}

static void list_fds(const char *unused)
{
    for (int fd = 0; fd < 4096; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf("%d ", fd);
}

/* Ignores USR1, which its child does not, and exits with the signal that the child died of. */
static void outlive_child(const char *unused)
{
    pid_t child = fork();
    int status;

    if (child == 0)
        stay_forever();
    signal(SIGUSR1, SIG_IGN);
    say_ready();
    waitpid(child, &status, 0);
    exit(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* Blocked or ignored ones, without the two real-time signals that glibc keeps for itself. */
static void list_masked_signals(const char *unused)
{
    struct sigaction action;
    sigset_t blocked;

    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int signal = 1; signal < 32; signal++)
        if (sigismember(&blocked, signal) ||
            (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN))
            printf("%s ", strsignal(signal));
}

static void print_size(void)
{
    struct winsize size = {0};

    ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
    printf("%dx%d\n", size.ws_row, size.ws_col);
    fflush(stdout);
}

static void describe_terminal(const char *unused)
{
    int own = open("/dev/tty", O_RDWR);

    printf("terminals %d%d%d, controlling %s, leader %s, foreground %s, ", isatty(0), isatty(1),
           isatty(2), own >= 0 ? "yes" : "no", getsid(0) == getpid() ? "yes" : "no",
           own >= 0 && tcgetpgrp(own) == getpgrp() ? "yes" : "no");
    print_size();
}

static void watch_size(const char *unused)
{
    sigset_t resized;
    int signal;

    sigemptyset(&resized);
    sigaddset(&resized, SIGWINCH);
    sigprocmask(SIG_BLOCK, &resized, NULL);
    print_size();
    sigwait(&resized, &signal);
    print_size();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*fn)(const char *arg);
    } habits[] = {
        {"ignore-term", ignore_term},
        {"leave-daemons", leave_daemons},
        {"stay-with-daemons", stay_with_daemons},
        {"relay", run_a_relay},
        {"relay-of-sessions", run_a_relay_of_sessions},
        {"flood", flood},
        {"fill-both", fill_both},
        {"close-pipes", close_pipes},
        {"stop-itself", stop_itself},
        {"list-fds", list_fds},
        {"list-masked-signals", list_masked_signals},
        {"outlive-child", outlive_child},
        {"describe-terminal", describe_terminal},
        {"watch-size", watch_size},
    };

    for (size_t i = 0; argc > 1 && i < sizeof habits / sizeof habits[0]; i++)
        if (strcmp(argv[1], habits[i].name) == 0) {
            habits[i].fn(argc > 2 ? argv[2] : "1");
            return 0;
        }
    return 2;
}
