/* secrets_test.c - no known credential gets into a run: every event is written out and searched. */
#include "world.h"

#include "port/plugin.h"
#include "view/interactive.h"
#include "view/library.h"
#include "view/run_events.h"
#include "view/session_log.h"
#include "view/stream_json.h"

#define KEY "sk-4711-hush-hush"

static const struct secret_value known = {S("MODEL_KEY"), S(KEY)};

/* All that the views make of the events. */
struct seen {
    struct strbuf lines;
    struct stream_json *stream;
    struct run_events run_events;
    struct interactive_view interactive;
};
static struct seen seen;

static void write_all(struct world *w, const struct event *e)
{
    static const struct library_view library = {.trace_llm = true};

    session_log_write(e, &seen.lines);
    stream_json_event(seen.stream, e, &seen.lines);
    run_events_event(&seen.run_events, e, &seen.lines);
    interactive_event(&seen.interactive, e, &seen.lines);
    library_event(&library, e, &seen.lines);
}

static void run(struct world *w, const char *prompt)
{
    AUTO(secrets) struct secrets *secrets = secrets_new(&known, 1);

    seen = (struct seen){0};
    seen.stream = stream_json_new(&(struct stream_json_options){
        .session_id = "s", .include_partial = true, .replay_user = true});
    w->kit.secrets = secrets;
    w->on_event = write_all;
    world_run(w, prompt);
    assert_true(str_find(strbuf_str(&seen.lines), S("[REDACTED]")) != STR_NONE);
    assert_true(str_find(strbuf_str(&seen.lines), S(KEY)) == STR_NONE);
    stream_json_free(seen.stream);
    run_events_done(&seen.run_events);
    strbuf_done(&seen.lines);
}

TEST(a_key_in_the_prompt_is_not_sent)
{
    AUTO(world) struct world w = {.script = "turns:\n - text: Hello.\n"};

    run(&w, "my key is " KEY ".");
    assert_transcript(&w, "warning secrets: MODEL_KEY: removed from the prompt, which shows "
                          "[REDACTED] instead\n"
                          "+0 user: \"my key is [REDACTED].\"\n"
                          "ask m1 tools=7\n"
                          "    user: \"my key is [REDACTED].\"\n"
                          "+1 assistant: \"Hello.\"\n"
                          "= done: \"Hello.\"\n");
}

TEST(a_key_in_an_answer_is_not_shown_however_it_is_split)
{
    for (int split = 1; split < 20; split++) {
        AUTO(strbuf) struct strbuf script = {0};

        strbuf_addf(&script, "turns:\n - {text: 'It is " KEY ", sir', split: %d}\n", split);
        AUTO(world) struct world w = {.script = strbuf_cstr(&script)};

        run(&w, "what is my key?");
        assert_transcript(&w, "+0 user: \"what is my key?\"\n"
                              "ask m1 tools=7\n"
                              "    user: \"what is my key?\"\n"
                              "warning secrets: MODEL_KEY: removed from the model's answer, which "
                              "shows [REDACTED] instead\n"
                              "+1 assistant: \"It is [REDACTED], sir\"\n"
                              "= done: \"It is [REDACTED], sir\"\n");
    }
}

TEST(deltas_say_what_the_message_says)
{
    AUTO(world)
    struct world w = {.shows_deltas = true,
                      .script = "turns:\n - {text: 'Yes, sk-4711-hush-hush is', split: 9}\n"};

    run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "delta \"Yes, \"\n"
                                                "delta \"[REDACTED] i\"\n"
                                                "delta \"s\"\n"));
}

TEST(a_key_in_a_call_is_not_run)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Echo, id: c1, args: {text: 'a " KEY " b'}}]\n"
                                " - text: Done.\n"};

    run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "+2 tool: c1 \"a [REDACTED] b\"\n"));
}

/* --- what tools say --- */

static struct err *print_key(const struct tool *t, struct tool_context *c, const struct json *args,
                             struct tool_result *r)
{
    tool_progress(c, S("reading sk-4711-"));
    tool_progress(c, S("hush-hush"));
    tool_progress(c, S(" done"));
    tool_result_addf(r, "KEY=%s\n", KEY);
    json_set_str(&r->arena, tool_result_details(r), "diff", S("+KEY=" KEY));
    return NULL;
}

