/* ini_fuzz.c - a value that is found stands in the text, is trimmed, and its section is there. */
#include "base/ini.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct str sections[] = {S("default"), S("profile x"), S("a b")};
    struct str text = str_make((const char *)data, size);

    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        struct str value = ini_get(text, sections[i], S("region"));

        BUG_IF(value.n && (value.p < text.p || value.p + value.n > text.p + text.n));
        BUG_IF(value.n && !str_eq(value, str_trim(value)));
        BUG_IF(value.n && !ini_has_section(text, sections[i]));
    }
    return 0;
}
