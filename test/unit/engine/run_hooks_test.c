/* run_hooks_test.c - who hears of a run: recorder, plugins, parents. */
#include "world.h"

static const char one_tool[] = "turns:\n"
                               " - [{text: Look.}, {tool: Echo, id: a, args: {text: x}}]\n"
                               " - text: Done.\n";

/* --- the recorder --- */

struct tape {
    struct recorder recorder;
    struct strbuf log;
    unsigned n_waits, broken_from; /* the first wait that fails; 0: none */
};

static void tape_append(struct recorder *r, const struct event *e)
{
    struct tape *t = (struct tape *)r;

    if (e->type == EVENT_TOOL_REQUEST || e->type == EVENT_TOOL_BEGIN || e->type == EVENT_TOOL_END ||
        e->type == EVENT_USER_INPUT || e->type == EVENT_ATTEMPT_BEGIN ||
        e->type == EVENT_ATTEMPT_END || e->type == EVENT_RUN_END)
        strbuf_addf(&t->log, "%s%s ", event_type_name(e->type),
                    e->type == EVENT_TOOL_END && !e->body.tool.was_executed ? " (it did not run)"
                                                                            : "");
    if (e->type == EVENT_TOOL_PROGRESS)
        strbuf_addf(&t->log, "%" STR_FMT " ", STR_ARG(e->body.tool.progress));
}

static struct err *tape_wait(struct recorder *r, enum recorder_safety safety)
{
    struct tape *t = (struct tape *)r;

    strbuf_add_cstr(&t->log, safety == RECORDER_DURABLE ? "durable " : "flushed ");
    t->n_waits++;
    return t->broken_from && t->n_waits >= t->broken_from ? err_new(ERR_STORAGE, "the disk is full")
                                                          : NULL;
}

TEST(prompt_call_and_end_are_durable_before_anything_follows_from_them)
{
    AUTO(world) struct world w = {.script = one_tool};
    struct tape tape = {.recorder = {tape_append, tape_wait}};

    w.recorder = &tape.recorder;
    world_run(&w, "go");
    assert_str(strbuf_str(&tape.log), "user_input attempt_begin durable attempt_end "
                                      "tool_execution_request tool_begin durable tool_end "
                                      "attempt_begin flushed attempt_end run_end durable ");
    strbuf_done(&tape.log);
}

TEST(under_a_limit_each_request_is_durable_before_it_is_sent)
{
    AUTO(world) struct world w = {.script = one_tool};
    struct tape tape = {.recorder = {tape_append, tape_wait}};

    w.recorder = &tape.recorder;
    w.keeper.budget.is_limited = true;
    world_run(&w, "go");
    assert_null(strstr(strbuf_cstr(&tape.log), "flushed"));
    assert_non_null(strstr(strbuf_cstr(&tape.log), "tool_end attempt_begin durable attempt_end"));
    strbuf_done(&tape.log);
}

struct asked {
    struct hooks hooks;
    struct tape *tape;
};

static struct err *note_asked(struct hooks *h, const struct hook_input *input, struct arena *a,
                              struct hook_outcome *ret_outcome)
{
    *ret_outcome = (struct hook_outcome){0};
    if (input->event == HOOK_USER_PROMPT_SUBMIT)
        strbuf_add_cstr(&((struct asked *)h)->tape->log, "asked ");
    return NULL;
}

TEST(a_prompt_is_durable_before_hooks_are_asked_about_it)
{
    AUTO(world) struct world w = {.script = one_tool};
    struct tape tape = {.recorder = {tape_append, tape_wait}};
    struct asked asked = {.hooks = {note_asked}, .tape = &tape};

    w.recorder = &tape.recorder;
    w.kit.hooks = &asked.hooks;
    world_run(&w, "go");
    assert_true(str_starts(strbuf_str(&tape.log), S("user_input durable asked attempt_begin ")));
    strbuf_done(&tape.log);
}

static void note_told_end(struct world *w, const struct event *e)
{
    if (e->type == EVENT_RUN_END)
        strbuf_add_cstr(&((struct tape *)w->recorder)->log, "told");
}

