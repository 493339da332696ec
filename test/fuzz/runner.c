/* runner.c - runs a fuzz target over its corpus, without a fuzzer.
 *
 * Every file is tried as it is, cut at every length up to a bound, and with single bytes changed
 * in a fixed pattern, so that the corpus also covers its neighbourhood. Says what it ran. */
#include "base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_FILE (1 << 20)
#define MAX_VARIANTS 512

static size_t n_runs;

/* A copy of exactly this size, so that the sanitizer sees a read past its end. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    n_runs++;
}

static void run_neighbourhood(uint8_t *data, size_t size)
{
    size_t step = size / MAX_VARIANTS + 1;

    run(data, size);
    for (size_t n = 0; n < size; n += step)
        run(data, n);
    for (size_t i = 0; i < size; i += step) {
        uint8_t was = data[i];

        data[i] = (uint8_t)(was ^ (1u << (i % 8)));
        run(data, size);
        data[i] = was;
    }
}

int main(int argc, char **argv)
{
    uint8_t *data = malloc(MAX_FILE);
    size_t n_files = 0;

    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        struct dirent *entry;

        while (dir && (entry = readdir(dir))) {
            char path[4096];
            FILE *file;

            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
            if (!file)
                continue;
            run_neighbourhood(data, fread(data, 1, MAX_FILE, file));
            fclose(file);
            n_files++;
        }
        if (dir)
            closedir(dir);
    }
    free(data);
    printf("%zu inputs from %zu files\n", n_runs, n_files);
    return n_files ? EXIT_SUCCESS : EXIT_FAILURE;
}
