/* permissions.h - what the commands below `keel permissions` share. */
#ifndef KEEL_CLI_PERMISSIONS_PERMISSIONS_H
#define KEEL_CLI_PERMISSIONS_PERMISSIONS_H

#include "cli/command.h"
#include "sdk/agent/rule_set.h"

extern const struct command command_permissions_explain;
extern const struct command command_permissions_list;
extern const struct command command_permissions_test;

/* Flags about permissions, as with keel -p. */
#define PERMISSION_OPTIONS                                                                         \
    {"mode",                                                                                       \
     0,                                                                                            \
     "MODE",                                                                                       \
     "instead of the settings' mode; also --permission-mode",                                      \
     .alias = "permission-mode",                                                                   \
     .words = PERMISSION_MODE_WORDS},                                                              \
        {"allowed-tools", 0, "RULES", "as with keel -p", .alias = "allowedTools"},                 \
        {"disallowed-tools", 0, "RULES", "as with keel -p", .alias = "disallowedTools"},           \
        {"add-dir", 0, "DIR", "as with keel -p; may be repeated"},                                 \
        {"settings", 0, "FILE|JSON", "more settings; they override all files"},                    \
        {"json", 0, NULL, "print one JSON object"}

/* What holds here and now. */
struct permissions {
    struct arena arena;
    struct project *project;
    struct rule_set set;
};
/* Prints warnings about settings and rules on stderr. */
MUST_USE struct err *permissions_open(struct permissions *p, const struct args *args);
void permissions_done(struct permissions *p);
DEFINE_AUTO_VAL(permissions, permissions_done)

/* The layer and the file: "user: .../settings.json" */
void permissions_add_source(struct strbuf *out, const struct rule_source *s);
/* "layer", "where" as members. */
void permissions_write_source(struct json_writer *w, const struct rule_source *s);

#endif
