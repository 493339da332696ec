/* calls.c - tools that give what they gave, and a gate that judges as it judged. */
#include "sdk/replay/parts.h"

#include "session/codec/codec.h"
#include "tool/builtin.h"
#include "tool/web/search_model.h"

#define SPENT_PREFIX "(tool failed: too many calls with wrong arguments) "

static struct str result_text(struct arena *a, const struct part *p)
{
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 0; p && i < p->n_content; i++)
        if (p->content[i].kind == PART_TEXT)
            strbuf_add(&text, p->content[i].text);
    return arena_str(a, strbuf_str(&text));
}

static bool failed_with(const struct recorded_call *c, enum err_kind kind)
{
    return str_is(c->code, err_code(kind));
}

/* --- tools --- */

/* Also for a call that was cancelled: it has its result. */
static const struct part *load_end(struct replay *r, const struct recorded_call *c,
                                   struct codec_reader **ret_reader)
{
    AUTO(err) struct err *e = NULL;
    const struct part *end = c->end;

    task_shield_begin();
    e = recording_load_end(r->recording, c, ret_reader, &end);
    task_shield_end();
    if (e)
        replay_note_damage(r, e);
    return end;
}

/* If the recording does not say what hooks added: it follows what the tool gave. A text that is
 * longer than what the model got of it has nothing behind it, and is not loaded for that. */
static struct str find_added(struct replay *r, struct arena *a, const struct recorded_call *c)
{
    struct str result = result_text(a, c->result), end, added;
    AUTO(codec_reader) struct codec_reader *owner = NULL;

    if (!c->end || !c->result || c->result->is_error != c->end->is_error)
        return (struct str){0}; /* another text has taken its place */
    if (c->end_event->has_left && result.n <= CODEC_INLINE_MAX)
        return (struct str){0};
    end = result_text(a, load_end(r, c, &owner));
    if (!str_starts(result, end))
        return (struct str){0};
    added = str_skip(result, end.n);
    return end.n && added.n && !str_ends(end, S("\n")) ? str_skip(added, 1) : added;
}

static struct str added_by_hooks(struct replay *r, struct arena *a, const struct recorded_call *c)
{
    return c->hook_text.n ? c->hook_text : find_added(r, a, c);
}

struct str replay_refusal(struct arena *a, const struct recorded_call *c)
{
    return c->refusal.n ? c->refusal : result_text(a, c->result);
}

/* What the tool itself reported; the engine adds the code of an error. */
static struct json *own_metadata(const struct recorded_call *c, struct arena *a)
{
    struct json *own = NULL;

    json_each (member, c->metadata) {
        if (str_is(member->key, "errorCode"))
            continue;
        if (!own)
            own = json_new(a, JSON_OBJECT);
        json_set_key(a, own, member->key, json_copy(a, member));
    }
    return own;
}

/* A result, or the error that became one. */
static struct err *give_result(const struct recorded_call *c, const struct part *end,
                               struct tool_result *result)
{
    bool is_failure = json_has(c->metadata, "errorCode");
    enum err_kind kind;

    if (is_failure && err_kind_find(c->code, &kind)) {
        struct str text = result_text(&result->arena, end);

        result->details = own_metadata(c, &result->arena);
        return err_new(kind, "%" STR_FMT, STR_ARG(text));
    }

    for (size_t i = 0; end && i < end->n_content; i++) {
        const struct part *p = &end->content[i];

        if (p->kind == PART_TEXT)
            strbuf_add(&result->text, p->text);
        else
            tool_result_add_media(result, &p->media);
    }
    result->is_error = !c->end_is_ok;
    if (err_kind_find(c->code, &kind))
        result->code = kind;
    if (c->metadata)
        result->details = json_copy(&result->arena, c->metadata);
    return NULL;
}

/* One call as a tool of its own. */
struct played_call {
    struct tool tool;
    struct tool_entry entry;
    struct replay *replay;
    struct recorded_call *call;
};

/* Its beginning did not become durable, and so it was not run. */
static bool was_cut_early(const struct recorded_call *c)
{
    return c->has_ended && !c->was_executed;
}

/* The call had asked a model: it asks again, and the recording answers. What it made of that is
 * recorded, too. */
static void search_again(struct replay *r, struct tool_context *context, const struct json *args)
{
    const struct recorded_event *x = replay_peek(r);
    AUTO(arena) struct arena a = {0};
    AUTO(message) struct message *answer = NULL;
    struct web_query query = web_query_of(args);
    struct model_search s = web_model_search(&a, &query);

    if (!x || x->type != EVENT_ATTEMPT_BEGIN || !str_eq(x->attempt->call_id, context->call_id))
        return;
    err_ignore(tool_search_model(context, &s, &answer), "its events are what counts");
}

static struct err *play_tool(const struct tool *t, struct tool_context *context,
                             const struct json *args, struct tool_result *result)
{
    struct played_call *played = t->self;
    struct recorded_call *c = played->call;
    const struct ask *ask = replay_find_ask(played->replay->recording, c->call_id);
    AUTO(codec_reader) struct codec_reader *owner = NULL;

    replay_enter(played->replay, c);
    if (c->has_waited) {
        result->is_pending = true;
        if (ask)
            result->ask = *ask;
        return NULL;
    }
    if (c->has_asked)
        search_again(played->replay, context, args);
    replay_wait_for_end(played->replay, c);
    if (was_cut_early(c))
        return replay_fail_begin(played->replay, c, context);
    return give_result(c, load_end(played->replay, c, &owner), result);
}

