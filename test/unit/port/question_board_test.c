/* question_board_test.c */
#include "sys/tasks.h"

#include "port/question_board.h"

/* A face that writes down what it is shown, and the tasks that ask. */
struct scene {
    struct question_board board;
    struct strbuf log;
    struct asking {
        struct scene *scene;
        struct ask ask;
        struct err *failure;
    } asking[3];
};

static void show(void *self, const struct open_question *q)
{
    struct scene *s = self;

    strbuf_addf(&s->log, "show %" STR_FMT " %" STR_FMT "; ", STR_ARG(q->id), STR_ARG(q->ask->text));
}

static void withdraw(void *self, const struct open_question *q)
{
    struct scene *s = self;

    strbuf_addf(&s->log, "withdraw %" STR_FMT "; ", STR_ARG(q->id));
}

static void read_said(void *self, const struct open_question *q, const struct json *said,
                      struct answer *ret_answer)
{
    *ret_answer = (struct answer){.kind = ANSWER_NO, .reason = json_str(said)};
}

static bool refuses_budget(void *self, const struct ask *ask)
{
    return ask->kind == ASK_BUDGET;
}

static struct err *ask_task(void *arg)
{
    struct asking *x = arg;
    AUTO(arena) struct arena a = {0};
    struct answer answer;

    x->failure = asker_ask(&x->scene->board.asker, &x->ask, &a, &answer);
    if (!x->failure)
        strbuf_addf(&x->scene->log, "%" STR_FMT " got %d %" STR_FMT "; ", STR_ARG(x->ask.text),
                    (int)answer.kind, STR_ARG(answer.reason));
    return NULL;
}

static void scene_init(struct scene *s)
{
    static const char *const texts[] = {"a", "b", "c"};

    *s = (struct scene){0};
    question_board_init(&s->board, (struct question_face){.refuses = refuses_budget,
                                                          .show = show,
                                                          .withdraw = withdraw,
                                                          .read = read_said,
                                                          .self = s});
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        s->asking[i] = (struct asking){.scene = s, .ask.text = str_of(texts[i])};
}

static void scene_done(struct scene *s)
{
    for (size_t i = 0; i < ARRAY_LEN(s->asking); i++)
        err_free(s->asking[i].failure);
    strbuf_done(&s->log);
}
DEFINE_AUTO_VAL(scene, scene_done)

static void ask_all(struct scene *s, struct group *g, size_t n)
{
    for (size_t i = 0; i < n; i++)
        group_spawn(g, "asking", ask_task, &s->asking[i]);
}

/* The line of input that holds the answer is gone when the answer is read. */
static bool say(struct scene *s, const char *id, const char *text)
{
    AUTO(arena) struct arena a = {0};

    return question_board_answer(&s->board, str_of(id), json_new_str(&a, str_of(text)));
}

#define EXPECT_LOG(s, want) EXPECT(str_is(strbuf_str(&(s)->log), (want)))

static struct err *play_any_order(void *arg)
{
    struct scene *s = arg;
    struct group g;

    group_begin(&g, 0, GROUP_KEEP_GOING);
    ask_all(s, &g, 3);
    TRY(task_yield());
    EXPECT(say(s, "keel_2", "second"));
    EXPECT(!say(s, "keel_2", "again"));
    EXPECT(!say(s, "keel_9", "nobody asked"));
    TRY(task_yield());
    EXPECT(say(s, "keel_3", "third"));
    EXPECT(say(s, "keel_1", "first"));
    TRY(group_end(&g));
    EXPECT_LOG(s, "show keel_1 a; show keel_2 b; show keel_3 c; b got 2 second; c got 2 third; "
                  "a got 2 first; ");
    return NULL;
}

TEST(several_questions_are_answered_by_id_in_any_order)
{
    AUTO(scene) struct scene s;

    scene_init(&s);
    assert_ok(run_tasks(play_any_order, &s));
}

static struct err *play_cancel(void *arg)
{
    struct scene *s = arg;
    struct group g;

    group_begin(&g, 0, GROUP_KEEP_GOING);
    ask_all(s, &g, 2);
    TRY(task_yield());
    group_cancel(&g);
    TRY(group_end(&g));
    EXPECT(err_is(s->asking[0].failure, ERR_CANCELLED));
    EXPECT(!say(s, "keel_1", "too late"));
    EXPECT_LOG(s, "show keel_1 a; show keel_2 b; withdraw keel_1; withdraw keel_2; ");
    return NULL;
}

TEST(a_question_whose_task_is_cancelled_is_withdrawn)
{
    AUTO(scene) struct scene s;

    scene_init(&s);
    assert_ok(run_tasks(play_cancel, &s));
}

static struct err *play_close(void *arg)
{
    struct scene *s = arg;
    struct group g;

    group_begin(&g, 0, GROUP_KEEP_GOING);
    ask_all(s, &g, 2);
    TRY(task_yield());
    EXPECT(say(s, "keel_1", "said"));
    question_board_close(&s->board);
    TRY(group_end(&g));
    TRY(ask_task(&s->asking[2]));
    EXPECT_LOG(s, "show keel_1 a; show keel_2 b; a got 2 said; b got 0 ; c got 0 ; ");
    return NULL;
}

TEST(when_no_answers_come_any_more_nobody_waits)
{
    AUTO(scene) struct scene s;

    scene_init(&s);
    assert_ok(run_tasks(play_close, &s));
}

static struct err *play_refusal(void *arg)
{
    struct scene *s = arg;

    s->asking[0].ask.kind = ASK_BUDGET;
    TRY(ask_task(&s->asking[0]));
    EXPECT_LOG(s, "a got 0 ; ");
    return NULL;
}

TEST(a_question_that_the_face_cannot_put_is_not_shown)
{
    AUTO(scene) struct scene s;

    scene_init(&s);
    assert_ok(run_tasks(play_refusal, &s));
}

RUN_TESTS(UNIT(several_questions_are_answered_by_id_in_any_order),
          UNIT(a_question_whose_task_is_cancelled_is_withdrawn),
          UNIT(when_no_answers_come_any_more_nobody_waits),
          UNIT(a_question_that_the_face_cannot_put_is_not_shown))
