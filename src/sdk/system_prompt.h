/* system_prompt.h - what the model is told about itself, its tools and where it is. Pure.
 *
 * The same values give the same text, and the only one that changes by itself is the date: so
 * prompt caches hold for a day. */
#ifndef KEEL_SDK_SYSTEM_PROMPT_H
#define KEEL_SDK_SYSTEM_PROMPT_H

#include "base/strbuf.h"

struct system_prompt {
    const char *instead; /* of everything keel would say; NULL: keel's own */
    const char *append;  /* after it; NULL: nothing */
    const char *cwd;
    const char *const *added_dirs;
    size_t n_added_dirs;
    bool is_repository;
    const char *platform;   /* "linux" */
    const char *os_version; /* "Linux 6.1.0" */
    const char *date;       /* "2026-01-31" */
};

void system_prompt_write(struct strbuf *out, const struct system_prompt *p);

#endif
