/* ini_test.c */
#include "test.h"

#include "base/ini.h"

static const char text[] = "\xEF\xBB\xBF# a comment\n"
                           "stray = outside\n"
                           "[default]\r\n"
                           "Region = eu-west-1  \r\n"
                           "; another = comment\n"
                           "empty =\n"
                           "s3 =\n"
                           "  max_queue_size = 1\n"
                           "secret = a=b # c\n"
                           "twice = 1\n"
                           "twice = 2\n"
                           "no equals sign\n"
                           "[ profile   work ]  # why\n"
                           "region=ap-south-1\n"
                           "[broken\n"
                           "region = nowhere\n"
                           "[default]\n"
                           "late = yes";

static void check(const char *section, const char *name, const char *want)
{
    assert_str(ini_get(str_of(text), str_of(section), str_of(name)), want);
}

TEST(values_are_found_in_their_section)
{
    check("default", "region", "eu-west-1");
    check("profile work", "region", "ap-south-1");
    check("default", "secret", "a=b # c");
    check("default", "twice", "2");
    check("default", "late", "yes");
}

TEST(what_is_not_there_is_empty)
{
    check("default", "empty", "");
    check("default", "max_queue_size", "");
    check("default", "stray", "");
    check("default", "another", "");
    check("default", "", "");
    check("work", "region", "");
    check("", "stray", "");
}

TEST(a_section_is_known_without_its_values)
{
    assert_true(ini_has_section(str_of(text), S("profile work")));
    assert_false(ini_has_section(str_of(text), S("work")));
    assert_false(ini_has_section((struct str){0}, S("x")));
}

TEST(of_a_text_that_is_too_long_nothing_is_found)
{
    AUTO(strbuf) struct strbuf all = {0};

    strbuf_init(&all, 2 * INI_MAX_BYTES);
    strbuf_add_cstr(&all, "[a]\nb = c\n");
    assert_str(ini_get(strbuf_str(&all), S("a"), S("b")), "c");
    while (all.n <= INI_MAX_BYTES)
        strbuf_add_cstr(&all, "# and on\n");
    assert_str(ini_get(strbuf_str(&all), S("a"), S("b")), "");
}

RUN_TESTS(UNIT(values_are_found_in_their_section), UNIT(what_is_not_there_is_empty),
          UNIT(a_section_is_known_without_its_values),
          UNIT(of_a_text_that_is_too_long_nothing_is_found))