TEST(the_end_is_told_when_it_is_durable)
{
    AUTO(world) struct world w = {.script = one_tool, .on_event = note_told_end};
    struct tape tape = {.recorder = {tape_append, tape_wait}};

    w.recorder = &tape.recorder;
    world_run(&w, "go");
    assert_true(str_ends(strbuf_str(&tape.log), S("run_end durable told")));
    strbuf_done(&tape.log);
}

TEST(a_model_is_not_told_what_is_not_stored)
{
    AUTO(world) struct world w = {.script = one_tool};
    struct tape tape = {.recorder = {tape_append, tape_wait}, .broken_from = 3};

    w.recorder = &tape.recorder;
    world_run(&w, "go");
    assert_int_equal(w.result.error->kind, ERR_STORAGE);
    assert_int_equal(w.result.n_tools_executed, 1);
    assert_str(w.result.text, "");
    strbuf_done(&tape.log);
}

TEST(nothing_runs_when_the_journal_cannot_be_written)
{
    AUTO(world) struct world w = {.script = one_tool};
    struct tape tape = {.recorder = {tape_append, tape_wait}, .broken_from = 1};

    w.recorder = &tape.recorder;
    world_run(&w, "go");
    assert_int_equal(w.result.error->kind, ERR_STORAGE);
    assert_null(strstr(strbuf_cstr(&tape.log), "tool_begin"));
    strbuf_done(&tape.log);
}

TEST(a_tool_does_not_run_when_its_beginning_is_not_durable)
{
    AUTO(world) struct world w = {.script = one_tool};
    struct tape tape = {.recorder = {tape_append, tape_wait}, .broken_from = 2};

    w.recorder = &tape.recorder;
    world_run(&w, "go");
    assert_int_equal(w.result.error->kind, ERR_STORAGE);
    assert_non_null(strstr(strbuf_cstr(&tape.log), "tool_begin"));
    assert_non_null(strstr(strbuf_cstr(&tape.log), "tool_end (it did not run)"));
    assert_int_equal(w.result.n_tools_executed, 0);
    strbuf_done(&tape.log);
}

static const char late_tool[] = "turns:\n"
                                " - [{tool: Late, id: a, args: {}}]\n"
                                " - text: Done.\n";

static void tape_hurry(struct recorder *r, enum recorder_safety safety)
{
    strbuf_add_cstr(&((struct tape *)r)->log, "hurry ");
}

TEST(a_tool_that_begins_late_gets_ready_while_its_beginning_becomes_durable)
{
    AUTO(world) struct world w = {.script = late_tool, .has_late = true};
    struct tape tape = {.recorder = {tape_append, tape_wait, tape_hurry}};

    w.recorder = &tape.recorder;
    world_run(&w, "go");
    assert_non_null(
        strstr(strbuf_cstr(&tape.log), "tool_begin hurry ready durable begun tool_end"));
    strbuf_done(&tape.log);
}

TEST(and_goes_no_further_when_that_fails)
{
    AUTO(world) struct world w = {.script = late_tool, .has_late = true};
    struct tape tape = {.recorder = {tape_append, tape_wait}, .broken_from = 2};

    w.recorder = &tape.recorder;
    world_run(&w, "go");
    assert_int_equal(w.result.error->kind, ERR_STORAGE);
    assert_non_null(strstr(strbuf_cstr(&tape.log), "tool_begin ready durable"));
    assert_null(strstr(strbuf_cstr(&tape.log), "begun"));
    assert_non_null(strstr(strbuf_cstr(&tape.log), "tool_end (it did not run)"));
    assert_int_equal(w.result.n_tools_executed, 0);
    strbuf_done(&tape.log);
}

static uint64_t next_seq;
static bool has_gap;

static void check_seq(struct world *w, const struct event *e)
{
    has_gap |= e->seq != next_seq;
    next_seq = e->seq + 1;
}

