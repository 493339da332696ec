/* compact_test.c - when a history is summarised, what then stands there, and what leaves it alone.
 */
#include "engine/world.h"
#include "files.h"
#include "session/compact.h"

#include "engine/request_build.h"
#include "engine/shorten.h"
#include "provider/protocol.h"
#include "session/summary.h"

#include <unistd.h>

/* --- a run that may compact, told in short --- */

#define ANSWER "turns:\n - text: Yes.\n"
#define SUMMARY_AND_ANSWER "turns:\n - text: In short.\n - text: Yes.\n"

struct spy_hooks {
    struct hooks hooks;
    struct strbuf log;
    bool blocks, stops;
    const char *context; /* for the model, from PreCompact */
};

struct scene {
    struct world w;
    struct compact_options options;
    struct compaction compaction;
    struct spy_hooks hooks;
    struct strbuf log;
    struct strbuf question; /* of the last summary */
    struct strbuf callback;
    struct strbuf bodies; /* roles in the body of the last ordinary request, by protocol */
    bool is_ready, encodes;
};

static struct err *spy(struct hooks *h, const struct hook_input *in, struct arena *a,
                       struct hook_outcome *o)
{
    struct spy_hooks *s = (struct spy_hooks *)h;

    if (in->event != HOOK_PRE_COMPACT && in->event != HOOK_POST_COMPACT)
        return NULL;
    strbuf_addf(&s->log, "%s(%" STR_FMT ") ", hook_event_name(in->event), STR_ARG(in->matched));
    json_write(&s->log, in->fields);
    strbuf_add_char(&s->log, '\n');
    if (in->event == HOOK_POST_COMPACT)
        return NULL;
    o->is_blocked = s->blocks;
    o->reason = S("not now");
    o->additional_context = str_of(s->context);
    o->stops_run = s->stops;
    o->stop_reason = S("enough");
    return NULL;
}

static bool is_aside(const struct model_request *q)
{
    const struct message *last = q->messages[q->n_messages - 1];

    return str_starts(last->parts[0].text, S("Stop the work here and summarise"));
}

/* Long runs of one letter are told by their length. */
static void log_text(struct strbuf *out, struct str text)
{
    for (size_t i = 0; i < text.n;) {
        size_t n = 1;

        while (i + n < text.n && text.p[i + n] == text.p[i])
            n++;
        if (n >= 20)
            strbuf_addf(out, "<%zu%c>", n, text.p[i]);
        else
            strbuf_add(out, str_slice(text, i, n));
        i += n;
    }
}

static void log_message(struct strbuf *out, const struct message *m)
{
    AUTO(strbuf) struct strbuf parts = {0};

    strbuf_addf(out, "%s:", role_name(m->role));
    log_parts(&parts, m->parts, m->n_parts);
    log_text(out, strbuf_str(&parts));
    strbuf_add_char(out, '\n');
}

static void log_roles(struct scene *s, const struct protocol *p, const struct model_request *q)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf body = {0};
    const struct dialect dialect = {0};
    AUTO(err) struct err *e = p->encode(q, &dialect, &body);
    struct json *v = NULL;
    const struct json *list;

    strbuf_addf(&s->bodies, "%s:", p->name);
    if (!e)
        e = json_parse(&a, strbuf_str(&body), 0, &v);
    list = json_get(v, "messages");
    list = list ? list : json_get(v, "contents");
    json_each (m, list ? list : json_get(v, "input"))
        strbuf_addf(&s->bodies, " %" STR_FMT, STR_ARG(json_get_text(m, "role")));
    strbuf_add_cstr(&s->bodies, e ? " ERROR\n" : "\n");
}

static void encode_all(struct scene *s, const struct model_request *q)
{
    const struct protocol *all[] = {&protocol_anthropic_messages, &protocol_openai_chat,
                                    &protocol_openai_responses, &protocol_gemini, &protocol_ollama};

    strbuf_clear(&s->bodies);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        log_roles(s, all[i], q);
}

static void take_request(struct scene *s, const struct model_request *q)
{
    size_t n = q->n_messages;

    if (!is_aside(q)) {
        strbuf_addf(&s->log, "ask system=%" STR_FMT "\n", STR_ARG(q->system));
        if (s->encodes)
            encode_all(s, q);
    } else {
        strbuf_addf(&s->log, "summarise tools=%zu%s\n", q->n_tools,
                    q->tool_choice.kind == TOOL_CHOICE_NONE ? "" : " (!)");
        strbuf_clear(&s->question);
        message_text(q->messages[--n], &s->question);
    }
    for (size_t i = 0; i < n; i++) {
        strbuf_add_cstr(&s->log, "    ");
        log_message(&s->log, q->messages[i]);
    }
}

