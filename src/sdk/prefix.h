/* prefix.h - what all requests of a session begin with: its system text and its tools.
 *
 * Providers keep what they have read of a prompt up to the first byte that differs, and some refuse
 * reasoning that was made behind another beginning. So a session keeps the beginning of its first
 * request, as state of the session, and sends it again after a restart, on another day and by
 * another version of keel. Only the person changes it: by another prompt, or by other tools. */
#ifndef KEEL_SDK_PREFIX_H
#define KEEL_SDK_PREFIX_H

#include "port/tool_session.h"
#include "port/tool_set.h"

/* What the person has a say in. What is not said now is as it was when the session began. */
struct prefix_wishes {
    const char *system_prompt, *append_system_prompt; /* NULL: nothing is said */
    const struct tool_filter *filter;                 /* all tools: nothing is said */
    bool searches_web;                                /* with the provider's own search */
    bool fetches_web;                                 /* with its own fetch */
};

struct prefix {
    struct str system;
    const struct json *tools; /* tool_set_as_told() */
    bool is_own;              /* the system text is keel's, and not the person's */
};

/* That of the session, in `a`; false: it has none yet, or the person wants another. */
bool prefix_find(const struct tool_session *s, const struct prefix_wishes *wishes, struct arena *a,
                 struct prefix *ret_prefix);
/* From now on it is this. Tells the session. */
void prefix_keep(struct tool_session *s, const struct prefix_wishes *wishes, struct str system,
                 const struct tool_set *tools);

#endif
