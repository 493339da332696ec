/* world.h - a run against a scripted model and toy tools, told as a transcript.
 *
 *     struct world w = {.script = "turns:\n - text: hi\n"};
 *     world_run(&w, "hello");
 *     assert_transcript(&w, "...");
 *
 * Time is virtual: sleeps and time-outs take none. */
#ifndef KEEL_TEST_UNIT_ENGINE_WORLD_H
#define KEEL_TEST_UNIT_ENGINE_WORLD_H

#include "test.h"

#include "engine/run.h"
#include "provider/script.h"
#include "sys/loop.h"

struct world {
    const char *script;
    const char *script2; /* of a second target; NULL: there is none */
    bool goes_on;        /* the conversation is kept from the run before */
    struct run_input input;
    struct run_kit kit;
    struct run_keeper keeper;
    struct run_plan plan;
    struct tool_filter filter;
    const char *system; /* NULL: none */
    bool has_late;      /* is the tool Late there? */
    const char *deny;   /* a tool that the gate refuses */
    const char *later;  /* a tool that must be asked for, later */
    /* instead of world_judge(), which it may call; NULL: that */
    struct err *(*judge)(struct gate *g, const struct gate_call *c, struct arena *a,
                         struct verdict *v);
    unsigned cancel_at_seq; /* cancels the run when this event comes; 0: never */
    enum event_type cancel_at;
    bool cancels;
    void (*on_event)(struct world *w, const struct event *e);
    struct recorder *recorder; /* NULL: nothing is recorded */
    struct event_subscriber subscriber;
    struct tool_registry *registry;
    struct provider *providers[2];
    struct target targets[2];
    struct conversation conversation;
    struct run_result result;
    struct strbuf log;
    unsigned n_running, most_running;
    bool shows_deltas, shows_state;
};

/* --- toy tools --- */

static inline struct err *toy_echo(const struct tool *t, struct tool_context *c,
                                   const struct json *args, struct tool_result *r)
{
    strbuf_add(&r->text, json_get_text(args, "text"));
    return NULL;
}

static inline struct err *toy_slow(const struct tool *t, struct tool_context *c,
                                   const struct json *args, struct tool_result *r)
{
    struct world *w = t->self;
    struct err *e;

    w->n_running++;
    w->most_running = MAX(w->most_running, w->n_running);
    e = task_sleep((uint64_t)json_int_or(json_get(args, "ms"), 10));
    w->n_running--;
    if (!e)
        tool_result_addf(r, "slept");
    return e;
}

static inline struct err *toy_big(const struct tool *t, struct tool_context *c,
                                  const struct json *args, struct tool_result *r)
{
    for (int64_t i = 0; i < json_int_or(json_get(args, "lines"), 1); i++)
        tool_result_addf(r, "line %lld\n", (long long)i + 1);
    return NULL;
}

static inline struct err *toy_fail(const struct tool *t, struct tool_context *c,
                                   const struct json *args, struct tool_result *r)
{
    if (json_bool(json_get(args, "hard"), false))
        return err_hint(err_new(ERR_STORAGE, "the disk is full"), "make room");
    tool_result_fail(r, "it did not work");
    return NULL;
}

static inline struct err *toy_wait(const struct tool *t, struct tool_context *c,
                                   const struct json *args, struct tool_result *r)
{
    if (c->answer)
        tool_result_addf(r, "answered: %" STR_FMT, STR_ARG(json_str(c->answer->value)));
    else {
        r->is_pending = true;
        r->ask = (struct ask){.kind = ASK_QUESTION, .text = S("which?")};
    }
    return NULL;
}

static inline struct err *toy_state(const struct tool *t, struct tool_context *c,
                                    const struct json *args, struct tool_result *r)
{
    tool_progress(c, S("half"));
    tool_state_set(c->state, STATE_ASKED, S("toy"), json_get(args, "value"));
    tool_result_addf(r, "set");
    return NULL;
}

