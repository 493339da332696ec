/* change.c - changes one cell in the text of a notebook. */
#include "base/sha256.h"
#include "tool/notebook/notebook.h"

#define MAX_INDENT 64

/* --- which cell --- */

static struct err *no_such_cell(const struct notebook *n, const struct notebook_change *c)
{
    struct err *e =
        c->cell_id.n
            ? err_new(ERR_TOOL_FAILED, "there is no cell %" STR_FMT, STR_ARG(c->cell_id))
            : err_new(ERR_TOOL_FAILED, "there is no cell number %lld", (long long)c->cell_number);

    return err_hint(e, "the notebook has %zu cell%s; read it again with Read for their ids",
                    n->n_cells, n->n_cells == 1 ? "" : "s");
}

static bool find_by_id(const struct notebook *n, struct str id, size_t *ret_index)
{
    int64_t number;

    for (size_t i = 0; i < n->n_cells; i++) {
        if (str_eq(json_get_text(n->list[i], "id"), id)) {
            *ret_index = i;
            return true;
        }
    }
    if (!str_starts(id, S("cell-")) || !str_to_int64(str_skip(id, 5), &number) || number < 0 ||
        (size_t)number >= n->n_cells)
        return false;
    *ret_index = (size_t)number;
    return true;
}

static struct err *find_cell(const struct notebook *n, const struct notebook_change *c,
                             size_t *ret_index)
{
    if (c->cell_id.n ? find_by_id(n, c->cell_id, ret_index)
                     : c->cell_number >= 0 && (size_t)c->cell_number < n->n_cells) {
        if (!c->cell_id.n)
            *ret_index = (size_t)c->cell_number;
        return NULL;
    }
    if (!c->cell_id.n && c->cell_number < 0)
        return err_hint(err_new(ERR_TOOL_FAILED, "cell_id or cell_number is missing"),
                        "pass cell_id as Read shows it, or cell_number, counted from 0");
    return no_such_cell(n, c);
}

/* --- how the file is written --- */

/* The indentation of the line that holds `at`. The file is compact if no line ends before it. */
static struct str indent_at(const struct notebook *n, const char *at, bool *ret_is_compact)
{
    struct str before = str_make(n->text.p, (size_t)(at - n->text.p));
    size_t newline = str_rfind_char(before, '\n'), n_blanks = 0;
    struct str line = newline == STR_NONE ? before : str_skip(before, newline + 1);

    while (n_blanks < line.n && n_blanks < MAX_INDENT &&
           (line.p[n_blanks] == ' ' || line.p[n_blanks] == '\t'))
        n_blanks++;
    *ret_is_compact = newline == STR_NONE;
    return str_slice(line, 0, n_blanks);
}

struct layout {
    bool is_compact;
    struct str unit; /* of one level */
};

static struct layout layout_of(const struct notebook *n)
{
    struct layout l;

    l.unit = indent_at(n, n->cells->raw.p, &l.is_compact);
    if (!l.unit.n)
        l.unit = S(" ");
    return l;
}

static void add_break(struct strbuf *out, const struct layout *l, size_t depth)
{
    if (l->is_compact)
        return;
    strbuf_add_char(out, '\n');
    while (depth--)
        strbuf_add(out, l->unit);
}

/* Lines with their ends, as notebooks store them. */
static void add_lines(struct strbuf *out, const struct layout *l, struct str text, size_t depth)
{
    bool is_first = true;

    strbuf_add_char(out, '[');
    while (text.n) {
        size_t end = str_find_char(text, '\n');
        struct str line = str_slice(text, 0, end == STR_NONE ? text.n : end + 1);

        if (!is_first)
            strbuf_add_char(out, ',');
        is_first = false;
        add_break(out, l, depth + 1);
        json_write_string(out, line);
        text = str_skip(text, line.n);
    }
    if (!is_first)
        add_break(out, l, depth);
    strbuf_add_char(out, ']');
}

/* Cells are at depth 2, their members at 3. */
#define MEMBER_DEPTH 3

