/* tool_test.c - filling in results. */
#include "test.h"

#include "base/utf8.h"
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

/* As it is recorded. */
static size_t json_size(const struct tool_result *r)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct json_writer w;

    jw_init(&w, &out);
    jw_begin_array(&w);
    part_write(&w, &(struct part){.kind = PART_TEXT, .text = strbuf_str(&r->text)});
    for (size_t i = 0; i < r->n_media; i++)
        part_write(&w, &(struct part){.kind = PART_MEDIA, .media = r->media[i]});
    jw_end_array(&w);
    return out.n;
}

static void fill(struct tool_result *r, const char *piece, size_t n)
{
    AUTO(strbuf) struct strbuf block = {0};

    for (int i = 0; i < 1024; i++)
        strbuf_add_cstr(&block, piece);
    tool_result_addf(r, "BEGIN");
    for (size_t i = 0; i < n / 1024; i++)
        strbuf_add(&r->text, strbuf_str(&block));
    tool_result_addf(r, "END");
}

TEST(a_text_that_is_too_large_as_json_loses_its_middle)
{
    static const struct {
        const char *piece;
        size_t n; /* together a little more than fits */
    } texts[] = {
        {"\001", 6 << 20}, {"\"", 16 << 20}, {"x\303\244", 11 << 20}, {"\342\202\254", 11 << 20}};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO(tool_result) struct tool_result r;

        tool_result_init(&r);
        fill(&r, texts[i].piece, texts[i].n);
        tool_result_end(&r);
        assert_in_range(json_size(&r), TOOL_RESULT_MAX_JSON_BYTES - (64 << 10),
                        TOOL_RESULT_MAX_JSON_BYTES);
        assert_true(str_starts(strbuf_str(&r.text), S("BEGIN")));
        assert_true(str_ends(strbuf_str(&r.text), S("END")));
        assert_true(str_find(strbuf_str(&r.text), S(" bytes were dropped here: ")) != STR_NONE);
        assert_true(utf8_is_valid(strbuf_str(&r.text)));
    }
}

TEST(no_nul_reaches_a_model)
{
    AUTO(tool_result) struct tool_result r;

    tool_result_init(&r);
    strbuf_add(&r.text, S("\0one\0\0two\0"));
    tool_result_end(&r);
    assert_str(strbuf_str(&r.text), "\u2400one\u2400\u2400two\u2400");
}

TEST(a_text_of_too_many_nuls_stays_within_its_cap)
{
    AUTO(tool_result) struct tool_result r;
    AUTO_FREE char *nuls = mem_alloc((size_t)1 << 20);

    tool_result_init(&r);
    for (unsigned i = 0; i < 30; i++)
        strbuf_add(&r.text, str_make(nuls, (size_t)1 << 20));
    tool_result_end(&r);
    assert_int_equal(r.text.n, 30 << 20);
    assert_int_equal(str_find_char(strbuf_str(&r.text), 0), STR_NONE);
}

TEST(a_text_that_fits_as_json_stays_whole)
{
    AUTO(tool_result) struct tool_result r;

    tool_result_init(&r);
    fill(&r, "x", 16 << 20);
    tool_result_end(&r);
    assert_int_equal(r.text.n, (16 << 20) + 8);
}

TEST(a_text_over_its_cap_leaves_room_for_what_hooks_add)
{
    AUTO(tool_result) struct tool_result r;

    tool_result_init(&r);
    fill(&r, "xxxxxxxx", 9 << 20);
    tool_result_end(&r);
    assert_true(json_size(&r) <= TOOL_RESULT_MAX_JSON_BYTES);
    assert_true(str_ends(strbuf_str(&r.text), S("dropped: it is over 64 MiB.]")));
    tool_result_addf(&r, "\nmore");
    assert_false(strbuf_is_over(&r.text));
}

TEST(media_that_do_not_fit_are_dropped_with_a_note)
{
    AUTO(tool_result) struct tool_result r;
    AUTO(strbuf) struct strbuf bytes = {0};

    memset(strbuf_reserve(&bytes, 9 << 20), 1, 9 << 20);
    strbuf_grew(&bytes, 9 << 20);
    tool_result_init(&r);
    tool_result_addf(&r, "Three files.");
    for (int i = 0; i < 3; i++)
        tool_result_add_media(&r, &(struct media){.mime = S("a/b"), .data = strbuf_str(&bytes)});
    tool_result_end(&r);
    assert_int_equal(r.n_media, 2);
    assert_true(json_size(&r) <= TOOL_RESULT_MAX_JSON_BYTES);
    assert_str(strbuf_str(&r.text),
               "Three files.\n[1 of 3 files were dropped: they are too large for a message.]");
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

RUN_TESTS(UNIT(no_nul_reaches_a_model), UNIT(a_text_of_too_many_nuls_stays_within_its_cap),
          UNIT(text_is_appended), UNIT(a_failure_replaces_the_text),
          UNIT(a_failure_may_quote_the_text_it_replaces), UNIT(details_are_one_object),
          UNIT(media_are_copied), UNIT(a_result_can_be_ended_twice),
          UNIT(a_text_that_is_too_large_as_json_loses_its_middle),
          UNIT(a_text_that_fits_as_json_stays_whole),
          UNIT(a_text_over_its_cap_leaves_room_for_what_hooks_add),
          UNIT(media_that_do_not_fit_are_dropped_with_a_note),
          UNIT(progress_goes_to_whoever_wants_it), UNIT(risks_have_names))
