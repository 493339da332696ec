/* show.c - lines with numbers, chunks, and the two ends of a stored result. */
#include "tool/output/stored.h"

#include "base/clip.h"
#include "base/utf8.h"

#define MAX_LINE_CHARS 2000
#define BYTES_BEFORE_MATCH 500 /* of a line that is too long */
/* When this much is shown, no further line begins: the whole stays below TOOL_CODING_MAX_CHARS. */
#define ENOUGH_BYTES ((size_t)26000)
#define CHUNK_BYTES ((size_t)24000)

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static struct str without_end(struct str line)
{
    if (str_ends(line, S("\n")))
        line.n--;
    if (str_ends(line, S("\r")))
        line.n--;
    return line;
}

/* Shows a line that is too long from shortly before its match. Returns whether it was cut. */
static bool add_line(struct strbuf *out, struct str line, size_t match_at)
{
    bool is_cut;

    AUTO(strbuf) struct strbuf clipped = {0};

    line = without_end(line);
    if (match_at > BYTES_BEFORE_MATCH && utf8_count(line) > MAX_LINE_CHARS) {
        size_t start = match_at - BYTES_BEFORE_MATCH;

        while (start && is_continuation(line.p[start]))
            start--;
        strbuf_addf(out, "[%zu bytes left out] ...", start);
        line = str_skip(line, start);
    }
    is_cut = clip_line(&clipped, line, MAX_LINE_CHARS);
    utf8_add_repaired(out, strbuf_str(&clipped));
    strbuf_add_char(out, '\n');
    return is_cut;
}

/* --- a run of lines --- */

/* The number of a line, and its end in the text. */
struct line_place {
    uint64_t number, end;
};

struct line_run {
    uint64_t from;
    size_t n;
    struct line_place first, last; /* the lines shown; number 0: none */
    uint64_t n_lines;              /* lines seen */
    uint64_t cut_at;               /* start of the first line that is not shown whole */
    bool is_full, has_cut;
};

static void show_block(struct line_run *r, struct str block, uint64_t block_at, struct strbuf *out)
{
    struct str rest = block, line;

    while (!r->is_full && stored_line(&rest, &line)) {
        struct line_place here = {++r->n_lines, block_at + (uint64_t)(line.p + line.n - block.p)};

        if (here.number < r->from)
            continue;
        if (!r->first.number)
            r->first = here;
        r->last = here;
        strbuf_addf(out, "%llu\t", (unsigned long long)here.number);
        if (add_line(out, line, 0) && !r->has_cut) {
            r->has_cut = true;
            r->cut_at = here.end - line.n;
        }
        r->is_full = here.number - r->from + 1 >= r->n || out->n > ENOUGH_BYTES;
    }
}

static void add_run_note(struct strbuf *out, const struct line_run *r, uint64_t n_bytes)
{
    unsigned long long first = r->first.number, last = r->last.number;

    if (r->has_cut)
        strbuf_addf(out,
                    "[long lines are cut; to read the first of them whole, add "
                    "\"mode\":\"full-chunked\",\"offset\":%llu]\n",
                    (unsigned long long)r->cut_at);
    if (r->last.end < n_bytes)
        strbuf_addf(
            out, "[lines %llu-%llu, up to byte %llu of %llu; to continue, set offset to %llu]",
            first, last, (unsigned long long)r->last.end, (unsigned long long)n_bytes, last + 1);
    else
        strbuf_addf(out, "[lines %llu-%llu: the end]", first, last);
}

struct err *stored_show_lines(const struct stored_text *text, uint64_t from, size_t n,
                              struct strbuf *out)
{
    AUTO(stored_lines) struct stored_lines lines;
    struct line_run r = {.from = from, .n = n};
    struct str block;

    stored_lines_init(&lines, text);
    do {
        TRY(stored_lines_next(&lines, &block));
        show_block(&r, block, lines.window_at, out);
    } while (block.n && !r.is_full);
    if (!r.first.number)
        return err_new(ERR_VALIDATION, "offset %llu is past the end: there %s %llu line%s",
                       (unsigned long long)from, r.n_lines == 1 ? "is" : "are",
                       (unsigned long long)r.n_lines, r.n_lines == 1 ? "" : "s");
    add_run_note(out, &r, text->n_bytes);
    return NULL;
}

/* --- what was found --- */

struct picks {
    const struct found_lines *found;
    size_t n_context;
    size_t next;           /* the first found line whose context has not ended */
    size_t n_shown;        /* of the found lines */
    uint64_t last, n_seen; /* lines */
    bool is_over;
};

