/* place_conformance.h - what a store must do that keeps its sessions in a directory of this
 * machine, when nothing can be written there. Adapters' tests list STORE_HAS_A_PLACE and define
 * conformance_folder(): the directory of the store that was made last. */
#ifndef KEEL_TEST_UNIT_STORE_PLACE_CONFORMANCE_H
#define KEEL_TEST_UNIT_STORE_PLACE_CONFORMANCE_H

#include "own_mounts.h"
#include "store/shared_conformance.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *conformance_folder(void);

static inline struct err *open_again(struct store *s)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary create = summary_of(ID_B, 5);
    struct store_lease lease;

    return store_open(s, ID_B, &create, &a, &lease);
}

/* --- places where nothing can be written --- */

/* The process becomes nobody if it is root: for root nothing is read-only. */
static inline struct err *become_nobody(void)
{
    if (getuid() == 0 && (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0))
        return err_new(ERR_INTERNAL, "cannot become nobody");
    return NULL;
}

static inline struct err *want_advice(struct err *take_error)
{
    AUTO(err) struct err *e = take_error;
    const char *hint = e ? err_find_hint(e) : NULL;

    if (err_is(e, ERR_STORAGE) && hint && strstr(hint, "check its permissions"))
        return NULL;
    return err_new(ERR_INTERNAL, "the error is \"%s\", the hint \"%s\"", e ? e->text : "none",
                   hint ? hint : "none");
}

static inline struct err *write_where_it_is_forbidden(void *arg)
{
    AUTO(store) struct store *s = NULL;

    TRY(become_nobody());
    s = conformance_again();
    return want_advice(open_again(s));
}

/* Everybody may go there. */
static inline void make_folder(mode_t mode)
{
    char above[4096];

    snprintf(above, sizeof above, "%s", conformance_folder());
    *strrchr(above, '/') = '\0';
    assert_int_equal(chmod(above, 0755), 0);
    assert_int_equal(mkdir(conformance_folder(), mode), 0);
}

TEST(a_directory_that_may_not_be_written_is_told)
{
    store_free(conformance_store());
    make_folder(0555);
    assert_ends_well(start_process(write_where_it_is_forbidden, NULL));
}

/* --- a full disk --- */

static const char filler[] = "filler";

static inline void fill_disk(void)
{
    AUTO_FREE char *block = mem_alloc(4096);
    char name[4200];
    FILE *file;

    snprintf(name, sizeof name, "%s/%s", conformance_folder(), filler);
    file = fopen(name, "wb");
    setvbuf(file, NULL, _IONBF, 0);
    while (fwrite(block, 1, 4096, file) == 4096)
        ;
    fclose(file);
}

static inline struct err *append_some(struct store *s, uint64_t fence, uint64_t *next_seq, size_t n)
{
    AUTO(strbuf) struct strbuf body = {0};

    strbuf_addf(&body, "{\"x\":\"%3000s\"}", "");
    for (size_t i = 0; i < n; i++) {
        struct store_record r = record_of(*next_seq, "notice", strbuf_cstr(&body));

        TRY(store_append(s, ID_A, *next_seq, fence, &r, 1, NULL));
        ++*next_seq;
    }
    return NULL;
}

static inline struct err *count(struct store *s, uint64_t want)
{
    AUTO(store_page) struct store_page page = {0};

    TRY(store_read(s, ID_A, &(struct store_query){0}, &page));
    if (page.n == want)
        return NULL;
    return err_new(ERR_INTERNAL, "%zu records instead of %llu", page.n, (unsigned long long)want);
}

static inline void make_room(void)
{
    char name[4200];

    snprintf(name, sizeof name, "%s/%s", conformance_folder(), filler);
    unlink(name);
}

static inline struct err *mount_small_disk(void)
{
    if (mount("tmpfs", conformance_folder(), "tmpfs", 0, "size=2m") < 0)
        return err_new(ERR_INTERNAL, "cannot mount a small disk");
    return NULL;
}

