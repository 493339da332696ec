/* files_test.c */
#include "files.h"
#include "store/place_conformance.h"

#include "session/session_record.h"
#include "store/files.h"
#include "store/files_line.h"
#include "store/files_store.h"
#include "store/session_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

static struct temp_dir dir;
static unsigned n_stores;
static char path[512];

static struct store *conformance_store(void)
{
    char name[32];

    if (!n_stores)
        dir = temp_dir_make();
    snprintf(name, sizeof name, "s%u", n_stores++);
    snprintf(path, sizeof path, "%s", temp_path(&dir, name));
    return store_files_new(path);
}

static struct store *conformance_reopen(struct store *take_store)
{
    store_free(take_store);
    return store_files_new(path);
}

static void conformance_time_passes(void)
{
}

static struct store *conformance_again(void)
{
    return store_files_new(path);
}

static const char *conformance_folder(void)
{
    return path;
}

/* In the directory of the store that was made last. */
static const char *in_store(const char *name)
{
    static char paths[4][768];
    static unsigned next;
    char *p = paths[next++ % 4];

    snprintf(p, sizeof paths[0], "%s/%s", path, name);
    return p;
}

#define LOG_A "0190a000-0000-7000-8000-00000000000a.jsonl"

static void make_session(size_t n)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    char body[64];

    for (size_t i = 1; i <= n; i++) {
        snprintf(body, sizeof body, "{\"n\":%zu}", i);
        append_one(s, ID_A, fence, i, "history_mutation", body);
    }
    store_close(s, ID_A, fence);
}

static struct err *open_and_close(struct store *s, struct str id)
{
    AUTO(arena) struct arena a = {0};
    struct store_lease lease;

    TRY(store_open(s, id, NULL, &a, &lease));
    store_close(s, id, lease.fence);
    return NULL;
}

/* --- what stands there --- */

IN_TASK(the_log_is_json_that_others_can_read)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    struct str rest, line, last = {0};
    struct json *v = NULL;

    append_one(s, ID_A, fence, 1, "notice", "{\"text\":\"hello\"}");
    text = read_file(in_store(LOG_A));
    for (rest = strbuf_str(&text); rest.n && str_split(&rest, '\n', &line); last = line)
        assert_ok(json_parse(&a, line, JSON_UNIQUE_KEYS, &v));
    assert_ok(json_parse(&a, last, 0, &v));
    assert_str(json_get_text(v, "timestamp"), "1970-01-01T00:00:10.001Z");
    assert_str(json_get_text(v, "sessionId"), "0190a000-0000-7000-8000-00000000000a");
    assert_str(json_get_text(v, "event"), "notice");
    assert_str(json_get_text(v, "executionId"), "run-1");
    assert_int_equal(json_int_or(json_get(v, "seq"), 0), 1);
    assert_str(json_get_text(v, "text"), "hello");
}

static unsigned mode_of(const char *name)
{
    struct stat st;

    assert_int_equal(stat(in_store(name), &st), 0);
    return st.st_mode & 0777;
}

IN_TASK(only_the_owner_may_look)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    char handle[SHA256_HEX_SIZE], name[192];

    append_one(s, ID_A, fence, 1, "notice", "{}");
    assert_ok(blob_put(store_blobs(s, ID_A), S("{}"), handle));
    assert_ok(session_record_save(s, ID_A));
    assert_int_equal(mode_of(""), 0700);
    assert_int_equal(mode_of(".index"), 0600);
    assert_int_equal(mode_of(LOG_A), 0600);
    assert_int_equal(mode_of("0190a000-0000-7000-8000-00000000000a.json"), 0600);
    assert_int_equal(mode_of("0190a000-0000-7000-8000-00000000000a.payloads"), 0700);
    snprintf(name, sizeof name, "0190a000-0000-7000-8000-00000000000a.payloads/%s.json", handle);
    assert_int_equal(mode_of(name), 0600);
    store_close(s, ID_A, fence);
    assert_ok(store_remove(s, ID_A));
    assert_int_equal(count_entries(path), 3); /* .index, its lock, .locks */
}

