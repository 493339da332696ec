/* cache.h - pages that were fetched recently.
 *
 * One cache for each session, keyed by the address as given. Age, number and bytes are limited; the
 * oldest page goes first. Valid and empty when zeroed. */
#ifndef KEEL_TOOL_WEB_CACHE_H
#define KEEL_TOOL_WEB_CACHE_H

#include "tool/web/page.h"

#define WEB_CACHE_MAX_AGE_MS ((uint64_t)15 * 60 * 1000)
#define WEB_CACHE_MAX_PAGES 64
#define WEB_CACHE_MAX_BYTES ((size_t)32 << 20)

struct web_cache_entry {
    char *url;
    struct web_page *page;
    size_t n_bytes;
    uint64_t at_ms; /* on the loop's clock */
};

struct web_cache {
    struct web_cache_entry entries[WEB_CACHE_MAX_PAGES]; /* the oldest first */
    size_t n, n_bytes;
};

void web_cache_done(struct web_cache *c);

/* NULL: it is not there. Borrowed until the next call. */
const struct web_page *web_cache_find(struct web_cache *c, struct str url, uint64_t now_ms,
                                      uint64_t *ret_age_ms);
/* Replaces what was there. A page that is larger than the cache is not kept. */
void web_cache_add(struct web_cache *c, struct str url, struct web_page *take_page,
                   uint64_t now_ms);

#endif
