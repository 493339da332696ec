/* verify_test.c - a session that is whole is found to be, and whatever is missing is named. */
#include "session/stage.h"
#include "sys/in_task.h"

#include "archive/rebuild.h"
#include "archive/verify.h"
#include "session/codec/codec.h"

#define ID "s"
#define SCRIPT                                                                                     \
    "turns:\n"                                                                                     \
    " - [{text: Look.}, {tool: Echo, id: a, args: {text: x}}, {tool: Fail, id: b, args: {}}]\n"    \
    " - text: Done.\n"
static const struct session_options fresh = {.start = SESSION_NEW, .id = {ID, 1}};

static void record(struct stage *st, const char *script)
{
    stage_open(st, &fresh);
    stage_run(st, script, "go");
    stage_close(st);
}

static void note(void *self, const struct finding *f)
{
    struct strbuf *names = self;

    strbuf_addf(names, "%s%s", names->n ? " " : "", finding_name(f->kind));
}

/* --- a store --- */

static void verify(struct store *s, struct strbuf *ret_names, struct verified *ret_totals)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary summary;
    bool found;

    assert_ok(store_find(s, S(ID), &a, &summary, &found));
    assert_true(found);
    assert_ok(
        session_verify(s, &summary, NULL, (struct finding_sink){note, ret_names}, ret_totals));
}

IN_TASK(a_session_is_whole)
{
    AUTO(stage) struct stage st = {0};
    AUTO(strbuf) struct strbuf names = {0};
    struct verified totals;

    record(&st, SCRIPT);
    verify(st.store, &names, &totals);
    assert_str(strbuf_str(&names), "");
    assert_int_equal(totals.n_runs, 1);
    assert_int_equal(totals.n_attempts, 2);
    assert_int_equal(totals.n_calls, 2);
    assert_int_equal(totals.n_problems, 0);
}

IN_TASK(a_failed_attempt_and_an_unknown_tool_are_whole)
{
    AUTO(stage) struct stage st = {0};
    AUTO(strbuf) struct strbuf names = {0};
    struct verified totals;

    record(&st, "turns:\n - error: provider_unavailable\n"
                " - [{tool: Nothing, id: a, args: {}}, {tool: Wait, id: b, args: {}}]\n");
    verify(st.store, &names, &totals);
    assert_str(strbuf_str(&names), "");
}

IN_TASK(a_short_content_of_a_file_must_have_its_hash)
{
    struct pre_image image = {.path = S("/w/a"),
                              .kind = IMAGE_FILE,
                              .content = S("2c26b46b68ffc68ff99b453c1d304134"
                                           "13422d706483bfa0f98a5e886266e7ae"),
                              .has_bytes = true,
                              .bytes = S("foo")};

    for (int i = 0; i < 2; i++) {
        AUTO(stage) struct stage st = {0};
        AUTO(strbuf) struct strbuf names = {0};
        struct verified totals;

        stage_open(&st, &fresh);
        stage_run(&st, SCRIPT, "go");
        session_emit_images(&st.session, &image, 1);
        stage_close(&st);
        verify(st.store, &names, &totals);
        assert_str(strbuf_str(&names), i == 0 ? "" : "invalid_payload");
        image.bytes = S("fob");
    }
}

/* --- memory --- */

static const struct blob_ops *real_ops;
static size_t largest_get;

static struct err *watched_get(struct blob_store *b, struct str handle, uint64_t from, size_t n,
                               struct strbuf *out)
{
    size_t before = out->n;
    struct err *e = real_ops->get(b, handle, from, n, out);

    largest_get = MAX(largest_get, out->n - before);
    return e;
}

/* The most that is read of a blob at once, from now on. */
static void watch_blobs(struct store *s)
{
    static struct blob_ops watched;
    struct blob_store *b = store_blobs(s, S(ID));

    real_ops = b->ops;
    watched = *real_ops;
    watched.get = watched_get;
    b->ops = &watched;
    largest_get = 0;
}

IN_TASK(outputs_of_tools_are_read_in_pieces)
{
    AUTO(stage) struct stage st = {0};
    AUTO(strbuf) struct strbuf names = {0};
    struct verified totals;

    record(&st, "turns:\n - [{tool: Big, id: a, args: {lines: 300000}}]\n - text: Done.\n");
    watch_blobs(st.store);
    verify(st.store, &names, &totals);
    assert_str(strbuf_str(&names), "");
    assert_in_range(largest_get, 1, 1 << 20);
}

IN_TASK(and_are_not_read_at_all_when_a_session_is_opened)
{
    AUTO(stage) struct stage st = {0};

    record(&st, "turns:\n - [{tool: Big, id: a, args: {lines: 300000}}]\n - text: Done.\n");
    watch_blobs(st.store);
    stage_open(&st, &(struct session_options){.start = SESSION_RESUME, .id = {ID, 1}});
    stage_close(&st);
    assert_int_equal(largest_get, 0);
}

