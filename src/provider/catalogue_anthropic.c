/* catalogue_anthropic.c - Claude models. Cache writes are those of five minutes: 1.25 times the
 * input; those of an hour cost twice the input. */
#include "provider/catalogue.h"

#define DOCS "https://platform.claude.com/docs/en/"
#define OVERVIEW(model) SOURCE(DOCS "models/" model "/overview", "2026-11-15")
#define PRICES SOURCE(DOCS "about-claude/pricing", "2026-11-15")

/* https://platform.claude.com/docs/en/about-claude/pricing: 10 dollars for 1,000 searches; a cache
 * of an hour costs 160 % of one of five minutes. */
#define FEES .search = USD(0.01), .long_cache_percent = 160

/* Until 4.5, thinking has a budget. Models of 4.6 choose it themselves; those from 4.7 on refuse
 * the old way, and sampling with it. */
#define CLAUDE                                                                                     \
    (CAN_TOOLS | CAN_SEE_IMAGES | CAN_READ_PDF | CAN_REASON | CAN_FOLLOW_SCHEMA | CAN_SEARCH_WEB | \
     CAN_CACHE_PROMPT)
#define CLAUDE_4_6 (CLAUDE | REASONS_ADAPTIVELY | TAKES_TOOLS_OF_2026)
#define CLAUDE_4_7 (CLAUDE_4_6 | NO_SAMPLING)
/* Thinking cannot be switched off, and no tool can be forced. */
#define CLAUDE_5_1 (CLAUDE_4_7 | REASONS_ALWAYS | NO_FORCED_TOOLS)

/* https://platform.claude.com/docs/en/build-with-claude/effort: "xhigh" came with Opus 4.7;
 * Opus 4.5 has three levels beside its budget, and the other models of 4.5 none. */
#define LEVELS_4_7 EFFORTS(EFFORT_LOW, EFFORT_MAX)
#define LEVELS_4_6 (LEVELS_4_7 & ~EFFORT_BIT(EFFORT_XHIGH))
#define LEVELS_4_5 EFFORTS(EFFORT_LOW, EFFORT_HIGH)