static void on_event(struct world *w, const struct event *e)
{
    struct scene *s = (struct scene *)w;
    const struct event_compact *c = &e->body.compact;

    switch (e->type) {
    case EVENT_PROVIDER_REQUEST:
        take_request(s, e->body.request.request);
        break;
    case EVENT_HISTORY:
        strbuf_addf(&s->log, "%s %zu ", e->body.message.mutation, e->body.message.index);
        log_message(&s->log, e->body.message.message);
        break;
    case EVENT_COMPACTED:
        strbuf_addf(&s->log, "compacted %s %lld -> %lld of %lld\n", c->trigger,
                    (long long)c->before.used, (long long)c->after.used,
                    (long long)c->after.window);
        break;
    case EVENT_NOTICE:
        if (e->body.notice.severity == SEVERITY_WARNING)
            strbuf_addf(&s->log, "warning %s: %" STR_FMT "\n", e->body.notice.source,
                        STR_ARG(e->body.notice.text));
        break;
    default:
        break;
    }
}

static void note_summary(void *self, struct str summary, const struct event_compact *c)
{
    struct scene *s = self;

    strbuf_addf(&s->callback, "%s %" STR_FMT, c->trigger, STR_ARG(summary));
}

static void scene_done(struct scene *s)
{
    world_close(&s->w);
    compaction_done(&s->compaction);
    strbuf_done(&s->hooks.log);
    strbuf_done(&s->log);
    strbuf_done(&s->question);
    strbuf_done(&s->callback);
    strbuf_done(&s->bodies);
}
DEFINE_AUTO_VAL(scene, scene_done)

static void scene_begin(struct scene *s)
{
    s->is_ready = true;
    s->w.on_event = on_event;
    s->w.keeper.compactor = &s->compaction.compactor;
    s->w.kit.hooks = &s->hooks.hooks;
    s->w.targets[0].window = 10000;
    s->hooks.hooks.run = spy;
    s->options.on_compact = note_summary;
    s->options.self = s;
    compaction_init(&s->compaction, &s->options, &s->w.conversation);
}

static void play(struct scene *s, const char *script, const char *prompt)
{
    if (!s->is_ready)
        scene_begin(s);
    s->w.script = script;
    world_run(&s->w, prompt);
}

/* A conversation of which the provider has counted so many tokens. */
static void fill(struct scene *s, int used)
{
    char prompt[1001] = {0}, script[100];

    memset(prompt, 'p', sizeof prompt - 1);
    snprintf(script, sizeof script, "turns:\n - [{text: Long.}, {usage: {input: %d, output: 5}}]\n",
             used - 5);
    play(s, script, prompt);
    strbuf_clear(&s->log);
}

#define assert_log(s, want)                                                                        \
    do {                                                                                           \
        assert_str(strbuf_str(&(s)->log), want);                                                   \
        strbuf_clear(&(s)->log);                                                                   \
    } while (0)

static bool contains(const struct strbuf *b, const char *text)
{
    return strstr(strbuf_cstr(b), text) != NULL;
}

/* How often a summary was asked for. */
static unsigned n_summaries(const struct scene *s)
{
    unsigned n = 0;

    for (const char *at = strbuf_cstr(&s->log); (at = strstr(at, "summarise ")); at++)
        n++;
    return n;
}

/* --- when --- */

TEST(a_history_at_the_threshold_becomes_a_summary_before_the_prompt)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 8350);
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_log(&s, "summarise tools=7\n"
                   "    user: \"<1000p>\"\n"
                   "    assistant: \"Long.\"\n"
                   "compact 0 assistant: \"[Context Summary] In short.\"\n"
                   "compacted auto 8350 -> 195 of 10000\n"
                   "append 1 user: \"Go on.\"\n"
                   "ask system=\n"
                   "    user: \"[The conversation continues from here.]\"\n"
                   "    assistant: \"[Context Summary] In short.\"\n"
                   "    user: \"Go on.\"\n"
                   "append 2 assistant: \"Yes.\"\n");
    assert_str(strbuf_str(&s.callback), "auto [Context Summary] In short.");
    assert_null(s.compaction.failure);
}

TEST(below_the_threshold_nothing_happens)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 8349);
    play(&s, ANSWER, "Go on.");
    assert_int_equal(n_summaries(&s), 0);
    assert_int_equal(s.w.result.outcome, RUN_DONE);
}

TEST(over_the_threshold_it_is_compacted_as_well)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 9400);
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_int_equal(n_summaries(&s), 1);
    assert_int_equal(s.w.result.outcome, RUN_DONE);
}

TEST(the_threshold_can_be_set)
{
    AUTO(scene) struct scene s = {.options.threshold_per_mille = 500};

    fill(&s, 4994);
    play(&s, "turns:\n - [{text: Yes.}, {usage: {input: 4995, output: 5}}]\n", "Go on.");
    assert_int_equal(n_summaries(&s), 0);
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_int_equal(n_summaries(&s), 1);
}

