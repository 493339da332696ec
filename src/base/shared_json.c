/* shared_json.c - counts who holds a JSON value. */
#include "base/shared_json.h"

struct shared_json *shared_json_new(const struct json *value)
{
    struct shared_json *s = mem_alloc(sizeof *s);

    s->n_refs = 1;
    s->value = json_copy(&s->arena, value);
    return s;
}

struct shared_json *shared_json_ref(struct shared_json *s)
{
    s->n_refs++;
    return s;
}

void shared_json_unref(struct shared_json *s)
{
    if (!s || --s->n_refs)
        return;
    arena_done(&s->arena);
    mem_free(s);
}
