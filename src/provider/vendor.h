/* vendor.h - who offers models: one row per vendor, over the protocols that keel speaks.
 *
 * A vendor is data. What it does differently from the protocol's inventor stands in its dialect;
 * nothing else in keel knows its name. */
#ifndef KEEL_PROVIDER_VENDOR_H
#define KEEL_PROVIDER_VENDOR_H

#include "model/catalogue.h"
#include "port/media.h"
#include "provider/protocol.h"

enum auth_style {
    AUTH_BEARER,         /* Authorization: Bearer KEY */
    AUTH_X_API_KEY,      /* x-api-key: KEY */
    AUTH_API_KEY,        /* api-key: KEY */
    AUTH_X_GOOG_API_KEY, /* x-goog-api-key: KEY */
    AUTH_BOTH,           /* x-api-key: KEY and Authorization: Bearer KEY */
    AUTH_AWS,            /* signed with a key of AWS, or Authorization: Bearer KEY */
    AUTH_GOOGLE,         /* Authorization: Bearer TOKEN, of a Google account */
};

enum key_need { KEY_REQUIRED, KEY_OPTIONAL, KEY_NONE };

/* A part of an address that the person chooses: "{region}" in base_url and base_path. The setting
 * providers.*.NAME says it, or one of the variables. */
struct vendor_place {
    const char *name;  /* NULL: there is none */
    const char *env;   /* separated by spaces, first wins */
    const char *usual; /* NULL: it must be said */
};

struct vendor {
    const char *name;         /* "anthropic" */
    const char *display_name; /* "Anthropic" */
    const char *aliases;      /* separated by spaces; "" for none */
    const struct protocol *protocol;
    const char *base_url;     /* NULL: the person must give one */
    const char *base_url_env; /* variable that replaces it; NULL: none */
    /* Behind the base URL, wherever that comes from. With `path_if_none` only where it has none. */
    const char *base_path, *base_query;
    bool path_if_none;
    const char *endpoint_env; /* a variable that holds a base URL without a path; NULL: none */
    struct vendor_place places[2];
    const char *key_env;   /* variables that hold the key, separated by spaces, first wins */
    const char *token_env; /* like it, looked at before: a token that is sent as Bearer; or NULL */
    const char *model_env; /* variable that names a model when nothing else does; or NULL */
    const char *headers_env; /* variable with further headers, "Name: value" lines; or NULL */
    bool takes_helper;       /* the setting apiKeyHelper is meant for it */
    enum key_need key_need;
    enum auth_style auth;
    const char *default_model; /* NULL: the person must name one */
    /* Families that people call by one word, separated by spaces; NULL: none. */
    const char *families;
    struct dialect dialect;
    /* How it says that a prompt is too long, where no field does: sentences separated by '|', with
     * '*' for what changes between. Looked for in any case of letters. NULL: a field says it. */
    const char *overflow_words;
    /* In the same form: what stands before the time after which to ask again. */
    const char *delay_words;
    /* In the same form: how it says that it does not take an image or a document. */
    const char *media_words;
    struct media_limits media;          /* 0: not documented */
    bool has_web_search, has_web_fetch; /* the vendor's own */
    const char *models_path;            /* GET below the base URL lists models; NULL: cannot */
    /* GET below the host tells more about them, windows above all; NULL: there is no such list. */
    const char *about_path;
    bool has_any_name; /* a server that lists one model answers with it, whatever it is called */
    /* Setup links in the order in which they help: where to get a key, the console, the docs.
     * NULL where there is no such page. */
    const char *api_key_url, *console_url, *official_url;
    const char *setup_prompt; /* what to ask a person for: "Paste your Anthropic API key" */
    const struct model_info *models;
    size_t n_models;
    /* Offers the models of this vendor, under longer names; NULL: its own. What they cost there is
     * not known. */
    const char *models_of;
    enum catalogue_status catalogue_status;
};

/* All rows, the end has a NULL name. */
extern const struct vendor vendors[];

const struct vendor *vendor_find(struct str name_or_alias); /* any case; NULL if unknown */
/* "anthropic, openai, gemini (google), ...": for error texts. */
void vendor_list_names(struct strbuf *out);
/* Whose words to look for in a refusal: those of the vendor, or, of a server of which only the
 * protocol is known (v is NULL), those of the row that stands for any server of it. */
const struct vendor *vendor_for_words(const struct vendor *v, const struct protocol *p);
/* The best link there is: key, console, docs. NULL where there is none. */
const char *vendor_setup_link(const struct vendor *v);
/* By id, or by an id with a date behind it, which names a fixed version of the same model:
 * "claude-opus-4-5-20251101", "gpt-5.4-2026-03-05". NULL if unknown. */
const struct model_info *vendor_find_model(const struct vendor *v, struct str id);
/* The id that a short name stands for: the word for a family ("sonnet") is its newest
 * active model, and a wish for a long window behind a name ("sonnet[1m]") is left out, since every
 * current model of those families has one. Other names come back as they are. */
struct str vendor_resolve_model(const struct vendor *v, struct str name);
/* For a name that vendor_find_model() does not know: the newest model of its family
 * ("claude-sonnet-6"), or the one that it misspells or names in part. NULL: it is like none. */
const struct model_info *vendor_guess_model(const struct vendor *v, struct str name);
/* The word for a family that this name misspells; empty: none. */
struct str vendor_guess_family(const struct vendor *v, struct str name);

#endif
