/* json.c - MB/s of parsing and writing the file given as argument. */
#include "bench.h"

#include "base/json.h"
#include "sys/fs.h"

#include <stdlib.h>

#define SECONDS 1.5

int main(int argc, char **argv)
{
    AUTO(strbuf) struct strbuf text = {0}, out = {0};
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = argc > 1 ? fs_read(argv[1], &text, NULL) : NULL;
    double start, parse, write;
    struct json *v = NULL;
    long n = 0;

    if (argc < 2 || e) {
        fprintf(stderr, "usage: bench-json FILE\n");
        return EXIT_FAILURE;
    }
    for (start = seconds(); seconds() - start < SECONDS; n++) {
        struct json_where where;

        arena_clear(&a);
        if (!json_parse_at(&a, strbuf_str(&text), 0, &v, &where))
            return EXIT_FAILURE;
    }
    parse = (double)n * (double)text.n / (seconds() - start) / 1e6;
    for (start = seconds(), n = 0; seconds() - start < SECONDS; n++) {
        strbuf_clear(&out);
        json_write(&out, v);
    }
    write = (double)n * (double)out.n / (seconds() - start) / 1e6;
    printf("{\"parse_mb_s\":%.1f,\"write_mb_s\":%.1f}\n", parse, write);
    return EXIT_SUCCESS;
}
