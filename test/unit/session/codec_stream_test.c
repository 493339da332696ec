/* codec_stream_test.c - what streams in, and every type of event: stored, and read to the letter.
 */
#include "session/codec/codec.h"
#include "sys/in_task.h"

#include "base/utf8.h"
#include "store/memory.h"
#include "view/samples.h"
#include "view/session_log.h"

#define MAX_EVENTS 4096

/* Events in the order in which they were told, and the records that were made of them. */
struct tape {
    struct arena arena;
    struct codec_writer *writer;
    struct event events[MAX_EVENTS];
    size_t n_events;
    struct codec_record records[MAX_EVENTS];
    size_t n_records;
    bool is_cut; /* the next event begins a record */
};

static struct tape *tape_new(void)
{
    struct tape *t = mem_alloc(sizeof *t);

    t->writer = codec_writer_new();
    return t;
}

static void tape_free(struct tape *t)
{
    for (size_t i = 0; i < t->n_records; i++)
        codec_record_done(&t->records[i]);
    codec_writer_free(t->writer);
    arena_done(&t->arena);
    mem_free(t);
}
DEFINE_AUTO_PTR(tape, tape_free)

static void tell(struct tape *t, const struct event *e)
{
    struct codec_record *last = t->n_records && !t->is_cut ? &t->records[t->n_records - 1] : NULL;
    struct event *kept = &t->events[t->n_events++];

    assert_true(t->n_events <= MAX_EVENTS);
    *kept = *e;
    kept->seq = t->n_events;
    if (!kept->attempt)
        kept->attempt = 1;
    t->n_records += !codec_write(t->writer, kept, last, &t->records[t->n_records]);
    t->is_cut = false;
}

static void tell_payload(struct tape *t, uint64_t sequence, int64_t unix_ms, struct str bytes)
{
    struct native_payload *p = ARENA_NEW(&t->arena, struct native_payload);

    *p = (struct native_payload){.provider = S("anthropic"),
                                 .api_surface = S("messages"),
                                 .kind = PAYLOAD_STREAM_EVENT,
                                 .sequence = sequence,
                                 .http_status = 200,
                                 .bytes = arena_str(&t->arena, bytes)};
    tell(t, &(struct event){.type = EVENT_NATIVE_PAYLOAD, .unix_ms = unix_ms, .body.payload = p});
}

static void tell_delta(struct tape *t, uint64_t sequence, int64_t unix_ms, const struct delta *d)
{
    struct delta *copy = ARENA_NEW(&t->arena, struct delta);

    *copy = *d;
    copy->text = arena_str(&t->arena, d->text);
    tell(t, &(struct event){.type = EVENT_DELTA,
                            .unix_ms = unix_ms,
                            .body.delta = {.delta = copy, .sequence = sequence}});
}

static void tell_text(struct tape *t, uint64_t sequence, int64_t unix_ms, const char *text)
{
    tell_delta(t, sequence, unix_ms, &(struct delta){.text = str_of(text)});
}

/* --- reading --- */

static void put_records(struct tape *t, struct store *s)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary create = {.id = S("s")};
    char handle[SHA256_HEX_SIZE];
    struct store_lease lease;

    assert_ok(store_open(s, S("s"), &create, &a, &lease));
    for (size_t i = 0; i < t->n_records; i++) {
        struct codec_record *r = &t->records[i];

        codec_record_end(r);
        assert_true(memchr(r->record.body.p, '\n', r->record.body.n) == NULL);
        for (size_t k = 0; k < r->n_blobs; k++)
            assert_ok(blob_put(store_blobs(s, S("s")), r->blobs[k].bytes, handle));
        assert_ok(store_append(s, S("s"), r->record.seq, lease.fence, &r->record, 1, NULL));
    }
}

static void assert_same_text(size_t i, const char *what, struct str got, struct str want)
{
    if (!str_eq(got, want))
        fail_msg("%s of event %zu: \"%" STR_FMT "\" is read as \"%" STR_FMT "\"", what, i + 1,
                 STR_ARG(want), STR_ARG(got));
}

