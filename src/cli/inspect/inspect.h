/* inspect.h - `keel inspect`: the pure parts of keel, shown to people who debug and to tests. */
#ifndef KEEL_CLI_INSPECT_INSPECT_H
#define KEEL_CLI_INSPECT_INSPECT_H

#include "cli/command.h"

extern const struct command command_inspect_decode;
extern const struct command command_inspect_glob;
extern const struct command command_inspect_ignore;
extern const struct command command_inspect_json;
extern const struct command command_inspect_permission;
extern const struct command command_inspect_schema;
extern const struct command command_inspect_sse;

#endif
