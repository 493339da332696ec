/* ollama_fuzz.c - whatever comes instead of Ollama's answer. */
#include "answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct dialect dialect = {0};

    check_answer(&protocol_ollama, &dialect, data, size);
    return 0;
}
