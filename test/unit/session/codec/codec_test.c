/* codec_test.c - what a run told is told again, to the letter, from what was stored of it. */
#include "engine/world.h"
#include "session/codec/codec.h"
#include "session/codec/types.h"
#include "session/compact.h"
#include "session/load.h"
#include "sys/in_task.h"

#include "store/blob_memory.h"
#include "store/memory.h"
#include "view/event_fields.h"
#include "view/field.h"
#include "view/session_log.h"

struct tape {
    struct codec_writer *writer;
    struct codec_record *records;
    size_t n, room;
    struct strbuf live, again; /* the log as it was told, and as it is read */
};
static struct tape tape;

static void tape_begin(void)
{
    tape = (struct tape){.writer = codec_writer_new()};
}

static void tape_end(void)
{
    for (size_t i = 0; i < tape.n; i++)
        codec_record_done(&tape.records[i]);
    free(tape.records);
    codec_writer_free(tape.writer);
    strbuf_done(&tape.live);
    strbuf_done(&tape.again);
}

static void record(struct world *w, const struct event *e)
{
    struct codec_record next;

    session_log_write(e, &tape.live);
    if (codec_write(tape.writer, e, tape.n ? &tape.records[tape.n - 1] : NULL, &next))
        return;
    if (tape.n == tape.room) {
        tape.room = tape.room ? 2 * tape.room : 64;
        tape.records = realloc(tape.records, tape.room * sizeof *tape.records);
    }
    tape.records[tape.n++] = next;
}

static void store_some(struct store *s, uint64_t fence, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct codec_record *r = &tape.records[i];
        char handle[SHA256_HEX_SIZE];

        codec_record_end(r);
        for (size_t k = 0; k < r->n_blobs; k++)
            assert_ok(blob_put(store_blobs(s, S("session")), r->blobs[k].bytes, handle));
        assert_ok(store_append(s, S("session"), r->record.seq, fence, &r->record, 1, NULL));
    }
}

static struct err *add_piece(void *self, struct str text)
{
    strbuf_add(self, text);
    return NULL;
}

/* What is told of an event that comes without its history, or without a long result. */
static void assert_same_event(struct codec_reader *passing, const struct event *got,
                              struct codec_reader *keeping, const struct event *want)
{
    AUTO(strbuf) struct strbuf one = {0}, other = {0};
    struct codec_range range;
    uint64_t base_seq;

    assert_int_equal(got->type, want->type);
    assert_int_equal(got->seq, want->seq);
    codec_reader_range(passing, &range);
    assert_int_equal(range.n, codec_reader_history(keeping, &base_seq)->n_messages);
    assert_int_equal(range.base_seq, base_seq);
    if (got->type == EVENT_RUN_BEGIN || got->type == EVENT_PRE_RUN || got->type == EVENT_RUN_END ||
        got->type == EVENT_PROVIDER_REQUEST)
        return;
    if (codec_reader_left(passing)) {
        assert_ok(codec_reader_result(passing, add_piece, &one));
        result_text(want->body.tool.result, &other);
    } else {
        session_log_write(got, &one);
        session_log_write(want, &other);
    }
    assert_string_equal(strbuf_cstr(&one), strbuf_cstr(&other));
}

/* A reader that keeps nothing reads the same. */
static void read_passing(struct store *s, const bool *skipped)
{
    AUTO(codec_reader)
    struct codec_reader *keeping = codec_reader_new(s, S("session"), 1, CODEC_READ_ALL);
    AUTO(codec_reader)
    struct codec_reader *passing = codec_reader_new(s, S("session"), 1, CODEC_READ_ALL);
    const struct event *want, *got;

    codec_reader_leave(passing, CODEC_PASS);
    if (skipped)
        codec_reader_skip(passing, skipped);
    for (;;) {
        do
            assert_ok(codec_read(keeping, &want));
        while (want && skipped && skipped[want->type]);
        assert_ok(codec_read(passing, &got));
        assert_int_equal(!got, !want);
        if (!got)
            return;
        assert_same_event(passing, got, keeping, want);
    }
}

