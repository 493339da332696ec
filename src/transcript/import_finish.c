/* import_finish.c - makes what was read a history that a model can be asked with. */
#include "transcript/import_parts.h"

#include "base/utf8.h"
#include "base/uuid.h"
#include "port/store.h"

#include <stdio.h>

#define PREVIEW_BYTES 200
#define MAX_TOKENS                                                                                 \
    ((int64_t)1 << 40) /* of one message: more is nonsense, and sums must not wrap                 \
                        */
#define NOT_KNOWN                                                                                  \
    "The result of this call is not known: it is not in the file that this session was imported "  \
    "from."

struct open_call {
    struct str id, name; /* in their message */
    bool is_answered;
};

struct finishing {
    struct imported *session;
    struct arena *arena; /* of what stays */
    struct imported_message *items;
    size_t n, room;
    struct open_call *calls; /* of the last answer */
    size_t n_calls, calls_room;
    struct arena scratch;
    /* ids that are taken: a table with room for twice as many */
    struct str *ids;
    size_t ids_size, n_ids;
};

/* --- ids --- */

static bool take_id(struct finishing *f, struct str id)
{
    size_t at = str_hash(id) % f->ids_size;

    while (f->ids[at].p) {
        if (str_eq(f->ids[at], id))
            return false;
        at = (at + 1) % f->ids_size;
    }
    f->ids[at] = id;
    f->n_ids++;
    return true;
}

static void grow_ids(struct finishing *f)
{
    struct str *old = f->ids;
    size_t size = f->ids_size;

    if (2 * (f->n_ids + 1) <= size)
        return;
    f->ids_size = size ? 2 * size : 64;
    f->ids = mem_alloc(f->ids_size * sizeof *f->ids);
    f->n_ids = 0;
    for (size_t i = 0; i < size; i++)
        if (old[i].p)
            (void)take_id(f, old[i]);
    mem_free(old);
}

/* One that is missing, twice there or no good is made from its place: the same file gives the same
 * ids. */
static void set_id(struct finishing *f, struct message *m)
{
    char name[64], id[UUID_TEXT_SIZE];

    grow_ids(f);
    if (store_id_is_valid(m->id) && take_id(f, m->id))
        return;
    for (unsigned i = 0;; i++) {
        snprintf(name, sizeof name, "message %zu.%u", f->n, i);
        uuid_from_name(f->session->id, str_of(name), id);
        m->id = arena_str(&m->arena, str_of(id));
        if (take_id(f, m->id))
            return;
    }
}

/* --- calls and results --- */

static void push(struct finishing *f, const struct imported_message *item, struct message *m)
{
    f->items = arena_grow(f->arena, f->items, f->n, &f->room, sizeof *f->items);
    f->items[f->n] = *item;
    f->items[f->n].message = m;
    if (m)
        set_id(f, m);
    f->n++;
}

static struct message *result_message(const struct part *result, const struct open_call *c)
{
    struct message *m = message_new(ROLE_TOOL, (struct str){0});
    struct part *p = message_add(m, result);

    if (p->name.n == 0)
        p->name = arena_str(&m->arena, c->name);
    return m;
}

static void close_calls(struct finishing *f, int64_t unix_ms)
{
    struct part text = {.kind = PART_TEXT, .text = S(NOT_KNOWN)};

    for (size_t i = 0; i < f->n_calls; i++) {
        struct part unknown = {.kind = PART_TOOL_RESULT,
                               .id = f->calls[i].id,
                               .is_error = true,
                               .content = &text,
                               .n_content = 1};
        struct imported_message item = {.step = IMPORT_APPEND, .unix_ms = unix_ms};

        if (!f->calls[i].is_answered && f->n)
            item.step = f->items[f->n - 1].step;
        if (!f->calls[i].is_answered)
            push(f, &item, result_message(&unknown, &f->calls[i]));
    }
    f->n_calls = 0;
}