IN_TASK(handles_of_payloads_come_back_with_their_record)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(store_page) struct store_page page = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    char hashes[2][SHA256_HEX_SIZE];
    struct str handles[2];
    struct store_record r = record_of(1, "notice", "{}");

    for (size_t i = 0; i < 2; i++) {
        assert_ok(blob_put(store_blobs(s, ID_A), i ? S("a") : S("b"), hashes[i]));
        handles[i] = str_of(hashes[i]);
    }
    r.payloads = handles;
    r.n_payloads = 2;
    assert_ok(store_append(s, ID_A, 1, fence, &r, 1, NULL));
    assert_ok(store_read(s, ID_A, &(struct store_query){0}, &page));
    assert_int_equal(page.records[0].n_payloads, 2);
    assert_str(page.records[0].payloads[1], hashes[1]);
}

TEST(times_and_odd_texts_survive_a_line)
{
    static const int64_t times[] = {0, 999, 1700000000123, -1, 253402300799999, -62167219200000};

    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        AUTO(strbuf) struct strbuf out = {0};
        AUTO(arena) struct arena a = {0};
        struct files_line l = {.record = {.seq = 7,
                                          .n_events = 3,
                                          .unix_ms = times[i],
                                          .type = S("a\"b\n\\"),
                                          .run_id = S("\t"),
                                          .body = S("{\"x\":1}")}},
                          back;

        files_line_write(&out, 0, S("id"), &l);
        strbuf_cut(&out, out.n - 1);
        assert_true(files_line_parse(strbuf_str(&out), &a, &back));
        assert_int_equal(back.record.unix_ms, times[i]);
        assert_true(str_eq(back.record.type, l.record.type));
        assert_true(str_eq(back.record.run_id, l.record.run_id));
        assert_str(files_line_body(&back, &a), "{\"x\":1}");
    }
}

/* --- locks --- */

/* Its child has the lock a little longer than the process itself. */
static void lock_and_die(const char *place, int tell)
{
    int fd;

    if (session_lock_take(place, S("s"), &fd) || fork() != 0)
        _exit(1);
    if (write(tell, "x", 1) == 1)
        poll(NULL, 0, 300);
    _exit(0);
}

TEST(a_lock_that_the_child_of_a_killed_process_still_has_is_waited_for)
{
    struct temp_dir place = temp_dir_make();
    int ends[2], fd;
    pid_t holder;
    char c;

    assert_int_equal(pipe(ends), 0);
    holder = fork();
    if (holder == 0)
        lock_and_die(place.path, ends[1]);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    assert_int_equal(read(ends[0], &c, 1), 1);
    assert_ok(session_lock_take(place.path, S("s"), &fd));
    session_lock_release(place.path, S("s"), fd);
    close(ends[0]);
    close(ends[1]);
    temp_dir_done(&place);
}

/* --- damage --- */

/* How many whole lines are records, and is there more behind the last one? */
static size_t count_records(struct str log, bool *ret_torn)
{
    size_t n = 0, at;

    while ((at = str_find_char(log, '\n')) != STR_NONE) {
        n += str_find(str_slice(log, 0, at), S("\"seq\":")) != STR_NONE;
        log = str_skip(log, at + 1);
    }
    *ret_torn = log.n > 0;
    return n;
}

/* The log is put in place; the store must open it with that many records, say so if it had to cut
 * something, and go on. */
static void assert_opens(struct str log, size_t n_records, bool is_torn)
{
    AUTO(store) struct store *s = store_files_new(path);
    AUTO(arena) struct arena a = {0};
    AUTO(store_page) struct store_page page = {0}, after = {0};
    struct store_lease lease;
    struct store_record r = record_of(n_records + 1, "notice", "{\"after\":true}");

    write_file(in_store(LOG_A), log);
    assert_ok(store_read(s, ID_A, &(struct store_query){0}, &page)); /* without a lease */
    assert_int_equal(page.n, n_records);
    assert_ok(store_open(s, ID_A, NULL, &a, &lease));
    assert_int_equal(lease.next_seq, n_records + 1);
    assert_int_equal(lease.notice.n > 0, is_torn);
    assert_ok(store_append(s, ID_A, r.seq, lease.fence, &r, 1, NULL));
    assert_ok(store_read(s, ID_A, &(struct store_query){0}, &after));
    assert_int_equal(after.n, n_records + 1);
    assert_str(after.records[n_records].body, "{\"after\":true}");
    store_close(s, ID_A, lease.fence);
}

