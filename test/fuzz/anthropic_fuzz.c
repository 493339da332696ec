/* anthropic_fuzz.c - whatever comes instead of an Anthropic message. */
#include "answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct dialect dialect = {0};

    check_answer(&protocol_anthropic_messages, &dialect, data, size);
    return 0;
}
