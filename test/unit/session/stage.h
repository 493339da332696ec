/* stage.h - sessions of one store, in processes that end well or die: the toys and the scripted
 * model of engine/world.h, with a session around them.
 *
 *     stage_open(&st, &(struct session_options){.start = SESSION_NEW, .id = S("s")});
 *     stage_run(&st, "turns: [...]", "prompt");
 *     stage_close(&st);      or stage_die(&st, n): only the first n records have reached the disk
 *
 * In a task. */
#ifndef KEEL_TEST_UNIT_SESSION_STAGE_H
#define KEEL_TEST_UNIT_SESSION_STAGE_H

#include "engine/world.h"
#include "session/session.h"
#include "store/memory.h"

struct stage {
    struct store *store;
    struct session session;
    struct world world;
    struct strbuf notices;
    struct event_subscriber subscriber, *subscribers[1];
};

/* What the session and its journal have to say. */
static inline void stage_event(void *self, const struct event *e)
{
    struct stage *st = self;
    const struct event_notice *n = &e->body.notice;

    if (e->type != EVENT_NOTICE ||
        (strcmp(n->source, "session") != 0 && strcmp(n->source, "store") != 0))
        return;
    strbuf_add(&st->notices, n->text);
    strbuf_add_char(&st->notices, '\n');
}

/* The world hears of runs only, not of what a session does around them. */
static inline void stage_run_event(void *self, const struct event *e)
{
    if (e->run_id.n)
        world_on_event(self, e);
}

static inline void stage_subscribe_world(struct stage *st)
{
    st->world.subscriber =
        (struct event_subscriber){.on_event = stage_run_event, .self = &st->world};
    event_stream_subscribe(&st->session.conversation.stream, &st->world.subscriber);
}

static inline struct err *stage_try_open(struct stage *st, const struct session_options *options)
{
    struct session_options o = *options;

    if (!st->store)
        st->store = store_memory_new();
    if (!st->world.registry)
        world_open(&st->world);
    o.store = st->store;
    o.cwd = o.cwd.n ? o.cwd : S("/tmp");
    st->subscriber = (struct event_subscriber){.on_event = stage_event, .self = st};
    st->subscribers[0] = &st->subscriber;
    o.subscribers = st->subscribers;
    o.n_subscribers = ARRAY_LEN(st->subscribers);
    return session_open(&st->session, &o);
}

static inline void stage_open(struct stage *st, const struct session_options *options)
{
    assert_ok(stage_try_open(st, options));
}

/* `prompt` NULL: goes on without one. */
static inline void stage_run(struct stage *st, const char *script, const char *prompt)
{
    struct world *w = &st->world;
    struct world_gate gate = {.gate = {world_judge}, .world = w};
    AUTO(message) struct message *input = NULL;

    run_result_done(&w->result);
    provider_free(TAKE(w->providers[0]));
    world_add_target(w, 0, script);
    w->filter.allows_all |= !w->filter.n_allow;
    w->plan = (struct run_plan){.targets = w->targets,
                                .n_targets = 1,
                                .tools = w->registry,
                                .filter = w->filter,
                                .stream = true};
    if (prompt) {
        input = message_new(ROLE_USER, S("input"));
        message_add_text(input, str_of(prompt));
    }
    w->input.prompt = input;
    w->kit.plan = w->kit.plan ? w->kit.plan : world_plan;
    w->kit.plan_self = w;
    w->kit.gate = &gate.gate;
    w->kit.max_rounds = w->kit.max_rounds ? w->kit.max_rounds : RUN_UNLIMITED;
    stage_subscribe_world(st);
    session_run(&st->session, &w->input, &w->kit, &w->result);
    event_stream_unsubscribe(&w->subscriber);
    w->input = (struct run_input){0};
    w->kit = (struct run_kit){0};
}

/* A summary by hand, which must be made. */
static inline void stage_compact(struct stage *st, const char *script, const char *instructions)
{
    struct world *w = &st->world;

    run_result_done(&w->result);
    provider_free(TAKE(w->providers[0]));
    world_add_target(w, 0, script);
    w->kit.plan = world_plan;
    w->kit.plan_self = w;
    stage_subscribe_world(st);
    assert_ok(session_compact(&st->session, &w->kit, str_of(instructions), &w->result));
    event_stream_unsubscribe(&w->subscriber);
    w->input = (struct run_input){0};
    w->kit = (struct run_kit){0};
}

static inline void stage_close(struct stage *st)
{
    assert_ok(session_shutdown(&st->session, "other"));
    session_done(&st->session);
}

static inline void stage_done(struct stage *st)
{
    store_free(st->store);
    world_close(&st->world);
    strbuf_done(&st->notices);
}
DEFINE_AUTO_VAL(stage, stage_done)

static inline void stage_records(struct store *s, const char *id, struct store_page *ret_page)
{
    *ret_page = (struct store_page){0};
    assert_ok(store_read(s, str_of(id), &(struct store_query){0}, ret_page));
    assert_false(ret_page->has_more);
}

/* A store that holds these records of that session, with what they refer to. */
static inline struct store *stage_copy(struct store *from, const char *id,
                                       const struct store_page *page)
{
    AUTO(arena) struct arena a = {0};
    struct store *to = store_memory_new();
    struct store_summary summary;
    struct store_lease lease = {0};
    bool found;

    assert_ok(store_find(from, str_of(id), &a, &summary, &found));
    assert_ok(store_open(to, str_of(id), &summary, &a, &lease));
    for (size_t i = 0; i < page->n; i++) {
        for (size_t k = 0; k < page->records[i].n_payloads; k++) {
            AUTO(strbuf) struct strbuf bytes = {0};
            char handle[SHA256_HEX_SIZE];

            assert_ok(
                blob_get(store_blobs(from, str_of(id)), page->records[i].payloads[k], &bytes));
            assert_ok(blob_put(store_blobs(to, str_of(id)), strbuf_str(&bytes), handle));
        }
        assert_ok(store_append(to, str_of(id), page->records[i].seq, lease.fence, &page->records[i],
                               1, NULL));
    }
    store_close(to, str_of(id), lease.fence);
    return to;
}

/* A store that holds the first `n` records of that session, as a process that died has left it. */
static inline struct store *stage_cut(struct store *from, const char *id, size_t n)
{
    AUTO(store_page) struct store_page page;

    stage_records(from, id, &page);
    page.n = MIN(n, page.n);
    return stage_copy(from, id, &page);
}

#endif
