/* command.c - one command for the list: its texts, and what it does to the shell. */
#include "gate/shell/parser.h"

/* --- texts --- */

static void join(struct strbuf *out, const struct shell_word *words, size_t n, bool as_written)
{
    for (size_t i = 0; i < n; i++) {
        if (i)
            strbuf_add_char(out, ' ');
        if (!as_written)
            strbuf_add(out, words[i].text);
        else if (words[i].is_known)
            strbuf_add(out, words[i].source);
        else
            strbuf_add_char(out, SHELL_ANYTHING);
    }
}

static struct str joined(struct splitter *s, const struct split_command *c, bool as_written)
{
    AUTO(strbuf) struct strbuf text = {0};

    join(&text, c->words, c->n_words, as_written);
    return arena_str(s->arena, strbuf_str(&text));
}

/* Where the program's own name begins in it. */
static size_t find_basename(const struct shell_word *program)
{
    for (size_t i = program->text.n; i > 0; i--) {
        char c = program->text.p[i - 1];

        if (c == '/')
            return i;
        if (c == SHELL_ANYTHING && program->may_hold_slash)
            return i - 1;
    }
    return 0;
}

static void fill_texts(struct splitter *s, struct split_command *c)
{
    c->text = joined(s, c, /* as_written= */ false);
    c->source = joined(s, c, /* as_written= */ true);
    for (size_t i = 0; i < c->n_assignments; i++)
        c->program_at += c->words[i].text.n + 1;
    c->program_at = MIN(c->program_at, c->text.n);
    c->basename_at = c->program_at;
    if (c->n_words > c->n_assignments)
        c->basename_at += find_basename(&c->words[c->n_assignments]);
}

/* --- what it does to the shell --- */

static bool is_one_of(struct str word, const char *const *words)
{
    for (; *words; words++)
        if (str_is(word, *words))
            return true;
    return false;
}

static bool has_word(const struct shell_word *words, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (str_starts(words[i].text, str_of(text)) || !words[i].is_known)
            return true;
    return false;
}

/* "set -eux", "set -o pipefail": nothing that gives names another meaning. */
static bool is_harmless_set(const struct shell_word *words, size_t n)
{
    static const char *const harmless[] = {"pipefail", "errexit", "nounset", "xtrace", NULL};

    for (size_t i = 1; i < n; i++) {
        struct str text = words[i].text;

        if (is_one_of(text, harmless))
            continue;
        if (!words[i].is_known || text.n < 2 || (text.p[0] != '-' && text.p[0] != '+'))
            return false;
        for (size_t j = 1; j < text.n; j++)
            if (!strchr("eufxvo", text.p[j]))
                return false;
    }
    return true;
}

/* "read -r line". */
static bool is_harmless_read(const struct shell_word *words, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!words[i].is_known ||
            (!str_is(words[i].text, "-r") && !shell_is_harmless_name(words[i].text)))
            return false;
    return true;
}

static bool sets_variables(const struct shell_word *words, size_t n)
{
    static const char *const setters[] = {"mapfile", "readarray", "getopts", "declare",  "typeset",
                                          "local",   "export",    "let",     "readonly", "unset",
                                          "shopt",   "enable",    "hash",    "trap",     "source",
                                          ".",       "eval",      "alias",   "unalias",  NULL};
    struct str name = words[0].text;

    return is_one_of(name, setters) || (str_is(name, "read") && !is_harmless_read(words, n)) ||
           (str_is(name, "set") && !is_harmless_set(words, n)) ||
           (str_is(name, "printf") && has_word(words + 1, n - 1, "-v")) ||
           (str_is(name, "wait") && n > 1);
}

static void note_effects(struct splitter *s, const struct shell_word *words, size_t n)
{
    static const char *const movers[] = {"cd", "pushd", "popd", NULL};
    struct str name = words[0].text;

    if (sets_variables(words, n))
        s->split->sets_variables = s->evaluates_text = true;
    if ((str_is(name, "test") || str_is(name, "[")) && has_word(words + 1, n - 1, "-v"))
        s->evaluates_text = true;
    /* From here on words may be replaced before they are read at all. */
    if (str_is(name, "alias") || (str_is(name, "shopt") && n > 1))
        splitter_doubt(s);
    if (is_one_of(name, movers) || !words[0].is_known)
        s->is_moved = true;
}

/* --- the list --- */

static void add(struct splitter *s, const struct shell_word *words, size_t n_words,
                size_t n_assignments)
{
    struct shell_split *split = s->split;
    struct split_command *c;

    if (split->n_commands == SHELL_MAX_COMMANDS) {
        splitter_doubt(s);
        return;
    }
    split->commands = arena_grow(s->arena, split->commands, split->n_commands, &s->commands_room,
                                 sizeof *split->commands);
    c = &split->commands[split->n_commands++];
    *c = (struct split_command){.words = words,
                                .n_words = n_words,
                                .n_assignments = n_assignments,
                                .is_inner = s->is_inner};
    fill_texts(s, c);
}

void splitter_add_anything(struct splitter *s)
{
    static const char nothing_known[] = {SHELL_ANYTHING};
    static const struct shell_word anything = {.text = {nothing_known, 1}, .may_hold_slash = true};
    bool was_inner = s->is_inner;

    s->is_inner = true;
    add(s, &anything, 1, 0);
    s->is_inner = was_inner;
}

/* Is the last name of the program hidden, wholly or in part? */
static bool is_hidden(const struct shell_word *program)
{
    struct str name = str_skip(program->text, find_basename(program));

    return program->may_hold_slash && str_find_char(name, SHELL_ANYTHING) != STR_NONE;
}

void splitter_add(struct splitter *s, const struct shell_word *words, size_t n_words,
                  size_t n_assignments)
{
    const struct shell_word *program = words + n_assignments;
    size_t n = n_words - n_assignments;

    add(s, words, n_words, n_assignments);
    if (n == 0)
        return;
    note_effects(s, program, n);
    if (is_hidden(program))
        splitter_add_anything(s);
    if (!splitter_enter(s))
        return;
    splitter_look_through(s, program, n);
    splitter_leave(s);
}
