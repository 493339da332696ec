/* test.h - what every unit test includes: cmocka, and a few words that make tests read well.
 *
 * A test is a function whose name is a sentence: TEST(a_full_buffer_refuses_more) { ... }.
 * List them at the end of the file: RUN_TESTS(UNIT(a), UNIT(b)). */
#ifndef KEEL_TEST_UNIT_TEST_H
#define KEEL_TEST_UNIT_TEST_H

#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
/* after the headers above */
#include <cmocka.h>

#define TEST(name) static void name(void **state __attribute__((unused)))

#define UNIT(t) cmocka_unit_test(t)
#define RUN_TESTS(...)                                                                             \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        return cmocka_run_group_tests(tests, NULL, NULL);                                          \
    }

/* Fails the test with the error's text. Consumes the error. */
static inline void assert_ok_(struct err *e, const char *file, int line)
{
    if (e) {
        char *text = err_message(e);
        print_error("unexpected error [%s]: %s\n", err_code(e->kind), text);
        free(text);
        err_free(e);
        _fail(file, line);
    }
}
#define assert_ok(e) assert_ok_((e), __FILE__, __LINE__)

/* Fails unless the call failed with this kind. Consumes the error. */
static inline void assert_err_(struct err *e, enum err_kind kind, const char *file, int line)
{
    if (!e || e->kind != kind) {
        print_error("expected error [%s], got %s\n", err_code(kind),
                    e ? err_code(e->kind) : "none");
        err_free(e);
        _fail(file, line);
    }
    err_free(e);
}
#define assert_err(e, kind) assert_err_((e), (kind), __FILE__, __LINE__)

static inline void assert_str_(struct str got, const char *want, const char *file, int line)
{
    if (!str_is(got, want)) {
        print_error("want \"%s\"\n got \"%" STR_FMT "\"\n", want, STR_ARG(got));
        _fail(file, line);
    }
}
#define assert_str(got, want) assert_str_((got), (want), __FILE__, __LINE__)

/* ../shared/NAME, or NULL when this checkout stands alone; the test then says so and counts as
 * skipped. The result is static. */
static inline const char *shared_path(const char *name)
{
    static char path[4096];
    const char *dir = getenv("KEEL_SHARED");
    FILE *file;

    if (!dir) {
        print_message("[ SKIPPED because KEEL_SHARED is not set ]\n");
        return NULL;
    }
    snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "r");
    if (!file) {
        print_message("[ SKIPPED because %s is not there ]\n", path);
        return NULL;
    }
    fclose(file);
    return path;
}

static inline struct strbuf read_file(const char *path)
{
    struct strbuf b = {0};
    FILE *file = fopen(path, "rb");
    size_t n;

    if (!file)
        fail_msg("cannot open %s", path);
    do {
        char *at = strbuf_reserve(&b, 65536);
        n = at ? fread(at, 1, 65536, file) : 0;
        strbuf_grew(&b, n);
    } while (n);
    fclose(file);
    return b;
}

#endif
