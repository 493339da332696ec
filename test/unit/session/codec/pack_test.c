/* pack_test.c - a session resumes from packs of its messages, and is the same as without. */
#include "session/same_load.h"
#include "session/stage.h"
#include "sys/in_task.h"

#include "archive/verify.h"
#include "session/codec/load_pack.h"
#include "store/files.h"
#include "store/sqlite.h"
#include "temp_dir.h"

#define ID "s"
static const struct session_options fresh = {.start = SESSION_NEW, .id = {ID, 1}, .pack_from = 1},
                                    again = {
                                        .start = SESSION_RESUME, .id = {ID, 1}, .pack_from = 1};

/* Results of all kinds, one of them longer than a record takes. */
static const char all_kinds[] =
    "turns:\n"
    " - [{reasoning: Hm.}, {text: Look.}, {tool: Echo, id: a, args: {text: x}},\n"
    "    {tool: Echo, id: b, args: {text: x}}]\n"
    " - [{tool: Big, id: c, args: {lines: 9000}}, {tool: Fail, id: d, args: {}}]\n"
    " - [{tool: Nothing, id: e, args: {}}, {tool: Echo, id: f, args: {}}]\n"
    " - text: Done.\n";

static void record(struct stage *st)
{
    stage_open(st, &fresh);
    stage_run(st, all_kinds, "go");
    stage_close(st);
}

static void run_again(struct stage *st, const char *prompt)
{
    stage_open(st, &again);
    stage_run(st, "turns:\n - [{tool: Echo, id: z, args: {text: y}}]\n - text: More.\n", prompt);
    stage_close(st);
}

/* What the last checkpoint says of packs; false: nothing. */
static bool find_packed(struct store *s, struct codec_pack *ret_packed)
{
    AUTO(conversation) struct conversation c = {0};
    AUTO(loaded) struct loaded l = {0};

    conversation_init(&c, S(ID), S("/tmp"));
    assert_ok(session_load(s, S(ID), 0, &c, &l));
    if (l.n_packs)
        *ret_packed = l.packs[0];
    return l.n_packs;
}

static size_t count_packs(struct store *s)
{
    struct codec_pack packed;
    struct str handle;
    size_t n = 0;

    if (!find_packed(s, &packed))
        return 0;
    handle = str_of(packed.handle);
    while (handle.n) {
        AUTO(pack) struct pack p = {0};

        assert_ok(pack_load(store_blobs(s, S(ID)), handle, &p));
        memcpy(packed.handle, p.head.previous.n ? p.head.previous.p : "",
               p.head.previous.n ? SHA256_HEX_SIZE : 1);
        handle = str_of(packed.handle);
        n++;
    }
    return n;
}

/* Are the records of its first messages looked at? */
static bool reads_records(struct store *from)
{
    AUTO(store_page) struct store_page page;
    AUTO(store) struct store *s = NULL;
    AUTO(conversation) struct conversation c = {0};
    AUTO(loaded) struct loaded l = {0};

    stage_records(from, ID, &page);
    for (size_t i = 0; i < page.n; i++)
        if (str_is(page.records[i].type, "history_mutation")) {
            page.records[i].body = S("{\"mutation\":");
            break;
        }
    s = stage_copy(from, ID, &page);
    conversation_init(&c, S(ID), S("/tmp"));
    assert_ok(session_load_to_resume(s, S(ID), &c, &l));
    assert_int_equal(l.is_damaged, l.notice.n > 0);
    return l.is_damaged;
}

IN_TASK(a_session_is_resumed_from_its_pack)
{
    AUTO(stage) struct stage st = {0};

    record(&st);
    assert_int_equal(count_packs(st.store), 1);
    assert_true(assert_same_load(st.store, S(ID)));
    assert_false(reads_records(st.store));
}

