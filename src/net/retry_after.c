/* retry_after.c - when a server wants to be asked again. */
#include "net/http.h"

#include "base/ascii.h"

#include <stdio.h>
#include <time.h>

#define LONGEST_DELAY_MS ((int64_t)24 * 3600 * 1000)

/* -1 stays "not stated"; everything else is limited to a day. */
static int64_t capped(double ms)
{
    if (!(ms >= 0))
        return -1;
    return ms < (double)LONGEST_DELAY_MS ? (int64_t)ms : LONGEST_DELAY_MS;
}

/* Parses digits with an optional fraction at the start of *text, and skips them. */
static bool take_number(struct str *text, double *ret_value)
{
    size_t n = 0;

    while (n < text->n && (ascii_is_digit(text->p[n]) || text->p[n] == '.'))
        n++;
    if (n == 0 || !ascii_is_digit(text->p[0]) || !str_to_double(str_slice(*text, 0, n), ret_value))
        return false;
    *text = str_skip(*text, n);
    return true;
}

static int64_t parse_plain(struct str text, double ms_per_unit)
{
    double value;

    if (!take_number(&text, &value) || text.n)
        return -1;
    return capped(value * ms_per_unit);
}

/* --- points in time --- */

static bool find_month(const char *name, int *ret_month)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

    for (int i = 0; i < 12; i++)
        if (strncmp(name, names + 3 * i, 3) == 0) {
            *ret_month = i;
            return true;
        }
    return false;
}

static bool to_unix_ms(struct tm *t, int year, int64_t *ret_unix_ms)
{
    if (year < 1970 || t->tm_mon < 0 || t->tm_mon > 11 || t->tm_mday < 1 || t->tm_mday > 31 ||
        t->tm_hour < 0 || t->tm_hour > 23 || t->tm_min < 0 || t->tm_min > 59 || t->tm_sec < 0 ||
        t->tm_sec > 60)
        return false;
    t->tm_year = year - 1900;
    *ret_unix_ms = (int64_t)timegm(t) * 1000;
    return true;
}

/* RFC 9110 has three forms of dates, two of them obsolete and still sent. */
static bool parse_http_date(struct str s, int64_t *ret_unix_ms)
{
    char text[64], month[4] = "";
    struct tm t = {0};
    int year, end = 0;

    snprintf(text, sizeof text, "%" STR_FMT, STR_ARG(s));
    if (sscanf(text, "%*[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT%n", &t.tm_mday, month, &year,
               &t.tm_hour, &t.tm_min, &t.tm_sec, &end) == 6 &&
        end)
        return find_month(month, &t.tm_mon) && to_unix_ms(&t, year, ret_unix_ms);
    if (sscanf(text, "%*[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT%n", &t.tm_mday, month, &year,
               &t.tm_hour, &t.tm_min, &t.tm_sec, &end) == 6 &&
        end)
        return find_month(month, &t.tm_mon) &&
               to_unix_ms(&t, year + (year < 70 ? 2000 : 1900), ret_unix_ms);
    if (sscanf(text, "%*3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d%n", month, &t.tm_mday, &t.tm_hour,
               &t.tm_min, &t.tm_sec, &year, &end) == 6 &&
        end)
        return find_month(month, &t.tm_mon) && to_unix_ms(&t, year, ret_unix_ms);
    return false;
}

/* "Z" or "+01:00". */
static bool parse_offset(const char *text, int64_t *ret_offset_ms)
{
    int hours, minutes, end = 0;
    char sign;

    *ret_offset_ms = 0;
    if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
        return true;
    if (sscanf(text, "%c%2d:%2d%n", &sign, &hours, &minutes, &end) != 3 || text[end])
        return false;
    *ret_offset_ms = (sign == '-' ? -60000 : 60000) * ((int64_t)hours * 60 + minutes);
    return sign == '-' || sign == '+';
}

/* 2026-01-02T03:04:05.678Z, or with an offset. A fraction is rounded down. */
static bool parse_rfc3339(struct str s, int64_t *ret_unix_ms)
{
    char text[64];
    struct tm t = {0};
    int64_t offset_ms;
    int year, end = 0;

    snprintf(text, sizeof text, "%" STR_FMT, STR_ARG(s));
    if (sscanf(text, "%4d-%2d-%2d%*1[Tt ]%2d:%2d:%2d%n", &year, &t.tm_mon, &t.tm_mday, &t.tm_hour,
               &t.tm_min, &t.tm_sec, &end) != 6)
        return false;
    t.tm_mon--;
    if (text[end] == '.')
        end += 1 + (int)strspn(text + end + 1, "0123456789");
    if (!parse_offset(text + end, &offset_ms) || !to_unix_ms(&t, year, ret_unix_ms))
        return false;
    *ret_unix_ms -= offset_ms;
    return true;
}

