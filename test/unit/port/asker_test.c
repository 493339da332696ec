/* asker_test.c */
#include "test.h"

#include "port/asker.h"

struct fixed_asker {
    struct asker asker;
    struct answer answer;
    enum err_kind error; /* ERR_N_KINDS: none */
    const struct ask *asked;
};

static struct err *ask_fixed(struct asker *asker, const struct ask *ask, struct arena *a,
                             struct answer *ret_answer)
{
    struct fixed_asker *f = (struct fixed_asker *)asker;

    f->asked = ask;
    if (f->error != ERR_N_KINDS)
        return err_new(f->error, "asked in vain");
    *ret_answer = f->answer;
    ret_answer->reason = arena_str(a, f->answer.reason);
    return NULL;
}

TEST(without_an_asker_nobody_is_there)
{
    AUTO(arena) struct arena a = {0};
    struct ask ask = {.kind = ASK_PERMISSION};
    struct answer answer = {.kind = ANSWER_ONCE, .reason = S("left over")};

    assert_ok(asker_ask(NULL, &ask, &a, &answer));
    assert_int_equal(answer.kind, ANSWER_NOBODY);
    assert_int_equal(answer.reason.n, 0);
    assert_null(answer.value);
}

TEST(an_asker_gets_the_question_and_gives_the_answer)
{
    AUTO(arena) struct arena a = {0};
    struct fixed_asker f = {.asker = {ask_fixed},
                            .answer = {.kind = ANSWER_NO, .reason = S("not today")},
                            .error = ERR_N_KINDS};
    struct ask ask = {.kind = ASK_BUDGET, .text = S("go on?")};
    struct answer answer;

    assert_ok(asker_ask(&f.asker, &ask, &a, &answer));
    assert_ptr_equal(f.asked, &ask);
    assert_int_equal(answer.kind, ANSWER_NO);
    assert_str(answer.reason, "not today");
}

TEST(an_asker_that_fails_grants_nothing)
{
    AUTO(arena) struct arena a = {0};
    struct fixed_asker f = {.asker = {ask_fixed}, .error = ERR_CANCELLED};
    struct ask ask = {.kind = ASK_PERMISSION};
    struct answer answer = {.kind = ANSWER_PROJECT};

    assert_err(asker_ask(&f.asker, &ask, &a, &answer), ERR_CANCELLED);
    assert_int_equal(answer.kind, ANSWER_NOBODY);
}

TEST(kinds_have_names)
{
    assert_string_equal(ask_kind_name(ASK_PERMISSION), "permission");
    assert_string_equal(ask_kind_name(ASK_QUESTION), "question");
    assert_string_equal(ask_kind_name(ASK_BUDGET), "budget");
}

RUN_TESTS(UNIT(without_an_asker_nobody_is_there),
          UNIT(an_asker_gets_the_question_and_gives_the_answer),
          UNIT(an_asker_that_fails_grants_nothing), UNIT(kinds_have_names))