IN_TASK(what_came_later_is_in_packs_that_follow_and_are_few)
{
    /* Each takes over those before it that are no larger; the first is as large as three runs. */
    static const size_t n_packs[] = {2, 2, 3, 1, 2};
    AUTO(stage) struct stage st = {0};

    record(&st);
    for (size_t i = 0; i < ARRAY_LEN(n_packs); i++) {
        run_again(&st, "on");
        assert_int_equal(count_packs(st.store), n_packs[i]);
        assert_true(assert_same_load(st.store, S(ID)));
        assert_false(reads_records(st.store));
    }
}

IN_TASK(few_messages_are_left_to_their_records)
{
    AUTO(stage) struct stage st = {0};
    struct session_options plain = again;

    record(&st);
    plain.pack_from = 0;
    for (int i = 0; i < 3; i++) {
        stage_open(&st, &plain);
        stage_run(&st, "turns:\n - [{tool: Echo, id: z, args: {text: y}}]\n - text: More.\n", "on");
        stage_close(&st);
        assert_int_equal(count_packs(st.store), 1);
        assert_true(assert_same_load(st.store, S(ID)));
        assert_false(reads_records(st.store));
    }
}

IN_TASK(long_messages_are_packed_though_they_are_few)
{
    AUTO(stage) struct stage st = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct session_options plain = fresh;

    plain.pack_from = 0;
    stage_open(&st, &plain);
    stage_run(&st, "turns:\n - text: Short.\n", "go");
    for (int i = 0; i < 300; i++)
        strbuf_add_cstr(&text, "a thousand bytes of text, or about as many as that, with some more "
                               "of them to follow in the lines below, until it is long. ");
    for (int i = 0; i < 8; i++) {
        assert_ok(session_inject(&st.session, ROLE_USER, strbuf_str(&text)));
        assert_ok(session_inject(&st.session, ROLE_ASSISTANT, S("Yes.")));
    }
    stage_close(&st);
    assert_int_equal(count_packs(st.store), 1);
    assert_same_load(st.store, S(ID));
}

IN_TASK(a_run_that_failed_or_was_cut_off_continues_from_the_pack_before_it)
{
    AUTO(stage) struct stage st = {0}, dead = {0};
    AUTO(store_page) struct store_page page;
    size_t n;

    record(&st);
    stage_records(st.store, ID, &page);
    n = page.n;
    store_page_done(&page);
    stage_open(&st, &again);
    stage_run(&st, "turns:\n - [{tool: Echo, id: z, args: {text: y}}]\n - [{error: auth}]\n", "on");
    assert_int_equal(st.world.result.outcome, RUN_FAILED);
    stage_close(&st);
    assert_same_load(st.store, S(ID));
    assert_false(reads_records(st.store));
    stage_records(st.store, ID, &page);
    for (; n < page.n; n += 3) {
        AUTO(store) struct store *cut = stage_cut(st.store, ID, n);

        assert_same_load(cut, S(ID));
    }
}

IN_TASK(a_history_that_begins_anew_forgets_its_packs)
{
    AUTO(stage) struct stage st = {0};
    struct codec_pack packed;

    record(&st);
    stage_open(&st, &again);
    assert_ok(session_clear(&st.session));
    stage_close(&st);
    assert_false(find_packed(st.store, &packed));
    assert_same_load(st.store, S(ID));
    run_again(&st, "anew");
    assert_int_equal(count_packs(st.store), 1);
    assert_same_load(st.store, S(ID));
    stage_open(&st, &again);
    stage_compact(&st, "turns:\n - text: A summary.\n", "");
    stage_close(&st);
    assert_same_load(st.store, S(ID));
    run_again(&st, "after the summary");
    assert_same_load(st.store, S(ID));
    stage_open(&st, &again);
    assert_ok(session_rewind(
        &st.session, &(struct session_rewind){.turn = st.session.conversation.stream.turn,
                                              .seq = st.session.conversation.stream.next_seq - 1,
                                              .takes_messages = true}));
    stage_close(&st);
    assert_same_load(st.store, S(ID));
}

IN_TASK(a_copy_has_packs_of_its_own)
{
    AUTO(stage) struct stage st = {0};

    record(&st);
    stage_open(&st, &(struct session_options){
                        .start = SESSION_FORK, .id = S("copy"), .source = S(ID), .pack_from = 1});
    stage_close(&st);
    assert_ok(store_remove(st.store, S(ID)));
    assert_same_load(st.store, S("copy"));
}

