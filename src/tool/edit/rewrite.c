/* rewrite.c - writes the new text in the form of the file. */
#include "tool/edit/rewrite.h"

#include "tool/edit/indent.h"

/* --- parts --- */

/* A text of n newlines has n + 1 parts, without their line ends. */
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

static struct str *bodies_of(const struct str *parts, size_t n)
{
    struct str *bodies = mem_alloc(n * sizeof *bodies);

    for (size_t i = 0; i < n; i++)
        bodies[i] = align_body(parts[i]);
    return bodies;
}

/* What the old and the new text share; the same for all matches. */
static void compare_texts(struct edit_rewriter *r)
{
    size_t n_old, n_new;

    r->old_parts = split_parts(r->old_text, &n_old);
    r->new_parts = split_parts(r->new_text, &n_new);
    while (r->n_head < MIN(n_old, n_new) &&
           str_eq(r->old_parts[r->n_head], r->new_parts[r->n_head]))
        r->n_head++;
    /* The first part may begin within a line, so it can only stay the first. */
    while (r->n_tail < MIN(n_old, n_new) + 1 - MAX(r->n_head, 1) &&
           str_eq(r->old_parts[n_old - r->n_tail], r->new_parts[n_new - r->n_tail]))
        r->n_tail++;
    r->n_old = n_old + 1;
    r->n_new = n_new + 1;
    r->old_bodies = bodies_of(r->old_parts, r->n_old);
    r->new_bodies = bodies_of(r->new_parts, r->n_new);
    r->origins = mem_alloc(r->n_new * sizeof *r->origins);
    align_lines(&(struct line_range){.old_lines = r->old_parts,
                                     .new_lines = r->new_parts,
                                     .old_bodies = r->old_bodies,
                                     .new_bodies = r->new_bodies,
                                     .old_from = r->n_head,
                                     .old_to = r->n_old - r->n_tail,
                                     .new_from = r->n_head,
                                     .new_to = r->n_new - r->n_tail},
                r->origins);
}

void edit_rewriter_init(struct edit_rewriter *r, struct str text, struct str old_text,
                        struct str new_text, enum fold_level level)
{
    *r = (struct edit_rewriter){
        .text = text, .old_text = old_text, .new_text = new_text, .level = level};
    if (level != FOLD_NOTHING)
        compare_texts(r);
}

void edit_rewriter_done(struct edit_rewriter *r)
{
    mem_free(r->old_parts);
    mem_free(r->new_parts);
    mem_free(r->old_bodies);
    mem_free(r->new_bodies);
    mem_free(r->origins);
    r->old_parts = r->new_parts = r->old_bodies = r->new_bodies = NULL;
    r->origins = NULL;
}

/* --- line ends --- */

static struct str line_end_of(struct str text, size_t newline_at)
{
    return newline_at && text.p[newline_at - 1] == '\r' ? S("\r\n") : S("\n");
}

/* The end of the line that holds `at`; if that is the last line and has none, the end of the line
 * before. */
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

/* Cuts off the first line with its end; false if the text is used up. */
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

/* --- where the match is --- */

/* The text between the start of the line and `at`, if it is only tabs and spaces. */
static bool indent_before(struct str text, size_t at, struct str *ret_indent)
{
    size_t from = at;

    while (from && (text.p[from - 1] == ' ' || text.p[from - 1] == '\t'))
        from--;
    *ret_indent = str_slice(text, from, at - from);
    return from == 0 || text.p[from - 1] == '\n';
}

static bool begins_with_newline(struct str s)
{
    return str_starts(s, S("\n")) || str_starts(s, S("\r\n"));
}

/* If the old text is a whole line and the new text is empty, the line end goes too. */
static struct edit_match take_line_end(const struct edit_rewriter *r, struct edit_match match)
{
    struct str after = str_skip(r->text, match.to), indent;
    size_t n = fold_blanks(after);

    after = str_skip(after, n);
    if (r->new_text.n || str_ends(r->old_text, S("\n")) || begins_with_newline(r->old_text) ||
        !begins_with_newline(after) || !indent_before(r->text, match.from, &indent))
        return match;
    return (struct edit_match){match.from - indent.n, match.to + n + (after.p[0] == '\r' ? 2 : 1)};
}

struct edit_match edit_rewriter_widen(const struct edit_rewriter *r, struct edit_match match)
{
    struct str indent;

    if (r->level == FOLD_BLANKS && !begins_with_newline(r->old_text) &&
        indent_before(r->text, match.from, &indent))
        match.from -= indent.n;
    return take_line_end(r, match);
}

/* --- indentation --- */

/* The lines of the file that correspond to the parts of the old text, with their ends. */
static struct str *found_lines(const struct edit_rewriter *r, struct edit_match match)
{
    struct str rest = str_slice(r->text, match.from, match.to - match.from);
    struct str *lines = mem_alloc(r->n_old * sizeof *lines);