static void assert_same_payload(size_t i, const struct native_payload *got,
                                const struct native_payload *want)
{
    assert_int_equal(got->kind, want->kind);
    assert_int_equal(got->sequence, want->sequence);
    assert_int_equal(got->http_status, want->http_status);
    assert_same_text(i, "the provider", got->provider, want->provider);
    assert_same_text(i, "the API", got->api_surface, want->api_surface);
    assert_same_text(i, "the payload", got->bytes, want->bytes);
}

static void assert_same_delta(size_t i, const struct event_delta *got,
                              const struct event_delta *want)
{
    assert_int_equal(got->sequence, want->sequence);
    assert_int_equal(got->source, want->source);
    assert_int_equal(got->is_separator, want->is_separator);
    assert_int_equal(got->delta->kind, want->delta->kind);
    assert_int_equal(got->delta->part, want->delta->part);
    assert_same_text(i, "the text", got->delta->text, want->delta->text);
    assert_same_text(i, "the id", got->delta->id, want->delta->id);
    assert_same_text(i, "the name", got->delta->name, want->delta->name);
}

static void assert_same_event(size_t i, const struct event *got, const struct event *want)
{
    assert_int_equal(got->type, want->type);
    assert_int_equal(got->seq, want->seq);
    assert_int_equal(got->unix_ms, want->unix_ms);
    assert_int_equal(got->attempt, want->attempt);
    if (got->type == EVENT_DELTA)
        assert_same_delta(i, &got->body.delta, &want->body.delta);
    if (got->type == EVENT_NATIVE_PAYLOAD)
        assert_same_payload(i, got->body.payload, want->body.payload);
}

static void assert_reads_again(struct tape *t)
{
    AUTO(store) struct store *s = store_memory_new();
    AUTO(codec_reader) struct codec_reader *r = codec_reader_new(s, S("s"), 1, CODEC_READ_ALL);
    const struct event *e;

    put_records(t, s);
    for (size_t i = 0; i < t->n_events; i++) {
        assert_ok(codec_read(r, &e));
        assert_non_null(e);
        assert_same_event(i, e, &t->events[i]);
    }
    assert_ok(codec_read(r, &e));
    assert_null(e);
}

static void assert_body(struct tape *t, size_t record, const char *want)
{
    codec_record_end(&t->records[record]);
    assert_str(t->records[record].record.body, want);
}

/* --- what a record looks like --- */

IN_TASK(payloads_and_deltas_that_come_in_turns_are_one_record)
{
    AUTO(tape) struct tape *t = tape_new();

    tell_payload(t, 1, 1000, S("{\"type\":\"delta\",\"text\":\"one\"}"));
    tell_text(t, 0, 1000, "one");
    tell_payload(t, 2, 1040, S("{\"type\":\"delta\",\"text\":\" two\"}"));
    tell_text(t, 1, 1041, " two");
    assert_int_equal(t->n_records, 1);
    assert_int_equal(t->records[0].record.n_events, 4);
    assert_int_equal(t->records[0].record.unix_ms, 1000);
    assert_str(t->records[0].record.type, "provider_stream");
    assert_false(t->records[0].record.is_core);
    assert_body(t, 0,
                "{\"provider\":\"anthropic\",\"apiSurface\":\"messages\",\"httpStatus\":200,"
                "\"payload\":1,\"stream\":[{\"type\":\"delta\",\"text\":\"one\"},[1,\"text\",0],40,"
                "\" two\",1,[1]]}");
    assert_reads_again(t);
}

IN_TASK(payloads_that_differ_in_their_text_alone_are_told_like_others)
{
    static const char *const texts[] = {"one", "\xc3\xa9", "a\\nb", "a\\",  "\"",   "a\",\"b\":\"",
                                        "two", "",         "\xc3",  "type", "delta"};
    AUTO(tape) struct tape *t = tape_new();

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO(strbuf) struct strbuf bytes = {0};

        strbuf_addf(&bytes, "{\"type\":\"delta\",\"text\":\"%s\",\"z\":\"z\"}", texts[i]);
        tell_payload(t, i, 1000, strbuf_str(&bytes));
        tell_text(t, 2 * i, 1000, texts[i]);
        tell_text(t, 2 * i + 1, 1000, "z");
    }
    assert_int_equal(t->n_records, 1);
    assert_reads_again(t);
}

