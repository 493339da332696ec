/* ask_hooks.h - fires an event about a call: steps 6 and 8. */
#ifndef KEEL_GATE_ASK_HOOKS_H
#define KEEL_GATE_ASK_HOOKS_H

#include "port/gate.h"
#include "port/hook.h"

/* May wait. What hooks say besides their decision is added to the verdict. */
MUST_USE struct err *gate_ask_hooks(struct hooks *h, enum hook_event event,
                                    const struct gate_call *call, struct arena *a,
                                    struct verdict *verdict, struct hook_outcome *ret_outcome);

/* Would any be asked? */
bool gate_has_hooks(struct hooks *h, enum hook_event event, const struct gate_call *call,
                    struct arena *a, const struct verdict *verdict);

/* Appends a line to a text of the verdict. */
void gate_add_line(struct arena *a, struct str *text, struct str line);

#endif
