/* catalogue_mistral.c - Mistral's models. Names that end in "latest" move and are omitted; most
 * outputs have no limit of their own. */
#include "provider/catalogue.h"

#define DOCS "https://docs.mistral.ai/"
#define MODELS SOURCE(DOCS "models", "2026-07-02")

#define MISTRAL (CAN_TOOLS | CAN_FOLLOW_SCHEMA)
/* These reason at one level, or not at all, which is the default. */
#define REASONS (CAN_REASON | REASONS_IF_ASKED)
#define LEVELS (EFFORT_BIT(EFFORT_NONE) | EFFORT_BIT(EFFORT_HIGH))

static const struct model_info models[] = {
    {
        .id = "mistral-large-4",
        .name = "Mistral Large 4",
        .context_window = 1000000,
        .max_output = 262144,
        .price = {USD(1.36), USD(4.18), USD(0.14), UNKNOWN},
        .lifecycle = LIFECYCLE_PREVIEW,
        .capabilities = MISTRAL | CAN_SEE_IMAGES | REASONS | CAN_CACHE_PROMPT,
        .efforts = LEVELS,
        PRICE_LIST("2026-11-15"),
    },
    {
        .id = "mistral-medium-3.5",
        .name = "Mistral Medium 3.5",
        .context_window = 262144,
        .price = {USD(1.50), USD(7.50), UNKNOWN, UNKNOWN},
        .capabilities = MISTRAL | CAN_SEE_IMAGES | REASONS,
        .efforts = LEVELS,
        SOURCE(DOCS "models/model-cards/mistral-medium-3-5-26-04", "2026-08-08"),
    },
    {
        .id = "mistral-medium-2604",
        .name = "Mistral Medium 3.5",
        .context_window = 262144,
        .price = {USD(1.50), USD(7.50), UNKNOWN, UNKNOWN},
        .capabilities = MISTRAL | CAN_SEE_IMAGES | REASONS,
        .efforts = LEVELS,
        SOURCE(DOCS "models/model-cards/mistral-medium-3-5-26-04", "2026-08-08"),
    },
    {
        .id = "mistral-small-2603",
        .name = "Mistral Small 4",
        .context_window = 256000,
        .price = {USD(0.15), USD(0.60), UNKNOWN, UNKNOWN},
        .capabilities = MISTRAL | CAN_SEE_IMAGES | REASONS,
        .efforts = LEVELS,
        MODELS,
    },
    {
        .id = "mistral-large-2512",
        .name = "Mistral Large 3",
        .context_window = 262144,
        .price = {USD(0.50), USD(1.50), UNKNOWN, UNKNOWN},
        .capabilities = MISTRAL | CAN_SEE_IMAGES,
        MODELS,
    },
    {
        .id = "codestral-2508",
        .name = "Codestral",
        .context_window = 256000,
        .price = {USD(0.30), USD(0.90), UNKNOWN, UNKNOWN},
        .capabilities = MISTRAL,
        MODELS,
    },
    {
        .id = "devstral-2512",
        .name = "Devstral 2",
        .context_window = 262144,
        .price = {USD(0.40), USD(2), UNKNOWN, UNKNOWN},
        .lifecycle = LIFECYCLE_DEPRECATED,
        .capabilities = MISTRAL,
        MODELS,
    },
};

const struct catalogue catalogue_mistral = {models, ARRAY_LEN(models)};