IN_TASK(a_log_that_ends_at_any_byte_is_opened_and_what_was_cut_is_told)
{
    AUTO(strbuf) struct strbuf log = {0};

    make_session(2);
    log = read_file(in_store(LOG_A));
    for (size_t n = 0; n <= log.n; n++) {
        struct str head = str_slice(strbuf_str(&log), 0, n);
        bool is_torn;
        size_t n_records = count_records(head, &is_torn);

        assert_opens(head, n_records, is_torn);
    }
}

static void count_damage(void *self, struct str text)
{
    ++*(size_t *)self;
}

static size_t damages_with(struct str log, struct str more)
{
    AUTO(store) struct store *s = store_files_new(path);
    AUTO(strbuf) struct strbuf all = {0};
    size_t n = 0;

    strbuf_add(&all, log);
    strbuf_add(&all, more);
    write_file(in_store(LOG_A), strbuf_str(&all));
    assert_ok(store_check(s, ID_A, (struct store_damage_sink){count_damage, &n}));
    return n;
}

IN_TASK(a_line_that_a_killed_command_has_begun_is_not_damage_and_anything_else_is)
{
    AUTO(strbuf) struct strbuf log = {0};
    struct str whole, last;

    make_session(2);
    log = read_file(in_store(LOG_A));
    whole = strbuf_str(&log);
    last = str_skip(whole, str_rfind_char(str_slice(whole, 0, whole.n - 1), '\n') + 1);
    for (size_t n = 0; n + 2 < last.n; n++)
        assert_int_equal(damages_with(whole, str_slice(last, 0, n)), 0);
    assert_int_equal(damages_with(whole, str_make("\0\0\0", 3)), 0);
    assert_true(damages_with(whole, last) > 0);
    assert_int_equal(damages_with(whole, S("{}")), 1);
    assert_int_equal(damages_with(whole, S("x")), 1);
    assert_int_equal(damages_with(whole, str_slice(last, 1, 40)), 1);
}

IN_TASK(a_last_record_with_any_byte_changed_is_cut_and_told)
{
    AUTO(strbuf) struct strbuf log = {0};
    size_t last;

    make_session(2);
    log = read_file(in_store(LOG_A));
    last = str_rfind_char(str_slice(strbuf_str(&log), 0, log.n - 1), '\n') + 1;
    for (size_t i = last; i < log.n; i++) {
        char was = log.p[i];

        const char values[] = {was ^ 1, (char)(was ^ 0x80), '\0', was == '\n' ? ' ' : '\n',
                               was == '"' ? '}' : '"'};

        for (size_t k = 0; k < ARRAY_LEN(values); k++) {
            log.p[i] = values[k];
            assert_opens(strbuf_str(&log), 1, true);
        }
        log.p[i] = was;
    }
}

IN_TASK(what_was_cut_is_kept_beside_the_log)
{
    AUTO(strbuf) struct strbuf log = {0};
    AUTO(store) struct store *s = NULL;
    AUTO(arena) struct arena a = {0};
    struct store_lease lease;
    const char *torn;

    make_session(1);
    log = read_file(in_store(LOG_A));
    strbuf_add_cstr(&log, "{\"half");
    write_file(in_store(LOG_A), strbuf_str(&log));
    s = store_files_new(path);
    assert_ok(store_open(s, ID_A, NULL, &a, &lease));
    torn = strstr(arena_cstr(&a, lease.notice), LOG_A ".torn-");
    assert_non_null(torn);
    log.n = 0;
    strbuf_done(&log);
    log = read_file(in_store(arena_cstr(&a, str_slice(str_of(torn), 0, strcspn(torn, " ")))));
    assert_str(strbuf_str(&log), "{\"half");
    store_close(s, ID_A, lease.fence);
    assert_ok(store_remove(s, ID_A));
    assert_int_equal(count_entries(path), 3);
}

