/* options.c - separates single-letter options from the other words. */
#include "gate/options.h"

#define MAX_LETTERS 8 /* in one word; more letters are a name, as in -maxdepth */

static bool letter_bit(char c, uint64_t *ret_bit)
{
    if (c >= 'a' && c <= 'z')
        *ret_bit = UINT64_C(1) << (c - 'a');
    else if (c >= 'A' && c <= 'Z')
        *ret_bit = UINT64_C(1) << (c - 'A' + 26);
    else
        return false;
    return true;
}

/* "-rf". A word with a repeated letter is a name, as in "-delete". */
static bool read_letters(struct str word, uint64_t *ret_letters)
{
    uint64_t all = 0, bit;

    if (word.n < 2 || word.n > 1 + MAX_LETTERS || word.p[0] != '-')
        return false;
    for (size_t i = 1; i < word.n; i++) {
        if (!letter_bit(word.p[i], &bit) || all & bit)
            return false;
        all |= bit;
    }
    *ret_letters = all;
    return true;
}

static void add_word(struct strbuf *out, struct str word)
{
    if (out->n)
        strbuf_add_char(out, ' ');
    strbuf_add(out, word);
}

/* "-rf:*" means "-rf", and any arguments of the command. */
static struct str cut_more(struct str *word)
{
    struct str whole = *word;

    if (!str_ends(whole, S(":*")))
        return (struct str){0};
    *word = str_slice(whole, 0, whole.n - 2);
    return str_skip(whole, whole.n - 2);
}

bool options_of_pattern(struct str pattern, uint64_t *ret_letters, struct strbuf *rest)
{
    uint64_t all = 0, letters;
    bool is_plain = true; /* so far */
    struct str word;

    if (str_find(pattern, S(" -")) == STR_NONE || str_find_char(pattern, '\\') != STR_NONE)
        return false;
    while (str_split(&pattern, ' ', &word)) {
        struct str more = cut_more(&word);

        if (is_plain && rest->n && read_letters(word, &letters))
            all |= letters;
        else
            add_word(rest, word);
        strbuf_add(rest, more);
        is_plain = is_plain && str_find_char(word, '*') == STR_NONE && !str_is(word, "--");
    }
    *ret_letters = all;
    return all != 0;
}

/* An expanded word that may turn out to be options. */
static bool may_be_options(struct str word)
{
    return str_find_char(word, SHELL_ANYTHING) != STR_NONE &&
           (word.p[0] == SHELL_ANYTHING || word.p[0] == '-');
}

struct command_options options_of_command(const struct split_command *c, struct strbuf *rest)
{
    struct command_options o = {0};
    bool takes_options = true;

    strbuf_add(rest, shell_command_name(c));
    for (size_t i = c->n_assignments + 1; i < c->n_words; i++) {
        struct str word = c->words[i].text;
        uint64_t letters;

        takes_options = takes_options && !str_is(word, "--");
        if (takes_options && read_letters(word, &letters)) {
            o.letters |= letters;
            continue;
        }
        o.may_have_more = o.may_have_more || (takes_options && may_be_options(word));
        add_word(rest, word);
    }
    return o;
}
