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

static struct err *tell_message(void *self, struct imported_message *m)
{
    static const char *const steps[] = {"", "compact ", "rewind ", "clear"};
    struct strbuf *out = self;

    strbuf_addf(out, "%s%s", m->begins ? "-- " : "", steps[m->step]);
    if (m->message)
        strbuf_addf(out, "%s:", role_name(m->message->role));
    for (size_t k = 0; m->message && k < m->message->n_parts; k++)
        tell_part(out, m->message, &m->message->parts[k]);
    strbuf_add_char(out, '\n');
    return NULL;
}

static void assert_session(struct import *i, size_t index, const char *want)
{
    AUTO(strbuf) struct strbuf got = {0};

    assert_true(index < i->n);
    assert_ok(import_each(i, &i->sessions[index], tell_message, &got));
    assert_string_equal(strbuf_cstr(&got), want);
}

/* The messages of the first session. */
struct told {
    struct imported_message items[16];
    size_t n;
};

static struct err *keep_message(void *self, struct imported_message *m)
{
    struct told *t = self;

    assert_true(t->n < ARRAY_LEN(t->items));
    t->items[t->n++] = *m;
    m->message = NULL;
    return NULL;
}

static struct told told_of(struct import *i)
{
    struct told t = {0};

    assert_ok(import_each(i, &i->sessions[0], keep_message, &t));
    return t;
}

static void told_done(struct told *t)
{
    for (size_t i = 0; i < t->n; i++)
        message_unref(t->items[i].message);
}
DEFINE_AUTO_VAL(told, told_done)

static struct err *read_text(struct import *i, const char *text, bool is_partial)
{
    return import_read_text(i, str_of(text),
                            &(struct import_options){.name = "in", .is_partial = is_partial});
}

/* Also as if all that it holds were long. */
static void assert_import(const char *text, const char *want)
{
    static const size_t lengths[] = {0, 100, 1};

    for (size_t k = 0; k < ARRAY_LEN(lengths); k++) {
        AUTO(import) struct import i;

        assert_ok(import_read_text(
            &i, str_of(text), &(struct import_options){.name = "in", .short_bytes = lengths[k]}));
        assert_session(&i, 0, want);
    }
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
    AUTO(told) struct told t = {0};
    const struct part *p;

    assert_ok(read_text(&i,
                        "{\"messages\":[{\"role\":\"assistant\",\"parts\":[{\"type\":\"tool_call\","
                        "\"id\":\"c\",\"name\":\"f\",\"args\":\"[1\"}]}]}",
                        false));
    t = told_of(&i);
    p = &t.items[0].message->parts[0];
    assert_str(p->args, "{}");
    assert_str(p->bad_args, "[1");
}

/* They go into a request as they are. */
TEST(a_providers_bytes_that_are_no_json_are_not_taken)
{
    AUTO(import) struct import i;
    AUTO(told) struct told t = {0};
    const struct message *m;

    assert_ok(read_text(&i,
                        "{\"messages\":[{\"role\":\"assistant\",\"parts\":["
                        "{\"type\":\"text\",\"text\":\"a\",\"native\":\"},{\"},"
                        "{\"type\":\"text\",\"text\":\"b\",\"native\":\"{}\"}]}]}",
                        false));
    t = told_of(&i);
    m = t.items[0].message;
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
    AUTO(told) struct told a = {0}, b = {0};

    assert_ok(read_text(&i, text, false));
    assert_ok(read_text(&k, text, false));
    a = told_of(&i);
    b = told_of(&k);
    assert_str(a.items[0].message->id, "a");
    for (size_t n = 0; n < 3; n++) {
        struct str id = a.items[n].message->id;

        assert_true(str_eq(id, b.items[n].message->id));
        for (size_t m = 0; m < n; m++)
            assert_false(str_eq(id, a.items[m].message->id));
    }
    assert_true(str_find(a.items[2].message->id, S("/")) == STR_NONE);
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
    AUTO(told) struct told t = {0};
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text, "{\"createdAt\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
                value);
    assert_ok(read_text(&i, strbuf_cstr(&text), false));
    t = told_of(&i);
    return t.items[0].unix_ms;
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
    AUTO(told) struct told t = {0};

    assert_ok(read_text(
        &i,
        LINE("user", "1", "",
             "\"a\"") "{\"type\":\"assistant\",\"uuid\":\"2\",\"parentUuid\":\"1\",\"sessionId\":"
                      "\"s\","
                      "\"isApiErrorMessage\":true,\"message\":{\"role\":\"assistant\","
                      "\"model\":\"<synthetic>\",\"content\":[{\"type\":\"text\",\"text\":\"API "
                      "Error\"}]}}\n",
        false));
    t = told_of(&i);
    assert_true(t.items[1].message->is_error);
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

