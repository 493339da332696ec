/* measure.c - runs a command with its output thrown away and prints what it took.
 *
 *     bench-measure COMMAND [ARGUMENT]...
 *
 * A program of its own and a small one: the kernel counts the memory of whoever starts a process
 * into that process's peak. */
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double in_ms(struct timeval t)
{
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

int main(int argc, char **argv)
{
    posix_spawn_file_actions_t files;
    struct rusage used;
    double start, end;
    int status;
    pid_t pid;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    start = seconds();
    if (argc < 2 || posix_spawnp(&pid, argv[1], &files, NULL, argv + 1, environ) ||
        wait4(pid, &status, 0, &used) != pid) {
        fprintf(stderr, "bench-measure: cannot run %s\n", argc < 2 ? "nothing" : argv[1]);
        return EXIT_FAILURE;
    }
    end = seconds();
    printf("{\"start_ms\":%.4f,\"wall_ms\":%.4f,\"cpu_ms\":%.3f,\"peak_kib\":%ld}\n", start * 1e3,
           (end - start) * 1e3, in_ms(used.ru_utime) + in_ms(used.ru_stime), used.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}
