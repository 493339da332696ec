/* markdown_writer.c - writes lines, prefixes, marks, code and tables of Markdown. */
#include "tool/html/markdown_writer.h"

#include "base/utf8.h"
#include "tool/html/markdown_text.h"

#include <stdio.h>

#define CODE_MAX_BYTES ((size_t)8 << 20)

static const struct str mark_texts[] = {
    [MARK_STRONG] = {"**", 2},
    [MARK_EM] = {"*", 1},
    [MARK_DEL] = {"~~", 2},
    [MARK_LINK] = {"[", 1},
};

void markdown_init(struct markdown_writer *w, struct strbuf *out)
{
    *w = (struct markdown_writer){.out = out, .start = out->n, .line_start = out->n};
    strbuf_init(&w->code, CODE_MAX_BYTES);
}

void markdown_done(struct markdown_writer *w)
{
    strbuf_done(&w->code);
    strbuf_done(&w->url);
}

/* Writes the prefixes of a line. A blank line stops before a prefix that begins something new, and
 * has no blanks at its end. */
static void add_prefixes(struct markdown_writer *w, bool is_blank_line)
{
    size_t start = w->out->n;

    for (size_t i = 0; i < w->n_prefixes; i++) {
        struct markdown_prefix *prefix = &w->prefixes[i];

        if (is_blank_line && !prefix->is_written)
            break;
        strbuf_add_cstr(w->out, prefix->is_written ? prefix->rest : prefix->first);
        prefix->is_written = true;
    }
    while (is_blank_line && w->out->n > start && w->out->p[w->out->n - 1] == ' ')
        strbuf_cut(w->out, w->out->n - 1);
}

/* Ends the line before, if there is one. */
static void open_line(struct markdown_writer *w)
{
    if (w->out->n > w->start) {
        strbuf_add_cstr(w->out, w->pending == BREAK_HARD ? "\\\n" : "\n");
        if (w->pending == BREAK_BLANK) {
            add_prefixes(w, /* is_blank_line= */ true);
            strbuf_add_char(w->out, '\n');
        }
    }
    add_prefixes(w, /* is_blank_line= */ false);
    w->line_start = w->out->n;
    for (int i = 0; i < w->heading; i++)
        strbuf_add_char(w->out, '#');
    if (w->heading)
        strbuf_add_char(w->out, ' ');
    w->pending = BREAK_NONE;
    w->is_line_open = true;
    w->has_space = false;
}

static char last_char(const struct markdown_writer *w)
{
    return w->out->n > w->line_start ? w->out->p[w->out->n - 1] : 0;
}

static void open_mark(struct markdown_writer *w, size_t i)
{
    enum markdown_mark kind = w->marks[i].kind;

    w->marks[i].is_open = true;
    if (kind == w->closed_mark && w->closed_at == w->out->n && kind != MARK_LINK) {
        strbuf_cut(w->out, w->out->n - mark_texts[kind].n); /* **a****b** is not emphasis: **ab** */
        return;
    }
    if (kind == MARK_LINK && last_char(w) == '!') { /* it would become an image */
        strbuf_cut(w->out, w->out->n - 1);
        strbuf_add_cstr(w->out, "\\!");
    }
    strbuf_add(w->out, mark_texts[kind]);
}

void markdown_before_text(struct markdown_writer *w)
{
    bool is_at_start = w->is_in_cell && w->out->n == w->cell_start;

    if (!w->is_in_cell && !w->is_line_open)
        open_line(w);
    else if (w->is_in_cell && w->has_cell_break && !is_at_start)
        strbuf_add_cstr(w->out, "<br>");
    else if (w->has_space && !is_at_start)
        strbuf_add_char(w->out, ' ');
    w->has_space = w->has_cell_break = false;
    for (size_t i = 0; i < w->n_marks; i++)
        if (w->marks[i].kind && !w->marks[i].is_open && !w->marks[i].is_done)
            open_mark(w, i);
}

