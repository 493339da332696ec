/* git_config_fuzz.c - any text is read to its end, or to where it is bad. */
#include "base/git_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena arena = {0};
    struct str text = str_make((const char *)data, size);
    struct git_reader r = {.rest = text, .arena = &arena};
    struct git_setting s;
    bool runs_something = false;

    while (git_config_next(&r, &s)) {
        BUG_IF(s.section.n == 0 || s.key.n == 0);
        runs_something |= git_setting_use(&s) != GIT_USE_NONE;
    }
    BUG_IF(!r.is_bad && r.rest.n);
    BUG_IF(runs_something && git_config_is_plain(text));
    return 0;
}
