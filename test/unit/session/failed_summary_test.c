/* failed_summary_test.c - results that a summary was to make room for, and no summary came: they
 * are stored and shortened, and whatever follows replays as it was. */
#include "session/stage.h"
#include "sys/in_task.h"

#include "archive/turns.h"
#include "archive/verify.h"
#include "sdk/replay/replay.h"

#define WINDOW 4000
/* Two results that do not fit beside what the provider has counted, and a summary that fails. */
#define FAILS                                                                                      \
    "turns:\n"                                                                                     \
    " - [{usage: {input: 3400, output: 20}}, {tool: Big, id: b, args: {lines: 400}},\n"            \
    "    {tool: Big, id: c, args: {lines: 401}}]\n"                                                \
    " - {error: provider_error, message: no}\n"
#define THEN(used) FAILS " - [{text: Done.}, {usage: {input: " #used ", output: 5}}]\n"
#define NO_SUMMARY "turns:\n - {error: provider_error, message: no}\n - text: Next.\n"

struct scene {
    struct stage stage;
    char id[2];
    struct hooks hooks;
    bool blocks;    /* the PreCompact hook */
    int64_t window; /* 0: WINDOW */
    struct group *run;
    size_t cancel_at; /* the result after which a person ends the run, from 1; 0: none */
    const char *script, *prompt;
};

static void scene_done(struct scene *s)
{
    stage_done(&s->stage);
}
DEFINE_AUTO_VAL(scene, scene_done)

static struct err *scene_hook(struct hooks *h, const struct hook_input *in, struct arena *a,
                              struct hook_outcome *o)
{
    struct scene *s = (struct scene *)((char *)h - offsetof(struct scene, hooks));

    *o = (struct hook_outcome){0};
    if (s->blocks && in->event == HOOK_PRE_COMPACT) {
        o->is_blocked = true;
        o->reason = S("not now");
    }
    return NULL;
}

static void on_event(struct world *w, const struct event *e)
{
    struct scene *s = (struct scene *)((char *)w - offsetof(struct scene, stage.world));

    if (e->type == EVENT_TOOL_COMMITTED && s->cancel_at && --s->cancel_at == 0)
        group_cancel(s->run);
}

static struct err *scene_play(void *arg)
{
    struct scene *s = arg;
    struct world *w = &s->stage.world;

    w->targets[0].window = s->window ? s->window : WINDOW;
    w->kit.blobs = store_blobs(s->stage.store, str_of(s->id));
    w->kit.hooks = &s->hooks;
    stage_run(&s->stage, s->script, s->prompt);
    return NULL;
}

static void play(struct scene *s, const char *script, const char *prompt)
{
    struct group g;

    s->script = script;
    s->prompt = prompt;
    s->stage.world.on_event = on_event;
    strbuf_clear(&s->stage.world.log);
    group_begin(&g, 0, GROUP_KEEP_GOING);
    s->run = &g;
    group_spawn(&g, "run", scene_play, s);
    err_ignore(group_end(&g), "the run gives a result");
}

static void begin(struct scene *s, const char *id)
{
    memcpy(s->id, id, 2);
    s->hooks = (struct hooks){scene_hook};
    stage_open(&s->stage, &(struct session_options){.start = SESSION_NEW, .id = str_of(s->id)});
    session_begin(&s->stage.session, &(struct event_session){.cwd = S("/tmp")});
    play(s, "turns:\n - [{text: Hi.}, {usage: {input: 2000, output: 5}}]\n", "hello");
}

/* --- what comes between the two runs --- */

static void stay(struct scene *s)
{
}

static void resume(struct scene *s)
{
    stage_close(&s->stage);
    stage_open(&s->stage, &(struct session_options){.start = SESSION_RESUME, .id = str_of(s->id)});
}

static void rewind_to(struct scene *s, unsigned number)
{
    AUTO(arena) struct arena a = {0};
    struct turn_list turns;
    const struct turn_entry *t;

    assert_ok(journal_sync(s->stage.session.journal));
    assert_ok(turn_list_read(s->stage.store, str_of(s->id), &a, &turns));
    t = turn_list_find(&turns, number);
    assert_non_null(t);
    assert_ok(session_rewind(
        &s->stage.session,
        &(struct session_rewind){.turn = number, .seq = t->seq, .takes_messages = true}));
}

/* The next run continues from the shortened results of turn 2. */
static void rewind_one(struct scene *s)
{
    play(s, "turns:\n - text: Undone.\n", "undo this");
    rewind_to(s, 3);
}

static void fork_it(struct scene *s)
{
    struct str source = S("s");

    stage_close(&s->stage);
    s->id[0] = 'f';
    stage_open(&s->stage, &(struct session_options){
                              .start = SESSION_FORK, .id = str_of(s->id), .source = source});
}

static void (*const between[])(struct scene *) = {stay, resume, rewind_one, fork_it};

