/* notebook.h - a Jupyter notebook (nbformat 4): reads its cells, and changes one of them. Pure.
 *
 * A change edits the text of the file: everything except the cell stays byte for byte, and new
 * lines are indented as in the file. */
#ifndef KEEL_TOOL_NOTEBOOK_NOTEBOOK_H
#define KEEL_TOOL_NOTEBOOK_NOTEBOOK_H

#include "base/json.h"

#define NOTEBOOK_MAX_BYTES ((size_t)32 << 20)
#define NOTEBOOK_MAX_CELLS ((size_t)10000)

struct notebook {
    struct str text; /* borrowed */
    const struct json *root;
    const struct json *cells; /* an array of objects */
    const struct json **list; /* the same cells; in the arena */
    size_t n_cells;
    struct str language; /* "python"; empty: not given */
};

/* Does the path end as notebooks do? */
bool notebook_has_name(const char *path);

/* Everything is in `a` and borrows from the text. False: not a notebook with cells, or too
 * large. */
bool notebook_parse(struct arena *a, struct str text, struct notebook *ret_notebook);

/* The source of a cell, or another text that may be a list of lines, as one text. In `a`. */
struct str notebook_text(struct arena *a, const struct json *value);

/* Appends cells `first` to `first + n_max - 1`, from 0, each with a headline, its source and its
 * outputs, shortened if they are long, until more than max_bytes are appended. Returns how many.
 * Passes images to `add` as base64, which returns whether it takes them. */
struct notebook_images {
    bool (*add)(void *self, struct str mime, struct str base64);
    void *self;
};
size_t notebook_show(struct arena *a, const struct notebook *n, size_t first, size_t n_max,
                     size_t max_bytes, const struct notebook_images *images, struct strbuf *out);

enum notebook_mode { NOTEBOOK_REPLACE, NOTEBOOK_INSERT, NOTEBOOK_DELETE };

struct notebook_change {
    enum notebook_mode mode;
    struct str cell_id;  /* of the file, or cell-N; empty: not given */
    int64_t cell_number; /* from 0, if there is no id; -1: not given */
    bool has_source;
    struct str source;
    struct str cell_type; /* "code", "markdown", "raw"; empty: unchanged */
};

/* Appends the text of the changed notebook. A new cell goes after the named one, or first. A code
 * cell whose source changes loses its outputs. ERR_TOOL_FAILED: there is no such cell, or something
 * is missing. *ret_index is where the cell is or was. */
MUST_USE struct err *notebook_change(struct arena *a, const struct notebook *n,
                                     const struct notebook_change *change, struct strbuf *out,
                                     size_t *ret_index);

#endif
