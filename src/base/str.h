/* str.h - a borrowed run of bytes: pointer and length, may hold NUL, never owned.
 *
 * A function that returns a `struct str` says how long it lives (an arena, a buffer, a literal).
 * Print with `"%" STR_FMT, STR_ARG(s)`; printf stops at a NUL inside. */
#ifndef KEEL_BASE_STR_H
#define KEEL_BASE_STR_H

#include "base/mem.h"

#include <string.h>

struct str {
    const char *p;
    size_t n;
};

#define S(literal) ((struct str){"" literal, sizeof(literal) - 1})
#define STR_FMT ".*s"
#define STR_ARG(s) (int)MIN((s).n, (size_t)INT32_MAX), ((s).p ? (s).p : "")

static inline struct str str_of(const char *text)
{
    return text ? (struct str){text, strlen(text)} : (struct str){0};
}

static inline struct str str_make(const char *p, size_t n)
{
    return (struct str){p, n};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || (a.p[0] == b.p[0] && memcmp(a.p, b.p, a.n) == 0));
}

static inline bool str_is(struct str a, const char *text)
{
    return str_eq(a, str_of(text));
}

/* ASCII letters only, whatever the locale. */
bool str_eq_nocase(struct str a, struct str b);
int str_cmp(struct str a, struct str b); /* byte order, shorter first */
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);

#define STR_NONE ((size_t)-1)
size_t str_find(struct str s, struct str needle); /* offset, or STR_NONE */
size_t str_find_char(struct str s, char c);
size_t str_rfind_char(struct str s, char c);

struct str str_slice(struct str s, size_t from, size_t n); /* clamped to s */
struct str str_skip(struct str s, size_t n);
struct str str_trim(struct str s); /* ASCII white space, both ends */

/* Cuts the part before the next `separator` off `rest`; false when rest is used up.
 * "a,b," gives "a", "b", "". */
bool str_split(struct str *rest, char separator, struct str *ret_part);

/* Whole string is a decimal integer that fits. */
bool str_to_int64(struct str s, int64_t *ret_value);
bool str_to_double(struct str s, double *ret_value);

uint64_t str_hash(struct str s); /* for tables in memory; not stable over versions */

/* Owned copies. */
char *str_dup(struct str s) MUST_USE; /* NUL-terminated */

#endif
