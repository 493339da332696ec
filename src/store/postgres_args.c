/* postgres_args.c - the arguments of a statement, and the rows of its answer. */
#include "store/postgres_conn.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- arguments --- */

void postgres_args_done(struct postgres_args *a)
{
    arena_done(&a->arena);
    *a = (struct postgres_args){0};
}

static void add_value(struct postgres_args *a, const char *value, size_t n, int format)
{
    BUG_IF(a->n == POSTGRES_MAX_ARGS);
    a->values[a->n] = value;
    a->lengths[a->n] = (int)n;
    a->formats[a->n++] = format;
}

static void look_for_nul(struct postgres_args *a, struct str text)
{
    a->has_nul |= str_find_char(text, '\0') != STR_NONE;
}

void postgres_text(struct postgres_args *a, struct str text)
{
    look_for_nul(a, text);
    add_value(a, arena_cstr(&a->arena, text), text.n, 0);
}

void postgres_int(struct postgres_args *a, int64_t value)
{
    postgres_text(a, arena_format(&a->arena, "%" PRId64, value));
}

void postgres_bytes(struct postgres_args *a, struct str bytes)
{
    add_value(a, bytes.n ? bytes.p : "", bytes.n, 1);
}

static void next_element(struct strbuf *out)
{
    strbuf_add_char(out, out->n ? ',' : '{');
}

void postgres_array_text(struct strbuf *out, struct postgres_args *a, struct str text)
{
    look_for_nul(a, text);
    next_element(out);
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, text.p[i]);
    }
    strbuf_add_char(out, '"');
}

void postgres_array_int(struct strbuf *out, int64_t value)
{
    next_element(out);
    strbuf_addf(out, "%" PRId64, value);
}

void postgres_array_end(struct strbuf *out, struct postgres_args *a)
{
    strbuf_add_cstr(out, out->n ? "}" : "{}");
    postgres_text(a, strbuf_str(out));
    strbuf_clear(out);
}

/* --- rows --- */

void postgres_rows_done(struct postgres_rows *r)
{
    if (r->result)
        r->api->clear(r->result);
    *r = (struct postgres_rows){0};
}

struct str postgres_row_text(const struct postgres_rows *r, int row, int column)
{
    return str_make(r->api->getvalue(r->result, row, column),
                    (size_t)r->api->getlength(r->result, row, column));
}

int64_t postgres_row_int(const struct postgres_rows *r, int row, int column)
{
    return strtoll(r->api->getvalue(r->result, row, column), NULL, 10);
}

bool postgres_row_bool(const struct postgres_rows *r, int row, int column)
{
    return r->api->getvalue(r->result, row, column)[0] == 't';
}
