/* writer.h - writes the elements of a page through a Markdown writer.
 *
 * Ready to use when zeroed and gumbo, base and markdown are set. The fields are for the files of
 * this module. */
#ifndef KEEL_TOOL_HTML_WRITER_H
#define KEEL_TOOL_HTML_WRITER_H

#include "net/url.h"
#include "tool/html/markdown_writer.h"
#include "tool/html/tree.h"

/* The base of relative addresses. */
struct html_base {
    struct url url;
    bool is_known; /* if not, relative addresses stay unchanged */
};

void html_base_init(struct html_base *base, struct arena *a, struct str page_url);
/* <base href>, which may be relative itself. */
void html_base_change(struct html_base *base, struct arena *a, struct str href);

#define HTML_MAX_LISTS 32

struct html_list {
    bool is_ordered, has_items;
    int64_t number; /* of the next item */
};

struct html_table {
    const GumboNode *node; /* the table being written as Markdown; NULL outside of one */
    size_t n_columns;
    bool has_header;        /* its first row is all th */
    size_t n_rows, n_cells; /* written; cells of this row */
};

struct html_writer {
    struct gumbo_api gumbo;
    struct html_base base;
    struct markdown_writer markdown;
    bool is_main; /* inside of the page's marked content: omit nav and footer */

    struct arena scratch; /* for one address at a time */
    struct html_list lists[HTML_MAX_LISTS];
    size_t n_lists; /* lists beyond HTML_MAX_LISTS are only counted */
    struct html_table table;
};

void html_writer_done(struct html_writer *w);
DEFINE_AUTO_VAL(html_writer, html_writer_done)

/* Writes the node and everything below it, until the output is full. */
void html_write_node(struct html_writer *w, const GumboNode *top);

/* Tables (table.c). The parts are rows and cells of a table that is written as Markdown; false for
 * all other elements. */
void html_enter_table(struct html_writer *w, const GumboNode *table);
void html_leave_table(struct html_writer *w, const GumboNode *table);
bool html_enter_table_part(struct html_writer *w, const GumboNode *node);
bool html_leave_table_part(struct html_writer *w, const GumboNode *node);

#endif
