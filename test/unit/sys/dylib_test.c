/* dylib_test.c */
#include "sys/dylib.h"

#include "test.h"

TEST(the_symbols_of_a_library_are_found)
{
    double (*cosine)(double) = NULL, (*root)(double) = NULL;
    const struct dylib_symbol symbols[] = {{"cos", (void **)&cosine}, {"sqrt", (void **)&root}};

    assert_ok(dylib_load("libm.so.6", "libc6", symbols, ARRAY_LEN(symbols)));
    assert_true(cosine(0) == 1);
    assert_true(root(9) == 3);
}

TEST(who_asks_again_is_given_the_same_and_other_symbols_are_looked_up)
{
    void *first[2] = {0}, *again[2] = {0}, *other[2] = {0};
    const struct dylib_symbol symbols[] = {{"cos", &first[0]}, {"sqrt", &first[1]}};
    const struct dylib_symbol same[] = {{"cos", &again[0]}, {"sqrt", &again[1]}};
    const struct dylib_symbol others[] = {{"cos", &other[0]}, {"sin", &other[1]}};

    assert_ok(dylib_load("libm.so.6", "libc6", symbols, ARRAY_LEN(symbols)));
    assert_ok(dylib_load("libm.so.6", "libc6", same, ARRAY_LEN(same)));
    assert_ok(dylib_load("libm.so.6", "libc6", others, ARRAY_LEN(others)));
    assert_ptr_equal(again[0], first[0]);
    assert_ptr_equal(again[1], first[1]);
    assert_ptr_equal(other[0], first[0]);
    assert_ptr_not_equal(other[1], first[1]);
}

TEST(a_missing_library_is_named_with_its_package)
{
    AUTO(err) struct err *e = dylib_load("libmissing.so.4", "libmissing4", NULL, 0);

    assert_true(err_is(e, ERR_CONFIGURATION));
    assert_string_equal(e->text, "cannot load libmissing.so.4: cannot open shared object file: "
                                 "No such file or directory");
    assert_string_equal(e->hint, "install the package libmissing4");
}

TEST(a_missing_symbol_is_named_and_nothing_is_filled)
{
    void *cosine = NULL, *other = NULL;
    const struct dylib_symbol symbols[] = {{"cos", &cosine}, {"no_such_function", &other}};
    AUTO(err) struct err *e = dylib_load("libm.so.6", "libc6", symbols, ARRAY_LEN(symbols));

    assert_true(err_is(e, ERR_CONFIGURATION));
    assert_string_equal(e->text, "cannot load libm.so.6: it has no symbol no_such_function");
    assert_string_equal(e->hint, "install the package libc6");
    assert_null(cosine);
    assert_null(other);
}

RUN_TESTS(UNIT(the_symbols_of_a_library_are_found),
          UNIT(who_asks_again_is_given_the_same_and_other_symbols_are_looked_up),
          UNIT(a_missing_library_is_named_with_its_package),
          UNIT(a_missing_symbol_is_named_and_nothing_is_filled))
