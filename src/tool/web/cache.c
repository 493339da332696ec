/* cache.c - a list of pages, ordered by age. */
#include "tool/web/cache.h"

static void remove_entry(struct web_cache *c, size_t i)
{
    struct web_cache_entry *e = &c->entries[i];

    c->n_bytes -= e->n_bytes;
    mem_free(e->url);
    web_page_free(e->page);
    memmove(e, e + 1, (--c->n - i) * sizeof *e);
}

void web_cache_done(struct web_cache *c)
{
    while (c->n)
        remove_entry(c, c->n - 1);
}

static void remove_expired(struct web_cache *c, uint64_t now_ms)
{
    while (c->n && now_ms - c->entries[0].at_ms >= WEB_CACHE_MAX_AGE_MS)
        remove_entry(c, 0);
}

static size_t find_entry(const struct web_cache *c, struct str url)
{
    for (size_t i = 0; i < c->n; i++)
        if (str_is(url, c->entries[i].url))
            return i;
    return STR_NONE;
}

const struct web_page *web_cache_find(struct web_cache *c, struct str url, uint64_t now_ms,
                                      uint64_t *ret_age_ms)
{
    size_t i;

    remove_expired(c, now_ms);
    i = find_entry(c, url);
    if (i == STR_NONE)
        return NULL;
    *ret_age_ms = now_ms - c->entries[i].at_ms;
    return c->entries[i].page;
}

void web_cache_add(struct web_cache *c, struct str url, struct web_page *take_page, uint64_t now_ms)
{
    AUTO(web_page) struct web_page *page = take_page;
    size_t n_bytes = sizeof *page + url.n + page->arena.used_bytes + page->content.room;
    size_t old = find_entry(c, url);

    if (old != STR_NONE)
        remove_entry(c, old);
    remove_expired(c, now_ms);
    if (n_bytes > WEB_CACHE_MAX_BYTES)
        return;
    while (c->n == WEB_CACHE_MAX_PAGES || c->n_bytes + n_bytes > WEB_CACHE_MAX_BYTES)
        remove_entry(c, 0);
    c->entries[c->n++] = (struct web_cache_entry){str_dup(url), TAKE(page), n_bytes, now_ms};
    c->n_bytes += n_bytes;
}
