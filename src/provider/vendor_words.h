/* vendor_words.h - what the rows of vendor_table.c listen for in refusals: how the makers of an API
 * and of servers say that a prompt is too long, and when to ask again. Sentences are separated by
 * '|', with '*' for what changes between (vendor.h).
 *
 * A vendor that offers models of others passes their makers' words on, so its row joins theirs. */
#ifndef KEEL_PROVIDER_VENDOR_WORDS_H
#define KEEL_PROVIDER_VENDOR_WORDS_H

#define ANTHROPIC_TOO_LONG "prompt is too long|exceed context limit"
/* Amazon says it in words of its own before the model is asked. */
#define BEDROCK_TOO_LONG ANTHROPIC_TOO_LONG "|input is too long for requested model"
#define OPENAI_TOO_LONG                                                                            \
    "exceeds the context window|maximum context length is|input tokens exceed the configured "     \
    "limit"
/* The second one is Vertex AI's. */
#define GEMINI_TOO_LONG                                                                            \
    "input token count*exceeds the maximum|input token count is*only supports up to"
#define XAI_TOO_LONG "maximum prompt length is"
#define MISTRAL_TOO_LONG "too large for model with*maximum context length"
#define GROQ_TOO_LONG "reduce the length of the messages"
#define MOONSHOT_TOO_LONG "exceeded model token limit"
#define ZAI_TOO_LONG "prompt exceeds max length"
#define DASHSCOPE_TOO_LONG "range of input length should be"
#define COPILOT_TOO_LONG "prompt token count of*exceeds the limit of"
#define TGI_TOO_LONG "tokens + `max_new_tokens` must be"
#define TOGETHER_TOO_LONG TGI_TOO_LONG "|longer than the model's context length"
#define FIREWORKS_TOO_LONG "prompt is too long|maximum context length"
/* The last one: what the window has left for the answer, below zero. */
#define VLLM_TOO_LONG                                                                              \
    "maximum context length is|exceeds the model's maximum context length|"                        \
    "model's context length is only|longer than the maximum model length|"                         \
    "is longer than the model's context|maximum input length of|max_tokens must be at least 1, "   \
    "got -"
#define LLAMA_CPP_TOO_LONG                                                                         \
    "exceeds the available context size|exceeds context size|context size has been exceeded"
#define LMSTUDIO_TOO_LONG                                                                          \
    "greater than the context length|context the overflows|context overflow|"                      \
    "loaded with context length of only|exceeds the available context size|reached context length"
#define OLLAMA_TOO_LONG                                                                            \
    "exceeds the context length|exceeded max context length|exceeds the available context size|"   \
    "exceeds maximum context length"
/* Of who asks any of them. */
#define ROUTER_TOO_LONG                                                                            \
    BEDROCK_TOO_LONG "|" OPENAI_TOO_LONG "|" GEMINI_TOO_LONG "|" XAI_TOO_LONG "|" MISTRAL_TOO_LONG \
                     "|" GROQ_TOO_LONG "|" MOONSHOT_TOO_LONG "|" ZAI_TOO_LONG                      \
                     "|" DASHSCOPE_TOO_LONG "|" TOGETHER_TOO_LONG "|" VLLM_TOO_LONG                \
                     "|maximum allowed input length|context window exceeds limit"
#define ANY_TOO_LONG                                                                               \
    ROUTER_TOO_LONG "|" LLAMA_CPP_TOO_LONG "|" LMSTUDIO_TOO_LONG "|" OLLAMA_TOO_LONG

#define OPENAI_DELAY "try again in "
#define AZURE_DELAY "try again in |retry after "
#define MOONSHOT_DELAY "try again after "
#define GEMINI_DELAY "retry in "
#define ROUTER_DELAY "try again in |try again after |retry after |retry in "

#endif