static inline struct err *toy_late(const struct tool *t, struct tool_context *c,
                                   const struct json *args, struct tool_result *r)
{
    tool_progress(c, S("ready"));
    TRY(tool_begin(c));
    tool_progress(c, S("begun"));
    return NULL;
}

#define TOY(Name, fn, properties, required, ...)                                                   \
    {.name = Name,                                                                                 \
     .description = "a toy",                                                                       \
     .risk = RISK_INSPECT,                                                                         \
     .run = fn,                                                                                    \
     .schema = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[" required       \
               "],\"properties\":{" properties "}}",                                               \
     __VA_ARGS__}

static const struct tool world_toys[] = {
    TOY("Echo", toy_echo, "\"text\":{\"type\":\"string\"}", "\"text\"",
        .max_chars = TOOL_CODING_MAX_CHARS),
    TOY("Slow", toy_slow, "\"ms\":{\"type\":\"integer\"}", ""),
    TOY("Alone", toy_slow, "\"ms\":{\"type\":\"integer\"}", "", .is_barrier = true),
    TOY("Big", toy_big, "\"lines\":{\"type\":\"integer\"}", ""),
    TOY("Fail", toy_fail, "\"hard\":{\"type\":\"boolean\"}", ""),
    TOY("Wait", toy_wait, "", ""),
    TOY("State", toy_state, "\"value\":{}", ""),
    TOY("Late", toy_late, "", "", .begins_late = true),
};

/* --- a gate that does as the test says --- */

struct world_gate {
    struct gate gate;
    struct world *world;
};

static inline struct err *world_judge(struct gate *g, const struct gate_call *c, struct arena *a,
                                      struct verdict *v)
{
    struct world *w = ((struct world_gate *)g)->world;
    struct json *given, *args = NULL;
    AUTO(err) struct err *e = NULL;
    AUTO_FREE char *text = NULL;

    v->entry = tool_set_find(c->tools, c->call->name);
    if (!v->entry) {
        v->kind = VERDICT_UNKNOWN_TOOL;
        v->reason = S("Error: not registered");
        return NULL;
    }
    assert_ok(json_parse(a, arena_str(a, c->call->args), 0, &given));
    v->args = given;
    if (c->call->bad_args.n)
        e = err_new(ERR_VALIDATION, "not JSON");
    else
        e = tool_entry_arguments(v->entry, given, a, &args);
    if (e) {
        text = err_message(e);
        v->kind = VERDICT_BAD_ARGUMENTS;
        v->reason = arena_str(a, str_of(text));
        return NULL;
    }
    v->args = args;
    v->kind = VERDICT_ALLOW;
    if (w->deny && str_is(c->call->name, w->deny)) {
        v->kind = VERDICT_DENY;
        v->reason = S("Permission denied");
    }
    if (w->later && str_is(c->call->name, w->later) && !c->answer) {
        v->kind = VERDICT_LATER;
        v->ask = (struct ask){.kind = ASK_PERMISSION, .args = args, .text = S("may it?")};
    }
    if (c->answer && c->answer->kind == ANSWER_NO) {
        v->kind = VERDICT_DENY;
        v->reason = S("Permission denied by the person");
    }
    return NULL;
}

/* --- the transcript --- */

static inline void log_parts(struct strbuf *out, const struct part *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct part *p = &parts[i];

        if (p->kind == PART_TEXT || p->kind == PART_REASONING || p->kind == PART_CONTEXT)
            strbuf_addf(out, " \"%" STR_FMT "\"", STR_ARG(p->text));
        if (p->kind == PART_TOOL_CALL)
            strbuf_addf(out, " %" STR_FMT "#%" STR_FMT, STR_ARG(p->name), STR_ARG(p->id));
        if (p->kind == PART_TOOL_RESULT) {
            strbuf_addf(out, " %" STR_FMT "%s", STR_ARG(p->id), p->is_error ? "!" : "");
            log_parts(out, p->content, p->n_content);
        }
    }
}

