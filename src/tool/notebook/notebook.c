/* notebook.c - reads a notebook and shows its cells. */
#include "tool/notebook/notebook.h"

#include "base/clip.h"
#include "base/utf8.h"

#define MAX_OUTPUT_CHARS 2000 /* of one output */

bool notebook_has_name(const char *path)
{
    return str_ends(str_of(path), S(".ipynb"));
}

static bool list_cells(struct arena *a, struct notebook *n)
{
    if (!json_is(n->cells, JSON_ARRAY) || n->cells->n > NOTEBOOK_MAX_CELLS)
        return false;
    n->list = ARENA_ARRAY(a, n->cells->n + 1, const struct json *);
    json_each (cell, n->cells) {
        if (cell->type != JSON_OBJECT || !json_has(cell, "source") ||
            !json_get_text(cell, "cell_type").n)
            return false;
        n->list[n->n_cells++] = cell;
    }
    return true;
}

bool notebook_parse(struct arena *a, struct str text, struct notebook *ret_notebook)
{
    struct notebook n = {.text = text};
    struct json_where where;
    struct json *root;

    if (text.n > NOTEBOOK_MAX_BYTES || !json_parse_at(a, text, 0, &root, &where) ||
        root->type != JSON_OBJECT)
        return false;
    n.root = root;
    n.cells = json_get(root, "cells");
    n.language = json_get_text(json_get(json_get(root, "metadata"), "kernelspec"), "language");
    if (!n.language.n)
        n.language = json_get_text(json_get(json_get(root, "metadata"), "language_info"), "name");
    if (!list_cells(a, &n))
        return false;
    *ret_notebook = n;
    return true;
}

struct str notebook_text(struct arena *a, const struct json *value)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (json_is(value, JSON_STRING))
        return value->text;
    if (json_is(value, JSON_ARRAY))
        json_each (line, value)
            strbuf_add(&text, json_str(line));
    return arena_str(a, strbuf_str(&text));
}

/* --- showing --- */

struct showing {
    struct arena *arena;
    const struct notebook_images *images;
    struct strbuf *out;
};

static void add_block(struct showing *s, struct str text, size_t max_chars)
{
    if (max_chars)
        clip_middle(s->out, text, max_chars);
    else
        strbuf_add(s->out, text);
    if (text.n && !str_ends(strbuf_str(s->out), S("\n")))
        strbuf_add_char(s->out, '\n');
}

/* Removes colours and the like, as in tracebacks. */
static struct str without_escapes(struct arena *a, struct str text)
{
    AUTO(strbuf) struct strbuf plain = {0};

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == 0x1B && i + 1 < text.n && text.p[i + 1] == '[') {
            for (i += 2; i < text.n && (text.p[i] < 0x40 || text.p[i] > 0x7E);)
                i++;
            continue;
        }
        strbuf_add_char(&plain, text.p[i]);
    }
    return arena_str(a, strbuf_str(&plain));
}

/* Shows the text or image of an output, and names other forms. */
static void show_data(struct showing *s, const struct json *data)
{
    bool is_shown = false;

    json_each (form, data) {
        if (!str_starts(form->key, S("image/")) || str_is(form->key, "image/svg+xml"))
            continue;
        is_shown = s->images->add(s->images->self, form->key, notebook_text(s->arena, form));
        strbuf_addf(s->out, "[output: %" STR_FMT "%s]\n", STR_ARG(form->key),
                    is_shown ? ", attached" : ", not shown");
    }
    if (json_has(data, "text/plain")) {
        strbuf_add_cstr(s->out, "[output]\n");
        add_block(s, notebook_text(s->arena, json_get(data, "text/plain")), MAX_OUTPUT_CHARS);
    } else if (!is_shown && data && data->first) {
        strbuf_addf(s->out, "[output: %" STR_FMT ", not shown]\n", STR_ARG(data->first->key));
    }
}

static void show_output(struct showing *s, const struct json *output)
{
    struct str type = json_get_text(output, "output_type"), name = json_get_text(output, "name");
    struct str trace = notebook_text(s->arena, json_get(output, "traceback"));

    if (str_is(type, "stream")) {
        strbuf_addf(s->out, "[output: %" STR_FMT "]\n", STR_ARG(name.n ? name : S("stdout")));
        add_block(s, notebook_text(s->arena, json_get(output, "text")), MAX_OUTPUT_CHARS);
    } else if (str_is(type, "error")) {
        strbuf_addf(s->out, "[error: %" STR_FMT ": %" STR_FMT "]\n",
                    STR_ARG(json_get_text(output, "ename")),
                    STR_ARG(json_get_text(output, "evalue")));
        add_block(s, without_escapes(s->arena, trace), MAX_OUTPUT_CHARS);
    } else {
        show_data(s, json_get(output, "data"));
    }
}

static void show_cell(struct showing *s, const struct json *cell, size_t index)
{
    struct str id = json_get_text(cell, "id"), type = json_get_text(cell, "cell_type");
    int64_t count = json_int_or(json_get(cell, "execution_count"), -1);

    strbuf_addf(s->out, "[cell-%zu", index);
    if (id.n)
        strbuf_addf(s->out, ", id %" STR_FMT, STR_ARG(id));
    strbuf_addf(s->out, ", %" STR_FMT, STR_ARG(type));
    if (count >= 0)
        strbuf_addf(s->out, ", run as %lld", (long long)count);
    strbuf_add_cstr(s->out, "]\n");
    add_block(s, notebook_text(s->arena, json_get(cell, "source")), 0);
    json_each (output, json_get(cell, "outputs"))
        show_output(s, output);
    strbuf_add_char(s->out, '\n');
}

size_t notebook_show(struct arena *a, const struct notebook *n, size_t first, size_t n_max,
                     size_t max_bytes, const struct notebook_images *images, struct strbuf *out)
{
    struct showing s = {a, images, out};
    size_t shown = 0, start = out->n;

    while (shown < n_max && first + shown < n->n_cells) {
        size_t was_n = out->n;

        show_cell(&s, n->list[first + shown], first + shown);
        if (out->n - start > max_bytes && shown) {
            strbuf_cut(out, was_n);
            break;
        }
        shown++;
    }
    return shown;
}
