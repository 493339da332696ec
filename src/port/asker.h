/* asker.h - who is asked when only a person can decide.
 *
 * An asker answers now (it may wait), later (the run is then suspended and goes on with the answer
 * when somebody gives it), or not at all, because nobody is there. */
#ifndef KEEL_PORT_ASKER_H
#define KEEL_PORT_ASKER_H

#include "base/json.h"

enum ask_kind {
    ASK_PERMISSION, /* may this call run? */
    ASK_QUESTION,   /* the model asks the person: `args` holds its questions */
    ASK_BUDGET,     /* a limit is reached: go on? */
    /* The model presents a plan, `args` hold it. A yes begins the work: ANSWER_SESSION lets files
     * be changed freely, ANSWER_ONCE does not; ANSWER_NO may say what is wrong with it. */
    ASK_PLAN,
};
#define N_ASK_KINDS (ASK_PLAN + 1)
const char *ask_kind_name(enum ask_kind k); /* "permission", "question", "budget", "plan" */

struct ask {
    enum ask_kind kind;
    struct str call_id, tool; /* empty for ASK_BUDGET */
    const struct json *args;  /* the effective arguments */
    struct str text;          /* why it is asked, for the person */
    struct str rule;          /* ASK_PERMISSION: what ANSWER_SESSION would allow; may be empty */
};

enum answer_kind {
    ANSWER_NOBODY, /* nobody is there to answer */
    ANSWER_LATER,  /* somebody will, but not now */
    ANSWER_NO,
    ANSWER_ONCE,    /* yes, this time */
    ANSWER_SESSION, /* yes, as long as the session lives */
    ANSWER_PROJECT, /* yes, and write it down for the project */
    ANSWER_VALUE,   /* to ASK_QUESTION: `value` */
};
#define N_ANSWER_KINDS (ANSWER_VALUE + 1)

struct answer {
    enum answer_kind kind;
    struct str reason;        /* for the model, with ANSWER_NO; may be empty */
    const struct json *value; /* with ANSWER_VALUE */
    /* With a yes to ASK_PERMISSION: the call runs with these instead, if tool and rules take them;
     * NULL: with those that were asked about. */
    const struct json *args;
};

struct asker {
    /* Required; may wait. What the answer points at lives in `a`. */
    struct err *(*ask)(struct asker *asker, const struct ask *ask, struct arena *a,
                       struct answer *ret_answer);
};

/* NULL is an asker: nobody is there. */
MUST_USE struct err *asker_ask(struct asker *asker, const struct ask *ask, struct arena *a,
                               struct answer *ret_answer);

#endif
