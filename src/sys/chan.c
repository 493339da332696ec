/* chan.c - bounded queues between tasks.
 *
 * Items go from hand to hand: a sender gives its item to the receiver that has waited longest, a
 * receiver lets in the sender that has waited longest. So the order is kept, and a task that is
 * cancelled while it waits has either passed its item on or not at all. */
#include "sys/scheduler.h"

/* A task that waits; on its stack. */
struct chan_turn {
    struct waker waker;
    struct chan_turn *previous, *next;
    void *item; /* to send, or what was received */
    bool done;  /* false when woken: the channel was closed */
};

struct chan_turns {
    struct chan_turn *first, *last;
};

struct chan {
    size_t n, first, n_room;
    bool closed;
    struct chan_turns senders, receivers;
    void *items[];
};

struct chan *chan_new(size_t n_room)
{
    struct chan *c;

    BUG_IF(n_room == 0 || n_room > SIZE_MAX / 2 / sizeof(void *));
    c = mem_alloc(sizeof *c + n_room * sizeof c->items[0]);
    c->n_room = n_room;
    return c;
}

void chan_free(struct chan *c)
{
    BUG_IF(c && (c->senders.first || c->receivers.first));
    mem_free(c);
}

static void join_turns(struct chan_turns *list, struct chan_turn *turn)
{
    turn->previous = list->last;
    if (list->last)
        list->last->next = turn;
    else
        list->first = turn;
    list->last = turn;
}

static void leave_turns(struct chan_turns *list, struct chan_turn *turn)
{
    if (turn->previous)
        turn->previous->next = turn->next;
    else
        list->first = turn->next;
    if (turn->next)
        turn->next->previous = turn->previous;
    else
        list->last = turn->previous;
}

static struct chan_turn *take_turn(struct chan_turns *list)
{
    struct chan_turn *turn = list->first;

    if (turn) {
        leave_turns(list, turn);
        turn->done = true;
        waker_wake(&turn->waker);
    }
    return turn;
}

static struct err *wait_turn(struct chan_turns *list, struct chan_turn *turn, const char *waits_for)
{
    struct err *e;

    waker_init(&turn->waker);
    join_turns(list, turn);
    e = task_park(&turn->waker, waits_for);
    if (e)
        leave_turns(list, turn);
    return e;
}

static void put(struct chan *c, void *item)
{
    c->items[(c->first + c->n++) % c->n_room] = item;
}

static void *get(struct chan *c)
{
    void *item = c->items[c->first];

    c->first = (c->first + 1) % c->n_room;
    c->n--;
    return item;
}

bool chan_try_send(struct chan *c, void *item)
{
    struct chan_turn *receiver;

    if (c->closed || c->n == c->n_room)
        return false;
    receiver = take_turn(&c->receivers);
    if (receiver)
        receiver->item = item;
    else
        put(c, item);
    return true;
}

bool chan_try_receive(struct chan *c, void **ret_item)
{
    struct chan_turn *sender;

    if (c->n == 0)
        return false;
    *ret_item = get(c);
    sender = take_turn(&c->senders);
    if (sender)
        put(c, sender->item);
    return true;
}

static struct err *closed_error(void)
{
    return err_new(ERR_CANCELLED, "the channel is closed");
}

struct err *chan_send(struct chan *c, void *item)
{
    struct chan_turn turn = {.item = item};

    TRY(task_check());
    if (c->closed)
        return closed_error();
    if (chan_try_send(c, item))
        return NULL;
    TRY(wait_turn(&c->senders, &turn, "waits to send"));
    return turn.done ? NULL : closed_error();
}

struct err *chan_receive(struct chan *c, void **ret_item, bool *ret_open)
{
    struct chan_turn turn = {0};

    TRY(task_check());
    *ret_open = true;
    if (chan_try_receive(c, ret_item))
        return NULL;
    if (!c->closed)
        TRY(wait_turn(&c->receivers, &turn, "waits to receive"));
    *ret_item = turn.item;
    *ret_open = turn.done;
    return NULL;
}

/* Wakes all that wait, without an item: senders fail, receivers see the end. */
static void dismiss(struct chan_turns *list)
{
    while (list->first) {
        struct chan_turn *turn = list->first;

        leave_turns(list, turn);
        waker_wake(&turn->waker);
    }
}

void chan_close(struct chan *c)
{
    c->closed = true;
    dismiss(&c->senders);
    dismiss(&c->receivers);
}
