/* settings_keys.c - joins the tables of the modules that read settings. */
#include "sdk/settings_keys.h"

#include "sdk/agent.h"

/* What several modules read, or a face alone. */
static const struct setting_key other_settings[] = {
    {"caFile", SETTING_STRING, .not_from = FROM_PROJECT | FROM_OTHERS,
     .help = "additional CA certificates, a PEM file; only from your own settings"},
    {"background", SETTING_OBJECT, .help = "background commands"},
    {"background.waitSeconds", SETTING_INTEGER, .most = AGENT_MAX_WAIT_SECONDS,
     .help = "how long keel -p waits for them after the answer before it stops them (600)"},
    {0},
};

const struct setting_key *const setting_tables[] = {
    profile_settings, target_settings,  rule_settings,     hook_settings,  run_settings,
    sandbox_settings, network_settings, snapshot_settings, store_settings, prune_settings,
    session_settings, log_settings,     other_settings,    NULL,
};