/* --- pairs --- */

#define CALL_PART(id) "{\"type\":\"tool_call\",\"id\":\"" id "\",\"name\":\"f\",\"args\":\"{}\"}"
#define RESULT(id, text) "{\"role\":\"tool\",\"toolCallId\":\"" id "\",\"content\":\"" text "\"}"

TEST(two_calls_with_one_id_have_a_result_each)
{
    assert_import(
        "{\"messages\":[{\"role\":\"assistant\",\"parts\":[" CALL_PART("c") "," CALL_PART(
            "d") "," CALL_PART("c") "]}," RESULT("c", "1") "," RESULT("c",
                                                                      "2") "," RESULT("c",
                                                                                      "3") "]}",
        "assistant: call(f {}) call(f {}) call(f {})\ntool: result(c 1)\n"
        "tool: result(c 2)\ntool: failed(d The result o)\n");
}

TEST(a_result_before_its_call_is_none)
{
    assert_import("{\"messages\":[" RESULT("c", "early") ",{\"role\":\"assistant\",\"parts\":["
                                                         "" CALL_PART("c") "]}]}",
                  "assistant: call(f {})\ntool: failed(c The result o)\n");
}

TEST(the_results_of_very_many_calls_are_found_in_any_order)
{
    AUTO(import) struct import i;
    AUTO(strbuf) struct strbuf text = {0};
    enum { N = 30000 };

    strbuf_add_cstr(&text, "{\"messages\":[{\"role\":\"assistant\",\"parts\":[");
    for (int n = 0; n < N; n++)
        strbuf_addf(&text, "%s" CALL_PART("%d"), n ? "," : "", n);
    strbuf_add_cstr(&text, "]}");
    for (int n = N; n-- > 0;)
        strbuf_addf(&text, "," RESULT("%d", "x"), n);
    strbuf_add_cstr(&text, "]}");
    assert_ok(read_text(&i, strbuf_cstr(&text), false));
    assert_int_equal(i.sessions[0].n, N + 1);
    AUTO(strbuf) struct strbuf got = {0};
    assert_ok(import_each(&i, &i.sessions[0], tell_message, &got));
    assert_null(strstr(strbuf_cstr(&got), "failed"));
}

TEST(a_history_that_begins_with_a_lost_result_begins_all_the_same)
{
    assert_import(MUTATION("s", "\"message\":{\"role\":\"user\",\"content\":\"a\"}") MUTATION(
                      "s", "\"mutation\":\"rewind\",\"index\":0,\"message\":" RESULT("c", "x"))
                      MUTATION("s", "\"message\":{\"role\":\"user\",\"content\":\"b\"}"),
                  "user: a\n-- rewind user: b\n");
}

/* --- child runs --- */

static void assert_parents(const char *text, size_t n, const size_t *parents)
{
    AUTO(import) struct import i;

    assert_ok(read_text(&i, text, false));
    assert_int_equal(i.n, n);
    for (size_t k = 0; k < n; k++)
        assert_int_equal(i.sessions[k].parent_index, parents[k]);
}

#define HELLO "\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]"
#define CHILD(id, parent) "{\"id\":\"" id "\",\"parentSessionId\":\"" parent "\"," HELLO "}"