/* Packs are payloads of their checkpoints, wherever these are stored: another process finds them,
 * and they count for the size of the session. */
static void resume_in(struct store *(*open)(const char *path), const char *path)
{
    AUTO(stage) struct stage st = {.store = open(path)};
    AUTO(arena) struct arena a = {0};
    struct store_summary summary;
    struct codec_pack pack;
    uint64_t n_bytes;
    bool found;

    record(&st);
    run_again(&st, "on");
    store_free(st.store);
    st.store = open(path);
    assert_true(assert_same_load(st.store, S(ID)));
    assert_int_equal(count_packs(st.store), 2);
    assert_true(find_packed(st.store, &pack));
    assert_ok(blob_size(store_blobs(st.store, S(ID)), str_of(pack.handle), &n_bytes));
    assert_ok(store_find(st.store, S(ID), &a, &summary, &found));
    assert_true(found && summary.n_bytes > n_bytes);
    assert_ok(store_remove(st.store, S(ID)));
    assert_ok(store_find(st.store, S(ID), &a, &summary, &found));
    assert_false(found);
}

IN_TASK(every_store_keeps_packs)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    char path[512];

    snprintf(path, sizeof path, "%s/keel.db", dir.path);
    resume_in(store_sqlite_new, path);
    snprintf(path, sizeof path, "%s/files", dir.path);
    resume_in(store_files_new, path);
}

/* --- damage --- */

IN_TASK(a_pack_that_is_gone_is_not_missed_and_is_made_anew)
{
    AUTO(stage) struct stage st = {0};
    struct codec_pack packed;

    record(&st);
    run_again(&st, "on");
    assert_int_equal(count_packs(st.store), 2);
    assert_true(find_packed(st.store, &packed));
    assert_ok(blob_remove(store_blobs(st.store, S(ID)), str_of(packed.handle)));
    assert_same_load(st.store, S(ID));
    run_again(&st, "and on");
    assert_int_equal(count_packs(st.store), 1);
    assert_true(assert_same_load(st.store, S(ID)));
}

/* The same session, whose last checkpoint names these bytes as its pack. */
static struct store *with_pack(struct store *from, struct str bytes)
{
    AUTO(store_page) struct store_page page;
    AUTO(strbuf) struct strbuf body = {0};
    struct codec_pack packed;
    struct store_record *last = NULL;
    char handle[SHA256_HEX_SIZE];
    struct str payload = {0};
    size_t at;

    assert_true(find_packed(from, &packed));
    assert_ok(blob_put(store_blobs(from, S(ID)), bytes, handle));
    stage_records(from, ID, &page);
    for (size_t i = 0; i < page.n; i++)
        if (str_is(page.records[i].type, "checkpoint"))
            last = &page.records[i];
    at = str_find(last->body, str_of(packed.handle));
    assert_true(at != STR_NONE);
    strbuf_add(&body, str_slice(last->body, 0, at));
    strbuf_add_cstr(&body, handle);
    strbuf_add(&body, str_skip(last->body, at + strlen(handle)));
    last->body = strbuf_str(&body);
    payload = str_of(handle);
    last->payloads = &payload;
    last->n_payloads = 1;
    return stage_copy(from, ID, &page);
}

static void note_finding(void *self, const struct finding *f)
{
    strbuf_addf(self, "%s: %" STR_FMT "\n", finding_name(f->kind), STR_ARG(f->text));
}

static void verify(struct store *s, struct strbuf *ret_found)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary summary;
    struct verified totals;
    bool is_there;

    assert_ok(store_find(s, S(ID), &a, &summary, &is_there));
    assert_ok(
        session_verify(s, &summary, NULL, (struct finding_sink){note_finding, ret_found}, &totals));
}

static void assert_verify(struct store *s, const char *expected)
{
    AUTO(strbuf) struct strbuf found = {0};

    verify(s, &found);
    assert_str(strbuf_str(&found), expected);
}