    for (size_t i = 0; i < r->n_old; i++)
        if (!take_line(&rest, &lines[i]))
            lines[i] = str_slice(rest, 0, 0);
    return lines;
}

/* How to indent the new lines. */
struct indents {
    bool at_line_start; /* the match begins at the start of a line */
    struct str cut;     /* the file's indentation, if the old text omits it on its first line */
    struct indent_map map;
    /* The map including that first line, if it is open whether the model omitted the indentation or
     * meant the left edge. Both maps must agree. */
    bool has_other;
    struct indent_map other;
};

/* A single line without its indentation says nothing about other lines, unless all of them have
 * that indentation. */
static bool all_go_on_from(const struct edit_rewriter *r, struct str indent)
{
    struct str given;

    for (size_t i = 1; i < r->n_new; i++)
        if (indent_of(r->new_parts[i], &given) && !str_starts(given, indent))
            return false;
    return true;
}

static void learn_first_line(const struct edit_rewriter *r, const struct str *lines,
                             struct indents *x)
{
    struct str given, found;

    if (!indent_of(r->old_parts[0], &given) || !indent_of(lines[0], &found))
        return;
    if (given.n || !found.n || x->map.differs || x->map.is_unclear) {
        indent_learn(&x->map, given, found);
        return;
    }
    x->cut = found;
    if (x->map.n == 0) {
        x->map.is_unclear = !all_go_on_from(r, found);
        return;
    }
    x->other = x->map;
    indent_learn(&x->other, given, found);
    x->has_other = !x->other.is_unclear;
}

static void learn_indents(const struct edit_rewriter *r, const struct str *lines, size_t from,
                          struct indents *x)
{
    struct str given, found;

    x->at_line_start = from == 0 || r->text.p[from - 1] == '\n';
    for (size_t i = 1; i < r->n_old; i++)
        if (indent_of(r->old_parts[i], &given) && indent_of(lines[i], &found))
            indent_learn(&x->map, given, found);
    if (x->at_line_start)
        learn_first_line(r, lines, x);
}

static bool add_indent(const struct indents *x, struct strbuf *out, struct str given, bool is_first)
{
    AUTO(strbuf) struct strbuf other = {0};
    size_t was_n = out->n;

    if (is_first && x->cut.n) {
        strbuf_add(out, x->cut);
        strbuf_add(out, given);
        return true;
    }
    if (!indent_add(&x->map, out, given))
        return false;
    return !x->has_other || (indent_add(&x->other, &other, given) &&
                             str_eq(strbuf_str(&other), str_skip(strbuf_str(out), was_n)));
}

/* --- writing --- */

static struct str without_newline(struct str s)
{
    s.n -= str_ends(s, S("\r\n")) ? 2 : str_ends(s, S("\n"));
    return s;
}

/* The kinds of quotes and dashes that differ in the file, in the lines of a gap. */
static uint32_t forgiven_in(const struct edit_rewriter *r, const struct str *lines,
                            const struct line_origin *gap)
{
    uint32_t kinds = 0;

    for (size_t i = gap->gap_from; i < gap->gap_to; i++)
        kinds |= align_forgiven(r->old_bodies[i], align_body(without_newline(lines[i])));
    return kinds;
}

/* The lines of one match while they are written. */
struct rewriting {
    struct edit_rewriter *r;
    struct strbuf *out;
    const struct str *lines; /* of the file */
    struct indents indents;
    struct str line_end;
    const struct line_origin *gap; /* the last gap that was looked at, and its kinds */
    uint32_t gap_kinds;
};

/* The blanks after the body of a line. */
static struct str trail_of(struct str line, struct str body)
{
    return str_skip(line, (size_t)(body.p - line.p) + body.n);
}

/* Writes a changed line that has an origin. If both texts have the same blanks at its end, the
 * file's blanks stay. */
static enum edit_doubt add_known(struct rewriting *w, size_t i, size_t origin)
{
    const struct edit_rewriter *r = w->r;
    struct str found = without_newline(w->lines[origin]), body = align_body(found);
    struct str was = trail_of(r->old_parts[origin], r->old_bodies[origin]);
    struct str trail = trail_of(r->new_parts[i], r->new_bodies[i]);
    bool is_clear = align_add(w->out, r->old_bodies[origin], r->new_bodies[i], body);

    strbuf_add(w->out, str_eq(trail, was) ? trail_of(found, body) : trail);
    return is_clear ? EDIT_NO_DOUBT : EDIT_DOUBT_QUOTES;
}

static enum edit_doubt add_changed(struct rewriting *w, size_t i)
{
    const struct edit_rewriter *r = w->r;
    const struct line_origin *origin = &r->origins[i];
    struct str part = r->new_parts[i], given;

