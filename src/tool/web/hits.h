/* hits.h - what a search found, cleaned: for a model to read and to follow.
 *
 * Titles and descriptions are on one line, without markup, without control characters or what hides
 * or reorders text, and cut where they are long. An address is http or https and in the form in
 * which it is fetched; what has none is left out, and what a query's domains leave out too. Pure.
 */
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

/* Of a call of WebSearch, whose arguments it borrows. */
struct web_query web_query_of(const struct json *args);

struct web_hit {
    struct str title, url, description; /* in the arena */
};

struct web_hits {
    struct arena *arena;
    const struct web_query *query;
    const struct path_filter *hidden;   /* addresses that are left out, too; NULL: none are */
    struct web_hit items[WEB_MAX_HITS]; /* those beyond are dropped */
    size_t n;
    struct str summary; /* what a model says of them, on several lines; may be empty */
    size_t n_filtered;  /* left out because of their domain */
    size_t n_denied;    /* left out because a rule denies them to WebFetch */
    size_t n_unusable;  /* left out because they have no address */
};

void web_hits_init(struct web_hits *h, struct arena *a, const struct web_query *query);

void web_hits_add(struct web_hits *h, struct str title, struct str url, struct str description);
/* The same for an address that only leads to a page of this host; empty: it is the page's own. One
 * that is there already is not added again; it gets the title and the description if it has none.
 */
void web_hits_add_once(struct web_hits *h, struct str host, struct str title, struct str url,
                       struct str description);
/* Control characters and what hides or reorders text are taken out. */
void web_hits_set_summary(struct web_hits *h, struct str text);
/* An array of {title, url, description}; what holds the description has that other name. Anything
 * else adds nothing. */
void web_hits_add_json(struct web_hits *h, const struct json *array, const char *description_key);
/* What a command prints: such an array, or a hit a line: as such an object, or as address, title
 * and description with tabs between them. */
void web_hits_add_output(struct web_hits *h, struct str output);

#endif
