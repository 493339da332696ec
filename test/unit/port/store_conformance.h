/* store_conformance.h - what every store must do. Adapters' tests list STORE_CONFORMS.
 *
 * An adapter's test defines struct store *conformance_store(void), which makes an empty store, and
 * conformance_reopen(), which gives it up without a word (as a killed process would) and opens what
 * it had written; NULL where nothing outlives the process. All tests run in a task. */
#ifndef KEEL_TEST_UNIT_PORT_STORE_CONFORMANCE_H
#define KEEL_TEST_UNIT_PORT_STORE_CONFORMANCE_H

#include "port/store.h"
#include "sys/in_task.h"
#include "test.h"

static struct store *conformance_store(void);
static struct store *conformance_reopen(struct store *take_store);

#define ID_A S("0190a000-0000-7000-8000-00000000000a")
#define ID_B S("0190a000-0000-7000-8000-00000000000b")
#define ID_C S("0190a000-0000-7000-8000-00000000000c")

static inline struct store_summary summary_of(struct str id, int64_t ms)
{
    return (struct store_summary){
        .id = id, .cwd = S("/p"), .preview = S("hello"), .created_ms = ms, .updated_ms = ms};
}

static inline uint64_t open_new(struct store *s, struct str id, int64_t ms)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary create = summary_of(id, ms);
    struct store_lease lease;

    assert_ok(store_open(s, id, &create, &a, &lease));
    assert_true(lease.is_new);
    assert_int_equal(lease.next_seq, 1);
    return lease.fence;
}

static inline struct store_record record_of(uint64_t seq, const char *type, const char *body)
{
    return (struct store_record){.seq = seq,
                                 .n_events = 1,
                                 .unix_ms = 10000 + (int64_t)seq,
                                 .type = str_of(type),
                                 .run_id = S("run-1"),
                                 .turn = 1,
                                 .round = 2,
                                 .attempt = 3,
                                 .is_core = strcmp(type, "history_mutation") == 0,
                                 .body = str_of(body)};
}

static inline void append_one(struct store *s, struct str id, uint64_t fence, uint64_t seq,
                              const char *type, const char *body)
{
    struct store_record r = record_of(seq, type, body);

    assert_ok(store_append(s, id, seq, fence, &r, 1, NULL));
}

/* An empty run: it belongs to none. */
static inline void append_core(struct store *s, struct str id, uint64_t fence, uint64_t seq,
                               const char *run, const char *type, const char *body)
{
    struct store_record r = record_of(seq, type, body);

    r.is_core = true;
    r.run_id = str_of(run);
    assert_ok(store_append(s, id, seq, fence, &r, 1, NULL));
}

static inline void assert_bodies_(struct store *s, struct str id, const struct store_query *q,
                                  const char *want, const char *file, int line)
{
    AUTO(strbuf) struct strbuf got = {0};
    AUTO(store_page) struct store_page page = {0};

    assert_ok(store_read(s, id, q, &page));
    for (size_t i = 0; i < page.n; i++)
        strbuf_addf(&got, "%llu:%" STR_FMT " ", (unsigned long long)page.records[i].seq,
                    STR_ARG(page.records[i].body));
    if (page.has_more)
        strbuf_add_cstr(&got, "...");
    assert_str_(strbuf_str(&got), want, file, line);
}
#define assert_bodies(s, id, want, ...)                                                            \
    assert_bodies_((s), (id), &(struct store_query){__VA_ARGS__}, (want), __FILE__, __LINE__)

IN_TASK(what_was_appended_is_read_back_as_it_was)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    char hash[SHA256_HEX_SIZE];
    struct str handle;
    struct store_record r = record_of(1, "notice", "{\"text\":\"a\\u0000b \xF0\x9F\x9A\xA2\"}");
    AUTO(store_page) struct store_page page = {0};
    const struct store_record *got;

    assert_ok(blob_put(store_blobs(s, ID_A), S("{\"long\":1}"), hash));
    handle = str_of(hash);
    r.n_events = 7;
    r.payloads = &handle;
    r.n_payloads = 1;
    assert_ok(store_append(s, ID_A, 1, fence, &r, 1, NULL));
    append_one(s, ID_A, fence, 8, "history_mutation", "{}");
    assert_ok(store_read(s, ID_A, &(struct store_query){0}, &page));
    assert_int_equal(page.n, 2);
    got = &page.records[0];
    assert_int_equal(got->seq, 1);
    assert_int_equal(got->n_events, 7);
    assert_int_equal(got->unix_ms, 10001);
    assert_str(got->type, "notice");
    assert_str(got->run_id, "run-1");
    assert_int_equal(got->turn, 1);
    assert_int_equal(got->round, 2);
    assert_int_equal(got->attempt, 3);
    assert_false(got->is_core);
    assert_true(str_eq(got->body, r.body));
    assert_true(page.records[1].is_core);
    assert_int_equal(page.records[1].seq, 8);
    assert_false(page.has_more);
}

