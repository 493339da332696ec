/* host_pattern_test.c - which hosts a word means. */
#include "net/host_pattern.h"

#include "test.h"

static bool matches(const char *pattern, const char *host, bool with_below)
{
    AUTO(arena) struct arena a = {0};
    struct host_pattern p;

    assert_true(host_pattern_parse(&a, str_of(pattern), &p));
    return host_pattern_matches(&p, str_of(host), with_below);
}

TEST(a_name_is_itself_and_where_that_is_wanted_what_is_below_it)
{
    assert_true(matches("example.com", "example.com", false));
    assert_true(matches(" Example.COM. ", "example.com", false));
    assert_false(matches("example.com", "a.example.com", false));
    assert_true(matches("example.com", "a.b.example.com", true));
    assert_false(matches("example.com", "badexample.com", true));
    assert_false(matches("example.com", "example.com.evil.org", true));
    assert_false(matches("com", "1.2.3.4", true));
}

TEST(a_star_in_front_is_only_what_is_below)
{
    assert_true(matches("*.example.com", "a.example.com", false));
    assert_false(matches("*.example.com", "example.com", true));
}

TEST(a_star_alone_is_every_host)
{
    assert_true(matches("*", "example.com", false));
    assert_true(matches("*", "93.184.216.34", false));
    assert_true(matches("*:81", "a.example.com", false));
}

TEST(an_address_is_itself_in_every_spelling)
{
    assert_true(matches("93.184.216.34", "93.184.216.34", true));
    assert_true(matches("[::ffff:93.184.216.34]", "93.184.216.34", true));
    assert_true(matches("::ffff:5db8:d822", "93.184.216.34", true));
    assert_true(matches("[2606:4700:0:0::1111]", "2606:4700::1111", true));
    assert_true(matches("2606:4700::1111", "2606:4700::1111", true));
    assert_false(matches("93.184.216.35", "93.184.216.34", true));
}

TEST(a_port_may_be_named)
{
    AUTO(arena) struct arena a = {0};
    struct host_pattern p;

    assert_true(host_pattern_parse(&a, S("example.com:8443"), &p));
    assert_true(host_pattern_has_port(&p, 8443));
    assert_false(host_pattern_has_port(&p, 443));
    assert_true(host_pattern_parse(&a, S("[::1]:3000"), &p));
    assert_int_equal(p.port, 3000);
    assert_true(host_pattern_parse(&a, S("example.com"), &p));
    assert_true(host_pattern_has_port(&p, 443));
}

TEST(what_means_no_host_is_none)
{
    static const char *const words[] = {
        "",
        " ",
        "https://example.com",
        "example.com/",
        "user@example.com",
        "*.*.com",
        "a*.com",
        "*example.com",
        "example.*",
        ".example.com",
        "example..com",
        "*.",
        "*.10.0.0.1",
        "0177.0.0.1",
        "2130706433",
        "216.34",
        "example.com:0",
        "a:x",
        "example.com:65536",
        "a b",
        "[::1",
        "**",
        "b\303\274cher.de",
    };
    AUTO(arena) struct arena a = {0};
    struct host_pattern p;

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (host_pattern_parse(&a, str_of(words[i]), &p))
            fail_msg("\"%s\" was taken for a host", words[i]);
    assert_false(host_pattern_parse(&a, S("a\0.com"), &p));
}

RUN_TESTS(UNIT(a_name_is_itself_and_where_that_is_wanted_what_is_below_it),
          UNIT(a_star_in_front_is_only_what_is_below), UNIT(a_star_alone_is_every_host),
          UNIT(an_address_is_itself_in_every_spelling), UNIT(a_port_may_be_named),
          UNIT(what_means_no_host_is_none))
