/* shared_json.h - a JSON value that several hold: never changed, counted. Of one thread. */
#ifndef KEEL_BASE_SHARED_JSON_H
#define KEEL_BASE_SHARED_JSON_H

#include "base/json.h"

struct shared_json {
    const struct json *value;
    /* the rest is private */
    struct arena arena;
    unsigned n_refs;
};

struct shared_json *shared_json_new(const struct json *value) MUST_USE; /* copied */
struct shared_json *shared_json_ref(struct shared_json *s) MUST_USE;
void shared_json_unref(struct shared_json *s);
DEFINE_AUTO_PTR(shared_json, shared_json_unref)

#endif
