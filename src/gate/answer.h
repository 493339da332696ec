/* answer.h - step 8: what an answer is to, and what it is worth later. */
#ifndef KEEL_GATE_ANSWER_H
#define KEEL_GATE_ANSWER_H

#include "gate/gate.h"
#include "gate/pattern.h"

/* --- answers that hold for longer --- */

/* The session remembers what was shown, and nothing wider: the call's own pattern, and that of the
 * file that it leads to if that is another. For the project, the keeper writes them down as well;
 * where it cannot, the verdict's hook_message says so. May wait. */
void gate_remember(const struct rule_keeper *keeper, enum answer_kind kind, const struct subject *s,
                   const struct decided *d, struct tool_state *state, struct arena *a,
                   struct verdict *verdict);
/* What would be remembered first; empty: nothing can be. */
struct str gate_rule_of(const struct subject *s, const struct decided *d, struct arena *a) MUST_USE;

/* Adds to a question where the path leads, if a link is on the way. */
void gate_tell_target(const struct prepared *p, struct arena *a, struct str *text);

/* --- answers that come later --- */

/* The session notes which arguments are asked about where they are not the model's own. */
void gate_note_asked(const struct gate_call *call, const struct json *own_args,
                     const struct verdict *verdict, struct arena *a);
/* Does the call come with an answer, and one to these arguments? What hooks make of them now may be
 * something else; then a person is asked again. */
bool gate_is_answered(const struct gate_call *call, const struct json *own_args,
                      const struct verdict *verdict, struct arena *a);

#endif
