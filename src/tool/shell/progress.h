/* progress.h - shows a person the newest output of a running command, now and then. */
#ifndef KEEL_TOOL_SHELL_PROGRESS_H
#define KEEL_TOOL_SHELL_PROGRESS_H

#include "port/tool.h"

struct shell_progress { /* zeroed but for its context */
    const struct tool_context *context;
    char newest[4096]; /* not shown yet; older bytes make room */
    size_t n;
    uint64_t next_ms; /* not before */
};

/* Shows it at once when nothing was shown for a while. */
void progress_add(struct shell_progress *p, struct str bytes, uint64_t now_ms);
/* How long what is there should still wait; UINT64_MAX: nothing is there. */
uint64_t progress_wait_ms(const struct shell_progress *p, uint64_t now_ms);
void progress_show(struct shell_progress *p, uint64_t now_ms);

#endif