IN_TASK(a_session_without_its_first_line_stays_in_its_directory)
{
    AUTO(store) struct store *s = NULL;

    make_session(0);
    s = store_files_new(path);
    write_file(in_store(LOG_A), S("")); /* its process died while it made the log */
    assert_ok(open_and_close(s, ID_A));
    assert_listed(s, "a", .cwd = S("/p"));
    assert_ok(store_rebuild(s));
    assert_listed(s, "a", .cwd = S("/p"));
}

/* The second of four records. */
static void break_the_middle(void)
{
    AUTO(strbuf) struct strbuf log = {0};
    size_t at;

    make_session(4);
    log = read_file(in_store(LOG_A));
    at = str_find(strbuf_str(&log), S("{\"n\":2}"));
    at = at == STR_NONE ? str_find(strbuf_str(&log), S("\"n\":2")) : at;
    assert_true(at != STR_NONE);
    log.p[at + 1] = '#';
    write_file(in_store(LOG_A), strbuf_str(&log));
}

IN_TASK(the_last_record_on_a_broken_line_is_passed_over)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(strbuf) struct strbuf log = {0};
    uint64_t fence = open_new(s, ID_A, 5);

    append_core(s, ID_A, fence, 1, "r", "run_begin", "{}");
    append_core(s, ID_A, fence, 2, "r", "run_end", "{\"n\":2}");
    append_core(s, ID_A, fence, 3, "", "checkpoint", "{}");
    store_close(s, ID_A, fence);
    log = read_file(in_store(LOG_A));
    log.p[str_find(strbuf_str(&log), S("\"n\":2")) + 1] = '#';
    write_file(in_store(LOG_A), strbuf_str(&log));
    assert_last(s, "0:: 0:: 1:run_begin:{} ");
}

IN_TASK(a_broken_line_is_told_with_its_number_and_reading_goes_on_behind_it)
{
    AUTO(store) struct store *s = NULL;
    AUTO(store_page) struct store_page page = {0};
    struct err *e;

    break_the_middle();
    s = store_files_new(path);
    assert_bodies(s, ID_A, "1:{\"n\":1} ...", .from = 1);
    e = store_read(s, ID_A, &(struct store_query){.from = 2}, &page);
    assert_true(err_is(e, ERR_STORAGE));
    assert_non_null(strstr(e->text, "event 2 is damaged: line 4 of "));
    assert_non_null(strstr(e->text, LOG_A));
    err_free(e);
    assert_int_equal(page.go_on_at, 3);
    assert_bodies(s, ID_A, "3:{\"n\":3} 4:{\"n\":4} ", .from = 3);

    assert_bodies(s, ID_A, "4:{\"n\":4} 3:{\"n\":3} ...", .newest_first = true);
    store_page_done(&page);
    assert_err(store_read(s, ID_A, &(struct store_query){.newest_first = true, .to = 3}, &page),
               ERR_STORAGE);
    assert_int_equal(page.go_on_at, 2);
    assert_bodies(s, ID_A, "1:{\"n\":1} ", .newest_first = true, .to = 2);
}

IN_TASK(a_session_with_a_broken_line_is_opened_and_goes_on)
{
    AUTO(store) struct store *s = NULL;
    AUTO(arena) struct arena a = {0};
    struct store_lease lease;

    break_the_middle();
    s = store_files_new(path);
    assert_ok(store_open(s, ID_A, NULL, &a, &lease));
    assert_int_equal(lease.next_seq, 5);
    append_one(s, ID_A, lease.fence, 5, "notice", "{\"n\":5}");
    assert_bodies(s, ID_A, "4:{\"n\":4} 5:{\"n\":5} ", .from = 4);
}

/* --- long logs --- */

