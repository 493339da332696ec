/* hidden_thoughts.c - which providers are not asked for the text of their reasoning. */
#include "engine/hidden_thoughts.h"

#include "engine/run_state.h"

static struct str key_of(struct arena *a, struct str provider)
{
    return arena_format(a, "hidden_thoughts:%" STR_FMT, STR_ARG(provider));
}

bool hidden_thoughts_are(const struct tool_state *s, struct str provider)
{
    AUTO(arena) struct arena a = {0};

    return tool_state_get(s, key_of(&a, provider)) != NULL;
}

bool hidden_thoughts_accept(struct run *r, struct str provider, const struct err *e)
{
    AUTO(arena) struct arena a = {0};

    if (!e->hides_thoughts || hidden_thoughts_are(r->conversation->state, provider))
        return false;
    tool_state_set(r->conversation->state, key_of(&a, provider), json_new_bool(&a, true));
    run_notice(r, SEVERITY_VERBOSE, "llm",
               arena_format(&a, "%" STR_FMT " does not show its reasoning to this account",
                            STR_ARG(provider)));
    return true;
}
