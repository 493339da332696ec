/* catalogue_openai.c - OpenAI's models. */
#include "provider/catalogue.h"

#define PAGE(page, day) SOURCE("https://developers.openai.com/api/docs/" page, day)

/* A prompt of more than 272,000 tokens costs twice as much, its answer one and a half times. */
#define ABOVE_272K 272000, 200, 150

/* https://developers.openai.com/api/docs/pricing: 10 dollars for 1,000 of them. */
#define SEARCH .search = USD(0.01)

#define GPT_4                                                                                      \
    (CAN_TOOLS | CAN_SEE_IMAGES | CAN_READ_PDF | CAN_FOLLOW_SCHEMA | CAN_SEARCH_WEB |              \
     CAN_CACHE_PROMPT)
#define GPT_5 (GPT_4 | CAN_REASON | NO_SAMPLING)
/* From 5.1 on they reason only on request. */
#define GPT_5_1 (GPT_5 | REASONS_IF_ASKED)

/* The window without the room for the longest answer. */
#define INPUT_922K .max_input = 922000
#define INPUT_272K .max_input = 272000

/* https://developers.openai.com/api/docs/guides/reasoning */
#define LEVELS_O EFFORTS(EFFORT_LOW, EFFORT_HIGH)
#define LEVELS_5 EFFORTS(EFFORT_MINIMAL, EFFORT_HIGH)
#define OR_NONE(levels) ((levels) | EFFORT_BIT(EFFORT_NONE))
#define LEVELS_5_1 OR_NONE(LEVELS_O)
#define LEVELS_5_2 OR_NONE(EFFORTS(EFFORT_LOW, EFFORT_XHIGH))
#define LEVELS_6_1 EFFORTS(EFFORT_LOW, EFFORT_MAX)
#define LEVELS_5_6 OR_NONE(LEVELS_6_1)