static void add_source(struct strbuf *out, const struct layout *l, const struct json *old,
                       struct str text)
{
    if (json_is(old, JSON_STRING))
        json_write_string(out, text);
    else
        add_lines(out, l, text, MEMBER_DEPTH);
}

static void add_member(struct strbuf *out, const struct layout *l, const char *name)
{
    if (!str_ends(strbuf_str(out), S("{")))
        strbuf_add_char(out, ',');
    add_break(out, l, MEMBER_DEPTH);
    strbuf_addf(out, "\"%s\":%s", name, l->is_compact ? "" : " ");
}

/* Since nbformat 4.5, cells have ids. */
static bool has_ids(const struct notebook *n)
{
    int64_t major = json_int_or(json_get(n->root, "nbformat"), 4);
    int64_t minor = json_int_or(json_get(n->root, "nbformat_minor"), 0);

    return major > 4 || (major == 4 && minor >= 5);
}

static struct str new_id(struct arena *a, const struct notebook *n, struct str source)
{
    for (unsigned i = 0;; i++) {
        struct str seed = arena_format(a, "%u:%zu:%" STR_FMT, i, n->n_cells, STR_ARG(source)), id;
        char hex[SHA256_HEX_SIZE];
        size_t index;

        sha256_hex(seed, hex);
        id = arena_str(a, str_make(hex, 8));
        if (!find_by_id(n, id, &index))
            return id;
    }
}

/* A new cell, with members in the order of Jupyter. `old` may be NULL. */
static void add_cell(struct strbuf *out, const struct layout *l, struct str type, struct str id,
                     const struct json *old, struct str source)
{
    bool is_code = str_is(type, "code");
    const struct json *metadata = json_get(old, "metadata");

    strbuf_add_char(out, '{');
    add_member(out, l, "cell_type");
    json_write_string(out, type);
    if (is_code) {
        add_member(out, l, "execution_count");
        strbuf_add_cstr(out, "null");
    }
    if (id.n) {
        add_member(out, l, "id");
        json_write_string(out, id);
    }
    add_member(out, l, "metadata");
    strbuf_add(out, metadata && metadata->raw.n ? metadata->raw : S("{}"));
    if (is_code) {
        add_member(out, l, "outputs");
        strbuf_add_cstr(out, "[]");
    }
    add_member(out, l, "source");
    add_source(out, l, json_get(old, "source"), source);
    add_break(out, l, MEMBER_DEPTH - 1);
    strbuf_add_char(out, '}');
}

/* --- the three changes --- */

/* Appends the text with `other` in place of from..to. */
static void splice(struct strbuf *out, struct str text, const char *from, const char *to,
                   struct str other)
{
    strbuf_add(out, str_make(text.p, (size_t)(from - text.p)));
    strbuf_add(out, other);
    strbuf_add(out, str_make(to, (size_t)(text.p + text.n - to)));
}

static const char *end_of(struct str s)
{
    return s.p + s.n;
}

/* Changes only these members, in the order in which they appear. */
static void change_members(const struct layout *l, const struct json *cell,
                           const struct notebook_change *c, bool is_code, struct strbuf *out)
{
    const char *at = cell->raw.p;

    json_each (member, cell) {
        if (!(str_is(member->key, "source") && c->has_source) &&
            !(is_code &&
              (str_is(member->key, "outputs") || str_is(member->key, "execution_count"))))
            continue;
        strbuf_add(out, str_make(at, (size_t)(member->raw.p - at)));
        at = end_of(member->raw);
        if (str_is(member->key, "source"))
            add_source(out, l, member, c->source);
        else
            strbuf_add_cstr(out, str_is(member->key, "outputs") ? "[]" : "null");
    }
    strbuf_add(out, str_make(at, (size_t)(end_of(cell->raw) - at)));
}

/* A cell with a repeated member cannot be changed in place: the value of one is at the position of
 * the other. */
static bool is_in_order(const struct json *cell)
{
    const char *at = cell->raw.p;

    json_each (member, cell) {
        if (member->raw.n == 0 || member->raw.p < at)
            return false;
        at = end_of(member->raw);
    }
    return true;
}