TEST(switched_off_it_does_not_happen_by_itself_but_when_demanded)
{
    AUTO(scene) struct scene s = {.options.threshold_per_mille = -1};

    fill(&s, 9000);
    play(&s, "turns:\n - [{text: Yes.}, {usage: {input: 9000, output: 5}}]\n", "Go on.");
    assert_int_equal(n_summaries(&s), 0);
    compaction_demand(&s.compaction, S(""));
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_int_equal(n_summaries(&s), 1);
    assert_true(contains(&s.log, "compacted manual 9005 ->"));
}

TEST(a_demand_holds_once_and_says_what_to_care_for)
{
    AUTO(scene) struct scene s = {.options.instructions = S("Keep the ports.")};

    fill(&s, 1000);
    compaction_demand(&s.compaction, S("Keep the names."));
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_true(contains(&s.question, "\n\nPay special attention to this:\n\n"
                                      "Keep the ports.\n\nKeep the names."));
    assert_str(strbuf_str(&s.callback), "manual [Context Summary] In short.");
    strbuf_clear(&s.log);
    play(&s, ANSWER, "Go on.");
    assert_int_equal(n_summaries(&s), 0);
}

TEST(a_demand_without_a_history_does_nothing)
{
    AUTO(scene) struct scene s = {0};

    scene_begin(&s);
    compaction_demand(&s.compaction, S(""));
    play(&s, ANSWER, "Hello.");
    assert_int_equal(n_summaries(&s), 0);
    assert_null(s.compaction.failure);
}

/* A round whose request the provider counts; the result has 1,000 characters or more. */
#define ROUND(id, input)                                                                           \
    " - [{tool: Big, id: " #id ", args: {lines: 120}}, {usage: {input: " #input ", output: 5}}]\n"

TEST(a_long_loop_of_tools_is_compacted_between_rounds)
{
    AUTO(scene) struct scene s = {0};

    play(&s,
         "turns:\n" ROUND(a, 1000) ROUND(b, 8400) " - text: In short.\n" ROUND(c, 2000) " - text: "
                                                                                        "Done.\n",
         "Count.");
    assert_int_equal(n_summaries(&s), 1);
    assert_int_equal(s.w.result.outcome, RUN_DONE);
    assert_true(contains(&s.log,
                         "compact 0 assistant: \"[Context Summary] In short.\"\n"
                         "compact 1 user: \"" REATTACH_NOTE "\" \"" REATTACH_REQUEST "Count.\"\n"
                         "compact 2 assistant: Big#b\n"
                         "compact 3 tool: b "));
    assert_true(contains(&s.log, "ask system=\n"
                                 "    user: \"[The conversation continues from here.]\"\n"
                                 "    assistant: \"[Context Summary] In short.\"\n"
                                 "    user: \"" REATTACH_NOTE "\" \"" REATTACH_REQUEST
                                 "Count.\"\n    assistant: Big#b\n    tool: b "));
}

TEST(report_and_node_runs_do_not_compact)
{
    static const struct run_policy *const policies[] = {&policy_node, &policy_report};

    for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
        AUTO(scene) struct scene s = {.w.input.policy = policies[i]};

        play(&s, "turns:\n" ROUND(a, 1000) ROUND(b, 8400) " - text: Done.\n", "Count.");
        assert_int_equal(n_summaries(&s), 0);
    }
}

TEST(the_request_survives_a_second_compaction_of_its_run)
{
    AUTO(scene) struct scene s = {0};

    play(&s,
         "turns:\n" ROUND(a, 1000) ROUND(b, 8400) " - text: First.\n" ROUND(c, 2000)
             ROUND(d, 8500) " - text: Second.\n - text: Done.\n",
         "Count.");
    assert_int_equal(n_summaries(&s), 2);
    assert_true(contains(&s.log,
                         "compact 0 assistant: \"[Context Summary] Second.\"\n"
                         "compact 1 user: \"" REATTACH_NOTE "\" \"" REATTACH_REQUEST "Count.\"\n"));
}

/* --- never twice for one overflow --- */

TEST(what_a_summary_cannot_make_smaller_is_not_summarised_again)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 9000);
    /* system prompt and tools alone are over the threshold */
    play(&s, "turns:\n - text: In short.\n - [{text: Yes.}, {usage: {input: 8800, output: 5}}]\n",
         "Go on.");
    assert_int_equal(n_summaries(&s), 1);
    play(&s, "turns:\n - [{text: Yes.}, {usage: {input: 9150, output: 10}}]\n", "More.");
    assert_int_equal(n_summaries(&s), 1);
    play(&s, "turns:\n - [{text: Yes.}, {usage: {input: 9200, output: 10}}]\n", "More.");
    assert_int_equal(n_summaries(&s), 1);
}

