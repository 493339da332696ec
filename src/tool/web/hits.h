/* hits.h - search results, cleaned for a model to read and follow.
 *
 * Titles and descriptions are on one line, without markup, control characters, or characters that
 * reorder or hide text, and are cut if long. Addresses are http or https, in the form in which they
 * are fetched. Results without an address, or excluded by the query's domains, are omitted.
 * Pure. */
#ifndef KEEL_TOOL_WEB_HITS_H
#define KEEL_TOOL_WEB_HITS_H

#include "port/tool.h"

#define WEB_MAX_HITS 10
#define WEB_MAX_HIT_TITLE 300 /* bytes */
#define WEB_MAX_HIT_DESCRIPTION 1000
#define WEB_MAX_SUMMARY 8000

struct web_query {
    struct str text;
    const struct json *allowed_domains, *blocked_domains; /* arrays of names; may be NULL */
};

/* From the arguments of WebSearch, which it borrows. */
struct web_query web_query_of(const struct json *args);

struct web_hit {
    struct str title, url, description; /* in the arena */
};

struct web_hits {
    struct arena *arena;
    const struct web_query *query;
    const struct path_filter *hidden;   /* addresses to omit; NULL: none */
    struct web_hit items[WEB_MAX_HITS]; /* further ones are dropped */
    size_t n;
    struct str summary; /* what a model says about them, on several lines; may be empty */
    size_t n_filtered;  /* omitted because of their domain */
    size_t n_denied;    /* omitted because a rule denies them to WebFetch */
    size_t n_unusable;  /* omitted because they have no address */
};

void web_hits_init(struct web_hits *h, struct arena *a, const struct web_query *query);

void web_hits_add(struct web_hits *h, struct str title, struct str url, struct str description);
/* The same for an address that only redirects to a page of `host`; empty: it is the page's own. A
 * known address is not added again; it gets the title and description if it lacks them. */
void web_hits_add_once(struct web_hits *h, struct str host, struct str title, struct str url,
                       struct str description);
/* Drops control characters and characters that reorder or hide text. */
void web_hits_set_summary(struct web_hits *h, struct str text);
/* An array of {title, url, description}, where the description has this key. Ignores anything
 * else. */
void web_hits_add_json(struct web_hits *h, const struct json *array, const char *description_key);
/* The output of a command: such an array, or one hit on each line, as such an object or as address,
 * title and description separated by tabs. */
void web_hits_add_output(struct web_hits *h, struct str output);

#endif
