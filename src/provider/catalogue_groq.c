/* catalogue_groq.c - models that Groq serves. */
#include "provider/catalogue.h"

#define DOCS "https://console.groq.com/docs/"

/* They reason at a low, medium or high effort, and always. */
#define GPT_OSS (CAN_TOOLS | CAN_REASON | CAN_FOLLOW_SCHEMA | CAN_CACHE_PROMPT | REASONS_ALWAYS)

static const struct model_info models[] = {
    {
        .id = "openai/gpt-oss-120b",
        .name = "GPT-OSS 120B",
        .context_window = 131072,
        .max_output = 65536,
        .price = {USD(0.15), USD(0.60), USD(0.075), UNKNOWN},
        .capabilities = GPT_OSS,
        .efforts = EFFORTS(EFFORT_LOW, EFFORT_HIGH),
        SOURCE(DOCS "model/openai/gpt-oss-120b", "2026-08-08"),
    },
    {
        .id = "openai/gpt-oss-20b",
        .name = "GPT-OSS 20B",
        .context_window = 131072,
        .max_output = 65536,
        .price = {USD(0.075), USD(0.30), USD(0.0375), UNKNOWN},
        .capabilities = GPT_OSS,
        .efforts = EFFORTS(EFFORT_LOW, EFFORT_HIGH),
        SOURCE(DOCS "model/openai/gpt-oss-20b", "2026-08-08"),
    },
    {
        /* Reasons, but accepts no effort except "none" and "default". */
        .id = "qwen/qwen3.6-27b",
        .name = "Qwen 3.6 27B",
        .context_window = 131072,
        .max_output = 16384,
        .price = {USD(0.60), USD(3), UNKNOWN, UNKNOWN},
        .lifecycle = LIFECYCLE_PREVIEW,
        .capabilities = CAN_TOOLS,
        SOURCE(DOCS "model/qwen/qwen3.6-27b", "2026-08-08"),
    },
    {
        .id = "llama-3.3-70b-versatile",
        .name = "Llama 3.3 70B",
        .context_window = 131072,
        .max_output = 32768,
        .price = {USD(0.59), USD(0.79), UNKNOWN, UNKNOWN},
        .lifecycle = LIFECYCLE_RETIRED, /* on 2026-08-16 */
        .capabilities = CAN_TOOLS,
        PRICE_LIST("2026-11-15"),
    },
};

const struct catalogue catalogue_groq = {models, ARRAY_LEN(models)};
