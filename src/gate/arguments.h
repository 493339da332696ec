/* arguments.h - step 4: what the model sent, as the tool will get it. */
#ifndef KEEL_GATE_ARGUMENTS_H
#define KEEL_GATE_ARGUMENTS_H

#include "model/part.h"
#include "port/tool_set.h"

/* Arguments that are wrong are told in *ret_problem, for the model; *ret_args is then what came. An
 * error means that they could not be checked. Everything lives in `a`. */
MUST_USE struct err *gate_arguments(const struct part *call, struct tool_entry *entry,
                                    struct arena *a, const struct json **ret_args,
                                    struct str *ret_problem);

#endif