static void add_url(struct markdown_writer *w, struct str url)
{
    bool has_parens = str_find_char(url, '(') != STR_NONE || str_find_char(url, ')') != STR_NONE;

    if (has_parens)
        strbuf_add_char(w->out, '<');
    for (size_t i = 0; i < url.n; i++) {
        unsigned char c = (unsigned char)url.p[i];

        if (c <= ' ' || c >= 0x7F || strchr("<>\"`|\\", c))
            strbuf_addf(w->out, "%%%02X", c);
        else
            strbuf_add_char(w->out, (char)c);
    }
    if (has_parens)
        strbuf_add_char(w->out, '>');
}

static void close_mark(struct markdown_writer *w, size_t i)
{
    enum markdown_mark kind = w->marks[i].kind;

    if (!w->marks[i].is_open)
        return;
    w->marks[i].is_open = false;
    if (kind == MARK_LINK) {
        strbuf_add_cstr(w->out, "](");
        add_url(w, strbuf_str(&w->url));
        strbuf_add_char(w->out, ')');
        w->marks[i].is_done = true;
    } else {
        strbuf_add(w->out, mark_texts[kind]);
    }
    w->closed_mark = kind;
    w->closed_at = w->out->n;
}

static void close_marks(struct markdown_writer *w)
{
    for (size_t i = w->n_marks; i > 0; i--)
        close_mark(w, i - 1);
}

void markdown_break(struct markdown_writer *w, enum markdown_break kind)
{
    bool is_at_item = w->n_prefixes && !w->prefixes[w->n_prefixes - 1].is_written;

    if (w->mode != MODE_TEXT) {
        if (w->code.n && w->code.p[w->code.n - 1] != '\n')
            strbuf_add_char(&w->code, '\n');
    } else if (w->is_in_cell) {
        w->has_cell_break = true;
    } else if (w->heading) {
        w->has_space = true;
    } else {
        close_marks(w);
        w->is_line_open = false;
        if (!is_at_item) /* the break came before its prefix */
            w->pending = MAX(w->pending, kind);
    }
}

void markdown_line_break(struct markdown_writer *w)
{
    if (w->mode != MODE_TEXT)
        strbuf_add_char(&w->code, '\n');
    else if (w->is_in_cell)
        w->has_cell_break = true;
    else if (w->heading)
        w->has_space = true;
    else if (!w->is_line_open && w->pending == BREAK_HARD)
        markdown_break(w, BREAK_BLANK); /* <br><br> separates paragraphs */
    else if (w->is_line_open) {
        w->is_line_open = false;
        w->pending = BREAK_HARD;
    }
}

void markdown_rule(struct markdown_writer *w)
{
    if (w->mode != MODE_TEXT || w->is_in_cell || w->heading)
        return;
    markdown_break(w, BREAK_BLANK);
    open_line(w);
    strbuf_add_cstr(w->out, "---");
    markdown_break(w, BREAK_BLANK);
}

static bool is_in_link(const struct markdown_writer *w)
{
    for (size_t i = 0; i < w->n_marks; i++)
        if (w->marks[i].kind == MARK_LINK && w->marks[i].is_open)
            return true;
    return false;
}

static void add_escaped(struct markdown_writer *w, struct str character, struct str rest)
{
    struct markdown_place place = {
        .line = str_skip(strbuf_str(w->out), w->line_start),
        .is_in_cell = w->is_in_cell,
        .is_in_heading = w->heading > 0,
    };
    char c = character.p[0];

    if (c == '[' || c == ']')
        place.is_in_link = is_in_link(w);
    if (character.n == 1 && markdown_needs_escape(&place, c, rest))
        strbuf_add_char(w->out, '\\');
    strbuf_add(w->out, character);
}

static void add_code(struct markdown_writer *w, struct str text)
{
    while (text.n) {
        uint32_t c;
        unsigned n = utf8_decode(text, &c);

        if (n && !markdown_is_dropped(c))
            strbuf_add(&w->code, c == 0xA0 ? S(" ") : str_slice(text, 0, n));
        text = str_skip(text, n ? n : 1);
    }
}

