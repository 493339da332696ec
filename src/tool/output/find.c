/* find.c - searches a stored result for patterns, block by block, in workers.
 *
 * A regular expression is one pattern, and its first matches count. Each word is a pattern: a first
 * pass counts the lines that hold it, a second one keeps the lines with the highest weight. */
#include "tool/output/stored.h"

#include "sys/work.h"
#include "tool/search/engine.h"
#include "tool/search/pattern.h"

#include <stdlib.h>

struct needle {
    struct str source;
    struct grep_pattern *pattern;
    struct grep_matcher *matcher;
    uint64_t n_lines; /* number of lines that hold it */
    unsigned weight;
};

/* A line of the current block. */
struct block_line {
    uint32_t start, match_at; /* of the first match */
    uint32_t needles;         /* one bit for each needle in it */
};

struct stored_search {
    struct needle needles[STORED_MAX_WORDS];
    size_t n_needles;
    bool are_words;

    struct str block;
    struct block_line *lines;
    size_t n_lines, room;
    uint64_t n_before;        /* lines in earlier blocks */
    uint64_t from, n_matched; /* the first line that counts */
    void (*on_match)(struct stored_search *s, uint64_t number, const struct block_line *line);
    bool is_over;

    struct found_lines found;
    unsigned *weights; /* of the found lines */
    size_t max, lightest;
};

static void stored_search_done(struct stored_search *s)
{
    for (size_t i = 0; i < s->n_needles; i++) {
        grep_matcher_free(s->needles[i].matcher);
        grep_pattern_free(s->needles[i].pattern);
    }
    mem_free(s->lines);
}
DEFINE_AUTO_VAL(stored_search, stored_search_done)

/* In a worker, since it needs a large stack. */
static struct err *stored_search_compile(void *arg)
{
    struct stored_search *s = arg;

    for (size_t i = 0; i < s->n_needles; i++) {
        struct needle *n = &s->needles[i];
        struct grep_query query = {
            .pattern = n->source, .ignore_case = s->are_words, .fixed_string = s->are_words};

        TRY(grep_pattern_compile(&query, &n->pattern));
        n->matcher = grep_matcher_new(n->pattern);
    }
    return NULL;
}

/* --- one block --- */

static void index_lines(struct stored_search *s)
{
    struct str rest = s->block, line;

    s->n_lines = 0;
    while (stored_line(&rest, &line)) {
        if (s->n_lines == s->room) {
            s->room = MAX(s->room * 2, (size_t)1024);
            s->lines = mem_resize(s->lines, s->room * sizeof *s->lines);
        }
        s->lines[s->n_lines++] = (struct block_line){.start = (uint32_t)(line.p - s->block.p)};
    }
}

static size_t end_of(const struct stored_search *s, size_t line)
{
    return line + 1 < s->n_lines ? s->lines[line + 1].start : s->block.n;
}

/* Marks the lines that hold the needle. */
static struct err *mark_lines(struct stored_search *s, size_t index)
{
    struct grep_matcher *m = s->needles[index].matcher;
    struct grep_span match;
    size_t at = 0, line = 0;
    bool found;

    grep_matcher_begin(m, s->block, NULL);
    for (;;) {
        struct block_line *l;
        size_t match_at;

        TRY(grep_matcher_find(m, at, &found, &match));
        if (!found)
            return NULL;
        while (end_of(s, line) <= match.start && line + 1 < s->n_lines)
            line++;
        l = &s->lines[line];
        match_at = match.start - l->start;
        l->match_at = l->needles ? MIN(l->match_at, (uint32_t)match_at) : (uint32_t)match_at;
        l->needles |= UINT32_C(1) << index;
        at = end_of(s, line);
    }
}

static struct err *stored_search_block(void *arg)
{
    struct stored_search *s = arg;

    index_lines(s);
    for (size_t i = 0; i < s->n_needles; i++)
        TRY(mark_lines(s, i));
    for (size_t i = 0; i < s->n_lines && !s->is_over; i++)
        if (s->lines[i].needles && s->n_before + i + 1 >= s->from)
            s->on_match(s, s->n_before + i + 1, &s->lines[i]);
    s->n_before += s->n_lines;
    return NULL;
}

static struct err *search_text(struct stored_search *s, const struct stored_text *text)
{
    AUTO(stored_lines) struct stored_lines lines;

    stored_lines_init(&lines, text);
    for (s->n_before = 0; !s->is_over;) {
        TRY(stored_lines_next(&lines, &s->block));
        if (!s->block.n)
            return NULL;
        TRY(work_run(stored_search_block, s));
        TRY(task_check()); /* an interrupted search finds nothing */
    }
    return NULL;
}

