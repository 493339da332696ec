/* clock.c - the machine's clocks, a virtual one, and dates as text. */
#include "sys/clock.h"

#include <time.h>

static int64_t read_ms(clockid_t id)
{
    struct timespec now;

    BUG_IF(clock_gettime(id, &now) < 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t system_monotonic_ms(void *self)
{
    return (uint64_t)read_ms(CLOCK_MONOTONIC);
}

static int64_t system_unix_ms(void *self)
{
    return read_ms(CLOCK_REALTIME);
}

const struct clock clock_system = {
    .monotonic_ms = system_monotonic_ms,
    .unix_ms = system_unix_ms,
};

static uint64_t virtual_monotonic_ms(void *self)
{
    const struct virtual_clock *v = self;

    return v->now_ms;
}

static int64_t virtual_unix_ms(void *self)
{
    const struct virtual_clock *v = self;

    return (int64_t)((uint64_t)v->unix_start_ms + v->now_ms);
}

static void virtual_advance_to_ms(void *self, uint64_t monotonic_ms)
{
    struct virtual_clock *v = self;

    v->now_ms = MAX(v->now_ms, monotonic_ms);
}

void virtual_clock_init(struct virtual_clock *v, int64_t unix_start_ms)
{
    *v = (struct virtual_clock){
        .clock =
            {
                .monotonic_ms = virtual_monotonic_ms,
                .unix_ms = virtual_unix_ms,
                .advance_to_ms = virtual_advance_to_ms,
                .self = v,
            },
        .unix_start_ms = unix_start_ms,
    };
}

struct date {
    unsigned year, month, day;
};

/* Years begin in March here, so the leap day is the last of its year. Four hundred of them have
 * 146,097 days, a hundred 36,524, four 1,461. */
static struct date date_of(unsigned days_since_march_0)
{
    unsigned era = days_since_march_0 / 146097, in_era = days_since_march_0 % 146097;
    unsigned year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    unsigned in_year = in_era - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * in_year + 2) / 153; /* 0 is March; five months have 153 days */

    return (struct date){
        .year = era * 400 + year + (month >= 10),
        .month = month < 10 ? month + 3 : month - 9,
        .day = in_year - (153 * month + 2) / 5 + 1,
    };
}

static char *put(char *at, unsigned value, unsigned n_digits, char after)
{
    for (unsigned i = n_digits; i > 0; i--, value /= 10)
        at[i - 1] = (char)('0' + value % 10);
    at[n_digits] = after;
    return at + n_digits + 1;
}

#define DAY_MS 86400000
#define ERA_MS (146097LL * DAY_MS)
#define YEAR_0_MS (-62167219200000)
#define YEAR_10000_MS 253402300800000
#define MARCH_0_MS (YEAR_0_MS + 60LL * DAY_MS)

void clock_format_iso(int64_t unix_ms, char out[CLOCK_ISO_SIZE])
{
    int64_t ms = MAX(YEAR_0_MS, MIN(unix_ms, YEAR_10000_MS - 1));
    /* An era is added so that January and February of year 0 are not negative. */
    uint64_t since_march = (uint64_t)(ms - MARCH_0_MS + ERA_MS);
    struct date date = date_of((unsigned)(since_march / DAY_MS));
    unsigned in_day = (unsigned)(since_march % DAY_MS);

    out = put(out, date.year - 400, 4, '-');
    out = put(out, date.month, 2, '-');
    out = put(out, date.day, 2, 'T');
    out = put(out, in_day / 3600000, 2, ':');
    out = put(out, in_day / 60000 % 60, 2, ':');
    out = put(out, in_day / 1000 % 60, 2, '.');
    out = put(out, in_day % 1000, 3, 'Z');
    *out = 0;
}
