/* event_stream.c - numbers, records and tells events, in this order. */
#include "port/event_stream.h"

#include "sys/loop.h"

/* One that was emitted while an earlier one waits to be durable. */
struct late_event {
    struct late_event *next;
    struct arena arena;
    struct event event;
};

/* --- subscribers --- */

void event_stream_subscribe(struct event_stream *s, struct event_subscriber *subscriber)
{
    struct event_subscriber **at = &s->subscribers;

    BUG_IF(subscriber->stream && !subscriber->is_catching_up);
    while (*at)
        at = &(*at)->next;
    *at = subscriber;
    subscriber->stream = s;
    subscriber->next = NULL;
    subscriber->since = s->n_told;
    subscriber->is_catching_up = false;
}

void event_stream_reserve(struct event_stream *s, struct event_subscriber *subscriber)
{
    BUG_IF(subscriber->stream);
    subscriber->stream = s;
    subscriber->is_catching_up = true;
}

void event_stream_unsubscribe(struct event_subscriber *subscriber)
{
    struct event_stream *s = subscriber->stream;
    struct event_subscriber **at;

    subscriber->stream = NULL;
    if (!s || subscriber->is_catching_up)
        return;
    if (s->upcoming == subscriber)
        s->upcoming = subscriber->next;
    for (at = &s->subscribers; *at != subscriber;)
        at = &(*at)->next;
    *at = subscriber->next;
    subscriber->next = NULL;
}

static void tell_durable(void *stream, uint64_t next_seq)
{
    struct event_stream *s = stream;
    struct event_subscriber *x;

    for (s->upcoming = s->subscribers; (x = s->upcoming);) {
        s->upcoming = x->next;
        if (x->on_durable)
            x->on_durable(x->self, next_seq);
    }
}

static void tell(struct event_stream *s, const struct event *e)
{
    struct event_subscriber *x;

    for (; s; s = s->parent) {
        BUG_IF(s->is_telling); /* a subscriber has emitted an event */
        s->is_telling = true;
        s->n_told++;
        for (s->upcoming = s->subscribers; (x = s->upcoming);) {
            s->upcoming = x->next;
            if (x->since < s->n_told)
                x->on_event(x->self, e);
        }
        s->is_telling = false;
    }
}

/* --- events --- */

static void fill_in(const struct event_stream *s, enum event_type type, struct event *e)
{
    static const struct owner main_agent = {"agent", {"main", 4}, NULL};
    const struct event_place *p = s->place;

    e->type = type;
    e->unix_ms = loop_unix_ms(task_loop());
    e->stream = s->id;
    e->parent_stream = s->parent ? s->parent->id : (struct str){0};
    e->turn = s->turn;
    if (p) {
        e->run_id = p->run_id;
        e->round = p->round;
        e->attempt = p->attempt;
    }
    if (!e->owner)
        e->owner = p ? p->owner : &main_agent;
}

static void record(struct event_stream *s, enum event_type type, struct event *e)
{
    fill_in(s, type, e);
    if (!s->next_seq)
        return;
    e->seq = s->next_seq++;
    s->n_notices += type == EVENT_NOTICE;
    recorder_append(s->recorder, e);
}

static void tell_now(struct event_stream *s, const struct event *e)
{
    tell(s, e);
    if (!s->recorder && e->seq)
        tell_durable(s, e->seq + 1);
}

/* --- two steps --- */

static const struct json *copy_json(struct arena *a, const struct json *v)
{
    return v ? json_copy(a, v) : NULL;
}

static void keep_for_later(struct event_stream *s, const struct event *e)
{
    struct late_event *l = mem_alloc(sizeof *l);
    struct arena *a = &l->arena;

    *l = (struct late_event){.event = *e};
    switch (e->type) {
    case EVENT_NOTICE:
        l->event.body.notice.source = arena_cstr(a, str_of(e->body.notice.source));
        l->event.body.notice.text = arena_str(a, e->body.notice.text);
        l->event.body.notice.details = copy_json(a, e->body.notice.details);
        break;
    case EVENT_STATE:
        l->event.body.state.key = arena_str(a, e->body.state.key);
        l->event.body.state.value = copy_json(a, e->body.state.value);
        break;
    case EVENT_SESSION_CHANGED:
        l->event.body.change.name = arena_str(a, e->body.change.name);
        l->event.body.change.provider = arena_str(a, e->body.change.provider);
        l->event.body.change.model = arena_str(a, e->body.change.model);
        break;
    default:
        BUG("this event does not come while another one waits");
    }
    *s->late_end = l;
    s->late_end = &l->next;
}

void event_stream_emit(struct event_stream *s, enum event_type type, struct event *e)
{
    record(s, type, e);
    if (s->held_seq)
        keep_for_later(s, e);
    else
        tell_now(s, e);
}

void event_stream_record(struct event_stream *s, enum event_type type, struct event *e)
{
    BUG_IF(s->held_seq || !s->next_seq);
    record(s, type, e);
    s->held_seq = e->seq;
    s->late = NULL;
    s->late_end = &s->late;
}

void event_stream_tell(struct event_stream *s, const struct event *e)
{
    struct late_event *l;

    s->held_seq = 0;
    tell_now(s, e);
    while ((l = s->late)) {
        s->late = l->next;
        tell_now(s, &l->event);
        arena_done(&l->arena);
        mem_free(l);
    }
}

uint64_t event_stream_told_seq(const struct event_stream *s)
{
    return s->held_seq ? s->held_seq : s->next_seq;
}

void event_stream_notice(struct event_stream *s, enum severity severity, const char *source,
                         struct str text)
{
    AUTO(strbuf) struct strbuf shown = {0};
    struct event e = {.body.notice = {.severity = severity, .source = source}};

    if (!s || !text.n)
        return;
    e.body.notice.text = secrets_hide(s->secrets, text, &shown, NULL);
    event_stream_emit(s, EVENT_NOTICE, &e);
}

/* --- its life --- */

void event_stream_open(struct event_stream *s, uint64_t next_seq, struct recorder *recorder)
{
    s->next_seq = next_seq;
    s->recorder = recorder;
    if (!recorder)
        return;
    recorder->on_durable = tell_durable;
    recorder->durable_self = s;
}

void event_stream_close(struct event_stream *s)
{
    if (s->recorder)
        s->recorder->on_durable = NULL;
    s->recorder = NULL;
    s->next_seq = 0;
}

void event_stream_done(struct event_stream *s)
{
    event_stream_close(s);
    while (s->subscribers)
        event_stream_unsubscribe(s->subscribers);
}
