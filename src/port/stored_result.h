/* stored_result.h - tool results that were too long for the context, by the names that models use.
 *
 * A result is kept as a blob; "out_3" stands for it in every text that a model reads. Names are
 * numbered in the order in which results are stored, are never given twice in a session, and are
 * part of its state: they outlive a restart, a fork and a compaction. The state is
 *
 *     handle:out_3  {"sha256":..., "tool":..., "bytes":..., "lines":..., "leftOut":...}
 *
 * and in sessions of older versions "handle:SHA256" with the same value. "leftOut" tells of a gap
 * (TOOL_LEFT_OUT, port/tool.h). */
#ifndef KEEL_PORT_STORED_RESULT_H
#define KEEL_PORT_STORED_RESULT_H

#include "port/tool_state.h"

#define STORED_RESULT_NAME "out_"
/* The first line of what a model reads of it begins with this. */
#define STORED_RESULT_MARK "[The whole output has"

struct stored_result {
    struct str name;          /* "out_3" */
    struct str sha256;        /* of the blob */
    const struct json *value; /* the state's */
};

/* By its name or its hash, as a model copied it. Borrowed from the state. */
bool stored_result_find(const struct tool_state *s, struct str handle, struct stored_result *ret);
/* All of them, in the order in which they were stored; start with *at = 0. */
bool stored_result_next(const struct tool_state *s, size_t *at, struct stored_result *ret);
/* Of one entry of the state; false: it is none of these. */
bool stored_result_read(struct str key, const struct json *value, struct stored_result *ret);

/* The name for what has this hash: the one that it has, or the next. `value` becomes the state,
 * with the hash. In `a`. */
struct str stored_result_add(struct tool_state *s, struct arena *a, struct str sha256,
                             struct json *value);

#endif
