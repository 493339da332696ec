/* hook.c - the names of hook events, and the door to the hooks. */
#include "port/hook.h"

static const struct {
    const char *name;
    bool may_block;
} events[] = {
#define X(name, text, may_block) {text, may_block},
    HOOK_EVENTS(X)
#undef X
};

const char *hook_event_name(enum hook_event e)
{
    return events[e].name;
}

bool hook_event_find(struct str name, enum hook_event *ret_event)
{
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        if (str_is(name, events[i].name)) {
            *ret_event = (enum hook_event)i;
            return true;
        }
    return false;
}

bool hook_event_may_block(enum hook_event e)
{
    return events[e].may_block;
}

void hook_reply_init(struct hook_reply *r)
{
    *r = (struct hook_reply){0};
    strbuf_init(&r->out, HOOK_MAX_OUTPUT);
    strbuf_init(&r->err, HOOK_MAX_OUTPUT);
}

void hook_reply_done(struct hook_reply *r)
{
    strbuf_done(&r->out);
    strbuf_done(&r->err);
    *r = (struct hook_reply){0};
}

bool hooks_has(struct hooks *h, const struct hook_input *input)
{
    return h && (!h->has || h->has(h, input));
}

struct err *hooks_run(struct hooks *h, const struct hook_input *input, struct arena *a,
                      struct hook_outcome *ret_outcome)
{
    *ret_outcome = (struct hook_outcome){0};
    return h ? h->run(h, input, a, ret_outcome) : NULL;
}