IN_TASK(records_are_found_by_number_type_and_use)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);

    append_one(s, ID_A, fence, 1, "history_mutation", "{\"n\":1}");
    append_one(s, ID_A, fence, 2, "notice", "{\"n\":2}");
    append_one(s, ID_A, fence, 3, "history_mutation", "{\"n\":3}");
    append_one(s, ID_A, fence, 4, "notice", "{\"n\":4}");
    assert_bodies(s, ID_A, "2:{\"n\":2} 3:{\"n\":3} ", .from = 2, .to = 4);
    assert_bodies(s, ID_A, "1:{\"n\":1} 3:{\"n\":3} ", .core_only = true);
    assert_bodies(s, ID_A, "2:{\"n\":2} 4:{\"n\":4} ", .type = S("notice"));
    assert_bodies(s, ID_A, "4:{\"n\":4} ...", .type = S("notice"), .newest_first = true,
                  .n_max = 1);
    assert_bodies(s, ID_A, "1:{\"n\":1} ...", .n_max = 1);
    assert_bodies(s, ID_A, "1:{\"n\":1} ...", .core_only = true, .n_max = 1);
    assert_bodies(s, ID_A, "3:{\"n\":3} ", .core_only = true, .from = 2, .to = 4);
    assert_bodies(s, ID_A, "", .from = 5);
}

/* It may come all the same. */
IN_TASK(what_nobody_looks_at_may_be_left_out_and_nothing_else_is)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5), last = 0;
    const struct str leaves[] = {S("tool_begin"), S("notice")};
    struct store_query q = {.leaves = leaves, .n_leaves = ARRAY_LEN(leaves)};
    static const char *const types[] = {"history_mutation", "tool_begin", "notice", "tool_state"};

    for (uint64_t seq = 1; seq <= 12; seq++)
        append_one(s, ID_A, fence, seq, types[seq % ARRAY_LEN(types)], "{}");
    for (int core_only = 0; core_only < 2; core_only++) {
        AUTO(store_page) struct store_page page = {0};
        size_t n = 0;

        last = 0;
        q.core_only = core_only;
        assert_ok(store_read(s, ID_A, &q, &page));
        for (size_t i = 0; i < page.n; i++) {
            assert_true(page.records[i].seq > last);
            last = page.records[i].seq;
            n += str_is(page.records[i].type, "history_mutation") ||
                 str_is(page.records[i].type, "tool_state");
        }
        assert_int_equal(n, core_only ? 3 : 6);
    }
}

IN_TASK(a_record_that_spans_several_events_is_found_by_each_of_them)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r = record_of(1, "deltas", "{}");

    r.n_events = 10;
    assert_ok(store_append(s, ID_A, 1, fence, &r, 1, NULL));
    append_one(s, ID_A, fence, 11, "notice", "{\"n\":11}");
    assert_bodies(s, ID_A, "1:{} 11:{\"n\":11} ", .from = 5);
    assert_bodies(s, ID_A, "11:{\"n\":11} ", .from = 11);
}

static inline void read_pages(struct store *s, bool core_only)
{
    uint64_t from = 1;
    bool has_more = true;
    size_t n_pages = 0;

    for (; has_more; n_pages++) {
        AUTO(store_page) struct store_page page = {0};

        assert_ok(store_read(s, ID_A, &(struct store_query){.from = from, .core_only = core_only},
                             &page));
        assert_in_range(page.n, 1, 4);
        assert_int_equal(page.records[0].seq, from);
        from += page.n;
        has_more = page.has_more;
    }
    assert_int_equal(from, 8);
    assert_in_range(n_pages, 2, 7);
}

IN_TASK(a_long_stream_comes_in_pages)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    AUTO(strbuf) struct strbuf body = {0};

    strbuf_add_cstr(&body, "{\"x\":\"");
    for (size_t i = 0; i < STORE_PAGE_BYTES / 3; i++)
        strbuf_add_char(&body, 'x');
    strbuf_add_cstr(&body, "\"}");
    for (uint64_t seq = 1; seq <= 7; seq++)
        append_one(s, ID_A, fence, seq, "history_mutation", strbuf_cstr(&body));
    read_pages(s, /* core_only= */ false);
    read_pages(s, /* core_only= */ true);
}

IN_TASK(a_stream_is_read_backwards_in_pages)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);

    for (uint64_t seq = 1; seq <= 4; seq++)
        append_one(s, ID_A, fence, seq, "notice", seq % 2 ? "{\"odd\":true}" : "{\"odd\":false}");
    assert_bodies(s, ID_A, "4:{\"odd\":false} 3:{\"odd\":true} ...", .newest_first = true,
                  .n_max = 2);
    assert_bodies(s, ID_A, "2:{\"odd\":false} 1:{\"odd\":true} ", .newest_first = true, .n_max = 2,
                  .to = 3);
    assert_bodies(s, ID_A, "3:{\"odd\":true} 2:{\"odd\":false} ", .newest_first = true, .from = 2,
                  .to = 4);
}

