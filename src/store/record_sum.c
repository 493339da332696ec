/* record_sum.c - the sum over every column in turn. */
#include "store/record_sum.h"

#include "base/checksum.h"

#include <inttypes.h>

int64_t record_sum(struct str stream, const struct store_record *r, int64_t total)
{
    uint64_t sum = checksum_add(CHECKSUM_START, stream);

    sum = checksum_add_number(sum, r->seq);
    sum = checksum_add_number(sum, r->n_events);
    sum = checksum_add_number(sum, (uint64_t)r->unix_ms);
    sum = checksum_add(sum, r->type);
    sum = checksum_add(sum, r->run_id);
    sum = checksum_add_number(sum, r->turn);
    sum = checksum_add_number(sum, r->round);
    sum = checksum_add_number(sum, r->attempt);
    sum = checksum_add_number(sum, r->is_core);
    sum = checksum_add_number(sum, (uint64_t)total);
    return (int64_t)checksum_add(sum, r->body);
}

struct err *record_damaged(struct str stream, uint64_t seq, const char *place)
{
    return err_hint(err_new(ERR_STORAGE,
                            "record %" PRIu64 " of session %" STR_FMT
                            " is damaged: its checksum in %s does not match",
                            seq, STR_ARG(stream), place),
                    "restore it from a backup if you have one; keel uses the rest of the session");
}

struct str row_damaged(struct arena *a, struct str id, const char *place)
{
    return arena_format(a,
                        "the name, directory, times or other values of session %" STR_FMT
                        " were changed: their checksum in %s does not match; keel session rebuild "
                        "accepts them as they are",
                        STR_ARG(id), place);
}
