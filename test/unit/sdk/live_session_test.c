/* live_session_test.c - prompts that arrive during a run, questions, changes, and the end. */
#include "sdk/live_world.h"

static const struct answer_step none[] = {{0}};

/* --- prompts --- */

static size_t count_queue(const struct world *w)
{
    size_t n = 0;

    for (const struct live_prompt *p = live_session_queue(&w->live); p; p = p->next)
        n++;
    return n;
}

static bool is_last_in_queue(const struct world *w, const char *text)
{
    const struct live_prompt *p = live_session_queue(&w->live);

    while (p && p->next)
        p = p->next;
    return p && str_is(p->message->parts[0].text, text);
}

static struct err *submit_three(struct world *w)
{
    TRY(submit(w, "first"));
    TRY(wait_for(w, EVENT_DELTA));
    EXPECT(count_queue(w) == 0); /* its run has begun */
    TRY(submit(w, "second"));
    TRY(submit(w, "third"));
    EXPECT(count_queue(w) == 2 && is_last_in_queue(w, "third"));
    EXPECT_LOG(w, "");
    release(w);
    TRY(live_session_finish(&w->live));
    EXPECT_LOG(w, "done: one\ndone: two\ndone: three\n");
    EXPECT(count_queue(w) == 0);
    return NULL;
}

TEST(prompts_that_arrive_during_a_run_are_answered_one_after_another)
{
    static const struct answer_step steps[] = {
        {HELD, "one"}, {AT_ONCE, "two"}, {AT_ONCE, "three"}, {0}};

    run_world("{}", steps, submit_three);
}

static struct err *work_again(struct world *w)
{
    TRY(submit(w, "a"));
    TRY(wait_for_log(w, "one"));
    while (w->live.tasks.n_live) /* it is idle when its task has gone */
        TRY(task_yield());
    TRY(submit(w, "b"));
    return wait_for_log(w, "two");
}

TEST(an_idle_session_has_no_task_and_works_again_with_the_next_prompt)
{
    static const struct answer_step steps[] = {{AT_ONCE, "one"}, {AT_ONCE, "two"}, {0}};

    run_world("{}", steps, work_again);
}

static struct err *go_on(struct world *w)
{
    TRY(submit(w, "a"));
    TRY(wait_for_request(w));
    live_session_interrupt(&w->live);
    TRY(live_session_submit(&w->live, NULL, (struct str){0}));
    TRY(live_session_finish(&w->live));
    EXPECT_LOG(w, "interrupted\ndone: one\n");
    return NULL;
}

TEST(without_a_prompt_the_last_turn_continues)
{
    static const struct answer_step steps[] = {{SILENT, "-"}, {AT_ONCE, "one"}, {0}};

    run_world("{}", steps, go_on);
}

static struct err *submit_typed(struct world *w)
{
    const char *path = temp_path(&w->dir, "outside.txt");
    struct message *m = message_new(ROLE_USER, S(""));

    message_add_text(m, S("Look."));
    TRY(live_session_submit(&w->live, m, str_of(path)));
    TRY(live_session_finish(&w->live));
    EXPECT_LOG(w, "done: one\n"); /* and no question */
    EXPECT(strstr(strbuf_cstr(&w->asked), "the content"));
    return NULL;
}

TEST(what_the_person_typed_needs_no_question)
{
    AUTO(world) struct world w;
    AUTO(strbuf) struct strbuf args = {0};
    struct answer_step steps[] = {{AT_ONCE, "Let me.", "Read", NULL}, {AT_ONCE, "one"}, {0}};

    world_init(&w, "{}", steps);
    put(&w.dir, "outside.txt", "the content\n");
    strbuf_addf(&args, "{\"file_path\": \"%s\"}", temp_path(&w.dir, "outside.txt"));
    steps[0].args = strbuf_cstr(&args);
    assert_ok(run_live(&w, submit_typed));
}

/* --- room --- */

struct submitter {
    struct world *world;
    const char *text;
    bool is_done;
    struct err *error;
};

static struct err *submit_task(void *arg)
{
    struct submitter *s = arg;

    s->error = submit(s->world, s->text);
    s->is_done = true;
    wake_test(s->world);
    return NULL;
}

static struct err *finish_task(void *arg)
{
    struct world *w = arg;

    return live_session_finish(&w->live);
}

/* Comes when there is room, and before who was woken for it has run. */
static struct err *barge_task(void *arg)
{
    struct submitter *s = arg;
    struct err *e = NULL;

    while (!e && count_queue(s->world) == 256)
        e = task_yield();
    err_ignore(e, "the submission says it again");
    return submit_task(arg);
}

static struct err *wait_for_submitter(struct submitter *s)
{
    while (!s->is_done)
        TRY(park(s->world));
    return NULL;
}

