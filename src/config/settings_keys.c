/* settings_keys.c - joins the tables of the modules that read settings. */
#include "config/settings_keys.h"

/* What several modules read. */
static const struct setting_key other_settings[] = {
    {"caFile", SETTING_STRING, .not_from = FROM_PROJECT | FROM_OTHERS,
     .help = "additional CA certificates, a PEM file; only from your own settings"},
    {0},
};

const struct setting_key *const setting_tables[] = {
    profile_settings, target_settings,  rule_settings,     hook_settings,  run_settings,
    sandbox_settings, network_settings, snapshot_settings, store_settings, prune_settings,
    session_settings, log_settings,     other_settings,    NULL,
};
