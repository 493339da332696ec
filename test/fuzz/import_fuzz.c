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

/* Every call has its result before anybody else speaks. */
static void check_session(const struct imported *s)
{
    size_t n_open = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct message *m = s->items[i].message;

        BUG_IF(!m && s->items[i].step != IMPORT_CLEAR);
        BUG_IF(n_open && (!m || m->role != ROLE_TOOL || s->items[i].begins));
        if (!m)
            continue;
        BUG_IF(!store_id_is_valid(m->id));
        for (size_t k = 0; k < i && k < 100; k++)
            BUG_IF(s->items[k].message && str_eq(s->items[k].message->id, m->id));
        if (m->role == ROLE_TOOL) {
            BUG_IF(n_open == 0 || m->n_parts != 1);
            n_open--;
        } else if (m->role == ROLE_ASSISTANT) {
            n_open = count_calls(m);
        }
    }
    BUG_IF(n_open);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct import_options options = {.name = "input", .is_partial = true};
    AUTO(import) struct import i = {0};
    AUTO(err) struct err *e = import_read_text(&i, str_make((const char *)data, size), &options);

    if (e)
        return 0;
    for (size_t k = 0; k < i.n; k++)
        check_session(&i.sessions[k]);
    return 0;
}
