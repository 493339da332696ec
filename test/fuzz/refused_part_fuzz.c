/* refused_part_fuzz.c - any complaint about any body: what is found is nothing or a hash. The
 * input: the complaint, a NUL, the body. */
#include "provider/refused_part.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str input = str_make((const char *)data, size);
    size_t nul = str_find_char(input, '\0');
    char hex[SHA256_HEX_SIZE];

    if (nul == STR_NONE)
        return 0;
    refused_part_find(str_skip(input, nul + 1), str_slice(input, 0, nul), hex);
    BUG_IF(*hex && strlen(hex) != SHA256_HEX_SIZE - 1);
    return 0;
}
