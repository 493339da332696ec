/* prefix.h - what all requests of a session begin with: its system text and its tools.
 *
 * Providers keep what they have read of a prompt up to the first byte that differs, and some refuse
 * reasoning that was made behind another beginning. So a session keeps the beginning of its first
 * request, as state of the session, and sends it again after a restart, on another day and by
 * another version of keel. Only the person changes it: by another prompt, or by other tools. */
#ifndef KEEL_SDK_PREFIX_H
#define KEEL_SDK_PREFIX_H

#include "port/tool_set.h"
#include "port/tool_state.h"

/* Whether the model may use a tool of its provider, which nobody can be asked about call by call.
 */
enum native_wish {
    NATIVE_UNSAID,  /* nothing is configured: a search is as it was, a fetch is not wanted */
    NATIVE_REFUSED, /* a rule or the mode forbids it, or something else is configured */
    NATIVE_WANTED,  /* configured, and it would run without a question */
};

/* What the person has a say in. What is not said is as it was when the session began. */
struct prefix_wishes {
    const char *system_prompt, *append_system_prompt; /* NULL: unsaid */
    struct tool_filter filter;
    bool names_tools; /* the filter replaces that of the session; else it only denies more */
    enum native_wish search, fetch;
};

struct prefix {
    struct str system;
    const struct json *tools; /* tool_set_as_told() */
};

/* Completes the wishes by those that the session keeps, in `a`; without any, what is unsaid is not
 * wanted. True when they are what its prefix was made of: it is given, in `a`. */
bool prefix_find(const struct tool_state *s, struct prefix_wishes *wishes, struct arena *a,
                 struct prefix *ret_prefix);
/* From now on it is this, made of complete wishes. Tells the session. */
void prefix_keep(struct tool_state *s, const struct prefix_wishes *wishes, struct str system,
                 const struct tool_set *tools);

#endif