TEST(events_are_numbered_without_a_gap_over_all_runs)
{
    AUTO(world) struct world w = {.script = one_tool, .on_event = check_seq};

    next_seq = 1;
    has_gap = false;
    world_run(&w, "go");
    w.script = "turns:\n - text: Again.\n";
    world_run(&w, "more");
    assert_false(has_gap);
    assert_int_equal(next_seq, w.conversation.stream.next_seq);
}

/* --- plugins --- */

struct spy {
    struct plugin plugin;
    struct strbuf *log;
    enum err_kind fails_with; /* ERR_INTERNAL stands for: it does not */
};

static struct err *spy_note(struct plugin *p, const char *hook)
{
    struct spy *s = (struct spy *)p;

    strbuf_addf(s->log, "%s.%s ", p->name, hook);
    return s->fails_with != ERR_INTERNAL ? err_new(s->fails_with, "no") : NULL;
}

static struct err *spy_before_run(struct plugin *p, const struct plugin_run *r, struct arena *a,
                                  struct str *input)
{
    *input = arena_format(a, "%" STR_FMT "!", STR_ARG(*input));
    return spy_note(p, "before_run");
}

static struct err *spy_after_run(struct plugin *p, const struct plugin_run *r,
                                 const struct run_result *x)
{
    return spy_note(p, "after_run");
}

static struct err *spy_on_error(struct plugin *p, const struct plugin_run *r, const struct err *e)
{
    return spy_note(p, "on_error");
}

static struct err *spy_on_chunk(struct plugin *p, const struct plugin_run *r, const struct delta *d)
{
    return d->kind == DELTA_TEXT ? spy_note(p, "chunk") : NULL;
}

static struct err *spy_before_tool(struct plugin *p, const struct plugin_run *r,
                                   const struct event_tool *t)
{
    return spy_note(p, "before_tool");
}

static struct err *spy_after_tool(struct plugin *p, const struct plugin_run *r,
                                  const struct event_tool *t)
{
    return spy_note(p, "after_tool");
}

static struct spy spy_make(const char *name, int priority, struct strbuf *log)
{
    return (struct spy){.plugin = {name, PLUGIN_CUSTOM, priority, spy_before_run, spy_after_run,
                                   spy_on_error, spy_on_chunk, spy_before_tool, spy_after_tool},
                        .log = log,
                        .fails_with = ERR_INTERNAL};
}

TEST(plugins_run_by_priority_in_all_hooks)
{
    AUTO(world) struct world w = {.script = one_tool};
    AUTO(strbuf) struct strbuf log = {0};
    struct spy low = spy_make("low", PRIORITY_LOW, &log),
               high = spy_make("high", PRIORITY_HIGH, &log);
    struct plugin *plugins[] = {&low.plugin, &high.plugin};

    w.kit.plugins = plugins;
    w.kit.n_plugins = 2;
    world_run(&w, "go");
    assert_str(strbuf_str(&log), "high.before_run low.before_run "
                                 "high.chunk low.chunk high.before_tool low.before_tool "
                                 "high.after_tool low.after_tool high.chunk low.chunk "
                                 "high.after_run low.after_run ");
    assert_non_null(strstr(strbuf_cstr(&w.log), "+0 user: \"go!!\"\n"));
}

TEST(a_plugins_own_failure_is_reported_and_changes_nothing)
{
    AUTO(world) struct world w = {.script = one_tool};
    AUTO(strbuf) struct strbuf log = {0};
    struct spy spy = spy_make("broken", PRIORITY_NORMAL, &log);
    struct plugin *plugins[] = {&spy.plugin};

    spy.fails_with = ERR_PLUGIN;
    w.kit.plugins = plugins;
    w.kit.n_plugins = 1;
    world_run(&w, "go");
    assert_int_equal(w.result.outcome, RUN_DONE);
    assert_str(w.result.text, "Done.");
    assert_non_null(strstr(strbuf_cstr(&w.log), "warning plugin:broken: no\n"));
}

