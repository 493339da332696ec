/* settings.h - layered settings: who said what, merged by rule, strict about our own keys.
 *
 * Layers, high to low: flags and environment; .keel/settings.local.json; .keel/settings.json; the
 * same two under .robota/ and .claude/; then ~/.keel/settings.json, ~/.robota/ and ~/.claude/.
 * Objects merge member by member, arrays replace, except keys that say MERGE_ADD: they
 * add up over the layers. `$ENV:NAME` is resolved when a value is read, so that a secret is never
 * held here; an unset variable makes the value missing.
 *
 * Each module lists its keys in a table (settings_keys.h). A known key with the wrong
 * type is an error that names file, key and expected type, a key that does not exist one that names
 * the nearest; foreign files may have any keys, and no complaint about them stops keel. What a
 * file cannot set is not part of its layer. Layers of a project that is not trusted contribute only
 * keys marked `untrusted_ok`, and what they list as allowed can only shorten the list below it. */
#ifndef KEEL_CONFIG_SETTINGS_H
#define KEEL_CONFIG_SETTINGS_H

#include "base/json.h"
#include "sys/env.h"

enum layer {
    LAYER_FLAGS,        /* command line and environment */
    LAYER_LOCAL,        /* .keel/settings.local.json */
    LAYER_PROJECT,      /* .keel/settings.json */
    LAYER_ROBOTA_LOCAL, /* .robota/settings.local.json */
    LAYER_ROBOTA,       /* .robota/settings.json */
    LAYER_CLAUDE_LOCAL, /* .claude/settings.local.json */
    LAYER_CLAUDE,       /* .claude/settings.json */
    LAYER_USER,         /* ~/.keel/settings.json (KEEL_HOME) */
    LAYER_ROBOTA_USER,  /* ~/.robota/settings.json */
    LAYER_CLAUDE_USER,  /* ~/.claude/settings.json */
    N_LAYERS
};

enum setting_type {
    SETTING_STRING,
    SETTING_BOOL,
    SETTING_INTEGER, /* 0 or more, and in the limits of its row */
    SETTING_USD,     /* 0 or more */
    SETTING_SHARE,   /* more than 0, at most 1 */
    SETTING_STRINGS, /* array of strings */
    SETTING_OBJECT,
    SETTING_ANY,
};

enum setting_source {
    FROM_PROJECT = 1,
    FROM_OTHERS = 2, /* files of another program */
    FROM_CLAUDE = 4, /* of these, Claude Code's: the same word means something else there */
    FROM_UNTRUSTED = 8,
};

struct settings;

struct project_files;

struct settings_sources {
    const char *home;                    /* the user's home directory; NULL: no user layers */
    const char *keel_home;               /* KEEL_HOME; NULL: home + "/.keel" */
    const char *project_dir;             /* for messages; NULL: no project layers */
    const struct project_files *project; /* its files, which are not read again */
    bool project_is_trusted;
    struct str trust_note; /* what a person must know about its trust; may be empty */
    unsigned skipped;      /* layers whose files are not read: a bit each, 1 << LAYER_USER */
    const char *const *environment; /* for $ENV:; NULL: environ */
    /* The highest layer, already as a tree: what flags and environment say, and the file that
     * --settings names (settings_parse_file, settings_merge). May be NULL. */
    const struct json *flags;
    /* Told of a file of keel's own that cannot be used, which is then left out. NULL: loading
     * fails. The error is borrowed. */
    void (*on_broken)(void *self, const struct err *e);
    void *self;
};

MUST_USE struct err *settings_load(const struct settings_sources *sources,
                                   struct settings **ret_settings);
void settings_free(struct settings *s);
DEFINE_AUTO_PTR(settings, settings_free)

/* The merged tree; "$ENV:" still stands in it. */
const struct json *settings_root(const struct settings *s);
/* By path: "providers.x.baseUrl"; a name with a dot in it stands in double quotes. */
const struct json *settings_get(const struct settings *s, const char *path);
/* A string with $ENV: resolved into `a`; empty if missing, unset or no string. */
struct str settings_text(const struct settings *s, const char *path, struct arena *a);
int64_t settings_int(const struct settings *s, const char *path, int64_t otherwise);
bool settings_bool(const struct settings *s, const char *path, bool otherwise);

/* Where the value at `path` came from: the layer of the highest one that said it. */
struct setting_origin {
    enum layer layer;
    struct str file; /* empty for LAYER_FLAGS */
    bool is_set;
};
struct setting_origin settings_origin(const struct settings *s, const char *path);
/* All layers that said something at `path`, from high to low: start with *at = 0; false after the
 * last. More than the first count only where values add up. */
bool settings_next_origin(const struct settings *s, const char *path, size_t *at,
                          struct setting_origin *ret_origin);

/* Things to tell the person once: files that could not be used, keys left out for lack of trust. */
size_t settings_n_warnings(const struct settings *s);
struct str settings_warning(const struct settings *s, size_t index);

/* Parses a settings file's text and checks our keys; `file` is for messages. */
MUST_USE struct err *settings_parse_file(struct arena *a, struct str text, const char *file,
                                         struct json **ret_tree);
/* The same for --settings, where programs also pass what is meant for another one: a key is wrong
 * only if it is like one of ours. */
MUST_USE struct err *settings_parse_flag(struct arena *a, struct str text, const char *file,
                                         struct json **ret_tree);
/* Merges `over` into `under` (both in `a`) by the rules above. */
struct json *settings_merge(struct arena *a, struct json *under, const struct json *over) MUST_USE;

const char *layer_name(enum layer l);
bool layer_is_foreign(enum layer l); /* written for another program */
bool layer_is_robota(enum layer l);  /* of these, Robota's */
bool layer_is_project(enum layer l); /* in the project's directory */
/* What one layer says, as far as it may be used, and its file; NULL: nothing. For what is read file
 * by file, with the file's name in messages. */
const struct json *settings_layer(const struct settings *s, enum layer l, struct str *ret_file);
/* Names of what the file of a layer says and cannot set, with commas; empty: nothing. */
struct str settings_ignored(const struct settings *s, enum layer l);
/* What keel takes from another program's file, and what it ignores there, for a person; empty:
 * there is no such file, or nothing in it. */
struct str settings_foreign_note(const struct settings *s, enum layer l, struct arena *a);
/* All that the file of a layer says, though its project is not trusted. NULL: it is, or there is no
 * such file. */
const struct json *settings_untrusted(const struct settings *s, enum layer l);

#endif
