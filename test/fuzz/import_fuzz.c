/* import_fuzz.c - whatever a file says, what comes out of it is a history that can be gone on with.
 */
#include "base/utf8.h"
#include "port/store.h"
#include "transcript/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_args(const struct part *p)
{
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = NULL;
    struct json *v = NULL;

    if (p->is_free_text)
        return;
    e = json_parse(&a, p->args, 0, &v);
    BUG_IF(e || v->type != JSON_OBJECT);
}

static size_t count_calls(const struct message *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_parts; i++) {
        BUG_IF(!utf8_is_valid(m->parts[i].text));
        BUG_IF(m->parts[i].kind == PART_MEDIA && m->parts[i].media.source == MEDIA_BLOB);
        if (m->parts[i].kind != PART_TOOL_CALL)
            continue;
        check_args(&m->parts[i]);
        n += !m->is_error;
    }
    return n;
}

#define N_IDS 100

struct checking {
    size_t n, n_open;
    char ids[N_IDS][129];
};

/* Every call has its result before anybody else speaks. */
static struct err *check_message(void *self, struct imported_message *item)
{
    struct checking *c = self;
    const struct message *m = item->message;

    BUG_IF(!m && item->step != IMPORT_CLEAR);
    BUG_IF(c->n_open && (!m || m->role != ROLE_TOOL || item->begins));
    if (!m)
        return NULL;
    BUG_IF(!store_id_is_valid(m->id));
    for (size_t k = 0; k < c->n; k++)
        BUG_IF(str_is(m->id, c->ids[k]));
    if (c->n < N_IDS)
        memcpy(c->ids[c->n++], m->id.p, m->id.n);
    if (m->role == ROLE_TOOL) {
        BUG_IF(c->n_open == 0 || m->n_parts != 1);
        c->n_open--;
    } else if (m->role == ROLE_ASSISTANT) {
        c->n_open = count_calls(m);
    }
    return NULL;
}

static void check_session(struct import *i, size_t index)
{
    const struct imported *s = &i->sessions[index];
    struct checking c = {0};
    struct err *e = import_each(i, s, check_message, &c);

    BUG_IF(e || c.n_open);
    BUG_IF(s->parent_index != IMPORT_NO_PARENT && s->parent_index >= index);
}

static void check(struct str text, size_t short_bytes)
{
    struct import_options options = {
        .name = "input", .is_partial = true, .short_bytes = short_bytes};
    AUTO(import) struct import i = {0};
    AUTO(err) struct err *e = import_read_text(&i, text, &options);

    for (size_t k = 0; !e && k < i.n; k++)
        check_session(&i, k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check(str_make((const char *)data, size), 0);
    check(str_make((const char *)data, size), 8); /* all lines are long ones */
    return 0;
}