static struct err *read_again(void *arg)
{
    static const bool skipped[EVENT_N_TYPES] = {[EVENT_TOOL_END] = true,
                                                [EVENT_DELTA] = true,
                                                [EVENT_NATIVE_PAYLOAD] = true,
                                                [EVENT_PROVIDER_REQUEST] = true};
    AUTO(store) struct store *s = store_memory_new();
    AUTO(arena) struct arena a = {0};
    AUTO(codec_reader)
    struct codec_reader *r = codec_reader_new(s, S("session"), 1, CODEC_READ_ALL);
    struct store_summary create = {.id = S("session")};
    const struct event *e;
    struct store_lease lease;

    assert_ok(store_open(s, S("session"), &create, &a, &lease));
    store_some(s, lease.fence, tape.n);
    for (;;) {
        assert_ok(codec_read(r, &e));
        if (!e)
            break;
        session_log_write(e, &tape.again);
    }
    read_passing(s, NULL);
    read_passing(s, skipped);
    return NULL;
}

static void assert_same_lines(struct str live, struct str again)
{
    struct str one, other;

    while (str_split(&live, '\n', &one)) {
        if (!str_split(&again, '\n', &other))
            other = S("nothing");
        if (!str_eq(one, other))
            fail_msg("\n%" STR_FMT "\nis read as\n%" STR_FMT, STR_ARG(one), STR_ARG(other));
    }
    assert_int_equal(again.n, 0);
}

static void assert_same_again(void)
{
    assert_true(tape.live.n > 0);
    assert_ok(loop_run_once(read_again, NULL));
    assert_same_lines(strbuf_str(&tape.live), strbuf_str(&tape.again));
}

TEST(a_run_with_tools_reads_as_it_happened)
{
    AUTO(world)
    struct world w = {
        .script = "turns:\n"
                  " - [{reasoning: hm}, {text: Look.}, {tool: Echo, id: a, args: {text: x}},\n"
                  "    {tool: State, id: b, args: {value: 7}}, {tool: Fail, id: c, args: {}}]\n"
                  " - text: Done.\n",
        .on_event = record};

    tape_begin();
    world_run(&w, "go");
    assert_same_again();
    tape_end();
}

TEST(so_do_several_runs_a_denial_an_unknown_tool_and_a_failure)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Echo, id: a, args: {text: x}}, {tool: Nope, id: b, "
                                "args: {}}]\n"
                                " - text: One.\n",
                      .deny = "Echo",
                      .on_event = record};

    tape_begin();
    world_run(&w, "first");
    w.script = "turns:\n - [{text: half}, {error: provider_error}]\n";
    world_run(&w, "second");
    w.script = "turns:\n - text: Three.\n";
    world_run(&w, "third");
    assert_same_again();
    tape_end();
}

TEST(an_interrupted_answer_and_a_question_come_back_too)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - [{tool: Wait, id: a, args: {}}]\n", .on_event = record};

    tape_begin();
    world_run(&w, "ask me");
    w.script = "turns:\n - text: a long answer that is cut off\n";
    w.cancels = true;
    w.cancel_at = EVENT_DELTA;
    world_run(&w, "again");
    assert_same_again();
    tape_end();
}

TEST(what_is_long_is_stored_once)
{
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Big, id: a, args: {lines: 9000}}]\n"
                                " - [{tool: Big, id: b, args: {lines: 9000}}]\n"
                                " - text: Done.\n",
                      .on_event = record};
    size_t n_bytes = 0;

    tape_begin();
    world_run(&w, "go");
    assert_same_again();
    for (size_t i = 0; i < tape.n; i++)
        n_bytes += tape.records[i].body.n;
    assert_true(n_bytes * 4 < tape.live.n); /* the log repeats the history with every request */
    tape_end();
}

/* The text of a result, wherever it stands in blobs and records. */
static size_t count_text(const char *text)
{
    size_t n = 0;

    for (size_t i = 0; i < tape.n; i++) {
        struct str rest = strbuf_str(&tape.records[i].body);

        for (size_t at; (at = str_find(rest, str_of(text))) != STR_NONE; n++)
            rest = str_skip(rest, at + 1);
        for (size_t k = 0; k < tape.records[i].n_blobs; k++)
            n += !tape.records[i].blobs[k].is_there &&
                 str_find(tape.records[i].blobs[k].bytes, str_of(text)) != STR_NONE;
    }
    return n;
}

