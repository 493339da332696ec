/* session_abandon.c - abandons the open calls of a run that is not resumed. */
#include "session/session_parts.h"

#include "engine/open_calls.h"
#include "model/message_json.h"

static const struct part *find_result(const struct session *s, const struct open_call *c)
{
    const struct loaded *l = &s->loaded;

    for (size_t i = 0; i < l->n_outcomes; i++)
        if (l->outcomes[i].index == c->index && str_eq(l->outcomes[i].call_id, c->part->id))
            return l->outcomes[i].result;
    return NULL;
}

static void close_call(struct session *s, const struct open_call *c, struct str why)
{
    struct part text = {.kind = PART_TEXT, .text = why};
    struct part left = {.kind = PART_TOOL_RESULT,
                        .id = c->part->id,
                        .name = c->part->name,
                        .is_error = true,
                        .content = &text,
                        .n_content = 1};
    const struct part *known = find_result(s, c);
    char id[UUID_TEXT_SIZE];
    AUTO(message) struct message *m = message_new(ROLE_TOOL, session_new_id(s, id));
    AUTO(err) struct err *too_large = NULL;

    message_add(m, known ? known : &left);
    too_large = message_check(m, "the result");
    if (too_large) { /* it was recorded, and not shortened any more */
        AUTO_FREE char *said = err_message(too_large);

        left.content[0].text = str_of(said);
        message_unref(m);
        m = message_new(ROLE_TOOL, str_of(id));
        message_add(m, &left);
    }
    session_commit(s, m);
}

static void close_calls(struct session *s, struct str why)
{
    const struct history *h = &s->conversation.history;
    const struct message *answer = open_calls_find(h);
    AUTO(arena) struct arena a = {0};
    struct open_call *calls;
    size_t n = answer ? open_calls_of(h, answer, &a, &calls) : 0;

    for (size_t i = 0; i < n; i++)
        close_call(s, &calls[i], why);
}

void session_abandon_calls(struct session *s, struct str why)
{
    struct loaded *l = &s->loaded;

    if (l->last_run != LAST_RUN_CUT_OFF)
        return;
    close_calls(s, why);
    message_unref(TAKE(l->prompt));
    message_unref(TAKE(l->partial));
    l->n_outcomes = 0;
    l->last_run = LAST_RUN_ENDED;
}
