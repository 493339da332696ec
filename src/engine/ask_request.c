/* ask_request.c - the request for one target: system text, tools, messages, how to answer. */
#include "engine/ask_state.h"
#include "engine/shorten.h"

/* Does the request begin as all requests of the session do? Providers keep that beginning, and some
 * check it: it is the same in a last turn and where a summary is asked for. */
static bool begins_as_session(const struct ask_state *a)
{
    return !a->aside || a->aside->system.n == 0;
}

static void choose_tools(struct ask_state *a)
{
    const struct tool_set *set = a->run->tools;

    a->n_tools = 0;
    if (!begins_as_session(a))
        return;
    a->tools = ARENA_ARRAY(&a->arena, set->n, const struct tool_def *);
    for (size_t i = 0; i < set->n; i++)
        a->tools[a->n_tools++] = &set->entries[i].def;
}

/* What the model may call: nothing in an aside, and in a last turn the one tool that is left. */
static struct tool_choice choose_calls(const struct ask_state *a)
{
    const char *last = a->final ? a->run->policy->final_tool : NULL;

    if (a->n_tools == 0 || (!a->final && !a->aside))
        return (struct tool_choice){0};
    if (last && tool_set_find(a->run->tools, str_of(last)))
        return (struct tool_choice){.kind = TOOL_CHOICE_NAMED, .name = str_of(last)};
    return (struct tool_choice){.kind = TOOL_CHOICE_NONE};
}

/* A provider's own tools obey the filter of ours. */
static bool may_use_native(const struct ask_state *a, struct str name)
{
    return begins_as_session(a) && tool_filter_has(&a->run->plan->filter, name);
}

/* In an aside it is there for the tool that asks, and nothing else is. */
static bool wants_search(const struct ask_state *a)
{
    if (!begins_as_session(a))
        return a->aside->searches_web;
    return a->run->plan->web_search && may_use_native(a, S(TOOL_WEB_SEARCH));
}

static struct str join_system(struct ask_state *a)
{
    struct str authored = begins_as_session(a) ? a->run->plan->system : a->aside->system;
    struct str told = a->built.system;

    if (told.n == 0 || authored.n == 0 || !begins_as_session(a))
        return authored.n ? authored : told;
    return arena_format(&a->arena, "%" STR_FMT "\n\n%" STR_FMT, STR_ARG(authored), STR_ARG(told));
}

const struct str *ask_overlay(const struct ask_state *a)
{
    if (a->aside)
        return &a->aside->instruction;
    return a->final ? &a->final->instruction : NULL;
}

/* Is all of the conversation in the request, behind the beginning that all its requests have? Then
 * it begins with what was built for the last one. */
static bool continues_last(const struct ask_state *a)
{
    return begins_as_session(a) && !(a->aside && a->aside->cut);
}

static void build_messages(struct ask_state *a, const struct target *t)
{
    struct provider_capabilities can = provider_capabilities(t->provider, t->info);
    struct request_target target = {
        .provider = t->provider->id,
        .protocol = t->provider->protocol,
        .info = t->info,
        .form = can.form,
        .takes_file_urls = can.takes_file_urls,
        .refused = refusals_state(&a->refusals, a->run->conversation->state),
        .model = t->model,
        .authored = begins_as_session(a) ? a->run->plan->system : a->aside->system,
        .tools = a->tools,
        .n_tools = a->n_tools};
    const struct str *overlay = ask_overlay(a);
    AUTO(shortened) struct shortened shortened = {0};
    size_t n;
    const struct message *const *messages = history_messages(&a->run->conversation->history, &n);

    if (a->aside && a->aside->cut) {
        shorten(messages, n, a->aside->cut, &shortened);
        messages = (const struct message *const *)shortened.items;
        n = shortened.n;
    }
    request_build_on(continues_last(a) ? a->run->conversation->built : NULL, messages, n, &target,
                     overlay, overlay ? 1 : 0, &a->built);
}

/* 0: its size is not known, and a server that must make room for it decides. */
static int64_t known_window(const struct target *t)
{
    int64_t window = target_window(t);

    return window == MODEL_DEFAULT_CONTEXT_WINDOW ? 0 : window;
}

/* --- reasoning --- */

/* Has this provider refused to show its reasoning? */
static bool hides_thoughts(const struct run *r, struct str provider)
{
    return tool_state_has(r->conversation->state, STATE_HIDDEN_THOUGHTS, provider);
}

bool ask_without_thoughts(struct run *r, struct str provider, const struct err *e)
{
    AUTO(arena) struct arena a = {0};

    if (!e->hides_thoughts || hides_thoughts(r, provider))
        return false;
    tool_state_set_flag(r->conversation->state, STATE_HIDDEN_THOUGHTS, provider);
    run_notice(r, SEVERITY_VERBOSE, "llm",
               arena_format(&a, "%" STR_FMT " does not show its reasoning to this account",
                            STR_ARG(provider)));
    return true;
}

/* --- all of it --- */

void ask_build(struct ask_state *a, const struct target *t)
{
    const struct run_plan *plan = a->run->plan;

    built_messages_done(&a->built);
    arena_clear(&a->arena);
    choose_tools(a);
    build_messages(a, t);
    a->request = (struct model_request){
        .provider = t->provider->id,
        .protocol = t->provider->protocol,
        .model = t->model,
        .system = hide_in_str(a->run->secrets, &a->arena, join_system(a), NULL),
        .messages = (const struct message *const *)a->built.items,
        .n_messages = a->built.n,
        .tools = a->tools,
        .n_tools = a->n_tools,
        .tool_choice = choose_calls(a),
        .sampling = plan->sampling,
        .effort = plan->effort,
        .reasoning_budget = plan->reasoning_budget,
        .no_thoughts = hides_thoughts(a->run, t->provider->id),
        .max_output = t->max_output,
        .context_window = known_window(t),
        .output_schema = a->aside ? NULL : a->run->input->output_schema,
        .stream = plan->stream,
        .web_search = wants_search(a),
        .web_fetch = plan->web_fetch && may_use_native(a, S(TOOL_WEB_FETCH)),
        .search_allowed = a->aside ? a->aside->search_allowed : NULL,
        .search_blocked = a->aside ? a->aside->search_blocked : NULL,
        .cache = plan->cache,
        .cache_key = str_of(a->run->conversation->id),
        .options = t->options,
        .info = t->info,
        .message_tokens = a->built.tokens,
        .n_settled = a->built.n_settled,
        .last_user = a->built.last_user,
        .kept = continues_last(a) ? &a->run->conversation->body : NULL,
    };
}
