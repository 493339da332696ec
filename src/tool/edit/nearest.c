/* nearest.c - scores every line by what it shares with the wanted text, and chooses the lines with
 * the highest sum. */
#include "tool/edit/nearest.h"

#include "base/clip.h"
#include "base/utf8.h"
#include "tool/edit/fold.h"

#include <stdlib.h>

#define MAX_LINE_CHARS 160
#define MAX_MARKS 4096     /* of the wanted text; more do not help */
#define MAX_MARK_WEIGHT 64 /* one long line does not outweigh all others */

/* A line or a word. Sorted by hash, so that a lookup stays fast for texts made to collide. */
struct text_mark {
    uint64_t hash;
    size_t last_line; /* a word counts once a line */
};
struct marks {
    struct text_mark all[MAX_MARKS];
    size_t n;
};

static int compare_marks(const void *a, const void *b)
{
    uint64_t x = ((const struct text_mark *)a)->hash, y = ((const struct text_mark *)b)->hash;

    return x < y ? -1 : x > y;
}

static struct text_mark *find_mark(struct marks *marks, struct str s)
{
    struct text_mark key = {.hash = str_hash(s)};

    return bsearch(&key, marks->all, marks->n, sizeof key, compare_marks);
}

static void add_mark(struct marks *marks, struct str s)
{
    if (marks->n < MAX_MARKS)
        marks->all[marks->n++] = (struct text_mark){.hash = str_hash(s)};
}

static bool is_word_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool take_word(struct str *rest, struct str *ret_word)
{
    size_t n = 0;

    while (rest->n && !is_word_char(rest->p[0]))
        *rest = str_skip(*rest, 1);
    while (n < rest->n && is_word_char(rest->p[n]))
        n++;
    *ret_word = str_slice(*rest, 0, n);
    *rest = str_skip(*rest, n);
    return n > 0;
}

static void add_line_marks(struct marks *marks, struct str line)
{
    line = str_trim(line);
    if (line.n)
        add_mark(marks, line);
}

static bool is_combining(uint32_t c)
{
    return c >= 0x300 && c < 0x370;
}

/* The line without blanks, quotes, dashes, characters beyond ASCII, and accented letters in either
 * normal form. */
static struct str skeleton_of(struct str line, struct strbuf *out)
{
    strbuf_clear(out);
    while (line.n) {
        uint32_t c;
        unsigned n = utf8_decode(line, &c);

        if (n && is_combining(c) && out->n)
            strbuf_cut(out, out->n - 1);
        else if (n == 1 && c > ' ' && c != '\'' && c != '"' && c != '-')
            strbuf_add_char(out, (char)c);
        line = str_skip(line, n ? n : 1);
    }
    return strbuf_str(out);
}

static void add_skeleton_mark(struct marks *marks, struct str line)
{
    AUTO(strbuf) struct strbuf out = {0};

    if (skeleton_of(line, &out).n)
        add_mark(marks, strbuf_str(&out));
}

static size_t score_skeleton(struct marks *marks, struct str line, size_t number)
{
    AUTO(strbuf) struct strbuf out = {0};

    (void)number;
    return skeleton_of(line, &out).n && find_mark(marks, strbuf_str(&out))
               ? MIN(out.n, (size_t)MAX_MARK_WEIGHT)
               : 0;
}

static void add_word_marks(struct marks *marks, struct str line)
{
    struct str word;

    while (marks->n < MAX_MARKS && take_word(&line, &word))
        add_mark(marks, word);
}

static size_t score_line(struct marks *marks, struct str line, size_t number)
{
    (void)number;
    line = str_trim(line);
    return line.n && find_mark(marks, line) ? MIN(line.n, (size_t)MAX_MARK_WEIGHT) : 0;
}

static size_t score_words(struct marks *marks, struct str line, size_t number)
{
    struct str word;
    size_t score = 0;

    while (take_word(&line, &word)) {
        struct text_mark *mark = find_mark(marks, word);

        if (mark && mark->last_line != number) {
            score += MIN(word.n, (size_t)MAX_MARK_WEIGHT);
            mark->last_line = number;
        }
    }
    return score;
}

struct scoring {
    void (*mark)(struct marks *marks, struct str line);
    size_t (*score)(struct marks *marks, struct str line, size_t number);
};

static const struct scoring by_lines = {add_line_marks, score_line};
static const struct scoring by_skeletons = {add_skeleton_mark, score_skeleton};
static const struct scoring by_words = {add_word_marks, score_words};

/* The n_lines lines with the highest sum. Of several adjacent candidates it chooses the middle one,
 * so that a single good line has context around it. */
static bool find_best(struct marks *marks, const struct scoring *scoring, struct str text,
                      size_t n_lines, struct nearest_lines *ret_nearest)
{
    size_t scores[NEAREST_MAX_LINES] = {0}, sum = 0, best = 0, first = 0, last = 0, number = 0;
    struct str line;

    while (text.n && str_split(&text, '\n', &line)) {
        size_t *score = &scores[number++ % n_lines];

        sum -= *score;
        *score = scoring->score(marks, line, number);
        sum += *score;
        if (sum > best) {
            best = sum;
            first = last = number;
        } else if (sum == best && last + 1 == number) {
            last = number;
        }
    }
    if (best == 0)
        return false;
    last = (first + last) / 2; /* of the candidates too */
    ret_nearest->first_line = last > n_lines ? last - n_lines + 1 : 1;
    ret_nearest->n_lines = MIN(n_lines, number);
    return true;
}

static size_t count_lines(struct str s)
{
    struct str line;
    size_t n = 0;

    while (s.n && str_split(&s, '\n', &line))
        n++;
    return n;
}

