/* inline_call.h - calls that a model wrote as text, in the forms that models are trained on:
 *
 *     {"name": "ls", "arguments": {...}}                    Hermes, Qwen; "parameters": Llama
 *     [{"name": "ls", "arguments": {...}}, ...]             Mistral
 *     ls[ARGS]{...}, ls{...}                                Mistral's later ones
 *     <function=ls><parameter=path>src</parameter></function>      Qwen3-Coder
 *
 * The last form has no types: its values are texts, and whoever knows the tool's schema makes of
 * them what it wants. Pure. */
#ifndef KEEL_PROVIDER_INLINE_CALL_H
#define KEEL_PROVIDER_INLINE_CALL_H

#include "base/json.h"

struct inline_call {
    struct str name, args; /* JSON; empty: it has none */
};

struct inline_calls {
    struct inline_call *items; /* in the arena */
    size_t n, room;
};

/* The calls in the text, one or more of one form; false: it is something else. `is_mistral`: the
 * forms that have the name before the arguments may come, too. */
bool inline_calls_read(struct arena *a, struct str text, bool is_mistral, struct inline_calls *ret);

#endif