    if (r->level < FOLD_BLANKS) {
        strbuf_add(w->out, part);
        return EDIT_NO_DOUBT;
    }
    if ((i || w->indents.at_line_start) && indent_of(part, &given)) {
        if (!add_indent(&w->indents, w->out, given, i == 0))
            return EDIT_DOUBT_INDENT;
        part = str_skip(part, given.n);
    }
    if (origin->is_known)
        return add_known(w, i, origin->line);
    strbuf_add(w->out, part);
    if (!w->gap || w->gap->gap_from != origin->gap_from) {
        w->gap = origin;
        w->gap_kinds = forgiven_in(r, w->lines, origin);
    }
    return w->gap_kinds & fold_kinds(part) ? EDIT_DOUBT_QUOTES : EDIT_NO_DOUBT;
}

static enum edit_doubt add_line_anew(struct rewriting *w, size_t i)
{
    const struct line_origin *origin = &w->r->origins[i];
    bool has_place = origin->is_known || origin->line < origin->gap_to;
    struct str found = has_place ? w->lines[origin->line] : S("");

    if (str_ends(found, S("\n")))
        w->line_end = str_skip(found, without_newline(found).n);
    /* The first lines may begin within a line. */
    if (i && origin->is_known && origin->line &&
        str_eq(w->r->old_parts[origin->line], w->r->new_parts[i])) {
        strbuf_add(w->out, without_newline(found));
        return EDIT_NO_DOUBT;
    }
    return add_changed(w, i);
}

/* The lines between the common head and tail. */
static enum edit_doubt add_middle(struct edit_rewriter *r, struct strbuf *out, size_t from,
                                  const struct str *lines)
{
    struct str line_end = find_line_end(r, from);
    struct rewriting w = {
        .r = r, .out = out, .lines = lines, .line_end = line_end.n ? line_end : S("\n")};
    enum edit_doubt doubt = EDIT_NO_DOUBT;

    if (r->level == FOLD_BLANKS)
        learn_indents(r, lines, from, &w.indents);
    if (r->n_head)
        w.line_end = str_skip(lines[r->n_head - 1], without_newline(lines[r->n_head - 1]).n);
    for (size_t i = r->n_head; i < r->n_new - r->n_tail; i++) {
        enum edit_doubt of_line = add_line_anew(&w, i);

        if (of_line == EDIT_DOUBT_INDENT)
            return of_line;
        doubt = of_line ? of_line : doubt;
        if (i + 1 < r->n_new)
            strbuf_add(out, w.line_end);
    }
    return doubt;
}

/* The old text ends with a newline and the match, at the end of the file, does not. */
static bool lacks_newline(const struct edit_rewriter *r, struct edit_match match)
{
    return match.to == r->text.n && str_ends(r->old_text, S("\n")) && !str_ends(r->text, S("\n"));
}

static enum edit_doubt add_folded(struct edit_rewriter *r, struct strbuf *out,
                                  struct edit_match match)
{
    AUTO_FREE struct str *lines = NULL;
    enum edit_doubt doubt;

    if (r->new_text.n == 0)
        return EDIT_NO_DOUBT;
    lines = found_lines(r, match);
    for (size_t i = 0; i < r->n_head; i++)
        strbuf_add(out, lines[i]);
    doubt = add_middle(r, out, match.from, lines);
    for (size_t i = r->n_old - r->n_tail; i < r->n_old; i++)
        strbuf_add(out, lines[i]);
    return doubt;
}

static enum edit_doubt add_without_newline(const struct edit_rewriter *r, struct strbuf *out,
                                           struct edit_match match)
{
    AUTO(edit_rewriter) struct edit_rewriter last = {0};

    edit_rewriter_init(&last, r->text, without_newline(r->old_text), without_newline(r->new_text),
                       r->level);
    return add_folded(&last, out, match);
}

static void add_exact(struct edit_rewriter *r, struct strbuf *out, struct edit_match match)
{
    struct str rest = r->new_text, line;

    /* A text that names carriage returns, and matches, means them. */
    if (str_find_char(r->old_text, '\r') != STR_NONE ||
        str_find_char(r->new_text, '\n') == STR_NONE) {
        strbuf_add(out, r->new_text);
        return;
    }
    while (take_line(&rest, &line))
        add_line(out, line, find_line_end(r, match.from));
}

enum edit_doubt edit_rewriter_add(struct edit_rewriter *r, struct strbuf *out,
                                  struct edit_match match)
{
    if (r->level == FOLD_NOTHING) {
        add_exact(r, out, match);
        return EDIT_NO_DOUBT;
    }
    return lacks_newline(r, match) ? add_without_newline(r, out, match) : add_folded(r, out, match);
}
