/* agent.h - the flags that say what an agent is: models, rules, directories, prompts. */
#ifndef KEEL_CLI_FLAGS_AGENT_H
#define KEEL_CLI_FLAGS_AGENT_H

#include "cli/args.h"
#include "sdk/agent/agent.h"

/* The project of the working directory, with --settings. Prints the warnings about its settings. */
MUST_USE struct err *agent_flags_project(const struct args *args, struct project **ret_project);
void agent_flags_print_warnings(const struct settings *s);

/* --cwd as an absolute path in `a`, NULL when it is not given. ERR_VALIDATION: not a directory. */
MUST_USE struct err *agent_flags_cwd(const struct args *args, struct arena *a,
                                     const char **ret_cwd);

/* The directory that a flag names, absolute and without links, in `a`. ERR_VALIDATION: not a
 * directory. */
MUST_USE struct err *agent_flags_directory(const char *flag, const char *given, struct arena *a,
                                           const char **ret_path);

/* The layers of the settings that --setting-sources excludes, a bit each. */
MUST_USE struct err *agent_flags_layers(const struct args *args, unsigned *ret_skipped);

/* What the options point at lives in `a` and in the command line. */
MUST_USE struct err *agent_flags_read(const struct args *args, struct arena *a,
                                      struct agent_options *ret_options);

/* Rules separated by commas or blanks, as "Read, Bash(git log *)"; within parentheses neither
 * separates. Appends to the list. */
struct flag_rules {
    const char **items;
    size_t n, room;
};
/* Can a word behind such a flag be nothing but a further rule: "Read", "Bash(git log *)"? */
bool rule_is_meant(struct str word);
void rule_list_add(struct flag_rules *list, struct arena *a, struct str text);

#endif
