/* provider_conformance.h - what every provider must do. Adapters' tests run provider_conforms()
 * with a provider that answers every request with the text CONFORMING_TEXT and nothing else. */
#ifndef KEEL_TEST_UNIT_PORT_PROVIDER_CONFORMANCE_H
#define KEEL_TEST_UNIT_PORT_PROVIDER_CONFORMANCE_H

#include "port/provider.h"
#include "sys/task.h"
#include "test.h"

#define CONFORMING_TEXT "Hello, world."

struct conforming_ask {
    const struct provider *provider;
    const struct provider_call *call;
    struct reply reply;
    struct strbuf seen;   /* what the deltas said */
    bool cancel_at_first; /* cancels its group when the first delta comes */
    struct group *group;
    struct err *outcome;
};

static inline void conforming_delta(void *self, const struct delta *d)
{
    struct conforming_ask *a = self;

    if (d->kind == DELTA_TEXT)
        strbuf_add(&a->seen, d->text);
    if (a->cancel_at_first)
        group_cancel(a->group);
}

static inline struct err *conforming_run(void *arg)
{
    struct conforming_ask *a = arg;
    AUTO(message) struct message *m = message_new(ROLE_USER, S("u"));
    const struct message *messages[] = {m};

    message_add_text(m, S("hi"));
    reply_init(&a->reply, (struct delta_sink){conforming_delta, a});
    a->outcome =
        provider_ask(a->provider,
                     &(struct model_request){
                         .model = S("m"), .messages = messages, .n_messages = 1, .stream = true},
                     a->call, &a->reply);
    return NULL;
}

static inline void conforming_done(struct conforming_ask *a)
{
    reply_done(&a->reply);
    strbuf_done(&a->seen);
    err_free(a->outcome);
}

static inline void assert_conforming_answer(struct conforming_ask *a)
{
    assert_ok(TAKE(a->outcome));
    assert_true(a->reply.is_complete);
    assert_int_equal(a->reply.n_parts, 1);
    assert_str(reply_part_text(&a->reply, 0), CONFORMING_TEXT);
    assert_str(strbuf_str(&a->seen), CONFORMING_TEXT); /* the deltas are the whole of it */
    assert_true(a->reply.stop_reason.n > 0);
}

/* In a task. So many requests are made in all. */
enum { PROVIDER_CONFORMANCE_REQUESTS = 4 };

static inline void provider_conforms(const struct provider *p, const struct provider_call *call)
{
    struct conforming_ask asks[3] = {{p, call}, {p, call}, {p, call}}, last = {p, call};
    AUTO(reply) struct reply unused;
    struct group g;

    assert_true(p->id.n > 0);
    assert_true(p->protocol.n > 0);

    /* one question, then two at the same time: they share nothing but the provider */
    assert_ok(conforming_run(&asks[0]));
    assert_conforming_answer(&asks[0]);
    group_begin(&g, 0, 0);
    group_spawn(&g, "one", conforming_run, &asks[1]);
    group_spawn(&g, "other", conforming_run, &asks[2]);
    assert_ok(group_end(&g));
    assert_conforming_answer(&asks[1]);
    assert_conforming_answer(&asks[2]);

    /* cancelled in the middle: at most the whole answer has come, and what came is kept */
    last.cancel_at_first = true;
    last.group = &g;
    group_begin(&g, 0, 0);
    group_spawn(&g, "cancelled", conforming_run, &last);
    assert_ok(group_end(&g));
    assert_true(!last.outcome || err_is(last.outcome, ERR_CANCELLED));
    assert_true(str_eq(reply_part_text(&last.reply, 0), strbuf_str(&last.seen)));
    assert_true(str_starts(S(CONFORMING_TEXT), strbuf_str(&last.seen)));
    assert_true(last.seen.n > 0);

    /* what it cannot do is refused before anything is sent */
    reply_init(&unused, (struct delta_sink){0});
    if (!provider_capabilities(p, NULL).web_fetch.is_enabled)
        assert_err(provider_ask(p, &(struct model_request){.web_fetch = true}, call, &unused),
                   ERR_VALIDATION);
    assert_int_equal(unused.n_parts, 0);

    for (int i = 0; i < 3; i++)
        conforming_done(&asks[i]);
    conforming_done(&last);
}

#endif