static struct err *replace(struct arena *a, const struct notebook *n, size_t index,
                           const struct notebook_change *c, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf cell = {0};
    const struct json *old = n->list[index];
    struct layout l = layout_of(n);
    struct str was = json_get_text(old, "cell_type"), type = c->cell_type.n ? c->cell_type : was;

    if (!c->has_source && str_eq(type, was))
        return err_hint(err_new(ERR_TOOL_FAILED, "new_source is missing"),
                        "pass the complete new source of the cell");
    if (str_eq(type, was) && is_in_order(old))
        change_members(&l, old, c, str_is(type, "code"), &cell);
    else
        add_cell(&cell, &l, type, json_get_text(old, "id"), old,
                 c->has_source ? c->source : notebook_text(a, json_get(old, "source")));
    splice(out, n->text, old->raw.p, end_of(old->raw), strbuf_str(&cell));
    return NULL;
}

static struct err *insert(struct arena *a, const struct notebook *n, size_t index,
                          const struct notebook_change *c, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf cell = {0};
    struct layout l = layout_of(n);
    const char *at;

    if (!c->has_source || !c->cell_type.n)
        return err_hint(err_new(ERR_TOOL_FAILED, "%s missing",
                                c->has_source    ? "cell_type is"
                                : c->cell_type.n ? "new_source is"
                                                 : "new_source and cell_type are"),
                        "a new cell needs both");
    if (n->n_cells && index)
        strbuf_add_char(&cell, ',');
    if (n->n_cells == 0)
        strbuf_add_char(&cell, '[');
    if (n->n_cells == 0 || index)
        add_break(&cell, &l, MEMBER_DEPTH - 1);
    add_cell(&cell, &l, c->cell_type, has_ids(n) ? new_id(a, n, c->source) : (struct str){0}, NULL,
             c->source);
    if (n->n_cells == 0) {
        add_break(&cell, &l, MEMBER_DEPTH - 2);
        strbuf_add_char(&cell, ']');
        splice(out, n->text, n->cells->raw.p, end_of(n->cells->raw), strbuf_str(&cell));
        return NULL;
    }
    if (index == 0) {
        strbuf_add_char(&cell, ',');
        add_break(&cell, &l, MEMBER_DEPTH - 1);
    }
    at = index ? end_of(n->list[index - 1]->raw) : n->list[0]->raw.p;
    splice(out, n->text, at, at, strbuf_str(&cell));
    return NULL;
}

static void delete(const struct notebook *n, size_t index, struct strbuf *out)
{
    const char *from = n->list[index]->raw.p, *to = end_of(n->list[index]->raw);

    if (n->n_cells == 1) {
        splice(out, n->text, n->cells->raw.p, end_of(n->cells->raw), S("[]"));
        return;
    }
    if (index + 1 < n->n_cells)
        to = n->list[index + 1]->raw.p;
    else
        from = end_of(n->list[index - 1]->raw);
    splice(out, n->text, from, to, S(""));
}

struct err *notebook_change(struct arena *a, const struct notebook *n,
                            const struct notebook_change *c, struct strbuf *out, size_t *ret_index)
{
    struct notebook again;
    size_t index = 0;

    if (c->mode != NOTEBOOK_INSERT || c->cell_id.n || c->cell_number >= 0)
        TRY(find_cell(n, c, &index));
    if (c->mode == NOTEBOOK_INSERT && (c->cell_id.n || c->cell_number >= 0))
        index++;
    if (c->mode == NOTEBOOK_DELETE)
        delete (n, index, out);
    else
        TRY(c->mode == NOTEBOOK_INSERT ? insert(a, n, index, c, out)
                                       : replace(a, n, index, c, out));
    TRY(strbuf_check(out, "the notebook"));
    if (!notebook_parse(a, strbuf_str(out), &again))
        return err_new(ERR_TOOL_FAILED, "this change would make the notebook too large");
    *ret_index = index;
    return NULL;
}
