/* config.h - the hooks that a person has configured.
 *
 *     "hooks": {"PreToolUse": [{"matcher": "Bash|Edit", "hooks": [
 *         {"type": "command", "command": "./check.sh", "timeout": 5, "failClosed": true}]}]}
 *
 * A group may also set "timeout" (seconds) and "failClosed" for all of its hooks, and "env",
 * additional variables. keel's own files are read strictly: an unknown event, key or type is an
 * error that names file and key, since a misspelt hook would never run. In files of other programs,
 * unknown and invalid entries are ignored with a warning. */
#ifndef KEEL_HOOK_CONFIG_H
#define KEEL_HOOK_CONFIG_H

#include "hook/matcher.h"
#include "hook/table.h"

#define HOOK_DEFAULT_TIMEOUT_MS 10000
#define HOOK_MAX_TIMEOUT_MS (3600 * 1000)
#define HOOK_MAX_PER_EVENT 200

struct hook_def {
    struct str type;
    struct str label; /* for messages: command "./check.sh" of .keel/settings.json */
    const struct json *definition;
    const struct json *env; /* an object of strings, or NULL */
    uint64_t timeout_ms;
    bool fails_closed;
    bool is_project;               /* from a trusted project, not from the person */
    const struct matcher *matcher; /* of its group */
};

/* The hooks of one event, in order of appearance. */
struct hook_list {
    struct hook_def *items;
    size_t n, room;
};

struct hook_config;
struct hook_config *hook_config_new(void) MUST_USE;
void hook_config_free(struct hook_config *c);
DEFINE_AUTO_PTR(hook_config, hook_config_free)

/* Tool names that a matcher can mean, those of keel first. */
struct hook_tools {
    const struct str *names;
    size_t n, n_own;
};

/* The origin of hooks. */
struct hook_file {
    const char *name;
    bool is_foreign; /* written for another program */
    bool is_project;
    bool names_are_regex; /* its matchers are always regular expressions */
    /* A matcher that fits none of these tools gets a warning, and so does each unknown name. Tools
     * of servers (mcp__...) are not checked. NULL: no warnings. */
    const struct hook_tools *tools;
};
/* Adds the "hooks" of one file. Call it for each file, lowest layer first. Copies. After an error,
 * only free the configuration. */
MUST_USE struct err *hook_config_add(struct hook_config *c, const struct json *hooks,
                                     const struct hook_file *file);

const struct hook_list *hook_config_list(const struct hook_config *c, enum hook_event e);
bool hook_config_is_empty(const struct hook_config *c);

/* Warnings about ignored entries, for the person. */
size_t hook_config_n_warnings(const struct hook_config *c);
struct str hook_config_warning(const struct hook_config *c, size_t index);

#endif
