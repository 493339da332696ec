/* config.h - what the commands below `keel config` share. */
#ifndef KEEL_CLI_CONFIG_H
#define KEEL_CLI_CONFIG_H

#include "cli/command.h"
#include "sdk/project.h"

extern const struct command command_config_show;

/* Opens the settings and tells their warnings. */
MUST_USE struct err *config_open(const struct args *args, struct project **ret_project);

#endif
