/* main.c - the keel program: finds the command, runs it, tells what went wrong. */
#include "cli/command.h"

#include "cli/inspect/inspect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct command *const commands[] = {
    &command_inspect,
    NULL,
};

static const struct option no_options[] = {{0}};

static void complain(const struct err *e)
{
    AUTO_FREE char *message = err_message(e);
    const char *hint = err_find_hint(e);

    fprintf(stderr, "keel: %s\n", message);
    if (hint)
        fprintf(stderr, "      %s\n", hint);
}

/* "inspect decode" is found by its last word among the children of "inspect". */
static const char *last_word(const char *name)
{
    const char *space = strrchr(name, ' ');

    return space ? space + 1 : name;
}

static const struct command *find(const struct command *const *list, const char *name)
{
    for (; list && *list; list++)
        if (strcmp(last_word((*list)->name), name) == 0)
            return *list;
    return NULL;
}

static struct err *run_command(const struct command *c, int argc, char **argv, int *ret_status)
{
    AUTO(args) struct args args = {0};

    TRY(args_parse(&args, c->name, c->options ? c->options : no_options, argc, argv));
    return c->run(&args, ret_status);
}

static struct err *dispatch(int argc, char **argv, int *ret_status)
{
    const struct command *c = NULL;
    const struct command *const *list = commands;
    int at = 1;

    while (at < argc) {
        const struct command *next = find(list, argv[at]);
        if (!next)
            break;
        c = next;
        list = c->children;
        at++;
    }
    if (!c || !c->run)
        return err_new(ERR_VALIDATION, "keel has no command \"%s\"", at < argc ? argv[at] : "");
    return run_command(c, argc - at, argv + at, ret_status);
}

int main(int argc, char **argv)
{
    int status = 0;
    AUTO(err) struct err *e = dispatch(argc, argv, &status);

    if (!e)
        return status;
    complain(e);
    return err_exit_code(e);
}
