/* chan_test.c - queues between tasks: order, room, closing, and who is interrupted when. */
#include "sys/tasks.h"

static int numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

struct pipe_ends {
    struct chan *chan;
    struct strbuf log;
    unsigned n_items;
    bool slow_receiver;
};

static struct err *send_all(void *arg)
{
    struct pipe_ends *p = arg;

    for (unsigned i = 0; i < p->n_items; i++) {
        TRY(chan_send(p->chan, &numbers[i]));
        strbuf_addf(&p->log, "s%u", i);
    }
    chan_close(p->chan);
    strbuf_add_cstr(&p->log, "close");
    return NULL;
}

static struct err *receive_all(void *arg)
{
    struct pipe_ends *p = arg;

    for (;;) {
        void *item;
        bool open;

        if (p->slow_receiver)
            TRY(task_sleep(10));
        TRY(chan_receive(p->chan, &item, &open));
        if (!open)
            return NULL;
        strbuf_addf(&p->log, "r%d", *(int *)item);
    }
}

static struct err *run_both(void *arg)
{
    struct pipe_ends *p = arg;
    struct group g;
    struct err *e;

    p->chan = chan_new(2);
    group_begin(&g, 0, 0);
    group_spawn(&g, "sender", send_all, p);
    group_spawn(&g, "receiver", receive_all, p);
    e = group_end(&g);
    chan_free(p->chan);
    return e;
}

TEST(a_sender_waits_when_the_channel_is_full)
{
    struct pipe_ends p = {.n_items = 4, .slow_receiver = true};

    assert_ok(run_tasks(run_both, &p));
    assert_str(strbuf_str(&p.log), "s0s1r0s2r1s3closer2r3");
    strbuf_done(&p.log);
}

TEST(a_receiver_waits_when_the_channel_is_empty)
{
    struct pipe_ends p = {.n_items = 3};

    assert_ok(run_tasks(run_both, &p));
    assert_str(strbuf_str(&p.log), "s0s1r0r1r2s2close");
    strbuf_done(&p.log);
}

TEST(what_was_sent_before_the_close_is_received_after_it)
{
    struct pipe_ends p = {.n_items = 2};

    assert_ok(run_tasks(run_both, &p));
    assert_str(strbuf_str(&p.log), "s0s1closer0r1");
    strbuf_done(&p.log);
}

static struct err *try_both(void *arg)
{
    AUTO(chan) struct chan *c = chan_new(2);
    void *item = NULL;
    bool open = true;

    EXPECT(!chan_try_receive(c, &item));
    EXPECT(chan_try_send(c, &numbers[1]) && chan_try_send(c, &numbers[2]));
    EXPECT(!chan_try_send(c, &numbers[3]));
    EXPECT(chan_try_receive(c, &item) && item == &numbers[1]);
    EXPECT(chan_try_send(c, NULL));
    chan_close(c);
    EXPECT(!chan_try_send(c, &numbers[4]));
    EXPECT_TEXT(chan_send(c, &numbers[4]), "the channel is closed");
    EXPECT(chan_try_receive(c, &item) && item == &numbers[2]);
    TRY(chan_receive(c, &item, &open));
    EXPECT(open && item == NULL);
    EXPECT(!chan_try_receive(c, &item));
    TRY(chan_receive(c, &item, &open));
    EXPECT(!open && item == NULL);
    return NULL;
}

TEST(trying_never_waits_and_a_closed_channel_gives_what_is_left)
{
    assert_ok(run_tasks(try_both, NULL));
}

struct actor {
    struct chan *chan;
    void *item;
    bool open;
    struct err *result;
};

static struct err *act_send(void *arg)
{
    struct actor *a = arg;

    a->result = chan_send(a->chan, a->item);
    return NULL;
}

static struct err *act_receive(void *arg)
{
    struct actor *a = arg;

    a->result = chan_receive(a->chan, &a->item, &a->open);
    return NULL;
}

static struct err *close_on_waiters(void *arg)
{
    AUTO(chan) struct chan *full = chan_new(1), *empty = chan_new(1);
    struct actor senders[2] = {{full}, {full}}, receivers[2] = {{empty}, {empty}};
    struct group g;
    struct err *e;

    EXPECT(chan_try_send(full, &numbers[0]));
    group_begin(&g, 0, 0);
    for (unsigned i = 0; i < 2; i++) {
        group_spawn(&g, "sender", act_send, &senders[i]);
        group_spawn(&g, "receiver", act_receive, &receivers[i]);
    }
    e = task_yield();
    chan_close(full);
    chan_close(empty);
    if (!e)
        e = group_end(&g);
    TRY(e);
    for (unsigned i = 0; i < 2; i++) {
        EXPECT_ERR(senders[i].result, ERR_CANCELLED);
        EXPECT(!receivers[i].result && !receivers[i].open);
    }
    return NULL;
}

TEST(closing_ends_the_wait_of_senders_with_an_error_and_of_receivers_without)
{
    assert_ok(run_tasks(close_on_waiters, NULL));
}

static struct err *cancel_a_sender(void *arg)
{
    AUTO(chan) struct chan *c = chan_new(1);
    struct actor first = {c, &numbers[1]}, second = {c, &numbers[2]};
    struct group cancelled, kept;
    void *items[2];
    struct err *e;

