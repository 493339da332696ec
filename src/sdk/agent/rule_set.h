/* rule_set.h - what flags, settings and keel itself say about permissions, and who said it.
 *
 * Made once for an agent, or for a command that shows it. Everything lives in the arena it was made
 * with, and as long as the project's settings. */
#ifndef KEEL_SDK_AGENT_RULE_SET_H
#define KEEL_SDK_AGENT_RULE_SET_H

#include "gate/gate.h"
#include "sdk/agent/agent.h"

const char *rule_kind_name(enum rule_kind k); /* "deny", "ask", "allow": also the setting's name */

/* Who said something. */
struct rule_source {
    const char *layer; /* "user", "project", "command line", "built in" */
    struct str where;  /* the file or the flag; may be empty */
};

struct rule {
    struct str text;
    enum rule_kind kind;
    struct rule_source source;
    bool is_untrusted; /* it comes from a project that is not trusted */
    bool is_used;      /* false: it does, and would allow something; or what it needs is missing */
    bool is_class;     /* no pattern, but a name for calls of a kind: RULE_LOOKING */
};

struct rule_set {
    struct rule *rules; /* all of them, in the order in which they are looked at */
    size_t n, room;
    enum permission_mode mode;
    struct rule_source mode_source;
    /* What the gate gets of it. */
    struct permission_rules gate_rules;
    struct hard_policy policy;
    /* Directories to work in besides the project: policy.writable, in the order of flags, settings.
     */
    const char *const *added_dirs;
    size_t n_added_dirs;
    const char *shell;    /* that reads command lines */
    struct str *warnings; /* for the person: what is ignored, and why */
    size_t n_warnings, warnings_room;
};

/* Of the options only those about permissions count. Blocks: directories are looked up. With an
 * error the set has the warnings up to there. */
MUST_USE struct err *rule_set_init(struct rule_set *set, struct arena *a, const struct project *p,
                                   const struct agent_options *options);

/* Who said the pattern that the gate names; NULL: nobody, it is the mode or a yes of the session.
 */
const struct rule *rule_set_find(const struct rule_set *set, enum rule_kind kind, struct str text);

#endif
