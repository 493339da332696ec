/* inspect.c - the list of things that can be inspected. */
#include "cli/inspect/inspect.h"

#include "cli/commands.h"

static const struct command *const children[] = {
    &command_inspect_decode,     &command_inspect_json,
    &command_inspect_schema,     &command_inspect_sse,
    &command_inspect_glob,       &command_inspect_ignore,
    &command_inspect_permission, NULL,
};

const struct command command_inspect = {
    .name = "inspect",
    .usage = "WHAT ...",
    .group = "Look inside",
    .summary = "try decoders, schemas, patterns and rules",
    .details = "Prints how keel reads files, patterns and calls. Sends nothing.\n",
    .children = children,
};
