/* excerpt.c - searches word by word. */
#include "store/excerpt.h"

#include "base/ascii.h"
#include "base/utf8.h"

#define N_AROUND 80 /* bytes on either side */
#define N_BEGINNING 160

static bool begins_with(struct str text, struct str word)
{
    if (text.n < word.n)
        return false;
    for (size_t i = 0; i < word.n; i++)
        if (ascii_lower(text.p[i]) != ascii_lower(word.p[i]))
            return false;
    return true;
}

static size_t find_word(struct str text, struct str word)
{
    for (size_t i = 0; i + word.n <= text.n; i++)
        if (begins_with(str_skip(text, i), word))
            return i;
    return STR_NONE;
}

/* Cuts at whole characters and turns line ends into blanks. */
static struct str cut(struct str text, size_t at, size_t n_word, struct arena *a)
{
    size_t from = at > N_AROUND ? at - N_AROUND : 0;
    struct str piece;
    char *copy;

    while (from < at && ((unsigned char)text.p[from] & 0xC0) == 0x80)
        from++;
    piece = utf8_truncate(str_skip(text, from), at - from + n_word + N_AROUND);
    copy = arena_cstr(a, piece);
    for (size_t i = 0; i < piece.n; i++)
        if ((unsigned char)copy[i] < ' ')
            copy[i] = ' ';
    return str_make(copy, piece.n);
}

bool excerpt_find(struct str text, struct str words, struct arena *a, struct str *ret_excerpt)
{
    size_t first = STR_NONE, n_first = 0;
    struct str word;

    while (str_split(&words, ' ', &word)) {
        size_t at;

        if (word.n == 0)
            continue;
        at = find_word(text, word);
        if (at == STR_NONE)
            return false;
        if (first == STR_NONE) {
            first = at;
            n_first = word.n;
        }
    }
    if (first == STR_NONE)
        return false;
    *ret_excerpt = cut(text, first, n_first, a);
    return true;
}

struct str excerpt_of(struct str body, struct str words, struct arena *a)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct store_record r = {.type = S("history_mutation"), .body = body};
    struct str excerpt;

    store_record_text(&r, &text);
    if (excerpt_find(strbuf_str(&text), words, a, &excerpt))
        return excerpt;
    return arena_str(a, utf8_truncate(strbuf_str(&text), N_BEGINNING));
}
