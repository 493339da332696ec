/* ports.c - what tools, rules, hooks and limits did, as it was recorded. */
#include "sdk/replay/parts.h"

#include "session/codec/codec.h"
#include "session/summary.h"
#include "tool/builtin.h"
#include "tool/shell/news.h"
#include "tool/web/search_model.h"

#define SPENT_PREFIX "(tool failed: too many calls with wrong arguments) "
#define STAYS_PREFIX "The history stays as it is: "
#define NO_SUMMARY_PREFIX STAYS_PREFIX "no summary was made: "
#define REFUSED_PREFIX STAYS_PREFIX "a PreCompact hook says no: "
#define NO_GAIN_PREFIX STAYS_PREFIX "a summary would not make it shorter"
#define PLUGIN_PREFIX "plugin "

#define PORT_OF(port, member) ((struct replay *)((char *)(port) - offsetof(struct replay, member)))

/* --- what the recording says --- */

static struct str result_text(struct arena *a, const struct part *p)
{
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 0; p && i < p->n_content; i++)
        if (p->content[i].kind == PART_TEXT)
            strbuf_add(&text, p->content[i].text);
    return arena_str(a, strbuf_str(&text));
}

static const struct ask *find_ask(const struct recording *x, struct str call_id)
{
    for (size_t i = 0; i < x->n_asks; i++)
        if (str_eq(x->asks[i].call_id, call_id))
            return &x->asks[i];
    return NULL;
}

static bool failed_with(const struct recorded_call *c, enum err_kind kind)
{
    return str_is(c->code, err_code(kind));
}

/* "a Stop hook ended the run: REASON" gives the reason. */
static bool ended_by_hook(struct replay *r, enum hook_event event, struct str *ret_reason)
{
    struct str start = arena_format(&r->arena, "a %s hook ended the run: ", hook_event_name(event));
    AUTO_FREE char *text = r->recording->error ? err_message(r->recording->error) : NULL;

    if (!text || !str_starts(str_of(text), start))
        return false;
    *ret_reason = arena_str(&r->arena, str_skip(str_of(text), start.n));
    return true;
}

static bool is_next(const struct replay *r, enum event_type type)
{
    const struct recorded_event *x = replay_peek(r);

    return x && x->type == type;
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

/* Of a recording that does not say what hooks have added: it stands behind what the tool gave. A
 * text that is longer than
 * what the model got of it has nothing behind it, and is not loaded for that. */
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

/* Why a call was not run, as it was before it had to fit. */
static struct str refusal_text(struct arena *a, const struct recorded_call *c)
{
    return c->refusal.n ? c->refusal : result_text(a, c->result);
}

/* What the tool itself told; the engine adds the code of an error. */
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
    const struct ask *ask = find_ask(played->replay->recording, c->call_id);
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

/* Where it is not told which call's hook ended the run: none of the batch was run, so that it may
 * as well be the last one. */
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
    const struct ask *ask = find_ask(r->recording, c->call_id);
    struct str text = refusal_text(a, c);

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
        v->stops_run = ended_by_hook(r, HOOK_PRE_TOOL_USE, &v->stop_reason);
}

static struct err *judge(struct gate *g, const struct gate_call *call, struct arena *a,
                         struct verdict *ret_verdict)
{
    struct replay *r = PORT_OF(g, gate);
    struct recorded_call *c =
        recording_find_call(r->recording, r->n_batches, call->call->id, /* is_unjudged= */ true);

    *ret_verdict = (struct verdict){.kind = VERDICT_DENY, .reason = S("(not recorded)")};
    if (!c)
        return NULL;
    c->is_judged = true;
    judge_as_recorded(r, c, a, ret_verdict);
    return NULL;
}

/* --- hooks --- */

static struct str first_text(const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TEXT)
            return m->parts[i].text;
    return (struct str){0};
}

static struct str blocked_reason(struct replay *r)
{
    AUTO_FREE char *text = r->recording->error ? err_message(r->recording->error) : NULL;
    struct str start = S("the prompt was blocked by a hook: ");

