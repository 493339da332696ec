/* parts.h - steps of the walk that have a file of their own: what gate.c and they share. */
#ifndef KEEL_GATE_PARTS_H
#define KEEL_GATE_PARTS_H

#include "gate/gate.h"
#include "gate/pattern.h"
#include "model/part.h"
#include "port/tool_set.h"

/* --- step 4 (arguments.c) --- */

/* Turns what the model sent into the arguments that the tool gets. If they are wrong, *ret_problem
 * says so for the model, and *ret_args is what came. An error: they could not be checked. The
 * result is in `a`. */
MUST_USE struct err *gate_arguments(const struct part *call, struct tool_entry *entry,
                                    struct arena *a, const struct json **ret_args,
                                    struct str *ret_problem);

/* --- step 8: answers that hold for longer (remember.c) --- */

/* The session remembers what was shown, and nothing wider: the call's own pattern, and that of the
 * target if a link leads to another file. For the project, the keeper saves them too; if it fails,
 * the verdict's hook_message says so. May wait. */
void gate_remember(const struct rule_keeper *keeper, enum answer_kind kind, const struct subject *s,
                   const struct decided *d, struct tool_state *state, struct arena *a,
                   struct verdict *verdict);
/* The first pattern that would be remembered; empty: none. */
struct str gate_rule_of(const struct subject *s, const struct decided *d, struct arena *a) MUST_USE;

/* Adds to a question where the path leads, if a link is on the way. */
void gate_add_target(const struct prepared *p, struct arena *a, struct str *text);

/* --- step 8: answers that come later (remember.c) --- */

/* The session remembers the arguments that are asked about if they are not the model's own. */
void gate_note_asked(const struct gate_call *call, const struct json *own_args,
                     const struct verdict *verdict, struct arena *a);
/* Does the call come with an answer, to these arguments? Hooks may change them differently now;
 * then a person is asked again. */
bool gate_is_answered(const struct gate_call *call, const struct json *own_args,
                      const struct verdict *verdict, struct arena *a);

/* Appends a line to a text of the verdict. */
void gate_add_line(struct arena *a, struct str *text, struct str line);

#endif
