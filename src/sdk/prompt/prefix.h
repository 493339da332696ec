/* prefix.h - what all requests of a session begin with: its system text and its tools.
 *
 * Providers keep what they have read of a prompt up to the first byte that differs, and some refuse
 * reasoning that was made behind another beginning. So a session keeps the beginning of its first
 * request, as state of the session, and sends it again after a restart, on another day and by
 * another version of keel. Only the person changes it: by another prompt, or by other tools. */
#ifndef KEEL_SDK_PROMPT_PREFIX_H
#define KEEL_SDK_PROMPT_PREFIX_H

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

/* Tens of kilobytes, so all sessions of a project that begin alike hold the same one. Counted. */
struct prefix {
    struct str system;
    const struct json *tools; /* tool_set_as_told() */
    /* the rest is private */
    struct shared_json *kept; /* by sessions, with the wishes; has the two above */
    struct prefixes *of;
    struct prefix *next;
    unsigned n_refs;
};
/* Those that somebody holds. Zeroed is empty; outlives them. */
struct prefixes {
    struct prefix *first;
};
struct prefix *prefix_ref(struct prefix *p) MUST_USE;
void prefix_unref(struct prefix *p);
DEFINE_AUTO_PTR(prefix, prefix_unref)

/* Completes the wishes by those that the session keeps, in `a`; without any, what is unsaid is not
 * wanted. When they are what its prefix was made of, that is returned, which the session then
 * shares; else NULL. */
struct prefix *prefix_find(struct prefixes *all, struct tool_state *s, struct prefix_wishes *wishes,
                           struct arena *a) MUST_USE;
/* From now on it is this, made of complete wishes. Tells the session. */
struct prefix *prefix_keep(struct prefixes *all, struct tool_state *s,
                           const struct prefix_wishes *wishes, struct str system,
                           const struct tool_set *tools) MUST_USE;

#endif