IN_TASK(a_later_record_says_where_it_goes_on_but_not_who_was_asked)
{
    AUTO(tape) struct tape *t = tape_new();

    tell_payload(t, 0, 1000, S("{}"));
    tell_text(t, 0, 1000, "a");
    t->is_cut = true;
    tell_text(t, 1, 1000, "b");
    tell_payload(t, 1, 1000, S("{\"b\":1}"));
    assert_int_equal(t->n_records, 2);
    assert_body(t, 1,
                "{\"httpStatus\":200,\"payload\":1,\"delta\":1,\"stream\":[[\"b\",\"text\",0],"
                "{\"b\":1}]}");
    assert_reads_again(t);
}

IN_TASK(a_delta_refers_to_a_payload_of_its_own_record_only)
{
    AUTO(tape) struct tape *t = tape_new();

    tell_payload(t, 0, 1000, S("{\"a\":\"text\"}"));
    t->is_cut = true;
    tell_text(t, 0, 1000, "text");
    assert_reads_again(t);
}

IN_TASK(a_sequence_that_leaps_another_attempt_and_a_separator_begin_records)
{
    AUTO(tape) struct tape *t = tape_new();
    const struct delta separator = {.text = S("\n\n")};

    tell_text(t, 0, 1000, "a");
    tell_text(t, 5, 1000, "b");
    assert_int_equal(t->n_records, 2);
    tell(t, &(struct event){.type = EVENT_DELTA,
                            .body.delta = {.delta = &separator, .is_separator = true}});
    tell(t, &(struct event){.type = EVENT_DELTA,
                            .attempt = 2,
                            .body.delta = {.delta = &separator, .sequence = 6}});
    assert_int_equal(t->n_records, 4);
    assert_str(t->records[2].record.type, "provider_stream_raw_delta");
    assert_reads_again(t);
}

IN_TASK(a_payload_that_is_a_blob_stands_in_between_and_deltas_still_refer_to_it)
{
    AUTO(tape) struct tape *t = tape_new();
    AUTO(strbuf) struct strbuf text = {0}, payload = {0};

    while (text.n < (size_t)50000)
        strbuf_add_cstr(&text, "a long \"text\" ");
    strbuf_add_cstr(&payload, "{\"text\":");
    json_write_string(&payload, strbuf_str(&text));
    strbuf_add_cstr(&payload, "}");
    tell_payload(t, 0, 1000, S("{}"));
    tell_payload(t, 1, 1000, strbuf_str(&payload));
    tell_delta(t, 0, 1000, &(struct delta){.text = strbuf_str(&text)});
    tell_payload(t, 2, 1000, S("{}"));
    tell_delta(t, 1, 1000, &(struct delta){.text = strbuf_str(&text)}); /* stands nowhere now */
    assert_int_equal(t->n_records, 1);
    assert_int_equal(t->records[0].n_blobs, 2);
    assert_true(t->records[0].body.n < 500);
    assert_reads_again(t);
}

/* Bytes that would be read as something else, or break the line that they stand on. */
IN_TASK(whatever_comes_in_as_a_payload_reads_as_it_came)
{
    static const char *const payloads[] = {
        "",
        " ",
        "[DONE]",
        "{}",
        " {}",
        "{} ",
        "{\n}",
        "{\r}",
        "{},{}",
        "{}],[{}",
        "]],[[",
        "[1,2]",
        "7",
        "\"text\"",
        "{\"a\":1",
        "{\"a\" : 1}",
        "\xff",
        "{\"a\":\"\xff\"}",
        "{\"$text\":\"x\"}",
        "{\"$blob\":\"x\"}",
        "{\"a\":1,\"$text\":{}}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":\"\\u0000\\/\"}",
    };
    AUTO(tape) struct tape *t = tape_new();
    AUTO(strbuf) struct strbuf deep = {0};

    for (size_t i = 0; i < ARRAY_LEN(payloads); i++)
        tell_payload(t, i, 1000, str_of(payloads[i]));
    for (int n = 253; n <= 258; n++) {
        strbuf_clear(&deep);
        for (int i = 0; i < n; i++)
            strbuf_add_cstr(&deep, "{\"a\":");
        strbuf_add_cstr(&deep, "1");
        for (int i = 0; i < n; i++)
            strbuf_add_cstr(&deep, "}");
        tell_payload(t, ARRAY_LEN(payloads) + (size_t)n - 253, 1000, strbuf_str(&deep));
    }
    assert_int_equal(t->n_records, 1);
    assert_reads_again(t);
}