IN_TASK(any_record_of_a_long_log_is_found_in_both_directions)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf body = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    size_t n = 600;
    struct store_record *records = ARENA_ARRAY(&a, n, struct store_record);

    for (size_t i = 0; i < n; i++) {
        strbuf_clear(&body);
        strbuf_addf(&body, "{\"n\":%zu,\"x\":\"%*s\"}", i + 1, (int)(i * 37 % 9000), "");
        records[i] = record_of(i + 1, i % 5 ? "notice" : "history_mutation", "");
        records[i].body = arena_str(&a, strbuf_str(&body));
    }
    assert_ok(store_append(s, ID_A, 1, fence, records, n, NULL));
    for (uint64_t seq = 1; seq <= n; seq += 7) {
        AUTO(store_page) struct store_page page = {0}, back = {0};

        assert_ok(store_read(s, ID_A, &(struct store_query){.from = seq, .n_max = 1}, &page));
        assert_int_equal(page.records[0].seq, seq);
        assert_true(str_eq(page.records[0].body, records[seq - 1].body));
        assert_ok(store_read(s, ID_A,
                             &(struct store_query){.to = seq + 1, .n_max = 1, .newest_first = true},
                             &back));
        assert_int_equal(back.records[0].seq, seq);
    }
}

/* --- several at once --- */

IN_TASK(a_name_can_be_given_while_another_has_the_session_open)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(store) struct store *other = store_files_new(path);
    uint64_t fence = open_new(s, ID_A, 5);

    append_one(s, ID_A, fence, 1, "notice", "{\"n\":1}");
    assert_ok(store_update(other, &(struct store_summary){.id = ID_A, .name = S("mine")}));
    append_one(s, ID_A, fence, 2, "notice", "{\"n\":2}");
    assert_listed(s, "a", .name = S("mine"));
    assert_bodies(other, ID_A, "1:{\"n\":1} 2:{\"n\":2} ", .from = 1);
}

IN_TASK(a_name_can_be_given_while_another_process_appends)
{
    AUTO(store) struct store *s = conformance_store();
    struct store_summary named = {.id = ID_A, .name = S("new")};
    struct files_append w = {.is_update = true, .update = &named};
    AUTO(files_state) struct files_state seen = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    bool found, lost;

    files_state_init(&seen, ID_A);
    assert_ok(files_state_load(&seen, path, &found));
    append_one(s, ID_A, fence, 1, "notice", "{}"); /* between reading and locking */
    assert_ok(files_append_all(path, &seen, -1, 9, &w, &lost));
    assert_null(w.error);
    assert_false(lost);
    append_one(s, ID_A, fence, 2, "notice", "{}");
    store_close(s, ID_A, fence);
}

IN_TASK(whoever_lost_the_lease_changes_nothing)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(store) struct store *other = store_files_new(path);
    AUTO(arena) struct arena a = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r = record_of(1, "notice", "{}");
    struct store_lease lease;

    unlink(in_store(".locks/0190a000-0000-7000-8000-00000000000a.lock"));
    assert_ok(store_open(other, ID_A, NULL, &a, &lease));
    assert_err(store_append(s, ID_A, 1, fence, &r, 1, NULL), ERR_STORAGE);
    assert_ok(store_append(other, ID_A, 1, lease.fence, &r, 1, NULL));
    assert_err(store_append(s, ID_A, 2, fence, &r, 1, NULL), ERR_STORAGE);
}

/* --- the list --- */

static void assert_all_listed(void)
{
    AUTO(store) struct store *s = store_files_new(path);
    AUTO(arena) struct arena a = {0};
    struct store_summary got;
    bool found;

    assert_listed(s, "ab", .n_max = 0);
    assert_listed(s, "c", .parent = ID_A);
    assert_ok(store_find(s, ID_A, &a, &got, &found));
    assert_true(found);
    assert_str(got.name, "tab\there");
    assert_int_equal(got.next_seq, 2);
    assert_int_equal(got.created_ms, 5);
}

IN_TASK(the_list_survives_whatever_happens_to_its_file)
{
    AUTO(store) struct store *s = conformance_store();
    AUTO(strbuf) struct strbuf index = {0};
    uint64_t fence = open_new(s, ID_A, 5), other = open_new(s, ID_B, 6);
    struct store_summary child = {.id = ID_C, .parent = ID_A, .created_ms = 6};

    append_one(s, ID_A, fence, 1, "notice", "{}");
    assert_ok(store_add_child(s, &child, fence));
    assert_ok(store_update(s, &(struct store_summary){.id = ID_A, .name = S("tab\there")}));
    store_close(s, ID_A, fence);
    store_close(s, ID_B, other);
    assert_all_listed();
    index = read_file(in_store(".index"));
    for (size_t n = 0; n < index.n; n++) { /* torn at any byte */
        write_file(in_store(".index"), str_slice(strbuf_str(&index), 0, n));
        if (n && index.p[n - 1] == '\n')
            continue; /* whole lines: nobody can tell that there were more */
        assert_all_listed();
    }
    write_file(in_store(".index"), S("something else\n"));
    assert_all_listed();
    unlink(in_store(".index"));
    assert_all_listed();
    write_file(in_store(".index"), S("keel-index 1\n"));
    assert_ok(store_rebuild(s));
    assert_all_listed();
}

