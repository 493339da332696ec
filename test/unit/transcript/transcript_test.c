/* transcript_test.c - sessions with children, damage and secrets, written and read again. */
#include "session/stage.h"
#include "sys/in_task.h"

#include "session/codec/codec.h"
#include "transcript/import_save.h"
#include "transcript/transcript.h"

#define TALK "turns: [{text: 'the answer'}]"

struct sink {
    struct strbuf text;
    size_t n_broken, n_pieces;
};

static struct err *take(void *self, struct str text)
{
    struct sink *s = self;

    s->n_pieces++;
    strbuf_add(&s->text, text);
    return NULL;
}

static void note_broken(void *self, const struct err *e)
{
    ((struct sink *)self)->n_broken++;
}

static struct err *write_text(struct store *store, const char *id, enum transcript_form form,
                              const struct secrets *secrets, struct sink *s)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary summary;
    bool found;

    assert_ok(store_find(store, str_of(id), &a, &summary, &found));
    assert_true(found);
    return transcript_write(&(struct transcript){.store = store,
                                                 .session = &summary,
                                                 .form = form,
                                                 .secrets = secrets,
                                                 .write = take,
                                                 .on_broken = note_broken,
                                                 .self = s});
}

/* The text of a session in that form; the caller frees it. */
static char *text_of(struct store *store, const char *id, enum transcript_form form,
                     const struct secrets *secrets)
{
    struct sink s = {0};

    assert_ok(write_text(store, id, form, secrets, &s));
    assert_int_equal(s.n_broken, 0);
    return strbuf_take(&s.text);
}

static bool holds(const char *text, const char *piece)
{
    return strstr(text, piece) != NULL;
}

static size_t place_of(const char *text, const char *piece)
{
    const char *found = strstr(text, piece);

    if (!found)
        print_error("no \"%s\" in:\n%.2000s\n", piece, text);
    assert_non_null(found);
    return (size_t)(found - text);
}

/* --- a tree out of a file, and into one --- */

#define SAID(session, more, text)                                                                  \
    "{\"timestamp\":\"2026-01-02T03:04:05Z\",\"event\":\"history_mutation\",\"sessionId\":"        \
    "\"" session "\"," more "\"message\":{\"role\":\"user\",\"content\":\"" text "\"}}\n"
#define TREE                                                                                       \
    SAID("root", "", "of the root")                                                                \
    SAID("child", "\"parentSessionId\":\"root\",", "of the child")                                 \
    SAID("grandchild", "\"parentSessionId\":\"child\",", "of the grandchild")

static struct err *save(struct store *store, const char *text, const struct secrets *secrets,
                        struct saved_session *saved)
{
    AUTO(import) struct import i;
    uint64_t found;

    assert_ok(import_read_text(&i, str_of(text), &(struct import_options){.name = "in"}));
    return import_save(
        &i, &(struct import_place){.store = store, .cwd = S("/here"), .secrets = secrets}, saved,
        &found);
}

IN_TASK(a_tree_is_written_with_every_child_after_its_parent)
{
    static const enum transcript_form forms[] = {TRANSCRIPT_JSONL, TRANSCRIPT_JSON,
                                                 TRANSCRIPT_MARKDOWN, TRANSCRIPT_HTML};
    AUTO(store) struct store *store = store_memory_new();
    struct saved_session saved[3];

    assert_ok(save(store, TREE, NULL, saved));
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        AUTO_FREE char *text = text_of(store, "root", forms[i], NULL);

        assert_true(place_of(text, "of the root") < place_of(text, "of the child"));
        assert_true(place_of(text, "of the child") < place_of(text, "of the grandchild"));
    }
}

IN_TASK(a_tree_comes_back_as_a_tree)
{
    AUTO(arena) struct arena a = {0};
    AUTO(store) struct store *store = store_memory_new();
    AUTO(store) struct store *other = store_memory_new();
    AUTO_FREE char *text = NULL;
    struct saved_session saved[3];
    struct store_summary s;
    bool found;

    assert_ok(save(store, TREE, NULL, saved));
    text = text_of(store, "root", TRANSCRIPT_JSON, NULL);
    assert_ok(save(other, text, NULL, saved));
    assert_ok(store_find(other, S("grandchild"), &a, &s, &found));
    assert_true(found);
    assert_str(s.parent, "child");
    assert_str(s.cwd, "/here");
    assert_str(s.preview, "of the grandchild");
    assert_int_equal(s.n_messages, 1);
    assert_int_equal(s.updated_ms, 1767323045000);
}

IN_TASK(an_id_that_is_taken_gives_way_in_the_whole_tree)
{
    AUTO(arena) struct arena a = {0};
    AUTO(store) struct store *store = store_memory_new();
    AUTO(import) struct import i;
    struct saved_session saved[3];
    struct store_summary s;
    uint64_t names;
    bool found;

    assert_ok(save(store, TREE, NULL, saved));
    assert_ok(import_read_text(&i, S(TREE), &(struct import_options){.name = "in"}));
    assert_ok(import_save(&i, &(struct import_place){.store = store}, saved, &names));
    for (size_t k = 0; k < 3; k++)
        assert_true(saved[k].has_new_id);
    assert_ok(store_find(store, saved[2].id, &a, &s, &found));
    assert_true(found);
    assert_true(str_eq(s.parent, saved[1].id));
}

/* --- what must not be seen --- */

