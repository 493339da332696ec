/* notebook_fuzz.c - any text as a notebook: it is shown within bounds, and a change of a cell
 * changes that cell and no other. The input: what to do, which cell, the new source, a NUL, the
 * text. */
#include "tool/notebook/notebook.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool takes_every_second(void *self, struct str mime, struct str base64)
{
    return ++*(unsigned *)self % 2;
}

static void check_shown(struct arena *a, const struct notebook *n, size_t first)
{
    AUTO(strbuf) struct strbuf out = {0};
    unsigned n_images = 0;
    const struct notebook_images images = {takes_every_second, &n_images};
    size_t shown = notebook_show(a, n, first, 3, 1000, &images, &out);

    BUG_IF(shown > 3 || (n->n_cells > first && shown == 0));
}

/* Cells before and after the place stay, byte for byte. */
static void check_others(const struct notebook *n, const struct notebook *changed, size_t index,
                         enum notebook_mode mode)
{
    size_t skip_old = mode != NOTEBOOK_INSERT, skip_new = mode != NOTEBOOK_DELETE;

    BUG_IF(changed->n_cells + skip_old != n->n_cells + skip_new);
    for (size_t i = 0; i < index; i++)
        BUG_IF(!str_eq(n->list[i]->raw, changed->list[i]->raw));
    for (size_t i = index; i + skip_old < n->n_cells; i++)
        BUG_IF(!str_eq(n->list[i + skip_old]->raw, changed->list[i + skip_new]->raw));
}

static void check_change(struct arena *a, const struct notebook *n, const uint8_t *data,
                         struct str source)
{
    static const char *const types[] = {"", "code", "markdown", "raw"};
    AUTO(strbuf) struct strbuf out = {0};
    struct notebook_change change = {
        .mode = data[0] % 3,
        .cell_number = (int64_t)data[1] - 1,
        .has_source = !(data[0] & 32),
        .source = source,
        .cell_type = str_of(types[data[0] / 64]),
    };
    struct notebook changed;
    size_t index;
    AUTO(err) struct err *e = notebook_change(a, n, &change, &out, &index);

    if (e)
        return;
    BUG_IF(!notebook_parse(a, strbuf_str(&out), &changed));
    check_others(n, &changed, index, change.mode);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_skip(str_make((const char *)data, size), 2), source;
    AUTO(arena) struct arena a = {0};
    struct notebook n;

    if (size < 2 || !str_split(&text, 0, &source) || !notebook_parse(&a, text, &n))
        return 0;
    check_shown(&a, &n, data[1]);
    check_change(&a, &n, data, source);
    return 0;
}
