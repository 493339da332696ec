/* hidden_thoughts.c - which providers are not asked for the text of their reasoning. */
#include "engine/hidden_thoughts.h"

#include "engine/run_state.h"

bool hidden_thoughts_are(const struct tool_state *s, struct str provider)
{
    return tool_state_has(s, STATE_HIDDEN_THOUGHTS, provider);
}

bool hidden_thoughts_accept(struct run *r, struct str provider, const struct err *e)
{
    AUTO(arena) struct arena a = {0};

    if (!e->hides_thoughts || hidden_thoughts_are(r->conversation->state, provider))
        return false;
    tool_state_set_flag(r->conversation->state, STATE_HIDDEN_THOUGHTS, provider);
    run_notice(r, SEVERITY_VERBOSE, "llm",
               arena_format(&a, "%" STR_FMT " does not show its reasoning to this account",
                            STR_ARG(provider)));
    return true;
}