void markdown_text(struct markdown_writer *w, struct str text)
{
    if (w->mode != MODE_TEXT) {
        add_code(w, text);
        return;
    }
    for (bool is_first = true; text.n && !strbuf_is_over(w->out);) {
        uint32_t c;
        unsigned n = utf8_decode(text, &c);
        struct str character = str_slice(text, 0, n);

        text = str_skip(text, n ? n : 1);
        if (n && markdown_is_space(c)) {
            w->has_space = true;
        } else if (n && !markdown_is_dropped(c)) {
            if (is_first || w->has_space)
                markdown_before_text(w);
            is_first = false;
            add_escaped(w, character, text);
        }
    }
}

void markdown_image(struct markdown_writer *w, struct str alt, struct str url)
{
    AUTO(strbuf) struct strbuf plain = {0};

    if (w->mode != MODE_TEXT)
        return;
    markdown_add_plain(&plain, alt);
    markdown_before_text(w);
    strbuf_add_cstr(w->out, "![");
    for (size_t i = 0; i < plain.n; i++) {
        char c = plain.p[i];

        if (strchr("[]\\`", c) || (c == '|' && w->is_in_cell))
            strbuf_add_char(w->out, '\\');
        strbuf_add_char(w->out, c);
    }
    strbuf_add_cstr(w->out, "](");
    add_url(w, url);
    strbuf_add_char(w->out, ')');
}

void markdown_begin_heading(struct markdown_writer *w, int level)
{
    markdown_break(w, BREAK_BLANK);
    if (w->mode == MODE_TEXT && !w->is_in_cell)
        w->heading = level;
}

void markdown_end_heading(struct markdown_writer *w)
{
    w->heading = 0;
    markdown_break(w, BREAK_BLANK);
}

void markdown_begin_prefix(struct markdown_writer *w, const char *first, const char *rest)
{
    struct markdown_prefix *prefix = &w->prefixes[w->n_prefixes];

    if (w->n_prefixes == MARKDOWN_MAX_PREFIXES) {
        w->n_prefixes_beyond++;
        return;
    }
    *prefix = (struct markdown_prefix){0};
    snprintf(prefix->first, sizeof prefix->first, "%s", first);
    snprintf(prefix->rest, sizeof prefix->rest, "%s", rest);
    w->n_prefixes++;
    if (w->is_in_cell) {
        markdown_before_text(w);
        strbuf_add_cstr(w->out, first);
    }
}

void markdown_end_prefix(struct markdown_writer *w)
{
    if (w->n_prefixes_beyond)
        w->n_prefixes_beyond--;
    else
        w->n_prefixes--;
}

void markdown_next_item(struct markdown_writer *w)
{
    markdown_break(w, BREAK_LINE);
    if (w->pending == BREAK_BLANK)
        w->pending = BREAK_LINE;
}

static bool has_mark(const struct markdown_writer *w, enum markdown_mark kind)
{
    for (size_t i = 0; i < w->n_marks; i++)
        if (w->marks[i].kind == kind)
            return true;
    return false;
}

void markdown_begin_mark(struct markdown_writer *w, enum markdown_mark kind)
{
    if (w->n_marks == MARKDOWN_MAX_MARKS) {
        w->n_marks_beyond++;
        return;
    }
    w->marks[w->n_marks].kind = has_mark(w, kind) || w->mode != MODE_TEXT ? MARK_NONE : kind;
    w->marks[w->n_marks].is_open = w->marks[w->n_marks].is_done = false;
    w->n_marks++;
}

void markdown_begin_link(struct markdown_writer *w, struct str url)
{
    if (w->n_marks < MARKDOWN_MAX_MARKS && !has_mark(w, MARK_LINK)) {
        strbuf_clear(&w->url);
        strbuf_add(&w->url, url);
    }
    markdown_begin_mark(w, MARK_LINK);
}

void markdown_end_mark(struct markdown_writer *w)
{
    if (w->n_marks_beyond) {
        w->n_marks_beyond--;
        return;
    }
    close_mark(w, w->n_marks - 1);
    w->n_marks--;
}

