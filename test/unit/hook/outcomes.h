/* outcomes.h - outcomes as text, so that tests compare the whole of them. */
#ifndef KEEL_TEST_UNIT_HOOK_OUTCOMES_H
#define KEEL_TEST_UNIT_HOOK_OUTCOMES_H

#include "port/hook.h"
#include "test.h"

static inline void show_text_(struct strbuf *out, const char *name, struct str text)
{
    if (text.n)
        strbuf_addf(out, " %s[%" STR_FMT "]", name, STR_ARG(text));
}

/* "blocked deny reason[...] input[{}] context[...] message[...] stops[...]", what there is of it */
static inline struct str show_outcome(struct arena *a, const struct hook_outcome *o)
{
    static const char *const permissions[] = {"", " allow", " ask", " deny"};
    AUTO(strbuf) struct strbuf out = {0}, input = {0};

    strbuf_addf(&out, "%s%s", o->is_blocked ? " blocked" : "", permissions[o->permission]);
    show_text_(&out, "reason", o->reason);
    if (o->updated_input)
        json_write(&input, o->updated_input);
    show_text_(&out, "input", strbuf_str(&input));
    show_text_(&out, "context", o->additional_context);
    show_text_(&out, "message", o->system_message);
    if (o->stops_run)
        strbuf_addf(&out, " stops[%" STR_FMT "]", STR_ARG(o->stop_reason));
    return arena_str(a, str_trim(strbuf_str(&out)));
}

#endif
