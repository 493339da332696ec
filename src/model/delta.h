/* delta.h - a piece of an answer as it streams in.
 *
 * Deltas are for observers; the reply has the whole answer. Strings live until the sink returns. */
#ifndef KEEL_MODEL_DELTA_H
#define KEEL_MODEL_DELTA_H

#include "base/str.h"

enum delta_kind {
    DELTA_TEXT,       /* text */
    DELTA_REASONING,  /* text */
    DELTA_REFUSAL,    /* text */
    DELTA_TOOL_BEGIN, /* id, name */
    DELTA_TOOL_ARGS,  /* text: the next piece of the arguments */
    /* id, name: the provider runs one of its own tools; text: its query, if the call names it. Sent
     * when the call is complete. */
    DELTA_SERVER_TOOL,
    DELTA_END, /* the part is complete: only an event, after on_close() */
};

struct delta {
    enum delta_kind kind;
    size_t part; /* index of the part in the reply */
    struct str text, id, name;
};

struct delta_sink {
    void (*on_delta)(void *self, const struct delta *d); /* NULL: there is no observer */
    void *self;
    /* The part is complete, if its protocol says so; others end with the answer. May wait. NULL:
     * not needed. */
    void (*on_close)(void *self, size_t part);
};

#endif