TEST(nor_is_it_when_the_caller_s_floor_is_over_the_threshold)
{
    AUTO(scene) struct scene s = {.w.kit.context_floor = 9000};

    fill(&s, 1000);
    /* the prompt stands behind the count, so the floor counts */
    play(&s,
         "turns:\n - [{tool: Echo, id: a, args: {text: x}}]\n - text: In short.\n"
         " - [{tool: Echo, id: b, args: {text: x}}]\n - text: Yes.\n",
         "Go on.");
    assert_int_equal(n_summaries(&s), 1);
    assert_int_equal(s.w.result.outcome, RUN_DONE);
}

TEST(a_failed_summary_is_tried_again_when_the_context_has_grown_by_a_twentieth)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 8400);
    play(&s,
         "turns:\n - error: provider_error\n - [{text: Yes.}, {usage: {input: 8890, output: "
         "9}}]\n",
         "Go on.");
    assert_int_equal(n_summaries(&s), 1);
    assert_int_equal(s.compaction.failed_at, 8400);
    play(&s, "turns:\n - [{text: Yes.}, {usage: {input: 8895, output: 5}}]\n", "Go on.");
    assert_int_equal(n_summaries(&s), 1);
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_int_equal(n_summaries(&s), 2);
    assert_int_equal(s.compaction.failed_at, 0);
}

TEST(a_failure_is_forgotten_with_its_overflow)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 9000);
    play(&s, "turns:\n - error: provider_error\n - text: Yes.\n", "Go on.");
    history_done(&s.w.conversation.history);
    fill(&s, 1000);
    assert_int_equal(s.compaction.failed_at, 0);
    history_done(&s.w.conversation.history);
    fill(&s, 8400);
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_int_equal(n_summaries(&s), 1);
    assert_true(contains(&s.log, "compacted auto 8400"));
}

/* --- what goes wrong --- */

TEST(a_summary_that_fails_leaves_the_history_and_is_told)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 8400);
    play(&s, "turns:\n - {error: provider_error, message: broken}\n - text: Yes.\n", "Go on.");
    assert_log(&s, "summarise tools=7\n"
                   "    user: \"<1000p>\"\n"
                   "    assistant: \"Long.\"\n"
                   "warning compaction: The history stays as it is: no summary was made: broken\n"
                   "append 2 user: \"Go on.\"\n"
                   "ask system=\n"
                   "    user: \"<1000p>\"\n"
                   "    assistant: \"Long.\"\n"
                   "    user: \"Go on.\"\n"
                   "append 3 assistant: \"Yes.\"\n");
    assert_int_equal(s.compaction.failure->kind, ERR_PROVIDER_ERROR);
    assert_int_equal(s.callback.n, 0);
}

TEST(so_does_an_empty_one)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 8400);
    play(&s, "turns:\n - text: \"  [Context Summary] \\n\"\n - text: Yes.\n", "Go on.");
    assert_true(contains(&s.log, "warning compaction: The history stays as it is: the model's "
                                 "summary is empty\nappend 2 user: \"Go on.\"\n"));
}

TEST(so_does_one_that_is_longer_than_what_it_is_about)
{
    AUTO(scene) struct scene s = {0};
    AUTO(strbuf) struct strbuf script = {0};

    strbuf_add_cstr(&script, "turns:\n - text: ");
    for (int i = 0; i < 1100; i++)
        strbuf_add_char(&script, 's');
    strbuf_add_cstr(&script, "\n - text: Yes.\n");
    fill(&s, 8400);
    play(&s, strbuf_cstr(&script), "Go on.");
    assert_true(contains(&s.log, "a summary would not make it shorter (about 468 tokens instead of "
                                 "444)\nappend 2 user: \"Go on.\"\n"));
}

TEST(a_model_that_calls_a_tool_instead_has_still_said_its_text)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 8400);
    play(&s,
         "turns:\n - [{text: In short.}, {tool: Echo, id: a, args: {text: x}}]\n - text: Yes.\n",
         "Go on.");
    assert_true(contains(&s.log, "compact 0 assistant: \"[Context Summary] In short.\"\n"));
    assert_int_equal(s.w.result.n_tools_executed, 0);
}

TEST(an_abort_while_the_summary_is_made_leaves_the_history)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 8400);
    s.w.cancels = true;
    s.w.cancel_at = EVENT_ATTEMPT_BEGIN;
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_int_equal(s.w.result.outcome, RUN_INTERRUPTED);
    assert_int_equal(s.w.conversation.history.n_messages, 2);
    assert_false(contains(&s.log, "warning"));
    assert_int_equal(s.compaction.failed_at, 0);
}

