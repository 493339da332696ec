/* err_test.c */
#include "test.h"

TEST(a_wrapped_error_keeps_kind_and_retry_after)
{
    struct err *inner = err_new(ERR_PROVIDER_RATE_LIMIT, "slow down");
    AUTO(err) struct err *e = NULL;
    AUTO_FREE char *text = NULL;

    inner->retry_after_ms = 1500;
    e = err_hint(err_wrap(inner, "asking %s", "m"), "wait %d s", 2);
    text = err_message(e);
    assert_string_equal(text, "asking m: slow down");
    assert_int_equal(e->retry_after_ms, 1500);
    assert_string_equal(err_find_hint(e), "wait 2 s");
    assert_true(err_is_retryable(e));
    assert_true(err_allows_fallback(e));
    assert_int_equal(err_exit_code(e), 1);
    assert_int_equal(err_http_status(e->kind), 429);
    assert_string_equal(err_category(e->kind), "provider");
}

TEST(every_code_and_alias_leads_to_one_kind)
{
    static const struct {
        const char *name;
        enum err_kind kind;
    } others[] = {
        {"RATE_LIMIT_ERROR", ERR_PROVIDER_RATE_LIMIT},
        {"aborterror", ERR_CANCELLED},
        {"transport", ERR_NETWORK},
        {"invalid_response", ERR_BAD_RESPONSE},
        {"UnknownToolError", ERR_UNKNOWN_TOOL},
        {"ToolArgsInvalidError", ERR_VALIDATION},
        {"ToolExecutionError", ERR_TOOL_FAILED},
        {"ToolCancelledError", ERR_CANCELLED},
        {"run_timeout", ERR_TIMEOUT},
    };
    enum err_kind kind;

    for (int k = 0; k < ERR_N_KINDS; k++) {
        assert_true(err_kind_find(str_of(err_code((enum err_kind)k)), &kind));
        assert_int_equal(kind, k);
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        assert_true(err_kind_find(str_of(others[i].name), &kind));
        assert_int_equal(kind, others[i].kind);
    }
    assert_false(err_kind_find(S("no such thing"), &kind));
    assert_false(err_kind_find(S(""), &kind));
}

TEST(a_copy_is_deep)
{
    struct err *e = err_hint(err_wrap(err_errno(ERR_STORAGE, 2, "open"), "load"), "look");
    AUTO(err) struct err *copy = err_copy(e);
    AUTO_FREE char *text = NULL;

    err_free(e);
    text = err_message(copy);
    assert_string_equal(text, "load: open: No such file or directory");
    assert_string_equal(copy->hint, "look");
}

TEST(a_refused_file_is_known_through_wraps_and_copies)
{
    struct err *e = err_refuse_media(err_new(ERR_PROVIDER_ERROR, "no"), "");
    AUTO(err) struct err *copy = NULL;

    e = err_wrap(err_refuse_media(e, "abc"), "asking");
    copy = err_copy(e);
    err_free(e);
    assert_string_equal(copy->refused_media, "abc");
    assert_string_equal(copy->cause->refused_media, "abc");
}

TEST(cancelled_exits_like_an_interrupt_and_no_error_exits_zero)
{
    AUTO(err) struct err *e = err_new(ERR_CANCELLED, "stop");

    assert_int_equal(err_exit_code(e), 130);
    assert_int_equal(err_exit_code(NULL), 0);
    assert_false(err_is_retryable(e));
}

RUN_TESTS(UNIT(a_wrapped_error_keeps_kind_and_retry_after),
          UNIT(every_code_and_alias_leads_to_one_kind), UNIT(a_copy_is_deep),
          UNIT(a_refused_file_is_known_through_wraps_and_copies),
          UNIT(cancelled_exits_like_an_interrupt_and_no_error_exits_zero))