TEST(a_plugin_may_refuse_a_run)
{
    AUTO(world) struct world w = {.script = one_tool};
    AUTO(strbuf) struct strbuf log = {0};
    struct spy spy = spy_make("limits", PRIORITY_NORMAL, &log);
    struct plugin *plugins[] = {&spy.plugin};

    spy.fails_with = ERR_BUDGET_EXCEEDED;
    w.kit.plugins = plugins;
    w.kit.n_plugins = 1;
    world_run(&w, "go");
    assert_int_equal(w.result.error->kind, ERR_BUDGET_EXCEEDED);
    assert_null(strstr(strbuf_cstr(&w.log), "ask"));
    assert_str(strbuf_str(&log), "limits.before_run limits.on_error limits.after_run ");
}

static struct err *refuse_tool(struct plugin *p, const struct plugin_run *r,
                               const struct event_tool *t)
{
    return err_new(ERR_TOOL_DENIED, "not on Sundays");
}

TEST(a_plugin_may_refuse_a_call)
{
    AUTO(world) struct world w = {.script = one_tool};
    struct plugin sunday = {.name = "sunday", .before_tool = refuse_tool};
    struct plugin *plugins[] = {&sunday};

    w.kit.plugins = plugins;
    w.kit.n_plugins = 1;
    world_run(&w, "go");
    assert_null(strstr(strbuf_cstr(&w.log), "run Echo"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "a failed: tool_denied\n"
                                                "+2 tool: a! \"plugin sunday: not on Sundays\"\n"));
    assert_int_equal(w.result.outcome, RUN_DONE);
}

/* --- a person's hooks --- */

struct script_hooks {
    struct hooks hooks;
    struct strbuf log;
    struct hook_outcome outcomes[HOOK_N_EVENTS]; /* each given once */
};

static struct err *script_run(struct hooks *h, const struct hook_input *input, struct arena *a,
                              struct hook_outcome *ret_outcome)
{
    struct script_hooks *s = (struct script_hooks *)h;

    strbuf_addf(&s->log, "%s(%" STR_FMT ") ", hook_event_name(input->event),
                STR_ARG(input->matched));
    json_write(&s->log, input->fields);
    strbuf_add_char(&s->log, '\n');
    *ret_outcome = s->outcomes[input->event];
    s->outcomes[input->event] = (struct hook_outcome){0};
    return NULL;
}

TEST(hooks_are_asked_at_the_prompt_after_tools_and_at_the_end)
{
    AUTO(world) struct world w = {.script = one_tool};
    struct script_hooks s = {.hooks = {script_run}};

    w.kit.hooks = &s.hooks;
    world_run(&w, "go");
    assert_str(strbuf_str(&s.log),
               "UserPromptSubmit() {\"prompt\":\"go\"}\n"
               "PostToolUse(Echo) {\"tool_name\":\"Echo\",\"tool_use_id\":\"a\",\"tool_input\":{"
               "\"text\":\"x\"},\"tool_output\":\"x\",\"tool_response\":\"x\"}\n"
               "Stop() {\"response\":\"Done.\",\"last_assistant_message\":\"Done.\","
               "\"stop_hook_active\":false}\n");
    strbuf_done(&s.log);
}

TEST(a_hook_may_block_the_prompt)
{
    AUTO(world) struct world w = {.script = one_tool};
    struct script_hooks s = {.hooks = {script_run}};

    s.outcomes[HOOK_USER_PROMPT_SUBMIT] =
        (struct hook_outcome){.is_blocked = true, .reason = S("not today")};
    w.kit.hooks = &s.hooks;
    world_run(&w, "go");
    assert_int_equal(w.result.error->kind, ERR_VALIDATION);
    assert_non_null(strstr(w.result.error->text, "not today"));
    assert_null(strstr(strbuf_cstr(&w.log), "ask"));
    assert_null(strstr(strbuf_cstr(&w.log), "user:")); /* nor is it in the history */
    assert_non_null(strstr(strbuf_cstr(&s.log), "StopFailure"));
    strbuf_done(&s.log);
}

