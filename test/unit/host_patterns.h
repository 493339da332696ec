/* host_patterns.h - words that mean hosts, and words that mean none: one table for the tests of all
 * that read such words. */
#ifndef KEEL_TEST_HOST_PATTERNS_H
#define KEEL_TEST_HOST_PATTERNS_H

#include <stdbool.h>

static const struct host_case {
    const char *pattern, *host; /* the host as URLs spell it, without brackets */
    bool is_meant;              /* by a rule about single hosts */
    bool is_meant_below;        /* by one that includes what is below a name */
} host_cases[] = {
    {"example.com", "example.com", true, true},
    {" Example.COM. ", "example.com", true, true},
    {"example.com", "a.example.com", false, true},
    {"example.com", "a.b.example.com", false, true},
    {"example.com", "badexample.com", false, false},
    {"example.com", "example.com.evil.org", false, false},
    {"example.com", "com", false, false},
    {"com", "1.2.3.4", false, false},
    {"*.example.com", "a.example.com", true, true},
    {"*.example.com", "a.b.example.com", true, true},
    {"*.example.com", "example.com", false, false},
    {"*.example.com", "aexample.com", false, false},
    {"*", "example.com", true, true},
    {"*:80", "a.example.com", true, true},
    {"93.184.216.34", "93.184.216.34", true, true},
    {"[::ffff:93.184.216.34]", "93.184.216.34", true, true},
    {"::ffff:5db8:d822", "93.184.216.34", true, true},
    {"93.184.216.35", "93.184.216.34", false, false},
    {"[2606:4700:0:0::1111]", "2606:4700::1111", true, true},
    {"2606:4700::1111", "2606:4700::1111", true, true},
};

static const char *const no_hosts[] = {
    "",
    " ",
    "https://example.com",
    "example.com/",
    "example.com?x",
    "user@example.com",
    "*.*.com",
    "a*.com",
    "*example.com",
    "example.*",
    ".example.com",
    "example..com",
    "*.",
    "**",
    "*.10.0.0.1",
    "0177.0.0.1",
    "2130706433",
    "216.34",
    "example.com:0",
    "example.com:x",
    "example.com:65536",
    "a b",
    "ex\nmple",
    "[::1",
    "b\303\274cher.de",
};

#endif