IN_TASK(a_killed_writer_is_listed_as_its_log_says)
{
    AUTO(store) struct store *again = NULL;
    AUTO(arena) struct arena a = {0};
    struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_summary got;
    bool found;

    append_one(s, ID_A, fence, 1, "notice", "{}");
    again = conformance_reopen(s);
    assert_ok(store_find(again, ID_A, &a, &got, &found));
    assert_int_equal(got.next_seq, 2);
    assert_int_equal(got.updated_ms, 10001);
    assert_false(got.is_open);
}

#define A_NAME "0190a000-0000-7000-8000-00000000000a"

/* The list is told first, so that no session is there that nobody finds. */
IN_TASK(a_log_that_a_killed_process_did_not_come_to_make_is_forgotten)
{
    AUTO(store) struct store *s = NULL, *again = NULL;
    uint64_t fence;

    make_session(2);
    assert_int_equal(unlink(in_store(LOG_A)), 0);
    /* as it stands there before the log is made: of no byte of it */
    write_file(in_store(".index"),
               S("keel-index 1\n" A_NAME "\t\t" A_NAME "\t\t\t\t\t\t5\t5\t1\t0\t0\t0\n"));
    write_file(in_store(".locks/" A_NAME ".lock"), S("process 1"));
    s = conformance_again();
    assert_listed(s, "", .n_max = 0);
    assert_int_equal(unlink(in_store(".locks/" A_NAME ".lock")), 0);
    again = conformance_again();
    assert_listed(again, "", .n_max = 0);
    fence = open_new(again, ID_A, 7);
    store_close(again, ID_A, fence);
    assert_listed(again, "a", .n_max = 0);
}

/* A link that leads nowhere is in the way of the log, as a failing disk would be. */
IN_TASK(a_session_whose_log_could_not_be_made_is_not_listed)
{
    AUTO(store) struct store *s = conformance_store(), *again = NULL;
    AUTO(arena) struct arena a = {0};
    struct store_summary create = summary_of(ID_A, 5), got;
    struct store_lease lease;
    bool found = true;

    store_close(s, ID_B, open_new(s, ID_B, 6));
    assert_int_equal(symlink("nowhere", in_store(LOG_A)), 0);
    assert_err(store_open(s, ID_A, &create, &a, &lease), ERR_STORAGE);
    assert_int_equal(unlink(in_store(LOG_A)), 0);
    assert_ok(store_find(s, ID_A, &a, &got, &found));
    assert_false(found);
    assert_listed(s, "b", .n_max = 0);
    again = conformance_again();
    assert_listed(again, "b", .n_max = 0);
    store_close(again, ID_A, open_new(again, ID_A, 7));
    assert_listed(again, "ab", .n_max = 0);
}

IN_TASK(a_log_that_was_removed_by_hand_is_missed)
{
    AUTO(store) struct store *s = NULL, *after_a_crash = NULL;

    make_session(2);
    assert_int_equal(unlink(in_store(LOG_A)), 0);
    s = conformance_again();
    assert_listed(s, "a", .n_max = 0);
    write_file(in_store(".locks/" A_NAME ".lock"), S("process 1"));
    after_a_crash = conformance_again();
    assert_listed(after_a_crash, "a", .n_max = 0);
}