static int64_t until(int64_t unix_ms, int64_t unix_now_ms)
{
    return capped(unix_ms > unix_now_ms ? (double)(unix_ms - unix_now_ms) : 0);
}

/* --- durations --- */

/* "6m0s", "1h2m3.5s", "20ms"; a bare number is seconds. */
static int64_t parse_duration(struct str text)
{
    static const struct {
        struct str name;
        double ms;
    } units[] = {
        /* the longer of two with the same start goes first */
        {S("ms"), 1},    {S("us"), 0.001}, {S("\xC2\xB5s"), 0.001}, {S("ns"), 0.000001},
        {S("d"), 864e5}, {S("h"), 36e5},   {S("m"), 6e4},           {S("s"), 1e3},
    };
    double total = 0, value;

    if (parse_plain(text, 1000) >= 0)
        return parse_plain(text, 1000);
    if (text.n == 0)
        return -1;
    while (text.n) {
        size_t i = 0;

        if (!take_number(&text, &value))
            return -1;
        while (i < ARRAY_LEN(units) && !str_starts(text, units[i].name))
            i++;
        if (i == ARRAY_LEN(units))
            return -1;
        total += value * units[i].ms;
        text = str_skip(text, units[i].name.n);
    }
    return capped(total);
}

/* --- headers --- */

static bool starts_nocase(struct str s, struct str prefix)
{
    return s.n >= prefix.n && str_eq_nocase(str_slice(s, 0, prefix.n), prefix);
}

/* Is the limit used up? `prefix` + WHAT + `suffix` is 0 then. */
static bool is_used_up(const struct http_headers *h, const char *prefix, struct str what,
                       const char *suffix)
{
    char name[128];

    snprintf(name, sizeof name, "%s%" STR_FMT "%s", prefix, STR_ARG(what), suffix);
    return parse_plain(http_headers_get(h, name), 1) == 0;
}

/* anthropic-ratelimit-WHAT-reset is a time, x-ratelimit-reset-WHAT a duration. Both come with every
 * response, so they ask for a delay only when nothing of WHAT remains. */
static int64_t reset_delay(const struct http_headers *h, const struct http_header *header,
                           int64_t unix_now_ms)
{
    const struct str anthropic = S("anthropic-ratelimit-"), reset = S("-reset");
    const struct str openai = S("x-ratelimit-reset-");
    struct str name = header->name;
    int64_t unix_ms;

    if (starts_nocase(name, openai) &&
        is_used_up(h, "x-ratelimit-remaining-", str_skip(name, openai.n), ""))
        return parse_duration(header->value);
    if (name.n > anthropic.n + reset.n && starts_nocase(name, anthropic) &&
        str_eq_nocase(str_skip(name, name.n - reset.n), reset) &&
        is_used_up(h, "anthropic-ratelimit-",
                   str_slice(name, anthropic.n, name.n - anthropic.n - reset.n), "-remaining") &&
        parse_rfc3339(header->value, &unix_ms))
        return until(unix_ms, unix_now_ms);
    return -1;
}

static int64_t longest_reset_delay(const struct http_headers *h, int64_t unix_now_ms)
{
    int64_t longest = -1;

    for (size_t i = 0; i < h->n; i++)
        longest = MAX(longest, reset_delay(h, &h->items[i], unix_now_ms));
    return longest;
}

int64_t http_retry_after_ms(const struct http_headers *h, int64_t unix_now_ms)
{
    struct str after = str_trim(http_headers_get(h, "retry-after"));
    int64_t delay_ms = parse_plain(str_trim(http_headers_get(h, "retry-after-ms")), 1);
    int64_t unix_ms;

    if (delay_ms < 0)
        delay_ms = parse_plain(after, 1000);
    if (delay_ms < 0 && parse_http_date(after, &unix_ms))
        delay_ms = until(unix_ms, unix_now_ms);
    return delay_ms >= 0 ? delay_ms : longest_reset_delay(h, unix_now_ms);
}
