/* answer.h - what hooks said, and what it means. Pure.
 *
 * Exit 0 with a JSON object on stdout is an answer in Claude Code's terms; with other text it is
 * context for the model where the event says so, and nothing elsewhere. Exit 2 blocks, with stderr
 * as the reason, where the event can be blocked. Everything else is a problem: a sentence for the
 * person. continue:false counts whatever the exit code is. An answer with a problem in it allows
 * nothing and changes nothing; what it denies is denied. An answer that cannot be read as a whole
 * (a name that stands twice, text before or behind it, a byte order mark) may have been a no: it
 * refuses a PreToolUse call. */
#ifndef KEEL_HOOK_ANSWER_H
#define KEEL_HOOK_ANSWER_H

#include "hook/table.h"

/* Longer texts are cut in the middle. */
#define HOOK_MAX_TEXT_CHARS 10000

struct hook_answer {
    struct hook_outcome outcome;
    struct str problem; /* empty: none */
};

/* Everything lives in `a`. */
struct hook_answer hook_answer_read(enum hook_event event, const struct hook_reply *reply,
                                    struct arena *a) MUST_USE;

/* All answers as one, in the order in which they are configured. The strongest permission counts
 * (deny, ask, allow), with the reasons of those who gave it. Changed input is the first of the
 * strongest; if only weaker ones changed it, an allow does not count, since it was given to other
 * input. Where to block means to go on, ending the run wins. */
struct hook_outcome hook_answers_merge(enum hook_event event, const struct hook_answer *answers,
                                       size_t n, struct arena *a) MUST_USE;

#endif
