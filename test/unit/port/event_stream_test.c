/* event_stream_test.c - who hears what, in which order. */
#include "sys/in_task.h"

#include "port/event_stream.h"

/* A listener that writes down what it hears: "a1 " is event 1, "a<3 " that all before 3 are
 * durable. */
struct ear {
    struct event_subscriber subscriber;
    struct strbuf *log;
    const char *name;
    struct event_subscriber *removes, *adds; /* when it hears something; NULL: nobody */
    struct event_stream *to;                 /* where it adds */
};

static void ear_event(void *self, const struct event *e)
{
    struct ear *ear = self;

    strbuf_addf(ear->log, "%s%llu", ear->name, (unsigned long long)e->seq);
    if (e->type == EVENT_NOTICE)
        strbuf_addf(ear->log, ":%" STR_FMT, STR_ARG(e->body.notice.text));
    if (e->type == EVENT_STATE)
        strbuf_addf(ear->log, ":%" STR_FMT "=%" STR_FMT, STR_ARG(e->body.state.key),
                    STR_ARG(json_str(e->body.state.value)));
    strbuf_add_char(ear->log, ' ');
    if (ear->removes)
        event_stream_unsubscribe(ear->removes);
    if (ear->adds)
        event_stream_subscribe(ear->to, ear->adds);
    ear->removes = ear->adds = NULL;
}

static void ear_durable(void *self, uint64_t next_seq)
{
    struct ear *ear = self;

    strbuf_addf(ear->log, "%s<%llu ", ear->name, (unsigned long long)next_seq);
}

static void ear_init(struct ear *ear, const char *name, struct strbuf *log)
{
    *ear = (struct ear){.subscriber = {.on_event = ear_event, .self = ear}, .log = log};
    ear->name = name;
}

static void happen(struct event_stream *s)
{
    struct event e = {0};

    event_stream_emit(s, EVENT_TEXT_DROPPED, &e);
}

static void set_state(struct event_stream *s, const char *value)
{
    AUTO(arena) struct arena a = {0};
    struct event e = {
        .body.state = {.key = S("k"), .value = json_new_str(&a, str_of(value))},
    };

    event_stream_emit(s, EVENT_STATE, &e);
}

#define assert_log(log, want)                                                                      \
    do {                                                                                           \
        assert_str(strbuf_str(log), want);                                                         \
        strbuf_clear(log);                                                                         \
    } while (0)

/* A recorder in whose log the same events stand. */
struct tape {
    struct recorder recorder;
    struct strbuf *log;
};

static void tape_append(struct recorder *r, const struct event *e)
{
    strbuf_addf(((struct tape *)r)->log, "tape%llu ", (unsigned long long)e->seq);
}

static struct err *tape_wait(struct recorder *r, enum recorder_safety safety)
{
    return NULL;
}

IN_TASK(subscribers_hear_an_event_in_their_order_after_the_recorder)
{
    AUTO(strbuf) struct strbuf log = {0};
    struct tape tape = {{tape_append, tape_wait}, &log};
    struct event_stream s = {.id = S("s")};
    struct ear a, b;

    ear_init(&a, "a", &log);
    ear_init(&b, "b", &log);
    event_stream_open(&s, 5, &tape.recorder);
    happen(&s);
    event_stream_subscribe(&s, &a.subscriber);
    event_stream_subscribe(&s, &b.subscriber);
    happen(&s);
    event_stream_unsubscribe(&a.subscriber);
    event_stream_unsubscribe(&a.subscriber);
    happen(&s);
    assert_log(&log, "tape5 tape6 a6 b6 tape7 b7 ");
    event_stream_done(&s);
    assert_null(b.subscriber.stream);
}

IN_TASK(a_subscriber_that_is_called_may_remove_itself_and_others)
{
    AUTO(strbuf) struct strbuf log = {0};
    struct event_stream s = {.id = S("s")};
    struct ear a, b, c;

    ear_init(&a, "a", &log);
    ear_init(&b, "b", &log);
    ear_init(&c, "c", &log);
    event_stream_open(&s, 1, NULL);
    event_stream_subscribe(&s, &a.subscriber);
    event_stream_subscribe(&s, &b.subscriber);
    event_stream_subscribe(&s, &c.subscriber);
    a.removes = &b.subscriber; /* the next */
    happen(&s);
    happen(&s);
    c.removes = &a.subscriber; /* an earlier one */
    happen(&s);
    c.removes = &c.subscriber; /* itself */
    happen(&s);
    happen(&s);
    assert_log(&log, "a1 c1 a2 c2 a3 c3 c4 ");
}

IN_TASK(one_that_is_added_while_another_is_called_hears_the_next_event)
{
    AUTO(strbuf) struct strbuf log = {0};
    struct event_stream s = {.id = S("s")};
    struct ear a, b;

    ear_init(&a, "a", &log);
    ear_init(&b, "b", &log);
    event_stream_open(&s, 1, NULL);
    event_stream_subscribe(&s, &a.subscriber);
    a.adds = &b.subscriber;
    a.to = &s;
    happen(&s);
    happen(&s);
    assert_log(&log, "a1 a2 b2 ");
    event_stream_done(&s);
}

IN_TASK(a_parents_subscribers_hear_its_children_but_not_what_of_them_is_durable)
{
    AUTO(strbuf) struct strbuf log = {0};
    struct event_stream parent = {.id = S("p")}, child = {.id = S("c"), .parent = &parent};
    struct ear a, b;

    ear_init(&a, "a", &log);
    ear_init(&b, "b", &log);
    a.subscriber.on_durable = b.subscriber.on_durable = ear_durable;
    event_stream_open(&parent, 7, NULL);
    event_stream_open(&child, 1, NULL);
    event_stream_subscribe(&parent, &a.subscriber);
    event_stream_subscribe(&child, &b.subscriber);
    happen(&child);
    happen(&parent);
    assert_log(&log, "b1 a1 b<2 a7 a<8 ");
    event_stream_done(&child);
    event_stream_done(&parent);
}