IN_TASK(a_body_is_kept_byte_for_byte)
{
    static const char *const bodies[] = {
        "{}",
        "{ }",
        "{\n}",
        "{\"a\": 1,\n \"b\":2}",
        "{\"$body\":\"x\"}",
        "{\"seq\":9,\"check\":\"0\"}",
        "{\"a\":\"\\n\\u0000\\\\\"}",
    };
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    AUTO(store_page) struct store_page page = {0};

    for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
        append_one(s, ID_A, fence, i + 1, "notice", bodies[i]);
    assert_ok(store_read(s, ID_A, &(struct store_query){0}, &page));
    assert_int_equal(page.n, ARRAY_LEN(bodies));
    for (size_t i = 0; i < page.n; i++)
        assert_str(page.records[i].body, bodies[i]);
}

struct one_append {
    struct store *store;
    struct str stream;
    uint64_t fence, seq;
};

static inline struct err *append_in_task(void *arg)
{
    const struct one_append *a = arg;
    struct store_record r = record_of(a->seq, "notice", "{}");

    return store_append(a->store, a->stream, a->seq, a->fence, &r, 1, NULL);
}

IN_TASK(appends_that_wait_together_are_all_made_in_their_order)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(store_page) struct store_page page = {0};
    uint64_t of_a = open_new(s, ID_A, 5), of_b = open_new(s, ID_B, 6);
    struct one_append appends[40];
    struct group g;

    group_begin(&g, 0, 0);
    for (uint64_t i = 0; i < ARRAY_LEN(appends); i++) {
        appends[i] = (struct one_append){s, i % 2 ? ID_A : ID_B, i % 2 ? of_a : of_b, i / 2 + 1};
        group_spawn(&g, "append", append_in_task, &appends[i]);
    }
    assert_ok(group_end(&g));
    assert_ok(store_read(s, ID_A, &(struct store_query){0}, &page));
    assert_int_equal(page.n, 20);
    for (size_t i = 0; i < page.n; i++)
        assert_int_equal(page.records[i].seq, i + 1);
}

IN_TASK(a_wrong_number_appends_nothing)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r = record_of(3, "notice", "{}");

    append_one(s, ID_A, fence, 1, "notice", "{\"n\":1}");
    assert_err(store_append(s, ID_A, 3, fence, &r, 1, NULL), ERR_STORAGE);
    r.seq = 1;
    assert_err(store_append(s, ID_A, 1, fence, &r, 1, NULL), ERR_STORAGE);
    assert_bodies(s, ID_A, "1:{\"n\":1} ", .from = 1);
    append_one(s, ID_A, fence, 2, "notice", "{\"n\":2}");
}

IN_TASK(what_was_appended_soon_is_there_at_once_and_is_synced_later)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r = record_of(1, "notice", "{\"n\":1}");

    assert_ok(store_sync(s)); /* of nothing */
    assert_ok(store_append_soon(s, ID_A, 1, fence, &r, 1, NULL));
    assert_bodies(s, ID_A, "1:{\"n\":1} ", .from = 1);
    assert_ok(store_sync(s));
    append_one(s, ID_A, fence, 2, "notice", "{\"n\":2}");
    r = record_of(3, "notice", "{\"n\":3}");
    assert_ok(store_append_soon(s, ID_A, 3, fence, &r, 1, NULL));
    assert_err(store_append_soon(s, ID_A, 3, fence, &r, 1, NULL), ERR_STORAGE);
    assert_err(store_append_soon(s, ID_A, 4, fence + 1, &r, 1, NULL), ERR_STORAGE);
    append_one(s, ID_A, fence, 4, "notice", "{\"n\":4}");
    assert_ok(store_sync(s));
    assert_ok(store_sync(s));
    assert_bodies(s, ID_A, "1:{\"n\":1} 2:{\"n\":2} 3:{\"n\":3} 4:{\"n\":4} ", .from = 1);
}

IN_TASK(one_writer_a_session)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(arena) struct arena a = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r = record_of(1, "notice", "{}");
    struct store_lease lease;

    assert_err(store_open(s, ID_A, NULL, &a, &lease), ERR_STORAGE);
    store_close(s, ID_A, fence);
    assert_err(store_append(s, ID_A, 1, fence, &r, 1, NULL), ERR_STORAGE);
    assert_ok(store_open(s, ID_A, NULL, &a, &lease));
    assert_false(lease.is_new);
    assert_true(lease.fence > fence);
    assert_err(store_append(s, ID_A, 1, fence, &r, 1, NULL), ERR_STORAGE);
    assert_ok(store_append(s, ID_A, 1, lease.fence, &r, 1, NULL));
    store_close(s, ID_A, fence); /* an old lease gives nothing back */
    assert_err(store_open(s, ID_A, NULL, &a, &lease), ERR_STORAGE);
}

IN_TASK(what_is_not_there_is_said_so)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(arena) struct arena a = {0};
    struct store_summary summary;
    AUTO(store_page) struct store_page page = {0};
    struct store_lease lease;
    bool found;

    assert_err(store_open(s, ID_A, NULL, &a, &lease), ERR_STORAGE);
    assert_err(store_open(s, S("../x"), NULL, &a, &lease), ERR_VALIDATION);
    assert_err(store_read(s, ID_A, &(struct store_query){0}, &page), ERR_STORAGE);
    assert_ok(store_find(s, ID_A, &a, &summary, &found));
    assert_false(found);
    assert_ok(store_remove(s, ID_A));
}

