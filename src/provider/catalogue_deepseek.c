/* catalogue_deepseek.c - DeepSeek's models, at the prices of peak hours; at other hours they cost
 * half. */
#include "provider/catalogue.h"

#define PAGE SOURCE("https://api-docs.deepseek.com/quick_start/pricing", "2026-11-15")

#define DEEPSEEK (CAN_TOOLS | CAN_REASON | CAN_CACHE_PROMPT)

/* https://api-docs.deepseek.com/guides/thinking_mode */
#define LEVELS                                                                                     \
    (EFFORT_BIT(EFFORT_NONE) | EFFORT_BIT(EFFORT_LOW) | EFFORT_BIT(EFFORT_HIGH) |                  \
     EFFORT_BIT(EFFORT_MAX))

static const struct model_info models[] = {
    {
        .id = "deepseek-flash",
        .name = "DeepSeek V4.1 Flash",
        .context_window = 1000000,
        .max_output = 384000,
        .price = {USD(0.30), USD(1.20), USD(0.006), UNKNOWN},
        .capabilities = DEEPSEEK | CAN_SEE_IMAGES,
        .efforts = LEVELS,
        PAGE,
    },
    {
        .id = "deepseek-v4-pro",
        .name = "DeepSeek V4 Pro",
        .context_window = 1000000,
        .max_output = 384000,
        .price = {USD(1.32), USD(3.96), USD(0.044), UNKNOWN},
        .capabilities = DEEPSEEK,
        .efforts = LEVELS,
        PAGE,
    },
    {
        /* The old name of deepseek-flash, which answers to it, at its price. */
        .id = "deepseek-v4-flash",
        .name = "DeepSeek V4 Flash",
        .context_window = 1000000,
        .max_output = 384000,
        .price = {USD(0.30), USD(1.20), USD(0.006), UNKNOWN},
        .lifecycle = LIFECYCLE_DEPRECATED,
        .capabilities = DEEPSEEK | CAN_SEE_IMAGES,
        .efforts = LEVELS,
        PAGE,
    },
    {
        .id = "deepseek-v4-flash-vision-exp",
        .name = "DeepSeek V4 Flash Vision",
        .context_window = 1000000,
        .max_output = 384000,
        .price = {USD(0.30), USD(1.20), USD(0.006), UNKNOWN},
        .lifecycle = LIFECYCLE_DEPRECATED,
        .capabilities = DEEPSEEK | CAN_SEE_IMAGES,
        .efforts = LEVELS,
        PAGE,
    },
};

const struct catalogue catalogue_deepseek = {models, ARRAY_LEN(models)};
