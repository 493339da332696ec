/* diff.c - writes the changes between two texts as a unified diff. */
#include "base/diff.h"

#include "base/diff_script.h"

/* Walks down a text line by line. */
struct cursor {
    struct str rest;
    size_t n_passed;
};

struct diff_writer {
    struct strbuf *out;
    struct cursor old_at, new_at;
    size_t n_old_lines;
    unsigned n_context;
};

static void move_to(struct cursor *c, size_t line_number)
{
    struct str line;

    while (c->n_passed < line_number && diff_take_line(&c->rest, &line))
        c->n_passed++;
}

static void write_lines(struct strbuf *out, struct cursor *c, size_t n, char sign)
{
    struct str line;

    for (; n > 0 && diff_take_line(&c->rest, &line); n--) {
        c->n_passed++;
        strbuf_add_char(out, sign);
        strbuf_add(out, line);
        if (!str_ends(line, S("\n")))
            strbuf_add_cstr(out, "\n\\ No newline at end of file\n");
    }
}

/* " -3,2": a range counts from 1, names the line before it when it is empty, and omits a length of
 * one. */
static void write_range(struct strbuf *out, char sign, size_t at, size_t n)
{
    strbuf_addf(out, " %c%zu", sign, n ? at + 1 : at);
    if (n != 1)
        strbuf_addf(out, ",%zu", n);
}

static void write_hunk(struct diff_writer *w, const struct diff_change *first,
                       const struct diff_change *last)
{
    size_t n_before = MIN(first->old_at, w->n_context);
    size_t n_after = MIN(w->n_old_lines - (last->old_at + last->n_old), w->n_context);
    size_t old_start = first->old_at - n_before, new_start = first->new_at - n_before;

    strbuf_add_cstr(w->out, "@@");
    write_range(w->out, '-', old_start, last->old_at + last->n_old + n_after - old_start);
    write_range(w->out, '+', new_start, last->new_at + last->n_new + n_after - new_start);
    strbuf_add_cstr(w->out, " @@\n");

    move_to(&w->old_at, old_start);
    for (const struct diff_change *c = first; c <= last; c++) {
        write_lines(w->out, &w->old_at, c->old_at - w->old_at.n_passed, ' ');
        move_to(&w->new_at, c->new_at);
        write_lines(w->out, &w->old_at, c->n_old, '-');
        write_lines(w->out, &w->new_at, c->n_new, '+');
    }
    write_lines(w->out, &w->old_at, n_after, ' ');
}

/* Are there too few lines between two changes to separate them? */
static bool belong_together(const struct diff_change *c, const struct diff_change *next,
                            unsigned n_context)
{
    return next->old_at - (c->old_at + c->n_old) <= 2 * (size_t)n_context;
}

static bool must_be_quoted(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] < 0x20 || name.p[i] == 0x7F || strchr("\"\\", name.p[i]))
            return true;
    return false;
}

/* A name may hold anything, even a line end: it is quoted like git does. */
static void write_name(struct strbuf *out, const char *sign, struct str name)
{
    strbuf_add_cstr(out, sign);
    if (!must_be_quoted(name)) {
        strbuf_addf(out, "%" STR_FMT "\n", STR_ARG(name));
        return;
    }
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];

        if (c == '"' || c == '\\')
            strbuf_addf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            strbuf_addf(out, "\\%03o", c);
        else
            strbuf_add_char(out, (char)c);
    }
    strbuf_add_cstr(out, "\"\n");
}

static struct diff_stat count(const struct diff_change *changes, size_t n)
{
    struct diff_stat stat = {.first_line = n ? changes[0].new_at + 1 : 0};

    for (size_t i = 0; i < n; i++) {
        stat.n_removed += changes[i].n_old;
        stat.n_added += changes[i].n_new;
    }
    return stat;
}

void diff_unified(struct strbuf *out, struct str old_name, struct str old_text, struct str new_name,
                  struct str new_text, unsigned n_context, struct diff_stat *ret_stat)
{
    AUTO(arena) struct arena a = {0};
    struct diff_writer w = {.out = out, .n_context = n_context};
    struct diff_change *changes;
    size_t n = diff_find_changes(&a, old_text, new_text, &changes), last;

    if (ret_stat)
        *ret_stat = count(changes, n);
    if (n == 0)
        return;
    if (old_name.n || new_name.n) {
        write_name(out, "--- ", old_name);
        write_name(out, "+++ ", new_name);
    }
    w.old_at.rest = old_text;
    w.new_at.rest = new_text;
    w.n_old_lines = diff_count_lines(old_text);
    for (size_t first = 0; first < n; first = last + 1) {
        last = first;
        while (last + 1 < n && belong_together(&changes[last], &changes[last + 1], n_context))
            last++;
        write_hunk(&w, &changes[first], &changes[last]);
    }
}
