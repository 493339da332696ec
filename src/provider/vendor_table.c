/* vendor_table.c - the vendors: a row each, no code.
 *
 * The order is that in which keel looks for keys when nothing else is said. */
#include "provider/vendor.h"

const struct vendor vendors[] = {
    {
        .name = "anthropic",
        .display_name = "Anthropic",
        .aliases = "claude",
        .protocol = &protocol_anthropic_messages,
        .base_url = "https://api.anthropic.com",
        .base_url_env = "ANTHROPIC_BASE_URL",
        .key_env = "ANTHROPIC_API_KEY",
        .auth = AUTH_X_API_KEY,
        .default_model = "claude-sonnet-5",
        .has_web_search = true,
        .has_web_fetch = true,
        .models_path = "/v1/models?limit=1000",
        .api_key_url = "https://console.anthropic.com/settings/keys",
        .console_url = "https://console.anthropic.com",
        .official_url = "https://docs.anthropic.com",
        .setup_prompt = "Paste your Anthropic API key",
        .catalogue_status = CATALOGUE_FALLBACK,
    },
    {0},
};
