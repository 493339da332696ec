/* news.c - what happened beside the run, for the model: before it is asked, and after its answer.
 *
 * It is a message of its own at the end of the history, so that requests keep their beginning. */
#include "engine/run_state.h"

bool news_add(struct run *r)
{
    struct news *n = r->kit->news;
    AUTO(strbuf) struct strbuf text = {0};
    AUTO(message) struct message *m = NULL;
    uint64_t found = 0;

    if (n)
        n->take(n, &text);
    if (text.n == 0)
        return false;
    m = run_new_message(r, ROLE_USER);
    message_add_context(m, strbuf_str(&text));
    hide_in_message(r->secrets, &m, &found);
    run_append(r, m);
    run_report_hidden(r, found, S("the output of a background command"));
    return true;
}

static bool has_round_left(const struct run *r)
{
    return r->keeper->before.n_rounds + r->place.round < run_max_rounds(r);
}

/* The answer is durable before the wait, which may be long. */
struct err *news_await(struct run *r, bool may_ask, bool *ret_continues)
{
    struct news *n = r->kit->news;

    *ret_continues = false;
    if (!n || !n->wait)
        return NULL;
    TRY(run_sync(r));
    TRY(n->wait(n, r));
    *ret_continues = may_ask && has_round_left(r) && news_add(r);
    return NULL;
}
