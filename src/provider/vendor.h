/* vendor.h - vendors of models: one row each, over the protocols that keel speaks.
 *
 * A vendor is data. Its dialect says what it does differently from the inventor of its protocol.
 * Nothing else in keel knows its name. */
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

/* A variable part of an address: "{region}" in base_url and base_path. Its value comes from the
 * setting providers.*.NAME, or from one of the environment variables. */
struct vendor_place {
    const char *name;  /* NULL: there is none */
    const char *env;   /* separated by spaces, first wins */
    const char *usual; /* NULL: it must be configured */
};

struct vendor {
    const char *name;         /* "anthropic" */
    const char *display_name; /* "Anthropic" */
    const char *aliases;      /* separated by spaces; "": none */
    const struct protocol *protocol;
    const char *base_url;     /* NULL: the person must configure one */
    const char *base_url_env; /* variable that replaces it; NULL: none */
    /* Appended to the base URL, also to a configured one. With `path_if_none` only if it has no
     * path. */
    const char *base_path, *base_query;
    bool path_if_none;
    const char *endpoint_env; /* a variable that holds a base URL without a path; NULL: none */
    struct vendor_place places[2];
    const char *key_env;     /* variables that hold the key, separated by spaces, first wins */
    const char *token_env;   /* the same for a token that is sent as Bearer, which wins; or NULL */
    const char *model_env;   /* variable with the default model; or NULL */
    const char *headers_env; /* variable with further headers, "Name: value" lines; or NULL */
    bool takes_helper;       /* the setting apiKeyHelper applies to it */
    enum key_need key_need;
    enum auth_style auth;
    const char *default_model; /* NULL: the person must name one */
    /* Families that people name by one word, separated by spaces; NULL: none. */
    const char *families;
    struct dialect dialect;
    /* The words of refusals of prompts that are too long, if no field says it: sentences separated
     * by '|', with '*' for what changes between, in any case of letters. NULL: a field says it. */
    const char *overflow_words;
    /* In the same form: the words before the time to wait. */
    const char *delay_words;
    /* In the same form: the words of refusals of images and documents. */
    const char *media_words;
    struct media_limits media;          /* 0: not documented */
    bool has_web_search, has_web_fetch; /* the vendor's own */
    const char *models_path; /* GET below the base URL lists models; NULL: no such list */
    /* GET below the host lists models with more details, such as windows; NULL: no such list. */
    const char *about_path;
    bool has_any_name; /* a server with a single model answers with it to every name */
    /* Setup links, the most helpful first: to get a key, the console, the docs. NULL: no such
     * page. */
    const char *api_key_url, *console_url, *official_url;
    const char *setup_prompt;          /* how to ask for the key: "Paste your Anthropic API key" */
    const struct catalogue *catalogue; /* of vendors[] never NULL: without models it is empty */
    /* It offers the models of this vendor, under longer names, at prices that are not known. NULL:
     * its own models. */
    const char *models_of;
};

/* All rows; the last one has a NULL name. */
extern const struct vendor vendors[];

const struct vendor *vendor_find(struct str name_or_alias); /* any case; NULL if unknown */
/* "anthropic, openai, gemini (google), ...": for error texts. */
void vendor_list_names(struct strbuf *out);
/* The row with the words to look for in a refusal: that of the vendor, or, if only the protocol of
 * a server is known (v is NULL), the row for all servers of it. */
const struct vendor *vendor_for_words(const struct vendor *v, const struct protocol *p);
/* The best link: key, console, docs. NULL: none. */
const char *vendor_setup_link(const struct vendor *v);
/* Finds a model by its id, with or without a date, which names a fixed version of the same model:
 * "claude-opus-4-5-20251101", "gpt-5.4-2026-03-05". NULL: unknown. */
const struct model_info *vendor_find_model(const struct vendor *v, struct str id);
/* The id for a short name: the word for a family ("sonnet") is its newest active model. The wish
 * for a long window at the end of a name ("sonnet[1m]") is ignored, since every current model of
 * those families has one. Other names are returned unchanged. */
struct str vendor_resolve_model(const struct vendor *v, struct str name);
/* For a name that vendor_find_model() does not know: the newest model of its family
 * ("claude-sonnet-6"), or a model that it misspells or names in part. NULL: none is like it. */
const struct model_info *vendor_guess_model(const struct vendor *v, struct str name);
/* The word for a family that this name misspells; empty: none. */
struct str vendor_guess_family(const struct vendor *v, struct str name);

#endif