static inline void assert_listed_(struct store *s, const struct store_list_query *q,
                                  const char *want, const char *file, int line)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf got = {0};
    struct store_summary *items;
    size_t n;

    assert_ok(store_list(s, q, &a, &items, &n));
    for (size_t i = 0; i < n; i++)
        strbuf_add_char(&got, items[i].id.p[items[i].id.n - 1]);
    assert_str_(strbuf_str(&got), want, file, line);
}
#define assert_listed(s, want, ...)                                                                \
    assert_listed_((s), &(struct store_list_query){__VA_ARGS__}, (want), __FILE__, __LINE__)

IN_TASK(sessions_are_listed_newest_first_by_directory_and_page)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);

    open_new(s, ID_B, 6);
    open_new(s, ID_C, 7);
    assert_listed(s, "cba", .n_max = 0);
    append_one(s, ID_A, fence, 1, "notice", "{}"); /* at 10001 */
    assert_listed(s, "acb", .n_max = 0);
    assert_ok(store_update(s, &(struct store_summary){.id = ID_B, .cwd = S("/q")}));
    assert_listed(s, "b", .cwd = S("/q"));
    assert_listed(s, "ac", .cwd = S("/p"));
    assert_listed(s, "a", .n_max = 1);
    assert_listed(s, "cb", .before_ms = 10001, .before_id = ID_A);
    assert_listed(s, "b", .before_ms = 7, .before_id = ID_C);
    assert_listed(s, "", .before_ms = 0, .before_id = ID_A); /* behind one without a time */
}

static inline void assert_last_(struct store *s, const char *want, const char *file, int line)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf got = {0};
    const struct str streams[] = {ID_B, ID_C, ID_A}, types[] = {S("rewound"), S("copied")};
    struct store_record found[ARRAY_LEN(streams)];

    assert_ok(store_last(s,
                         &(struct store_last_query){.streams = streams,
                                                    .n_streams = ARRAY_LEN(streams),
                                                    .types = types,
                                                    .n_types = ARRAY_LEN(types)},
                         &a, found));
    for (size_t i = 0; i < ARRAY_LEN(found); i++)
        strbuf_addf(&got, "%llu:%" STR_FMT ":%" STR_FMT " ", (unsigned long long)found[i].seq,
                    STR_ARG(found[i].type), STR_ARG(found[i].body));
    assert_str_(strbuf_str(&got), want, file, line);
}
#define assert_last(s, want) assert_last_((s), (want), __FILE__, __LINE__)

IN_TASK(the_last_record_of_a_run_or_of_some_types_is_found_in_each_stream)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5), fence_b = open_new(s, ID_B, 6);

    assert_last(s, "0:: 0:: 0:: ");
    append_core(s, ID_A, fence, 1, "r", "run_begin", "{\"n\":1}");
    append_core(s, ID_B, fence_b, 1, "", "copied", "{\"n\":9}");
    append_one(s, ID_B, fence_b, 2, "copied", "{\"not\":\"core\"}");
    append_core(s, ID_B, fence_b, 3, "", "checkpoint", "{}");
    assert_last(s, "1:copied:{\"n\":9} 0:: 1:run_begin:{\"n\":1} ");
    for (uint64_t seq = 2; seq < 300; seq++)
        append_core(s, ID_A, fence, seq, "", "tool_state", "{}");
    assert_last(s, "1:copied:{\"n\":9} 0:: 1:run_begin:{\"n\":1} ");
    append_core(s, ID_A, fence, 300, "r", "run_end", "{\"n\":2}");
    append_core(s, ID_A, fence, 301, "", "checkpoint", "{}");
    store_close(s, ID_A, fence);
    assert_last(s, "1:copied:{\"n\":9} 0:: 300:run_end:{\"n\":2} ");
}

IN_TASK(a_summary_is_kept_and_changed)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(arena) struct arena a = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r = record_of(1, "notice", "{}");
    struct store_summary got;
    bool found;

    assert_ok(store_append(s, ID_A, 1, fence, &r, 1,
                           &(struct store_summary){.model = S("m"), .n_messages = 3}));
    assert_ok(store_update(s, &(struct store_summary){.id = ID_A, .name = S("my work")}));
    assert_ok(store_find(s, ID_A, &a, &got, &found));
    assert_true(found);
    assert_str(got.id, "0190a000-0000-7000-8000-00000000000a");
    assert_str(got.cwd, "/p");
    assert_str(got.preview, "hello");
    assert_str(got.model, "m");
    assert_str(got.name, "my work");
    assert_int_equal(got.n_messages, 3);
    assert_int_equal(got.created_ms, 5);
    assert_int_equal(got.updated_ms, 10001);
    assert_int_equal(got.next_seq, 2);
    assert_true(got.n_bytes > 0);
    assert_true(got.is_open);
    assert_true(got.holder.n > 0);
    assert_ok(
        store_update(s, &(struct store_summary){.id = ID_A, .n_messages = STORE_NO_MESSAGES}));
    store_close(s, ID_A, fence);
    assert_ok(store_find(s, ID_A, &a, &got, &found));
    assert_int_equal(got.n_messages, 0);
    assert_false(got.is_open);
    assert_int_equal(got.holder.n, 0);
    assert_listed(s, "a", .name = S("my work"));
    assert_listed(s, "", .name = S("my"));
}

