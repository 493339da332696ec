/* catalogue.h - facts about a model, each with a source and a date. */
#ifndef KEEL_MODEL_CATALOGUE_H
#define KEEL_MODEL_CATALOGUE_H

#include "model/usage.h"

/* How much a model reasons, in words for people. */
enum effort {
    EFFORT_UNSET,
    EFFORT_NONE, /* no reasoning, if it can be switched off */
    EFFORT_MINIMAL,
    EFFORT_LOW,
    EFFORT_MEDIUM,
    EFFORT_HIGH,
    EFFORT_XHIGH,
    EFFORT_MAX,
};
#define EFFORT_BIT(effort) (1u << (effort))

#define MODEL_DEFAULT_CONTEXT_WINDOW 200000
#define MODEL_DEFAULT_MAX_OUTPUT 16384

enum model_lifecycle {
    LIFECYCLE_ACTIVE,
    LIFECYCLE_PREVIEW,
    LIFECYCLE_DEPRECATED,
    LIFECYCLE_RETIRED,
};

enum catalogue_status {
    CATALOGUE_LIVE,        /* just fetched from the provider */
    CATALOGUE_GENERATED,   /* fetched earlier and kept */
    CATALOGUE_FALLBACK,    /* compiled in; may be stale */
    CATALOGUE_UNAVAILABLE, /* unknown */
};

enum model_capability {
    CAN_TOOLS = 1 << 0,
    CAN_SEE_IMAGES = 1 << 1,
    CAN_READ_PDF = 1 << 2,
    CAN_HEAR_AUDIO = 1 << 3,
    CAN_REASON = 1 << 4,
    CAN_FOLLOW_SCHEMA = 1 << 5,
    CAN_SEARCH_WEB = 1 << 6, /* the provider's own search */
    CAN_FETCH_WEB = 1 << 7,
    CAN_CACHE_PROMPT = 1 << 8,
    CAN_MAKE_IMAGES = 1 << 9,
    REASONS_ADAPTIVELY = 1 << 10, /* takes an effort instead of a token budget */
    REASONS_ALWAYS = 1 << 11,     /* reasoning cannot be switched off */
    NO_SAMPLING = 1 << 12,        /* rejects temperature and similar settings */
    REASONS_BY_LEVEL = 1 << 13,   /* takes a named level instead of a token budget */
    NO_FORCED_TOOLS = 1 << 14,    /* rejects requests that force a tool call */
    REASONS_IF_ASKED = 1 << 15,   /* reasons only if a request says so */
    /* cannot switch off reasoning, but reasons only between tool calls */
    REASONS_BETWEEN_TOOLS = 1 << 16,
    TAKES_TOOLS_OF_2026 = 1 << 17, /* the search and fetch tools of that year */
};

struct model_info {
    const char *id, *name; /* name: for people */
    int64_t context_window, max_output;
    int64_t max_input; /* if the prompt has a limit below the window; 0: none */
    unsigned efforts;  /* EFFORT_BIT of each level it accepts; 0: unknown, or none */
    struct price price;
    enum model_lifecycle lifecycle;
    unsigned capabilities;
    const char *source;        /* address of the page with the facts */
    const char *last_verified; /* "2026-11-01" */
};

/* Newest models first. */
struct catalogue {
    const struct model_info *models;
    size_t n;
};

/* The largest prompt: the prompt's own limit, or the window. 0: unknown. */
int64_t model_max_prompt(const struct model_info *m);
const char *lifecycle_name(enum model_lifecycle l);
const char *catalogue_status_name(enum catalogue_status s);

/* "tools images reasoning": the labels of a set of capabilities, for people. */
void capability_names(unsigned capabilities, struct strbuf *out);

/* 200000 as "200K", 1000000 as "1M", 32768 as "32.8K". */
void token_count_format(int64_t n_tokens, char out[16]);

#endif