/* --- a regular expression --- */

static void take_first(struct stored_search *s, uint64_t number, const struct block_line *line)
{
    if (s->found.n == s->max) {
        s->found.has_more = s->is_over = true;
        return;
    }
    s->found.lines[s->found.n++] = (struct found_line){number, line->match_at};
}

struct err *stored_find_pattern(const struct stored_text *text, struct str pattern, uint64_t from,
                                size_t max, struct arena *a, struct found_lines *ret_found)
{
    AUTO(stored_search)
    struct stored_search s = {
        .needles = {{.source = pattern}}, .n_needles = 1, .from = from, .max = max};

    TRY(work_run(stored_search_compile, &s));
    s.found.lines = ARENA_ARRAY(a, max, struct found_line);
    s.on_match = take_first;
    TRY(search_text(&s, text));
    *ret_found = s.found;
    return NULL;
}

/* --- words --- */

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool next_word(struct str *rest, struct str *ret_word)
{
    size_t n = 0;

    while (rest->n && !is_word_byte(rest->p[0]))
        *rest = str_skip(*rest, 1);
    while (n < rest->n && is_word_byte(rest->p[n]))
        n++;
    *ret_word = str_slice(*rest, 0, n);
    *rest = str_skip(*rest, n);
    return n > 0;
}

static bool has_word(const struct stored_search *s, struct str word)
{
    for (size_t i = 0; i < s->n_needles; i++)
        if (str_eq_nocase(s->needles[i].source, word))
            return true;
    return false;
}

static void take_words(struct stored_search *s, struct str wanted, size_t min_bytes)
{
    struct str word;

    while (s->n_needles < STORED_MAX_WORDS && next_word(&wanted, &word))
        if (word.n >= min_bytes && !has_word(s, word))
            s->needles[s->n_needles++].source = word;
}

static void count_words(struct stored_search *s, uint64_t number, const struct block_line *line)
{
    for (size_t i = 0; i < s->n_needles; i++)
        s->needles[i].n_lines += line->needles >> i & 1;
    s->n_matched++;
}

/* A word in every line weighs 1, and 1 more each time half as many lines hold it. */
static void weigh_words(struct stored_search *s)
{
    for (size_t i = 0; i < s->n_needles; i++) {
        uint64_t times_rarer = s->n_before / MAX(s->needles[i].n_lines, 1);

        s->needles[i].weight = 64 - (unsigned)__builtin_clzll(times_rarer | 1);
    }
}

/* The last of the lightest lines: of equal weights the first lines stay. */
static size_t find_lightest(const struct stored_search *s)
{
    size_t lightest = 0;

    for (size_t i = 1; i < s->found.n; i++)
        if (s->weights[i] < s->weights[lightest] ||
            (s->weights[i] == s->weights[lightest] &&
             s->found.lines[i].number > s->found.lines[lightest].number))
            lightest = i;
    return lightest;
}

static void keep_best(struct stored_search *s, uint64_t number, const struct block_line *line)
{
    size_t place = s->found.n;
    unsigned weight = 0;

    for (size_t i = 0; i < s->n_needles; i++)
        if (line->needles >> i & 1)
            weight += s->needles[i].weight;
    if (s->found.n < s->max)
        s->found.n++;
    else if (weight > s->weights[s->lightest])
        place = s->lightest;
    else
        return;
    s->found.lines[place] = (struct found_line){number, line->match_at};
    s->weights[place] = weight;
    if (s->found.n == s->max)
        s->lightest = find_lightest(s);
}

static int by_number(const void *a, const void *b)
{
    const struct found_line *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

struct err *stored_find_words(const struct stored_text *text, struct str wanted, uint64_t from,
                              size_t max, struct arena *a, struct found_lines *ret_found)
{
    AUTO(stored_search) struct stored_search s = {.are_words = true, .from = from, .max = max};

    take_words(&s, wanted, 3);
    if (!s.n_needles)
        take_words(&s, wanted, 1);
    TRY(work_run(stored_search_compile, &s));
    s.on_match = count_words;
    TRY(search_text(&s, text));
    weigh_words(&s);

    s.found.lines = ARENA_ARRAY(a, max, struct found_line);
    s.weights = ARENA_ARRAY(a, max, unsigned);
    s.on_match = keep_best;
    TRY(search_text(&s, text));
    s.found.has_more = s.n_matched > s.found.n;
    qsort(s.found.lines, s.found.n, sizeof *s.found.lines, by_number);
    *ret_found = s.found;
    return NULL;
}
