/* live_interrupt_test.c - an interrupt ends the run, whatever it waits for, and nothing else. */
#include "sdk/live_world.h"

struct stage {
    const char *name, *settings;
    struct answer_step steps[4];
    const char *mode;
    struct err *(*wait)(struct world *w); /* until the run is there */
    const char *log;
};

static struct err *wait_for_text(struct world *w)
{
    return wait_for(w, EVENT_DELTA);
}

static struct err *wait_for_retry(struct world *w)
{
    return wait_for(w, EVENT_RETRY);
}

static struct err *wait_for_command(struct world *w)
{
    return wait_for(w, EVENT_TOOL_PROGRESS);
}

static struct err *wait_for_question(struct world *w)
{
    return wait_for_log(w, "asked about");
}

/* The model's comes before it. */
static struct err *wait_for_second_request(struct world *w)
{
    TRY(wait_for_request(w));
    return wait_for_request(w);
}

static const struct stage stages[] = {
    {"a hook of the session",
     "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": \"http\", \"url\": "
     "\"URL/hook\"}]}]}}",
     {{AT_ONCE, "again"}},
     .wait = wait_for_request,
     .log = "interrupted\ndone: again\n"},
    {"a hook of the answer",
     "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"http\", \"url\": \"URL/hook\"}]}]}}",
     {{AT_ONCE, "Well"}},
     .wait = wait_for_second_request,
     .log = "interrupted: Well\n"},
    {"a request that is not answered",
     "{}",
     {{SILENT, "-"}, {AT_ONCE, "again"}},
     .wait = wait_for_request,
     .log = "interrupted\ndone: again\n"},
    {"an answer that streams",
     "{}",
     {{HELD, "Well"}, {AT_ONCE, "again"}},
     .wait = wait_for_text,
     .log = "interrupted: Well\ndone: again\n"},
    {"the wait before the next attempt",
     "{}",
     {{OVERLOADED, "-"}, {AT_ONCE, "again"}},
     .wait = wait_for_retry,
     .log = "interrupted\ndone: again\n"},
    {"a command",
     "{\"sandbox\": {\"enabled\": false}}",
     {{AT_ONCE, "Let me.", "Bash", "{\"command\": \"echo on; sleep 1000\"}"}, {AT_ONCE, "again"}},
     .mode = "bypassPermissions",
     .wait = wait_for_command,
     .log = "interrupted: Let me.\ndone: again\n"},
    {"a question",
     "{}",
     {{AT_ONCE, "May I?", "Bash", "{\"command\": \"touch it\"}"}, {AT_ONCE, "again"}},
     .wait = wait_for_question,
     .log = "asked about Bash\nwithdrawn\ninterrupted: May I?\ndone: again\n"},
};

static const struct stage *stage;

/* The prompt that waits is answered, unless the same hook holds it back, too. */
static struct err *interrupt_there(struct world *w)
{
    TRY(submit(w, "first"));
    TRY(stage->wait(w));
    TRY(submit(w, "second"));
    live_session_interrupt(&w->live);
    EXPECT(live_session_queue(&w->live));
    TRY(wait_for_log(w, "interrupted"));
    if (strstr(stage->log, "again"))
        TRY(live_session_finish(&w->live));
    EXPECT_LOG(w, stage->log);
    return NULL;
}

static struct err *try_stage(const struct stage *s)
{
    AUTO(world) struct world w;
    struct err *e;

    stage = s;
    world_init(&w, s->settings, s->steps);
    w.options.agent.mode = s->mode;
    e = run_live(&w, interrupt_there);
    return e ? err_wrap(e, "%s", s->name) : NULL;
}

TEST(an_interrupt_ends_the_run_in_every_stage_and_the_next_prompt_is_answered)
{
    for (size_t i = 0; i < ARRAY_LEN(stages); i++)
        assert_ok(try_stage(&stages[i]));
}

static struct err *interrupt_nothing(struct world *w)
{
    live_session_interrupt(&w->live);
    TRY(submit(w, "first"));
    live_session_interrupt(&w->live); /* its run has not begun */
    TRY(live_session_finish(&w->live));
    live_session_interrupt(&w->live);
    EXPECT_LOG(w, "done: one\n");
    return NULL;
}

TEST(without_a_run_an_interrupt_does_nothing)
{
    static const struct answer_step steps[] = {{AT_ONCE, "one"}, {0}};

    run_world("{}", steps, interrupt_nothing);
}

RUN_TESTS(UNIT(an_interrupt_ends_the_run_in_every_stage_and_the_next_prompt_is_answered),
          UNIT(without_a_run_an_interrupt_does_nothing))
