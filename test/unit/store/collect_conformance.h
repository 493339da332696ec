/* collect_conformance.h - what a store must do whose sessions share payloads: one goes an hour
 * after nothing refers to it any more, and never while somebody is about to refer to it. Adapters'
 * tests list STORE_COLLECTS and define conformance_hours_pass(): in the store that was made last it
 * is hours since payloads were put or lost a reference. */
#ifndef KEEL_TEST_UNIT_STORE_COLLECT_CONFORMANCE_H
#define KEEL_TEST_UNIT_STORE_COLLECT_CONFORMANCE_H

#include "store/shared_conformance.h"

static void conformance_hours_pass(void);

/* A session with one record, which refers to the payload; it is closed. */
static inline void refer_to(struct store *s, struct str id, struct str payload)
{
    uint64_t fence = open_new(s, id, 5);
    struct store_record r = record_of(1, "notice", "{}");
    char handle[SHA256_HEX_SIZE];
    struct str h;

    assert_ok(blob_put(store_blobs(s, id), payload, handle));
    h = str_of(handle);
    r.payloads = &h;
    r.n_payloads = 1;
    assert_ok(store_append(s, id, 1, fence, &r, 1, NULL));
    store_close(s, id, fence);
}

static inline bool has_payload(struct store *s, struct str id, struct str payload)
{
    char handle[SHA256_HEX_SIZE];
    uint64_t n_bytes;
    struct err *e;

    sha256_hex(payload, handle);
    e = blob_size(store_blobs(s, id), str_of(handle), &n_bytes);
    err_free(e);
    return !e;
}

IN_TASK(a_payload_goes_an_hour_after_its_last_reference)
{
    AUTO(store) struct store *s = conformance_store();

    refer_to(s, ID_A, S("shared"));
    refer_to(s, ID_B, S("shared"));
    assert_ok(store_remove(s, ID_A));
    conformance_hours_pass();
    assert_ok(store_sweep(s));
    assert_true(has_payload(s, ID_B, S("shared")));
    assert_ok(store_remove(s, ID_B)); /* sweeps, too */
    assert_true(has_payload(s, ID_B, S("shared")));
    conformance_hours_pass();
    assert_ok(store_sweep(s));
    assert_false(has_payload(s, ID_B, S("shared")));
}

IN_TASK(a_payload_that_was_needed_again_gets_its_hour_again)
{
    AUTO(store) struct store *s = conformance_store();

    refer_to(s, ID_A, S("shared"));
    assert_ok(store_remove(s, ID_A));
    refer_to(s, ID_B, S("shared"));
    conformance_hours_pass();
    assert_ok(store_remove(s, ID_B));
    assert_true(has_payload(s, ID_B, S("shared")));
}

IN_TASK(thousands_of_payloads_go_in_one_sweep)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r = record_of(1, "notice", "{}");
    char handles[1000][SHA256_HEX_SIZE];
    struct str list[1000];
    uint64_t n_bytes;

    for (unsigned i = 0; i < ARRAY_LEN(list); i++) {
        assert_ok(blob_put_soon(store_blobs(s, ID_A), str_make((char *)&i, sizeof i), handles[i]));
        list[i] = str_of(handles[i]);
    }
    r.payloads = list;
    r.n_payloads = ARRAY_LEN(list);
    assert_ok(store_append(s, ID_A, 1, fence, &r, 1, NULL));
    store_close(s, ID_A, fence);
    assert_ok(store_remove(s, ID_A));
    conformance_hours_pass();
    assert_ok(store_sweep(s));
    for (unsigned i = 0; i < ARRAY_LEN(list); i++)
        assert_err(blob_size(store_blobs(s, ID_A), list[i], &n_bytes), ERR_STORAGE);
}

IN_TASK(a_payload_that_is_put_again_outlives_the_sweep_before_the_append)
{
    AUTO(store) struct store *s = conformance_store(), *other = conformance_again();
    uint64_t fence;
    struct store_record r = record_of(1, "notice", "{}");
    char handle[SHA256_HEX_SIZE];
    struct str h;

    refer_to(s, ID_A, S("the same words"));
    assert_ok(store_remove(s, ID_A));
    conformance_hours_pass();
    fence = open_new(s, ID_B, 5);
    assert_ok(blob_put_soon(store_blobs(s, ID_B), S("the same words"), handle));
    assert_ok(store_sweep(other));
    h = str_of(handle);
    r.payloads = &h;
    r.n_payloads = 1;
    assert_ok(store_append(s, ID_B, 1, fence, &r, 1, NULL));
    assert_true(has_payload(s, ID_B, S("the same words")));
    conformance_hours_pass();
    assert_ok(store_sweep(other));
    assert_true(has_payload(s, ID_B, S("the same words")));
}

/* --- writers and sweepers at once --- */

#define N_ROUNDS 25

static inline struct err *sweep_again_and_again(void *arg)
{
    AUTO(store) struct store *s = conformance_again();

    for (unsigned i = 0; i < N_ROUNDS; i++) {
        conformance_hours_pass();
        TRY(store_sweep(s));
    }
    return NULL;
}

/* As the journal does: what is not there any more is put again. */
static inline struct err *put_and_refer(struct store *s, struct str id, uint64_t fence)
{
    struct store_record r = record_of(1, "notice", "{}");
    char handle[SHA256_HEX_SIZE];
    struct str h = str_make(handle, SHA256_HEX_SIZE - 1);
    struct err *e = NULL;

    r.payloads = &h;
    r.n_payloads = 1;
    do {
        err_free(e);
        TRY(blob_put(store_blobs(s, id), S("the same words"), handle));
        e = store_append(s, id, 1, fence, &r, 1, NULL);
    } while (store_lacks_payload(e, h));
    return e;
}

static inline struct err *refer_again_and_again(void *arg)
{
    AUTO(store) struct store *s = conformance_again();
    AUTO(arena) struct arena a = {0};

    for (unsigned i = 0; i < 4 * N_ROUNDS; i++) {
        struct str id = arena_format(&a, "writer-%ld-%u", (long)getpid(), i);
        struct store_summary create = summary_of(id, 5);
        struct store_lease lease;

        TRY(store_open(s, id, &create, &a, &lease));
        TRY(put_and_refer(s, id, lease.fence));
        if (!has_payload(s, id, S("the same words")))
            return err_new(ERR_INTERNAL, "round %u: a record refers to nothing", i);
        store_close(s, id, lease.fence);
        TRY(store_remove(s, id));
    }
    return NULL;
}

static inline struct err *make_store_in_task(void *arg)
{
    AUTO(store) struct store *s = conformance_store();

    refer_to(s, ID_A, S("other words")); /* the tables are there */
    return NULL;
}

TEST(no_payload_is_removed_under_a_writer)
{
    pid_t pids[3];

    assert_ok(loop_run_once(make_store_in_task, NULL));
    pids[0] = start_process(sweep_again_and_again, NULL);
    for (unsigned i = 1; i < ARRAY_LEN(pids); i++)
        pids[i] = start_process(refer_again_and_again, NULL);
    for (unsigned i = 0; i < ARRAY_LEN(pids); i++)
        assert_ends_well(pids[i]);
}

#define STORE_COLLECTS                                                                             \
    UNIT(a_payload_goes_an_hour_after_its_last_reference),                                         \
        UNIT(a_payload_that_was_needed_again_gets_its_hour_again),                                 \
        UNIT(thousands_of_payloads_go_in_one_sweep),                                               \
        UNIT(a_payload_that_is_put_again_outlives_the_sweep_before_the_append),                    \
        UNIT(no_payload_is_removed_under_a_writer)

#endif
