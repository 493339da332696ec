/* read_bodies.c - reads a stream page by page. */
#include "sdk/rewind/read_bodies.h"

struct err *bodies_read(struct store *s, struct str stream, const char *type, uint64_t from,
                        struct arena *a,
                        void (*take)(void *self, uint64_t seq, const struct json *body), void *self)
{
    struct store_query q = {.from = from, .type = str_of(type)};
    bool has_more = true;

    while (has_more) {
        AUTO(store_page) struct store_page page = {0};

        TRY(store_read(s, stream, &q, &page));
        for (size_t i = 0; i < page.n; i++) {
            struct json *body;

            TRY(json_parse(a, arena_str(a, page.records[i].body), 0, &body));
            take(self, page.records[i].seq, body);
            q.from = page.records[i].seq + page.records[i].n_events;
        }
        has_more = page.has_more && page.n;
    }
    return NULL;
}