static size_t count_mismatches(struct store *s)
{
    AUTO(strbuf) struct strbuf found = {0};
    size_t n = 0;

    verify(s, &found);
    for (const char *at = strbuf_cstr(&found); (at = strstr(at, "history_mismatch: ")); at++)
        n++;
    return n;
}

static void read_pack_bytes(struct store *s, struct strbuf *ret_bytes)
{
    struct codec_pack packed;

    assert_true(find_packed(s, &packed));
    assert_ok(blob_get(store_blobs(s, S(ID)), str_of(packed.handle), ret_bytes));
}

IN_TASK(a_pack_that_cannot_be_read_is_ignored_and_verify_tells)
{
    AUTO(stage) struct stage st = {0};
    AUTO(strbuf) struct strbuf bytes = {0};

    record(&st);
    assert_verify(st.store, "");
    read_pack_bytes(st.store, &bytes);
    for (size_t n = 0; n < bytes.n; n += 1 + bytes.n / 40) {
        AUTO(store) struct store *s = with_pack(st.store, str_slice(strbuf_str(&bytes), 0, n + 1));

        assert_same_load(s, S(ID));
        assert_int_equal(count_mismatches(s), n + 1 < bytes.n);
    }
}

IN_TASK(a_pack_of_other_messages_is_found_by_verify)
{
    AUTO(stage) struct stage st = {0};
    AUTO(strbuf) struct strbuf bytes = {0};
    AUTO(store) struct store *s = NULL;
    char *at;

    record(&st);
    read_pack_bytes(st.store, &bytes);
    at = memmem(bytes.p, bytes.n, "Look.", 5);
    assert_non_null(at);
    memcpy(at, "Lock.", 5);
    s = with_pack(st.store, strbuf_str(&bytes));
    assert_verify(s, "history_mismatch: its packed messages differ from the records before it\n");
}

IN_TASK(a_pack_of_another_history_is_ignored)
{
    AUTO(stage) struct stage st = {0}, other = {0};
    AUTO(strbuf) struct strbuf bytes = {0};
    AUTO(store) struct store *s = NULL;

    record(&st);
    record(&other);
    run_again(&other, "longer");
    read_pack_bytes(other.store, &bytes);
    s = with_pack(st.store, strbuf_str(&bytes));
    assert_same_load(s, S(ID));
}

/* --- messages --- */

struct texts {
    struct arena arena;
    struct str items[8];
    size_t n;
};

static void texts_put(void *self, struct str bytes, char handle[SHA256_HEX_SIZE])
{
    struct texts *t = self;

    sha256_hex(bytes, handle);
    t->items[t->n++] = arena_str(&t->arena, bytes);
}

static struct err *texts_get(void *self, struct str handle, struct arena *a, struct str *ret_bytes)
{
    struct texts *t = self;
    char hash[SHA256_HEX_SIZE];

    for (size_t i = 0; i < t->n; i++) {
        sha256_hex(t->items[i], hash);
        if (str_is(handle, hash)) {
            *ret_bytes = arena_str(a, t->items[i]);
            return NULL;
        }
    }
    return err_new(ERR_STORAGE, "there is no such text");
}