/* --- a request that does not fit --- */

TEST(results_that_do_not_fit_are_left_out_of_what_is_summarised)
{
    AUTO(scene) struct scene s = {0};

    play(&s,
         "turns:\n - [{tool: Big, id: a, args: {lines: 500}}, {tool: Echo, id: b, args: {text: "
         "small}}]\n - [{text: Long.}, {usage: {input: 2000, output: 5}}]\n",
         "Count.");
    strbuf_clear(&s.log);
    s.w.targets[0].window = 3000; /* another model */
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_int_equal(n_summaries(&s), 0); /* 2005 of 3000 */
    s.w.targets[0].window = 2400;
    strbuf_clear(&s.log);
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_true(contains(&s.log, "summarise tools=7\n"
                                 "    user: \"Count.\"\n"
                                 "    assistant: Big#a Echo#b\n"
                                 "    tool: a \"[result of 4392 characters left out]\"\n"
                                 "    tool: b \"small\"\n"));
}

TEST(a_provider_that_counts_otherwise_is_asked_about_less)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 8400);
    play(&s, "turns:\n - error: context_overflow\n - text: In short.\n - text: Yes.\n", "Go on.");
    assert_int_equal(n_summaries(&s), 2);
    assert_true(contains(&s.log, "summarise tools=7\n"
                                 "    user: \"[1 earlier message left out]\"\n"
                                 "    assistant: \"Long.\"\n"
                                 "compact 0 assistant: \"[Context Summary] In short.\"\n"));
}

TEST(if_that_does_not_fit_either_it_is_told)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 8400);
    play(&s, "turns:\n - error: context_overflow\n - error: context_overflow\n - text: Yes.\n",
         "Go on.");
    assert_int_equal(n_summaries(&s), 2);
    assert_true(contains(&s.log, "warning compaction: The history stays as it is: no summary was "
                                 "made: "));
    assert_int_equal(s.w.result.outcome, RUN_DONE);
}

TEST(the_largest_results_go_first_and_the_last_message_never)
{
    AUTO(arena) struct arena a = {0};
    struct message *messages[4];
    struct history_cut cut;
    char text[4000];

    memset(text, 'r', sizeof text);
    for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
        struct part content = {.kind = PART_TEXT, .text = {text, i == 1 ? 4000 : 1000}};
        struct part result = {.kind = PART_TOOL_RESULT, .content = &content, .n_content = 1};

        messages[i] = message_new(ROLE_TOOL, S("m"));
        message_add(messages[i], &result);
    }
    cut = shorten_plan((const struct message *const *)messages, 4, 500, &a);
    assert_int_equal(cut.n_clipped, 1);
    assert_int_equal(cut.clipped[0], 1);
    assert_int_equal(cut.n_skipped, 0);
    cut = shorten_plan((const struct message *const *)messages, 4, 1200, &a);
    assert_int_equal(cut.n_clipped, 2);
    assert_int_equal(cut.clipped[0], 0);
    cut = shorten_plan((const struct message *const *)messages, 4, 1000000, &a);
    assert_int_equal(cut.n_clipped, 4);
    assert_int_equal(cut.n_skipped, 3);
    for (size_t i = 0; i < ARRAY_LEN(messages); i++)
        message_unref(messages[i]);
}

/* --- hooks --- */

TEST(hooks_are_told_before_and_after)
{
    AUTO(scene) struct scene s = {.options.instructions = S("Keep the ports.")};

    s.hooks.context = "Mind the gap.";
    fill(&s, 8400);
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_str(strbuf_str(&s.hooks.log),
               "PreCompact(auto) {\"trigger\":\"auto\",\"custom_instructions\":\"Keep the "
               "ports.\"}\n"
               "PostCompact(auto) {\"trigger\":\"auto\",\"compact_summary\":\"[Context Summary] In "
               "short.\"}\n");
    assert_true(contains(&s.question, "Keep the ports.\n\nMind the gap."));
}

TEST(a_demand_is_told_to_hooks_as_manual)
{
    AUTO(scene) struct scene s = {.options.instructions = S("Keep the ports.")};

    fill(&s, 1000);
    compaction_demand(&s.compaction, S("And names."));
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_true(contains(&s.hooks.log, "PreCompact(manual) {\"trigger\":\"manual\","
                                       "\"custom_instructions\":\"Keep the ports.\\n\\nAnd "
                                       "names.\"}\n"));
}

