/* program.h - for tests that compare keel with a program of the system. */
#ifndef KEEL_TEST_UNIT_PROGRAM_H
#define KEEL_TEST_UNIT_PROGRAM_H

#include "test.h"

#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs it with files as its input and output and nothing of the user's settings; the exit code, or
 * -1 when there is no such program. */
static inline int run_program(const char *const argv[], const char *in_path, const char *out_path)
{
    char path[4096];
    char no_user_config[] = "GIT_CONFIG_GLOBAL=/dev/null",
         no_system_config[] = "GIT_CONFIG_NOSYSTEM=1";
    char *environment[] = {path, no_user_config, no_system_config, NULL};
    posix_spawn_file_actions_t actions;
    int status, failure;
    pid_t pid;

    snprintf(path, sizeof path, "PATH=%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, in_path, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    failure = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    if (failure)
        return -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status) : -1;
}

static inline void write_file(const char *path, struct str text)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text.p, 1, text.n, file), text.n);
    assert_int_equal(fclose(file), 0);
}

static inline int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    return remove(path);
}

static inline void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