TEST(hooks_add_to_the_prompt_and_to_results)
{
    AUTO(world) struct world w = {.script = one_tool};
    struct script_hooks s = {.hooks = {script_run}};

    s.outcomes[HOOK_USER_PROMPT_SUBMIT].additional_context = S("It is Sunday.");
    s.outcomes[HOOK_POST_TOOL_USE] = (struct hook_outcome){
        .is_blocked = true, .reason = S("bad style"), .additional_context = S("See STYLE.md.")};
    w.kit.hooks = &s.hooks;
    world_run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "+0 user: \"go\" \"It is Sunday.\"\n"));
    assert_non_null(
        strstr(strbuf_cstr(&w.log), "tool: a \"x\nBlocked by hook: bad style\nSee STYLE.md.\"\n"));
    strbuf_done(&s.log);
}

/* --- the order of a turn --- */

struct order {
    struct strbuf log;
    struct recorder recorder;
    struct compactor compactor;
    struct hooks hooks;
    struct plugin plugin;
    struct str ready; /* the input of pre_run, in the arena */
    struct arena arena;
};
#define ORDER_OF(port, member) ((struct order *)((char *)(port) - offsetof(struct order, member)))

static void order_append(struct recorder *r, const struct event *e)
{
    static const bool is_told[EVENT_N_TYPES] = {[EVENT_USER_INPUT] = true,
                                                [EVENT_HISTORY] = true,
                                                [EVENT_PRE_RUN] = true,
                                                [EVENT_PROVIDER_REQUEST] = true,
                                                [EVENT_RUN_END] = true};
    struct order *o = ORDER_OF(r, recorder);

    if (is_told[e->type])
        strbuf_addf(&o->log, "%s\n", event_type_name(e->type));
    if (e->type == EVENT_PRE_RUN) {
        o->ready = arena_str(&o->arena, e->body.run.input);
        assert_int_equal(e->history->n_messages, 1);
    }
}

static struct err *order_wait(struct recorder *r, enum recorder_safety safety)
{
    if (!str_ends(strbuf_str(&ORDER_OF(r, recorder)->log), S("durable\n")))
        strbuf_add_cstr(&ORDER_OF(r, recorder)->log, "durable\n");
    return NULL;
}

static struct err *order_compact(struct compactor *c, struct run *r, bool is_full)
{
    strbuf_add_cstr(&ORDER_OF(c, compactor)->log, "compact\n");
    return NULL;
}

static struct err *order_hook(struct hooks *h, const struct hook_input *in, struct arena *a,
                              struct hook_outcome *ret_outcome)
{
    struct json *updated = json_new(a, JSON_OBJECT);

    strbuf_addf(&ORDER_OF(h, hooks)->log, "%s\n", hook_event_name(in->event));
    *ret_outcome = (struct hook_outcome){0};
    if (in->event != HOOK_USER_PROMPT_SUBMIT)
        return NULL;
    json_set_str(a, updated, "prompt", S("go far"));
    *ret_outcome =
        (struct hook_outcome){.updated_input = updated, .additional_context = S("It is Sunday.")};
    return NULL;
}

static struct err *order_before_run(struct plugin *p, const struct plugin_run *run, struct arena *a,
                                    struct str *input)
{
    strbuf_addf(&ORDER_OF(p, plugin)->log, "before_run %" STR_FMT "\n", STR_ARG(*input));
    *input = arena_format(a, "%" STR_FMT " and wide", STR_ARG(*input));
    return NULL;
}

TEST(a_turn_keeps_its_order_from_the_raw_prompt_to_stop)
{
    AUTO(world) struct world w = {.script = "turns:\n - text: Done.\n"};
    struct order o = {.recorder = {order_append, order_wait},
                      .compactor = {.compact = order_compact},
                      .hooks = {order_hook},
                      .plugin = {.name = "p", .before_run = order_before_run}};
    struct plugin *plugins[] = {&o.plugin};

    w.recorder = &o.recorder;
    w.keeper.compactor = &o.compactor;
    w.kit.hooks = &o.hooks;
    w.kit.plugins = plugins;
    w.kit.n_plugins = 1;
    world_run(&w, "go");
    assert_str(strbuf_str(&o.log), "user_input\n"
                                   "durable\n"
                                   "compact\n"
                                   "UserPromptSubmit\n"
                                   "before_run go far\n"
                                   "history_mutation\n"
                                   "pre_run\n"
                                   "provider_request\n"
                                   "durable\n"
                                   "history_mutation\n"
                                   "durable\n"
                                   "Stop\n"
                                   "run_end\n"
                                   "durable\n");
    assert_str(o.ready, "go far and wide\nIt is Sunday.");
    assert_non_null(
        strstr(strbuf_cstr(&w.log), "+0 user: \"go far and wide\" \"It is Sunday.\"\n"));
    strbuf_done(&o.log);
    arena_done(&o.arena);
}

