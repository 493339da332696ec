/* proc_find.c - which file is run: the command's by the child's PATH, and our own supervisor. */
#include "sys/proc_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* --- the command --- */

/* What a system without PATH searches. */
static const char default_path[] = "/usr/local/bin:/usr/bin:/bin";

static struct str search_path(const char *const *environment)
{
    for (; environment && *environment; environment++)
        if (strncmp(*environment, "PATH=", 5) == 0)
            return str_of(*environment + 5);
    return str_of(default_path);
}

/* 0 when `file` may be executed, else errno. */
static int check_executable(int dir, const char *file)
{
    struct stat st;

    if (fstatat(dir, file, &st, 0) < 0)
        return errno;
    if (!S_ISREG(st.st_mode))
        return EACCES;
    return faccessat(dir, file, X_OK, AT_EACCESS) < 0 ? errno : 0;
}

/* Is the file there, so that what is missing must be its interpreter? */
static bool is_there(const struct proc_spec *spec, const char *program)
{
    AUTO_CLOSE int dir = open(spec->cwd ? spec->cwd : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    return strchr(program, '/') && faccessat(dir, program, F_OK, AT_EACCESS) == 0;
}

/* Does it help to wait, or must somebody mend something? */
static bool is_passing(int error)
{
    return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE ||
           error == ETXTBSY || error == EIO;
}

static struct err *add_hint(struct err *e, int error, const char *program, bool is_file)
{
    switch (error) {
    case ENOENT:
        if (is_file)
            return err_hint(e, "the interpreter of %s is missing: check its first line", program);
        return err_hint(e, "install it, add its directory to PATH, or give its full path");
    case EACCES:
        return err_hint(e, "it must be a file that you may execute; try chmod +x %s", program);
    case ENOEXEC:
        return err_hint(e, "if %s is a script, it needs a first line such as #!/bin/sh", program);
    case E2BIG:
        return err_hint(e, "its arguments and environment are too long; pass them in a file");
    default:
        return is_passing(error)
                   ? err_hint(
                         e,
                         "the system is short of memory, processes or open files; try again later")
                   : e;
    }
}

struct err *proc_exec_error(const struct proc_spec *spec, const char *program, int error)
{
    struct err *e = err_errno(is_passing(error) ? ERR_TOOL_FAILED : ERR_CONFIGURATION, error,
                              "cannot run %s", spec->argv[0]);

    return add_hint(e, error, program, is_there(spec, program));
}

static struct err *search(const struct proc_spec *spec, int dir, char **ret_path)
{
    struct str rest = search_path(spec->environment), entry;
    AUTO_FREE char *denied = NULL;

    while (str_split(&rest, ':', &entry)) {
        AUTO(strbuf) struct strbuf file = {0};
        int error;

        /* An empty entry means the working directory. */
        strbuf_add(&file, entry.n ? entry : S("."));
        strbuf_addf(&file, "/%s", spec->argv[0]);
        error = check_executable(dir, strbuf_cstr(&file));
        if (!error) {
            *ret_path = strbuf_take(&file);
            return NULL;
        }
        /* A directory that we may not look into does not count: the file is elsewhere. */
        if (!denied && error == EACCES && faccessat(dir, strbuf_cstr(&file), F_OK, AT_EACCESS) == 0)
            denied = strbuf_take(&file);
    }
    if (denied)
        return proc_exec_error(spec, denied, EACCES);
    return proc_exec_error(spec, spec->argv[0], ENOENT);
}

struct err *proc_find_program(const struct proc_spec *spec, char **ret_path)
{
    const char *cwd = spec->cwd ? spec->cwd : ".";
    AUTO_CLOSE int dir = open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int error;

    if (dir < 0)
        return err_hint(
            err_errno(ERR_CONFIGURATION, errno, "cannot run %s in %s", spec->argv[0], cwd),
            "choose a working directory that exists and that you may enter");
    if (!strchr(spec->argv[0], '/'))
        return search(spec, dir, ret_path);
    error = check_executable(dir, spec->argv[0]);
    if (error)
        return proc_exec_error(spec, spec->argv[0], error);
    *ret_path = mem_strdup(spec->argv[0]);
    return NULL;
}

/* NULL: it is not. */
static char *find_in_path(const char *program, const char *const *environment)
{
    const char *const argv[] = {program, NULL};
    const struct proc_spec spec = {
        .argv = argv, .environment = environment ? environment : (const char *const *)environ};
    char *path = NULL;

    err_ignore(proc_find_program(&spec, &path), "then it is not");
    return path;
}

bool proc_can_run(const char *program, const char *const *environment)
{
    AUTO_FREE char *path = find_in_path(program, environment);

    return path != NULL;
}

bool proc_find_file(const char *program, const char *const *environment, char path[4096])
{
    AUTO_FREE char *found = find_in_path(program, environment);

    return found && realpath(found, path);
}

/* --- programs of our own --- */

static bool try_program(char path[4096], const char *directory, const char *name)
{
    AUTO(strbuf) struct strbuf file = {0};
    char real[PATH_MAX];

    strbuf_addf(&file, "%s%s", directory, name);
    if (!realpath(strbuf_cstr(&file), real) || check_executable(AT_FDCWD, real) != 0)
        return false;
    memcpy(path, real, strlen(real) + 1);
    return true;
}

/* Beside `file`, or in the libexec directory of the tree that it was installed into. */
static bool try_beside(char path[4096], const char *file, const char *name)
{
    AUTO(strbuf) struct strbuf installed = {0};
    char directory[PATH_MAX];
    char *slash;

    if (!realpath(file, directory) || !(slash = strrchr(directory, '/')))
        return false;
    slash[1] = 0;
    strbuf_addf(&installed, "../libexec/keel/%s", name);
    return try_program(path, directory, name) ||
           try_program(path, directory, strbuf_cstr(&installed));
}

static struct err *find_own(char path[4096], const char *name, const char *variable,
                            const char *what)
{
    const char *chosen = secure_getenv(variable);
    Dl_info library;

    if (chosen && *chosen) {
        if (try_program(path, "", chosen))
            return NULL;
        return err_hint(
            err_new(ERR_CONFIGURATION, "cannot run %s, which %s names", chosen, variable),
            "correct or unset %s", variable);
    }
    if (try_beside(path, "/proc/self/exe", name))
        return NULL;
    if (dladdr((void *)(uintptr_t)proc_find_supervisor, &library) && library.dli_fname &&
        try_beside(path, library.dli_fname, name))
        return NULL;
    if (try_program(path, KEEL_LIBEXECDIR "/keel/", name))
        return NULL;
    return err_hint(err_new(ERR_CONFIGURATION, "cannot find %s, %s", name, what),
                    "install it beside keel or in %s/keel, or set %s to its path", KEEL_LIBEXECDIR,
                    variable);
}

struct err *proc_find_supervisor(char path[4096])
{
    return find_own(path, "keel-exec", "KEEL_EXEC", "the supervisor of all commands");
}

struct err *proc_find_media(char path[4096])
{
    return find_own(path, "keel-media", "KEEL_MEDIA", "which decodes images and PDF documents");
}