static inline void log_request(struct strbuf *out, const struct model_request *q)
{
    strbuf_addf(out, "ask %" STR_FMT " tools=%zu%s", STR_ARG(q->model), q->n_tools,
                q->n_tools && q->tool_choice.kind == TOOL_CHOICE_NONE ? " none" : "");
    for (size_t i = 0; i < q->n_messages; i++) {
        strbuf_addf(out, "\n    %s:", role_name(q->messages[i]->role));
        log_parts(out, q->messages[i]->parts, q->messages[i]->n_parts);
    }
    strbuf_add_char(out, '\n');
}

static inline void world_log(struct world *w, const struct event *e)
{
    struct strbuf *out = &w->log;
    const struct event_tool *t = &e->body.tool;

    switch (e->type) {
    case EVENT_PROVIDER_REQUEST:
        log_request(out, e->body.request.request);
        break;
    case EVENT_DELTA:
        if (w->shows_deltas && e->body.delta.delta->text.n)
            strbuf_addf(out, "delta %s\"%" STR_FMT "\"\n", e->body.delta.is_separator ? "| " : "",
                        STR_ARG(e->body.delta.delta->text));
        break;
    case EVENT_RETRY:
        strbuf_addf(out, "retry after %s\n", err_code(e->body.attempt.error->kind));
        break;
    case EVENT_FALLBACK:
        strbuf_addf(out, "fall back to %" STR_FMT "\n", STR_ARG(e->body.attempt.next_model));
        break;
    case EVENT_TEXT_DROPPED:
        strbuf_add_cstr(out, "drop\n");
        break;
    case EVENT_HISTORY: {
        const struct message *m = e->body.message.message;

        strbuf_addf(out, "+%zu %s%s%s:", e->body.message.index, role_name(m->role),
                    m->state == MESSAGE_INTERRUPTED ? " interrupted"
                    : m->state == MESSAGE_BROKEN    ? " broken"
                                                    : "",
                    m->is_error ? " error" : "");
        log_parts(out, m->parts, m->n_parts);
        strbuf_add_char(out, '\n');
        break;
    }
    case EVENT_TOOL_BEGIN:
        strbuf_addf(out, "run %" STR_FMT "#%" STR_FMT "\n", STR_ARG(t->name), STR_ARG(t->call_id));
        break;
    case EVENT_TOOL_RESULT:
        if (t->error_code)
            strbuf_addf(out, "%" STR_FMT " failed: %s\n", STR_ARG(t->call_id), t->error_code);
        break;
    case EVENT_TOOLS_CHANGED:
        strbuf_addf(out, "tools: %zu\n", e->body.tools.tools->n);
        break;
    case EVENT_STATE:
        if (w->shows_state) {
            strbuf_addf(out, "state %" STR_FMT "=", STR_ARG(e->body.state.key));
            json_write(out, e->body.state.value);
            strbuf_add_char(out, '\n');
        }
        break;
    case EVENT_FINAL_TURN:
        strbuf_addf(out, "final: %s\n", final_reason_name(e->body.final.reason));
        break;
    case EVENT_NOTICE:
        if (e->body.notice.severity == SEVERITY_WARNING)
            strbuf_addf(out, "warning %s: %" STR_FMT "\n", e->body.notice.source,
                        STR_ARG(e->body.notice.text));
        break;
    case EVENT_ERROR:
        strbuf_addf(out, "error %s\n", err_code(e->body.error->kind));
        break;
    case EVENT_RUN_END: {
        const struct run_result *x = e->body.result;

        strbuf_addf(out, "= %s", run_outcome_name(x->outcome));
        if (x->error)
            strbuf_addf(out, " %s", err_code(x->error->kind));
        if (x->forced)
            strbuf_addf(out, " forced by %s", final_reason_name(x->forced));
        strbuf_addf(out, ": \"%" STR_FMT "\"\n", STR_ARG(x->text));
        break;
    }
    default:
        break;
    }
}

static inline void world_on_event(void *self, const struct event *e)
{
    struct world *w = self;

    world_log(w, e);
    if (w->on_event)
        w->on_event(w, e);
    if (w->cancels && e->type == w->cancel_at) {
        w->cancels = false;
        loop_cancel(task_loop());
    }
}

