/* shorten.c - chooses what to omit from a history, and omits it. */
#include "engine/shorten.h"

#include "base/utf8.h"
#include "engine/ledger.h"

#include <stdlib.h>

#define NAMED_TOKENS 20 /* a result that is only named */

/* --- what to omit --- */

struct candidate {
    size_t index;
    int64_t tokens;
};

/* The largest first; of the same size the oldest. */
static int compare_sizes(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->tokens != y->tokens)
        return x->tokens < y->tokens ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static int compare_indices(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static size_t find_results(const struct message *const *messages, size_t n_messages,
                           struct candidate *out)
{
    size_t n = 0;

    for (size_t i = 0; i < n_messages; i++) {
        int64_t tokens = ledger_message_tokens(messages[i]);

        if (messages[i]->role == ROLE_TOOL && tokens > 2 * NAMED_TOKENS)
            out[n++] = (struct candidate){i, tokens};
    }
    return n;
}

struct history_cut shorten_plan(const struct message *const *messages, size_t n_messages,
                                int64_t n_tokens, struct arena *a)
{
    struct candidate *results = ARENA_ARRAY(a, n_messages, struct candidate);
    size_t *clipped = ARENA_ARRAY(a, n_messages, size_t);
    bool *is_clipped = ARENA_ARRAY(a, n_messages, bool);
    struct history_cut cut = {.clipped = clipped};
    size_t n = find_results(messages, n_messages, results);

    if (n)
        qsort(results, n, sizeof *results, compare_sizes);
    for (size_t i = 0; i < n && n_tokens > 0; i++) {
        clipped[cut.n_clipped++] = results[i].index;
        is_clipped[results[i].index] = true;
        n_tokens -= results[i].tokens - NAMED_TOKENS;
    }
    if (cut.n_clipped)
        qsort(clipped, cut.n_clipped, sizeof *clipped, compare_indices);
    for (; n_tokens > 0 && cut.n_skipped + 1 < n_messages; cut.n_skipped++)
        n_tokens -= is_clipped[cut.n_skipped] ? NAMED_TOKENS
                                              : ledger_message_tokens(messages[cut.n_skipped]);
    return cut;
}

/* --- omitting it --- */

static size_t count_chars(const struct part *result)
{
    size_t n = 0;

    for (size_t i = 0; i < result->n_content; i++)
        n += utf8_count(result->content[i].text);
    return n;
}

static void add_named(struct message *to, const struct part *result)
{
    struct part note = {
        .kind = PART_TEXT,
        .text =
            arena_format(&to->arena, "[result of %zu characters left out]", count_chars(result)),
    };
    struct part named = *result;

    named.content = &note;
    named.n_content = 1;
    named.native = (struct str){0};
    message_add(to, &named);
}

static struct message *name_results(const struct message *m)
{
    struct message *copy = message_new(m->role, m->id);

    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_RESULT)
            add_named(copy, &m->parts[i]);
        else
            message_add(copy, &m->parts[i]);
    return copy;
}

static struct message *skip_note(size_t n)
{
    struct message *m = message_new(ROLE_USER, S("skipped"));
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text, "[%zu earlier message%s left out]", n, n == 1 ? "" : "s");
    message_add_text(m, strbuf_str(&text));
    return m;
}

void shorten(const struct message *const *messages, size_t n_messages,
             const struct history_cut *cut, struct shortened *ret)
{
    size_t next = 0;

    *ret = (struct shortened){.items = mem_alloc((n_messages + 1) * sizeof *ret->items)};
    if (cut->has_nothing)
        return;
    n_messages -= MIN(cut->n_behind, n_messages);
    if (cut->n_skipped)
        ret->items[ret->n++] = skip_note(cut->n_skipped);
    for (size_t i = cut->n_skipped; i < n_messages; i++) {
        while (next < cut->n_clipped && cut->clipped[next] < i)
            next++;
        ret->items[ret->n++] = next < cut->n_clipped && cut->clipped[next] == i
                                   ? name_results(messages[i])
                                   : message_ref((struct message *)messages[i]);
    }
}

void shortened_done(struct shortened *s)
{
    for (size_t i = 0; i < s->n; i++)
        message_unref(s->items[i]);
    mem_free(s->items);
    *s = (struct shortened){0};
}