TEST(a_hook_that_blocks_leaves_the_history_and_is_told_once)
{
    AUTO(scene) struct scene s = {.hooks.blocks = true};

    fill(&s, 8400);
    play(&s, "turns:\n - [{text: Yes.}, {usage: {input: 8400, output: 5}}]\n", "Go on.");
    assert_log(&s, "warning compaction: The history stays as it is: a PreCompact hook says no: not "
                   "now\n"
                   "append 2 user: \"Go on.\"\n"
                   "ask system=\n"
                   "    user: \"<1000p>\"\n"
                   "    assistant: \"Long.\"\n"
                   "    user: \"Go on.\"\n"
                   "append 3 assistant: \"Yes.\"\n");
    play(&s, ANSWER, "More.");
    assert_false(contains(&s.log, "warning"));
}

TEST(a_hook_that_ends_the_run_ends_it)
{
    AUTO(scene) struct scene s = {.hooks.stops = true};

    fill(&s, 8400);
    play(&s, ANSWER, "Go on.");
    assert_int_equal(s.w.result.error->kind, ERR_PLUGIN);
    assert_int_equal(n_summaries(&s), 0);
}

/* --- what stays and what is put back --- */

TEST(the_system_prompt_and_system_messages_stay)
{
    AUTO(scene) struct scene s = {0};
    struct message *told = message_new(ROLE_SYSTEM, S("told"));

    fill(&s, 8400);
    s.w.plan.system = S("Be brief.");
    message_add_text(told, S("It is Monday."));
    history_add_message(&s.w.conversation.history, told, 0);
    message_unref(told);
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_true(contains(&s.log, "compact 0 system: \"It is Monday.\"\n"
                                 "compact 1 assistant: \"[Context Summary] In short.\"\n"));
    assert_true(contains(&s.log, "ask system=Be brief.\n\nIt is Monday.\n"));
}

static void set_state(struct scene *s, const char *key, const char *value)
{
    AUTO(arena) struct arena a = {0};
    struct json *v;

    assert_ok(json_parse(&a, str_of(value), 0, &v));
    tool_state_restore(s->w.conversation.state, str_of(key), v);
}

TEST(the_todo_list_is_put_back)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 8400);
    set_state(&s, "todos",
              "[{\"content\":\"Read it\",\"status\":\"completed\"},"
              "{\"content\":\"Mend\\nit\",\"status\":\"in_progress\"},"
              "{\"content\":\"Test it\",\"status\":\"pending\"}]");
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_true(contains(&s.log, "compact 1 user: \"" REATTACH_NOTE "\" \"The todo list (x: done, "
                                 ">: in progress):\n- [x] Read it\n- [>] Mend"));
    assert_true(contains(&s.log, "\n- [ ] Test it\"\ncompacted auto"));
}

TEST(a_todo_list_that_is_done_is_not)
{
    AUTO(scene) struct scene s = {0};

    fill(&s, 8400);
    set_state(&s, "todos", "[{\"content\":\"Read it\",\"status\":\"completed\"}]");
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_false(contains(&s.log, REATTACH_NOTE));
}

/* --- files --- */

/* As if Read had read it. */
static void remember_file(struct scene *s, const char *path)
{
    AUTO(strbuf) struct strbuf key = {0}, value = {0};
    AUTO_FREE char *real = realpath(path, NULL);
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    strbuf_addf(&key, "file:%s", real);
    strbuf_addf(&value, "{\"mtime_ns\":%lld,\"size\":%lld,\"inode\":%llu,\"whole\":true}",
                (long long)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
                (long long)st.st_size, (unsigned long long)st.st_ino);
    set_state(s, strbuf_cstr(&key), strbuf_cstr(&value));
}

/* Compacts what fill_long() has made. */
static void put_back(struct scene *s)
{
    compaction_demand(&s->compaction, S(""));
    play(s, SUMMARY_AND_ANSWER, "Go on.");
}

static size_t place_of(const struct scene *s, const struct temp_dir *d, const char *before,
                       const char *name)
{
    AUTO(strbuf) struct strbuf text = {0};
    AUTO_FREE char *real = realpath(d->path, NULL);

    strbuf_addf(&text, "%s%s/%s", before, real, name);
    return str_find(strbuf_str(&s->log), strbuf_str(&text));
}

static void fill_long(struct scene *s)
{
    scene_begin(s);
    s->w.targets[0].window = 100000;
    play(s, "turns:\n - [{tool: Big, id: a, args: {lines: 900}}]\n - text: Long.\n", "Go.");
    strbuf_clear(&s->log);
}

