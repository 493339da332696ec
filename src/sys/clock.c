/* clock.c - the machine's clocks, a virtual one, and dates as text. */
#include "sys/clock.h"

#include <stdio.h>
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

/* Day 0 is 1970-01-01. Years begin in March here, so that the leap day is the last of one, and
 * repeat every 400 years, which are 146,097 days. */
static void civil_date(int64_t day, int *ret_year, int *ret_month, int *ret_day)
{
    int64_t from_era = day + 719468; /* days since 0000-03-01 */
    int64_t era = (from_era >= 0 ? from_era : from_era - 146096) / 146097;
    int in_era = (int)(from_era - era * 146097);
    int year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int in_year = in_era - (365 * year + year / 4 - year / 100);
    int month = (5 * in_year + 2) / 153; /* 0 is March */

    *ret_day = in_year - (153 * month + 2) / 5 + 1;
    *ret_month = month < 10 ? month + 3 : month - 9;
    *ret_year = (int)(era * 400) + year + (*ret_month <= 2);
}

#define ISO_MIN_MS (-62167219200000) /* 0000-01-01T00:00:00.000Z */
#define ISO_MAX_MS 253402300799999   /* 9999-12-31T23:59:59.999Z */
#define DAY_MS 86400000

void clock_format_iso(int64_t unix_ms, char out[CLOCK_ISO_SIZE])
{
    int64_t ms = MAX(ISO_MIN_MS, MIN(unix_ms, ISO_MAX_MS));
    int64_t days = (ms - ISO_MIN_MS) / DAY_MS; /* counted from the start, so never negative */
    int in_day = (int)((ms - ISO_MIN_MS) % DAY_MS);
    int year, month, day;

    civil_date(days + ISO_MIN_MS / DAY_MS, &year, &month, &day);
    snprintf(out, CLOCK_ISO_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year, month, day,
             in_day / 3600000, in_day / 60000 % 60, in_day / 1000 % 60, in_day % 1000);
}
