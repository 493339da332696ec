/* answer.h - reads the replies of hooks. Pure.
 *
 * Exit 0 with a JSON object on stdout is an answer in the format of Claude Code. Exit 0 with other
 * text is context for the model if the event allows it, and ignored otherwise. Exit 2 blocks, with
 * stderr as the reason, if the event can be blocked. Everything else is a problem: a sentence for
 * the person. continue:false counts with any exit code. An answer with a problem allows nothing and
 * changes nothing; a denial in it still denies. An answer that cannot be read as a whole (a
 * repeated name, text before or after it, a byte order mark) may have been a denial: it refuses a
 * PreToolUse call. */
#ifndef KEEL_HOOK_ANSWER_H
#define KEEL_HOOK_ANSWER_H

#include "hook/table.h"

/* Longer texts are cut in the middle. */
#define HOOK_MAX_TEXT_CHARS 10000

struct hook_answer {
    struct hook_outcome outcome;
    struct str problem; /* empty: none */
};

/* The result is in `a`. */
struct hook_answer hook_answer_read(enum hook_event event, const struct hook_reply *reply,
                                    struct arena *a) MUST_USE;

/* Merges the answers, in the order of the configuration. The strongest permission wins (deny, ask,
 * allow), with the reasons of the answers that gave it. The input is changed by the first of the
 * strongest answers. If only a weaker one changed it, an allow does not count, since it was given
 * for another input. If blocking means to continue, ending the run wins. */
struct hook_outcome hook_answers_merge(enum hook_event event, const struct hook_answer *answers,
                                       size_t n, struct arena *a) MUST_USE;

#endif
