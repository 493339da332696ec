/* json_number.c - numbers that are kept as text: exact comparison, and conversions that can
 * fail. */
#include "base/json.h"

#include "base/ascii.h"

#include <math.h>
#include <stdio.h>

/* A decimal number in parts: 0.d1 d2 d3... x 10^exponent, without leading or trailing zeros. The
 * digits are in the source around an optional point. */
struct decimal {
    bool negative;
    struct str digits; /* from the first to the last digit that is not zero; may hold a point */
    int64_t exponent;
};

#define EXPONENT_LIMIT ((int64_t)1 << 40) /* far beyond any text that fits into memory */

static int64_t parse_exponent(struct str text)
{
    bool negative = text.n && text.p[0] == '-';
    int64_t value = 0;

    for (size_t i = text.n && (text.p[0] == '-' || text.p[0] == '+'); i < text.n; i++)
        value = MIN(value * 10 + (text.p[i] - '0'), EXPONENT_LIMIT);
    return negative ? -value : value;
}

static bool is_zero_or_point(char c)
{
    return c == '0' || c == '.';
}

static struct decimal take_apart(struct str text)
{
    struct decimal d = {.negative = text.n && text.p[0] == '-'};
    size_t e, point;

    text = str_skip(text, d.negative);
    for (e = 0; e < text.n && text.p[e] != 'e' && text.p[e] != 'E'; e++)
        ;
    d.exponent = e < text.n ? parse_exponent(str_skip(text, e + 1)) : 0;
    text = str_slice(text, 0, e);

    point = str_find_char(text, '.');
    d.exponent += (int64_t)(point == STR_NONE ? text.n : point);
    for (; text.n && is_zero_or_point(text.p[0]); text = str_skip(text, 1))
        d.exponent -= text.p[0] == '0';
    while (text.n && is_zero_or_point(text.p[text.n - 1]))
        text.n--;
    d.digits = text;
    if (text.n == 0)
        d = (struct decimal){0}; /* zero has no sign and no size */
    return d;
}

static int cmp_digits(struct str a, struct str b)
{
    size_t i = 0, k = 0;

    for (;; i++, k++) {
        i += i < a.n && a.p[i] == '.';
        k += k < b.n && b.p[k] == '.';
        if (i >= a.n || k >= b.n)
            return (i < a.n) - (k < b.n);
        if (a.p[i] != b.p[k])
            return a.p[i] < b.p[k] ? -1 : 1;
    }
}

int json_number_cmp(struct str a, struct str b)
{
    struct decimal x = take_apart(a), y = take_apart(b);
    int order;

    if (x.digits.n == 0 || y.digits.n == 0) {
        int sign_x = x.digits.n ? (x.negative ? -1 : 1) : 0;
        int sign_y = y.digits.n ? (y.negative ? -1 : 1) : 0;
        return (sign_x > sign_y) - (sign_x < sign_y);
    }
    if (x.negative != y.negative)
        return x.negative ? -1 : 1;
    order = x.exponent != y.exponent ? (x.exponent < y.exponent ? -1 : 1)
                                     : cmp_digits(x.digits, y.digits);
    return x.negative ? -order : order;
}

bool json_int64(const struct json *v, int64_t *ret_value)
{
    struct decimal d;
    char text[24];
    size_t n = 0;

    if (!json_is(v, JSON_NUMBER))
        return false;
    if (str_to_int64(v->text, ret_value))
        return true;
    d = take_apart(v->text);
    if (d.digits.n == 0) {
        *ret_value = 0;
        return true;
    }
    if (d.exponent < 1 || d.exponent > 19)
        return false;
    if (d.negative)
        text[n++] = '-';
    for (size_t i = 0; i < d.digits.n; i++) {
        if (d.digits.p[i] == '.')
            continue;
        if ((int64_t)(n - d.negative) == d.exponent)
            return false; /* digits after the point */
        text[n++] = d.digits.p[i];
    }
    while ((int64_t)(n - d.negative) < d.exponent)
        text[n++] = '0';
    return str_to_int64(str_make(text, n), ret_value);
}

int64_t json_int_or(const struct json *v, int64_t otherwise)
{
    int64_t value;

    return json_int64(v, &value) ? value : otherwise;
}

bool json_double(const struct json *v, double *ret_value)
{
    return json_is(v, JSON_NUMBER) && str_to_double(v->text, ret_value);
}

/* The shortest text that reads back as the same double. A host's locale may print another decimal
 * point, possibly of several bytes: everything but a digit, sign or exponent is the point. */
static size_t format_double(double value, char out[64])
{
    char text[64];
    size_t n = 0;
    double back;

    for (int precision = 15; precision <= 17; precision++) {
        bool in_point = false;

        snprintf(text, sizeof text, "%.*g", precision, value);
        n = 0;
        for (const char *c = text; *c; c++) {
            if (ascii_is_digit(*c) || *c == '-' || *c == '+' || *c == 'e') {
                out[n++] = *c;
                in_point = false;
            } else if (!in_point) {
                out[n++] = '.';
                in_point = true;
            }
        }
        if (str_to_double(str_make(out, n), &back) && back == value)
            break;
    }
    return n;
}

struct json *json_new_double(struct arena *a, double value)
{
    struct json *v = json_new(a, isfinite(value) ? JSON_NUMBER : JSON_NULL);
    char text[64];

    if (v->type == JSON_NUMBER)
        v->text = arena_str(a, str_make(text, format_double(value, text)));
    return v;
}

void jw_double(struct json_writer *w, double value)
{
    char text[64];

    if (isfinite(value))
        jw_raw(w, str_make(text, format_double(value, text)));
    else
        jw_null(w);
}
