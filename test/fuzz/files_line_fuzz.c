/* files_line_fuzz.c - a line of a log, whatever it holds. One that is read can be written again,
 * and then reads the same. */
#include "store/files_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct files_line *l, struct arena *a)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct files_line copy = *l, back;

    copy.record.body = files_line_body(l, a);
    files_line_write(&out, 0, S("id"), &copy);
    strbuf_cut(&out, out.n - 1);
    BUG_IF(!files_line_parse(strbuf_str(&out), a, &back));
    BUG_IF(back.record.seq != l->record.seq || back.record.n_events != l->record.n_events);
    BUG_IF(back.record.n_payloads != l->record.n_payloads || back.fence != l->fence);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena a = {0};
    struct str line = str_make((const char *)data, size);
    struct files_line l;

    if (str_find_char(line, '\n') == STR_NONE && files_line_parse(line, &a, &l))
        check_again(&l, &a);
    return 0;
}