static struct err *fill(struct world *w)
{
    TRY(submit(w, "held"));
    TRY(wait_for(w, EVENT_DELTA));
    for (size_t i = 0; i < 256; i++)
        TRY(submit(w, "waits"));
    return NULL;
}

static struct err *make_room(struct world *w, struct submitter *first, struct submitter *second)
{
    TRY(task_yield());
    EXPECT(!first->is_done && count_queue(w) == 256);
    release(w); /* the next one is never answered */
    TRY(wait_for_submitter(first));
    TRY(task_yield());
    EXPECT(!second->is_done && count_queue(w) == 256 && is_last_in_queue(w, "257th"));
    live_session_interrupt(&w->live);
    TRY(wait_for_submitter(second));
    EXPECT(!first->error && !second->error && is_last_in_queue(w, "258th"));
    return NULL;
}

static struct err *make_room_for_one(struct world *w, struct submitter *first,
                                     struct submitter *second)
{
    struct submitter third = {w, "barges in"};
    struct group g;
    struct err *e;

    group_begin(&g, 0, 0);
    group_spawn(&g, "third", barge_task, &third);
    release(w);
    do
        e = task_yield();
    while (!e && !first->is_done && !third.is_done);
    err_free(e);
    group_cancel(&g);
    err_ignore(group_end(&g), "it keeps its error");
    EXPECT(err_is(third.error, ERR_CANCELLED));
    err_free(third.error);
    EXPECT(first->is_done && is_last_in_queue(w, "257th"));
    return NULL;
}

static struct err *finish_full(struct world *w, struct submitter *first, struct submitter *second)
{
    struct group g;

    TRY(task_yield());
    EXPECT(!first->is_done);
    group_begin(&g, 0, 0);
    group_cancel(&g);
    group_spawn(&g, "finishes", finish_task, w);
    err_ignore(group_end(&g), "it was cancelled");
    TRY(wait_for_submitter(second));
    EXPECT(err_is(first->error, ERR_VALIDATION) && err_is(second->error, ERR_VALIDATION));
    EXPECT(count_queue(w) == 256);
    return NULL;
}

/* Runs `fn` while two tasks wait for room. */
static struct err *with_two_waiting(struct world *w,
                                    struct err *(*fn)(struct world *w, struct submitter *first,
                                                      struct submitter *second))
{
    struct submitter first = {w, "257th"}, second = {w, "258th"};
    struct group g;
    struct err *e = fill(w);

    group_begin(&g, 0, 0);
    group_spawn(&g, "first", submit_task, &first);
    group_spawn(&g, "second", submit_task, &second);
    if (!e)
        e = fn(w, &first, &second);
    group_cancel(&g);
    err_ignore(group_end(&g), "they keep their errors");
    err_free(first.error);
    err_free(second.error);
    return e;
}

static struct err *wait_for_room(struct world *w)
{
    return with_two_waiting(w, make_room);
}

static struct err *wait_for_one(struct world *w)
{
    return with_two_waiting(w, make_room_for_one);
}

static struct err *wait_until_it_finishes(struct world *w)
{
    return with_two_waiting(w, finish_full);
}

static const struct answer_step slow_steps[] = {{HELD, "one"}, {SILENT, "-"}, {SILENT, "-"}, {0}};

TEST(who_submits_to_a_full_queue_waits_for_room_in_order)
{
    run_world("{}", slow_steps, wait_for_room);
}

TEST(who_comes_later_does_not_take_the_room_of_who_waits)
{
    run_world("{}", slow_steps, wait_for_one);
}

TEST(who_waits_for_room_hears_that_the_session_is_finishing)
{
    run_world("{}", slow_steps, wait_until_it_finishes);
}

/* --- questions --- */

static const struct answer_step asking[] = {
    {AT_ONCE, "May I?", "Bash", "{\"command\": \"touch it\"}"}, {AT_ONCE, "Fine."}, {0}};

static bool has_it(const struct world *w)
{
    return access(temp_path(&w->dir, "work/it"), F_OK) == 0;
}

static struct err *answer_by_id(struct world *w)
{
    struct json yes = {.type = JSON_STRING, .text = S("yes")};
    struct str id;

    TRY(submit(w, "Do it."));
    TRY(wait_for_log(w, "asked about Bash"));
    EXPECT(w->n_events[EVENT_ASKED] == 1 && w->n_events[EVENT_ANSWERED] == 0);
    id = str_of(w->question);
    EXPECT(!live_session_answer(&w->live, S("another"), &yes));
    EXPECT(live_session_answer(&w->live, id, &yes));
    EXPECT(!live_session_answer(&w->live, id, &yes)); /* it has been answered */
    TRY(live_session_finish(&w->live));
    EXPECT_LOG(w, "asked about Bash\ndone: Fine.\n");
    EXPECT(has_it(w) && w->n_events[EVENT_ANSWERED] == 1);
    return NULL;
}

