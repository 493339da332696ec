/* ascii.h - classes of ASCII characters. Unlike <ctype.h> they know no locale, and every other byte
 * is in none of them. */
#ifndef KEEL_BASE_ASCII_H
#define KEEL_BASE_ASCII_H

#include <stdbool.h>

static inline bool ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ascii_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool ascii_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool ascii_is_alpha(char c)
{
    return ascii_is_upper(c) || ascii_is_lower(c);
}

static inline bool ascii_is_alnum(char c)
{
    return ascii_is_alpha(c) || ascii_is_digit(c);
}

/* Blank, tab or an end of a line. */
static inline bool ascii_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline char ascii_lower(char c)
{
    return ascii_is_upper(c) ? (char)(c + ('a' - 'A')) : c;
}

/* -1: it is not a hexadecimal digit. */
static inline int ascii_hex_value(char c)
{
    if (ascii_is_digit(c))
        return c - '0';
    c = ascii_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
