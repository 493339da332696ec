/* asker.c - asking, where somebody is there. */
#include "port/asker.h"

const char *ask_kind_name(enum ask_kind k)
{
    static const char *const names[] = {"permission", "question", "budget", "plan"};

    _Static_assert(ARRAY_LEN(names) == N_ASK_KINDS, "one for each");
    return NAME_IN(names, k);
}

struct err *asker_ask(struct asker *asker, const struct ask *ask, struct arena *a,
                      struct answer *ret_answer)
{
    *ret_answer = (struct answer){.kind = ANSWER_NOBODY};
    return asker ? asker->ask(asker, ask, a, ret_answer) : NULL;
}