static struct message *full_message(struct str long_text)
{
    struct part content[] = {
        {.kind = PART_TEXT, .text = S("caf\xc3\xa9")},
        {.kind = PART_MEDIA,
         .media = {.mime = S("image/png"), .source = MEDIA_BYTES, .data = S("\x89PNG\xff")}},
        {.kind = PART_MEDIA,
         .media = {.mime = S("a/b"), .source = MEDIA_URL, .data = S("http://x"), .name = S("n")}},
    };
    struct part parts[] = {
        {.kind = PART_TEXT, .text = long_text, .signature = S("sig")},
        {.kind = PART_REASONING, .text = S("hm"), .data = S("secret"), .native = S("{\"a\":1}")},
        {.kind = PART_TOOL_CALL,
         .id = S("c1"),
         .name = S("Echo"),
         .args = S("{}"),
         .bad_args = S("{oops"),
         .is_free_text = true},
        {.kind = PART_TOOL_RESULT,
         .id = S("c1"),
         .name = S("Echo"),
         .is_error = true,
         .content = content,
         .n_content = ARRAY_LEN(content)},
        {.kind = PART_CITATION, .text = S("said"), .url = S("http://y"), .title = S("T")},
    };
    struct message *m = message_new(ROLE_ASSISTANT, S("id"));

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        message_add(m, &parts[i]);
    message_set_origin(m, (struct origin){S("p"), S("anthropic-messages"), S("m"), S("b")});
    message_set_usage(m, &(struct usage){.input = 7,
                                         .output = -1,
                                         .cache_read = 0,
                                         .cache_write = 3,
                                         .reasoning = -1,
                                         .tool_input = -1,
                                         .web_searches = 2,
                                         .input_includes_cache = true,
                                         .cost_microcents = 1234567,
                                         .upstream_microcents = 1200000,
                                         .routed_model = S("other")});
    m->state = MESSAGE_BROKEN;
    m->stop_reason = arena_str(&m->arena, S("max_tokens"));
    m->stop = STOP_LENGTH;
    return m;
}

static void assert_round_trip(const struct message *m)
{
    AUTO(strbuf) struct strbuf bytes = {0}, before = {0}, after = {0};
    struct texts texts = {0};
    AUTO(pack) struct pack p = {0};
    struct json_writer w;

    pack_write_head(&bytes, &(struct pack_head){.base_seq = 300, .seq = 1, .n = 1});
    assert_true(
        pack_write_message(&bytes, m, 1700000000000, &(struct pack_sink){texts_put, &texts}));
    assert_ok(pack_read(&bytes, &(struct pack_source){texts_get, &texts}, &p));
    assert_int_equal(p.head.base_seq, 300);
    assert_int_equal(p.items[0].unix_ms, 1700000000000);
    jw_init(&w, &before);
    message_write(&w, m);
    jw_init(&w, &after);
    message_write(&w, p.items[0].message);
    assert_str(strbuf_str(&after), strbuf_cstr(&before));
    arena_done(&texts.arena);
}

TEST(a_message_comes_out_of_a_pack_as_it_went_in)
{
    AUTO(strbuf) struct strbuf text = {0};
    AUTO(message) struct message *small = full_message(S("short")), *large = NULL;
    AUTO(message) struct message *empty = message_new(ROLE_USER, S(""));

    while (text.n <= CODEC_INLINE_MAX)
        strbuf_add_cstr(&text, "long ");
    large = full_message(strbuf_str(&text));
    assert_round_trip(small);
    assert_round_trip(large);
    assert_round_trip(empty);
}

TEST(a_message_that_a_record_would_repair_is_not_packed)
{
    AUTO(message) struct message *m = full_message(S("caf\xe9"));
    AUTO(strbuf) struct strbuf bytes = {0};
    struct texts texts = {0};

    assert_false(pack_write_message(&bytes, m, 1, &(struct pack_sink){texts_put, &texts}));
    arena_done(&texts.arena);
}

RUN_TESTS(UNIT(a_session_is_resumed_from_its_pack),
          UNIT(what_came_later_is_in_packs_that_follow_and_are_few),
          UNIT(few_messages_are_left_to_their_records),
          UNIT(long_messages_are_packed_though_they_are_few),
          UNIT(a_run_that_failed_or_was_cut_off_continues_from_the_pack_before_it),
          UNIT(a_history_that_begins_anew_forgets_its_packs), UNIT(a_copy_has_packs_of_its_own),
          UNIT(every_store_keeps_packs), UNIT(a_pack_that_is_gone_is_not_missed_and_is_made_anew),
          UNIT(a_pack_that_cannot_be_read_is_ignored_and_verify_tells),
          UNIT(a_pack_of_other_messages_is_found_by_verify),
          UNIT(a_pack_of_another_history_is_ignored),
          UNIT(a_message_comes_out_of_a_pack_as_it_went_in),
          UNIT(a_message_that_a_record_would_repair_is_not_packed));