/* --- what must hold --- */

static bool says(const struct scene *s, const char *text)
{
    return strstr(strbuf_cstr(&s->stage.world.log), text) != NULL;
}

/* Results in the history of which only a part, or the name, is there. */
static size_t count_shortened(const struct scene *s)
{
    size_t n_messages, n = 0;
    const struct message *const *messages =
        history_messages(&s->stage.session.conversation.history, &n_messages);

    for (size_t i = 0; i < n_messages; i++)
        if (messages[i]->role == ROLE_TOOL && str_find(messages[i]->parts[0].content[0].text,
                                                       S("tool_output with handle")) != STR_NONE)
            n++;
    return n;
}

static void on_finding(void *self, const struct finding *f)
{
    fail_msg("verify: %s: %" STR_FMT, finding_name(f->kind), STR_ARG(f->text));
}

static void on_run(void *self, const struct replayed_run *r)
{
    if (r->verdict != REPLAY_SAME)
        fail_msg("replay of run %u differs\n  recorded %" STR_FMT "\n  replayed %" STR_FMT, r->turn,
                 STR_ARG(r->recorded), STR_ARG(r->replayed));
    ++*(size_t *)self;
}

/* Closes the session. */
static void assert_replays(struct scene *s)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary summary;
    struct replay_clock clock;
    struct verified totals;
    size_t n_runs = 0;
    bool found;

    stage_close(&s->stage);
    assert_ok(store_find(s->stage.store, str_of(s->id), &a, &summary, &found));
    assert_ok(session_verify(s->stage.store, &summary, NULL,
                             (struct finding_sink){on_finding, NULL}, &totals));
    replay_clock_init(&clock);
    assert_ok(session_replay(&(struct replay_options){.store = s->stage.store,
                                                      .session = str_of(s->id),
                                                      .clock = &clock,
                                                      .on_run = on_run,
                                                      .self = &n_runs}));
    assert_true(n_runs > 0);
}

/* --- the tests --- */

IN_TASK(results_that_do_not_fit_after_a_failed_summary_are_shortened_and_the_turn_goes_on)
{
    AUTO(scene) struct scene s = {0};

    begin(&s, "s");
    play(&s, THEN(1000), "read");
    assert_true(says(&s, "The history stays as it is: no summary was made"));
    assert_int_equal(count_shortened(&s), 2);
    assert_int_equal(s.stage.world.result.outcome, RUN_DONE);
    assert_replays(&s);
}

/* It has asked a model, and recorded its tools with that. */
IN_TASK(a_later_run_replays)
{
    for (size_t i = 0; i < ARRAY_LEN(between); i++) {
        AUTO(scene) struct scene s = {0};

        begin(&s, "s");
        play(&s, THEN(1000), "read");
        between[i](&s);
        assert_int_equal(count_shortened(&s), 2);
        play(&s, "turns:\n - text: Next.\n", "and now?");
        assert_int_equal(s.stage.world.result.outcome, RUN_DONE);
        assert_replays(&s);
    }
}

/* What its tools take of the window is known all the same. */
IN_TASK(a_later_run_that_asks_no_model_replays)
{
    for (size_t i = 0; i < ARRAY_LEN(between); i++) {
        AUTO(scene) struct scene s = {0};

        begin(&s, "s");
        play(&s, THEN(3900), "read");
        s.blocks = true;
        between[i](&s);
        play(&s, "turns: []\n", "and now?");
        assert_false(says(&s, "ask m1"));
        assert_true(says(&s, "error context_overflow"));
        assert_replays(&s);
    }
}

IN_TASK(a_later_run_that_asks_only_for_a_summary_replays)
{
    for (size_t i = 0; i < ARRAY_LEN(between); i++) {
        AUTO(scene) struct scene s = {0};

        begin(&s, "s");
        play(&s, THEN(3900), "read");
        between[i](&s);
        compaction_demand(&s.stage.session.compaction, S(""));
        play(&s, NO_SUMMARY, "and now?");
        assert_true(says(&s, "no summary was made"));
        assert_true(says(&s, "error context_overflow"));
        assert_replays(&s);
    }
}

IN_TASK(a_later_run_whose_summary_fails_again_replays)
{
    for (size_t i = 0; i < ARRAY_LEN(between); i++) {
        AUTO(scene) struct scene s = {0};

        begin(&s, "s");
        play(&s, THEN(1000), "read");
        between[i](&s);
        play(&s, THEN(1000), "and again");
        assert_int_equal(count_shortened(&s), 4);
        assert_replays(&s);
    }
}