TEST(a_question_is_answered_by_its_id_and_once)
{
    run_world("{\"sandbox\": {\"enabled\": false}}", asking, answer_by_id);
}

static struct err *leave_question(struct world *w)
{
    TRY(submit(w, "Do it."));
    TRY(wait_for_log(w, "asked about Bash"));
    TRY(live_session_finish(&w->live));
    EXPECT_LOG(w, "asked about Bash\ndone: Fine.\n");
    EXPECT(!has_it(w));
    return NULL;
}

TEST(when_the_face_goes_nobody_answers_and_the_run_continues)
{
    run_world("{\"sandbox\": {\"enabled\": false}}", asking, leave_question);
}

static struct err *answer_late(struct world *w)
{
    struct json yes = {.type = JSON_STRING, .text = S("yes")};
    AUTO_FREE char *id = NULL;

    TRY(submit(w, "Do it."));
    TRY(wait_for_log(w, "asked about Bash"));
    id = mem_strdup(w->question);
    live_session_interrupt(&w->live);
    TRY(wait_for_log(w, "interrupted"));
    EXPECT(!live_session_answer(&w->live, str_of(id), &yes));
    EXPECT(!has_it(w));
    return NULL;
}

TEST(a_question_that_was_withdrawn_takes_no_answer)
{
    run_world("{\"sandbox\": {\"enabled\": false}}", asking, answer_late);
}

/* --- changes during a run --- */

static struct err *change_mode(struct world *w)
{
    TRY(submit(w, "Do it."));
    TRY(wait_for(w, EVENT_DELTA));
    TRY(live_session_set_mode(&w->live, S("acceptEdits")));
    release(w);
    TRY(live_session_finish(&w->live));
    EXPECT_LOG(w, "done: Fine.\n"); /* and no question */
    EXPECT(has_it(w));
    return NULL;
}

TEST(a_mode_that_is_set_during_a_run_counts_for_its_next_call)
{
    static const struct answer_step steps[] = {
        {HELD, "Writing.", "Write", "{\"file_path\": \"it\", \"content\": \"x\"}"},
        {AT_ONCE, "Fine."},
        {0}};

    run_world("{}", steps, change_mode);
}

static struct err *change_model(struct world *w)
{
    TRY(submit(w, "Do it."));
    TRY(wait_for(w, EVENT_DELTA));
    TRY(agent_set_model(w->live.agent, "anthropic/" OTHER_MODEL));
    release(w);
    TRY(live_session_finish(&w->live));
    EXPECT_LOG(w, "done: Fine.\n");
    EXPECT(w->n_events[EVENT_SESSION_CHANGED] == 1);
    EXPECT(strstr(strbuf_cstr(&w->asked), "\"model\":\"" MODEL "\""));
    EXPECT(strstr(strbuf_cstr(&w->asked), "\"model\":\"" OTHER_MODEL "\""));
    return NULL;
}

TEST(a_model_that_is_set_during_a_run_is_asked_in_its_next_round)
{
    static const struct answer_step steps[] = {
        {HELD, "Looking.", "Glob", "{\"pattern\": \"*\"}"}, {AT_ONCE, "Fine."}, {0}};

    run_world("{}", steps, change_model);
}

static struct err *switch_permissions_off(struct world *w)
{
    bool is_allowed = w->options.allows_bypass || w->options.agent.mode;
    struct err *e = live_session_set_mode(&w->live, S("bypassPermissions"));

    if (is_allowed)
        TRY(e);
    else
        EXPECT_ERR(e, ERR_VALIDATION);
    EXPECT((agent_get_mode(w->live.agent) == MODE_BYPASS) == is_allowed);
    EXPECT_ERR(live_session_set_mode(&w->live, S("yolo")), ERR_VALIDATION);
    EXPECT((agent_get_mode(w->live.agent) == MODE_BYPASS) == is_allowed);
    return NULL;
}

TEST(permissions_are_switched_off_only_where_that_is_allowed)
{
    for (int i = 0; i < 3; i++) {
        AUTO(world) struct world w;

        world_init(&w, "{}", none);
        w.options.allows_bypass = i == 1;
        w.options.agent.mode = i == 2 ? "bypassPermissions" : NULL;
        assert_ok(run_live(&w, switch_permissions_off));
    }
}

/* --- the end --- */

static struct err *finish_interrupted(struct world *w)
{
    struct group g;
    struct err *e;

    TRY(submit(w, "first"));
    TRY(submit(w, "second"));
    TRY(wait_for(w, EVENT_DELTA));
    group_begin(&g, 0, 0);
    group_spawn(&g, "finishes", finish_task, w);
    e = task_yield();
    group_cancel(&g);
    err_free(e);
    EXPECT_ERR(group_end(&g), ERR_CANCELLED);
    EXPECT_LOG(w, "interrupted: Well\n");
    EXPECT(count_queue(w) == 1);
    return NULL;
}