IN_TASK(deltas_that_are_no_text_of_a_payload_read_as_they_came)
{
    AUTO(tape) struct tape *t = tape_new();

    tell_payload(t, 0, 1000, S("{\"a\":\"\",\"b\":\"x\",\"c\":\"\\u00e9\\n\\ud83d\\ude00\"}"));
    tell_text(t, 0, 1000, "");
    tell_text(t, 1, 1000, "xx");
    tell_text(t, 2, 1000, "\xc3\xa9\n\xf0\x9f\x98\x80");
    tell_text(t, 3, 1000, "\xc3"); /* half of a letter */
    tell_delta(
        t, 4, 999,
        &(struct delta){.kind = DELTA_TOOL_BEGIN, .part = 2, .id = S("c1"), .name = S("Bash")});
    tell_delta(
        t, 5, 2000,
        &(struct delta){
            .kind = DELTA_TOOL_ARGS, .part = 2, .id = S("c1"), .name = S("Bash"), .text = S("x")});
    tell_delta(t, 6, 2000, &(struct delta){.kind = DELTA_REASONING, .part = 3, .text = S("x")});
    assert_int_equal(t->n_records, 1);
    assert_reads_again(t);
}

IN_TASK(the_bytes_of_a_request_are_not_kept_and_those_of_an_answer_are)
{
    AUTO(tape) struct tape *t = tape_new();
    AUTO(store) struct store *s = store_memory_new();
    AUTO(codec_reader) struct codec_reader *r = codec_reader_new(s, S("s"), 1, CODEC_READ_ALL);
    struct native_payload request = {.provider = S("p"), .api_surface = S("a"), .bytes = S("{}")},
                          answer = {.provider = S("p"),
                                    .api_surface = S("a"),
                                    .kind = PAYLOAD_RESPONSE,
                                    .sequence = 1,
                                    .http_status = 500,
                                    .bytes = S("<html>")};
    const struct event *e;

    tell(t, &(struct event){.type = EVENT_NATIVE_PAYLOAD, .body.payload = &request});
    tell(t, &(struct event){.type = EVENT_NATIVE_PAYLOAD, .body.payload = &answer});
    put_records(t, s);
    assert_ok(codec_read(r, &e));
    assert_int_equal(e->body.payload->n_bytes, 2);
    assert_int_equal(e->body.payload->sha256.n, SHA256_HEX_SIZE - 1);
    assert_int_equal(e->body.payload->bytes.n, 0);
    assert_ok(codec_read(r, &e));
    assert_same_payload(1, e->body.payload, &answer);
}

IN_TASK(a_record_with_fewer_entries_than_it_says_is_told)
{
    AUTO(store) struct store *s = store_memory_new();
    AUTO(codec_reader) struct codec_reader *r = codec_reader_new(s, S("s"), 1, CODEC_READ_ALL);
    static const char *const bodies[] = {"{}",
                                         "{\"stream\":[{}]}",
                                         "{\"stream\":[[7]]}",
                                         "{\"stream\":[[\"x\",\"nothing\"]]}",
                                         "{\"stream\":[true]}",
                                         "{\"stream\":[\"like\"]}"};
    AUTO(arena) struct arena a = {0};
    struct store_summary create = {.id = S("s")};
    struct store_lease lease;
    const struct event *e;

    assert_ok(store_open(s, S("s"), &create, &a, &lease));
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct store_record record = {.seq = 1 + 2 * i,
                                      .n_events = 2,
                                      .type = S("provider_stream"),
                                      .body = str_of(bodies[i])};

        assert_ok(store_append(s, S("s"), record.seq, lease.fence, &record, 1, NULL));
    }
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        if (i == 1)
            assert_ok(codec_read(r, &e));
        assert_err(codec_read(r, &e), ERR_STORAGE);
    }
    assert_ok(codec_read(r, &e));
    assert_null(e);
}

