/* surroundings.h - what the model is told of where it works: place, date, mode, walls. Pure.
 *
 * It changes while a session continues, and the system text does not. So the person's messages
 * carry it: the first one all of it, later ones what has changed since. The result of the call that
 * ends plan mode carries it too, because the run continues in another mode. What the model knows
 * already is read from the history itself, so a rewind, a copy and a summary cannot make it wrong.
 */
#ifndef KEEL_SDK_PROMPT_SURROUNDINGS_H
#define KEEL_SDK_PROMPT_SURROUNDINGS_H

#include "model/history.h"

#define SURROUNDINGS_MAX 16

struct surroundings {
    struct {
        const char *name;
        struct str value; /* empty: there is nothing to say */
    } lines[SURROUNDINGS_MAX];
    size_t n;
};

/* A line, in the order of the calls; `value` is borrowed. */
void surroundings_add(struct surroundings *s, const char *name, struct str value);

/* Appends what the history does not say yet, as one block; nothing, if it says all of it. */
void surroundings_tell(const struct surroundings *now, const struct history *told,
                       struct strbuf *out);

#endif
