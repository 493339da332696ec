/* commands.h - the commands at the top, a file or a folder each. */
#ifndef KEEL_CLI_COMMANDS_H
#define KEEL_CLI_COMMANDS_H

#include "cli/command.h"

extern const struct command command_completion;
extern const struct command command_config;
extern const struct command command_demo;
extern const struct command command_doctor;
extern const struct command command_help;
extern const struct command command_inspect;
extern const struct command command_models;
extern const struct command command_permissions;
extern const struct command command_sandbox;
extern const struct command command_session;
extern const struct command command_trust;

#endif