IN_TASK(children_are_hidden_written_and_removed_with_their_root)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(arena) struct arena a = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_summary child = {.id = ID_B, .parent = ID_A, .created_ms = 6}, got;
    struct store_summary grandchild = {.id = ID_C, .parent = ID_B, .created_ms = 7};
    bool found;

    assert_err(store_add_child(s, &child, fence + 1), ERR_STORAGE);
    assert_ok(store_add_child(s, &child, fence));
    assert_ok(store_add_child(s, &grandchild, fence));
    append_one(s, ID_B, fence, 1, "notice", "{\"n\":1}");
    append_one(s, ID_C, fence, 1, "notice", "{}");
    assert_listed(s, "a", .n_max = 0);
    assert_listed(s, "b", .parent = ID_A);
    assert_bodies(s, ID_B, "1:{\"n\":1} ", .from = 1);
    assert_err(store_remove(s, ID_A), ERR_STORAGE); /* it is open */
    assert_err(store_remove(s, ID_C), ERR_STORAGE); /* with its root */
    store_close(s, ID_A, fence);
    assert_ok(store_remove(s, ID_A));
    assert_ok(store_find(s, ID_C, &a, &got, &found));
    assert_false(found);
    assert_listed(s, "", .n_max = 0);
}

static inline const char *message_body(struct arena *a, const char *text)
{
    return arena_format(a,
                        "{\"message\":{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":"
                        "\"%s\"}]}}",
                        text)
        .p;
}

IN_TASK(messages_are_found_by_their_words)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(arena) struct arena a = {0};
    uint64_t fence = open_new(s, ID_A, 5), other = open_new(s, ID_B, 6);
    struct store_hit *hits;
    size_t n;

    append_one(s, ID_A, fence, 1, "history_mutation", message_body(&a, "Fix the Parser of dates"));
    append_one(s, ID_A, fence, 2, "notice", "{\"text\":\"parser\"}");
    append_one(s, ID_B, other, 1, "history_mutation", message_body(&a, "the parser is slow"));
    assert_ok(store_search(s, S("parser"), 10, &a, &hits, &n));
    assert_int_equal(n, 2);
    assert_ok(store_search(s, S("dates PARSER"), 10, &a, &hits, &n));
    assert_int_equal(n, 1);
    assert_true(str_eq(hits[0].session.id, ID_A));
    assert_int_equal(hits[0].seq, 1);
    assert_non_null(strstr(arena_cstr(&a, hits[0].excerpt), "Parser"));
    assert_ok(store_search(s, S("nothing"), 10, &a, &hits, &n));
    assert_int_equal(n, 0);
    assert_ok(store_search(s, S("\"*( OR NEAR"), 10, &a, &hits, &n)); /* words, not a language */
    assert_int_equal(n, 0);
    append_one(s, ID_B, other, 2, "history_mutation", message_body(&a, "later: nothing"));
    assert_ok(store_search(s, S("nothing"), 10, &a, &hits, &n));
    assert_int_equal(n, 1);
    assert_ok(store_rebuild(s));
    assert_ok(store_search(s, S("parser"), 10, &a, &hits, &n));
    assert_int_equal(n, 2);
}

IN_TASK(payloads_are_kept_once_and_go_with_the_last_session_that_has_them)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(strbuf) struct strbuf out = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    char handle[SHA256_HEX_SIZE];
    struct store_record r = record_of(1, "notice", "{}");
    struct str payload;

    assert_ok(blob_put(store_blobs(s, ID_A), S("{\"big\":1}"), handle));
    payload = str_of(handle);
    r.payloads = &payload;
    r.n_payloads = 1;
    assert_ok(store_append(s, ID_A, 1, fence, &r, 1, NULL));
    assert_ok(blob_get(store_blobs(s, ID_A), payload, &out));
    assert_str(strbuf_str(&out), "{\"big\":1}");
}

IN_TASK(what_another_session_refers_to_stays_when_one_is_removed)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(strbuf) struct strbuf out = {0};
    const struct str ids[] = {ID_A, ID_B};
    char handle[SHA256_HEX_SIZE];

    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        uint64_t fence = open_new(s, ids[i], 5);
        struct store_record r = record_of(1, "pre_image", "{}");
        struct str payload;

        assert_ok(blob_put(store_blobs(s, ids[i]), S("shared"), handle));
        payload = str_of(handle);
        r.payloads = &payload;
        r.n_payloads = 1;
        assert_ok(store_append(s, ids[i], 1, fence, &r, 1, NULL));
        store_close(s, ids[i], fence);
    }
    assert_ok(store_remove(s, ID_A));
    assert_ok(blob_get(store_blobs(s, ID_B), str_of(handle), &out));
    assert_str(strbuf_str(&out), "shared");
}

static inline void assert_lacks(struct err *take_error, struct str handle)
{
    AUTO(err) struct err *e = take_error;

    assert_true(err_is(e, ERR_STORAGE));
    assert_true(store_lacks_payload(e, handle));
}