IN_TASK(whoever_lost_the_lease_leaves_the_list_alone)
{
    AUTO(store) struct store *s = conformance_store(), *other = conformance_again();
    AUTO(arena) struct arena a = {0};
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_record r = record_of(2, "notice", "{}");
    struct store_summary got;
    struct store_lease lease;
    bool found;

    append_one(s, ID_A, fence, 1, "notice", "{}");
    unlink(in_store(".locks/0190a000-0000-7000-8000-00000000000a.lock"));
    assert_ok(store_open(other, ID_A, NULL, &a, &lease));
    append_one(other, ID_A, lease.fence, 2, "notice", "{}");
    append_one(other, ID_A, lease.fence, 3, "notice", "{}");
    store_close(other, ID_A, lease.fence);
    assert_err(store_append(s, ID_A, 2, fence, &r, 1, NULL), ERR_STORAGE);
    store_close(s, ID_A, fence);
    assert_ok(store_find(other, ID_A, &a, &got, &found));
    assert_int_equal(got.next_seq, 4);
}

/* --- removing --- */

#define ROOT_A "0190a000-0000-7000-8000-00000000000a"
#define CHILD_B "0190a000-0000-7000-8000-00000000000b"
#define REMOVAL_OF_A ".locks/" ROOT_A ".removal"

/* A and B below it, each with a payload. */
static void make_tree(void)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);
    struct store_summary child = {.id = ID_B, .parent = ID_A, .created_ms = 6};
    char handle[SHA256_HEX_SIZE];

    assert_ok(store_add_child(s, &child, fence));
    append_one(s, ID_A, fence, 1, "notice", "{}");
    append_one(s, ID_B, fence, 1, "notice", "{}");
    assert_ok(blob_put(store_blobs(s, ID_A), S("long text"), handle));
    assert_ok(blob_put(store_blobs(s, ID_B), S("other text"), handle));
    store_close(s, ID_A, fence);
}

static void assert_tree_is_gone(struct store *s)
{
    static const char *const names[] = {ROOT_A ".jsonl",  ROOT_A ".json",      ROOT_A ".payloads",
                                        CHILD_B ".jsonl", CHILD_B ".payloads", REMOVAL_OF_A};
    AUTO(arena) struct arena a = {0};
    struct store_summary got;
    bool found;

    assert_listed(s, "", .n_max = 0);
    assert_ok(store_find(s, ID_B, &a, &got, &found));
    assert_false(found);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (access(in_store(names[i]), F_OK) == 0)
            fail_msg("%s is still there", names[i]);
}

IN_TASK(a_delete_that_was_killed_is_finished_by_the_next_list)
{
    AUTO(store) struct store *s = NULL;

    make_tree();
    write_file(in_store(REMOVAL_OF_A), S(CHILD_B "\n" ROOT_A "\n"));
    s = conformance_again();
    assert_tree_is_gone(s);
}

IN_TASK(a_delete_that_was_killed_between_logs_and_payloads_is_finished)
{
    AUTO(store) struct store *s = NULL;

    make_tree();
    write_file(in_store(REMOVAL_OF_A), S(CHILD_B "\n" ROOT_A "\n"));
    assert_int_equal(unlink(in_store(CHILD_B ".jsonl")), 0);
    s = conformance_again();
    assert_err(open_and_close(s, ID_A), ERR_STORAGE);
    assert_tree_is_gone(s);
}

IN_TASK(an_id_can_be_used_again_after_a_delete_that_was_killed)
{
    AUTO(store) struct store *s = NULL;
    uint64_t fence;

    make_tree();
    write_file(in_store(REMOVAL_OF_A), S(CHILD_B "\n" ROOT_A "\n"));
    s = conformance_again();
    fence = open_new(s, ID_A, 7);
    append_one(s, ID_A, fence, 1, "notice", "{\"n\":2}");
    assert_bodies(s, ID_A, "1:{\"n\":2} ", .from = 1);
    store_close(s, ID_A, fence);
    assert_listed(s, "a", .n_max = 0);
}