IN_TASK(a_hook_that_refuses_the_summary_does_the_same)
{
    for (size_t i = 0; i < ARRAY_LEN(between); i++) {
        AUTO(scene) struct scene s = {.blocks = true};

        begin(&s, "s");
        play(&s,
             "turns:\n - [{usage: {input: 3400, output: 20}}, {tool: Big, id: b, args: {lines: "
             "400}}, {tool: Big, id: c, args: {lines: 401}}]\n"
             " - [{text: Done.}, {usage: {input: 1000, output: 5}}]\n",
             "read");
        assert_int_equal(count_shortened(&s), 2);
        between[i](&s);
        play(&s, "turns:\n - text: Next.\n", "and now?");
        assert_replays(&s);
    }
}

/* The results are in the history, and nothing has made room: what was promised is not known to
 * another process, and need not be. */
IN_TASK(a_run_that_is_ended_before_its_compaction_leaves_it_to_the_next)
{
    for (size_t i = 0; i < ARRAY_LEN(between); i++) {
        AUTO(scene) struct scene s = {0};

        if (between[i] == rewind_one)
            continue; /* the run between would be that next one */
        begin(&s, "s");
        s.cancel_at = 2;
        play(&s, FAILS, "read");
        assert_int_equal(s.stage.world.result.outcome, RUN_INTERRUPTED);
        assert_int_equal(count_shortened(&s), 0);
        between[i](&s);
        play(&s, NO_SUMMARY, "and now?");
        assert_true(says(&s, "no summary was made"));
        assert_int_equal(count_shortened(&s), 2);
        assert_int_equal(s.stage.world.result.outcome, RUN_DONE);
        assert_replays(&s);
    }
}

/* Results that take most of it are shortened before the summary is asked for, the others after it
 * has failed. */
IN_TASK(what_only_the_provider_finds_too_long_is_shortened_and_replays)
{
    static const struct {
        const char *lines, *summary;
        size_t n_shortened;
    } cases[] = {{"250", "{error: provider_error, message: no}", 1},
                 {"500", "{error: provider_error, message: no}", 1},
                 {"250", "{text: In short.}", 0},
                 {"500", "{text: In short.}", 1}};
    char prompt[4001] = {0};

    memset(prompt, 'x', 4000);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(scene) struct scene s = {0};
        AUTO(strbuf) struct strbuf script = {0};

        strbuf_addf(&script,
                    "turns:\n - [{usage: {input: 1000, output: 20}}, {tool: Big, id: b, args: "
                    "{lines: %s}}]\n - {error: context_overflow, message: too long}\n - %s\n"
                    " - text: Done.\n",
                    cases[i].lines, cases[i].summary);
        begin(&s, "s");
        play(&s, "turns:\n - [{text: Ok.}, {usage: {input: 900, output: 20}}]\n", prompt);
        play(&s, strbuf_cstr(&script), "read");
        assert_str(s.stage.world.result.text, "Done.");
        assert_int_equal(count_shortened(&s), cases[i].n_shortened);
        play(&s, "turns:\n - text: Next.\n", "and now?");
        assert_replays(&s);
    }
}

static struct err *toy_answer(const struct tool *t, struct tool_context *c, const struct json *args,
                              struct tool_result *r)
{
    json_set_str(&r->arena, tool_result_details(r), TOOL_ANSWER, S("The plan."));
    return NULL;
}

/* A call gives the answer, so nothing follows its batch; and the next run has a smaller window. */
IN_TASK(what_was_found_for_a_batch_counts_for_its_run_only)
{
    struct tool answer = TOY(TOOL_EXIT_PLAN_MODE, toy_answer, "", "", .gives_answer = true);
    AUTO(scene) struct scene s = {0};
    char prompt[4001] = {0};

    memset(prompt, 'x', 4000);
    begin(&s, "s");
    assert_ok(tool_registry_add(s.stage.world.registry, &answer, NULL));
    play(&s,
         "turns:\n - [{usage: {input: 2500, output: 20}}, {tool: ExitPlanMode, id: a, args: {}}]\n",
         prompt);
    assert_str(s.stage.world.result.text, "The plan.");
    s.window = 2600;
    play(&s, "turns:\n - text: In short.\n - text: Done.\n", "do it");
    assert_true(says(&s, "[Context Summary] In short."));
    assert_str(s.stage.world.result.text, "Done.");
    assert_replays(&s);
}

RUN_TESTS(UNIT(results_that_do_not_fit_after_a_failed_summary_are_shortened_and_the_turn_goes_on),
          UNIT(a_later_run_replays), UNIT(a_later_run_that_asks_no_model_replays),
          UNIT(a_later_run_that_asks_only_for_a_summary_replays),
          UNIT(a_later_run_whose_summary_fails_again_replays),
          UNIT(a_hook_that_refuses_the_summary_does_the_same),
          UNIT(a_run_that_is_ended_before_its_compaction_leaves_it_to_the_next),
          UNIT(what_only_the_provider_finds_too_long_is_shortened_and_replays),
          UNIT(what_was_found_for_a_batch_counts_for_its_run_only))
