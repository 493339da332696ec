/* import_finish.c - turns what was read into a history that can be sent to a model, message by
 * message. */
#include "transcript/import_parts.h"

#include "base/uuid.h"
#include "port/store.h"

#include <stdio.h>

#define NOT_KNOWN                                                                                  \
    "The result of this call is not known: it is not in the file that this session was imported "  \
    "from."

struct imported_call {
    struct str id, name; /* in the answer */
    bool is_answered;
    size_t next; /* one with the same id, + 1; 0: none */
};

struct import_finishing {
    const struct imported *session;
    struct err *(*take)(void *self, struct imported_message *m);
    void *self;
    size_t n;    /* passed on so far */
    bool begins; /* a new history begins, and its first message was empty */
    enum import_step begin_step;
    enum import_step last_step;
    int64_t last_ms;
    struct import_index ids; /* of messages passed on */
    struct message *answer;  /* whose calls are open */
    struct imported_call *calls;
    size_t n_calls;
    struct import_index by_id; /* the first open call of each id, + 1 */
};

static void close_answer(struct import_finishing *f)
{
    message_unref(TAKE(f->answer));
    mem_free(TAKE(f->calls));
    import_index_done(&f->by_id);
    f->n_calls = 0;
}

static void finishing_done(struct import_finishing *f)
{
    close_answer(f);
    import_index_done(&f->ids);
}
DEFINE_AUTO_VAL(import_finishing, finishing_done)

/* --- ids --- */

static bool take_id(struct import_finishing *f, struct str id)
{
    size_t *is_taken = import_index_at(&f->ids, import_key(id));
    bool was_free = *is_taken == 0;

    *is_taken = 1;
    return was_free;
}

/* An id that is missing, repeated or unusable is derived from its place: the same file gives the
 * same ids. */
static void set_id(struct import_finishing *f, struct message *m)
{
    char name[64], id[UUID_TEXT_SIZE];

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

/* A message without a time gets that of the one before it. */
static struct err *pass_on(struct import_finishing *f, enum import_step step, bool begins,
                           int64_t unix_ms, struct message *take_message)
{
    struct imported_message m = {step, begins, take_message, unix_ms ? unix_ms : f->last_ms};
    struct err *e;

    if (m.message)
        set_id(f, m.message);
    f->n++;
    f->last_step = step;
    f->last_ms = m.unix_ms;
    e = f->take(f->self, &m);
    message_unref(m.message);
    return e;
}

/* --- calls and results --- */

static struct message *result_message(const struct part *result, const struct imported_call *c)
{
    struct message *m = message_new(ROLE_TOOL, (struct str){0});
    struct part *p = message_add(m, result);

    if (p->name.n == 0)
        p->name = arena_str(&m->arena, c->name);
    return m;
}

static struct err *pass_on_missing_results(struct import_finishing *f, int64_t unix_ms)
{
    struct part text = {.kind = PART_TEXT, .text = S(NOT_KNOWN)};

    for (size_t i = 0; i < f->n_calls; i++) {
        struct part unknown = {.kind = PART_TOOL_RESULT,
                               .id = f->calls[i].id,
                               .is_error = true,
                               .content = &text,
                               .n_content = 1};

        if (!f->calls[i].is_answered)
            TRY(pass_on(f, f->last_step, false, unix_ms, result_message(&unknown, &f->calls[i])));
    }
    close_answer(f);
    return NULL;
}

/* An empty id counts, too. */
static uint64_t key_of_call(struct str id)
{
    return id.n ? import_key(id) : 1;
}

static void open_calls(struct import_finishing *f, struct message *answer)
{
    size_t n = message_n_calls(answer);

    if (n == 0)
        return;
    f->answer = message_ref(answer);
    f->calls = mem_alloc(n * sizeof *f->calls);
    f->n_calls = n;
    for (size_t i = answer->n_parts; i-- > 0;) {
        const struct part *p = &answer->parts[i];
        size_t *first;

        if (p->kind != PART_TOOL_CALL)
            continue;
        first = import_index_at(&f->by_id, key_of_call(p->id));
        f->calls[--n] = (struct imported_call){p->id, p->name, false, *first};
        *first = n + 1;
    }
}

/* Of several calls with one id, the first without a result. */
static struct imported_call *answer_call(struct import_finishing *f, struct str id)
{
    size_t *first;
    struct imported_call *c;

    if (!import_index_find(&f->by_id, key_of_call(id)))
        return NULL;
    first = import_index_at(&f->by_id, key_of_call(id));
    c = &f->calls[*first - 1];
    *first = c->next;
    c->is_answered = true;
    return c;
}

/* One message per result; results without a call are omitted. */
static struct err *pass_on_results(struct import_finishing *f, const struct import_item *item,
                                   struct message *take_message)
{
    AUTO(message) struct message *m = take_message;

    for (size_t i = 0; i < m->n_parts; i++) {
        struct imported_call *c = answer_call(f, m->parts[i].id);

        if (c && m->n_parts == 1) {
            if (m->parts[0].name.n == 0)
                m->parts[0].name = arena_str(&m->arena, c->name);
            return pass_on(f, item->step, false, item->unix_ms, TAKE(m));
        }
        if (c)
            TRY(pass_on(f, item->step, false, item->unix_ms, result_message(&m->parts[i], c)));
    }
    return NULL;
}

/* --- the history --- */

static struct err *pass_on_item(struct import_finishing *f, struct import *from,
                                const struct import_item *item)
{
    AUTO(message) struct message *m = NULL;
    bool begins;

    if (item->n_bytes)
        TRY(import_fetch(from, item, &m));
    if (!m || item->begins || m->role != ROLE_TOOL)
        TRY(pass_on_missing_results(f, item->unix_ms));
    if (item->begins) {
        f->begins = true;
        f->begin_step = item->step;
    }
    if (m && m->role == ROLE_TOOL)
        return pass_on_results(f, item, TAKE(m));
    if (m && m->role == ROLE_ASSISTANT && !m->is_error)
        open_calls(f, m);
    begins = f->begins;
    f->begins = false;
    return pass_on(f, begins && !item->begins ? f->begin_step : item->step, begins, item->unix_ms,
                   TAKE(m));
}

struct err *import_each(struct import *i, const struct imported *s,
                        struct err *(*take)(void *self, struct imported_message *m), void *self)
{
    AUTO(import_finishing)
    struct import_finishing f = {
        .session = s, .take = take, .self = self, .last_ms = s->created_ms};

    for (size_t k = 0; k < s->n; k++)
        TRY(pass_on_item(&f, i, &s->items[k]));
    return pass_on_missing_results(&f, 0);
}