/* --- whatever comes, in whatever order --- */

static uint64_t roll(uint64_t *dice, uint64_t n)
{
    *dice = *dice * 6364136223846793005u + 1442695040888963407u;
    return (*dice >> 33) % n;
}

static void add_letters(uint64_t *dice, struct strbuf *out)
{
    static const char *const letters[] = {"a",        " ",
                                          "\"",       "\\",
                                          "\n",       "\t",
                                          "\1",       "\x7f",
                                          "\xc3\xa9", "\xe2\x80\xa8",
                                          "/",        "$text",
                                          "{",        "]",
                                          ",",        "\xf0\x9f\x98\x80"};

    for (uint64_t n = roll(dice, 12); n > 0; n--)
        strbuf_add_cstr(out, letters[roll(dice, ARRAY_LEN(letters))]);
}

/* As some server would write it, with escapes that nobody needs. */
static void add_string(uint64_t *dice, struct strbuf *out, struct strbuf *letters)
{
    add_letters(dice, letters);
    if (roll(dice, 2)) {
        json_write_string(out, strbuf_str(letters));
        return;
    }
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < letters->n; i++)
        if ((unsigned char)letters->p[i] < 0x80)
            strbuf_addf(out, "\\u%04X", (unsigned)letters->p[i]);
        else
            strbuf_add_char(out, letters->p[i]);
    strbuf_add_char(out, '"');
}

static void add_value(uint64_t *dice, struct strbuf *out, unsigned depth)
{
    AUTO(strbuf) struct strbuf letters = {0};
    uint64_t kind = roll(dice, depth < 5 ? 6 : 3);
    uint64_t n = roll(dice, 4);

    if (kind < 3) {
        add_string(dice, out, &letters);
        return;
    }
    if (kind == 3) {
        strbuf_addf(out, "-%u.50e1", (unsigned)roll(dice, 1000));
        return;
    }
    strbuf_add_char(out, kind == 4 ? '[' : '{');
    for (uint64_t i = 0; i < n; i++) {
        strbuf_add_cstr(out, i ? roll(dice, 2) ? "," : " ,\r" : "");
        if (kind == 5)
            strbuf_addf(out, "\"%s%u\":", roll(dice, 9) ? "key" : "$text", (unsigned)roll(dice, 3));
        add_value(dice, out, depth + 1);
    }
    strbuf_add_char(out, kind == 4 ? ']' : '}');
}

/* One like many others but for a text, which may have anything in it, also what ends a text. */
static void add_usual(uint64_t *dice, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf letters = {0};

    strbuf_add_cstr(out, "{\"type\":\"delta\",\"delta\":{\"text\":");
    if (roll(dice, 4)) {
        add_string(dice, out, &letters);
    } else {
        add_letters(dice, &letters);
        strbuf_addf(out, "\"%s\"", strbuf_cstr(&letters));
    }
    strbuf_addf(out, "},\"n\":[\"a\",%u]}", (unsigned)roll(dice, 9) / 8);
}

/* Some text of the payload, found as a decoder would find it, or another. */
static struct str some_text(struct tape *t, uint64_t *dice, struct str payload)
{
    AUTO(strbuf) struct strbuf letters = {0};
    struct json_where where;
    struct json *v;

    if (!roll(dice, 4) || !json_parse_at(&t->arena, payload, 0, &v, &where)) {
        add_letters(dice, &letters);
        return arena_str(&t->arena, strbuf_str(&letters));
    }
    while (v->first) {
        uint64_t skip = roll(dice, v->n);

        for (v = v->first; skip; skip--)
            v = v->next;
    }
    return json_str(v);
}

