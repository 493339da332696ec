/* system_prompt.h - what the model reads about itself and its work. Pure.
 *
 * The same words in every session with the same tools, on every day: they begin every request, and
 * providers keep and check what a request begins with. What changes goes into messages
 * (surroundings.h). */
#ifndef KEEL_SDK_PROMPT_SYSTEM_PROMPT_H
#define KEEL_SDK_PROMPT_SYSTEM_PROMPT_H

#include "port/tool_set.h"

struct system_prompt {
    const char *instead;          /* of everything keel would say; NULL: keel's own text */
    const char *append;           /* after it; NULL: nothing */
    const struct tool_set *tools; /* keel's text names no others; NULL: there are none */
    bool searches_web;            /* with the provider's own search */
    bool is_summarised;           /* a long history becomes a summary without being asked */
};

void system_prompt_write(struct strbuf *out, const struct system_prompt *p);

#endif
