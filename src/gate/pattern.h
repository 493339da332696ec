/* pattern.h - matches one rule against one call.
 *
 * A rule that allows is read narrowly: in doubt it does not match. A rule that denies or asks is
 * read widely: in doubt it is unclear, and the caller asks. */
#ifndef KEEL_GATE_PATTERN_H
#define KEEL_GATE_PATTERN_H

#include "port/tool.h"

enum match { MATCH_NO, MATCH_YES, MATCH_UNCLEAR };
enum reading { READ_NARROWLY, READ_WIDELY };

struct command_line;
struct place;
struct prepared;

/* The names of one path; absolute. */
struct names {
    const char **paths;
    size_t n;
};

/* A directory that path rules start from. */
struct path_base {
    struct str directory; /* without a slash at the end */
    bool is_any;          /* it has ".." or the like: no quick rejection below it */
};
struct path_bases {
    struct path_base workspace, cwd, home;
};

/* A call as rules see it. */
struct subject {
    const struct tool *tool;
    const struct json *args;
    const struct tool_state *state;
    const char *const *environment;
    const struct command_line
        *command; /* the split command of the call; NULL: each rule splits it */
    /* What was looked up. NULL: nothing, and paths lead where they say. */
    const struct prepared *prepared;
    const struct names *names; /* of the path that the call is about; NULL: only the given one */
    const struct path_bases *bases; /* NULL: found for each rule */
    bool other_shell;               /* another shell than bash would read the command */
};

/* Splits the call's command once for all rules. The result lives as long as the arena. */
void subject_split_command(struct subject *s, struct arena *a);

struct pattern {
    struct str text;
    struct str tool;
    struct str argument; /* the text in parentheses; empty: none */
    bool is_broken;      /* neither `Tool` nor `Tool(argument)`; `tool` is a guess */
};
struct pattern pattern_read(struct str text) MUST_USE;            /* borrows the text */
bool pattern_parse(struct str text, struct pattern *ret_pattern); /* false: it is broken */

enum match pattern_match(const struct pattern *p, const struct subject *s, enum reading reading);

struct command_cover;
/* Narrowly: marks the commands of the line that the pattern allows; true if it marks another
 * one. */
bool pattern_cover(const struct pattern *p, const struct subject *s, struct command_cover *cover);

/* The pattern that allows this call and no other permission argument; for a request, all requests
 * to the host. False: the call lacks the argument. */
bool pattern_of_call(const struct subject *s, struct arena *a, struct str *ret_pattern);

/* The rule for Read that allows looking at a place; for a directory, at everything in it. */
void pattern_add_look(struct strbuf *out, const struct place *place);

/* `Read(*)`: any argument. */
static inline bool pattern_takes_any(const struct pattern *p)
{
    return p->argument.n == 0 || str_is(p->argument, "*");
}

#endif