TEST(files_in_work_are_named_and_begin_as_they_are)
{
    AUTO(scene) struct scene s = {0};
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a.c", "int a;\nint b;\n");
    put(&d, "gone.c", "x\n");
    put(&d, "bin", "x");
    put_bytes(&d, "bin", S("\0\1\2binary"));
    fill_long(&s);
    remember_file(&s, temp_path(&d, "a.c"));
    remember_file(&s, temp_path(&d, "gone.c"));
    remember_file(&s, temp_path(&d, "bin"));
    assert_int_equal(unlink(temp_path(&d, "gone.c")), 0);
    put_back(&s);
    assert_true(place_of(&s, &d, "\n- ", "a.c\n") != STR_NONE);
    assert_true(place_of(&s, &d, "<file path=\"", "a.c\">\nint a;\nint b;\n</file>") != STR_NONE);
    assert_true(place_of(&s, &d, "- ", "bin\n") != STR_NONE);
    assert_true(place_of(&s, &d, "<file path=\"", "bin") == STR_NONE);
    assert_false(contains(&s.log, "gone.c"));
}

TEST(a_file_that_has_changed_is_named_without_its_lines)
{
    AUTO(scene) struct scene s = {0};
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a.c", "old\n");
    fill_long(&s);
    remember_file(&s, temp_path(&d, "a.c"));
    put(&d, "a.c", "new and longer\n");
    put_back(&s);
    assert_true(place_of(&s, &d, "- ", "a.c (has changed since it was read") != STR_NONE);
    assert_false(contains(&s.log, "new and longer"));
}

TEST(of_a_long_file_whole_lines_are_shown)
{
    AUTO(scene) struct scene s = {0};
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(strbuf) struct strbuf text = {0};

    for (int i = 0; i < 5000; i++)
        strbuf_addf(&text, "number %d\n", i);
    put(&d, "long", strbuf_cstr(&text));
    fill_long(&s);
    remember_file(&s, temp_path(&d, "long"));
    put_back(&s);
    assert_true(contains(&s.log, "\">\nnumber 0\nnumber 1\n"));
    assert_true(contains(&s.log, "\nnumber 195\n[only its first lines]\n</file>"));
}

TEST(a_credential_in_a_file_or_an_instruction_is_kept_out)
{
    AUTO(scene) struct scene s = {0};
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    const struct secret_value value = {S("KEY"), S("hunter2-hunter2")};
    AUTO(secrets) struct secrets *secrets = secrets_new(&value, 1);

    put(&d, "a.c", "key = hunter2-hunter2\n");
    fill_long(&s);
    remember_file(&s, temp_path(&d, "a.c"));
    s.w.kit.secrets = secrets;
    s.compaction.options.instructions = S("Keep hunter2-hunter2.");
    put_back(&s);
    assert_true(contains(&s.log, "key = [REDACTED]\n"));
    assert_true(contains(&s.question, "Keep [REDACTED]."));
    assert_false(contains(&s.log, "hunter2"));
    assert_false(contains(&s.hooks.log, "hunter2"));
}

static bool hides_secret(const void *self, struct str path, bool is_dir)
{
    return str_ends(path, S("/secret"));
}

TEST(what_a_rule_hides_is_not_named_nor_is_a_link_followed)
{
    AUTO(scene) struct scene s = {0};
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct path_filter hidden = {.is_hidden = hides_secret};

    put(&d, "secret/key", "hidden\n");
    put(&d, "plain", "shown\n");
    fill_long(&s);
    remember_file(&s, temp_path(&d, "secret/key"));
    remember_file(&s, temp_path(&d, "plain"));
    assert_int_equal(unlink(temp_path(&d, "plain")), 0);
    assert_int_equal(symlink("secret/key", temp_path(&d, "plain")), 0);
    s.w.kit.hidden = &hidden;
    put_back(&s);
    assert_int_equal(s.w.result.outcome, RUN_DONE);
    assert_true(contains(&s.log, "compact 0"));
    assert_false(contains(&s.log, "hidden"));
    assert_false(contains(&s.log, "Files in work"));
}

TEST(the_files_used_last_come_first_and_no_more_than_ten)
{
    AUTO(scene) struct scene s = {0};
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(strbuf) struct strbuf script = {0};
    char name[] = "file-a";

    for (name[5] = 'a'; name[5] < 'a' + 12; name[5]++)
        put(&d, name, "x\n");
    strbuf_addf(&script,
                "turns:\n - [{tool: Big, id: a, args: {lines: 900}}]\n"
                " - [{tool: Echo, id: b, args: {text: %s/file-b}}]\n"
                " - [{tool: Echo, id: c, args: {text: %s/file-a}}]\n - text: Long.\n",
                d.path, d.path);
    scene_begin(&s);
    s.w.targets[0].window = 100000;
    play(&s, strbuf_cstr(&script), "Go.");
    strbuf_clear(&s.log);
    for (name[5] = 'a'; name[5] < 'a' + 12; name[5]++)
        remember_file(&s, temp_path(&d, name));
    put_back(&s);
    assert_true(place_of(&s, &d, "first:\n- ", "file-a\n") != STR_NONE);
    assert_true(place_of(&s, &d, "- ", "file-a\n") < place_of(&s, &d, "- ", "file-b\n"));
    assert_true(place_of(&s, &d, "- ", "file-b\n") < place_of(&s, &d, "- ", "file-l\n"));
    assert_true(place_of(&s, &d, "- ", "file-e\n") != STR_NONE);
    assert_true(place_of(&s, &d, "- ", "file-d\n") == STR_NONE);
}