IN_TASK(an_append_that_refers_to_nothing_is_refused_until_the_payload_is_there)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(strbuf) struct strbuf out = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record records[] = {record_of(1, "notice", "{\"n\":1}"),
                                     record_of(2, "pre_image", "{\"n\":2}")};
    char there[SHA256_HEX_SIZE], missing[SHA256_HEX_SIZE];
    struct str handles[2];

    assert_ok(blob_put(store_blobs(s, ID_A), S("it is there"), there));
    sha256_hex(S("it is not"), missing);
    handles[0] = str_of(there);
    handles[1] = str_of(missing);
    records[1].payloads = handles;
    records[1].n_payloads = 2;
    assert_lacks(store_append(s, ID_A, 1, fence, records, 2, NULL), handles[1]);
    assert_bodies(s, ID_A, "", .from = 1);
    assert_ok(blob_put(store_blobs(s, ID_A), S("it is not"), missing));
    assert_ok(store_append(s, ID_A, 1, fence, records, 2, NULL));
    assert_bodies(s, ID_A, "1:{\"n\":1} 2:{\"n\":2} ", .from = 1);
    assert_ok(blob_get(store_blobs(s, ID_A), handles[1], &out));
}

struct referring_append {
    struct store *store;
    struct str stream, handle;
    uint64_t fence;
    struct err *error;
};

static inline struct err *append_reference(void *arg)
{
    struct referring_append *a = arg;
    struct store_record r = record_of(1, "notice", "{}");

    r.payloads = &a->handle;
    r.n_payloads = 1;
    a->error = store_append(a->store, a->stream, 1, a->fence, &r, 1, NULL);
    return NULL;
}

IN_TASK(what_waits_together_with_a_refused_append_is_appended)
{
    AUTO(store) struct store *s = conformance_store();
    char there[SHA256_HEX_SIZE], missing[SHA256_HEX_SIZE];
    struct referring_append appends[2] = {{.store = s, .stream = ID_A},
                                          {.store = s, .stream = ID_B}};
    struct group g;

    appends[0].fence = open_new(s, ID_A, 5);
    appends[1].fence = open_new(s, ID_B, 6);
    sha256_hex(S("nowhere"), missing);
    assert_ok(blob_put(store_blobs(s, ID_B), S("here"), there));
    appends[0].handle = str_of(missing);
    appends[1].handle = str_of(there);
    group_begin(&g, 0, 0);
    for (size_t i = 0; i < ARRAY_LEN(appends); i++)
        group_spawn(&g, "append", append_reference, &appends[i]);
    assert_ok(group_end(&g));
    assert_lacks(appends[0].error, appends[0].handle);
    assert_ok(appends[1].error);
    assert_bodies(s, ID_A, "", .from = 1);
    assert_bodies(s, ID_B, "1:{} ", .from = 1);
}

static inline void assert_size(struct store *s, struct str id, uint64_t next_seq, uint64_t n_bytes)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary got;
    bool found;

    assert_ok(store_find(s, id, &a, &got, &found));
    assert_true(found);
    assert_int_equal(got.next_seq, next_seq);
    assert_true(got.n_bytes >= n_bytes && got.n_bytes < n_bytes + 1000);
}

static inline void assert_updated(struct store *s, struct str id, int64_t unix_ms)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary got;
    bool found;

    assert_ok(store_find(s, id, &a, &got, &found));
    assert_int_equal(got.updated_ms, unix_ms);
}

/* A clock was wrong: such a session would be the newest for ever. */
IN_TASK(a_last_use_that_is_still_to_come_can_be_set_right)
{
    struct store *s = conformance_store(), *again;
    AUTO(arena) struct arena a = {0};
    uint64_t of_a = open_new(s, ID_A, 5), of_b = open_new(s, ID_B, 5);
    struct store_record r = record_of(1, "notice", "{}");
    struct store_lease lease;

    append_one(s, ID_A, of_a, 1, "notice", "{}"); /* at 10001 */
    r.unix_ms = INT64_C(10000000000000);
    assert_ok(store_append(s, ID_B, 1, of_b, &r, 1, NULL));
    store_close(s, ID_B, of_b);
    assert_listed(s, "ba", .n_max = 0);
    assert_ok(store_clamp_times(s, 20000, 15000));
    assert_updated(s, ID_A, 10001);
    assert_updated(s, ID_B, 15000);
    r.unix_ms = 16000;
    r.seq = 2;
    assert_ok(store_append(s, ID_A, 2, of_a, &r, 1, NULL));
    store_close(s, ID_A, of_a);
    assert_listed(s, "ab", .n_max = 0);
    again = conformance_reopen(s);
    if (!again)
        return;
    assert_ok(store_rebuild(again));
    assert_listed(again, "ab", .n_max = 0);
    assert_ok(store_open(again, ID_B, NULL, &a, &lease));
    r.unix_ms = 17000;
    assert_ok(store_append(again, ID_B, 2, lease.fence, &r, 1, NULL));
    store_close(again, ID_B, lease.fence);
    assert_updated(again, ID_B, 17000);
    assert_listed(again, "ba", .n_max = 0);
    store_free(again);
}