/* An append tells the list what its records say; those of the copy did not. */
static void list_anew(struct store *s)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary listed;
    struct rebuilt rebuilt;
    bool found;

    assert_ok(store_find(s, S(ID), &a, &listed, &found));
    assert_ok(session_rebuild(s, &listed, &rebuilt));
}

IN_TASK(what_a_crash_cut_off_is_a_note)
{
    AUTO(stage) struct stage st = {0};
    AUTO(store_page) struct store_page page;

    record(&st, SCRIPT);
    stage_records(st.store, ID, &page);
    for (size_t n = 1; n < page.n; n++) {
        AUTO(store) struct store *cut = stage_cut(st.store, ID, n);
        AUTO(strbuf) struct strbuf names = {0};
        struct verified totals;
        bool is_over = n >= page.n - 2; /* checkpoint and end of the session are left */

        list_anew(cut);
        verify(cut, &names, &totals);
        assert_str(strbuf_str(&names), is_over ? "" : "cut_off");
        assert_int_equal(totals.n_problems, 0);
    }
}

static void copy_blob(struct store *from, struct store *to, struct str handle)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    char same[SHA256_HEX_SIZE];

    assert_ok(blob_get(store_blobs(from, S(ID)), handle, &bytes));
    assert_ok(blob_put(store_blobs(to, S(ID)), strbuf_str(&bytes), same));
}

IN_TASK(a_damaged_record_is_told_once_and_the_rest_is_read)
{
    AUTO(stage) struct stage st = {0};
    AUTO(store) struct store *other = store_memory_new();
    AUTO(arena) struct arena a = {0};
    AUTO(store_page) struct store_page page;
    AUTO(strbuf) struct strbuf names = {0};
    struct store_lease lease;
    struct verified totals;

    record(&st, SCRIPT);
    stage_records(st.store, ID, &page);
    assert_ok(store_open(other, S(ID), &(struct store_summary){.id = S(ID)}, &a, &lease));
    for (size_t i = 0; i < page.n; i++) {
        for (size_t k = 0; k < page.records[i].n_payloads; k++)
            copy_blob(st.store, other, page.records[i].payloads[k]);
        if (str_is(page.records[i].type, "tool_end"))
            page.records[i].body = S("{\"index\":");
        assert_ok(store_append(other, S(ID), page.records[i].seq, lease.fence, &page.records[i], 1,
                               NULL));
    }
    store_close(other, S(ID), lease.fence);
    verify(other, &names, &totals);
    assert_true(str_starts(strbuf_str(&names), S("unreadable_record unreadable_record")));
    assert_int_equal(totals.n_runs, 1);
}

/* --- events --- */

/* Verifies the stream as if there were none of these events in it. */
static void verify_without(struct store *s, enum event_type type, struct strbuf *ret_names)
{
    AUTO(codec_reader) struct codec_reader *r = codec_reader_new(s, S(ID), 1, CODEC_READ_ALL);
    AUTO(verifier) struct verifier *v = verifier_new(S(ID), (struct finding_sink){note, ret_names});
    struct verified totals = {0};
    const struct event *e;
    uint64_t seq = 1;

    for (;;) {
        struct event copy;

        assert_ok(codec_read(r, &e));
        if (!e)
            break;
        copy = *e;
        copy.seq = seq;
        if (e->type == type)
            continue;
        verifier_take(v, &copy);
        seq++;
    }
    verifier_end(v, seq, /* is_open= */ false, &totals);
}

static void assert_without(enum event_type type, const char *names)
{
    AUTO(stage) struct stage st = {0};
    AUTO(strbuf) struct strbuf found = {0};

    record(&st, "turns:\n - [{tool: Echo, id: a, args: {text: x}}]\n - text: Done.\n");
    verify_without(st.store, type, &found);
    assert_str(strbuf_str(&found), names);
}

IN_TASK(what_is_missing_is_named)
{
    assert_without(EVENT_PROVIDER_REQUEST, "missing_provider_request missing_provider_request");
    assert_without(EVENT_RESPONSE_RAW,
                   "missing_provider_response_raw missing_provider_response_raw");
    assert_without(EVENT_RESPONSE_NORMALIZED,
                   "missing_provider_response_normalized missing_provider_response_normalized");
    assert_without(EVENT_ATTEMPT_END, "missing_attempt_end missing_attempt_end");
    assert_without(EVENT_TOOL_REQUEST, "unmatched_tool_result");
    assert_without(EVENT_TOOL_RESULT, "unmatched_tool_request");
    assert_without(EVENT_TOOL_END, "missing_tool_end");
    assert_without(EVENT_RUN_END, "cut_off");
}

static void take(struct verifier *v, enum event_type type, struct event e)
{
    static uint64_t seq;

    seq = type == EVENT_RUN_BEGIN ? 1 : seq + 1;
    e.type = type;
    e.seq = seq;
    e.round = e.attempt = 1;
    verifier_take(v, &e);
}

