/* settings_keys.c - every setting that keel knows. A module that needs one adds its row here. */
#include "sdk/settings.h"

const struct setting_key setting_keys[] = {
    /* providers */
    {"currentProvider", SETTING_STRING, .help = "the profile to use when --model names none"},
    {"providers", SETTING_OBJECT, .help = "provider profiles by name"},
    {"providers.*", SETTING_OBJECT, .help = "one profile"},
    {"providers.*.type", SETTING_STRING, .help = "a vendor (anthropic, openai, ...) or a protocol"},
    {"providers.*.baseUrl", SETTING_STRING, .help = "where the API is"},
    {"providers.*.apiKey", SETTING_STRING, .help = "the key, better as \"$ENV:NAME\""},
    {"providers.*.model", SETTING_STRING, .help = "the model to ask"},
    {"providers.*.contextWindow", SETTING_INTEGER, .help = "tokens; wins over the catalogue"},
    {"providers.*.maxOutput", SETTING_INTEGER, .help = "tokens; wins over the catalogue"},
    {"providers.*.timeout", SETTING_INTEGER, .help = "longest silence of the provider, in ms"},
    {"providers.*.maxAttempts", SETTING_INTEGER, .help = "wins over maxAttempts"},
    {"providers.*.headers", SETTING_OBJECT, .help = "further HTTP headers"},
    {"providers.*.headers.*", SETTING_STRING, .help = "one header"},
    {"providers.*.options", SETTING_ANY, .help = "members of the request's body, passed unread"},
    {"model", SETTING_STRING, .help = "vendor/model, as with --model"},
    {"maxAttempts", SETTING_INTEGER, .help = "requests to one model before it is given up (5)"},
    {"pricing", SETTING_OBJECT, .help = "USD per million tokens: vendor/model to prices"},
    {"pricing.*", SETTING_OBJECT, .help = "one model's prices"},
    {"pricing.*.input", SETTING_NUMBER, .help = "USD per million input tokens"},
    {"pricing.*.output", SETTING_NUMBER, .help = "USD per million output tokens"},
    {"pricing.*.cacheRead", SETTING_NUMBER, .help = "USD per million tokens read from the cache"},
    {"pricing.*.cacheWrite", SETTING_NUMBER, .help = "USD per million tokens written to it"},

    /* rules; they add up over the layers */
    {"permissions", SETTING_OBJECT, .untrusted_ok = true, .help = "what tools may do"},
    {"permissions.allow", SETTING_STRINGS, MERGE_ADD, .help = "allowed without asking"},
    {"permissions.ask", SETTING_STRINGS, MERGE_ADD, .untrusted_ok = true, .help = "always asked"},
    {"permissions.deny", SETTING_STRINGS, MERGE_ADD, .untrusted_ok = true, .help = "never allowed"},
    {"permissions.defaultMode", SETTING_STRING,
     .help = "plan, default, acceptEdits or bypassPermissions"},
    {"permissions.onAsk", SETTING_STRING,
     .help = "where nobody can be asked: deny the call, or suspend the run"},
    {"hooks", SETTING_OBJECT, .help = "commands at points of a session's life"},
    {"hooks.*", SETTING_ANY, MERGE_ADD, .help = "hook groups of one event"},

    /* tools */
    {"toolTimeout", SETTING_INTEGER, .help = "how long a tool may take, in ms (300000)"},
    {"toolTimeouts", SETTING_OBJECT, .help = "the same for single tools, by name"},
    {"toolTimeouts.*", SETTING_INTEGER, .help = "how long this tool may take, in ms"},
    {"toolResponseMaxBytes", SETTING_INTEGER,
     .help = "longer results are stored and shortened (12288)"},
    {"webSearch", SETTING_OBJECT, .help = "what WebSearch asks"},
    {"webSearch.provider", SETTING_STRING,
     .help = "native (the model's own), brave, searxng or command"},
    {"webSearch.url", SETTING_STRING, .help = "where it is: a SearXNG's address"},
    {"webSearch.command", SETTING_STRING, .help = "gets the query, prints results as JSON"},
    {"webSearch.keyVariable", SETTING_STRING, .help = "the variable with the key (BRAVE_API_KEY)"},
    {"webFetch", SETTING_OBJECT, .help = "what WebFetch may do"},
    {"webFetch.allow", SETTING_STRINGS, .help = "hosts to fetch from though they are private"},

    /* this program */
    {"logLevel", SETTING_STRING, .help = "error, warn, info, debug or trace"},
    {0},
};
