/* settings_keys.h - every setting that keel knows, in tables.
 *
 * A module that reads settings has a table of them beside its readers, declared here and named in
 * settings_keys.c. `keel config keys` lists them in this order. */
#ifndef KEEL_CONFIG_SETTINGS_KEYS_H
#define KEEL_CONFIG_SETTINGS_KEYS_H

#include "config/settings.h"

struct setting_key {
    const char *path; /* "providers.*.baseUrl": dots between members, * is any one member */
    enum setting_type type;
    enum { MERGE_REPLACE, MERGE_ADD } merge;
    const char *words;   /* those that a string may be: "5m, 1h, off"; NULL: any */
    int64_t least, most; /* of an integer; most 0: no limit */
    bool untrusted_ok;   /* may come from a project that is not trusted */
    unsigned not_from;   /* files that cannot set it: a bit each */
    const char *help;    /* one line, for `keel config` */
};

/* Each ends with a row without a path. */
extern const struct setting_key profile_settings[], target_settings[], rule_settings[],
    hook_settings[], run_settings[], sandbox_settings[], network_settings[], snapshot_settings[],
    store_settings[], prune_settings[], session_settings[], log_settings[];

/* All of them; NULL at the end. */
extern const struct setting_key *const setting_tables[];
#define setting_keys_each(key)                                                                     \
    for (const struct setting_key *const *key##_table = setting_tables; *key##_table;              \
         key##_table++)                                                                            \
        for (const struct setting_key *key = *key##_table; key->path; key++)

#endif
