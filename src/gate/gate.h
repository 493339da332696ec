/* gate.h - the permission gate: rules and a mode decide, a person where they do not.
 *
 * Deciding is pure (permission_decide); walking the steps may wait for a person. Rules are
 * patterns: `Tool` matches every call of it, `Tool(glob)` those whose permission argument the glob
 * matches. A pattern for Bash holds only for a command that is a single simple one; a compound
 * command is matched by no allow pattern and by every deny pattern that one of its parts matches.
 */
#ifndef KEEL_GATE_GATE_H
#define KEEL_GATE_GATE_H

#include "port/gate.h"

struct permission_rules {
    const struct str *allow;
    size_t n_allow;
    const struct str *ask;
    size_t n_ask;
    const struct str *deny;
    size_t n_deny;
};

enum decision { DECISION_AUTO, DECISION_APPROVE, DECISION_DENY };
const char *decision_name(enum decision d); /* "auto", "approve", "deny" */

struct decided {
    enum decision decision;
    struct str rule; /* the pattern, or "mode:default/execute"; lives as long as the rules do */
};

/* Step 7: deny patterns, ask patterns, allow patterns, then the mode's table over the risk. Pure.
 */
struct decided permission_decide(const struct permission_rules *rules, enum permission_mode mode,
                                 const struct tool *tool, const struct json *args,
                                 const struct tool_session *session);

/* The mode's table alone. */
enum decision permission_mode_decide(enum permission_mode mode, enum risk risk);

/* Does the pattern match this call? */
bool permission_pattern_matches(struct str pattern, const struct tool *tool,
                                const struct json *args);
/* "Tool" or "Tool(something)", nothing else. */
bool permission_pattern_is_valid(struct str pattern);
/* The tool's name in a pattern. */
struct str permission_pattern_tool(struct str pattern);

/* The port's gate over these rules. */
struct permission_gate {
    struct gate gate;
    struct permission_rules rules; /* borrowed; may be changed between calls */
};
void permission_gate_init(struct permission_gate *g, const struct permission_rules *rules);

#endif
