/* import_test.c - what other programs wrote becomes a history that can be gone on with. */
#include "test.h"
#include "transcript/import.h"

/* --- a conversation in short --- */

static void tell_part(struct strbuf *out, const struct message *m, const struct part *p)
{
    switch (p->kind) {
    case PART_TOOL_CALL:
        strbuf_addf(out, " call(%" STR_FMT " %" STR_FMT ")", STR_ARG(p->name), STR_ARG(p->args));
        break;
    case PART_TOOL_RESULT:
        strbuf_addf(out, " %s(%" STR_FMT " %.12s)", p->is_error ? "failed" : "result",
                    STR_ARG(p->id), p->n_content ? p->content[0].text.p : "");
        break;
    case PART_MEDIA:
        strbuf_addf(out, " media(%" STR_FMT " %zu)", STR_ARG(p->media.mime), p->media.data.n);
        break;
    default:
        strbuf_addf(out, " %" STR_FMT, STR_ARG(p->text));
        break;
    }
}

static char *tell(const struct imported *s)
{
    static const char *const steps[] = {"", "compact ", "rewind ", "clear"};
    struct strbuf out = {0};

    for (size_t i = 0; i < s->n; i++) {
        const struct message *m = s->items[i].message;

        strbuf_addf(&out, "%s%s", s->items[i].begins ? "-- " : "", steps[s->items[i].step]);
        if (m)
            strbuf_addf(&out, "%s:", role_name(m->role));
        for (size_t k = 0; m && k < m->n_parts; k++)
            tell_part(&out, m, &m->parts[k]);
        strbuf_add_char(&out, '\n');
    }
    return strbuf_take(&out);
}

static void assert_session(const struct import *i, size_t index, const char *want)
{
    AUTO_FREE char *got = NULL;

    assert_true(index < i->n);
    got = tell(&i->sessions[index]);
    assert_string_equal(got ? got : "", want);
}

static struct err *read_text(struct import *i, const char *text, bool is_partial)
{
    return import_read_text(i, str_of(text),
                            &(struct import_options){.name = "in", .is_partial = is_partial});
}

static void assert_import(const char *text, const char *want)
{
    AUTO(import) struct import i;

    assert_ok(read_text(&i, text, false));
    assert_session(&i, 0, want);
}

/* --- records --- */

#define CALL "{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}"

TEST(calls_without_a_result_get_one_that_says_so)
{
    assert_import("{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},"
                  "{\"role\":\"assistant\",\"content\":\"\",\"toolCalls\":[" CALL "]},"
                  "{\"role\":\"user\",\"content\":\"b\"}]}",
                  "user: a\nassistant: call(f {})\ntool: failed(c The result o)\nuser: b\n");
}

TEST(results_without_a_call_are_left_out)
{
    assert_import("{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},"
                  "{\"role\":\"tool\",\"content\":\"x\",\"toolCallId\":\"c\"},"
                  "{\"role\":\"assistant\",\"content\":\"b\"}]}",
                  "user: a\nassistant: b\n");
}

TEST(a_message_with_two_results_becomes_two)
{
    assert_import(
        "{\"messages\":[{\"role\":\"assistant\",\"parts\":["
        "{\"type\":\"tool_call\",\"id\":\"c\",\"name\":\"f\",\"args\":\"{}\"},"
        "{\"type\":\"tool_call\",\"id\":\"d\",\"name\":\"f\",\"args\":\"{}\"}]},"
        "{\"role\":\"tool\",\"parts\":["
        "{\"type\":\"tool_result\",\"id\":\"d\",\"content\":[{\"type\":\"text\",\"text\":\"2\"}]},"
        "{\"type\":\"tool_result\",\"id\":\"c\",\"content\":[{\"type\":\"text\",\"text\":\"1\"}]}]}"
        "]}",
        "assistant: call(f {}) call(f {})\ntool: result(d 2)\ntool: result(c 1)\n");
}