static const struct model_info models[] = {
    {
        .id = "claude-fable-5-2",
        .name = "Claude Fable 5.2",
        .context_window = 1000000,
        .max_output = 128000,
        .price = {USD(8), USD(40), USD(0.20), USD(10), FEES},
        .capabilities = CLAUDE_5_1,
        .efforts = LEVELS_4_7,
        SOURCE(DOCS "models/overview", "2026-11-15"),
    },
    {
        .id = "claude-opus-5-5",
        .name = "Claude Opus 5.5",
        .context_window = 1000000,
        .max_output = 128000,
        .price = {USD(4), USD(20), USD(0.20), USD(5), FEES},
        .capabilities = CLAUDE_5_1,
        .efforts = LEVELS_4_7,
        OVERVIEW("opus-5-5"),
    },
    {
        .id = "claude-sonnet-5-5",
        .name = "Claude Sonnet 5.5",
        .context_window = 1000000,
        .max_output = 128000,
        .price = {USD(2), USD(10), USD(0.10), USD(2.50), FEES},
        .capabilities = CLAUDE_5_1 | REASONS_BETWEEN_TOOLS,
        .efforts = LEVELS_4_7,
        OVERVIEW("sonnet-5-5"),
    },
    {
        .id = "claude-haiku-5-5",
        .name = "Claude Haiku 5.5",
        .context_window = 1000000,
        .max_output = 128000,
        .price = {USD(0.10), USD(0.50), USD(0.01), USD(0.125), 100000, 500, 500, FEES},
        .capabilities = CLAUDE_4_7,
        .efforts = LEVELS_4_7,
        OVERVIEW("haiku-5-5"),
    },
    {
        .id = "claude-fable-5-1",
        .name = "Claude Fable 5.1",
        .context_window = 1000000,
        .max_output = 128000,
        .price = {USD(10), USD(50), USD(0.25), USD(12.50), FEES},
        .capabilities = CLAUDE_5_1,
        .efforts = LEVELS_4_7,
        PRICES,
    },
    {
        .id = "claude-fable-5",
        .name = "Claude Fable 5",
        .context_window = 1000000,
        .max_output = 128000,
        .price = {USD(10), USD(50), USD(1), USD(12.50), FEES},
        .capabilities = CLAUDE_4_7 | REASONS_ALWAYS,
        .efforts = LEVELS_4_7,
        OVERVIEW("fable-5"),
    },
    {
        .id = "claude-opus-5",
        .name = "Claude Opus 5",
        .context_window = 1000000,
        .max_output = 128000,
        .price = {USD(5), USD(25), USD(0.50), USD(6.25), FEES},
        .capabilities = CLAUDE_4_7,
        .efforts = LEVELS_4_7,
        OVERVIEW("opus-5"),
    },
    {
        .id = "claude-sonnet-5",
        .name = "Claude Sonnet 5",
        .context_window = 1000000,
        .max_output = 128000,
        .price = {USD(2), USD(10), USD(0.20), USD(2.50), FEES},
        .capabilities = CLAUDE_4_7 | CAN_FETCH_WEB,
        .efforts = LEVELS_4_7,
        OVERVIEW("sonnet-5"),
    },
    {
        .id = "claude-opus-4-8",
        .name = "Claude Opus 4.8",
        .context_window = 1000000,
        .max_output = 128000,
        .price = {USD(5), USD(25), USD(0.50), USD(6.25), FEES},
        .capabilities = CLAUDE_4_7 | CAN_FETCH_WEB,
        .efforts = LEVELS_4_7,
        PRICES,
    },
    {
        .id = "claude-opus-4-7",
        .name = "Claude Opus 4.7",
        .context_window = 1000000,
        .max_output = 128000,
        .price = {USD(5), USD(25), USD(0.50), USD(6.25), FEES},
        .capabilities = CLAUDE_4_7 | CAN_FETCH_WEB,
        .efforts = LEVELS_4_7,
        PRICES,
    },
    {
        .id = "claude-opus-4-6",
        .name = "Claude Opus 4.6",
        .context_window = 1000000,
        .max_output = 128000,
        .price = {USD(5), USD(25), USD(0.50), USD(6.25), FEES},
        .capabilities = CLAUDE_4_6 | CAN_FETCH_WEB,
        .efforts = LEVELS_4_6,
        PRICES,
    },
    {
        .id = "claude-sonnet-4-6",
        .name = "Claude Sonnet 4.6",
        .context_window = 1000000,
        .max_output = 128000,
        .price = {USD(3), USD(15), USD(0.30), USD(3.75), FEES},
        .capabilities = CLAUDE_4_6 | CAN_FETCH_WEB,
        .efforts = LEVELS_4_6,
        PRICES,
    },
    {
        .id = "claude-haiku-4-5",
        .name = "Claude Haiku 4.5",
        .context_window = 200000,
        .max_output = 64000,
        .price = {USD(1), USD(5), USD(0.10), USD(1.25), FEES},
        .capabilities = CLAUDE | CAN_FETCH_WEB,
        PRICES,
    },
    {
        .id = "claude-opus-4-5",
        .name = "Claude Opus 4.5",
        .context_window = 200000,
        .max_output = 64000,
        .price = {USD(5), USD(25), USD(0.50), USD(6.25), FEES},
        .capabilities = CLAUDE | CAN_FETCH_WEB,
        .efforts = LEVELS_4_5,
        PRICES,
    },
    {
        .id = "claude-sonnet-4-5",
        .name = "Claude Sonnet 4.5",
        .context_window = 200000,
        .max_output = 64000,
        .price = {USD(3), USD(15), USD(0.30), USD(3.75), FEES},
        .lifecycle = LIFECYCLE_DEPRECATED, /* ends on 2026-11-30 */
        .capabilities = CLAUDE | CAN_FETCH_WEB,
        OVERVIEW("sonnet-4-5"),
    },
};

const struct catalogue catalogue_anthropic = {models, ARRAY_LEN(models)};
