/* rewrite.c - writes the new text the way the file is written. */
#include "tool/edit/rewrite.h"

#include "tool/edit/indent.h"

/* --- parts --- */

/* A text of n newlines has n + 1 parts, none with its line end. */
static struct str *split_parts(struct str s, size_t *ret_n_newlines)
{
    size_t n_newlines = edit_count_newlines(s);
    struct str *parts = mem_alloc((n_newlines + 1) * sizeof *parts);

    for (size_t i = 0; i <= n_newlines; i++) {
        size_t end = str_find_char(s, '\n');

        parts[i] = str_slice(s, 0, end);
        if (i < n_newlines && str_ends(parts[i], S("\r")))
            parts[i].n--;
        s = str_skip(s, end == STR_NONE ? s.n : end + 1);
    }
    *ret_n_newlines = n_newlines;
    return parts;
}

/* Bytes up to and with the n-th newline. */
static size_t after_newlines(struct str s, size_t n)
{
    size_t at = 0;

    while (n--)
        at += str_find_char(str_skip(s, at), '\n') + 1;
    return at;
}

/* --- the plan, the same for all matches --- */

static void plan(struct edit_rewriter *r)
{
    size_t n_old, n_new, from;
    AUTO_FREE struct str *old_parts = split_parts(r->old_text, &n_old);
    AUTO_FREE struct str *new_parts = split_parts(r->new_text, &n_new);

    r->n_newlines = n_old;
    r->old_indents = mem_alloc((n_old + 1) * sizeof *r->old_indents);
    while (r->n_head < MIN(n_old, n_new) && str_eq(old_parts[r->n_head], new_parts[r->n_head]))
        r->n_head++;
    /* The first part may begin within a line, so it can only stay the first. */
    while (r->n_tail < MIN(n_old, n_new) + 1 - MAX(r->n_head, 1) &&
           str_eq(old_parts[n_old - r->n_tail], new_parts[n_new - r->n_tail]))
        r->n_tail++;
    from = after_newlines(r->new_text, r->n_head);
    r->middle = str_skip(r->new_text, from);
    if (r->n_tail)
        r->middle.n = after_newlines(r->new_text, n_new + 1 - r->n_tail) - from;
    for (size_t i = 0; i <= n_old; i++)
        if (!indent_of(old_parts[i], &r->old_indents[i]))
            r->old_indents[i] = (struct str){0};
}

void edit_rewriter_init(struct edit_rewriter *r, struct str text, struct str old_text,
                        struct str new_text, enum fold_level level)
{
    *r = (struct edit_rewriter){
        .text = text, .old_text = old_text, .new_text = new_text, .level = level};
    if (level != FOLD_NOTHING)
        plan(r);
}

void edit_rewriter_done(struct edit_rewriter *r)
{
    mem_free(r->old_indents);
    r->old_indents = NULL;
}

/* --- line ends --- */

static struct str line_end_of(struct str text, size_t newline_at)
{
    return newline_at && text.p[newline_at - 1] == '\r' ? S("\r\n") : S("\n");
}

/* The end of the line that holds `at`; of the line before it when it is the last and has none. */
static struct str find_line_end(struct edit_rewriter *r, size_t at)
{
    size_t end;

    if (r->line_end.p && at <= r->line_end_at)
        return r->line_end;
    end = str_find_char(str_skip(r->text, at), '\n');
    r->line_end_at = end == STR_NONE ? SIZE_MAX : at + end;
    if (end != STR_NONE)
        r->line_end = line_end_of(r->text, at + end);
    else if (!r->line_end.p) {
        end = str_rfind_char(r->text, '\n');
        r->line_end = end == STR_NONE ? S("") : line_end_of(r->text, end);
    }
    return r->line_end;
}

/* Cuts the first line with its end off the text; false when the text is used up. */
static bool take_line(struct str *rest, struct str *ret_line)
{
    size_t end = str_find_char(*rest, '\n');

    if (rest->n == 0)
        return false;
    *ret_line = str_slice(*rest, 0, end == STR_NONE ? rest->n : end + 1);
    *rest = str_skip(*rest, ret_line->n);
    return true;
}

