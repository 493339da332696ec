/* host_pattern_test.c - which hosts a word means. */
#include "net/host_pattern.h"

#include "host_patterns.h"
#include "test.h"

static bool matches(const char *pattern, const char *host, bool with_below)
{
    AUTO(arena) struct arena a = {0};
    struct host_pattern p;

    assert_true(host_pattern_parse(&a, str_of(pattern), &p));
    return host_pattern_matches(&p, str_of(host), with_below);
}

TEST(a_word_means_its_hosts_and_where_that_is_wanted_what_is_below_them)
{
    for (size_t i = 0; i < ARRAY_LEN(host_cases); i++) {
        const struct host_case *c = &host_cases[i];

        if (matches(c->pattern, c->host, false) != c->is_meant ||
            matches(c->pattern, c->host, true) != c->is_meant_below)
            fail_msg("\"%s\" and %s", c->pattern, c->host);
    }
}

TEST(a_star_alone_is_every_address_too)
{
    assert_true(matches("*", "93.184.216.34", false));
    assert_true(matches("*", "2606:4700::1111", false));
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
    AUTO(arena) struct arena a = {0};
    struct host_pattern p;

    for (size_t i = 0; i < ARRAY_LEN(no_hosts); i++)
        if (host_pattern_parse(&a, str_of(no_hosts[i]), &p))
            fail_msg("\"%s\" was taken for a host", no_hosts[i]);
    assert_false(host_pattern_parse(&a, S("a\0.com"), &p));
}

RUN_TESTS(UNIT(a_word_means_its_hosts_and_where_that_is_wanted_what_is_below_them),
          UNIT(a_star_alone_is_every_address_too), UNIT(a_port_may_be_named),
          UNIT(what_means_no_host_is_none))