static void note_calls(struct finishing *f, const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++) {
        if (m->parts[i].kind != PART_TOOL_CALL)
            continue;
        f->calls = arena_grow(&f->scratch, f->calls, f->n_calls, &f->calls_room, sizeof *f->calls);
        f->calls[f->n_calls++] = (struct open_call){m->parts[i].id, m->parts[i].name, false};
    }
}

static struct open_call *find_call(struct finishing *f, struct str id)
{
    for (size_t i = 0; i < f->n_calls; i++)
        if (!f->calls[i].is_answered && str_eq(f->calls[i].id, id))
            return &f->calls[i];
    return NULL;
}

/* One message for each result; those that answer no call are left out. */
static void take_results(struct finishing *f, struct imported_message *item)
{
    for (size_t i = 0; i < item->message->n_parts; i++) {
        const struct part *p = &item->message->parts[i];
        struct open_call *c = find_call(f, p->id);

        if (!c)
            continue;
        c->is_answered = true;
        if (i == 0 && item->message->n_parts == 1) {
            struct message *m = TAKE(item->message);

            if (m->parts[0].name.n == 0)
                m->parts[0].name = arena_str(&m->arena, c->name);
            push(f, item, m);
            return;
        }
        push(f, item, result_message(p, c));
    }
    message_unref(TAKE(item->message));
}

/* --- what is in it --- */

static void limit(int64_t *n)
{
    if (*n < 0 || *n > MAX_TOKENS)
        *n = -1;
}

static void limit_usage(struct usage *u)
{
    limit(&u->input);
    limit(&u->output);
    limit(&u->cache_read);
    limit(&u->cache_write);
    limit(&u->reasoning);
    limit(&u->tool_input);
    limit(&u->cost_microcents);
}

static void take_item(struct finishing *f, struct imported_message *item)
{
    struct message *m = item->message;

    if (!m || item->begins || m->role != ROLE_TOOL)
        close_calls(f, item->unix_ms);
    if (!m) {
        push(f, item, NULL);
        return;
    }
    if (m->role == ROLE_TOOL) {
        take_results(f, item);
        return;
    }
    limit_usage(&m->usage);
    item->message = NULL;
    if (m->n_parts == 0 && !item->begins) {
        message_unref(m);
        return;
    }
    push(f, item, m);
    if (m->role == ROLE_ASSISTANT && !m->is_error)
        note_calls(f, m);
}

static int64_t first_time(const struct imported *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->items[i].unix_ms)
            return s->items[i].unix_ms;
    return 0;
}

static void fill_times(struct imported *s)
{
    int64_t last;

    if (!s->created_ms)
        s->created_ms = first_time(s);
    last = s->created_ms;
    for (size_t i = 0; i < s->n; i++) {
        if (!s->items[i].unix_ms)
            s->items[i].unix_ms = last;
        last = s->items[i].unix_ms;
        s->updated_ms = MAX(s->updated_ms, last);
    }
    s->updated_ms = MAX(s->updated_ms, s->created_ms);
}

static struct str first_prompt(const struct imported *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct message *m = s->items[i].message;

        if (!m || m->role != ROLE_USER)
            continue;
        for (size_t k = 0; k < m->n_parts; k++)
            if (m->parts[k].kind == PART_TEXT && str_trim(m->parts[k].text).n)
                return str_trim(m->parts[k].text);
    }
    return (struct str){0};
}

static void find_preview(struct imported *s, struct arena *a)
{
    struct str text = first_prompt(s);
    size_t end = str_find_char(text, '\n');

    text = str_slice(text, 0, end == STR_NONE ? text.n : end);
    s->preview = arena_str(a, utf8_truncate(text, PREVIEW_BYTES));
}

void import_finish(struct imported *s, struct import *out)
{
    struct finishing f = {.session = s, .arena = &out->arena};

    limit_usage(&s->usage);
    for (size_t i = 0; i < s->n; i++)
        take_item(&f, &s->items[i]);
    close_calls(&f, 0);
    s->items = f.items;
    s->n = f.n;
    s->room = f.room;
    fill_times(s);
    find_preview(s, &out->arena);
    mem_free(f.ids);
    arena_done(&f.scratch);
}