TEST(arguments_that_are_no_object_are_kept_apart)
{
    AUTO(import) struct import i;
    const struct part *p;

    assert_ok(read_text(&i,
                        "{\"messages\":[{\"role\":\"assistant\",\"parts\":[{\"type\":\"tool_call\","
                        "\"id\":\"c\",\"name\":\"f\",\"args\":\"[1\"}]}]}",
                        false));
    p = &i.sessions[0].items[0].message->parts[0];
    assert_str(p->args, "{}");
    assert_str(p->bad_args, "[1");
}

/* They go into a request as they are. */
TEST(a_providers_bytes_that_are_no_json_are_not_taken)
{
    AUTO(import) struct import i;
    const struct message *m;

    assert_ok(read_text(&i,
                        "{\"messages\":[{\"role\":\"assistant\",\"parts\":["
                        "{\"type\":\"text\",\"text\":\"a\",\"native\":\"},{\"},"
                        "{\"type\":\"text\",\"text\":\"b\",\"native\":\"{}\"}]}]}",
                        false));
    m = i.sessions[0].items[0].message;
    assert_int_equal(m->parts[0].native.n, 0);
    assert_str(m->parts[1].native, "{}");
}

TEST(a_blob_of_another_store_is_only_named)
{
    assert_import("{\"messages\":[{\"role\":\"user\",\"parts\":[{\"type\":\"media\",\"media\":"
                  "{\"mimeType\":\"image/png\",\"source\":\"blob\",\"data\":\"00\"}}]}]}",
                  "user: [an attachment that is not in the file, image/png]\n");
}

TEST(ids_are_unique_and_the_same_each_time)
{
    const char *text =
        "{\"id\":\"s\",\"messages\":[{\"id\":\"a\",\"role\":\"user\",\"content\":\"1\"},"
        "{\"id\":\"a\",\"role\":\"user\",\"content\":\"2\"},"
        "{\"id\":\"../x\",\"role\":\"user\",\"content\":\"3\"}]}";
    AUTO(import) struct import i, k;

    assert_ok(read_text(&i, text, false));
    assert_ok(read_text(&k, text, false));
    assert_str(i.sessions[0].items[0].message->id, "a");
    for (size_t n = 0; n < 3; n++) {
        struct str id = i.sessions[0].items[n].message->id;

        assert_true(str_eq(id, k.sessions[0].items[n].message->id));
        for (size_t m = 0; m < n; m++)
            assert_false(str_eq(id, i.sessions[0].items[m].message->id));
    }
    assert_true(str_find(i.sessions[0].items[2].message->id, S("/")) == STR_NONE);
}

#define SEEN(id, role, text)                                                                       \
    "{\"category\":\"chat\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"data\":{\"id\":\"" id         \
    "\",\"role\":\"" role "\",\"content\":\"" text "\"}}"
#define SENT(id, role, text) "{\"id\":\"" id "\",\"role\":\"" role "\",\"content\":\"" text "\"}"

TEST(what_was_seen_before_a_summary_comes_before_it)
{
    assert_import(
        "{\"history\":[" SEEN("1", "user", "a") "," SEEN("2", "assistant", "b") "," SEEN(
            "3", "user", "c") "],\"messages\":[" SENT("s", "assistant", "sum") "," SENT("3", "user",
                                                                                        "c") "]}",
        "user: a\nassistant: b\n-- compact assistant: sum\nuser: c\n");
}

TEST(a_history_that_was_cleared_stays_so)
{
    assert_import("{\"history\":[" SEEN("1", "user", "a") "," SEEN(
                      "3", "user", "c") "],\"messages\":[" SENT("3", "user", "c") "]}",
                  "user: a\n-- clear\nuser: c\n");
}

/* --- times --- */

static int64_t time_of(const char *value)
{
    AUTO(import) struct import i;
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text, "{\"createdAt\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
                value);
    assert_ok(read_text(&i, strbuf_cstr(&text), false));
    return i.sessions[0].items[0].unix_ms;
}