IN_TASK(a_session_that_is_being_deleted_is_not_listed_and_stays_the_deleters)
{
    AUTO(store) struct store *s = NULL;
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    AUTO(arena) struct arena a = {0};
    struct store_summary got;
    bool found;
    int lock;

    make_tree();
    write_file(in_store(REMOVAL_OF_A), S(CHILD_B "\n" ROOT_A "\n"));
    lock = open(in_store(".locks/" ROOT_A ".lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(fcntl(lock, F_OFD_SETLK, &whole), 0);
    s = conformance_again();
    assert_listed(s, "", .n_max = 0);
    assert_ok(store_find(s, ID_B, &a, &got, &found));
    assert_false(found);
    assert_int_equal(access(in_store(CHILD_B ".jsonl"), F_OK), 0);
    close(lock);
}

static void assert_unreadable(struct store *s, struct str id, const char *why)
{
    AUTO(store_page) struct store_page page = {0};
    AUTO(err) struct err *e = store_read(s, id, &(struct store_query){0}, &page);
    AUTO_FREE char *text = err_message(e);

    assert_non_null(strstr(text, why));
}

IN_TASK(a_session_that_was_deleted_is_gone_and_one_whose_log_was_removed_has_lost_it)
{
    AUTO(store) struct store *s = NULL;

    make_tree();
    s = conformance_again();
    assert_int_equal(unlink(in_store(CHILD_B ".jsonl")), 0);
    assert_unreadable(s, ID_B, "has no log");
    assert_ok(store_remove(s, ID_A));
    assert_unreadable(s, ID_A, "not found");
    assert_unreadable(s, ID_B, "not found");
}

IN_TASK(a_session_whose_deletion_was_killed_behind_its_log_is_gone)
{
    AUTO(store) struct store *s = NULL;

    make_tree();
    s = conformance_again();
    write_file(in_store(REMOVAL_OF_A), S(CHILD_B "\n" ROOT_A "\n"));
    assert_int_equal(unlink(in_store(CHILD_B ".jsonl")), 0);
    assert_unreadable(s, ID_B, "not found");
}

static int remove_dir(void **state)
{
    temp_dir_done(&dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_CONFORMS,
        STORE_SHARES,
        STORE_HAS_A_PLACE,
        UNIT(the_log_is_json_that_others_can_read),
        UNIT(only_the_owner_may_look),
        UNIT(handles_of_payloads_come_back_with_their_record),
        UNIT(times_and_odd_texts_survive_a_line),
        UNIT(a_lock_that_the_child_of_a_killed_process_still_has_is_waited_for),
        UNIT(a_log_that_ends_at_any_byte_is_opened_and_what_was_cut_is_told),
        UNIT(a_line_that_a_killed_command_has_begun_is_not_damage_and_anything_else_is),
        UNIT(a_last_record_with_any_byte_changed_is_cut_and_told),
        UNIT(what_was_cut_is_kept_beside_the_log),
        UNIT(a_session_without_its_first_line_stays_in_its_directory),
        UNIT(the_last_record_on_a_broken_line_is_passed_over),
        UNIT(a_broken_line_is_told_with_its_number_and_reading_goes_on_behind_it),
        UNIT(a_session_with_a_broken_line_is_opened_and_goes_on),
        UNIT(any_record_of_a_long_log_is_found_in_both_directions),
        UNIT(a_name_can_be_given_while_another_has_the_session_open),
        UNIT(a_name_can_be_given_while_another_process_appends),
        UNIT(whoever_lost_the_lease_changes_nothing),
        UNIT(the_list_survives_whatever_happens_to_its_file),
        UNIT(a_killed_writer_is_listed_as_its_log_says),
        UNIT(a_log_that_a_killed_process_did_not_come_to_make_is_forgotten),
        UNIT(a_session_whose_log_could_not_be_made_is_not_listed),
        UNIT(a_log_that_was_removed_by_hand_is_missed),
        UNIT(whoever_lost_the_lease_leaves_the_list_alone),
        UNIT(a_delete_that_was_killed_is_finished_by_the_next_list),
        UNIT(a_delete_that_was_killed_between_logs_and_payloads_is_finished),
        UNIT(an_id_can_be_used_again_after_a_delete_that_was_killed),
        UNIT(a_session_that_is_being_deleted_is_not_listed_and_stays_the_deleters),
        UNIT(a_session_that_was_deleted_is_gone_and_one_whose_log_was_removed_has_lost_it),
        UNIT(a_session_whose_deletion_was_killed_behind_its_log_is_gone),
    };

    /* Thousands of fsyncs: in memory where there is such a place. */
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    return cmocka_run_group_tests(tests, NULL, remove_dir);
}