TEST(a_prompt_that_a_plugin_refuses_is_durable_and_not_in_the_history)
{
    AUTO(world) struct world w = {.script = "turns: []\n"};
    AUTO(strbuf) struct strbuf log = {0};
    struct spy spy = spy_make("limits", PRIORITY_NORMAL, &log);
    struct order o = {.recorder = {order_append, order_wait}};
    struct plugin *plugins[] = {&spy.plugin};

    spy.fails_with = ERR_BUDGET_EXCEEDED;
    w.recorder = &o.recorder;
    w.kit.plugins = plugins;
    w.kit.n_plugins = 1;
    world_run(&w, "go");
    assert_true(str_starts(strbuf_str(&o.log), S("user_input\n")));
    assert_null(strstr(strbuf_cstr(&o.log), "pre_run"));
    assert_null(strstr(strbuf_cstr(&w.log), "user:"));
    strbuf_done(&o.log);
}

TEST(a_stop_hook_makes_the_model_go_on)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - text: Done.\n - text: Now it is.\n"};
    struct script_hooks s = {.hooks = {script_run}};

    s.outcomes[HOOK_STOP] =
        (struct hook_outcome){.is_blocked = true, .reason = S("The tests fail.")};
    w.kit.hooks = &s.hooks;
    world_run(&w, "go");
    assert_transcript(&w, "+0 user: \"go\"\n"
                          "ask m1 tools=7\n    user: \"go\"\n"
                          "+1 assistant: \"Done.\"\n"
                          "+2 user: \"The tests fail.\"\n"
                          "ask m1 tools=7\n    user: \"go\"\n    assistant: \"Done.\"\n"
                          "    user: \"The tests fail.\"\n"
                          "+3 assistant: \"Now it is.\"\n"
                          "= done: \"Now it is.\"\n");
    assert_non_null(strstr(strbuf_cstr(&s.log), "\"stop_hook_active\":true"));
    strbuf_done(&s.log);
}

TEST(a_hook_after_a_tool_may_end_the_run)
{
    AUTO(world) struct world w = {.script = one_tool};
    struct script_hooks s = {.hooks = {script_run}};

    s.outcomes[HOOK_POST_TOOL_USE] =
        (struct hook_outcome){.stops_run = true, .stop_reason = S("enough")};
    w.kit.hooks = &s.hooks;
    world_run(&w, "go");
    assert_int_equal(w.result.error->kind, ERR_PLUGIN);
    assert_non_null(strstr(w.result.error->text, "enough"));
    assert_non_null(strstr(strbuf_cstr(&w.log), "tool: a \"x\"")); /* the result is kept */
    strbuf_done(&s.log);
}

/* --- parents --- */

struct family {
    struct world *world;
    struct conversation child;
    struct run *parent;
    struct strbuf paths;
    int64_t total_microcents;
};

static void note_path(struct strbuf *out, const struct owner *o)
{
    if (o->parent)
        note_path(out, o->parent);
    strbuf_addf(out, "%s%s", out->n && out->p[out->n - 1] != '\n' ? "/" : "", o->type);
}

static void family_event(struct world *w, const struct event *e)
{
    struct family *f = w->input.begin_self;

    if (e->type == EVENT_ATTEMPT_END) {
        f->total_microcents = e->body.attempt.total_microcents;
        note_path(&f->paths, e->owner);
        strbuf_addf(&f->paths, " in %" STR_FMT " under \"%" STR_FMT "\"\n", STR_ARG(e->stream),
                    STR_ARG(e->parent_stream));
    }
}

static void family_begin(void *self, struct run *r)
{
    ((struct family *)self)->parent = r;
}