    return text && str_starts(str_of(text), start)
               ? arena_str(&r->arena, str_skip(str_of(text), start.n))
               : (struct str){0};
}

/* Did the prompt have this part before hooks were asked? */
static bool was_asked(const struct replay *r, struct str text)
{
    const struct message *m = r->recording->asked;

    for (size_t i = 0; m && i < m->n_parts; i++)
        if (str_eq(m->parts[i].text, text))
            return true;
    return false;
}

/* The message that was committed against the one that was asked. */
static void play_prompt_hook(struct replay *r, const struct hook_input *input, struct arena *a,
                             struct hook_outcome *out)
{
    const struct recorded_event *x = replay_peek(r);
    const struct message *m = x && x->type == EVENT_HISTORY ? x->message : NULL;
    struct str prompt = json_get_text(input->fields, "prompt"), first, last;
    struct json *updated;

    if (x && x->type == EVENT_ERROR) {
        out->reason = blocked_reason(r);
        out->is_blocked = out->reason.n > 0;
    }
    if (!m || m->n_parts == 0)
        return;
    first = first_text(m);
    last = m->parts[m->n_parts - 1].text;
    if (!str_starts(prompt, first)) {
        updated = json_new(a, JSON_OBJECT);
        json_set_str(a, updated, "prompt", first);
        out->updated_input = updated;
    }
    if (m->n_parts > 1 && last.n && !str_ends(prompt, last) && !was_asked(r, last))
        out->additional_context = last;
}

static void play_stop_hook(const struct replay *r, struct arena *a, struct hook_outcome *out)
{
    const struct recorded_event *x = replay_peek(r);
    AUTO(strbuf) struct strbuf text = {0};

    out->is_blocked = x && x->type == EVENT_HISTORY && x->message->role == ROLE_USER;
    if (!out->is_blocked)
        return;
    message_text(x->message, &text);
    out->reason = arena_str(a, strbuf_str(&text));
}

static void play_compact_hook(const struct replay *r, struct hook_outcome *out)
{
    const struct recorded_event *x = replay_peek(r);

    out->is_blocked = x && x->type == EVENT_NOTICE && str_starts(x->text, S(REFUSED_PREFIX));
    if (out->is_blocked)
        out->reason = str_skip(x->text, strlen(REFUSED_PREFIX));
}

/* Where only what comes after it can tell that a hook ended the run: no other call ends, and
 * nothing is asked. */
static bool is_last_call(const struct replay *r)
{
    const struct recorded_event *x = recording_at(r->recording, 0);

    if (x && x->seq <= r->recording->last_attempt_seq)
        return false;
    for (size_t i = 0; (x = recording_at(r->recording, i)); i++)
        if (x->type == EVENT_TOOL_END && !x->call->has_waited)
            return false;
    return true;
}

/* The call that has just ended. Where several have its id they end in the order of the recording.
 */
static struct recorded_call *take_hooked(const struct replay *r, struct str call_id)
{
    struct recorded_call *const *calls, *found = NULL;
    size_t n;

    calls = recording_calls(r->recording, r->n_batches, &n);
    for (size_t i = 0; i < n; i++)
        if (calls[i]->has_ended && !calls[i]->has_waited && !calls[i]->is_hooked &&
            str_eq(calls[i]->call_id, call_id) && (!found || calls[i]->end_seq < found->end_seq))
            found = calls[i];
    if (found)
        found->is_hooked = true;
    return found;
}

/* Has the hook of this call ended the run? Then no call begins after it, and those that had begun
 * before have begun here, too. */
static bool stops_after(struct replay *r, const struct hook_input *input)
{
    const struct recorded_call *c = take_hooked(r, json_get_text(input->fields, "tool_use_id"));

    if (c && c->stops_run)
        replay_wait_for_begins(r, c->batch);
    else if (c)
        replay_wait_for_place(r, c->batch);
    return r->recording->tells_stop ? c && c->stops_run : is_last_call(r);
}

