/* proxy.h - a process between a client and a server's socket, so that a test can make the way
 * between them silent: stop it (SIGSTOP). Connecting still works then, and nothing comes back. */
#ifndef KEEL_TEST_UNIT_STORE_PROXY_H
#define KEEL_TEST_UNIT_STORE_PROXY_H

#include "test.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROXY_MAX_FDS 64

static inline struct sockaddr_un proxy_address(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    assert_true(strlen(path) < sizeof a.sun_path);
    memcpy(a.sun_path, path, strlen(path));
    return a;
}

static inline void proxy_accept(int listener, const struct sockaddr_un *to, struct pollfd *fds,
                                size_t *n)
{
    int client = accept(listener, NULL, NULL), server = socket(AF_UNIX, SOCK_STREAM, 0);

    if (client < 0 || server < 0 || *n + 2 > PROXY_MAX_FDS ||
        connect(server, (const struct sockaddr *)to, sizeof *to) < 0) {
        close(client);
        close(server);
        return;
    }
    fds[(*n)++] = (struct pollfd){.fd = client, .events = POLLIN};
    fds[(*n)++] = (struct pollfd){.fd = server, .events = POLLIN};
}

/* Both ends stand side by side; when one ends, so does the other. */
static inline void proxy_pass_on(struct pollfd *fds, size_t i)
{
    size_t other = i % 2 ? i + 1 : i - 1;
    char bytes[65536];
    ssize_t n = read(fds[i].fd, bytes, sizeof bytes);

    for (ssize_t at = 0; n > 0 && at < n;) {
        ssize_t written = write(fds[other].fd, bytes + at, (size_t)(n - at));

        if (written <= 0)
            n = 0;
        at += MAX(written, 0);
    }
    if (n > 0)
        return;
    close(fds[i].fd);
    close(fds[other].fd);
    fds[i].fd = fds[other].fd = -1;
}

static inline void proxy_run(int listener, const char *to)
{
    struct sockaddr_un server = proxy_address(to);
    struct pollfd fds[PROXY_MAX_FDS] = {{.fd = listener, .events = POLLIN}};
    size_t n = 1;

    while (poll(fds, n, -1) > 0) {
        for (size_t i = 1; i < n; i++)
            if (fds[i].fd >= 0 && fds[i].revents)
                proxy_pass_on(fds, i);
        if (fds[0].revents)
            proxy_accept(listener, &server, fds, &n);
    }
}

static inline pid_t proxy_start(const char *from, const char *to)
{
    struct sockaddr_un address = proxy_address(from);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    pid_t pid;

    unlink(from);
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 16), 0);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGPIPE, SIG_IGN);
        proxy_run(listener, to);
        _exit(1);
    }
    close(listener);
    return pid;
}

static inline void proxy_silence(pid_t proxy)
{
    int status;

    assert_int_equal(kill(proxy, SIGSTOP), 0);
    assert_int_equal(waitpid(proxy, &status, WUNTRACED), proxy);
    assert_true(WIFSTOPPED(status));
}

static inline void proxy_end(pid_t proxy)
{
    kill(proxy, SIGKILL);
    waitpid(proxy, NULL, 0);
}

#endif
