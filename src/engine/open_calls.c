/* open_calls.c - finds calls without a result. */
#include "engine/open_calls.h"

/* Results for this call's id after the answer. */
static size_t count_results(const struct history *h, size_t from, struct str id)
{
    size_t n = 0;

    for (size_t i = from; i < h->n_messages; i++) {
        const struct message *m = h->messages[i];

        for (size_t k = 0; m->role == ROLE_TOOL && k < m->n_parts; k++)
            n += m->parts[k].kind == PART_TOOL_RESULT && str_eq(m->parts[k].id, id);
    }
    return n;
}

/* Ids may repeat within an answer: the n-th call of an id is open while it has fewer results. */
static bool is_open(const struct history *h, size_t after, const struct message *m, size_t part)
{
    size_t n_same = 0;

    for (size_t i = 0; i <= part; i++)
        n_same += m->parts[i].kind == PART_TOOL_CALL && str_eq(m->parts[i].id, m->parts[part].id);
    return count_results(h, after, m->parts[part].id) < n_same;
}

/* The place after it. */
static size_t find_after(const struct history *h, const struct message *m)
{
    size_t i = h->n_messages;

    while (i > 0 && h->messages[i - 1] != m)
        i--;
    return i;
}

size_t open_calls_of(const struct history *h, const struct message *answer, struct arena *a,
                     struct open_call **ret_calls)
{
    size_t after = find_after(h, answer), n_calls = 0, n = 0;

    *ret_calls = ARENA_ARRAY(a, answer->n_parts, struct open_call);
    for (size_t i = 0; i < answer->n_parts; i++) {
        if (answer->parts[i].kind != PART_TOOL_CALL)
            continue;
        if (is_open(h, after, answer, i))
            (*ret_calls)[n++] = (struct open_call){&answer->parts[i], n_calls};
        n_calls++;
    }
    return n;
}

const struct message *open_calls_find(const struct history *h)
{
    for (size_t i = h->n_messages; i-- > 0;) {
        const struct message *m = h->messages[i];

        if (m->is_error || m->role == ROLE_TOOL)
            continue;
        if (m->role != ROLE_ASSISTANT)
            return NULL;
        for (size_t k = 0; k < m->n_parts; k++)
            if (m->parts[k].kind == PART_TOOL_CALL && is_open(h, i + 1, m, k))
                return m;
        return NULL;
    }
    return NULL;
}