IN_TASK(an_answer_over_a_wire_has_its_bytes)
{
    struct model_request request = {.protocol = S("openai-chat")};
    struct native_payload asked = {.kind = PAYLOAD_REQUEST},
                          streamed = {.kind = PAYLOAD_STREAM_EVENT};

    for (int has_bytes = 0; has_bytes < 2; has_bytes++) {
        AUTO(strbuf) struct strbuf names = {0};
        AUTO(verifier)
        struct verifier *v = verifier_new(S(ID), (struct finding_sink){note, &names});
        AUTO(reply) struct reply reply;
        struct event ok = {0};

        reply_init(&reply, (struct delta_sink){0});
        take(v, EVENT_RUN_BEGIN, (struct event){0});
        take(v, EVENT_ATTEMPT_BEGIN, (struct event){0});
        take(v, EVENT_PROVIDER_REQUEST, (struct event){.body.request.request = &request});
        take(v, EVENT_NATIVE_PAYLOAD, (struct event){.body.payload = &asked});
        if (has_bytes)
            take(v, EVENT_NATIVE_PAYLOAD, (struct event){.body.payload = &streamed});
        take(v, EVENT_RESPONSE_RAW, (struct event){.body.reply.reply = &reply});
        take(v, EVENT_ATTEMPT_END, ok);
        assert_str(strbuf_str(&names), has_bytes ? "" : "missing_provider_native_raw_payload");
    }
}

static void append(struct verifier *v, size_t index, enum role role, struct part part)
{
    AUTO(message) struct message *m = message_new(role, S("m"));

    message_add(m, &part);
    take(v, EVENT_HISTORY,
         (struct event){.body.message = {.message = m, .index = index, .mutation = "append"}});
}

IN_TASK(calls_of_the_history_have_one_result_each)
{
    AUTO(strbuf) struct strbuf names = {0};
    AUTO(verifier) struct verifier *v = verifier_new(S(ID), (struct finding_sink){note, &names});
    struct part text = {.kind = PART_TEXT, .text = S("x")},
                call = {.kind = PART_TOOL_CALL, .id = S("a"), .args = S("{}")},
                result = {.kind = PART_TOOL_RESULT, .id = S("a"), .content = &text, .n_content = 1};

    take(v, EVENT_RUN_BEGIN, (struct event){0});
    append(v, 0, ROLE_USER, text);
    append(v, 1, ROLE_ASSISTANT, call);
    append(v, 2, ROLE_TOOL, result);
    append(v, 3, ROLE_ASSISTANT, call);
    assert_str(strbuf_str(&names), "");
    append(v, 4, ROLE_USER, text);
    assert_str(strbuf_str(&names), "unpaired_message");
    append(v, 5, ROLE_TOOL, result);
    assert_str(strbuf_str(&names), "unpaired_message unpaired_message");
    append(v, 7, ROLE_USER, text);
    assert_str(strbuf_str(&names), "unpaired_message unpaired_message history_mismatch");
}

IN_TASK(numbers_have_no_gap_and_fit_the_index)
{
    AUTO(strbuf) struct strbuf names = {0};
    AUTO(verifier) struct verifier *v = verifier_new(S(ID), (struct finding_sink){note, &names});
    struct event e = {.type = EVENT_TEXT_DROPPED, .seq = 1};
    struct verified totals = {0};

    verifier_take(v, &e);
    e.seq = 5;
    verifier_take(v, &e);
    assert_str(strbuf_str(&names), "missing_records");
    verifier_end(v, 9, /* is_open= */ false, &totals);
    assert_str(strbuf_str(&names), "missing_records stale_index");
    assert_int_equal(totals.n_problems, 2);
}

static void note_text(void *self, const struct finding *f)
{
    strbuf_addf(self, "%" STR_FMT "\n", STR_ARG(f->text));
}

IN_TASK(one_missing_event_is_counted_as_one)
{
    AUTO(strbuf) struct strbuf texts = {0};
    AUTO(verifier)
    struct verifier *v = verifier_new(S(ID), (struct finding_sink){note_text, &texts});
    struct event e = {.type = EVENT_TEXT_DROPPED, .seq = 1};

    verifier_take(v, &e);
    e.seq = 3;
    verifier_take(v, &e);
    e.seq = 6;
    verifier_take(v, &e);
    assert_str(strbuf_str(&texts), "1 event is missing before number 3\n"
                                   "2 events are missing before number 6\n");
}

RUN_TESTS(UNIT(a_session_is_whole), UNIT(a_failed_attempt_and_an_unknown_tool_are_whole),
          UNIT(a_short_content_of_a_file_must_have_its_hash),
          UNIT(outputs_of_tools_are_read_in_pieces),
          UNIT(and_are_not_read_at_all_when_a_session_is_opened),
          UNIT(what_a_crash_cut_off_is_a_note),
          UNIT(a_damaged_record_is_told_once_and_the_rest_is_read), UNIT(what_is_missing_is_named),
          UNIT(an_answer_over_a_wire_has_its_bytes),
          UNIT(calls_of_the_history_have_one_result_each),
          UNIT(numbers_have_no_gap_and_fit_the_index), UNIT(one_missing_event_is_counted_as_one));