static bool find_by(const struct scoring *scoring, struct str text, struct str wanted,
                    struct nearest_lines *ret_nearest)
{
    size_t n_lines = MIN(MAX(count_lines(wanted), 1), (size_t)NEAREST_MAX_LINES);
    AUTO_FREE struct marks *marks = mem_alloc(sizeof *marks);
    struct str line;

    while (wanted.n && str_split(&wanted, '\n', &line))
        scoring->mark(marks, line);
    qsort(marks->all, marks->n, sizeof marks->all[0], compare_marks);
    return find_best(marks, scoring, text, n_lines, ret_nearest);
}

bool nearest_find(struct str text, struct str wanted, struct nearest_lines *ret_nearest)
{
    return find_by(&by_lines, text, wanted, ret_nearest) ||
           find_by(&by_skeletons, text, wanted, ret_nearest) ||
           find_by(&by_words, text, wanted, ret_nearest);
}

/* A NUL would end the message. */
static void add_visible(struct strbuf *out, struct str line)
{
    for (size_t at; (at = str_find_char(line, '\0')) != STR_NONE; line = str_skip(line, at + 1)) {
        utf8_add_repaired(out, str_slice(line, 0, at));
        strbuf_add_cstr(out, "\u2400");
    }
    utf8_add_repaired(out, line);
}

void nearest_add(struct strbuf *out, struct str text, const struct nearest_lines *nearest)
{
    struct str line;

    for (size_t number = 1; number < nearest->first_line + nearest->n_lines; number++) {
        AUTO(strbuf) struct strbuf shown = {0};

        if (!text.n || !str_split(&text, '\n', &line))
            return;
        if (number < nearest->first_line)
            continue;
        if (str_ends(line, S("\r")))
            line.n--;
        clip_line(&shown, line, MAX_LINE_CHARS);
        strbuf_addf(out, "\n%zu\t", number);
        add_visible(out, strbuf_str(&shown));
    }
}

/* --- what cannot be seen --- */

#define MAX_SHOWN_BEFORE 24 /* bytes */
#define MAX_COMPARED 64     /* lines of the wanted text */

/* Fills in the lines, trimmed. */
static void take_lines(struct str text, const struct nearest_lines *nearest,
                       struct str ret_lines[NEAREST_MAX_LINES])
{
    struct str line;

    for (size_t number = 1; number < nearest->first_line + nearest->n_lines; number++) {
        if (!text.n || !str_split(&text, '\n', &line))
            return;
        if (number >= nearest->first_line)
            ret_lines[number - nearest->first_line] = str_trim(line);
    }
}

static struct str last_bytes(struct str s, size_t max)
{
    size_t from = s.n > max ? s.n - max : 0;

    while (from < s.n && ((unsigned char)s.p[from] & 0xC0) == 0x80)
        from++;
    return str_skip(s, from);
}

static bool same_skeleton(struct str a, struct str b)
{
    AUTO(strbuf) struct strbuf x = {0}, y = {0};

    return skeleton_of(a, &x).n && str_eq(strbuf_str(&x), skeleton_of(b, &y));
}

/* Names the first character in which the lines differ. */
static void add_code_points(struct strbuf *out, struct str s)
{
    uint32_t c, next;
    unsigned n = utf8_decode(s, &c);

    if (s.n == 0) {
        strbuf_add_cstr(out, "the end of the line");
        return;
    }
    strbuf_addf(out, "U+%04X", n ? c : 0xFFFD);
    if (n > 0 && c > ' ' && c < 0x7F)
        strbuf_addf(out, " (%c)", (char)c);
    if (n && utf8_decode(str_skip(s, n), &next) && is_combining(next))
        strbuf_addf(out, " U+%04X", next);
}

static bool can_be_seen(struct str s)
{
    return s.n && s.p[0] > ' ' && s.p[0] < 0x7F;
}

static bool add_line_difference(struct strbuf *out, size_t number, struct str line,
                                struct str wanted)
{
    size_t at = 0;

    while (at < line.n && at < wanted.n && line.p[at] == wanted.p[at])
        at++;
    while (at && at < line.n && ((unsigned char)line.p[at] & 0xC0) == 0x80)
        at--;
    if (can_be_seen(str_skip(line, at)) && can_be_seen(str_skip(wanted, at)) &&
        !(at + 1 < line.n && (unsigned char)line.p[at + 1] >= 0x80) &&
        !(at + 1 < wanted.n && (unsigned char)wanted.p[at + 1] >= 0x80))
        return false;
    strbuf_addf(out, "\nline %zu differs after \"", number);
    utf8_add_repaired(out, last_bytes(str_slice(line, 0, at), MAX_SHOWN_BEFORE));
    strbuf_add_cstr(out, "\": the file has ");
    add_code_points(out, str_skip(line, at));
    strbuf_add_cstr(out, " there, old_string ");
    add_code_points(out, str_skip(wanted, at));
    return true;
}

void nearest_add_difference(struct strbuf *out, struct str text, struct str wanted,
                            const struct nearest_lines *nearest)
{
    struct str lines[NEAREST_MAX_LINES] = {0}, given;

    take_lines(text, nearest, lines);
    for (size_t n = 0; n < MAX_COMPARED && wanted.n && str_split(&wanted, '\n', &given); n++) {
        given = str_trim(given);
        for (size_t i = 0; i < nearest->n_lines; i++)
            if (!str_eq(lines[i], given) && same_skeleton(lines[i], given) &&
                add_line_difference(out, nearest->first_line + i, lines[i], given))
                return;
    }
}
