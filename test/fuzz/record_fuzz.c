/* record_fuzz.c - whatever stands in a store, reading a session comes to its end.
 *
 * The input's lines are records: the type, a space, the body. A record that cannot be read is told
 * by its number, and reading goes on behind it. */
#include "session/codec/codec.h"
#include "store/memory.h"
#include "sys/loop.h"

#define ID S("0190a000-0000-7000-8000-00000000000a")
#define MAX_EVENTS 100000 /* far more than an input can hold */

static struct store_record record_of(struct str line, uint64_t seq)
{
    size_t space = str_find_char(line, ' ');

    return (struct store_record){.seq = seq,
                                 .n_events = 1 + line.n % 8,
                                 .unix_ms = 1000,
                                 .type = str_slice(line, 0, space),
                                 .turn = 1,
                                 .round = 1,
                                 .attempt = 1,
                                 .is_core = line.n % 2,
                                 .body = space == STR_NONE ? S("{}") : str_skip(line, space + 1)};
}

static struct err *fill(struct store *s, struct str input)
{
    const struct store_summary create = {.cwd = S("/p"), .created_ms = 1};
    AUTO(arena) struct arena a = {0};
    struct store_lease lease;
    struct str line;

    TRY(store_open(s, ID, &create, &a, &lease));
    for (uint64_t seq = 1; str_split(&input, '\n', &line);) {
        struct store_record r = record_of(line, seq);

        TRY(store_append(s, ID, seq, lease.fence, &r, 1, NULL));
        seq += r.n_events;
    }
    store_close(s, ID, lease.fence);
    return NULL;
}

static void read_all(struct store *s, enum codec_reading reading, unsigned leaves)
{
    AUTO(codec_reader) struct codec_reader *r = codec_reader_new(s, ID, 0, reading);
    const struct event *e = NULL;

    codec_reader_leave(r, leaves);
    for (unsigned n = 0;; n++) {
        struct err *failure = codec_read(r, &e);

        BUG_IF(n == MAX_EVENTS);
        BUG_IF(failure && !err_is(failure, ERR_STORAGE));
        if (!failure && !e)
            return;
        err_free(failure);
    }
}

static struct err *check(void *arg)
{
    AUTO(store) struct store *s = store_memory_new();

    TRY(fill(s, *(const struct str *)arg));
    read_all(s, CODEC_READ_ALL, 0);
    read_all(s, CODEC_READ_CORE, CODEC_LEAVE_ENDS);
    read_all(s, CODEC_READ_ALL, CODEC_LEAVE_ENDS | CODEC_LEAVE_RESULTS | CODEC_LEAVE_HISTORY);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str input = str_make((const char *)data, size);

    err_free(loop_run_once(check, &input));
    return 0;
}
