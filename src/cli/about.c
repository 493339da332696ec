/* about.c - `keel help` and `keel version`: what --help and --version print, for those who type
 * words.
 */
#include "cli/commands.h"

/* --- help --- */

static struct err *run_help(const struct args *args, int *ret_status)
{
    const struct command *c = &command_root;
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 0; i < args->n_operands; i++) {
        const struct command *next = command_find(c, args->operands[i]);

        if (!next)
            return command_unknown(c, args->operands[i]);
        c = next;
    }
    command_help(c, &text);
    return cli_print(strbuf_str(&text));
}

const struct command command_help_about = {
    .name = "help",
    .usage = "[COMMAND]...",
    .operands = "demo session models config permissions doctor trust sandbox completion inspect",
    .is_unlisted = true,
    .summary = "show the help of keel or of a command",
    .details = "  keel help session rewind\n",
    .run = run_help,
};

/* --- version --- */

static struct err *run_version(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 0, 0, "no arguments"));
    return cli_print(S(KEEL_VERSION_LINE));
}

const struct command command_version = {
    .name = "version",
    .usage = "",
    .is_unlisted = true,
    .summary = "print the version",
    .details = "  keel version\n",
    .run = run_version,
};