static inline struct err *live_on_a_full_disk(void *arg)
{
    AUTO(store) struct store *s = conformance_again();
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = NULL;
    struct store_summary create = summary_of(ID_A, 5);
    struct store_lease lease;
    uint64_t next_seq = 1;

    TRY(mount_small_disk());
    TRY(store_open(s, ID_A, &create, &a, &lease));
    TRY(append_some(s, lease.fence, &next_seq, 5));
    fill_disk();
    e = append_some(s, lease.fence, &next_seq, 1000);
    if (!e || !err_find_hint(e) || !strstr(err_find_hint(e), "free some"))
        return err_new(ERR_INTERNAL, "a full disk is not told: %s", e ? e->text : "no error");
    TRY(count(s, next_seq - 1));
    make_room();
    TRY(append_some(s, lease.fence, &next_seq, 5));
    return count(s, next_seq - 1);
}

/* --- removing where there is no room --- */

/* A record that refers to a text of `n` of these letters, in a session that stays open. */
static inline struct err *add_payload(struct store *s, struct str id, uint64_t fence, uint64_t seq,
                                      char letter, size_t n)
{
    AUTO_FREE char *text = mem_alloc(n);
    struct store_record r = record_of(seq, "notice", "{}");
    char handle[SHA256_HEX_SIZE];
    struct str h;

    memset(text, letter, n);
    TRY(blob_put(store_blobs(s, id), str_make(text, n), handle));
    h = str_of(handle);
    r.payloads = &h;
    r.n_payloads = 1;
    return store_append(s, id, seq, fence, &r, 1, NULL);
}

static inline bool has_letters(struct store *s, struct str id, char letter, size_t n)
{
    AUTO_FREE char *text = mem_alloc(n);
    char handle[SHA256_HEX_SIZE];
    uint64_t n_bytes;
    struct err *e;

    memset(text, letter, n);
    sha256_hex(str_make(text, n), handle);
    e = blob_size(store_blobs(s, id), str_of(handle), &n_bytes);
    err_free(e);
    return !e;
}

static inline struct err *want_gone(struct store *s, struct str id, bool is_gone)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary summary, *items = NULL;
    size_t n = 0;
    bool found, is_listed = false;

    TRY(store_find(s, id, &a, &summary, &found));
    TRY(store_list(s, &(struct store_list_query){.n_max = 1}, &a, &items, &n));
    for (size_t i = 0; i < n; i++)
        is_listed |= str_eq(items[i].id, id);
    TRY(store_list(s, &(struct store_list_query){.parent = ID_A}, &a, &items, &n));
    for (size_t i = 0; i < n; i++)
        is_listed |= str_eq(items[i].id, id);
    if (found == is_gone || is_listed == is_gone)
        return err_new(ERR_INTERNAL, "%" STR_FMT " is%s found and is%s listed", STR_ARG(id),
                       found ? "" : " not", is_listed ? "" : " not");
    return NULL;
}

enum { SHARED_BYTES = 100 << 10, OWN_BYTES = 300 << 10 };

/* A with a child, C, and payloads; B has one of them, too, and is older. */
static inline struct err *make_two_sessions(struct store *s)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary create = summary_of(ID_A, 9), other = summary_of(ID_B, 5),
                         child = summary_of(ID_C, 9);
    struct store_lease lease;
    uint64_t next_seq = 1;

    TRY(store_open(s, ID_B, &other, &a, &lease));
    TRY(add_payload(s, ID_B, lease.fence, 1, 's', SHARED_BYTES));
    store_close(s, ID_B, lease.fence);
    TRY(store_open(s, ID_A, &create, &a, &lease));
    TRY(append_some(s, lease.fence, &next_seq, 20));
    TRY(add_payload(s, ID_A, lease.fence, 21, 's', SHARED_BYTES));
    TRY(add_payload(s, ID_A, lease.fence, 22, 'o', OWN_BYTES));
    child.parent = ID_A;
    TRY(store_add_child(s, &child, lease.fence));
    store_close(s, ID_A, lease.fence);
    return NULL;
}

