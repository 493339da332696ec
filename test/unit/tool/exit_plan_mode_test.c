/* exit_plan_mode_test.c - what becomes of a plan, by what the person says. */
#include "tool/fixture.h"

#include "tool/builtin.h"

#define PLAN "{\"plan\":\"1. Change a.c\"}"

/* Someone with one answer, and the session whose mode they decide about. */
struct scene {
    struct tool_fixture f;
    struct asker asker;
    struct answer answer;
    struct ask asked;
    struct plan_mode mode;
    int n_left;
    bool accepts_edits;
    struct tool_result result;
    struct arena arena;
};

static struct scene *scene_of(struct asker *asker)
{
    return (struct scene *)((char *)asker - offsetof(struct scene, asker));
}

static struct err *ask(struct asker *asker, const struct ask *asked, struct arena *a,
                       struct answer *ret_answer)
{
    struct scene *s = scene_of(asker);

    s->asked = *asked;
    *ret_answer = s->answer;
    return NULL;
}

static const char *leave(void *self, bool accepts_edits)
{
    struct scene *s = self;

    s->n_left++;
    s->accepts_edits = accepts_edits;
    return accepts_edits ? "acceptEdits" : "default";
}

static void begin(struct scene *s, const struct answer *answer)
{
    *s = (struct scene){.f = tool_fixture_make(), .asker = {ask}, .mode = {leave, NULL, s}};
    s->f.context.plan_mode = &s->mode;
    if (!answer)
        return;
    s->answer = *answer;
    s->f.context.asker = &s->asker;
}

static const char *call(struct scene *s)
{
    s->result = tool_call(&s->f, &tool_exit_plan_mode, PLAN);
    return strbuf_cstr(&s->result.text);
}

static void scene_done(struct scene *s)
{
    tool_result_done(&s->result);
    tool_fixture_done(&s->f);
    arena_done(&s->arena);
}
DEFINE_AUTO_VAL(scene, scene_done)

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in: %s", part, text);
}

TEST(an_approved_plan_ends_plan_mode)
{
    static const struct {
        enum answer_kind kind;
        bool accepts_edits;
    } cases[] = {{ANSWER_ONCE, false}, {ANSWER_SESSION, true}, {ANSWER_PROJECT, true}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(scene) struct scene s;

        begin(&s, &(struct answer){.kind = cases[i].kind});
        assert_has(call(&s), "approved the plan");
        assert_has(strbuf_cstr(&s.result.text),
                   cases[i].accepts_edits ? "now acceptEdits" : "now default");
        assert_false(s.result.is_error);
        assert_int_equal(s.n_left, 1);
        assert_int_equal(s.accepts_edits, cases[i].accepts_edits);
        assert_int_equal(s.asked.kind, ASK_PLAN);
        assert_false(json_has(s.result.details, TOOL_ANSWER));
    }
}

TEST(a_plan_that_the_person_changed_is_the_one_to_follow)
{
    AUTO(scene) struct scene s;

    begin(&s, &(struct answer){.kind = ANSWER_ONCE});
    s.answer.args = json_new(&s.arena, JSON_OBJECT);
    json_set_str(&s.arena, (struct json *)s.answer.args, "plan", S("1. Change b.c"));
    assert_has(call(&s), "Work from this version:\n\n1. Change b.c");
}

TEST(a_refused_plan_leaves_plan_mode_on_and_tells_the_words)
{
    AUTO(scene) struct scene s;

    begin(&s, &(struct answer){.kind = ANSWER_NO, .reason = S("smaller steps")});
    assert_has(call(&s), "They said: smaller steps\n");
    assert_has(strbuf_cstr(&s.result.text), "Plan mode continues");
    assert_true(s.result.is_error);
    assert_int_equal(s.n_left, 0);
}

TEST(a_plan_that_no_one_can_approve_is_the_answer)
{
    AUTO(scene) struct scene s;

    begin(&s, NULL);
    assert_has(call(&s), "ends with the plan as its answer");
    assert_str(json_get_text(s.result.details, TOOL_ANSWER), "1. Change a.c");
    assert_false(s.result.is_error);
    assert_int_equal(s.n_left, 0);
}

TEST(an_answer_that_comes_later_suspends_the_call)
{
    AUTO(scene) struct scene s;

    begin(&s, &(struct answer){.kind = ANSWER_LATER});
    call(&s);
    assert_true(s.result.is_pending);
    assert_int_equal(s.result.ask.kind, ASK_PLAN);
    assert_str(json_get_text(s.result.ask.args, "plan"), "1. Change a.c");
    assert_int_equal(s.n_left, 0);
}

TEST(outside_of_plan_mode_there_is_nothing_to_approve)
{
    AUTO(scene) struct scene s;

    begin(&s, &(struct answer){.kind = ANSWER_ONCE});
    s.f.context.plan_mode = NULL;
    assert_has(call(&s), "not in plan mode");
    assert_true(s.result.is_error);
    assert_int_equal(s.n_left, 0);
}

RUN_TESTS(UNIT(an_approved_plan_ends_plan_mode),
          UNIT(a_plan_that_the_person_changed_is_the_one_to_follow),
          UNIT(a_refused_plan_leaves_plan_mode_on_and_tells_the_words),
          UNIT(a_plan_that_no_one_can_approve_is_the_answer),
          UNIT(an_answer_that_comes_later_suspends_the_call),
          UNIT(outside_of_plan_mode_there_is_nothing_to_approve))