static inline void on_conformance_damage(void *self, struct str text)
{
    print_message("%.*s\n", (int)text.n, text.p);
    ++*(size_t *)self;
}

#define assert_whole(s, id)                                                                        \
    do {                                                                                           \
        size_t n_damages_ = 0;                                                                     \
        assert_ok(store_check((s), (id),                                                           \
                              (struct store_damage_sink){on_conformance_damage, &n_damages_}));    \
        assert_int_equal(n_damages_, 0);                                                           \
    } while (0)

/* Stores that keep a sum of what they say of a session change it with what they say. */
IN_TASK(whatever_changes_what_is_said_of_a_session_leaves_it_whole)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(arena) struct arena a = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_summary child = {.id = ID_C, .parent = ID_A, .created_ms = 7, .name = S("below")};
    struct store_summary update = {.id = ID_A,
                                   .name = S("a \"name\", (with) \\ and \xc3\xbc"),
                                   .cwd = S("/elsewhere"),
                                   .model = S("m"),
                                   .provider = S("p"),
                                   .preview = S("\n"),
                                   .updated_ms = 30000,
                                   .n_messages = 3};
    struct store_record r = record_of(1, "notice", "{}");
    struct store_lease lease;

    assert_whole(s, ID_A);
    assert_ok(store_add_child(s, &child, fence));
    assert_whole(s, ID_C);
    assert_ok(store_append(s, ID_C, 1, fence, &r, 1, NULL));
    assert_ok(store_append(s, ID_A, 1, fence, &r, 1, &update));
    assert_whole(s, ID_A);
    update.name = S("other");
    assert_ok(store_update(s, &update));
    assert_whole(s, ID_A);
    assert_ok(store_clamp_times(s, 20000, 15000));
    assert_whole(s, ID_A);
    store_close(s, ID_A, fence);
    assert_whole(s, ID_A);
    assert_whole(s, ID_C);
    assert_ok(store_rebuild(s));
    assert_ok(store_open(s, ID_A, NULL, &a, &lease));
    assert_int_equal(lease.notice.n, 0);
    assert_whole(s, ID_A);
    store_close(s, ID_A, lease.fence);
    assert_whole(s, ID_C);
}

IN_TASK(what_was_believed_of_the_time_is_kept_for_all_who_share_the_store)
{
    struct store *s = conformance_store(), *again;
    struct store_belief b = {.looked_ms = 1, .believed_ms = 1};

    assert_ok(store_read_belief(s, &b));
    assert_int_equal(b.looked_ms, 0);
    assert_int_equal(b.believed_ms, 0);
    assert_ok(store_write_belief(s, &(struct store_belief){-5, 7}));
    assert_ok(store_write_belief(s, &(struct store_belief){-6, INT64_C(10000000000000)}));
    again = conformance_reopen(s);
    if (!again)
        return;
    assert_ok(store_read_belief(again, &b));
    assert_int_equal(b.looked_ms, -6);
    assert_int_equal(b.believed_ms, INT64_C(10000000000000));
    store_free(again);
}

IN_TASK(a_store_knows_what_time_it_is)
{
    AUTO(store) struct store *s = conformance_store();
    int64_t now_ms = 0, here_ms = clock_unix_ms(loop_clock(task_loop()));

    assert_ok(store_now(s, &now_ms));
    assert_true(now_ms > here_ms - 3600000 && now_ms < here_ms + 3600000);
}

/* Of both kinds, and told while it is open, too. */
IN_TASK(a_session_is_as_large_as_its_records_and_their_payloads)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r[2] = {record_of(1, "notice", "{}"), record_of(2, "notice", "{}")};
    struct store_summary child = {.id = ID_B, .parent = ID_A, .created_ms = 6};

    r[0].is_core = true;
    r[0].n_payload_bytes = 100000;
    r[1].is_core = false;
    r[1].n_events = 5;
    assert_ok(store_append(s, ID_A, 1, fence, r, 2, NULL));
    assert_size(s, ID_A, 7, 100004);
    assert_ok(store_add_child(s, &child, fence));
    assert_size(s, ID_B, 1, 0);
    assert_ok(store_append(s, ID_B, 1, fence, r, 1, NULL));
    assert_size(s, ID_B, 2, 100002);
    r[0].seq = 7;
    r[0].unix_ms += 7;
    assert_ok(store_append(s, ID_A, 7, fence, r, 1, NULL));
    assert_size(s, ID_A, 8, 200006);
    store_close(s, ID_A, fence);
    assert_size(s, ID_A, 8, 200006);
    assert_updated(s, ID_A, r[0].unix_ms);
    assert_size(s, ID_B, 2, 100002);
}