static void add_line(struct strbuf *out, struct str line, struct str line_end)
{
    if (!str_ends(line, S("\n")) || line_end.n == 0) {
        strbuf_add(out, line);
        return;
    }
    line.n -= str_ends(line, S("\r\n")) ? 2 : 1;
    strbuf_add(out, line);
    strbuf_add(out, line_end);
}

/* --- indentation --- */

/* What stands between the start of its line and `at`, if only tabs and spaces do. */
static bool indent_before(struct str text, size_t at, struct str *ret_indent)
{
    size_t from = at;

    while (from && (text.p[from - 1] == ' ' || text.p[from - 1] == '\t'))
        from--;
    *ret_indent = str_slice(text, from, at - from);
    return from == 0 || text.p[from - 1] == '\n';
}

static void learn_indents(const struct edit_rewriter *r, struct edit_match match,
                          struct indent_map *map)
{
    struct str rest = str_slice(r->text, match.from, match.to - match.from);
    struct str before, found, line;
    bool from_indent = indent_before(r->text, match.from, &before);

    for (size_t i = 0; i <= r->n_newlines && take_line(&rest, &line); i++)
        if ((i || (from_indent && before.n == 0)) && r->old_indents[i].p && indent_of(line, &found))
            indent_learn(map, r->old_indents[i], found);
    /* A match that begins after the indentation: if the other lines are indented otherwise than
     * the file, so is this one. */
    if (map->differs && from_indent && before.n)
        indent_learn(map, S(""), before);
}

/* --- writing --- */

static void add_middle(struct edit_rewriter *r, struct strbuf *out, struct edit_match match)
{
    struct str line_end = find_line_end(r, match.from), rest = r->middle, line, given;
    bool at_line_start = r->n_head || match.from == 0 || r->text.p[match.from - 1] == '\n';
    struct indent_map map = {0};

    if (r->level == FOLD_BLANKS && rest.n)
        learn_indents(r, match, &map);
    for (; take_line(&rest, &line); at_line_start = true) {
        if (at_line_start && indent_of(line, &given)) {
            indent_add(&map, out, given);
            line = str_skip(line, given.n);
        }
        add_line(out, line, line_end);
    }
}

/* The old text ends with a newline and the match, at the end of the file, does not. */
static bool lacks_newline(const struct edit_rewriter *r, struct edit_match match)
{
    return match.to == r->text.n && str_ends(r->old_text, S("\n")) && !str_ends(r->text, S("\n"));
}

static struct str without_newline(struct str s)
{
    s.n -= str_ends(s, S("\r\n")) ? 2 : str_ends(s, S("\n"));
    return s;
}

static void add_without_newline(const struct edit_rewriter *r, struct strbuf *out,
                                struct edit_match match)
{
    AUTO(edit_rewriter) struct edit_rewriter last = {0};

    edit_rewriter_init(&last, r->text, without_newline(r->old_text), without_newline(r->new_text),
                       r->level);
    edit_rewriter_add(&last, out, match);
}

static void add_exact(struct edit_rewriter *r, struct strbuf *out, struct edit_match match)
{
    struct str rest = r->new_text, line;

    /* Who names carriage returns, and rightly, means what they write. */
    if (str_find_char(r->old_text, '\r') != STR_NONE ||
        str_find_char(r->new_text, '\n') == STR_NONE) {
        strbuf_add(out, r->new_text);
        return;
    }
    while (take_line(&rest, &line))
        add_line(out, line, find_line_end(r, match.from));
}

void edit_rewriter_add(struct edit_rewriter *r, struct strbuf *out, struct edit_match match)
{
    struct str found = str_slice(r->text, match.from, match.to - match.from);
    size_t head, tail = found.n;

    if (r->level == FOLD_NOTHING) {
        add_exact(r, out, match);
        return;
    }
    if (lacks_newline(r, match)) {
        add_without_newline(r, out, match);
        return;
    }
    head = after_newlines(found, r->n_head);
    if (r->n_tail)
        tail = after_newlines(found, r->n_newlines + 1 - r->n_tail);
    strbuf_add(out, str_slice(found, 0, head));
    add_middle(r, out, match);
    strbuf_add(out, str_skip(found, tail));
}
