/* probe.c - picks the deed and reports how it ended. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int reached(void)
{
    printf("REACHED\n");
    return 0;
}

int stopped(const char *call)
{
    fprintf(stderr, "%s: %s\n", call, strerror(errno));
    return 1;
}

int ended(const char *call, long result)
{
    return result < 0 ? stopped(call) : reached();
}

int print_all(int fd)
{
    char bytes[4096];
    ssize_t n;

    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        fwrite(bytes, 1, (size_t)n, stdout);
    return n < 0 ? stopped("read") : 0;
}

int print_file(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);

    return fd < 0 ? stopped(name) : print_all(fd);
}

int write_line(int fd)
{
    static const char line[] = "written by the attack\n";

    return ended("write", write(fd, line, sizeof(line) - 1));
}

static const struct deed *find(const char *name)
{
    static const struct deed *const tables[] = {file_deeds, network_deeds, process_deeds,
                                                kernel_deeds};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const struct deed *d = tables[i]; d->name; d++)
            if (strcmp(d->name, name) == 0)
                return d;
    return NULL;
}

int main(int argc, char **argv)
{
    const struct deed *deed = argc > 1 ? find(argv[1]) : NULL;
    int status;

    if (!deed || argc - 2 != deed->n_arguments) {
        fprintf(stderr, "usage: probe DEED ARGUMENT...; no such deed, or not its arguments\n");
        return 64;
    }
    signal(SIGPIPE, SIG_IGN);
    status = deed->run(argv + 2);
    return fflush(stdout) == 0 ? status : 1;
}
