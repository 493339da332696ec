/* catalogue_xai.c - Grok models. Their output has no limit of its own. */
#include "provider/catalogue.h"

#define DOCS "https://docs.x.ai/developers/"

/* A prompt of 200,000 tokens or more costs twice as much, and so does its answer. */
#define ABOVE_200K 199999, 200, 200

/* https://docs.x.ai/developers/pricing: 5 dollars for 1,000 of them. */
#define SEARCH .search = USD(0.005)

#define GROK                                                                                       \
    (CAN_TOOLS | CAN_SEE_IMAGES | CAN_REASON | CAN_FOLLOW_SCHEMA | CAN_SEARCH_WEB |                \
     CAN_CACHE_PROMPT)

static const struct model_info models[] = {
    {
        .id = "grok-4.7",
        .name = "Grok 4.7",
        .context_window = 500000,
        .price = {USD(2), USD(6), USD(0.50), UNKNOWN, ABOVE_200K, SEARCH},
        .capabilities = GROK | REASONS_ALWAYS,
        .efforts = EFFORTS(EFFORT_LOW, EFFORT_XHIGH),
        SOURCE(DOCS "grok-4-7", "2026-11-15"),
    },
    {
        .id = "grok-4.6",
        .name = "Grok 4.6",
        .context_window = 500000,
        .price = {USD(2), USD(6), USD(0.50), UNKNOWN, ABOVE_200K, SEARCH},
        .capabilities = GROK | REASONS_ALWAYS,
        .efforts = EFFORTS(EFFORT_LOW, EFFORT_XHIGH),
        SOURCE(DOCS "grok-4-6", "2026-08-14"),
    },
    {
        .id = "grok-4.5",
        .name = "Grok 4.5",
        .context_window = 500000,
        .price = {USD(2), USD(6), USD(0.50), UNKNOWN, ABOVE_200K, SEARCH},
        .capabilities = GROK | REASONS_ALWAYS,
        .efforts = EFFORTS(EFFORT_LOW, EFFORT_HIGH),
        SOURCE(DOCS "grok-4-5", "2026-08-08"),
    },
    {
        .id = "grok-4.3",
        .name = "Grok 4.3",
        .context_window = 1000000,
        .price = {USD(1.25), USD(2.50), USD(0.20), UNKNOWN, ABOVE_200K, SEARCH},
        .capabilities = GROK,
        .efforts = EFFORT_BIT(EFFORT_NONE) | EFFORTS(EFFORT_LOW, EFFORT_HIGH),
        SOURCE(DOCS "models", "2026-08-08"),
    },
};

const struct catalogue catalogue_xai = {models, ARRAY_LEN(models)};