TEST(times_are_read_in_the_ways_that_people_write_them)
{
    assert_int_equal(time_of("\"2026-01-02T03:04:05.678Z\""), 1767323045678);
    assert_int_equal(time_of("\"2026-01-02T03:04:05Z\""), 1767323045000);
    assert_int_equal(time_of("\"2026-01-02T05:04:05.6789+02:00\""), 1767323045678);
    assert_int_equal(time_of("\"2026-01-02 03:04\""), 1767323040000);
    assert_int_equal(time_of("1767323045"), 1767323045000);
    assert_int_equal(time_of("1767323045678"), 1767323045678);
    assert_int_equal(time_of("1767323045.5"), 1767323045500);
    assert_int_equal(time_of("\"yesterday\""), 0);
    assert_int_equal(time_of("9223372036854775807"), 0);
    assert_int_equal(time_of("{}"), 0);
}

/* --- Claude Code --- */

#define LINE(kind, uuid, parent, content)                                                          \
    "{\"type\":\"" kind "\",\"uuid\":\"" uuid "\",\"parentUuid\":\"" parent                        \
    "\",\"sessionId\":\"s\",\"message\":{\"role\":\"" kind "\",\"id\":\"m" uuid                    \
    "\",\"content\":" content "}}\n"

TEST(a_loop_of_parents_ends)
{
    assert_import(LINE("user", "1", "2", "\"a\"") LINE("assistant", "2", "1", "\"b\""),
                  "user: a\nassistant: b\n");
}

TEST(the_last_leaf_decides_which_branch_counts)
{
    assert_import(LINE("user", "1", "", "\"a\"") LINE("assistant", "2", "1", "\"no\"")
                      LINE("user", "3", "2", "\"no\"") LINE("assistant", "4", "1", "\"yes\""),
                  "user: a\nassistant: yes\n");
}

TEST(pictures_come_along)
{
    assert_import(LINE("user", "1", "",
                       "[{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":"
                       "\"image/png\",\"data\":\"AAEC\"}},{\"type\":\"text\",\"text\":\"see\"}]"),
                  "user: media(image/png 3) see\n");
}

TEST(an_error_of_the_service_is_told_and_never_sent)
{
    AUTO(import) struct import i;

    assert_ok(read_text(
        &i,
        LINE("user", "1", "",
             "\"a\"") "{\"type\":\"assistant\",\"uuid\":\"2\",\"parentUuid\":\"1\",\"sessionId\":"
                      "\"s\","
                      "\"isApiErrorMessage\":true,\"message\":{\"role\":\"assistant\","
                      "\"model\":\"<synthetic>\",\"content\":[{\"type\":\"text\",\"text\":\"API "
                      "Error\"}]}}\n",
        false));
    assert_true(i.sessions[0].items[1].message->is_error);
    assert_int_equal(i.sessions[0].model.n, 0);
}

/* --- Codex --- */

#define ITEM(members) "{\"type\":\"response_item\",\"payload\":{" members "}}\n"
#define SAY(who, text)                                                                             \
    ITEM("\"type\":\"message\",\"role\":\"" who                                                    \
         "\",\"content\":[{\"type\":\"input_text\",\"text\":\"" text "\"}]")

TEST(turns_that_were_rolled_back_are_gone)
{
    assert_import(SAY("user", "a") SAY("assistant", "b") SAY("user", "c") SAY(
                      "assistant",
                      "d") "{\"type\":\"event_msg\",\"payload\":{\"type\":\"thread_rolled_back\","
                           "\"num_turns\":1}}\n" SAY("user", "e"),
                  "user: a\nassistant: b\nuser: e\n");
}

TEST(a_shorter_history_replaces_the_long_one)
{
    assert_import(
        SAY("user", "a") SAY(
            "assistant",
            "b") "{\"type\":\"compacted\",\"payload\":{\"message\":\"sum\"}}\n" SAY("user", "c"),
        "user: a\nassistant: b\n-- compact assistant: sum\nuser: c\n");
    assert_import(
        SAY("user",
            "a") "{\"type\":\"compacted\",\"payload\":{\"message\":\"sum\",\"replacement_history\":"
                 "[{\"type\":\"message\",\"role\":\"user\",\"content\":\"x\"},"
                 "{\"type\":\"message\",\"role\":\"user\",\"content\":\"y\"}]}}\n" SAY("user", "c"),
        "user: a\n-- compact user: x\ncompact user: y\nuser: c\n");
}