static const struct model_info models[] = {
    {
        .id = "gpt-6.1-sol",
        .name = "GPT-6.1 Sol",
        .context_window = 1050000,
        .max_output = 128000,
        INPUT_922K,
        .price = {USD(2), USD(10), USD(0.10), USD(2.50), ABOVE_272K, SEARCH},
        .capabilities = GPT_5 | REASONS_ALWAYS,
        .efforts = LEVELS_6_1,
        PAGE("models/gpt-6.1-sol", "2026-11-15"),
    },
    {
        .id = "gpt-6.1-terra",
        .name = "GPT-6.1 Terra",
        .context_window = 1050000,
        .max_output = 128000,
        INPUT_922K,
        .price = {USD(1), USD(5), USD(0.05), USD(1.25), ABOVE_272K, SEARCH},
        .capabilities = GPT_5_1,
        .efforts = LEVELS_5_6,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "gpt-6-astra",
        .name = "GPT-6 Astra",
        .context_window = 1050000,
        .max_output = 128000,
        INPUT_922K,
        .price = {USD(10), USD(50), USD(1), USD(12.50), ABOVE_272K, SEARCH},
        .capabilities = GPT_5 | REASONS_ALWAYS,
        .efforts = LEVELS_6_1,
        PAGE("models/gpt-6-astra", "2026-11-15"),
    },
    {
        .id = "gpt-6-sol",
        .name = "GPT-6 Sol",
        .context_window = 1050000,
        .max_output = 128000,
        INPUT_922K,
        .price = {USD(2), USD(10), USD(0.20), USD(2.50), ABOVE_272K, SEARCH},
        .capabilities = GPT_5_1,
        .efforts = LEVELS_5_6,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "gpt-6-luna",
        .name = "GPT-6 Luna",
        .context_window = 1050000,
        .max_output = 128000,
        INPUT_922K,
        .price = {USD(0.10), USD(0.50), USD(0.01), USD(0.125), ABOVE_272K, SEARCH},
        .capabilities = GPT_5_1,
        .efforts = LEVELS_5_6,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "gpt-5.6-sol",
        .name = "GPT-5.6 Sol",
        .context_window = 1050000,
        .max_output = 128000,
        INPUT_922K,
        .price = {USD(4), USD(20), USD(0.40), UNKNOWN, ABOVE_272K, SEARCH},
        .capabilities = GPT_5_1,
        .efforts = LEVELS_5_6,
        PAGE("models", "2026-11-15"),
    },
    {
        /* Another name of gpt-5.6-sol. */
        .id = "gpt-5.6",
        .name = "GPT-5.6 Sol",
        .context_window = 1050000,
        .max_output = 128000,
        INPUT_922K,
        .price = {USD(4), USD(20), USD(0.40), UNKNOWN, ABOVE_272K, SEARCH},
        .capabilities = GPT_5_1,
        .efforts = LEVELS_5_6,
        PAGE("models", "2026-11-15"),
    },
    {
        .id = "gpt-5.6-terra",
        .name = "GPT-5.6 Terra",
        .context_window = 1050000,
        .max_output = 128000,
        INPUT_922K,
        .price = {USD(2), USD(12), USD(0.20), USD(2.50), ABOVE_272K, SEARCH},
        .capabilities = GPT_5_1,
        .efforts = LEVELS_5_6,
        PAGE("models", "2026-11-15"),
    },
    {
        .id = "gpt-5.6-luna",
        .name = "GPT-5.6 Luna",
        .context_window = 1050000,
        .max_output = 128000,
        INPUT_922K,
        .price = {USD(0.20), USD(1.20), USD(0.02), USD(0.25), ABOVE_272K, SEARCH},
        .capabilities = GPT_5_1,
        .efforts = LEVELS_5_6,
        PAGE("models", "2026-11-15"),
    },
    {
        .id = "gpt-5.5",
        .name = "GPT-5.5",
        .context_window = 1050000,
        .max_output = 128000,
        INPUT_922K,
        .price = {USD(5), USD(30), USD(0.50), UNKNOWN, ABOVE_272K, SEARCH},
        .capabilities = GPT_5_1,
        .efforts = LEVELS_5_2,
        PAGE("models/gpt-5.5", "2026-08-08"),
    },
    {
        .id = "gpt-5.4",
        .name = "GPT-5.4",
        .context_window = 1050000,
        .max_output = 128000,
        INPUT_922K,
        .price = {USD(2.50), USD(15), USD(0.25), UNKNOWN, ABOVE_272K, SEARCH},
        .capabilities = GPT_5_1,
        .efforts = LEVELS_5_2,
        PAGE("models/gpt-5.4", "2026-08-08"),
    },
    {
        .id = "gpt-5.4-mini",
        .name = "GPT-5.4 mini",
        .context_window = 400000,
        .max_output = 128000,
        INPUT_272K,
        .price = {USD(0.75), USD(4.50), USD(0.075), UNKNOWN, SEARCH},
        .capabilities = GPT_5_1,
        .efforts = LEVELS_5_2,
        PAGE("models/gpt-5.4-mini", "2026-08-08"),
    },
    {
        .id = "gpt-5.4-nano",
        .name = "GPT-5.4 nano",
        .context_window = 400000,
        .max_output = 128000,
        INPUT_272K,
        .price = {USD(0.20), USD(1.25), USD(0.02), UNKNOWN, SEARCH},
        .capabilities = GPT_5_1,
        .efforts = LEVELS_5_2,
        PAGE("models/gpt-5.4-nano", "2026-08-08"),
    },
    {
        .id = "gpt-5.2",
        .name = "GPT-5.2",
        .context_window = 400000,
        .max_output = 128000,
        INPUT_272K,
        .price = {USD(1.75), USD(14), USD(0.175), UNKNOWN, SEARCH},
        .capabilities = GPT_5_1,
        .efforts = LEVELS_5_2,
        PAGE("models/gpt-5.2", "2026-08-08"),
    },
    {
        .id = "gpt-5.1",
        .name = "GPT-5.1",
        .context_window = 400000,
        .max_output = 128000,
        INPUT_272K,
        .price = {USD(1.25), USD(10), USD(0.125), UNKNOWN, SEARCH},
        .lifecycle = LIFECYCLE_DEPRECATED, /* ends on 2027-04-01 */
        .capabilities = GPT_5_1,
        .efforts = LEVELS_5_1,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "gpt-5",
        .name = "GPT-5",
        .context_window = 400000,
        .max_output = 128000,
        INPUT_272K,
        .price = {USD(1.25), USD(10), USD(0.125), UNKNOWN, SEARCH},
        .lifecycle = LIFECYCLE_DEPRECATED, /* ends on 2026-12-11 */
        .capabilities = GPT_5 | REASONS_ALWAYS,
        .efforts = LEVELS_5,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "gpt-5-mini",
        .name = "GPT-5 mini",
        .context_window = 400000,
        .max_output = 128000,
        INPUT_272K,
        .price = {USD(0.25), USD(2), USD(0.025), UNKNOWN, SEARCH},
        .lifecycle = LIFECYCLE_DEPRECATED, /* ends on 2026-12-11 */
        .capabilities = GPT_5 | REASONS_ALWAYS,
        .efforts = LEVELS_5,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "gpt-5-nano",
        .name = "GPT-5 nano",
        .context_window = 400000,
        .max_output = 128000,
        INPUT_272K,
        .price = {USD(0.05), USD(0.40), USD(0.005), UNKNOWN, SEARCH},
        .lifecycle = LIFECYCLE_DEPRECATED, /* ends on 2026-12-11 */
        .capabilities = GPT_5 | REASONS_ALWAYS,
        .efforts = LEVELS_5,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "o3",
        .name = "o3",
        .context_window = 200000,
        .max_output = 100000,
        .price = {USD(2), USD(8), USD(0.50), UNKNOWN, SEARCH},
        .lifecycle = LIFECYCLE_DEPRECATED, /* ends on 2026-12-11 */
        .capabilities = GPT_5 | REASONS_ALWAYS,
        .efforts = LEVELS_O,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "gpt-4.1",
        .name = "GPT-4.1",
        .context_window = 1047576,
        .max_output = 32768,
        .price = {USD(2), USD(8), USD(0.50), UNKNOWN, SEARCH},
        .lifecycle = LIFECYCLE_DEPRECATED, /* ends on 2027-01-14 */
        .capabilities = GPT_4,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "gpt-4.1-mini",
        .name = "GPT-4.1 mini",
        .context_window = 1047576,
        .max_output = 32768,
        .price = {USD(0.40), USD(1.60), USD(0.10), UNKNOWN, SEARCH},
        .lifecycle = LIFECYCLE_DEPRECATED, /* ends on 2027-01-14 */
        .capabilities = GPT_4,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "gpt-4o",
        .name = "GPT-4o",
        .context_window = 128000,
        .max_output = 16384,
        .price = {USD(2.50), USD(10), USD(1.25), UNKNOWN, SEARCH},
        .lifecycle = LIFECYCLE_DEPRECATED, /* ends on 2027-01-14 */
        .capabilities = GPT_4,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "gpt-4o-mini",
        .name = "GPT-4o mini",
        .context_window = 128000,
        .max_output = 16384,
        .price = {USD(0.15), USD(0.60), USD(0.075), UNKNOWN, SEARCH},
        .lifecycle = LIFECYCLE_DEPRECATED, /* ends on 2027-01-14 */
        .capabilities = GPT_4,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "o4-mini",
        .name = "o4-mini",
        .context_window = 200000,
        .max_output = 100000,
        .price = {USD(1.10), USD(4.40), USD(0.275), UNKNOWN, SEARCH},
        .lifecycle = LIFECYCLE_RETIRED, /* on 2026-10-23 */
        .capabilities = GPT_5 | REASONS_ALWAYS,
        .efforts = LEVELS_O,
        PRICE_LIST("2026-11-15"),
    },
};

const struct catalogue catalogue_openai = {models, ARRAY_LEN(models)};