static struct err *run_hooks(struct hooks *h, const struct hook_input *input, struct arena *a,
                             struct hook_outcome *ret_outcome)
{
    struct replay *r = PORT_OF(h, hooks);
    bool may_end = is_next(r, EVENT_ERROR);

    *ret_outcome = (struct hook_outcome){0};
    TRY(task_check()); /* hooks are waited for */
    if (input->event == HOOK_POST_TOOL_USE)
        may_end = stops_after(r, input);
    if (input->event == HOOK_USER_PROMPT_SUBMIT)
        play_prompt_hook(r, input, a, ret_outcome);
    if (input->event == HOOK_STOP)
        play_stop_hook(r, a, ret_outcome);
    if (input->event == HOOK_PRE_COMPACT)
        play_compact_hook(r, ret_outcome);
    if (may_end && input->event != HOOK_STOP_FAILURE)
        ret_outcome->stops_run = ended_by_hook(r, input->event, &ret_outcome->stop_reason);
    return NULL;
}

/* --- plugins --- */

/* "plugin NAME: WHY": the name is put before it again. Another text is no refusal. */
static struct err *refuse_as_recorded(struct plugin *p, enum err_kind kind, struct str text)
{
    struct replay *r = PORT_OF(p, plugin);
    struct str rest = str_skip(text, strlen(PLUGIN_PREFIX));
    size_t colon = str_find(rest, S(": "));

    if (!str_starts(text, S(PLUGIN_PREFIX)) || colon == STR_NONE)
        return NULL;
    p->name = arena_cstr(&r->arena, str_slice(rest, 0, colon));
    return err_new(kind, "%" STR_FMT, STR_ARG(str_skip(rest, colon + 2)));
}

/* What a plugin made of the prompt is in the message that was committed, as what hooks made. */
static struct err *before_run(struct plugin *p, const struct plugin_run *run, struct arena *a,
                              struct str *input)
{
    const struct replay *r = PORT_OF(p, plugin);
    const struct err *e = r->recording->error;
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    return text && is_next(r, EVENT_ERROR) ? refuse_as_recorded(p, e->kind, str_of(text)) : NULL;
}

/* --- the budget --- */

static struct err *reserve(void *self, const struct attempt *a, struct reservation *reservation,
                           struct budget_word *ret_word)
{
    struct replay *r = self;
    const struct recorded_event *x = replay_peek(r);
    const struct ask *ask = find_ask(r->recording, (struct str){0});

    if (x && x->type == EVENT_ATTEMPT_BEGIN)
        reservation->max_output = x->attempt->limited_to;
    if (!x || x->type == EVENT_ATTEMPT_BEGIN)
        return NULL;
    if (x->type == EVENT_NOTICE && str_starts(x->text, S(NO_SUMMARY_PREFIX)))
        return err_new(ERR_BUDGET_EXCEEDED, "%" STR_FMT,
                       STR_ARG(str_skip(x->text, strlen(NO_SUMMARY_PREFIX))));
    if (ask)
        ret_word->ask = *ask;
    return r->recording->error ? err_copy(r->recording->error)
                               : err_new(ERR_BUDGET_EXCEEDED, "it was refused");
}

/* A call that a plugin or the budget refused after the gate had let it through. */
static struct err *take_call(void *self, const struct event_tool *call)
{
    struct replay *r = self;
    const struct recorded_call *c =
        recording_find_call(r->recording, r->n_batches, call->call_id, /* is_unjudged= */ false);
    AUTO(arena) struct arena a = {0};
    enum err_kind kind;
    struct str text;

    if (!c || c->has_begun || !err_kind_find(c->code, &kind))
        return NULL;
    text = refusal_text(&a, c);
    if (kind != ERR_BUDGET_EXCEEDED && !str_starts(text, S(PLUGIN_PREFIX)))
        return NULL;
    return err_new(kind, "%" STR_FMT, STR_ARG(text));
}

struct budget_keeper replay_budget(struct replay *r)
{
    return (struct budget_keeper){.reserve = reserve, .take_call = take_call, .self = r};
}