TEST(items_without_an_envelope_are_read_as_well)
{
    assert_import("{\"id\":\"s\",\"timestamp\":\"2025-05-01T00:00:00Z\",\"instructions\":\"i\"}\n"
                  "{\"record_type\":\"state\"}\n"
                  "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"text\":\"a\"}]}\n",
                  "user: a\n");
}

/* --- logs --- */

#define MUTATION(session, more)                                                                    \
    "{\"event\":\"history_mutation\",\"sessionId\":\"" session "\"," more "}\n"

TEST(a_log_of_several_sessions_gives_each_its_own)
{
    AUTO(import) struct import i;

    assert_ok(read_text(
        &i,
        MUTATION("s", "\"message\":{\"role\":\"user\",\"content\":\"a\"}") MUTATION(
            "t", "\"parentSessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"b\"}")
            MUTATION("s", "\"message\":{\"role\":\"assistant\",\"content\":\"c\"}"),
        false));
    assert_int_equal(i.n, 2);
    assert_session(&i, 0, "user: a\nassistant: c\n");
    assert_session(&i, 1, "user: b\n");
    assert_str(i.sessions[1].parent, "s");
}

/* --- what is longer than a JSON parser takes --- */

static void add_long(struct strbuf *out, size_t n)
{
    for (; n >= 1 << 20; n -= 1 << 20) {
        AUTO(strbuf) struct strbuf piece = {0};

        while (piece.n < 1 << 20)
            strbuf_add_cstr(&piece, "0123456789abcdef");
        strbuf_add(out, strbuf_str(&piece));
    }
}

TEST(a_message_whose_line_is_longer_than_a_json_text_may_be_comes_in)
{
    AUTO(import) struct import i;
    AUTO(strbuf) struct strbuf text;

    strbuf_init(&text, (size_t)512 << 20);
    strbuf_add_cstr(&text, "{\"event\":\"provider_request\",\"sessionId\":\"s\",\"messages\":[");
    for (int n = 0; n < 20000; n++)
        strbuf_add_cstr(&text, "{\"role\":\"user\",\"content\":\"a\"},");
    strbuf_add_cstr(&text, "\"");
    add_long(&text, (size_t)70 << 20);
    strbuf_add_cstr(&text, "\"]}\n{\"event\":\"history_mutation\",\"sessionId\":\"s\",\"message\":{"
                           "\"role\":\"assistant\",\"content\":\"");
    add_long(&text, (size_t)40 << 20);
    strbuf_add_cstr(&text, "\",\"parts\":[{\"type\":\"text\",\"text\":\"");
    add_long(&text, (size_t)40 << 20);
    strbuf_add_cstr(&text, "\"}]}}\n{\"event\":\"tool_end\",\"sessionId\":\"s\",\"result\":\"");
    add_long(&text, (size_t)70 << 20);
    strbuf_add_cstr(&text, "\"}\n");
    assert_ok(import_read_text(&i, strbuf_str(&text), &(struct import_options){.name = "in"}));
    assert_int_equal(i.sessions[0].n, 1);
    assert_int_equal(i.sessions[0].items[0].message->parts[0].text.n, 40 << 20);
}

TEST(a_line_that_is_long_and_full_of_small_things_is_named_and_not_read)
{
    AUTO(import) struct import i;
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add_cstr(&text, MUTATION("s", "\"message\":{\"role\":\"user\",\"content\":\"a\"}"));
    strbuf_add_cstr(&text, "{\"event\":\"x\",\"data\":[");
    while (text.n < (size_t)65 << 20)
        strbuf_add_cstr(&text, "[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],");
    strbuf_add_cstr(&text, "0]}\n");
    assert_err(import_read_text(&i, strbuf_str(&text), &(struct import_options){.name = "in"}),
               ERR_VALIDATION);
    assert_true(str_starts(strbuf_str(&i.problems), S("in:2: it has more than 10000 values")));
}

/* --- what is wrong --- */

