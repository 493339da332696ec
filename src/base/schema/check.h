/* check.h - one validation: its position, its budget, its findings. For the files of this folder
 * only.
 *
 * Checks answer true or false. If there is no answer (the budget is exhausted, a schema refers to
 * itself without end), they set `error`, everything after answers false, and callers look at the
 * end. */
#ifndef KEEL_BASE_SCHEMA_CHECK_H
#define KEEL_BASE_SCHEMA_CHECK_H

#include "base/schema/node.h"

struct checker {
    struct arena *arena;   /* the caller's, for the report */
    struct faults *faults; /* the faults; NULL: only yes or no is needed */
    struct pattern_matcher *matcher;
    uint64_t steps_left;
    struct err *error;
};

/* A schema being applied to a value. Frames are on the C stack and lead back to the root. */
struct frame {
    const struct frame *outer;
    const struct node *node;
    const struct json *value;
    size_t index;      /* of the value in its array */
    struct seen *seen; /* records which children were evaluated; NULL: not needed */
    unsigned depth;
};

/* The children of a value that some keyword has evaluated. */
struct seen {
    uint64_t *bits, small;
    size_t n;
    bool all;
};

/* False, and an error, if the budget is exhausted. */
bool schema_spend(struct checker *c, uint64_t steps);

/* Applies a node to the value of the frame, or to one of its children. */
bool schema_apply(struct checker *c, const struct frame *f, const struct node *node,
                  struct seen *seen);
bool schema_apply_child(struct checker *c, const struct frame *f, const struct node *node,
                        const struct json *child, size_t index);

bool schema_pattern_matches(struct checker *c, const struct schema_pattern *p, struct str text);
void schema_matcher_done(struct checker *c);

/* --- faults (report.c) --- */

enum fault_kind {
    FAULT_OTHER,
    FAULT_TYPE,
    FAULT_CHOICE, /* const or enum: perhaps another branch was meant */
};

struct schema_fault {
    struct str path, message;
    enum fault_kind kind;
    unsigned types; /* FAULT_TYPE: the wanted types */
    size_t level;   /* steps of the path */
};

struct faults {
    struct schema_fault *items;
    size_t n, room;
};

static inline bool schema_wants_faults(const struct checker *c)
{
    return c->faults && !c->error && c->faults->n < SCHEMA_MAX_ERRORS;
}

/* Notes a fault at the frame. Returns false, so that checks can return it. */
bool schema_fail(struct checker *c, const struct frame *f, enum fault_kind kind, const char *format,
                 ...) PRINTF_LIKE(4, 5);
bool schema_fail_type(struct checker *c, const struct frame *f, unsigned wanted);
bool schema_fail_choice(struct checker *c, const struct frame *f, const struct choice *choice);
/* No branch fits: says what the closest one would need. */
bool schema_fail_branches(struct checker *c, const struct frame *f, const struct node_list *nodes);

/* Like schema_fail(), but makes no text if only yes or no is needed. */
#define FAIL(c, f, ...)                                                                            \
    (schema_wants_faults(c) ? schema_fail((c), (f), FAULT_OTHER, __VA_ARGS__) : false)

/* For messages, all cut when long: a text, the text as a JSON string, a value as JSON. */
const char *schema_shorten(struct arena *a, struct str text);
const char *schema_quote(struct arena *a, struct str text);
const char *schema_brief(struct arena *a, const struct json *v);

#endif
