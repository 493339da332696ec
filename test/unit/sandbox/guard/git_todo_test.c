/* git_todo_test.c - lines of a rebase that git would run. */
#include "sandbox/guard/git_todo.h"

#include "test.h"

#define ASSERT_STRIPPED(text, known, wanted)                                                       \
    do {                                                                                           \
        AUTO(strbuf) struct strbuf out_ = {0};                                                     \
        bool is_less_ = git_todo_strip(str_of(text), str_of(known), &out_);                        \
        assert_string_equal(strbuf_cstr(&out_), wanted);                                           \
        assert_int_equal(is_less_, strcmp(text, wanted) != 0);                                     \
    } while (0)

TEST(lines_for_the_shell_go_and_all_else_stays)
{
    ASSERT_STRIPPED("pick a one\nexec evil\npick b two\n", "", "pick a one\npick b two\n");
    ASSERT_STRIPPED("x evil\n \tx\tevil\n  exec  evil \r\nexec\nx", "", "");
    ASSERT_STRIPPED("# exec no\nexecute no\nxpick no\n\nmerge -C a b\nlabel x\nbreak", "",
                    "# exec no\nexecute no\nxpick no\n\nmerge -C a b\nlabel x\nbreak");
    ASSERT_STRIPPED("", "", "");
}

TEST(lines_that_were_there_before_stay)
{
    AUTO(strbuf) struct strbuf known = {0};

    git_todo_find(S("pick a\n exec make test\r\nx  other\npick b exec no\n"), &known);
    assert_string_equal(strbuf_cstr(&known), "exec make test\nx  other\n");
    ASSERT_STRIPPED("exec make test\npick b\nexec make test; evil\nx  other\n", strbuf_cstr(&known),
                    "exec make test\npick b\nx  other\n");
    ASSERT_STRIPPED("exec\n", strbuf_cstr(&known), "");
}

TEST(a_strategy_with_a_slash_is_a_program)
{
    assert_true(git_strategy_is_plain(S("ort\n")) && git_strategy_is_plain(S("")));
    assert_false(git_strategy_is_plain(S("x/evil\n")));
    assert_true(git_sequencer_is_plain(S("[options]\n\tstrategy = ort\n\tsignoff = true\n")));
    assert_false(git_sequencer_is_plain(S("[Options]\n\tStrategy = \"x/evil\"\n")));
    assert_false(git_sequencer_is_plain(S("[options\n")));
}

RUN_TESTS(UNIT(lines_for_the_shell_go_and_all_else_stays), UNIT(lines_that_were_there_before_stay),
          UNIT(a_strategy_with_a_slash_is_a_program))