IN_TASK(what_is_durable_is_heard_from_the_recorder)
{
    AUTO(strbuf) struct strbuf log = {0};
    struct tape tape = {{tape_append, tape_wait}, &log};
    struct event_stream s = {.id = S("s")};
    struct ear a;

    ear_init(&a, "a", &log);
    a.subscriber.on_durable = ear_durable;
    event_stream_open(&s, 1, &tape.recorder);
    event_stream_subscribe(&s, &a.subscriber);
    happen(&s);
    tape.recorder.on_durable(tape.recorder.durable_self, 2);
    event_stream_close(&s);
    assert_null(tape.recorder.on_durable);
    assert_log(&log, "tape1 a1 a<2 ");
    event_stream_done(&s);
}

IN_TASK(events_before_and_after_the_stream_is_open_have_no_number_and_are_heard)
{
    AUTO(strbuf) struct strbuf log = {0};
    struct tape tape = {{tape_append, tape_wait}, &log};
    struct event_stream s = {.id = S("s")};
    struct ear a;

    ear_init(&a, "a", &log);
    event_stream_subscribe(&s, &a.subscriber);
    event_stream_notice(&s, SEVERITY_WARNING, "test", S("early"));
    event_stream_open(&s, 3, &tape.recorder);
    event_stream_notice(&s, SEVERITY_WARNING, "test", S("now"));
    event_stream_notice(&s, SEVERITY_WARNING, "test", S(""));
    event_stream_notice(NULL, SEVERITY_WARNING, "test", S("nobody hears it"));
    assert_int_equal(s.n_notices, 1);
    event_stream_close(&s);
    event_stream_notice(&s, SEVERITY_WARNING, "test", S("late"));
    assert_log(&log, "a0:early tape3 a3:now a0:late ");
    event_stream_done(&s);
}

IN_TASK(an_event_says_where_its_run_stands)
{
    const struct owner execution = {"execution", S("r"), NULL};
    const struct event_place place = {
        .run_id = S("r"), .owner = &execution, .round = 2, .attempt = 3};
    struct event_stream parent = {.id = S("p")}, s = {.id = S("s"), .parent = &parent, .turn = 4};
    struct event e = {0}, between = {.round = 9};

    event_stream_open(&s, 1, NULL);
    s.place = &place;
    event_stream_emit(&s, EVENT_TEXT_DROPPED, &e);
    assert_str(e.stream, "s");
    assert_str(e.parent_stream, "p");
    assert_str(e.run_id, "r");
    assert_ptr_equal(e.owner, &execution);
    assert_int_equal(e.turn, 4);
    assert_int_equal(e.round, 2);
    assert_int_equal(e.attempt, 3);
    s.place = NULL;
    event_stream_emit(&s, EVENT_TEXT_DROPPED, &between);
    assert_int_equal(between.run_id.n, 0);
    assert_str(between.owner->id, "main");
    assert_int_equal(between.round, 9);
}

/* A store that answers late must not change the order: what comes while one event waits is heard
 * after it. */
IN_TASK(what_comes_while_an_event_waits_to_be_durable_is_heard_after_it)
{
    AUTO(strbuf) struct strbuf log = {0};
    struct tape tape = {{tape_append, tape_wait}, &log};
    struct event_stream s = {.id = S("s")};
    struct event end = {0};
    struct ear a;

    ear_init(&a, "a", &log);
    event_stream_open(&s, 1, &tape.recorder);
    event_stream_subscribe(&s, &a.subscriber);
    event_stream_record(&s, EVENT_TEXT_DROPPED, &end);
    assert_int_equal(event_stream_told_seq(&s), 1);
    event_stream_notice(&s, SEVERITY_ERROR, "test", S("full"));
    set_state(&s, "v");
    assert_int_equal(event_stream_told_seq(&s), 1);
    assert_log(&log, "tape1 tape2 tape3 ");
    event_stream_tell(&s, &end);
    happen(&s);
    assert_log(&log, "a1 a2:full a3:k=v tape4 a4 ");
    assert_int_equal(event_stream_told_seq(&s), 5);
    event_stream_done(&s);
}

IN_TASK(no_known_credential_stands_in_a_notice)
{
    AUTO(strbuf) struct strbuf log = {0};
    struct secret_value key = {S("KEY"), S("sk-verysecret")};
    AUTO(secrets) struct secrets *secrets = secrets_new(&key, 1);
    struct event_stream s = {.id = S("s"), .secrets = secrets};
    struct ear a;

    ear_init(&a, "a", &log);
    event_stream_subscribe(&s, &a.subscriber);
    event_stream_notice(&s, SEVERITY_WARNING, "test", S("no sk-verysecret here"));
    assert_log(&log, "a0:no [REDACTED] here ");
    event_stream_done(&s);
}

RUN_TESTS(UNIT(subscribers_hear_an_event_in_their_order_after_the_recorder),
          UNIT(a_subscriber_that_is_called_may_remove_itself_and_others),
          UNIT(one_that_is_added_while_another_is_called_hears_the_next_event),
          UNIT(a_parents_subscribers_hear_its_children_but_not_what_of_them_is_durable),
          UNIT(what_is_durable_is_heard_from_the_recorder),
          UNIT(events_before_and_after_the_stream_is_open_have_no_number_and_are_heard),
          UNIT(an_event_says_where_its_run_stands),
          UNIT(what_comes_while_an_event_waits_to_be_durable_is_heard_after_it),
          UNIT(no_known_credential_stands_in_a_notice))
