/* place_conformance.h - what a store must do that keeps its sessions in a directory of this
 * machine, when nothing can be written there. Adapters' tests list STORE_HAS_A_PLACE and define
 * conformance_folder(): the directory of the store that was made last. */
#ifndef KEEL_TEST_UNIT_STORE_PLACE_CONFORMANCE_H
#define KEEL_TEST_UNIT_STORE_PLACE_CONFORMANCE_H

#include "store/shared_conformance.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

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

    if (err_is(e, ERR_STORAGE) && hint && strstr(hint, "that you may write there"))
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

static inline struct err *live_on_a_full_disk(void *arg)
{
    AUTO(store) struct store *s = conformance_again();
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = NULL;
    struct store_summary create = summary_of(ID_A, 5);
    struct store_lease lease;
    uint64_t next_seq = 1;
    char name[4200];

    if (mount("tmpfs", conformance_folder(), "tmpfs", 0, "size=2m") < 0)
        return err_new(ERR_INTERNAL, "cannot mount a small disk");
    TRY(store_open(s, ID_A, &create, &a, &lease));
    TRY(append_some(s, lease.fence, &next_seq, 5));
    fill_disk();
    e = append_some(s, lease.fence, &next_seq, 1000);
    if (!e || !err_find_hint(e) || !strstr(err_find_hint(e), "make room"))
        return err_new(ERR_INTERNAL, "a full disk is not told: %s", e ? e->text : "no error");
    TRY(count(s, next_seq - 1));
    snprintf(name, sizeof name, "%s/%s", conformance_folder(), filler);
    unlink(name);
    TRY(append_some(s, lease.fence, &next_seq, 5));
    return count(s, next_seq - 1);
}

TEST(a_full_disk_is_told_loses_nothing_and_can_be_left_behind)
{
    pid_t pid;

    store_free(conformance_store());
    make_folder(0700);
    pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
            _exit(77);
        _exit(loop_run_once(live_on_a_full_disk, NULL) ? 1 : 0);
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

#define STORE_HAS_A_PLACE                                                                          \
    UNIT(a_directory_that_may_not_be_written_is_told),                                             \
        UNIT(a_full_disk_is_told_loses_nothing_and_can_be_left_behind)

#endif
