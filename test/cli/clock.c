/* clock.c - the time of day, some days away from what it is: loaded with LD_PRELOAD.
 *
 * KEEL_TEST_CLOCK_DAYS says how many, to the future or (negative) to the past. Clocks that only
 * measure how long something takes go on as they do. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define DAY_SECONDS (24 * 60 * 60)

static time_t shift_seconds(void)
{
    const char *days = getenv("KEEL_TEST_CLOCK_DAYS");

    return days ? (time_t)atol(days) * DAY_SECONDS : 0;
}

EXPORT int clock_gettime(clockid_t id, struct timespec *ret)
{
    int status = (int)syscall(SYS_clock_gettime, id, ret);

    if (status == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        ret->tv_sec += shift_seconds();
    return status;
}

EXPORT int gettimeofday(struct timeval *ret, void *zone)
{
    int status = (int)syscall(SYS_gettimeofday, ret, zone);

    if (status == 0)
        ret->tv_sec += shift_seconds();
    return status;
}

EXPORT time_t time(time_t *ret)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (ret)
        *ret = now.tv_sec;
    return now.tv_sec;
}