TEST(the_output_of_a_tool_is_one_blob_which_its_handle_names_too)
{
    AUTO(blob_store) struct blob_store *blobs = blob_memory_new(0);
    AUTO(world)
    struct world w = {.script = "turns:\n - [{tool: Big, id: a, args: {lines: 9000}}]\n"
                                " - text: Done.\n",
                      .kit.blobs = blobs,
                      .on_event = record};
    const char *handle = NULL, *stored = NULL;

    tape_begin();
    world_run(&w, "go");
    for (size_t i = 0; i < tape.n; i++)
        for (size_t k = 0; k < tape.records[i].n_blobs; k++) {
            const struct codec_blob *b = &tape.records[i].blobs[k];

            if (b->is_there)
                handle = b->handle;
            else if (str_starts(b->bytes, S("line 1\n")))
                stored = b->handle;
        }
    assert_string_equal(handle, stored);
    assert_int_equal(count_text("line 4500"), 1); /* not in what the model was shown of it */
    tape_end();
}

TEST(a_long_result_that_the_model_got_whole_is_stored_once)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - [{tool: Big, id: a, args: {lines: 9000}}]\n"
                                " - text: Done.\n",
                      .kit.tool_response_bytes = 1 << 20,
                      .on_event = record};

    tape_begin();
    world_run(&w, "go");
    assert_same_again();
    assert_int_equal(count_text("line 4500"), 1);
    tape_end();
}

static size_t count_blobs(struct str bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < tape.n; i++)
        for (size_t k = 0; k < tape.records[i].n_blobs; k++)
            n += str_eq(tape.records[i].blobs[k].bytes, bytes);
    return n;
}

TEST(a_prompt_of_the_system_is_stored_with_the_first_request_and_named_by_the_others)
{
    AUTO_FREE char *system = mem_alloc(2000 + 1);
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Echo, id: a, args: {text: x}}]\n"
                                " - [{tool: Echo, id: b, args: {text: y}}]\n"
                                " - text: Done.\n",
                      .system = memset(system, 's', 2000),
                      .on_event = record};

    tape_begin();
    world_run(&w, "go");
    assert_same_again();
    assert_int_equal(count_blobs(str_of(system)), 1);
    tape_end();
}

TEST(deltas_of_an_answer_are_one_record)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - {text: one two three four five, split: 4}\n",
                      .on_event = record};
    size_t n_deltas = 0, n_records = 0;

    tape_begin();
    world_run(&w, "go");
    for (size_t i = 0; i < tape.n; i++)
        if (tape.records[i].type == EVENT_DELTA) {
            n_records++;
            n_deltas += tape.records[i].record.n_events;
        }
    assert_true(n_deltas > n_records);
    assert_same_again();
    tape_end();
}

/* So that a compaction has something to put back. */
static void add_todo(struct world *w)
{
    AUTO(arena) struct arena a = {0};
    struct json *todos;

    assert_ok(json_parse(&a, S("[{\"content\":\"Mend it\",\"status\":\"pending\"}]"), 0, &todos));
    tool_state_restore(w->conversation.state, S("todos"), todos);
}

/* A run of several rounds, compacted at its start and between them. */
static void play_compacted(int64_t window)
{
    const struct compact_options options = {0};
    AUTO(compaction) struct compaction c;
    AUTO(world)
    struct world w = {.script = "turns:\n"
                                " - [{tool: Big, id: a, args: {lines: 900}},\n"
                                "    {tool: State, id: b, args: {value: 7}}]\n"
                                " - [{text: Long.}, {usage: {input: 8500, output: 5}}]\n",
                      .on_event = record};

    compaction_init(&c, &options, &w.conversation);
    w.keeper.compactor = &c.compactor;
    w.targets[0].window = 10000;
    world_run(&w, "first");
    add_todo(&w);
    w.targets[0].window = window;
    w.script = "turns:\n"
               " - text: In short.\n"
               " - [{tool: Big, id: c, args: {lines: 100}}, {usage: {input: 1000, output: 5}}]\n"
               " - [{tool: Echo, id: d, args: {text: x}}, {usage: {input: 8500, output: 5}}]\n"
               " - text: In shorter words.\n"
               " - text: Done.\n";
    world_run(&w, "second");
    assert_int_equal(w.result.outcome, RUN_DONE);
}

