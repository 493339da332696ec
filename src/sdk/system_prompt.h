/* system_prompt.h - what the model is told about itself and its work. Pure.
 *
 * The same words in every session and on every day: they stand at the head of all requests, and
 * providers keep and check what stands there. What changes is told in messages (surroundings.h). */
#ifndef KEEL_SDK_SYSTEM_PROMPT_H
#define KEEL_SDK_SYSTEM_PROMPT_H

#include "base/strbuf.h"

/* `instead` of everything keel would say, and `append` after it; each may be NULL. */
void system_prompt_write(struct strbuf *out, const char *instead, const char *append);

#endif