TEST(a_child_with_the_id_of_its_parent_is_below_it)
{
    assert_parents("{\"id\":\"s\"," HELLO ",\"children\":[" CHILD("s", "s") "," CHILD(
                       "c", "s") "," CHILD("c", "s") "," CHILD("d", "c") "]}",
                   5, (size_t[]){IMPORT_NO_PARENT, 0, 0, 0, 2});
}

TEST(a_child_that_names_no_parent_of_the_file_is_below_the_record_that_has_it)
{
    assert_parents("[{\"id\":\"s\"," HELLO "},{\"id\":\"t\",\"parentSessionId\":\"s\"," HELLO
                   ",\"children\":[" CHILD("c", "s") ",{" HELLO ",\"children\":[{" HELLO "}]}]}]",
                   5, (size_t[]){IMPORT_NO_PARENT, IMPORT_NO_PARENT, 1, 1, 3});
}

TEST(children_may_stand_before_the_messages)
{
    AUTO(import) struct import i;

    assert_ok(read_text(&i,
                        "{\"children\":[{\"id\":\"c\",\"messages\":[{\"role\":\"user\",\"content\":"
                        "\"b\"}]}],\"id\":\"s\"," HELLO "}",
                        false));
    assert_int_equal(i.n, 2);
    assert_str(i.sessions[0].id, "s");
    assert_session(&i, 0, "user: a\n");
    assert_session(&i, 1, "user: b\n");
    assert_int_equal(i.sessions[1].parent_index, 0);
}

#define SAID "\"message\":{\"role\":\"user\",\"content\":\"a\"}"

TEST(parents_in_a_circle_have_one_that_is_above)
{
    assert_parents(MUTATION("s", "\"parentSessionId\":\"t\"," SAID)
                       MUTATION("t", "\"parentSessionId\":\"s\"," SAID)
                           MUTATION("u", "\"parentSessionId\":\"u\"," SAID),
                   3, (size_t[]){IMPORT_NO_PARENT, 0, IMPORT_NO_PARENT});
}

/* --- what is longer than a JSON parser takes --- */

static void add_long(struct strbuf *out, size_t n)
{
    AUTO(strbuf) struct strbuf piece = {0};

    while (piece.n < 1 << 20)
        strbuf_add_cstr(&piece, "0123456789abcdef");
    for (; n >= 1 << 20; n -= 1 << 20)
        strbuf_add(out, strbuf_str(&piece));
}

TEST(a_message_whose_line_is_longer_than_a_json_text_may_be_comes_in)
{
    AUTO(import) struct import i;
    AUTO(told) struct told t = {0};
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
    t = told_of(&i);
    assert_int_equal(t.n, 1);
    assert_int_equal(t.items[0].message->parts[0].text.n, 40 << 20);
}

TEST(what_an_event_that_is_not_used_says_is_not_even_counted)
{
    AUTO(import) struct import i;
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add_cstr(&text, MUTATION("s", "\"message\":{\"role\":\"user\",\"content\":\"a\"}"));
    strbuf_add_cstr(&text, "{\"event\":\"x\",\"data\":[");
    while (text.n < (size_t)65 << 20)
        strbuf_add_cstr(&text, "[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],");
    strbuf_add_cstr(&text, "0]}\n");
    assert_ok(import_read_text(&i, strbuf_str(&text), &(struct import_options){.name = "in"}));
    assert_session(&i, 0, "user: a\n");
    assert_int_equal(i.n_left_out, 0);
}

TEST(of_a_message_with_very_many_values_as_many_are_used_as_a_reader_takes)
{
    AUTO(import) struct import i;
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add_cstr(&text, "{\"messages\":[{\"role\":\"user\",\"content\":\"a\",\"x\":[");
    for (int n = 0; n < 1200000; n++)
        strbuf_add_cstr(&text, "0,");
    strbuf_add_cstr(&text, "0]},{\"role\":\"user\",\"content\":\"b\"}]}");
    assert_ok(read_text(&i, strbuf_cstr(&text), false));
    assert_session(&i, 0, "user: a\nuser: b\n");
    assert_str(i.left_out[0].kind, "values of a message that has too many");
}

