/* ports.c - what hooks, plugins and limits did, as it was recorded. */
#include "sdk/replay/parts.h"

#include "tool/shell/news.h"

#define NO_SUMMARY_PREFIX REPLAY_STAYS_PREFIX "no summary was made: "
#define REFUSED_PREFIX REPLAY_STAYS_PREFIX "a PreCompact hook says no: "
#define PLUGIN_PREFIX "plugin "

/* --- what the recording says --- */

const struct ask *replay_find_ask(const struct recording *x, struct str call_id)
{
    for (size_t i = 0; i < x->n_asks; i++)
        if (str_eq(x->asks[i].call_id, call_id))
            return &x->asks[i];
    return NULL;
}

bool replay_ended_by_hook(struct replay *r, enum hook_event event, struct str *ret_reason)
{
    struct str start = arena_format(&r->arena, "a %s hook ended the run: ", hook_event_name(event));
    AUTO_FREE char *text = r->recording->error ? err_message(r->recording->error) : NULL;

    if (!text || !str_starts(str_of(text), start))
        return false;
    *ret_reason = arena_str(&r->arena, str_skip(str_of(text), start.n));
    return true;
}

bool replay_is_next(const struct replay *r, enum event_type type)
{
    const struct recorded_event *x = replay_peek(r);

    return x && x->type == type;
}

struct str replay_first_text(const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TEXT)
            return m->parts[i].text;
    return (struct str){0};
}

/* --- hooks --- */

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
    first = replay_first_text(m);
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
    struct replay *r = REPLAY_OF(h, hooks);
    bool may_end = replay_is_next(r, EVENT_ERROR);

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
        ret_outcome->stops_run = replay_ended_by_hook(r, input->event, &ret_outcome->stop_reason);
    return NULL;
}

/* --- plugins --- */

/* "plugin NAME: WHY": the name is put before it again. Another text is no refusal. */
static struct err *refuse_as_recorded(struct plugin *p, enum err_kind kind, struct str text)
{
    struct replay *r = REPLAY_OF(p, plugin);
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
    const struct replay *r = REPLAY_OF(p, plugin);
    const struct err *e = r->recording->error;
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    return text && replay_is_next(r, EVENT_ERROR) ? refuse_as_recorded(p, e->kind, str_of(text))
                                                  : NULL;
}

/* --- the budget --- */

static struct err *reserve(void *self, const struct attempt *a, struct reservation *reservation,
                           struct budget_word *ret_word)
{
    struct replay *r = self;
    const struct recorded_event *x = replay_peek(r);
    const struct ask *ask = replay_find_ask(r->recording, (struct str){0});

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
    text = replay_refusal(&a, c);
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
    return replay_is_next(replay, EVENT_TEXT_DROPPED);
}

/* --- news --- */

/* At the place where the recording has them. */
static void take_news(struct news *n, struct strbuf *out)
{
    struct replay *r = REPLAY_OF(n, news);
    const struct recorded_event *x;

    replay_load(r);
    x = replay_peek(r);
    if (x && x->type == EVENT_HISTORY && x->message && x->message->role == ROLE_USER &&
        x->message->n_parts && str_starts(x->message->parts[0].text, S(NEWS_BEGIN)))
        strbuf_add(out, x->message->parts[0].text);
}

/* Nothing runs any more. But the person may have ended the wait, or an event before it could not be
 * stored. */
static struct err *await_news(struct news *n, struct run *run)
{
    struct replay *r = REPLAY_OF(n, news);
    const struct err *failure = r->recording->error;

    TRY(task_check());
    return failure && failure->kind == ERR_STORAGE && replay_is_next(r, EVENT_ERROR)
               ? err_copy(failure)
               : NULL;
}

/* --- all of them --- */

void replay_ports_init(struct replay *r)
{
    struct compact_options options = {.threshold_per_mille = 1, .reattaches_as_given = true};

    r->gate = (struct gate){replay_judge};
    r->hooks = (struct hooks){run_hooks};
    r->plugin = (struct plugin){.name = "recorded", .before_run = before_run};
    r->compactor = (struct compactor){replay_compact, replay_find_room};
    r->news = (struct news){take_news, await_news};
    compaction_init(&r->compaction, &options, &r->conversation);
}
