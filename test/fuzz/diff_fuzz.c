/* diff_fuzz.c - the diff of any two texts leads from one to the other, and any text may be tried as
 * a diff. The input: lines of context, the old text, a NUL, the new text or diff. */
#include "../unit/base/diff_apply.h"
#include "base/diff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(struct str old_text, struct str new_text, unsigned n_context)
{
    AUTO(strbuf) struct strbuf diff = {0}, result = {0};
    AUTO(err) struct err *e = NULL;
    struct diff_stat stat;

    diff_unified(&diff, S("a"), old_text, S("b"), new_text, n_context, &stat);
    BUG_IF((diff.n == 0) != str_eq(old_text, new_text));
    BUG_IF((stat.first_line == 0) != str_eq(old_text, new_text));
    e = diff_apply(&result, old_text, strbuf_str(&diff));
    BUG_IF(e || !str_eq(strbuf_str(&result), new_text));
}

static void check_apply(struct str old_text, struct str diff)
{
    AUTO(strbuf) struct strbuf result = {0};
    AUTO(err) struct err *e = diff_apply(&result, old_text, diff);

    BUG_IF(e && result.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str new_text = str_skip(str_make((const char *)data, size), 1), old_text;

    if (!str_split(&new_text, 0, &old_text))
        return 0;
    check_round_trip(old_text, new_text, data[0] % 8);
    check_apply(old_text, new_text);
    return 0;
}