/* The found line for which this line is shown, or NULL. */
static const struct found_line *pick_line(struct picks *p, uint64_t number)
{
    const struct found_line *f;

    while (p->next < p->found->n && p->found->lines[p->next].number + p->n_context < number)
        p->next++;
    if (p->next == p->found->n)
        return NULL;
    f = &p->found->lines[p->next];
    /* the context of one line may include the next found line */
    while (f->number < number && f + 1 < p->found->lines + p->found->n && f[1].number <= number)
        f++;
    return f->number <= number + p->n_context ? f : NULL;
}

static void show_picks(struct picks *p, struct str block, struct strbuf *out)
{
    struct str line;

    while (!p->is_over && stored_line(&block, &line)) {
        uint64_t number = ++p->n_seen;
        const struct found_line *f = pick_line(p, number);
        bool is_match = f && f->number == number, is_full = out->n > ENOUGH_BYTES;

        p->is_over = p->next == p->found->n || (is_full && p->n_shown);
        if (!f || p->is_over || (is_full && !is_match)) /* the first match is always shown */
            continue;
        if (p->last && p->last + 1 < number)
            strbuf_add_cstr(out, "--\n");
        strbuf_addf(out, "%llu%c", (unsigned long long)number, is_match ? ':' : '-');
        add_line(out, line, is_match ? f->match_at : 0);
        p->last = number;
        p->n_shown += is_match;
    }
}

struct err *stored_show_found(const struct stored_text *text, const struct found_lines *found,
                              size_t n_context, struct strbuf *out, size_t *ret_n_shown)
{
    AUTO(stored_lines) struct stored_lines lines;
    struct picks p = {.found = found, .n_context = n_context};
    struct str block;

    stored_lines_init(&lines, text);
    do {
        TRY(stored_lines_next(&lines, &block));
        show_picks(&p, block, out);
    } while (block.n && !p.is_over);
    *ret_n_shown = p.n_shown;
    return NULL;
}

/* --- chunks and ends --- */

/* Without the incomplete last line or character, if that is short. */
static struct str settle_end(struct str text)
{
    size_t newline = str_rfind_char(text, '\n');

    if (newline != STR_NONE && newline > text.n / 4 * 3)
        return str_slice(text, 0, newline + 1);
    text.n -= utf8_incomplete_tail(text);
    return text;
}

/* Without the incomplete line or character at its start. */
static struct str settle_start(struct str text)
{
    size_t newline = str_find_char(str_slice(text, 0, text.n / 4), '\n');
    size_t n = newline == STR_NONE ? 0 : newline + 1;

    while (n < 3 && n < text.n && is_continuation(text.p[n]))
        n++;
    return str_skip(text, n);
}

static void end_line(struct strbuf *out)
{
    if (!str_ends(strbuf_str(out), S("\n")))
        strbuf_add_char(out, '\n');
}

struct err *stored_show_chunk(const struct stored_text *text, uint64_t from, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    struct str shown;
    uint64_t end;

    if (from >= text->n_bytes)
        return err_new(ERR_VALIDATION, "offset %llu is past the end: there %s %llu byte%s",
                       (unsigned long long)from, text->n_bytes == 1 ? "is" : "are",
                       (unsigned long long)text->n_bytes, text->n_bytes == 1 ? "" : "s");
    TRY(blob_get_range(text->blobs, text->handle, from, CHUNK_BYTES, &bytes));
    shown = strbuf_str(&bytes);
    if (from + shown.n < text->n_bytes)
        shown = settle_end(shown);
    end = from + shown.n;
    utf8_add_repaired(out, shown);
    end_line(out);
    strbuf_addf(out, "[bytes %llu-%llu of %llu", (unsigned long long)from, (unsigned long long)end,
                (unsigned long long)text->n_bytes);
    if (end < text->n_bytes)
        strbuf_addf(out, "; to continue, set mode to full-chunked and offset to %llu]",
                    (unsigned long long)end);
    else
        strbuf_add_cstr(out, ": the end]");
    return NULL;
}

struct err *stored_show_ends(const struct stored_text *text, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf head = {0}, tail = {0};
    const size_t half = CHUNK_BYTES / 2;
    struct str first, last;

    if (text->n_bytes <= CHUNK_BYTES)
        return stored_show_chunk(text, 0, out);
    TRY(blob_get_range(text->blobs, text->handle, 0, half, &head));
    /* one byte more, which may be the end of the line before */
    TRY(blob_get_range(text->blobs, text->handle, text->n_bytes - half - 1, half + 1, &tail));
    first = settle_end(strbuf_str(&head));
    last = settle_start(strbuf_str(&tail));
    utf8_add_repaired(out, first);
    end_line(out);
    strbuf_addf(
        out,
        "... [%llu bytes left out; to read them, set mode to full-chunked and offset to %zu] ...\n",
        (unsigned long long)(text->n_bytes - first.n - last.n), first.n);
    utf8_add_repaired(out, last);
    end_line(out);
    strbuf_addf(out, "[the start and the end of %llu bytes]", (unsigned long long)text->n_bytes);
    return NULL;
}