/* An answer of 65 MB with a call. */
static void add_talk(struct strbuf *out, const char *before, const char *between, const char *after)
{
    strbuf_addf(out,
                "%s{\"role\":\"user\",\"content\":\"a\"}%s{\"role\":\"assistant\",\"toolCalls\":"
                "[" CALL "],\"content\":\"",
                before, between);
    add_long(out, (size_t)65 << 20);
    strbuf_addf(out, "\"}%s" RESULT("c", "x") "%s{\"role\":\"user\",\"content\":\"b\"}%s", between,
                between, after);
}

#define LOGGED "{\"event\":\"history_mutation\",\"sessionId\":\"s\",\"message\":"

TEST(a_text_that_is_too_long_is_replaced_and_its_message_keeps_its_place)
{
    static const char *const forms[][3] = {{"{\"messages\":[", ",", "]}"},
                                           {LOGGED, "}\n" LOGGED, "}\n"}};

    for (size_t k = 0; k < ARRAY_LEN(forms); k++) {
        AUTO(import) struct import i;
        AUTO(strbuf) struct strbuf text = {0};

        add_talk(&text, forms[k][0], forms[k][1], forms[k][2]);
        assert_ok(import_read_text(&i, strbuf_str(&text), &(struct import_options){.name = "in"}));
        assert_session(&i, 0,
                       "user: a\nassistant: [A text of 69 MB, too long to import.] call(f {})\n"
                       "tool: result(c x)\nuser: b\n");
        assert_int_equal(i.n_left_out, 1);
        assert_str(i.left_out[0].kind, "texts that are too long");
        assert_int_equal(i.left_out[0].n, 1);
    }
}

/* What is not UTF-8 becomes three times as long. */
TEST(a_message_that_is_too_large_keeps_its_place_and_its_calls)
{
    AUTO(import) struct import i;
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add_cstr(&text, "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},"
                           "{\"role\":\"assistant\",\"parts\":[" CALL_PART(
                               "c") ","
                                    "{\"type\":\"text\",\"text\":\"");
    for (int n = 0; n < 3 << 20; n++)
        strbuf_add_cstr(&text, "\xff\xff\xff\xff\xff\xff\xff\xff");
    strbuf_add_cstr(&text, "\"}]}," RESULT("c", "x") ",{\"role\":\"user\",\"content\":\"b\"}]}");
    assert_ok(import_read_text(&i, strbuf_str(&text), &(struct import_options){.name = "in"}));
    assert_session(&i, 0,
                   "user: a\nassistant: [This message was too large to import.] call(f {})\n"
                   "tool: result(c x)\nuser: b\n");
    assert_str(i.left_out[0].kind, "messages that are too large");
}

TEST(texts_that_are_too_long_together_are_replaced_from_where_they_are)
{
    AUTO(import) struct import i;
    AUTO(told) struct told t = {0};
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add_cstr(&text, "{\"messages\":[{\"role\":\"user\",\"parts\":[");
    for (int n = 0; n < 3; n++) {
        strbuf_addf(&text, "%s{\"type\":\"text\",\"text\":\"", n ? "," : "");
        add_long(&text, (size_t)30 << 20);
        strbuf_add_cstr(&text, "\"}");
    }
    strbuf_add_cstr(&text, "]}]}");
    assert_ok(import_read_text(&i, strbuf_str(&text), &(struct import_options){.name = "in"}));
    t = told_of(&i);
    assert_int_equal(t.items[0].message->n_parts, 3);
    assert_int_equal(t.items[0].message->parts[1].text.n, 30 << 20);
    assert_str(t.items[0].message->parts[2].text, "[A text of 32 MB, too long to import.]");
}

TEST(a_message_of_very_many_parts_could_not_be_read_back)
{
    AUTO(import) struct import i;
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add_cstr(&text, "{\"messages\":[{\"role\":\"user\",\"content\":[");
    for (int n = 0; n < 900000; n++)
        strbuf_add_cstr(&text, "\"a\",");
    strbuf_add_cstr(&text, "\"a\"]},{\"role\":\"assistant\",\"content\":\"b\"}]}");
    assert_ok(read_text(&i, strbuf_cstr(&text), false));
    assert_session(&i, 0, "user: [This message was too large to import.]\nassistant: b\n");
}

