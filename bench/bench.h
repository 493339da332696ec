/* bench.h - a stopwatch, and what a process holds in memory. */
#ifndef KEEL_BENCH_BENCH_H
#define KEEL_BENCH_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static inline double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Resident memory of this process in KiB, from /proc. */
static inline long resident_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib;
}

#endif
