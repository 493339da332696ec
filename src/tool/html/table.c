/* table.c - writes tables as Markdown if that can express them, otherwise as blocks. */
#include "tool/html/writer.h"

#define MAX_COLUMNS 64

static bool is_cell(const GumboNode *node)
{
    return html_tag(node) == GUMBO_TAG_TD || html_tag(node) == GUMBO_TAG_TH;
}

static size_t column_span(const struct gumbo_api *api, const GumboNode *cell)
{
    return (size_t)html_number(api, cell, "colspan", 1, MAX_COLUMNS, 1);
}

/* The number of columns of a row; *ret_is_header if all cells are th. */
static size_t measure_row(const struct gumbo_api *api, const GumboNode *row, bool *ret_is_header)
{
    const GumboVector *children = &row->v.element.children;
    size_t n_columns = 0;

    *ret_is_header = true;
    for (unsigned i = 0; i < children->length; i++) {
        const GumboNode *cell = children->data[i];

        if (!is_cell(cell) || html_is_omitted(api, cell))
            continue;
        n_columns += column_span(api, cell);
        if (html_tag(cell) == GUMBO_TAG_TD)
            *ret_is_header = false;
    }
    return n_columns;
}

/* Elements that a cell of a Markdown table cannot hold. */
static bool is_too_large_for_cell(GumboTag tag)
{
    switch (tag) {
    case GUMBO_TAG_TABLE:
    case GUMBO_TAG_PRE:
    case GUMBO_TAG_BLOCKQUOTE:
    case GUMBO_TAG_HR:
    case GUMBO_TAG_DL:
    case GUMBO_TAG_H1:
    case GUMBO_TAG_H2:
    case GUMBO_TAG_H3:
    case GUMBO_TAG_H4:
    case GUMBO_TAG_H5:
    case GUMBO_TAG_H6:
        return true;
    default:
        return false;
    }
}

/* The shape of a table that Markdown can express; without a node if its cells must become blocks.
 * Stops at a nested table, so that each node is measured for one table only. */
static struct html_table measure_table(const struct gumbo_api *api, const GumboNode *table)
{
    AUTO(html_walk) struct html_walk walk = {0};
    struct html_table shape = {0};
    const GumboNode *node;
    enum html_step step;
    bool is_first = true;

    html_walk_init(&walk, table);
    while ((step = html_walk_next(&walk, &node)) != HTML_END) {
        bool is_header;
        size_t n_columns;

        if (step != HTML_ENTER || node == table || !html_is_element(node))
            continue;
        if (html_is_omitted(api, node)) {
            html_walk_skip(&walk);
            continue;
        }
        if (is_too_large_for_cell(html_tag(node)))
            return shape;
        if (html_tag(node) != GUMBO_TAG_TR)
            continue;
        n_columns = measure_row(api, node, &is_header);
        shape.n_columns = MAX(shape.n_columns, n_columns);
        if (n_columns && is_first) {
            shape.has_header = is_header;
            is_first = false;
        }
    }
    if (shape.n_columns <= MAX_COLUMNS && (shape.n_columns > 1 || shape.has_header))
        shape.node = table;
    return shape;
}

static void add_empty_cells(struct html_writer *w, size_t n)
{
    for (; n && w->table.n_cells < w->table.n_columns; n--, w->table.n_cells++) {
        markdown_begin_cell(&w->markdown);
        markdown_end_cell(&w->markdown);
    }
}

static void leave_row(struct html_writer *w)
{
    add_empty_cells(w, w->table.n_columns);
    markdown_end_row(&w->markdown);
    if (w->table.n_rows++)
        return;
    markdown_begin_row(&w->markdown);
    for (size_t i = 0; i < w->table.n_columns; i++)
        strbuf_add_cstr(w->markdown.out, "| --- ");
    markdown_end_row(&w->markdown);
}

/* Markdown has no table without a header: if the table lacks one, an empty one goes first. */
static void enter_row(struct html_writer *w)
{
    bool is_headless = w->table.n_rows == 0 && !w->table.has_header;

    markdown_begin_row(&w->markdown);
    w->table.n_cells = 0;
    if (is_headless) {
        leave_row(w);
        markdown_begin_row(&w->markdown);
        w->table.n_cells = 0;
    }
}

static bool row_has_cells(const struct html_writer *w, const GumboNode *row)
{
    const GumboVector *children = &row->v.element.children;

    for (unsigned i = 0; i < children->length; i++)
        if (is_cell(children->data[i]) && !html_is_omitted(&w->gumbo, children->data[i]))
            return true;
    return false;
}

void html_enter_table(struct html_writer *w, const GumboNode *table)
{
    markdown_break(&w->markdown, BREAK_BLANK);
    if (!w->table.node && w->markdown.mode == MODE_TEXT && !w->markdown.heading)
        w->table = measure_table(&w->gumbo, table);
}

void html_leave_table(struct html_writer *w, const GumboNode *table)
{
    if (w->table.node == table)
        w->table.node = NULL;
    markdown_break(&w->markdown, BREAK_BLANK);
}

bool html_enter_table_part(struct html_writer *w, const GumboNode *node)
{
    if (html_tag(node) == GUMBO_TAG_TR && row_has_cells(w, node)) {
        enter_row(w);
        return true;
    }
    if (is_cell(node)) {
        markdown_begin_cell(&w->markdown);
        w->table.n_cells++;
        return true;
    }
    return false;
}

bool html_leave_table_part(struct html_writer *w, const GumboNode *node)
{
    if (html_tag(node) == GUMBO_TAG_TR && row_has_cells(w, node)) {
        leave_row(w);
        return true;
    }
    if (is_cell(node)) {
        markdown_end_cell(&w->markdown);
        add_empty_cells(w, column_span(&w->gumbo, node) - 1);
        return true;
    }
    return false;
}