/* Until event_stream_unsubscribe(): it hears one stream at a time. */
static inline void world_subscribe(struct world *w, struct event_stream *s)
{
    w->subscriber = (struct event_subscriber){.on_event = world_on_event, .self = w};
    event_stream_subscribe(s, &w->subscriber);
}

/* --- running --- */

static inline const struct run_plan *world_plan(void *self)
{
    return &((struct world *)self)->plan;
}

static inline void world_add_target(struct world *w, size_t i, const char *script)
{
    static const char *const names[] = {"m1", "m2"};

    assert_ok(script_provider_new(str_of(names[i]), str_of(script), &w->providers[i]));
    w->targets[i].provider = w->providers[i];
    w->targets[i].model = str_of(names[i]);
    if (!w->targets[i].price.input)
        w->targets[i].price = (struct price){-1, -1, -1, -1};
}

static inline void world_open(struct world *w)
{
    conversation_init(&w->conversation, S("session"), S("/tmp"));
    w->registry = tool_registry_new();
    for (size_t i = 0; i < ARRAY_LEN(world_toys); i++) {
        struct tool *t;

        if (world_toys[i].begins_late && !w->has_late)
            continue;
        t = mem_copy(&world_toys[i], sizeof *t);
        t->self = w;
        t->free = (void (*)(struct tool *))mem_free;
        assert_ok(tool_registry_add(w->registry, t, NULL));
    }
}

static inline void world_close(struct world *w)
{
    provider_free(w->providers[0]);
    provider_free(w->providers[1]);
    conversation_done(&w->conversation);
    tool_registry_free(w->registry);
    run_result_done(&w->result);
    strbuf_done(&w->log);
}
DEFINE_AUTO_VAL(world, world_close)

static inline struct err *world_task(void *arg)
{
    struct world *w = arg;

    run_start(&w->conversation, &w->input, &w->kit, &w->keeper, &w->result);
    return NULL;
}

/* `prompt` NULL: goes on without one. */
static inline void world_run(struct world *w, const char *prompt)
{
    struct virtual_clock clock;
    struct seeded_random random;
    AUTO(loop) struct loop *l = NULL;
    AUTO(message) struct message *input = NULL;
    struct world_gate gate = {.gate = {w->judge ? w->judge : world_judge}, .world = w};

    if (!w->goes_on)
        world_open(w);
    run_result_done(&w->result);
    provider_free(TAKE(w->providers[0]));
    provider_free(TAKE(w->providers[1]));
    world_add_target(w, 0, w->script);
    if (w->script2)
        world_add_target(w, 1, w->script2);
    if (!w->plan.targets) {
        static const enum permission_mode default_mode = MODE_DEFAULT;

        w->plan = (struct run_plan){.targets = w->targets,
                                    .n_targets = w->script2 ? 2 : 1,
                                    .system = str_of(w->system),
                                    .tools = w->registry,
                                    .filter = {.allows_all = true},
                                    .mode = &default_mode,
                                    .stream = true};
    }
    if (prompt) {
        input = message_new(ROLE_USER, S("input"));
        message_add_text(input, str_of(prompt));
    }
    virtual_clock_init(&clock, 0);
    seeded_random_init(&random, 1);
    w->input.prompt = input;
    if (!w->kit.plan || w->kit.plan == world_plan) {
        w->kit.plan = world_plan;
        w->kit.plan_self = w;
    }
    w->kit.gate = &gate.gate;
    w->kit.random = &random.random;
    if (w->recorder)
        event_stream_open(&w->conversation.stream, w->conversation.stream.next_seq, w->recorder);
    world_subscribe(w, &w->conversation.stream);
    l = loop_new(&clock.clock);
    err_free(loop_run(l, world_task, w));
    event_stream_unsubscribe(&w->subscriber);
    w->goes_on = true;
}

#define assert_transcript(w, want)                                                                 \
    do {                                                                                           \
        assert_str(strbuf_str(&(w)->log), want);                                                   \
        strbuf_clear(&(w)->log);                                                                   \
    } while (0)

#endif
