/* question_board.c - tasks that wait for answers to their questions. */
#include "port/question_board.h"

#include <inttypes.h>

static struct open_question *find(const struct question_board *b, struct str id)
{
    struct open_question *q = b->last;

    while (q && !str_eq(q->id, id))
        q = q->before;
    return q;
}

/* One that is answered does not hang there any more, so that no second answer finds it. */
static void take_down(struct question_board *b, const struct open_question *q)
{
    struct open_question **at = &b->last;

    while (*at && *at != q)
        at = &(*at)->before;
    if (*at)
        *at = q->before;
}

static struct err *board_ask(struct asker *asker, const struct ask *ask, struct arena *a,
                             struct answer *ret_answer)
{
    struct question_board *b = (struct question_board *)asker;
    struct open_question q = {.ask = ask, .arena = a};
    struct err *e;

    *ret_answer = (struct answer){.kind = ANSWER_NOBODY};
    if (b->is_closed || (b->face.refuses && b->face.refuses(b->face.self, ask)))
        return NULL;
    q.id = arena_format(a, "keel_%" PRIu64, ++b->n_asked);
    q.before = b->last;
    b->last = &q;
    waker_init(&q.waker);
    b->face.show(b->face.self, &q);
    e = waker_park(&q.waker);
    take_down(b, &q);
    if (e)
        b->face.withdraw(b->face.self, &q);
    else if (q.said)
        b->face.read(b->face.self, &q, q.said, ret_answer);
    return e;
}

void question_board_init(struct question_board *b, struct question_face face)
{
    *b = (struct question_board){.asker.ask = board_ask, .face = face};
}

bool question_board_answer(struct question_board *b, struct str id, const struct json *said)
{
    struct open_question *q = find(b, id);

    if (!q)
        return false;
    take_down(b, q);
    q->said = json_copy(q->arena, said);
    waker_wake(&q->waker);
    return true;
}

void question_board_close(struct question_board *b)
{
    b->is_closed = true;
    while (b->last) {
        struct open_question *q = b->last;

        b->last = q->before;
        waker_wake(&q->waker);
    }
}
