/* glob.c - `keel inspect glob`: which paths does a pattern match? */
#include "cli/inspect/inspect.h"

#include "base/glob.h"

static const struct option options[] = {
    {"nocase", 0, NULL, "letters match in either case"},
    {"literal-separator", 0, NULL, "* and ? do not match a slash"},
    {"no-escape", 0, NULL, "a backslash is an ordinary character"},
    {"empty-alternates", 0, NULL, "{,a} may match nothing"},
    {0},
};

static int flags_of(const struct args *args)
{
    return (args_has(args, "nocase") ? GLOB_NOCASE : 0) |
           (args_has(args, "literal-separator") ? GLOB_LITERAL_SEPARATOR : 0) |
           (args_has(args, "no-escape") ? GLOB_NO_ESCAPE : 0) |
           (args_has(args, "empty-alternates") ? GLOB_EMPTY_ALTERNATES : 0);
}

static struct err *run(const struct args *args, int *ret_status)
{
    AUTO(glob) struct glob *glob = NULL;
    AUTO(strbuf) struct strbuf out = {0};

    TRY(args_count(args, 2, SIZE_MAX, "a PATTERN and PATHs"));
    TRY(glob_compile(str_of(args->operands[0]), flags_of(args), &glob));
    for (size_t i = 1; i < args->n_operands; i++)
        strbuf_addf(&out, "%s %s\n", glob_matches(glob, str_of(args->operands[i])) ? "yes" : "no",
                    args->operands[i]);
    return cli_print_visible(strbuf_str(&out));
}

const struct command command_inspect_glob = {
    .name = "inspect glob",
    .usage = "[OPTIONS] PATTERN PATH...",
    .summary = "match paths against a pattern",
    .details = "Prints a line for each path: \"yes PATH\" or \"no PATH\".\n\n"
               "  keel inspect glob 'src/**/*.{c,h}' src/base/json.c\n",
    .options = options,
    .run = run,
};
