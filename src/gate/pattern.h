/* pattern.h - one rule against one call.
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
struct sieve;

/* What one path may be called; absolute. */
struct names {
    const char **paths;
    size_t n;
};

/* A directory that path rules count from. */
struct path_base {
    struct str directory; /* without a slash at its end */
    bool is_any;          /* it is not written simply: what lies below cannot be told at sight */
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
    const struct command_line *command; /* what the call runs, split; NULL: that is done per rule */
    /* What was looked up. NULL: nothing was, and paths lead where they say. */
    const struct prepared *prepared;
    const struct names *names;      /* of the path that the call is about; NULL: the one given */
    const struct path_bases *bases; /* NULL: found for each rule */
    const struct sieve *sieve;      /* for lists of rules */
    bool other_shell;               /* it is not bash that would read the command */
};

/* Splits the call's command once for all rules; it lives as long as the arena. */
void subject_split_command(struct subject *s, struct arena *a);

struct pattern {
    struct str text;
    struct str tool;
    struct str argument; /* what stands in the parentheses; empty: there are none */
    bool is_broken;      /* not `Tool` and not `Tool(argument)`; the tool is what it seems to be */
};
struct pattern pattern_read(struct str text) MUST_USE;            /* borrows it */
bool pattern_parse(struct str text, struct pattern *ret_pattern); /* false: it is broken */

enum match pattern_match(const struct pattern *p, const struct subject *s, enum reading reading);

struct command_cover;
/* Narrowly: marks the commands of the call's line that the pattern allows; true: there was one that
 * no earlier pattern did. */
bool pattern_cover(const struct pattern *p, const struct subject *s, struct command_cover *cover);

/* The pattern that allows this call and none with another permission argument; of a request to a
 * host, all those to this host. False: there is no such pattern, because the call lacks the
 * argument. */
bool pattern_of_call(const struct subject *s, struct arena *a, struct str *ret_pattern);

/* The rule for Read that allows to look at a place: all that is in it, if it is a directory. */
void pattern_add_look(struct strbuf *out, const struct place *place);

/* `Read(*)`: any argument. */
static inline bool pattern_takes_any(const struct pattern *p)
{
    return p->argument.n == 0 || str_is(p->argument, "*");
}

#endif
