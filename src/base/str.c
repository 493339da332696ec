/* str.c - compares, searches and cuts borrowed bytes. */
#include "base/str.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower((unsigned char)a.p[i]) != lower((unsigned char)b.p[i]))
            return false;
    return true;
}

int str_cmp(struct str a, struct str b)
{
    size_t n = MIN(a.n, b.n);
    int order = n ? memcmp(a.p, b.p, n) : 0;

    if (order)
        return order;
    return a.n < b.n ? -1 : a.n > b.n;
}

bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

size_t str_find(struct str s, struct str needle)
{
    const char *hit;

    if (needle.n == 0)
        return 0;
    if (s.n < needle.n)
        return STR_NONE;
    hit = memmem(s.p, s.n, needle.p, needle.n);
    return hit ? (size_t)(hit - s.p) : STR_NONE;
}

size_t str_find_char(struct str s, char c)
{
    const char *hit = s.n ? memchr(s.p, c, s.n) : NULL;

    return hit ? (size_t)(hit - s.p) : STR_NONE;
}

size_t str_rfind_char(struct str s, char c)
{
    const char *hit = s.n ? memrchr(s.p, c, s.n) : NULL;

    return hit ? (size_t)(hit - s.p) : STR_NONE;
}

struct str str_slice(struct str s, size_t from, size_t n)
{
    from = MIN(from, s.n);
    return s.p ? (struct str){s.p + from, MIN(n, s.n - from)} : s;
}

struct str str_skip(struct str s, size_t n)
{
    return str_slice(s, n, SIZE_MAX);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
    while (s.n && is_space(s.p[0]))
        s = str_skip(s, 1);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool str_split(struct str *rest, char separator, struct str *ret_part)
{
    size_t at;

    if (!rest->p)
        return false;
    at = str_find_char(*rest, separator);
    if (at == STR_NONE) {
        *ret_part = *rest;
        *rest = (struct str){0};
    } else {
        *ret_part = str_slice(*rest, 0, at);
        *rest = (struct str){rest->p + at + 1, rest->n - at - 1};
    }
    return true;
}

bool str_to_int64(struct str s, int64_t *ret_value)
{
    bool negative = s.n && s.p[0] == '-';
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    uint64_t value = 0;

    if (negative)
        s = str_skip(s, 1);
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned digit = (unsigned)(unsigned char)s.p[i] - '0';

        if (digit > 9 || value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret_value = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* strtod obeys the locale's decimal point, and a host may have set one. */
bool str_to_double(struct str s, double *ret_value)
{
    static locale_t c_locale;
    char text[512];
    char *end;
    locale_t known = __atomic_load_n(&c_locale, __ATOMIC_ACQUIRE);

    if (s.n == 0 || s.n >= sizeof text || is_space(s.p[0]))
        return false;
    if (!known) {
        locale_t none = (locale_t)0;
        known = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (!__atomic_compare_exchange_n(&c_locale, &none, known, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            freelocale(known);
            known = none;
        }
    }
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    *ret_value = strtod_l(text, &end, known);
    return end == text + s.n;
}

/* FNV-1a, then mixed: good spread for short keys, no seed needed for trusted tables. */
uint64_t str_hash(struct str s)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < s.n; i++)
        hash = (hash ^ (unsigned char)s.p[i]) * 0x100000001b3u;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    return hash ^ (hash >> 32);
}

char *str_dup(struct str s)
{
    char *copy = mem_alloc(s.n + 1);

    if (s.n)
        memcpy(copy, s.p, s.n);
    return copy;
}
