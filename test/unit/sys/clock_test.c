/* clock_test.c */
#include "sys/clock.h"

#include "test.h"

#include <time.h>

static void assert_iso(int64_t unix_ms, const char *want)
{
    char got[CLOCK_ISO_SIZE];

    clock_format_iso(unix_ms, got);
    assert_string_equal(got, want);
}

TEST(dates_are_written_in_iso_form)
{
    assert_iso(0, "1970-01-01T00:00:00.000Z");
    assert_iso(-1, "1969-12-31T23:59:59.999Z");
    assert_iso(1767323045678, "2026-01-02T03:04:05.678Z");
    assert_iso(951782400000, "2000-02-29T00:00:00.000Z");
    assert_iso(4107542400000, "2100-03-01T00:00:00.000Z");
    assert_iso(-62162035200001, "0000-02-29T23:59:59.999Z");
}

TEST(times_out_of_range_give_the_first_or_last_moment)
{
    assert_iso(INT64_MIN, "0000-01-01T00:00:00.000Z");
    assert_iso(-62167219200000, "0000-01-01T00:00:00.000Z");
    assert_iso(-62167219200001, "0000-01-01T00:00:00.000Z");
    assert_iso(253402300799999, "9999-12-31T23:59:59.999Z");
    assert_iso(INT64_MAX, "9999-12-31T23:59:59.999Z");
}

TEST(days_all_over_ten_thousand_years_agree_with_libc)
{
    for (int64_t day = -719528; day < 2932897; day += 11) {
        time_t seconds = (time_t)(day * 86400 + day % 43200 + 43200);
        char got[CLOCK_ISO_SIZE], want[CLOCK_ISO_SIZE];
        struct tm tm;

        gmtime_r(&seconds, &tm);
        snprintf(want, sizeof want, "%04u-%02u-%02uT%02u:%02u:%02u.000Z",
                 (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)(tm.tm_mon + 1) % 100,
                 (unsigned)tm.tm_mday % 100, (unsigned)tm.tm_hour % 100, (unsigned)tm.tm_min % 100,
                 (unsigned)tm.tm_sec % 100);
        clock_format_iso((int64_t)seconds * 1000, got);
        if (strcmp(got, want) != 0)
            assert_string_equal(got, want);
    }
}

TEST(a_virtual_clock_stands_until_it_is_moved_and_never_goes_back)
{
    struct virtual_clock v;

    virtual_clock_init(&v, 5000);
    assert_int_equal(clock_monotonic_ms(&v.clock), 0);
    assert_int_equal(clock_unix_ms(&v.clock), 5000);
    v.clock.advance_to_ms(v.clock.self, 250);
    assert_int_equal(clock_monotonic_ms(&v.clock), 250);
    assert_int_equal(clock_unix_ms(&v.clock), 5250);
    v.clock.advance_to_ms(v.clock.self, 100);
    assert_int_equal(clock_monotonic_ms(&v.clock), 250);
}

TEST(the_machines_clock_agrees_with_libc_and_goes_forward)
{
    int64_t before = (int64_t)time(NULL) * 1000;
    int64_t unix_ms = clock_unix_ms(&clock_system);
    uint64_t first = clock_monotonic_ms(&clock_system);

    assert_true(unix_ms >= before - 1000);
    assert_true(unix_ms <= (int64_t)time(NULL) * 1000 + 1000);
    assert_true(clock_monotonic_ms(&clock_system) >= first);
    assert_null(clock_system.advance_to_ms);
}

RUN_TESTS(UNIT(dates_are_written_in_iso_form),
          UNIT(times_out_of_range_give_the_first_or_last_moment),
          UNIT(days_all_over_ten_thousand_years_agree_with_libc),
          UNIT(a_virtual_clock_stands_until_it_is_moved_and_never_goes_back),
          UNIT(the_machines_clock_agrees_with_libc_and_goes_forward))
