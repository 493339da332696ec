/* command.c - adds one command to the list: its texts, and its effect on the shell. */
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

/* The offset of the program's own name. */
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

static void add_reading(struct splitter *s, struct split_command *c, size_t first)
{
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add(&text, shell_command_name(c));
    strbuf_add_char(&text, ' ');
    join(&text, c->words + first, c->n_words - first, /* as_written= */ false);
    c->readings[c->n_readings++] = arena_str(s->arena, strbuf_str(&text));
}

static void fill_readings(struct splitter *s, struct split_command *c)
{
    enum { PROGRAM, OPTION, OPTION_WITH_VALUE, MAYBE_VALUE } before = PROGRAM;

    for (size_t i = c->n_assignments + 1; i < c->n_words; i++) {
        struct str text = c->words[i].text;

        if (str_starts(text, S("-"))) {
            before = str_find_char(text, '=') == STR_NONE ? OPTION : OPTION_WITH_VALUE;
            continue;
        }
        if (before == PROGRAM || c->n_readings == SHELL_MAX_READINGS)
            return;
        add_reading(s, c, i);
        if (before != OPTION)
            return;
        before = MAYBE_VALUE;
    }
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
    fill_readings(s, c);
}

/* --- the effect on the shell --- */

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

/* "set -eux", "set -o pipefail": options that do not change the meaning of names. */
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

/* "%n" stores a number in the variable that the argument names. */
static bool format_sets_variables(struct str format)
{
    for (size_t i = 0; i < format.n; i++) {
        if (format.p[i] != '%')
            continue;
        for (i++; i < format.n && format.p[i] && strchr("#-+ 0123456789.*'hlLjztq", format.p[i]);)
            i++;
        if (i < format.n && format.p[i] == 'n')
            return true;
    }
    return false;
}

static bool printf_sets_variables(const struct shell_word *words, size_t n)
{
    size_t at = n > 1 && str_is(words[1].text, "--") ? 2 : 1;

    return has_word(words + 1, n - 1, "-v") ||
           (at < n && (!words[at].is_known || format_sets_variables(words[at].text)));
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
           (str_is(name, "printf") && printf_sets_variables(words, n)) ||
           (str_is(name, "wait") && n > 1);
}

/* --- what it computes --- */

/* Always a single word: "$x", but not "$@" or "a"$x"b". */
static bool is_one_word(const struct shell_word *word)
{
    struct str source = word->source, inner;

    if (word->is_known)
        return true;
    if (source.n < 3 || source.p[0] != '"' || source.p[source.n - 1] != '"')
        return false;
    inner = str_slice(source, 1, source.n - 2);
    return str_find_char(inner, '"') == STR_NONE && str_find_char(inner, '@') == STR_NONE;
}

/* Could one of them be "-v"? With up to three words, the position tells which is the operator. */
static bool test_may_compute(const struct shell_word *words, size_t n)
{
    bool are_known = true;

    if (n && str_is(words[n - 1].text, "]"))
        n--;
    for (size_t i = 0; i < n; i++) {
        if (str_is(words[i].text, "-v") || str_is(words[i].text, "-R") || !is_one_word(&words[i]))
            return true;
        are_known &= words[i].is_known;
    }
    if (are_known || n < 2)
        return false;
    return n == 2 ? !words[0].is_known : n > 3 || !words[1].is_known;
}

static bool is_plain_assignment(const struct shell_word *word)
{
    size_t n = shell_assignment_head(word->source);

    return n && str_find_char(str_slice(word->source, 0, n), '[') == STR_NONE;
}

/* "-i" makes variables numbers, "-n" makes them other names. */
static bool word_may_compute(const struct shell_word *word)
{
    struct str text = word->text;

    if (is_plain_assignment(word))
        return false;
    if (!word->is_known || str_find_char(text, '[') != STR_NONE)
        return true;
    return text.n > 1 && (text.p[0] == '-' || text.p[0] == '+') &&
           (str_find_char(text, 'i') != STR_NONE || str_find_char(text, 'n') != STR_NONE);
}

static bool may_begin_with(const struct shell_word *word, struct str text)
{
    size_t known = MIN(str_find_char(word->text, SHELL_ANYTHING), word->text.n);

    return str_starts(word->text, text) ||
           (!word->is_known && str_starts(text, str_slice(word->text, 0, MIN(known, text.n))));
}

static bool may_compute(const struct shell_word *words, size_t n)
{
    static const char *const names[] = {"declare",   "export",  "readonly", "typeset",
                                        "local",     "unset",   "read",     "mapfile",
                                        "readarray", "getopts", "wait",     NULL};
    struct str name = words[0].text;

    if (str_is(name, "let"))
        return true;
    if (str_is(name, "test") || str_is(name, "["))
        return test_may_compute(words + 1, n - 1);
    if (str_is(name, "printf"))
        return n > 1 && may_begin_with(&words[1], S("-v"));
    if (!is_one_of(name, names))
        return false;
    for (size_t i = 1; i < n; i++)
        if (word_may_compute(&words[i]))
            return true;
    return false;
}

/* It assigns its input, or decoded escapes, to variables. */
static bool takes_text(const struct shell_word *words, size_t n)
{
    static const char *const names[] = {"read", "mapfile", "readarray", NULL};

    return is_one_of(words[0].text, names) ||
           (str_is(words[0].text, "printf") && has_word(words + 1, MIN(n - 1, 1), "-v"));
}

static void note_effects(struct splitter *s, const struct shell_word *words, size_t n)
{
    static const char *const movers[] = {"cd", "pushd", "popd", NULL};
    struct str name = words[0].text;

    if (sets_variables(words, n))
        s->split->sets_variables = s->evaluates_text = true;
    if ((str_is(name, "test") || str_is(name, "[")) && has_word(words + 1, n - 1, "-v"))
        s->evaluates_text = true;
    if (may_compute(words, n)) {
        s->computes = true;
        for (size_t i = 1; i < n; i++)
            splitter_note_computed(s, words[i].text);
    }
    s->takes_text |= takes_text(words, n);
    /* From here on words may be replaced before the shell parses them. */
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

static bool is_exporter(struct str program)
{
    static const char *const names[] = {"export", "declare", "typeset", "readonly", NULL};

    return is_one_of(program, names);
}

/* Is the program's last name hidden, even in part? */
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

    for (size_t i = 0; i < n_words && (i < n_assignments || is_exporter(program->text)); i++)
        s->split->starts_unseen |= shell_names_program(words[i].text);
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