    EXPECT(chan_try_send(c, &numbers[0]));
    group_begin(&cancelled, 0, 0);
    group_spawn(&cancelled, "first", act_send, &first);
    group_begin(&kept, 0, 0);
    group_spawn(&kept, "second", act_send, &second);
    e = task_yield();
    group_cancel(&cancelled);
    if (!e)
        e = task_yield();
    for (unsigned i = 0; i < 2; i++)
        if (!chan_try_receive(c, &items[i]))
            items[i] = NULL;
    if (!e)
        e = group_end(&kept);
    if (!e)
        e = group_end(&cancelled);
    TRY(e);
    EXPECT_ERR(first.result, ERR_CANCELLED);
    TRY(second.result);
    EXPECT(items[0] == &numbers[0] && items[1] == &numbers[2]);
    return NULL;
}

TEST(the_item_of_a_cancelled_sender_is_not_sent_and_the_next_one_has_its_turn)
{
    assert_ok(run_tasks(cancel_a_sender, NULL));
}

static struct err *cancel_a_receiver_that_got_something(void *arg)
{
    AUTO(chan) struct chan *c = chan_new(1);
    struct actor receiver = {c};
    struct group g;
    struct err *e;
    bool sent;

    group_begin(&g, 0, 0);
    group_spawn(&g, "receiver", act_receive, &receiver);
    e = task_yield();
    sent = chan_try_send(c, &numbers[1]);
    group_cancel(&g);
    if (!e)
        e = group_end(&g);
    TRY(e);
    EXPECT(sent && !receiver.result && receiver.item == &numbers[1]);
    return NULL;
}

TEST(a_receiver_that_is_cancelled_after_it_was_given_an_item_still_gets_it)
{
    assert_ok(run_tasks(cancel_a_receiver_that_got_something, NULL));
}

static struct err *serve_in_order(void *arg)
{
    AUTO(chan) struct chan *c = chan_new(4);
    struct actor receivers[3] = {{c}, {c}, {c}};
    struct group g;
    struct err *e;

    group_begin(&g, 0, 0);
    for (unsigned i = 0; i < 3; i++)
        group_spawn(&g, "receiver", act_receive, &receivers[i]);
    e = task_yield();
    for (unsigned i = 0; i < 3; i++)
        chan_try_send(c, &numbers[i]);
    if (!e)
        e = group_end(&g);
    TRY(e);
    for (unsigned i = 0; i < 3; i++)
        EXPECT(receivers[i].item == &numbers[i]);
    return NULL;
}

TEST(receivers_are_served_in_the_order_in_which_they_came)
{
    assert_ok(run_tasks(serve_in_order, NULL));
}

struct mill {
    struct chan *chan;
    unsigned n_senders_left;
    unsigned long long sum, n_received;
};

enum { N_SENDERS = 7, N_RECEIVERS = 3, N_EACH = 500 };

static struct err *grind_in(void *arg)
{
    struct mill *m = arg;

    for (uintptr_t i = 1; i <= N_EACH; i++) {
        TRY(chan_send(m->chan, (void *)i));
        if (i % 5 == 0)
            TRY(task_yield());
    }
    if (--m->n_senders_left == 0)
        chan_close(m->chan);
    return NULL;
}

static struct err *grind_out(void *arg)
{
    struct mill *m = arg;
    void *item;
    bool open;

    for (;;) {
        TRY(chan_receive(m->chan, &item, &open));
        if (!open)
            return NULL;
        m->sum += (uintptr_t)item;
        m->n_received++;
    }
}

static struct err *grind(void *arg)
{
    AUTO(chan) struct chan *c = chan_new(4);
    struct mill m = {.chan = c, .n_senders_left = N_SENDERS};
    struct group g;

    group_begin(&g, 0, 0);
    for (unsigned i = 0; i < N_SENDERS; i++)
        group_spawn(&g, "sender", grind_in, &m);
    for (unsigned i = 0; i < N_RECEIVERS; i++)
        group_spawn(&g, "receiver", grind_out, &m);
    TRY(group_end(&g));
    EXPECT(m.n_received == N_SENDERS * N_EACH);
    EXPECT(m.sum == (unsigned long long)N_SENDERS * N_EACH * (N_EACH + 1) / 2);
    return NULL;
}

TEST(many_senders_and_receivers_lose_nothing)
{
    assert_ok(run_tasks(grind, NULL));
}

RUN_TESTS(UNIT(a_sender_waits_when_the_channel_is_full),
          UNIT(a_receiver_waits_when_the_channel_is_empty),
          UNIT(what_was_sent_before_the_close_is_received_after_it),
          UNIT(trying_never_waits_and_a_closed_channel_gives_what_is_left),
          UNIT(closing_ends_the_wait_of_senders_with_an_error_and_of_receivers_without),
          UNIT(the_item_of_a_cancelled_sender_is_not_sent_and_the_next_one_has_its_turn),
          UNIT(a_receiver_that_is_cancelled_after_it_was_given_an_item_still_gets_it),
          UNIT(receivers_are_served_in_the_order_in_which_they_came),
          UNIT(many_senders_and_receivers_lose_nothing))