static unsigned count_in(const struct strbuf *text, const char *what)
{
    unsigned n = 0;

    for (const char *at = strbuf_cstr(text); (at = strstr(at, what)); at++)
        n++;
    return n;
}

TEST(a_history_that_was_compacted_reads_as_it_happened)
{
    tape_begin();
    play_compacted(10000);
    assert_int_equal(count_in(&tape.live, "\"context_compact\""), 2);
    assert_same_again();
    tape_end();
}

TEST(so_does_the_request_for_a_summary_that_did_not_fit)
{
    tape_begin();
    play_compacted(9500);
    assert_int_equal(count_in(&tape.live, "\"context_compact\""), 2);
    assert_true(count_in(&tape.live, "characters left out]") > 0);
    assert_same_again();
    tape_end();
}

/* What a process finds that comes after one that died behind the first record of this type, in the
 * second run. */
struct crash {
    enum event_type after;
    struct conversation conversation;
    struct loaded loaded;
};

static size_t find_crash(const struct crash *c)
{
    bool is_second = false;

    for (size_t i = 1; i < tape.n; i++) {
        is_second |= tape.records[i].type == EVENT_RUN_BEGIN;
        if (is_second && tape.records[i].type == c->after)
            return i + 1;
    }
    return 0;
}

static struct err *load_after(void *arg)
{
    struct crash *c = arg;
    AUTO(store) struct store *s = store_memory_new();
    AUTO(arena) struct arena a = {0};
    struct store_summary create = {.id = S("session")};
    struct store_lease lease;

    conversation_init(&c->conversation, S("session"), S("/tmp"));
    TRY(store_open(s, S("session"), &create, &a, &lease));
    store_some(s, lease.fence, find_crash(c));
    return session_load(s, S("session"), 0, &c->conversation, &c->loaded);
}

static void assert_loaded(struct crash *c, size_t n_messages, const char *first_text)
{
    AUTO(strbuf) struct strbuf text = {0}, prompt = {0};

    assert_ok(loop_run_once(load_after, c));
    assert_int_equal(c->conversation.history.n_messages, n_messages);
    message_text(c->conversation.history.messages[0], &text);
    assert_str(strbuf_str(&text), first_text);
    assert_non_null(c->loaded.prompt);
    message_text(c->loaded.prompt, &prompt);
    assert_str(strbuf_str(&prompt), "second");
    assert_null(c->loaded.partial);
    loaded_done(&c->loaded);
    conversation_done(&c->conversation);
}

TEST(a_crash_around_a_compaction_loses_neither_the_history_nor_the_prompt)
{
    struct crash before = {.after = EVENT_ATTEMPT_END}, after = {.after = EVENT_COMPACTED};

    tape_begin();
    play_compacted(10000);
    assert_loaded(&before, 5, "first");
    assert_loaded(&after, 2, "[Context Summary] In short.");
    tape_end();
}

TEST(every_body_is_written_by_rows_or_by_code)
{
    for (int t = 0; t < EVENT_N_TYPES; t++)
        if (t != EVENT_TEXT_DROPPED && !event_fields((enum event_type)t)->key &&
            !codec_types[t].encode)
            fail_msg("the body of %s is not recorded: it needs rows in view/event_fields.c, or "
                     "code that session/codec/types.c names",
                     event_type_name((enum event_type)t));
}

RUN_TESTS(UNIT(every_body_is_written_by_rows_or_by_code),
          UNIT(a_run_with_tools_reads_as_it_happened),
          UNIT(so_do_several_runs_a_denial_an_unknown_tool_and_a_failure),
          UNIT(an_interrupted_answer_and_a_question_come_back_too),
          UNIT(what_is_long_is_stored_once),
          UNIT(the_output_of_a_tool_is_one_blob_which_its_handle_names_too),
          UNIT(a_long_result_that_the_model_got_whole_is_stored_once),
          UNIT(a_prompt_of_the_system_is_stored_with_the_first_request_and_named_by_the_others),
          UNIT(deltas_of_an_answer_are_one_record),
          UNIT(a_history_that_was_compacted_reads_as_it_happened),
          UNIT(so_does_the_request_for_a_summary_that_did_not_fit),
          UNIT(a_crash_around_a_compaction_loses_neither_the_history_nor_the_prompt));
