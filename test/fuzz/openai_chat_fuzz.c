/* openai_chat_fuzz.c - whatever comes instead of a Chat Completions answer. */
#include "answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct dialect dialect = {.reasoning_replay = REPLAY_REASONING_DETAILS};

    check_answer(&protocol_openai_chat, &dialect, data, size);
    return 0;
}
