/* lines.c - a window that moves over a stored result. */
#include "tool/output/stored.h"

#include "base/utf8.h"

void stored_lines_init(struct stored_lines *l, const struct stored_text *text)
{
    *l = (struct stored_lines){.text = text};
    strbuf_init(&l->window, STORED_BLOCK + STORED_MAX_LINE);
}

void stored_lines_done(struct stored_lines *l)
{
    strbuf_done(&l->window);
}

/* The length of the first piece of a line without an end within the limit. */
static size_t piece_of(struct str line)
{
    size_t n = utf8_truncate(line, STORED_MAX_LINE).n;

    return n ? n : STORED_MAX_LINE;
}

/* The end of the whole lines in the window: after the last newline, and after the pieces of an
 * unfinished line. */
static size_t whole_lines(struct str window)
{
    size_t newline = str_rfind_char(window, '\n');
    size_t end = newline == STR_NONE ? 0 : newline + 1;

    while (window.n - end > STORED_MAX_LINE)
        end += piece_of(str_skip(window, end));
    return end;
}

static bool is_at_end(const struct stored_lines *l)
{
    return l->window_at + l->window.n >= l->text->n_bytes;
}

struct err *stored_lines_next(struct stored_lines *l, struct str *ret_block)
{
    strbuf_drop_front(&l->window, l->n_given);
    l->window_at += l->n_given;
    l->n_given = 0;
    while (!l->n_given && !is_at_end(l)) {
        size_t before = l->window.n;

        TRY(blob_get_range(l->text->blobs, l->text->handle, l->window_at + before, STORED_BLOCK,
                           &l->window));
        TRY(strbuf_check(&l->window, "a block of a stored result"));
        if (l->window.n == before)
            return err_new(ERR_STORAGE, "stored content %.12s... is shorter than it was",
                           l->text->handle.p);
        l->n_given = whole_lines(strbuf_str(&l->window));
    }
    if (is_at_end(l))
        l->n_given = l->window.n;
    *ret_block = str_slice(strbuf_str(&l->window), 0, l->n_given);
    return NULL;
}

bool stored_line(struct str *block, struct str *ret_line)
{
    size_t newline = str_find_char(str_slice(*block, 0, STORED_MAX_LINE + 1), '\n');
    size_t n = newline != STR_NONE          ? newline + 1
               : block->n > STORED_MAX_LINE ? piece_of(*block)
                                            : block->n;

    if (block->n == 0)
        return false;
    *ret_line = str_slice(*block, 0, n);
    *block = str_skip(*block, n);
    return true;
}
