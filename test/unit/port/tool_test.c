/* tool_test.c - filling in results. */
#include "test.h"

#include "port/tool.h"

TEST(text_is_appended)
{
    AUTO(tool_result) struct tool_result r;

    tool_result_init(&r);
    tool_result_addf(&r, "%d ", 1);
    tool_result_addf(&r, "%s", "two");
    assert_str(strbuf_str(&r.text), "1 two");
    assert_false(r.is_error);
}

TEST(a_failure_replaces_the_text)
{
    AUTO(tool_result) struct tool_result r;

    tool_result_init(&r);
    tool_result_addf(&r, "half of it");
    tool_result_fail(&r, "no such file: %s", "a.c");
    assert_str(strbuf_str(&r.text), "no such file: a.c");
    assert_true(r.is_error);
    assert_int_equal(r.code, ERR_TOOL_FAILED);
    tool_result_addf(&r, "\nnear it: b.c");
    assert_str(strbuf_str(&r.text), "no such file: a.c\nnear it: b.c");
}

TEST(a_failure_may_quote_the_text_it_replaces)
{
    AUTO(tool_result) struct tool_result r;

    tool_result_init(&r);
    tool_result_addf(&r, "output");
    tool_result_fail(&r, "it ended with %d after \"%s\"", 7, strbuf_cstr(&r.text));
    assert_str(strbuf_str(&r.text), "it ended with 7 after \"output\"");
}

TEST(details_are_one_object)
{
    AUTO(tool_result) struct tool_result r;
    AUTO(strbuf) struct strbuf out = {0};

    tool_result_init(&r);
    assert_null(r.details);
    json_set_int(&r.arena, tool_result_details(&r), "exitCode", 0);
    json_set_bool(&r.arena, tool_result_details(&r), "timedOut", true);
    json_write(&out, r.details);
    assert_str(strbuf_str(&out), "{\"exitCode\":0,\"timedOut\":true}");
}

TEST(media_are_copied)
{
    AUTO(tool_result) struct tool_result r;
    char bytes[] = "pixels", name[] = "a.png";

    tool_result_init(&r);
    for (int i = 0; i < 20; i++)
        tool_result_add_media(&r, &(struct media){.mime = S("image/png"),
                                                  .source = MEDIA_BYTES,
                                                  .data = str_of(bytes),
                                                  .name = str_of(name)});
    memset(bytes, 'x', sizeof bytes - 1);
    memset(name, 'x', sizeof name - 1);
    assert_int_equal(r.n_media, 20);
    for (size_t i = 0; i < r.n_media; i++) {
        assert_str(r.media[i].mime, "image/png");
        assert_int_equal(r.media[i].source, MEDIA_BYTES);
        assert_str(r.media[i].data, "pixels");
        assert_str(r.media[i].name, "a.png");
    }
}

TEST(a_result_can_be_ended_twice)
{
    struct tool_result r;

    tool_result_init(&r);
    tool_result_fail(&r, "text");
    (void)tool_result_details(&r);
    tool_result_done(&r);
    tool_result_done(&r);
    assert_int_equal(r.text.n, 0);
    assert_null(r.details);
}

static void remember(void *self, struct str text)
{
    strbuf_add(self, text);
}

TEST(progress_goes_to_whoever_wants_it)
{
    AUTO(strbuf) struct strbuf seen = {0};
    struct tool_context nobody = {0};
    struct tool_context somebody = {.on_progress = remember, .progress_self = &seen};

    tool_progress(&nobody, S("lost"));
    tool_progress(&somebody, S("half "));
    tool_progress(&somebody, S("done"));
    assert_str(strbuf_str(&seen), "half done");
}

TEST(risks_have_names)
{
    assert_string_equal(risk_name(RISK_UNCLASSIFIED), "unclassified");
    assert_string_equal(risk_name(RISK_INSPECT), "inspect");
    assert_string_equal(risk_name(RISK_MODIFY), "modify");
    assert_string_equal(risk_name(RISK_EXECUTE), "execute");
}

RUN_TESTS(UNIT(text_is_appended), UNIT(a_failure_replaces_the_text),
          UNIT(a_failure_may_quote_the_text_it_replaces), UNIT(details_are_one_object),
          UNIT(media_are_copied), UNIT(a_result_can_be_ended_twice),
          UNIT(progress_goes_to_whoever_wants_it), UNIT(risks_have_names))