/* The wait that was drawn after the attempt under way. */
int64_t replay_known_delay(void *replay)
{
    const struct recorded_attempt *a = ((struct replay *)replay)->attempt;

    return a ? a->delay_ms : -1;
}

bool replay_drops_text(void *replay)
{
    return is_next(replay, EVENT_TEXT_DROPPED);
}

/* --- compaction --- */

/* What comes of the summary that begins now: what was put back, in the message that says so, and
 * that it gained nothing. One that failed does not say who asked for it. */
static bool look_at_summary(void *self, const struct event *e)
{
    struct replay *r = self;
    struct replay_summary *s = &r->summary;
    const struct message *m = e->type == EVENT_HISTORY ? e->body.message.message : NULL;

    if (m && !s->reattached && m->role == ROLE_USER && str_eq(first_text(m), S(REATTACH_NOTE)))
        s->reattached = message_ref((struct message *)m);
    if (e->type == EVENT_COMPACTED && e->body.compact.n_results)
        return true; /* results were shortened before it was asked for */
    if (e->type == EVENT_COMPACTED)
        s->was_automatic = strcmp(e->body.compact.trigger, "auto") == 0;
    if (e->type == EVENT_NOTICE && strcmp(e->body.notice.source, "compaction") == 0) {
        if (str_starts(e->body.notice.text, S(NO_GAIN_PREFIX)))
            s->no_gain = arena_str(&r->arena, e->body.notice.text);
        return false;
    }
    return e->type != EVENT_COMPACTED;
}

static struct err *look_ahead(struct replay *r)
{
    struct err *e;

    message_unref(r->summary.reattached);
    r->summary = (struct replay_summary){0};
    task_shield_begin();
    e = recording_load(r->recording);
    if (!e)
        e = recording_look_ahead(r->recording, look_at_summary, r);
    task_shield_end();
    return e;
}

static struct err *attach(void *self, const struct reattaching *context, struct strbuf *out)
{
    strbuf_add(out, ((const struct part *)self)->text);
    return NULL;
}

/* The recording does not have what would have been put back when it was too much. */
static struct err *refuse_to_attach(void *self, const struct reattaching *context,
                                    struct strbuf *out)
{
    const struct replay *r = self;

    return err_new(ERR_PROVIDER_ERROR, "%" STR_FMT,
                   STR_ARG(str_skip(r->summary.no_gain, strlen(STAYS_PREFIX))));
}

static void set_reattachers(struct replay *r)
{
    struct message *m = r->summary.reattached;
    size_t n = m ? m->n_parts - 1 : 0;
    struct reattacher *list = ARENA_ARRAY(&r->arena, n + 1, struct reattacher);

    for (size_t i = 0; i < n; i++)
        list[i] = (struct reattacher){attach, &m->parts[i + 1]};
    if (r->summary.no_gain.n)
        list[n++] = (struct reattacher){refuse_to_attach, r};
    r->compaction.options.reattachers = list;
    r->compaction.options.n_reattachers = n;
}

/* Results that did not fit were shortened after it. */
static bool is_failed_summary(const struct recorded_event *x)
{
    return x->type == EVENT_NOTICE && str_is(x->source, "compaction");
}

static bool is_compacted_now(struct replay *r)
{
    const struct recorded_event *x = replay_peek(r);
    struct str reason;

    if (x && x->type == EVENT_ERROR)
        return ended_by_hook(r, HOOK_PRE_COMPACT, &reason);
    if (x && r->recording->only_compacts && x->seq == r->recording->cancel_seq)
        return true; /* while its hooks were asked */
    return x && ((x->type == EVENT_ATTEMPT_BEGIN && x->is_aside) || is_failed_summary(x));
}

/* What this summary was to take care of: by the settings, a person, or hooks. */
static struct str find_wishes(struct replay *r)
{
    const struct recorded_event *x;

    for (size_t i = 0; (x = recording_at(r->recording, i)); i++)
        if (x->type == EVENT_PROVIDER_REQUEST)
            return arena_str(&r->arena, summary_wishes(x->text));
    return (struct str){0};
}