static struct err *fail_with_key(const struct tool *t, struct tool_context *c,
                                 const struct json *args, struct tool_result *r)
{
    return err_hint(err_new(ERR_TOOL_FAILED, "%s is no file", KEY), "is %s right?", KEY);
}

static void run_tool(struct world *w,
                     struct err *(*tool)(const struct tool *, struct tool_context *,
                                         const struct json *, struct tool_result *))
{
    struct tool leaky = TOY("Leak", NULL, "", "");
    struct tool *t = mem_copy(&leaky, sizeof leaky);

    t->run = tool;
    t->free = (void (*)(struct tool *))mem_free;
    world_open(w);
    w->goes_on = true;
    assert_ok(tool_registry_add(w->registry, t, NULL));
    run(w, "go");
}

TEST(a_key_that_a_tool_prints_is_not_seen_by_the_model_nor_by_anyone_else)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - [{tool: Leak, id: c1, args: {}}]\n - text: Done.\n"};

    run_tool(&w, print_key);
    assert_transcript(&w, "+0 user: \"go\"\n"
                          "ask m1 tools=8\n"
                          "    user: \"go\"\n"
                          "+1 assistant: Leak#c1\n"
                          "run Leak#c1\n"
                          "warning secrets: MODEL_KEY: removed from the result of Leak, which "
                          "shows [REDACTED] instead\n"
                          "+2 tool: c1 \"KEY=[REDACTED]\n\"\n"
                          "ask m1 tools=8\n"
                          "    user: \"go\"\n"
                          "    assistant: Leak#c1\n"
                          "    tool: c1 \"KEY=[REDACTED]\n\"\n"
                          "+3 assistant: \"Done.\"\n"
                          "= done: \"Done.\"\n");
}

TEST(a_key_in_a_tools_error_is_not_seen)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - [{tool: Leak, id: c1, args: {}}]\n - text: Done.\n"};

    run_tool(&w, fail_with_key);
    assert_non_null(strstr(strbuf_cstr(&w.log),
                           "+2 tool: c1! \"[REDACTED] is no file\nis [REDACTED] right?\"\n"));
}

/* --- what providers say --- */

TEST(a_key_in_a_providers_error_is_not_told)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - {error: provider_auth, message: 'bad key " KEY "'}\n",
                      .script2 = "turns:\n - {error: provider_error, message: '" KEY "!'}\n"};
    AUTO_FREE char *text = NULL;

    run(&w, "go");
    text = err_message(w.result.error);
    assert_null(strstr(text, KEY));
    for (size_t i = 0; i < w.result.n_accounting; i++)
        assert_true(str_find(w.result.accounting[i].error, S(KEY)) == STR_NONE);
}

static struct err *say_key(struct plugin *p, const struct plugin_run *run, struct arena *a,
                           struct str *input)
{
    *input = S("use " KEY);
    return NULL;
}

TEST(a_key_that_a_plugin_puts_into_the_prompt_is_not_sent)
{
    AUTO(world) struct world w = {.script = "turns:\n - text: Hello.\n"};
    struct plugin plugin = {.name = "p", .before_run = say_key};
    struct plugin *plugins[] = {&plugin};

    w.kit.plugins = plugins;
    w.kit.n_plugins = 1;
    run(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "+0 user: \"use [REDACTED]\"\n"));
}

RUN_TESTS(UNIT(a_key_in_the_prompt_is_not_sent),
          UNIT(a_key_in_an_answer_is_not_shown_however_it_is_split),
          UNIT(deltas_say_what_the_message_says), UNIT(a_key_in_a_call_is_not_run),
          UNIT(a_key_that_a_tool_prints_is_not_seen_by_the_model_nor_by_anyone_else),
          UNIT(a_key_in_a_tools_error_is_not_seen), UNIT(a_key_in_a_providers_error_is_not_told),
          UNIT(a_key_that_a_plugin_puts_into_the_prompt_is_not_sent))
