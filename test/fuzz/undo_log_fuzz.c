/* undo_log_fuzz.c - whatever a log says, with sums that are right or not: what is read can be used.
 */
#include "snapshot/undo_log.h"

#include "base/checksum.h"

#include <inttypes.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAME "0123456789abcdef0123456789abcdef"

static void check_records(struct str text)
{
    AUTO(arena) struct arena a = {0};
    struct undo_records all;

    undo_log_parse(text, S(NAME), &a, &all);
    for (size_t i = 0; i < all.n; i++) {
        const struct file_state *f = &all.items[i].state;

        BUG_IF(f->path[0] != '/' || f->mode > 07777 || f->is_saved != f->is_known);
        BUG_IF(all.items[i].has_attributes_only && f->is_saved);
        BUG_IF(f->why_not && !f->why_not[0]);
        BUG_IF(f->has_bytes && !f->is_saved);
    }
}

/* The records of the input with sums that are right, behind this head. */
static void check_summed(struct str head, uint64_t first_sum, struct str rest)
{
    AUTO(strbuf) struct strbuf summed = {0};
    struct str record;

    strbuf_add(&summed, head);
    while (str_split(&rest, '\0', &record)) {
        strbuf_addf(&summed, "%016" PRIx64 " ", checksum_add(first_sum, record));
        strbuf_add(&summed, record);
        strbuf_add_char(&summed, '\0');
    }
    check_records(strbuf_str(&summed));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str input = str_make((const char *)data, size);

    check_records(input);
    check_summed(S("keel-undo 1\0"), CHECKSUM_START, input);
    check_summed(S("keel-undo 2\0"), checksum_add(CHECKSUM_START, S(NAME)), input);
    check_summed(S("keel-undo 3\0"), checksum_add(CHECKSUM_START, S(NAME)), input);
    return 0;
}