static const struct run_plan *child_plan(void *self)
{
    return self;
}

/* A tool that asks a model of its own. */
static struct err *toy_child(const struct tool *t, struct tool_context *c, const struct json *args,
                             struct tool_result *r)
{
    struct family *f = t->self;
    AUTO(provider) struct provider *provider = NULL;
    AUTO(message) struct message *prompt = message_new(ROLE_USER, S("child-input"));
    AUTO(run_result) struct run_result result = {0};
    struct target target = {.model = S("m3"), .price = {.input = 100, .output = 100}};
    struct run_plan plan = {.targets = &target, .n_targets = 1, .stream = true};
    const struct run_input input = {.policy = &policy_node,
                                    .prompt = prompt,
                                    .agent = "helper",
                                    .node = "review",
                                    .parent = f->parent,
                                    .call_id = c->call_id};
    const struct run_kit kit = {.plan = child_plan, .plan_self = &plan};

    message_add_text(prompt, S("sub"));
    TRY(script_provider_new(S("m3"),
                            S("turns:\n - [{text: Child.}, {usage: {input: 10000, output: 0}}]\n"),
                            &provider));
    target.provider = provider;
    run_start(&f->child, &input, &kit, NULL, &result);
    strbuf_add(&r->text, result.text);
    return NULL;
}

TEST(a_child_run_tells_and_costs_its_parent)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - tool: Child\n   id: a\n - text: Done.\n",
                      .on_event = family_event};
    struct family f = {.world = &w};
    struct tool child = {.name = "Child",
                         .description = "",
                         .schema = "{\"type\":\"object\"}",
                         .run = toy_child,
                         .self = &f};

    conversation_init(&f.child, S("child"), S("/tmp"));
    world_open(&w);
    w.goes_on = true;
    assert_ok(tool_registry_add(w.registry, &child, NULL));
    w.input.on_begin = family_begin;
    w.input.begin_self = &f;
    world_run(&w, "go");
    assert_str(strbuf_str(&f.paths),
               "agent/execution in session under \"\"\n"
               "agent/execution/tool/node/agent/execution in child under \"session\"\n"
               "agent/execution in session under \"\"\n");
    assert_non_null(strstr(strbuf_cstr(&w.log), "tool: a \"Child.\"\n"));
    assert_str(w.result.text, "Done.");
    assert_int_equal(f.total_microcents, 1);
    strbuf_done(&f.paths);
    conversation_done(&f.child);
}

RUN_TESTS(UNIT(prompt_call_and_end_are_durable_before_anything_follows_from_them),
          UNIT(under_a_limit_each_request_is_durable_before_it_is_sent),
          UNIT(a_prompt_is_durable_before_hooks_are_asked_about_it),
          UNIT(the_end_is_told_when_it_is_durable), UNIT(a_model_is_not_told_what_is_not_stored),
          UNIT(nothing_runs_when_the_journal_cannot_be_written),
          UNIT(a_tool_that_begins_late_gets_ready_while_its_beginning_becomes_durable),
          UNIT(and_goes_no_further_when_that_fails),
          UNIT(a_tool_does_not_run_when_its_beginning_is_not_durable),
          UNIT(events_are_numbered_without_a_gap_over_all_runs),
          UNIT(plugins_run_by_priority_in_all_hooks),
          UNIT(a_plugins_own_failure_is_reported_and_changes_nothing),
          UNIT(a_plugin_may_refuse_a_run), UNIT(a_plugin_may_refuse_a_call),
          UNIT(hooks_are_asked_at_the_prompt_after_tools_and_at_the_end),
          UNIT(a_hook_may_block_the_prompt), UNIT(hooks_add_to_the_prompt_and_to_results),
          UNIT(a_turn_keeps_its_order_from_the_raw_prompt_to_stop),
          UNIT(a_prompt_that_a_plugin_refuses_is_durable_and_not_in_the_history),
          UNIT(a_stop_hook_makes_the_model_go_on), UNIT(a_hook_after_a_tool_may_end_the_run),
          UNIT(a_child_run_tells_and_costs_its_parent))