static void tell_anything(struct tape *t, uint64_t *dice, size_t n, bool is_usual)
{
    static const struct {
        struct str id, name;
    } calls[] = {{{"", 0}, {"", 0}}, {{"c1", 2}, {"Bash", 4}}, {{"c1", 2}, {"", 0}}};
    uint64_t n_payloads = 0, n_deltas = 0;
    struct str payload = S("");
    int64_t now = 1700000000000;

    for (size_t i = 0; i < n; i++) {
        AUTO(strbuf) struct strbuf bytes = {0};

        now += roll(dice, 3) ? 0 : (int64_t)roll(dice, 100) - 5;
        t->is_cut = !roll(dice, 20);
        n_payloads += !roll(dice, 50);
        n_deltas += !roll(dice, 50);
        if (roll(dice, 2)) {
            if (is_usual)
                add_usual(dice, &bytes);
            else
                add_value(dice, &bytes, 0);
            if (!roll(dice, is_usual ? 30 : 8))
                add_letters(dice, &bytes);
            payload = arena_str(&t->arena, strbuf_str(&bytes));
            tell_payload(t, n_payloads++, now, payload);
        } else {
            size_t call = roll(dice, ARRAY_LEN(calls));

            tell_delta(t, n_deltas++, now,
                       &(struct delta){.kind = roll(dice, DELTA_SERVER_TOOL + 1),
                                       .part = roll(dice, 3),
                                       .text = some_text(t, dice, payload),
                                       .id = calls[call].id,
                                       .name = calls[call].name});
        }
    }
}

IN_TASK(anything_in_any_order_reads_to_the_letter)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        AUTO(tape) struct tape *t = tape_new();
        uint64_t dice = seed;

        tell_anything(t, &dice, 300, /* is_usual= */ seed % 2);
        assert_reads_again(t);
    }
}

/* --- every type --- */

/* All but what is made from a history, which runs show (codec_test.c): the request. */
static void tell_samples(struct tape *t, struct samples *s)
{
    struct event begin = s->events[EVENT_HISTORY];

    begin.body.message = (struct event_message){.message = s->prompt, .mutation = "append"};
    tell(t, &begin);
    for (int type = 0; type < EVENT_N_TYPES; type++)
        if (type != EVENT_HISTORY && type != EVENT_PROVIDER_REQUEST)
            tell(t, &s->events[type]);
}

IN_TASK(every_type_of_event_reads_as_it_was)
{
    AUTO(tape) struct tape *t = tape_new();
    AUTO(store) struct store *s = store_memory_new();
    AUTO(codec_reader) struct codec_reader *r = codec_reader_new(s, S("s"), 1, CODEC_READ_ALL);
    AUTO(samples) struct samples samples;
    const struct event *e;

    samples_init(&samples);
    tell_samples(t, &samples);
    put_records(t, s);
    for (size_t i = 0; i < t->n_events; i++) {
        AUTO(strbuf) struct strbuf got = {0}, want = {0};
        struct event again;

        assert_ok(codec_read(r, &e));
        assert_non_null(e);
        again = *e;
        again.stream = t->events[i].stream;
        session_log_write(&again, &got);
        session_log_write(&t->events[i], &want);
        assert_same_text(i, event_type_name(e->type), strbuf_str(&got), strbuf_str(&want));
    }
    assert_ok(codec_read(r, &e));
    assert_null(e);
}

RUN_TESTS(UNIT(payloads_and_deltas_that_come_in_turns_are_one_record),
          UNIT(payloads_that_differ_in_their_text_alone_are_told_like_others),
          UNIT(a_later_record_says_where_it_goes_on_but_not_who_was_asked),
          UNIT(a_delta_refers_to_a_payload_of_its_own_record_only),
          UNIT(a_sequence_that_leaps_another_attempt_and_a_separator_begin_records),
          UNIT(a_payload_that_is_a_blob_stands_in_between_and_deltas_still_refer_to_it),
          UNIT(whatever_comes_in_as_a_payload_reads_as_it_came),
          UNIT(deltas_that_are_no_text_of_a_payload_read_as_they_came),
          UNIT(the_bytes_of_a_request_are_not_kept_and_those_of_an_answer_are),
          UNIT(a_record_with_fewer_entries_than_it_says_is_told),
          UNIT(anything_in_any_order_reads_to_the_letter),
          UNIT(every_type_of_event_reads_as_it_was));