static inline struct err *remove_on_a_full_disk(void *arg)
{
    AUTO(store) struct store *s = conformance_again(), *later = NULL;

    TRY(mount_small_disk());
    TRY(make_two_sessions(s));
    TRY(want_gone(s, ID_A, false));
    TRY(want_gone(s, ID_C, false));
    fill_disk();
    TRY(store_remove(s, ID_A));
    later = conformance_again();
    TRY(want_gone(later, ID_A, true));
    TRY(want_gone(later, ID_C, true));
    TRY(want_gone(later, ID_B, false));
    if (!has_letters(later, ID_B, 's', SHARED_BYTES))
        return err_new(ERR_INTERNAL, "the other session has lost its payload");
    if (has_letters(later, ID_A, 'o', OWN_BYTES))
        return err_new(ERR_INTERNAL, "there is no more room than before");
    return NULL;
}

static inline struct err *remove_one_without_payloads(void *arg)
{
    AUTO(store) struct store *s = conformance_again(), *later = NULL;
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *full = NULL;
    struct store_summary create = summary_of(ID_A, 9), other = summary_of(ID_B, 5);
    struct store_lease lease;
    uint64_t next_seq = 1;

    TRY(mount_small_disk());
    TRY(store_open(s, ID_B, &other, &a, &lease));
    store_close(s, ID_B, lease.fence);
    TRY(store_open(s, ID_A, &create, &a, &lease));
    TRY(append_some(s, lease.fence, &next_seq, 20));
    store_close(s, ID_A, lease.fence);
    store_free(TAKE(s));
    fill_disk();
    s = conformance_again();
    TRY(store_remove(s, ID_A));
    TRY(want_gone(s, ID_A, true));
    fill_disk();
    later = conformance_again();
    TRY(want_gone(later, ID_A, true));
    TRY(want_gone(later, ID_B, false));
    TRY(store_remove(later, ID_A));                      /* once more, and what is not there */
    full = store_open(later, ID_A, &create, &a, &lease); /* a log may have room that it keeps */
    make_room();
    if (full)
        TRY(store_open(later, ID_A, &create, &a, &lease));
    if (!lease.is_new || lease.next_seq != 1)
        return err_new(ERR_INTERNAL, "it has come back");
    return NULL;
}

static inline struct err *told(struct err *take_error)
{
    if (take_error)
        print_message("%s\n", take_error->text);
    return take_error;
}

/* In a process that has a mount of its own. */
static inline void run_on_a_small_disk(task_fn fn)
{
    pid_t pid;

    store_free(conformance_store());
    make_folder(0700);
    pid = fork();
    if (pid == 0) {
        if (!own_mounts())
            _exit(77);
        _exit(told(loop_run_once(fn, NULL)) ? 1 : 0);
    }
    {
        int status;

        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77) {
            print_message("[ SKIPPED because this user cannot mount a small disk ]\n");
            skip();
        }
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

TEST(a_full_disk_is_told_loses_nothing_and_can_be_left_behind)
{
    run_on_a_small_disk(live_on_a_full_disk);
}

TEST(a_session_can_be_removed_on_a_full_disk_and_makes_room)
{
    run_on_a_small_disk(remove_on_a_full_disk);
}

TEST(a_session_that_was_removed_on_a_full_disk_does_not_come_back)
{
    run_on_a_small_disk(remove_one_without_payloads);
}

#define STORE_HAS_A_PLACE                                                                          \
    UNIT(a_directory_that_may_not_be_written_is_told),                                             \
        UNIT(a_full_disk_is_told_loses_nothing_and_can_be_left_behind),                            \
        UNIT(a_session_can_be_removed_on_a_full_disk_and_makes_room),                              \
        UNIT(a_session_that_was_removed_on_a_full_disk_does_not_come_back)

#endif