TEST(a_wrong_line_is_named_and_nothing_is_imported)
{
    AUTO(import) struct import i;
    const char *text = MUTATION("s", "\"message\":{\"role\":\"king\"}") "nonsense\n" MUTATION(
        "s", "\"message\":{\"role\":\"user\",\"content\":\"a\"}");

    assert_err(read_text(&i, text, false), ERR_VALIDATION);
    assert_int_equal(i.n_problems, 2);
    assert_true(str_starts(strbuf_str(&i.problems), S("in:1: a message needs the role")));
    assert_true(str_find(strbuf_str(&i.problems), S("\nin:2: this is not JSON: ")) != STR_NONE);
    import_done(&i);
    assert_ok(read_text(&i, text, true));
    assert_session(&i, 0, "user: a\n");
}

TEST(of_very_many_wrong_lines_only_the_first_are_told)
{
    AUTO(import) struct import i;
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add_cstr(&text, MUTATION("s", "\"message\":{\"role\":\"user\",\"content\":\"a\"}"));
    for (int n = 0; n < 1000; n++)
        strbuf_add_cstr(&text, "x\n");
    strbuf_add_cstr(&text, "\n");
    assert_err(read_text(&i, strbuf_cstr(&text), false), ERR_VALIDATION);
    assert_int_equal(i.n_problems, 1000);
    assert_true(i.problems.n < 10000);
}

TEST(blocks_of_other_programs_are_read_or_counted)
{
    AUTO(import) struct import i;

    assert_ok(read_text(&i,
                        "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},"
                        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"b\"},"
                        "{\"type\":\"tool_use\",\"id\":\"c\"},7]},"
                        "{\"role\":\"user\",\"content\":{\"x\":1}},"
                        "{\"role\":\"user\",\"content\":null},"
                        "{\"role\":\"user\",\"content\":[\"d\"]}]}",
                        false));
    assert_session(&i, 0, "user: a\nassistant: b\nuser: d\n");
    assert_int_equal(i.n_left_out, 2);
    assert_str(i.left_out[0].kind, "tool_use");
    assert_str(i.left_out[1].kind, "content of an unknown kind");
    assert_int_equal(i.left_out[1].n, 2);
}

TEST(kinds_that_are_left_out_are_counted_up_to_a_number_of_kinds)
{
    AUTO(import) struct import i;
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add_cstr(&text, SAY("user", "a"));
    for (int n = 0; n < 1000; n++)
        strbuf_addf(&text, "{\"type\":\"k%d\",\"payload\":{}}\n", n);
    assert_ok(read_text(&i, strbuf_cstr(&text), false));
    assert_int_equal(i.n_left_out, 65);
    assert_str(i.left_out[64].kind, "others");
    assert_int_equal(i.left_out[64].n, 936);
}

RUN_TESTS(UNIT(calls_without_a_result_get_one_that_says_so),
          UNIT(results_without_a_call_are_left_out), UNIT(a_message_with_two_results_becomes_two),
          UNIT(arguments_that_are_no_object_are_kept_apart),
          UNIT(a_providers_bytes_that_are_no_json_are_not_taken),
          UNIT(a_blob_of_another_store_is_only_named), UNIT(ids_are_unique_and_the_same_each_time),
          UNIT(what_was_seen_before_a_summary_comes_before_it),
          UNIT(a_history_that_was_cleared_stays_so),
          UNIT(times_are_read_in_the_ways_that_people_write_them), UNIT(a_loop_of_parents_ends),
          UNIT(the_last_leaf_decides_which_branch_counts), UNIT(pictures_come_along),
          UNIT(an_error_of_the_service_is_told_and_never_sent),
          UNIT(turns_that_were_rolled_back_are_gone), UNIT(a_shorter_history_replaces_the_long_one),
          UNIT(items_without_an_envelope_are_read_as_well),
          UNIT(a_log_of_several_sessions_gives_each_its_own),
          UNIT(a_message_whose_line_is_longer_than_a_json_text_may_be_comes_in),
          UNIT(a_line_that_is_long_and_full_of_small_things_is_named_and_not_read),
          UNIT(a_wrong_line_is_named_and_nothing_is_imported),
          UNIT(of_very_many_wrong_lines_only_the_first_are_told),
          UNIT(blocks_of_other_programs_are_read_or_counted),
          UNIT(kinds_that_are_left_out_are_counted_up_to_a_number_of_kinds))