/* Results are taken out next. */
static bool is_taken_out_now(const struct replay *r)
{
    const struct recorded_event *x = replay_peek(r);

    for (size_t i = 0; x && (x->type == EVENT_STATE || x->type == EVENT_NOTICE); i++) {
        if (is_failed_summary(x))
            return false;
        x = recording_at(r->recording, i); /* they are stored */
    }
    return x && x->type == EVENT_HISTORY && x->is_kept;
}

static struct err *make_shorter(struct replay *r, struct run *run, enum compact_steps steps,
                                bool is_full)
{
    r->compaction.steps = steps;
    return r->compaction.compactor.compact(&r->compaction.compactor, run, is_full);
}

/* It is compacted where it was, whatever the threshold was. */
static struct err *compact(struct compactor *c, struct run *run, bool is_full)
{
    struct replay *r = PORT_OF(c, compactor);

    if (is_taken_out_now(r) && !is_full)
        TRY(make_shorter(r, run, COMPACT_ONLY_RESULTS, is_full));
    if (!is_compacted_now(r) && !(is_full && is_taken_out_now(r)))
        return NULL;
    TRY(look_ahead(r));
    set_reattachers(r);
    r->compaction.options.instructions = find_wishes(r);
    if (!r->summary.was_automatic)
        compaction_demand(&r->compaction, (struct str){0});
    return make_shorter(r, run, COMPACT_ONLY_SUMMARY, is_full);
}

/* What came of the batch whose results come next: a compaction was to make room for them, or they
 * took what was left; they were shortened, or nothing of that was needed. */
static enum room find_room(struct compactor *c, struct run *run, const struct waiting_results *w)
{
    struct replay *r = PORT_OF(c, compactor);
    const struct recorded_event *x = replay_peek(r);
    bool is_told = x && x->type == EVENT_NOTICE && str_is(x->source, ROOM_SOURCE);
    bool is_short = false;

    if (is_told)
        return str_is(x->text, ROOM_REST_TEXT) ? ROOM_REST : ROOM_COMING;
    for (size_t i = 0; (x = recording_at(r->recording, i)); i++) {
        if (x->type == EVENT_BATCH_BEGIN || x->type == EVENT_ATTEMPT_BEGIN || is_failed_summary(x))
            break;
        is_short |= str_find(x->line, S("\"token_budget\"")) != STR_NONE ||
                    str_find(x->line, S("\"context_budget_exceeded\"")) != STR_NONE;
    }
    return is_short ? ROOM_LITTLE : ROOM_ENOUGH;
}

/* --- news --- */

/* It was told where the recording has it. */
static void take_news(struct news *n, struct strbuf *out)
{
    struct replay *r = PORT_OF(n, news);
    const struct recorded_event *x;

    replay_load(r);
    x = replay_peek(r);
    if (x && x->type == EVENT_HISTORY && x->message && x->message->role == ROLE_USER &&
        x->message->n_parts && str_starts(x->message->parts[0].text, S(NEWS_BEGIN)))
        strbuf_add(out, x->message->parts[0].text);
}

/* Nothing runs any more; but the person may have ended the wait, or what was said before it could
 * not be stored. */
static struct err *await_news(struct news *n, struct run *run)
{
    struct replay *r = PORT_OF(n, news);
    const struct err *failure = r->recording->error;

    TRY(task_check());
    return failure && failure->kind == ERR_STORAGE && is_next(r, EVENT_ERROR) ? err_copy(failure)
                                                                              : NULL;
}

/* --- all of them --- */

void replay_ports_init(struct replay *r)
{
    struct compact_options options = {.threshold_per_mille = 1, .reattaches_as_given = true};

    r->gate = (struct gate){judge};
    r->hooks = (struct hooks){run_hooks};
    r->plugin = (struct plugin){.name = "recorded", .before_run = before_run};
    r->compactor = (struct compactor){compact, find_room};
    r->news = (struct news){take_news, await_news};
    compaction_init(&r->compaction, &options, &r->conversation);
}