static struct err *attach_much(void *self, const struct reattaching *r, struct strbuf *out)
{
    for (size_t i = 0; i < 2 * r->max_bytes; i++)
        strbuf_add_char(out, 'm');
    return NULL;
}

TEST(what_is_put_back_is_cut_to_a_twentieth_of_the_window)
{
    const struct reattacher much[] = {{.attach = attach_much}, {.attach = attach_much}};
    AUTO(scene) struct scene s = {.options = {.reattachers = much, .n_reattachers = 2}};

    play(&s, "turns:\n - [{tool: Big, id: a, args: {lines: 900}}]\n - text: Long.\n", "Go.");
    compaction_demand(&s.compaction, S(""));
    play(&s, SUMMARY_AND_ANSWER, "Go on.");
    assert_true(contains(&s.log, "compact 1 user: \"" REATTACH_NOTE
                                 "\" \"<1000m>\n... [2000 characters left out] ...\n<1000m>\"\n"));
}

/* --- the request after it --- */

TEST(every_protocol_takes_the_request_after_a_compaction)
{
    AUTO(scene) struct scene s = {.encodes = true};

    play(&s, "turns:\n" ROUND(a, 1000) ROUND(b, 8400) " - text: In short.\n - text: Done.\n",
         "Count.");
    assert_int_equal(n_summaries(&s), 1);
    assert_str(strbuf_str(&s.bodies), "anthropic-messages: user assistant user assistant user\n"
                                      "openai-chat: user assistant user assistant tool\n"
                                      "openai-responses: user assistant user  \n"
                                      "gemini: user model user model user\n"
                                      "ollama: user assistant user assistant tool\n");
}

RUN_TESTS(UNIT(a_history_at_the_threshold_becomes_a_summary_before_the_prompt),
          UNIT(below_the_threshold_nothing_happens), UNIT(report_and_node_runs_do_not_compact),
          UNIT(over_the_threshold_it_is_compacted_as_well), UNIT(the_threshold_can_be_set),
          UNIT(switched_off_it_does_not_happen_by_itself_but_when_demanded),
          UNIT(a_demand_holds_once_and_says_what_to_care_for),
          UNIT(a_demand_without_a_history_does_nothing),
          UNIT(a_long_loop_of_tools_is_compacted_between_rounds),
          UNIT(the_request_survives_a_second_compaction_of_its_run),
          UNIT(what_a_summary_cannot_make_smaller_is_not_summarised_again),
          UNIT(nor_is_it_when_the_caller_s_floor_is_over_the_threshold),
          UNIT(a_failed_summary_is_tried_again_when_the_context_has_grown_by_a_twentieth),
          UNIT(a_failure_is_forgotten_with_its_overflow),
          UNIT(a_summary_that_fails_leaves_the_history_and_is_told), UNIT(so_does_an_empty_one),
          UNIT(so_does_one_that_is_longer_than_what_it_is_about),
          UNIT(a_model_that_calls_a_tool_instead_has_still_said_its_text),
          UNIT(an_abort_while_the_summary_is_made_leaves_the_history),
          UNIT(results_that_do_not_fit_are_left_out_of_what_is_summarised),
          UNIT(a_provider_that_counts_otherwise_is_asked_about_less),
          UNIT(if_that_does_not_fit_either_it_is_told),
          UNIT(the_largest_results_go_first_and_the_last_message_never),
          UNIT(hooks_are_told_before_and_after), UNIT(a_demand_is_told_to_hooks_as_manual),
          UNIT(a_hook_that_blocks_leaves_the_history_and_is_told_once),
          UNIT(a_hook_that_ends_the_run_ends_it), UNIT(the_system_prompt_and_system_messages_stay),
          UNIT(the_todo_list_is_put_back), UNIT(a_todo_list_that_is_done_is_not),
          UNIT(files_in_work_are_named_and_begin_as_they_are),
          UNIT(a_file_that_has_changed_is_named_without_its_lines),
          UNIT(of_a_long_file_whole_lines_are_shown),
          UNIT(a_credential_in_a_file_or_an_instruction_is_kept_out),
          UNIT(what_a_rule_hides_is_not_named_nor_is_a_link_followed),
          UNIT(the_files_used_last_come_first_and_no_more_than_ten),
          UNIT(what_is_put_back_is_cut_to_a_twentieth_of_the_window),
          UNIT(every_protocol_takes_the_request_after_a_compaction))