/* Claude Code writes a line for each block of an answer. */
TEST(an_answer_of_many_lines_has_an_end)
{
    AUTO(import) struct import i;
    AUTO(told) struct told t = {0};
    AUTO(strbuf) struct strbuf text = {0};

    for (int n = 0; n < 80; n++) {
        strbuf_addf(&text,
                    "{\"type\":\"assistant\",\"uuid\":\"%d\",\"parentUuid\":\"%d\",\"message\":"
                    "{\"id\":\"m\",\"content\":\"",
                    n + 1, n);
        add_long(&text, (size_t)1 << 20);
        strbuf_add_cstr(&text, "\"}}\n");
    }
    assert_ok(import_read_text(&i, strbuf_str(&text), &(struct import_options){.name = "in"}));
    assert_str(i.left_out[0].kind, "parts of messages that are too large");
    t = told_of(&i);
    assert_int_equal(t.n, 1);
}

TEST(a_signed_thought_of_a_long_line_goes_back_as_it_came)
{
    AUTO(import) struct import i;
    AUTO(told) struct told t = {0};
    AUTO(strbuf) struct strbuf text = {0}, want = {0};
    const struct part *p;

    strbuf_add_cstr(&want, "{\"type\":\"thinking\",\"thinking\":\"");
    add_long(&want, (size_t)2 << 20);
    strbuf_add_cstr(&want, "\",\"signature\":\"c2ln\"}");
    strbuf_addf(&text,
                "{\"type\":\"assistant\",\"uuid\":\"1\",\"message\":{\"id\":\"m\",\"content\":"
                "[%s]}}\n",
                strbuf_cstr(&want));
    assert_ok(read_text(&i, strbuf_cstr(&text), false));
    t = told_of(&i);
    p = &t.items[0].message->parts[0];
    assert_str(p->signature, "c2ln");
    assert_true(str_eq(p->native, strbuf_str(&want)));
}

/* --- what waits in a spool --- */

static struct err *write_spool(void *self, struct str bytes)
{
    strbuf_add(self, bytes);
    return NULL;
}

static struct err *read_spool(void *self, uint64_t from, size_t n, struct strbuf *out)
{
    const struct strbuf *spool = self;

    assert_true(from + n <= spool->n);
    strbuf_add(out, str_slice(strbuf_str(spool), from, n));
    return NULL;
}

static struct err *full_spool(void *self, struct str bytes)
{
    return err_new(ERR_STORAGE, "no room for %zu bytes", bytes.n);
}

/* Histories of two sessions in turns, of short messages and of one that no window holds. */
static void add_turns(struct strbuf *out)
{
    for (int n = 0; n < 3000; n++) {
        strbuf_addf(out, MUTATION("s%d", "\"message\":{\"role\":\"user\",\"content\":\"%d-"), n % 2,
                    n);
        out->n -= 2; /* the end of the line */
        for (int k = 0; k < (n == 1500 ? 100000 : 50); k++)
            strbuf_add_cstr(out, "0123456789");
        strbuf_add_cstr(out, "\"}}\n");
    }
}

struct counting {
    size_t n, n_bytes;
    int next;
};

static struct err *count_message(void *self, struct imported_message *m)
{
    struct counting *c = self;
    struct str text = m->message->parts[0].text;
    char start[16];

    snprintf(start, sizeof start, "%d-", c->next);
    assert_true(str_starts(text, str_of(start)));
    c->next += 2;
    c->n++;
    c->n_bytes += text.n - strlen(start);
    return NULL;
}

