/* answer.h - `--answer`: answers to what a suspended session waits for. */
#ifndef KEEL_CLI_FLAGS_ANSWER_H
#define KEEL_CLI_FLAGS_ANSWER_H

#include "cli/args.h"
#include "session/load.h"

/* CALL=ANSWER, or only ANSWER if one question is open. The answers live in `a`. ERR_VALIDATION: the
 * question is not named or not open, or has two answers. */
MUST_USE struct err *answer_flags_read(const struct args *args, const struct loaded *l,
                                       const struct history *h, struct arena *a,
                                       struct given_answer **ret_answers, size_t *ret_n);

/* The questions with the answers to choose from, or the plan, in lines; nothing: only the call
 * shows what is asked. */
void answer_flags_question(const struct ask *ask, struct strbuf *out);

/* How to answer what is asked, as a command: for a person, after the questions themselves. */
void answer_flags_hint(const struct ask *asks, size_t n, const char *session, struct strbuf *out);

#endif