IN_TASK(a_known_credential_stands_in_no_form)
{
    static const enum transcript_form forms[] = {TRANSCRIPT_JSONL, TRANSCRIPT_JSON,
                                                 TRANSCRIPT_MARKDOWN, TRANSCRIPT_HTML};
    struct secret_value value = {S("KEY"), S("sk-\"secret\"-4711")};
    AUTO(secrets) struct secrets *secrets = secrets_new(&value, 1);
    AUTO(stage) struct stage st = {0};

    stage_open(&st, &(struct session_options){.start = SESSION_NEW, .id = S("s")});
    stage_run(&st, "turns: [{text: 'your key is sk-\"secret\"-4711'}]", "mine: sk-\"secret\"-4711");
    stage_close(&st);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        AUTO_FREE char *text = text_of(st.store, "s", forms[i], secrets);

        assert_false(holds(text, "4711"));
        assert_true(holds(text, "REDACTED"));
    }
}

IN_TASK(a_credential_in_a_file_does_not_get_into_the_store)
{
    struct secret_value value = {S("KEY"), S("sk-secret-4711")};
    AUTO(secrets) struct secrets *secrets = secrets_new(&value, 1);
    AUTO(store) struct store *store = store_memory_new();
    AUTO_FREE char *text = NULL;
    struct saved_session saved[1];

    assert_ok(save(store, SAID("s", "", "it is sk-secret-4711"), secrets, saved));
    text = text_of(store, "s", TRANSCRIPT_JSONL, NULL);
    assert_false(holds(text, "4711"));
}

/* --- a run --- */

IN_TASK(a_failed_run_and_its_error_are_told)
{
    AUTO(stage) struct stage st = {0};
    AUTO_FREE char *text = NULL;

    stage_open(&st, &(struct session_options){.start = SESSION_NEW, .id = S("s")});
    stage_run(&st, "turns: [{error: provider_error, message: it broke}]", "go");
    stage_close(&st);
    text = text_of(st.store, "s", TRANSCRIPT_MARKDOWN, NULL);
    assert_true(holds(text, "## go\n"));
    assert_true(holds(text, "**Error:** *"));
}

IN_TASK(a_record_that_is_damaged_is_told_and_the_rest_is_written)
{
    AUTO(arena) struct arena a = {0};
    AUTO(stage) struct stage st = {0};
    struct store_record bad = {
        .seq = 1, .n_events = 1, .type = S("history_mutation"), .body = S("{}")};
    struct sink s = {0};
    struct store_lease lease;

    stage_open(&st, &(struct session_options){.start = SESSION_NEW, .id = S("s")});
    stage_run(&st, TALK, "go");
    stage_close(&st);
    assert_ok(store_open(st.store, S("s"), NULL, &a, &lease));
    bad.seq = lease.next_seq;
    assert_ok(store_append(st.store, S("s"), bad.seq, lease.fence, &bad, 1, NULL));
    store_close(st.store, S("s"), lease.fence);
    assert_ok(write_text(st.store, "s", TRANSCRIPT_MARKDOWN, NULL, &s));
    assert_int_equal(s.n_broken, 1);
    assert_true(holds(strbuf_cstr(&s.text), "the answer"));
    strbuf_done(&s.text);
}

IN_TASK(an_imported_session_goes_on)
{
    AUTO(stage) struct stage st = {0};
    AUTO_FREE char *text = NULL;
    struct saved_session saved[1];

    stage_open(&st, &(struct session_options){.start = SESSION_NEW, .id = S("other")});
    assert_ok(save(st.store, SAID("s", "", "the beginning"), NULL, saved));
    stage_close(&st);
    stage_open(&st, &(struct session_options){.start = SESSION_RESUME, .id = S("s")});
    assert_int_equal(st.session.conversation.history.n_messages, 1);
    stage_run(&st, TALK, "go on");
    stage_close(&st);
    text = text_of(st.store, "s", TRANSCRIPT_MARKDOWN, NULL);
    assert_true(place_of(text, "## the beginning") < place_of(text, "## go on"));
    assert_true(place_of(text, "## go on") < place_of(text, "the answer"));
}

/* --- nothing is half there --- */

static struct err *full(struct store *s, struct str stream, uint64_t expected_seq, uint64_t fence,
                        const struct store_record *records, size_t n,
                        const struct store_summary *update)
{
    return err_new(ERR_STORAGE, "the disk is full");
}

IN_TASK(a_session_that_could_not_be_written_is_not_there)
{
    AUTO(arena) struct arena a = {0};
    AUTO(store) struct store *store = store_memory_new();
    const struct store_ops *good = store->ops;
    struct store_ops bad = *good;
    struct saved_session saved[3];
    struct store_summary s;
    bool found;

    bad.append = full;
    store->ops = &bad;
    assert_err(save(store, TREE, NULL, saved), ERR_STORAGE);
    store->ops = good;
    assert_ok(store_find(store, S("root"), &a, &s, &found));
    assert_false(found);
    assert_ok(save(store, TREE, NULL, saved));
}

RUN_TESTS(UNIT(a_tree_is_written_with_every_child_after_its_parent),
          UNIT(a_tree_comes_back_as_a_tree), UNIT(an_id_that_is_taken_gives_way_in_the_whole_tree),
          UNIT(a_known_credential_stands_in_no_form),
          UNIT(a_credential_in_a_file_does_not_get_into_the_store),
          UNIT(a_failed_run_and_its_error_are_told),
          UNIT(a_record_that_is_damaged_is_told_and_the_rest_is_written),
          UNIT(an_imported_session_goes_on), UNIT(a_session_that_could_not_be_written_is_not_there))