TEST(messages_come_back_from_the_spool_as_they_were)
{
    AUTO(import) struct import i = {0};
    AUTO(strbuf) struct strbuf text = {0}, spool = {0};
    struct import_spool ops = {write_spool, read_spool, &spool};

    add_turns(&text);
    assert_ok(import_read_text(&i, strbuf_str(&text),
                               &(struct import_options){.name = "in", .spool = &ops}));
    assert_true(spool.n > (size_t)1 << 20);
    assert_true(i.tail.n < (size_t)1 << 20);
    for (int k = 0; k < 2; k++) {
        struct counting c = {.next = k};

        assert_ok(import_each(&i, &i.sessions[k], count_message, &c));
        assert_int_equal(c.n, 1500);
        assert_int_equal(c.n_bytes, k ? 1500 * 500 : 1499 * 500 + 1000000);
        assert_true(i.window.room < (size_t)4 << 20);
    }
}

TEST(a_spool_that_is_full_ends_the_import)
{
    AUTO(import) struct import i = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct import_spool ops = {full_spool, read_spool, NULL};

    add_turns(&text);
    assert_err(import_read_text(&i, strbuf_str(&text),
                                &(struct import_options){.name = "in", .spool = &ops}),
               ERR_STORAGE);
}

/* --- files that change --- */

/* A transcript that has more lines each time it is read from its start. */
struct growing {
    struct strbuf text;
    int n_lines;
};

static struct err *read_growing(void *self, uint64_t from, size_t n, struct strbuf *out)
{
    struct growing *g = self;

    if (from == 0)
        for (int k = 0; k < 10; k++, g->n_lines++)
            strbuf_addf(&g->text, LINE("user", "%d", "%d", "\"a\""), g->n_lines + 1, g->n_lines,
                        g->n_lines);
    if (from < g->text.n)
        strbuf_add(out, str_slice(strbuf_str(&g->text), from, MIN(n, g->text.n - from)));
    return NULL;
}

TEST(a_transcript_that_grows_while_it_is_read_is_taken_as_it_was)
{
    AUTO(import) struct import i = {0};
    struct growing g = {0};
    size_t n;

    assert_ok(import_read(&i, &(struct import_source){read_growing, &g},
                          &(struct import_options){.name = "in"}));
    n = i.sessions[0].n;
    assert_true(n > 0 && n < (size_t)g.n_lines);
    strbuf_done(&g.text);
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
    assert_true(str_find(strbuf_str(&i.problems), S("\nin:2: not valid JSON: ")) != STR_NONE);
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
          UNIT(what_an_event_that_is_not_used_says_is_not_even_counted),
          UNIT(of_a_message_with_very_many_values_as_many_are_used_as_a_reader_takes),
          UNIT(a_text_that_is_too_long_is_replaced_and_its_message_keeps_its_place),
          UNIT(a_message_that_is_too_large_keeps_its_place_and_its_calls),
          UNIT(texts_that_are_too_long_together_are_replaced_from_where_they_are),
          UNIT(a_message_of_very_many_parts_could_not_be_read_back),
          UNIT(an_answer_of_many_lines_has_an_end),
          UNIT(a_signed_thought_of_a_long_line_goes_back_as_it_came),
          UNIT(messages_come_back_from_the_spool_as_they_were),
          UNIT(a_spool_that_is_full_ends_the_import),
          UNIT(a_transcript_that_grows_while_it_is_read_is_taken_as_it_was),
          UNIT(two_calls_with_one_id_have_a_result_each), UNIT(a_result_before_its_call_is_none),
          UNIT(the_results_of_very_many_calls_are_found_in_any_order),
          UNIT(a_history_that_begins_with_a_lost_result_begins_all_the_same),
          UNIT(a_child_with_the_id_of_its_parent_is_below_it),
          UNIT(a_child_that_names_no_parent_of_the_file_is_below_the_record_that_has_it),
          UNIT(children_may_stand_before_the_messages),
          UNIT(parents_in_a_circle_have_one_that_is_above),
          UNIT(a_wrong_line_is_named_and_nothing_is_imported),
          UNIT(of_very_many_wrong_lines_only_the_first_are_told),
          UNIT(blocks_of_other_programs_are_read_or_counted),
          UNIT(kinds_that_are_left_out_are_counted_up_to_a_number_of_kinds))
