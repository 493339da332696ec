/* catalogue_gemini.c - Gemini models, at the prices that follow the introductory ones. */
#include "provider/catalogue.h"

#define DOCS "https://ai.google.dev/gemini-api/docs/"
#define PRICES(day) SOURCE(DOCS "pricing", day)

/* A prompt of more than 200,000 tokens costs twice as much, its answer one and a half times. */
#define ABOVE_200K 200000, 200, 150

/* https://ai.google.dev/gemini-api/docs/pricing: from the third generation on 14 dollars for 1,000
 * searches, before it 35 for 1,000 requests that search. What is free each day is not known here.
 */
#define SEARCH .search = USD(0.014)
#define SEARCH_2 .search_request = USD(0.035)

#define GEMINI                                                                                     \
    (CAN_TOOLS | CAN_SEE_IMAGES | CAN_READ_PDF | CAN_HEAR_AUDIO | CAN_REASON | CAN_FOLLOW_SCHEMA | \
     CAN_SEARCH_WEB | CAN_FETCH_WEB | CAN_CACHE_PROMPT)
#define GEMINI_3 (GEMINI | REASONS_BY_LEVEL)

/* https://ai.google.dev/gemini-api/docs/thinking. "minimal" is nearly none. */
#define LEVELS EFFORTS(EFFORT_LOW, EFFORT_HIGH)
#define LEVELS_OF_FLASH EFFORTS(EFFORT_NONE, EFFORT_HIGH)

static const struct model_info models[] = {
    {
        .id = "gemini-4-argon",
        .name = "Gemini 4 Argon",
        .context_window = 1048576, /* prompt and answer together */
        .max_output = 65536,       /* recommended; more is possible */
        .price = {USD(4), USD(20), USD(0.20), UNKNOWN, SEARCH},
        .capabilities = GEMINI_3 | REASONS_ALWAYS,
        .efforts = LEVELS,
        SOURCE(DOCS "generate-content/latest-model", "2026-11-15"),
    },
    {
        .id = "gemini-3.8-flash",
        .name = "Gemini 3.8 Flash",
        .context_window = 1048576,
        .max_output = 65536,
        .price = {USD(1.50), USD(7.50), USD(0.15), UNKNOWN, SEARCH},
        .capabilities = GEMINI_3 | REASONS_ALWAYS,
        .efforts = LEVELS,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "gemini-3.7-flash",
        .name = "Gemini 3.7 Flash",
        .context_window = 1048576,
        .max_output = 65536,
        .price = {USD(1.50), USD(7.50), USD(0.15), UNKNOWN, SEARCH},
        .capabilities = GEMINI_3 | REASONS_ALWAYS,
        .efforts = LEVELS,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "gemini-3.6-flash",
        .name = "Gemini 3.6 Flash",
        .context_window = 1048576,
        .max_output = 65536,
        .price = {USD(1.50), USD(7.50), USD(0.15), UNKNOWN, SEARCH},
        .capabilities = GEMINI_3,
        .efforts = LEVELS_OF_FLASH,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "gemini-3.5-flash",
        .name = "Gemini 3.5 Flash",
        .context_window = 1048576,
        .max_output = 65536,
        .price = {USD(1.50), USD(9), USD(0.15), UNKNOWN, SEARCH},
        .capabilities = GEMINI_3,
        .efforts = LEVELS_OF_FLASH,
        PRICES("2026-08-08"),
    },
    {
        .id = "gemini-3.5-flash-lite",
        .name = "Gemini 3.5 Flash-Lite",
        .context_window = 1048576,
        .max_output = 65536,
        .price = {USD(0.30), USD(2.50), USD(0.03), UNKNOWN, SEARCH},
        .capabilities = GEMINI_3,
        .efforts = LEVELS_OF_FLASH,
        PRICES("2026-08-08"),
    },
    {
        .id = "gemini-3.1-flash-lite",
        .name = "Gemini 3.1 Flash-Lite",
        .context_window = 1048576,
        .max_output = 65536,
        .price = {USD(0.25), USD(1.50), USD(0.025), UNKNOWN, SEARCH},
        .capabilities = GEMINI_3,
        .efforts = LEVELS_OF_FLASH,
        PRICES("2026-08-08"),
    },
    {
        .id = "gemini-3.1-pro-preview",
        .name = "Gemini 3.1 Pro",
        .context_window = 1048576,
        .max_output = 65536,
        .price = {USD(2), USD(12), USD(0.20), UNKNOWN, ABOVE_200K, SEARCH},
        .lifecycle = LIFECYCLE_PREVIEW,
        .capabilities = GEMINI_3 | REASONS_ALWAYS,
        .efforts = LEVELS,
        PRICES("2026-08-08"),
    },
    {
        .id = "gemini-2.5-pro",
        .name = "Gemini 2.5 Pro",
        .context_window = 1048576,
        .max_output = 65536,
        .price = {USD(1.25), USD(10), USD(0.125), UNKNOWN, ABOVE_200K, SEARCH_2},
        .lifecycle = LIFECYCLE_DEPRECATED,
        .capabilities = GEMINI | REASONS_ALWAYS,
        PRICES("2026-08-08"),
    },
    {
        .id = "gemini-2.5-flash",
        .name = "Gemini 2.5 Flash",
        .context_window = 1048576,
        .max_output = 65536,
        .price = {USD(0.30), USD(2.50), USD(0.03), UNKNOWN, SEARCH_2},
        .lifecycle = LIFECYCLE_DEPRECATED,
        .capabilities = GEMINI,
        PRICES("2026-08-08"),
    },
    {
        .id = "gemini-2.5-flash-lite",
        .name = "Gemini 2.5 Flash-Lite",
        .context_window = 1048576,
        .max_output = 65536,
        .price = {USD(0.10), USD(0.40), USD(0.01), UNKNOWN, SEARCH_2},
        .lifecycle = LIFECYCLE_DEPRECATED,
        .capabilities = GEMINI,
        PRICES("2026-08-08"),
    },
};

const struct catalogue catalogue_gemini = {models, ARRAY_LEN(models)};