void markdown_begin_code(struct markdown_writer *w, enum markdown_mode mode)
{
    if (w->n_modes++)
        return;
    w->mode = mode;
    strbuf_clear(&w->code);
}

static size_t longest_run_of_backticks(struct str s)
{
    size_t longest = 0, run = 0;

    for (size_t i = 0; i < s.n; i++) {
        run = s.p[i] == '`' ? run + 1 : 0;
        longest = MAX(longest, run);
    }
    return longest;
}

static void add_fence(struct markdown_writer *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        strbuf_add_char(w->out, '`');
}

static void write_span(struct markdown_writer *w)
{
    AUTO(strbuf) struct strbuf plain = {0};
    size_t n_fence;
    bool has_tick;

    markdown_add_plain(&plain, strbuf_str(&w->code));
    if (plain.n == 0)
        return;
    n_fence = longest_run_of_backticks(strbuf_str(&plain)) + 1;
    has_tick = plain.p[0] == '`' || plain.p[plain.n - 1] == '`';
    markdown_before_text(w);
    add_fence(w, n_fence);
    if (has_tick)
        strbuf_add_char(w->out, ' ');
    for (size_t i = 0; i < plain.n; i++) {
        if (plain.p[i] == '|' && w->is_in_cell)
            strbuf_add_char(w->out, '\\'); /* cells are split before code is recognized */
        strbuf_add_char(w->out, plain.p[i]);
    }
    if (has_tick)
        strbuf_add_char(w->out, ' ');
    add_fence(w, n_fence);
}

/* Without blank lines at the start and white space at the end. */
static struct str trim_block(struct str code)
{
    size_t start = 0;

    while (code.n && strchr(" \t\n", code.p[code.n - 1]))
        code.n--;
    for (size_t i = 0; i < code.n && strchr(" \t\n", code.p[i]); i++)
        if (code.p[i] == '\n')
            start = i + 1;
    return str_skip(code, start);
}

static void write_block(struct markdown_writer *w, struct str language)
{
    struct str code = trim_block(strbuf_str(&w->code)), line;
    size_t n_fence = MAX(longest_run_of_backticks(code) + 1, (size_t)3);

    if (code.n == 0)
        return;
    markdown_break(w, BREAK_BLANK);
    open_line(w);
    add_fence(w, n_fence);
    strbuf_add(w->out, language);
    while (str_split(&code, '\n', &line) && !strbuf_is_over(w->out)) {
        strbuf_add_char(w->out, '\n');
        add_prefixes(w, line.n == 0);
        strbuf_add(w->out, line);
    }
    strbuf_add_char(w->out, '\n');
    add_prefixes(w, /* is_blank_line= */ false);
    add_fence(w, n_fence);
    markdown_break(w, BREAK_BLANK);
}

void markdown_end_code(struct markdown_writer *w, struct str language)
{
    bool is_block = w->mode == MODE_PRE && !w->heading && !w->is_in_cell;

    if (--w->n_modes)
        return;
    w->mode = MODE_TEXT;
    if (strbuf_is_over(&w->code))
        strbuf_cut(&w->code, w->code.n); /* a truncated block of this size is acceptable */
    if (is_block)
        write_block(w, language);
    else
        write_span(w);
}

void markdown_begin_row(struct markdown_writer *w)
{
    open_line(w);
}

void markdown_begin_cell(struct markdown_writer *w)
{
    strbuf_add_cstr(w->out, "| ");
    w->cell_start = w->out->n;
    w->is_in_cell = true;
    w->has_space = w->has_cell_break = false;
}

void markdown_end_cell(struct markdown_writer *w)
{
    close_marks(w);
    if (w->out->n > w->cell_start)
        strbuf_add_char(w->out, ' ');
    w->is_in_cell = w->has_space = w->has_cell_break = false;
}

void markdown_end_row(struct markdown_writer *w)
{
    strbuf_add_char(w->out, '|');
    markdown_break(w, BREAK_LINE);
}
