/* ignore_fuzz.c - any text is a list of rules; what they say fits together. The input: the text of
 * a .gitignore file, a NUL, a path. */
#include "base/ignore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct str base, struct str text, struct str path, bool is_dir, bool nocase)
{
    AUTO(ignore) struct ignore *i = ignore_new(base, text, nocase);
    const struct ignore *files[] = {i};
    enum ignore_verdict verdict = ignore_check(i, path, is_dir);
    bool is_ignored = ignore_is_ignored(files, 1, path, is_dir);
    size_t slash = str_rfind_char(path, '/');

    BUG_IF(verdict == IGNORE_YES && !is_ignored);
    /* a path without a directory has no parent that could be ignored */
    BUG_IF(slash == STR_NONE && is_ignored != (verdict == IGNORE_YES));
    /* what is in an ignored directory is ignored */
    if (slash != STR_NONE && slash > 0)
        BUG_IF(ignore_is_ignored(files, 1, str_slice(path, 0, slash), true) && !is_ignored);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str path = str_make((const char *)data, size), text;

    if (!str_split(&path, 0, &text))
        return 0;
    check(S(""), text, path, size % 2, false);
    check(S("a"), text, path, size % 2, true);
    return 0;
}
