/* question_board.h - an asker whose questions are answered elsewhere, by id and in any order.
 *
 * A question hangs on the board while its task waits; those of calls side by side and of child runs
 * hang there together. A face (a host over lines, a client over the network) shows each as it
 * comes, and hands in what its person says from another task of the same loop; what that means is
 * read by the task that has asked, so reading may wait. */
#ifndef KEEL_PORT_QUESTION_BOARD_H
#define KEEL_PORT_QUESTION_BOARD_H

#include "port/asker.h"
#include "sys/task.h"

/* On the stack of the task that asks. */
struct open_question {
    struct str id; /* "keel_3" */
    const struct ask *ask;
    struct arena *arena; /* where the answer goes */
    /* private */
    struct open_question *before;
    const struct json *said;
    struct waker waker;
};

struct question_face {
    /* It cannot be put to this face's person: the answer is ANSWER_NOBODY. NULL: all can. */
    bool (*refuses)(void *self, const struct ask *ask);
    void (*show)(void *self, const struct open_question *q);
    void (*withdraw)(void *self, const struct open_question *q); /* its task was cancelled */
    /* What `said` means, which lives in the question's arena. */
    void (*read)(void *self, const struct open_question *q, const struct json *said,
                 struct answer *ret_answer);
    void *self;
};

struct question_board {
    struct asker asker; /* first: the port's calls come with its address */
    /* private */
    struct question_face face;
    struct open_question *last;
    uint64_t n_asked;
    bool is_closed;
};

void question_board_init(struct question_board *b, struct question_face face);
/* Copies what was said. False: it was answered or withdrawn. */
bool question_board_answer(struct question_board *b, struct str id, const struct json *said);
/* No more answers will come: those who wait and all who ask from now on get ANSWER_NOBODY. */
void question_board_close(struct question_board *b);

#endif
