/* checkpoint.c - looks for it among the last records. */
#include "session/checkpoint.h"

#include "base/json_skim.h"
#include "port/event.h"

#define N_LAST 8 /* records among which it mostly is */

/* A run that gave its answer has left nothing open; whether it did shows when all is read. */
static bool tells_answer(const struct store_record *r)
{
    struct json_wanted outcome = {.key = S("outcome")};

    return str_is(r->type, event_type_name(EVENT_RUN_END)) && json_skim(r->body, &outcome, 1) &&
           str_is(outcome.raw, "\"done\"");
}

/* Mostly it is one of the last records, with the end of
 * the last run before it; to look for it by its type means to go over all others. Where a process
 * has begun the session in between, it has said with which model: that is not passed over. */
const struct store_record *checkpoint_find(struct store *s, struct str id, uint64_t end,
                                           struct store_page *page, bool *ret_has_answer)
{
    struct store_query q = {.to = end, .core_only = true, .newest_first = true, .n_max = N_LAST};
    const struct store_record *found = NULL;
    bool has_answer = false, has_begun = false;

    err_ignore(store_read(s, id, &q, page), "what is wrong is reported when all of it is read");
    for (size_t i = 0; i < page->n; i++) {
        if (!found && str_is(page->records[i].type, event_type_name(EVENT_CHECKPOINT)))
            found = &page->records[i];
        has_answer |= found && !has_begun && tells_answer(&page->records[i]);
        has_begun |= found && str_is(page->records[i].type, event_type_name(EVENT_SESSION_BEGIN));
    }
    *ret_has_answer = has_answer;
    if (found)
        return found;
    store_page_done(page);
    q.type = str_of(event_type_name(EVENT_CHECKPOINT));
    q.n_max = 1;
    err_ignore(store_read(s, id, &q, page), "what is wrong is reported when all of it is read");
    return page->n ? &page->records[0] : NULL;
}