TEST(who_waits_for_the_end_may_be_interrupted_and_leaves_nothing_running)
{
    static const struct answer_step steps[] = {{HELD, "Well"}, {AT_ONCE, "never"}, {0}};

    run_world("{}", steps, finish_interrupted);
}

static struct err *close_in_the_middle(void *arg)
{
    struct world *w = arg;
    AUTO_FREE char *id = NULL;
    const struct history *h;

    TRY(open_live(w));
    TRY(submit(w, "first"));
    TRY(submit(w, "second"));
    TRY(wait_for(w, EVENT_DELTA));
    id = mem_strdup(agent_get_session(w->live.agent)->conversation.id);
    live_session_done(&w->live);
    EXPECT_LOG(w, "interrupted: Well\n");

    w->options.agent.session.resume = id;
    TRY(open_live(w));
    h = &agent_get_session(w->live.agent)->conversation.history;
    EXPECT(h->n_messages == 2);
    EXPECT(str_is(h->messages[1]->parts[0].text, "Well"));
    TRY(submit(w, "third"));
    TRY(live_session_finish(&w->live));
    EXPECT_LOG(w, "interrupted: Well\ndone: again\n");
    EXPECT(h->n_messages == 4);
    return NULL;
}

static struct err *close_in_the_middle_task(void *arg)
{
    struct world *w = arg;
    struct err *e = close_in_the_middle(w);

    close_live(w);
    return e;
}

TEST(a_session_that_is_closed_in_the_middle_is_resumed_without_what_waited)
{
    static const struct answer_step steps[] = {{HELD, "Well"}, {AT_ONCE, "again"}, {0}};
    AUTO(world) struct world w;

    world_init(&w, "{}", steps);
    assert_ok(loop_run_once(close_in_the_middle_task, &w));
}

static struct err *close_task(void *arg)
{
    struct world *w = arg;

    live_session_done(&w->live);
    return NULL;
}

static struct err *close_in_another_task(struct world *w)
{
    struct group g;

    TRY(submit(w, "first"));
    TRY(wait_for(w, EVENT_DELTA));
    group_begin(&g, 0, 0);
    group_spawn(&g, "closes", close_task, w);
    TRY(group_end(&g));
    EXPECT_LOG(w, "interrupted: Well\n");
    return NULL;
}

TEST(any_task_may_close_it)
{
    static const struct answer_step steps[] = {{HELD, "Well"}, {0}};

    run_world("{}", steps, close_in_another_task);
}

static struct err *close_at_a_question(struct world *w)
{
    TRY(submit(w, "Do it."));
    TRY(wait_for_log(w, "asked about Bash"));
    live_session_done(&w->live);
    EXPECT_LOG(w, "asked about Bash\nwithdrawn\ninterrupted: May I?\n");
    return NULL;
}

TEST(closing_withdraws_the_question)
{
    run_world("{}", asking, close_at_a_question);
}

static struct err *finish_without_prompts(struct world *w)
{
    TRY(live_session_finish(&w->live));
    EXPECT_ERR(submit(w, "late"), ERR_VALIDATION);
    EXPECT_LOG(w, "");
    return NULL;
}

TEST(a_session_that_is_finishing_takes_no_prompt)
{
    run_world("{}", none, finish_without_prompts);
}

RUN_TESTS(UNIT(prompts_that_arrive_during_a_run_are_answered_one_after_another),
          UNIT(an_idle_session_has_no_task_and_works_again_with_the_next_prompt),
          UNIT(without_a_prompt_the_last_turn_continues),
          UNIT(what_the_person_typed_needs_no_question),
          UNIT(who_submits_to_a_full_queue_waits_for_room_in_order),
          UNIT(who_comes_later_does_not_take_the_room_of_who_waits),
          UNIT(who_waits_for_room_hears_that_the_session_is_finishing),
          UNIT(a_question_is_answered_by_its_id_and_once),
          UNIT(when_the_face_goes_nobody_answers_and_the_run_continues),
          UNIT(a_question_that_was_withdrawn_takes_no_answer),
          UNIT(a_mode_that_is_set_during_a_run_counts_for_its_next_call),
          UNIT(a_model_that_is_set_during_a_run_is_asked_in_its_next_round),
          UNIT(permissions_are_switched_off_only_where_that_is_allowed),
          UNIT(who_waits_for_the_end_may_be_interrupted_and_leaves_nothing_running),
          UNIT(a_session_that_is_closed_in_the_middle_is_resumed_without_what_waited),
          UNIT(any_task_may_close_it), UNIT(closing_withdraws_the_question),
          UNIT(a_session_that_is_finishing_takes_no_prompt))