static const struct tool *find_builtin(struct str name)
{
    for (struct tool *const *t = builtin_tools; *t; t++)
        if (str_is(name, (*t)->name))
            return *t;
    return NULL;
}

static struct tool_entry *play_call(struct replay *r, struct recorded_call *c, struct arena *a)
{
    struct played_call *played = ARENA_NEW(a, struct played_call);
    const struct tool *real = find_builtin(c->name);

    *played = (struct played_call){
        .tool = {.name = arena_cstr(a, c->name),
                 .server = c->server.n ? arena_cstr(a, c->server) : NULL,
                 .risk = c->risk,
                 .is_barrier = c->is_alone || c->has_asked,
                 .begins_late = was_cut_early(c),
                 .gives_answer = real && real->gives_answer,
                 .max_chars = real ? real->max_chars : 0,
                 .run = play_tool},
        .replay = r,
        .call = c,
    };
    played->tool.self = played;
    played->entry.tool = &played->tool;
    return &played->entry;
}

static struct err *never_run(const struct tool *t, struct tool_context *c, const struct json *args,
                             struct tool_result *result)
{
    return err_new(ERR_INTERNAL, "tools are not run again");
}

static struct tool *tool_of(struct replay *r, const struct tool_def *d)
{
    struct tool *t = ARENA_NEW(&r->arena, struct tool);
    AUTO(strbuf) struct strbuf schema = {0};

    if (d->input_schema && d->input_schema->raw.n)
        strbuf_add(&schema, d->input_schema->raw);
    else if (d->input_schema)
        json_write(&schema, d->input_schema);
    *t = (struct tool){.name = arena_cstr(&r->arena, d->name),
                       .description = arena_cstr(&r->arena, d->description),
                       .schema = arena_cstr(&r->arena, strbuf_str(&schema)),
                       .run = never_run};
    return t;
}

/* What the model is shown, as it was shown then. */
struct err *replay_add_tools(struct replay *r, const struct tool_set *set)
{
    tool_registry_free(r->tools);
    r->tools = tool_registry_new();
    for (size_t i = 0; set && i < set->n; i++)
        TRY(tool_registry_add(r->tools, tool_of(r, &set->entries[i].def), NULL));
    r->plan.tools = r->tools;
    return NULL;
}

/* --- the gate --- */

/* If the recording does not say which call's hook ended the run: no call of the batch was run, so
 * it may as well be the last one. */
static bool is_last_judged(const struct replay *r, const struct recorded_call *c)
{
    struct recorded_call *const *calls;
    size_t n;

    if (c->batch < r->recording->last_batch)
        return false;
    calls = recording_calls(r->recording, c->batch, &n);
    for (size_t i = 0; i < n; i++)
        if (calls[i]->index > c->index)
            return false;
    return true;
}

static void judge_as_recorded(struct replay *r, struct recorded_call *c, struct arena *a,
                              struct verdict *v)
{
    const struct ask *ask = replay_find_ask(r->recording, c->call_id);
    struct str text = replay_refusal(a, c);

    v->kind = VERDICT_ALLOW;
    v->args = c->args;
    v->entry = play_call(r, c, a);
    v->risk =
        (struct call_risk){RISK_INSPECT, .is_trusted = false}; /* what ran alone is a barrier */
    v->reason = text;
    v->hook_context = added_by_hooks(r, a, c);
    if (c->was_denied) {
        v->kind = VERDICT_DENY;
    } else if (c->has_begun) {
        return;
    } else if (ask && !c->has_result) {
        v->kind = VERDICT_LATER;
        v->ask = *ask;
    } else if (failed_with(c, ERR_CANCELLED) && !c->is_awaited) {
        v->kind = VERDICT_LATER; /* the run ended before it began */
    } else if (failed_with(c, ERR_UNKNOWN_TOOL)) {
        v->kind = VERDICT_UNKNOWN_TOOL;
        v->entry = NULL;
    } else if (failed_with(c, ERR_VALIDATION)) {
        v->kind = VERDICT_BAD_ARGUMENTS;
    } else if (failed_with(c, ERR_TOOL_FAILED) && str_starts(text, S(SPENT_PREFIX))) {
        v->kind = VERDICT_BAD_ARGUMENTS;
        v->reason = str_skip(text, strlen(SPENT_PREFIX));
    }
    if (r->recording->tells_stop ? c->stops_run : is_last_judged(r, c))
        v->stops_run = replay_ended_by_hook(r, HOOK_PRE_TOOL_USE, &v->stop_reason);
}

struct err *replay_judge(struct gate *g, const struct gate_call *call, struct arena *a,
                         struct verdict *ret_verdict)
{
    struct replay *r = REPLAY_OF(g, gate);
    struct recorded_call *c =
        recording_find_call(r->recording, r->n_batches, call->call->id, /* is_unjudged= */ true);

    *ret_verdict = (struct verdict){.kind = VERDICT_DENY, .reason = S("(not recorded)")};
    if (!c)
        return NULL;
    c->is_judged = true;
    judge_as_recorded(r, c, a, ret_verdict);
    return NULL;
}