IN_TASK(answers_and_results_are_searched_where_they_came)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(arena) struct arena a = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record records[] = {
        record_of(1, "provider_response_raw",
                  "{\"parts\":[{\"type\":\"text\",\"text\":\"the haystack\"}]}"),
        record_of(2, "tool_end",
                  "{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a needle\"}]}}"),
        record_of(3, "history_mutation",
                  "{\"mutation\":\"rewind\",\"message\":{\"content\":\"haystack needle\"}}"),
        record_of(4, "user_input",
                  "{\"message\":{\"role\":\"user\",\"parts\":["
                  "{\"type\":\"context\",\"text\":\"today is a thursday\"},"
                  "{\"type\":\"text\",\"text\":\"hello\"}]}}"),
        record_of(5, "history_mutation",
                  "{\"mutation\":\"append\",\"message\":{\"role\":\"user\",\"parts\":["
                  "{\"type\":\"context\",\"text\":\"the build has failed\"}]}}"),
    };
    struct store_hit *hits;
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(records); i++)
        records[i].is_core = true;
    assert_ok(store_append(s, ID_A, 1, fence, records, ARRAY_LEN(records), NULL));
    assert_ok(store_search(s, S("haystack"), 10, &a, &hits, &n));
    assert_int_equal(n, 1);
    assert_int_equal(hits[0].seq, 1);
    n = 0;
    assert_ok(store_search(s, S("needle"), 10, &a, &hits, &n));
    assert_int_equal(n, 1);
    assert_int_equal(hits[0].seq, 2);
    n = 0;
    assert_ok(store_search(s, S("thursday"), 10, &a, &hits, &n)); /* keel's own words */
    assert_int_equal(n, 0);
    assert_ok(store_search(s, S("hello"), 10, &a, &hits, &n));
    assert_int_equal(n, 1);
    assert_str(hits[0].excerpt, "hello");
    n = 0;
    assert_ok(store_search(s, S("failed"), 10, &a, &hits, &n)); /* what a command has come to */
    assert_int_equal(n, 1);
    assert_int_equal(hits[0].seq, 5);
    store_close(s, ID_A, fence);
}

IN_TASK(what_was_acknowledged_outlives_a_killed_process_and_its_lease_does_not)
{
    struct store *s = conformance_store(), *again;
    AUTO(arena) struct arena a = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r = record_of(3, "notice", "{}");
    struct store_lease lease;

    append_one(s, ID_A, fence, 1, "notice", "{\"n\":1}");
    r = record_of(2, "history_mutation", "{\"n\":2}");
    assert_ok(store_append_soon(s, ID_A, 2, fence, &r, 1, NULL)); /* and was not synced */
    r = record_of(3, "notice", "{}");
    again = conformance_reopen(s);
    if (!again)
        return;
    assert_bodies(again, ID_A, "1:{\"n\":1} 2:{\"n\":2} ", .from = 1);
    assert_ok(store_open(again, ID_A, NULL, &a, &lease));
    assert_int_equal(lease.next_seq, 3);
    assert_true(lease.fence > fence);
    assert_err(store_append(again, ID_A, 3, fence, &r, 1, NULL), ERR_STORAGE);
    assert_ok(store_append(again, ID_A, 3, lease.fence, &r, 1, NULL));
    assert_listed(again, "a", .n_max = 0);
    store_close(again, ID_A, lease.fence);
    store_free(again);
}

#define STORE_CONFORMS                                                                             \
    UNIT(what_was_appended_is_read_back_as_it_was),                                                \
        UNIT(records_are_found_by_number_type_and_use),                                            \
        UNIT(what_nobody_looks_at_may_be_left_out_and_nothing_else_is),                            \
        UNIT(a_record_that_spans_several_events_is_found_by_each_of_them),                         \
        UNIT(a_long_stream_comes_in_pages), UNIT(a_stream_is_read_backwards_in_pages),             \
        UNIT(a_body_is_kept_byte_for_byte),                                                        \
        UNIT(appends_that_wait_together_are_all_made_in_their_order),                              \
        UNIT(a_wrong_number_appends_nothing),                                                      \
        UNIT(what_was_appended_soon_is_there_at_once_and_is_synced_later),                         \
        UNIT(one_writer_a_session), UNIT(what_is_not_there_is_said_so),                            \
        UNIT(whatever_changes_what_is_said_of_a_session_leaves_it_whole),                          \
        UNIT(sessions_are_listed_newest_first_by_directory_and_page),                              \
        UNIT(the_last_record_of_a_run_or_of_some_types_is_found_in_each_stream),                   \
        UNIT(a_summary_is_kept_and_changed),                                                       \
        UNIT(children_are_hidden_written_and_removed_with_their_root),                             \
        UNIT(messages_are_found_by_their_words),                                                   \
        UNIT(payloads_are_kept_once_and_go_with_the_last_session_that_has_them),                   \
        UNIT(what_another_session_refers_to_stays_when_one_is_removed),                            \
        UNIT(an_append_that_refers_to_nothing_is_refused_until_the_payload_is_there),              \
        UNIT(what_waits_together_with_a_refused_append_is_appended),                               \
        UNIT(a_last_use_that_is_still_to_come_can_be_set_right),                                   \
        UNIT(what_was_believed_of_the_time_is_kept_for_all_who_share_the_store),                   \
        UNIT(a_store_knows_what_time_it_is),                                                       \
        UNIT(a_session_is_as_large_as_its_records_and_their_payloads),                             \
        UNIT(answers_and_results_are_searched_where_they_came),                                    \
        UNIT(what_was_acknowledged_outlives_a_killed_process_and_its_lease_does_not)

#endif
