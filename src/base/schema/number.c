/* number.c - integers and multiples, exactly, for numbers that are kept as text. */
#include "base/schema/node.h"

#define EXPONENT_LIMIT ((int64_t)1 << 40) /* far beyond any text that fits into memory */
#define MAX_DIVISOR_DIGITS 19             /* all of them fit into 64 bits */

/* digits x 10^scale. The digits are in the source, perhaps with a point among them, and neither
 * start nor end with a zero; zero itself has none. */
struct scaled_number {
    struct str digits;
    int64_t scale;
    bool negative;
};

static int64_t parse_exponent(struct str text)
{
    bool negative = text.n && text.p[0] == '-';
    int64_t value = 0;

    for (size_t i = text.n && (text.p[0] == '-' || text.p[0] == '+'); i < text.n; i++)
        value = MIN(value * 10 + (text.p[i] - '0'), EXPONENT_LIMIT);
    return negative ? -value : value;
}

static struct scaled_number take_apart(struct str text)
{
    struct scaled_number d = {.negative = text.n && text.p[0] == '-'};
    size_t e, point;

    text = str_skip(text, d.negative);
    for (e = 0; e < text.n && text.p[e] != 'e' && text.p[e] != 'E'; e++)
        ;
    d.scale = e < text.n ? parse_exponent(str_skip(text, e + 1)) : 0;
    d.digits = str_slice(text, 0, e);
    point = str_find_char(d.digits, '.');
    if (point != STR_NONE)
        d.scale -= (int64_t)(d.digits.n - point - 1);

    while (d.digits.n && (d.digits.p[0] == '0' || d.digits.p[0] == '.'))
        d.digits = str_skip(d.digits, 1);
    for (; d.digits.n; d.digits.n--) {
        char last = d.digits.p[d.digits.n - 1];

        if (last != '0' && last != '.')
            break;
        d.scale += last == '0';
    }
    return d.digits.n ? d : (struct scaled_number){0};
}

bool schema_number_is_integer(struct str number)
{
    return take_apart(number).scale >= 0;
}

uint64_t schema_number_hash(struct str number)
{
    struct scaled_number d = take_apart(number);
    uint64_t hash = (uint64_t)d.scale * 2 + d.negative;

    for (size_t i = 0; i < d.digits.n; i++)
        if (d.digits.p[i] != '.')
            hash = (hash ^ (unsigned char)d.digits.p[i]) * 0x100000001b3u;
    return hash;
}

bool schema_divisor_parse(struct str number, struct divisor *ret_divisor)
{
    struct scaled_number d = take_apart(number);
    uint64_t digits = 0;
    unsigned n_digits = 0;

    for (size_t i = 0; i < d.digits.n; i++) {
        if (d.digits.p[i] == '.')
            continue;
        if (++n_digits > MAX_DIVISOR_DIGITS)
            return false;
        digits = digits * 10 + (uint64_t)(d.digits.p[i] - '0');
    }
    if (digits == 0 || d.negative)
        return false;
    *ret_divisor = (struct divisor){.digits = digits, .scale = d.scale, .text = number};
    return true;
}

static uint64_t multiply_mod(uint64_t a, uint64_t b, uint64_t modulus)
{
    return (uint64_t)((unsigned __int128)a * b % modulus);
}

static uint64_t power_of_ten_mod(uint64_t exponent, uint64_t modulus)
{
    uint64_t power = 1 % modulus, square = 10 % modulus;

    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            power = multiply_mod(power, square, modulus);
        square = multiply_mod(square, square, modulus);
    }
    return power;
}

bool schema_divisor_divides(const struct divisor *d, struct str number)
{
    struct scaled_number v = take_apart(number);
    uint64_t rest = 0;

    if (v.digits.n == 0)
        return true;
    if (v.scale < d->scale)
        return false; /* the digits would have to end with a zero */
    for (size_t i = 0; i < v.digits.n; i++) {
        if (v.digits.p[i] == '.')
            continue;
        rest = (uint64_t)(((unsigned __int128)rest * 10 + (unsigned)(v.digits.p[i] - '0')) %
                          d->digits);
    }
    return multiply_mod(rest, power_of_ten_mod((uint64_t)(v.scale - d->scale), d->digits),
                        d->digits) == 0;
}
