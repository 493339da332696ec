/* strbuf_test.c */
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(an_append_over_the_cap_is_dropped_whole_and_told)
{
    AUTO(strbuf) struct strbuf b;

    strbuf_init(&b, 8);
    strbuf_add_cstr(&b, "12345678");
    assert_ok(strbuf_check(&b, "text"));
    strbuf_add_cstr(&b, "9");
    strbuf_add_cstr(&b, "");
    assert_str(strbuf_str(&b), "12345678");
    assert_err(strbuf_check(&b, "text"), ERR_VALIDATION);
    strbuf_clear(&b);
    strbuf_addf(&b, "%04d", 7);
    assert_ok(strbuf_check(&b, "text"));
    assert_string_equal(strbuf_cstr(&b), "0007");
}

TEST(a_zeroed_buffer_works)
{
    AUTO(strbuf) struct strbuf b = {0};
    AUTO_FREE char *text = NULL;

    assert_string_equal(strbuf_cstr(&b), "");
    for (int i = 0; i < 1000; i++)
        strbuf_add_char(&b, 'x');
    strbuf_drop_front(&b, 990);
    strbuf_cut(&b, 5);
    text = strbuf_take(&b);
    assert_string_equal(text, "xxxxx");
    assert_int_equal(b.n, 0);
}

/* How a process ends that frees a buffer over its cap. */
static int end_of(bool asks)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct strbuf b;

        close(STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        strbuf_init(&b, 4);
        strbuf_add_cstr(&b, "12345");
        if (asks && !strbuf_is_over(&b))
            _exit(1);
        strbuf_done(&b);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

TEST(half_of_a_text_cannot_be_taken_for_the_whole)
{
    int unasked = end_of(/* asks= */ false);

    assert_true(WIFSIGNALED(unasked) && WTERMSIG(unasked) == SIGABRT);
    assert_int_equal(end_of(/* asks= */ true), 0);
}

TEST(what_was_asked_about_can_be_cut_away)
{
    AUTO(strbuf) struct strbuf b;

    strbuf_init(&b, 4);
    strbuf_add_cstr(&b, "12");
    strbuf_add_cstr(&b, "345");
    assert_true(strbuf_is_over(&b));
    strbuf_cut(&b, 1);
    strbuf_add_cstr(&b, "xyz");
    assert_false(strbuf_is_over(&b));
    assert_str(strbuf_str(&b), "1xyz");
}

TEST(who_gets_no_room_knows_that_it_is_over)
{
    AUTO(strbuf) struct strbuf b;

    strbuf_init(&b, 4);
    assert_null(strbuf_reserve(&b, 5));
}

RUN_TESTS(UNIT(an_append_over_the_cap_is_dropped_whole_and_told), UNIT(a_zeroed_buffer_works),
          UNIT(half_of_a_text_cannot_be_taken_for_the_whole),
          UNIT(what_was_asked_about_can_be_cut_away), UNIT(who_gets_no_room_knows_that_it_is_over))
