/* main.c - the keel program: finds the command, runs it, reports what went wrong. */
#include "cli/command.h"

#include "cli/interrupt.h"
#include "sys/env.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct err *print_help(const struct command *c)
{
    AUTO(strbuf) struct strbuf text = {0};

    command_add_help(c, &text);
    return cli_print(strbuf_str(&text));
}

/* --help is answered anywhere, also beside options that would need a value; but not for
 * a command that keel is to run. */
static bool asks_for_help(const struct command *c, int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
        else if (c->takes_command && argv[i][0] != '-')
            return false;
    return false;
}

static struct err *missing_child(const struct command *c)
{
    AUTO(strbuf) struct strbuf names = {0};

    for (const struct command *const *child = c->children; *child; child++)
        strbuf_addf(&names, "%s%s", names.n ? ", " : "", command_word(*child));
    return err_hint(
        err_new(ERR_VALIDATION, "%s needs a subcommand: %s", c->name, strbuf_cstr(&names)),
        "see keel %s --help", c->name);
}

static struct err *dispatch(int argc, char **argv, int *ret_status)
{
    static const struct option none[] = {{0}};
    const struct command *c = &command_root, *next;
    AUTO(args) struct args args = {0};
    int at = 1;

    while (at < argc && (next = command_find(c, argv[at]))) {
        c = next;
        at++;
    }
    if (asks_for_help(c, argc - at, argv + at))
        return print_help(c);
    if (!c->run)
        return at < argc && argv[at][0] != '-' ? command_unknown(c, argv[at]) : missing_child(c);
    TRY((c->takes_command ? args_parse_command : args_parse)(
        &args, c->name, c->options ? c->options : none, argc - at, argv + at));
    if (args_has(&args, "help")) /* -ph */
        return print_help(c);
    return c->run(&args, ret_status);
}

/* A core of keel holds credentials, and would lie in the workspace, where the next command may read
 * it. Programs that keel starts are dumped as ever: exec() resets this. */
static void forbid_core(void)
{
    const char *wanted = getenv("KEEL_CORE");

    if (!wanted || strcmp(wanted, "1") != 0)
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* While another thread loads libraries, growing the heap waits for it, and the kernel clears memory
 * that was given back before it returns. So the heap grows in large steps, and only large blocks
 * are mapped on their own. Pages that are not used cost nothing. */
static void widen_heap(void)
{
#ifdef M_TOP_PAD
    mallopt(M_TOP_PAD, 1 << 20);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

/* Everything is stored and reported. The kernel takes back the rest at once; else thirty
 * libraries tidy up one by one, and idle threads are waited for. Checkers of memory look in exit().
 */
static _Noreturn void leave(int status)
{
#ifdef KEEL_LEAVES_AT_ONCE
    fflush(NULL);
    _exit(status);
#else
    exit(status);
#endif
}

/* Settings, sessions, the sandbox and commands take the home directory from HOME. Where it is not
 * set, the password database knows it; a relative one would be another one in each directory. */
static void find_home(void)
{
    const char *given = env_find(NULL, "HOME");
    AUTO(arena) struct arena a = {0};
    struct str home;

    if (given && given[0] == '/')
        return;
    home = env_user_home(&a);
    if (given)
        cli_tell("HOME is \"%s\", which is not an absolute path: %s%s", given,
                 home.n ? "using " : "it is ignored", home.n ? home.p : "");
    if (home.n)
        setenv("HOME", home.p, /* overwrite= */ 1);
    else
        unsetenv("HOME");
}

/* A relative one would be another one in each directory, and lie in the workspace. */
static struct err *check_keel_home(void)
{
    const char *given = env_find(NULL, "KEEL_HOME");

    if (!given || given[0] == '/')
        return NULL;
    return err_hint(
        err_new(ERR_VALIDATION, "KEEL_HOME is \"%s\", which is not an absolute path", given),
        "set it to an absolute path, or unset it to use ~/.keel");
}

int main(int argc, char **argv)
{
    int status = 0;
    struct err *e;

    widen_heap();
    forbid_core();
    cli_hold_std_fds();
    find_home();
    signal(SIGPIPE, SIG_IGN); /* the program's right, not the library's: a closed pipe is EPIPE */
    e = check_keel_home();
    if (!e)
        e = dispatch(argc, argv, &status);
    if (e) {
        cli_tell_error(e);
        status = err_exit_code(e);
        err_free(e);
    }
    leave(cli_exit_status(status));
}
