/* words.c - splits a command line into possible file names. */
#include "hook/words.h"

#include "base/strbuf.h"

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static bool is_in_list(const struct word_list *l, struct str word)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_eq(l->items[i], word))
            return true;
    return false;
}

static void add_once(struct word_list *l, struct arena *a, struct str word)
{
    if (word.n == 0 || memchr(word.p, 0, word.n) || is_in_list(l, word))
        return;
    l->is_full |= l->n == HOOK_MAX_WORDS;
    if (l->is_full)
        return;
    l->items = arena_grow(a, l->items, l->n, &l->room, sizeof *l->items);
    l->items[l->n++] = arena_str(a, word);
}

/* --config=FILE, NAME=FILE, DIR:DIR, @FILE */
static void add_with_parts(struct word_list *l, struct arena *a, struct str word)
{
    size_t from = 0;

    add_once(l, a, word);
    for (size_t i = 0; i <= word.n; i++)
        if (i == word.n || is_one_of(word.p[i], "=:,@")) {
            if (i - from < word.n)
                add_once(l, a, str_slice(word, from, i - from));
            from = i + 1;
        }
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The length of $NAME, ${...} or $1 at the start of the line, or 0. */
static size_t variable_size(struct str line)
{
    size_t n = 1;

    if (line.n < 2 || line.p[0] != '$')
        return 0;
    if (line.p[1] == '{') {
        size_t end = str_find_char(line, '}');

        return end == STR_NONE ? 2 : end + 1;
    }
    while (n < line.n && is_name(line.p[n]))
        n++;
    return n > 1 ? n : 0;
}

#define BLANKS " \t\r\n"
#define OPERATORS ";|&<>()`"

static void add_as_shell(struct word_list *l, struct arena *a, struct str line)
{
    AUTO(strbuf) struct strbuf word = {0};
    char quote = 0;

    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        size_t variable = quote == '\'' ? 0 : variable_size(str_skip(line, i));

        if (variable) {
            i += variable - 1;
        } else if (c == '\\' && quote != '\'' && i + 1 < line.n) {
            strbuf_add_char(&word, line.p[++i]);
        } else if (quote ? c == quote : is_one_of(c, "'\"")) {
            quote = quote ? 0 : c;
        } else if (!quote && is_one_of(c, BLANKS OPERATORS)) {
            add_with_parts(l, a, strbuf_str(&word));
            strbuf_clear(&word);
        } else {
            strbuf_add_char(&word, c);
        }
    }
    add_with_parts(l, a, strbuf_str(&word));
}

static void add_pieces(struct word_list *l, struct arena *a, struct str line)
{
    AUTO(strbuf) struct strbuf word = {0};

    for (size_t i = 0; i < line.n; i++) {
        size_t variable = variable_size(str_skip(line, i));

        if (variable) {
            i += variable - 1;
        } else if (is_one_of(line.p[i], BLANKS OPERATORS "'\"\\{}[]")) {
            add_with_parts(l, a, strbuf_str(&word));
            strbuf_clear(&word);
        } else {
            strbuf_add_char(&word, line.p[i]);
        }
    }
    add_with_parts(l, a, strbuf_str(&word));
}

void hook_words_add(struct word_list *l, struct arena *a, struct str line)
{
    add_as_shell(l, a, line);
    add_pieces(l, a, line);
}
