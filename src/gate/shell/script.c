/* script.c - reads programs of sed as GNU sed does, and programs of awk by their characters. */
#include "gate/shell/script.h"

/* --- sed --- */

struct sed_reader {
    struct str script;
    size_t at;
    unsigned effects;
};

static char sed_char(const struct sed_reader *r)
{
    return r->at < r->script.n ? r->script.p[r->at] : '\0';
}

static bool sed_is_at_end(const struct sed_reader *r)
{
    return r->at >= r->script.n;
}

static void sed_skip(struct sed_reader *r, const char *chars)
{
    while (!sed_is_at_end(r) && sed_char(r) && strchr(chars, sed_char(r)))
        r->at++;
}

static void sed_skip_line(struct sed_reader *r)
{
    while (!sed_is_at_end(r) && sed_char(r) != '\n')
        r->at++;
}

/* Stops after the next delimiter. Some versions of sed end the part at one in brackets. */
static void sed_skip_part(struct sed_reader *r, char delimiter, bool is_regex)
{
    bool in_brackets = false;

    for (; !sed_is_at_end(r); r->at++) {
        char c = sed_char(r);

        if (c == delimiter) {
            r->at++;
            if (in_brackets)
                r->effects |= SCRIPT_ANY;
            return;
        }
        if (c == '\\')
            r->at++;
        else if (is_regex && c == '[')
            in_brackets = true;
        else if (c == ']')
            in_brackets = false;
    }
    r->effects |= SCRIPT_ANY; /* it does not end */
}

static void sed_skip_address(struct sed_reader *r)
{
    if (sed_char(r) == '/' || sed_char(r) == '\\') {
        r->at += sed_char(r) == '\\';
        r->at++;
        sed_skip_part(r, r->at <= r->script.n ? r->script.p[r->at - 1] : '/', /* is_regex= */ true);
        sed_skip(r, "IM");
        return;
    }
    sed_skip(r, "0123456789$~+");
}

static void sed_substitute(struct sed_reader *r)
{
    char delimiter = sed_char(r);

    if (sed_is_at_end(r) || delimiter == '\\' || delimiter == '\n') {
        r->effects |= SCRIPT_ANY;
        return;
    }
    r->at++;
    sed_skip_part(r, delimiter, /* is_regex= */ true);
    sed_skip_part(r, delimiter, /* is_regex= */ false);
    sed_skip(r, "gpiImM0123456789");
    if (sed_char(r) == 'w')
        r->effects |= SCRIPT_WRITES;
    else if (!sed_is_at_end(r) && !strchr(" \t;\n}#", sed_char(r)))
        r->effects |= SCRIPT_ANY;
}

/* A text may continue in the next line, or in the next -e. */
static void sed_text(struct sed_reader *r)
{
    sed_skip_line(r);
    if (r->at && r->script.p[r->at - 1] == '\\')
        r->effects |= SCRIPT_ANY;
}

static void sed_command(struct sed_reader *r)
{
    static const char label[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ";
    char c = sed_char(r);

    r->at++;
    switch (c) {
    case 's':
        sed_substitute(r);
        return;
    case 'y':
        c = sed_char(r);
        r->at++;
        sed_skip_part(r, c, /* is_regex= */ false);
        sed_skip_part(r, c, /* is_regex= */ false);
        return;
    case 'q':
    case 'Q':
    case 'l':
        sed_skip(r, " 0123456789");
        return;
    case 'b':
    case 't':
    case 'T':
    case ':':
        sed_skip(r, label);
        return;
    case 'a':
    case 'i':
    case 'c':
        sed_text(r);
        return;
    case '#':
        sed_skip_line(r);
        return;
    case 'w':
    case 'W':
        r->effects |= SCRIPT_WRITES;
        sed_skip_line(r);
        return;
    case 'r':
    case 'R':
        r->effects |= SCRIPT_READS;
        sed_skip_line(r);
        return;
    default:
        if (c == '\0' || !strchr("{}=dDgGhHnNpPxzF", c))
            r->effects |= SCRIPT_ANY;
    }
}

unsigned sed_script_effects(struct str script)
{
    struct sed_reader r = {.script = script};

    for (;;) {
        sed_skip(&r, " \t\n;}");
        if (sed_is_at_end(&r) || r.effects == SCRIPT_ANY)
            return r.effects;
        sed_skip_address(&r);
        sed_skip(&r, " \t");
        if (sed_char(&r) == ',') {
            r.at++;
            sed_skip(&r, " \t");
            sed_skip_address(&r);
        }
        sed_skip(&r, " \t!");
        sed_command(&r);
    }
}

/* --- awk --- */

/* A character that starts a command or writes is not distinguished from the same one in a text. */
unsigned awk_program_effects(struct str program)
{
    unsigned effects = 0;

    if (str_find(program, S("system")) != STR_NONE || str_find(program, S("getline")) != STR_NONE ||
        str_find_char(program, '@') != STR_NONE)
        return SCRIPT_ANY;
    for (size_t i = 0; i < program.n; i++) {
        char c = program.p[i], next = i + 1 < program.n ? program.p[i + 1] : '\0';

        if (c == '|' && next == '|')
            i++;
        else if (c == '|')
            return SCRIPT_ANY;
        else if (c == '>' && next != '=')
            effects |= SCRIPT_WRITES;
    }
    return effects;
}

/* --- their calls --- */

/* The options of a program that takes a script. */
struct script_call {
    const char *flags;  /* short options without effect here */
    const char *valued; /* those with a value */
    char code;          /* the option whose value is a script; 0: none */
    char in_place;      /* the option that writes the files back; 0: none */
    const char *words;  /* long options without effect here, each between blanks */
    unsigned (*effects)(struct str script);
};

struct script_reader {
    const struct script_call *call;
    const struct shell_word *words;
    size_t n, at;
    bool has_code;
    unsigned effects;
};

static void read_code(struct script_reader *r, struct str code, bool is_known)
{
    r->has_code = true;
    r->effects |= is_known ? r->call->effects(code) : SCRIPT_ANY;
}

/* "-ne" 's/a/b/', "-F:" */
static void read_letters(struct script_reader *r, const struct shell_word *word)
{
    const struct script_call *call = r->call;

    for (size_t i = 1; i < word->text.n; i++) {
        char c = word->text.p[i];
        bool is_last = i + 1 == word->text.n;

        if (call->in_place && c == call->in_place) {
            r->effects |= SCRIPT_WRITES;
            return; /* the end of a name follows */
        }
        if (call->code && c == call->code) {
            if (is_last && ++r->at < r->n)
                read_code(r, r->words[r->at].text, r->words[r->at].is_known);
            else
                read_code(r, str_skip(word->text, i + 1), word->is_known && !is_last);
            return;
        }
        if (c && strchr(call->valued, c)) {
            r->at += is_last;
            return;
        }
        if (!c || !strchr(call->flags, c))
            r->effects |= SCRIPT_ANY;
    }
}

static bool is_listed(const char *list, struct str word)
{
    size_t at = str_find(str_of(list), word);

    return at != STR_NONE && at > 0 && list[at - 1] == ' ' && list[at + word.n] == ' ';
}

/* Up to the first operand that is not a script. */
static unsigned call_effects(const struct script_call *call, const struct shell_word *words,
                             size_t n)
{
    struct script_reader r = {.call = call, .words = words, .n = n, .at = 1};
    bool takes_options = true;
    size_t code_at = 0;

    for (; r.at < n; r.at++) {
        const struct shell_word *word = &words[r.at];
        bool may_be_option = !word->is_known && (word->text.n == 0 || word->text.p[0] == '\0');

        if (takes_options && may_be_option)
            return SCRIPT_ANY;
        if (!takes_options || word->text.n < 2 || word->text.p[0] != '-')
            code_at = code_at ? code_at : r.at;
        else if (str_is(word->text, "--"))
            takes_options = false;
        else if (!str_starts(word->text, S("--")))
            read_letters(&r, word);
        else if (!is_listed(call->words, word->text))
            return SCRIPT_ANY;
    }
    if (!r.has_code && code_at)
        read_code(&r, words[code_at].text, words[code_at].is_known);
    return r.effects;
}

unsigned sed_effects(const struct shell_word *words, size_t n)
{
    static const struct script_call call = {
        .flags = "nErsuz",
        .valued = "l",
        .code = 'e',
        .in_place = 'i',
        .words = " --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix ",
        .effects = sed_script_effects,
    };

    return call_effects(&call, words, n);
}

unsigned awk_effects(const struct shell_word *words, size_t n)
{
    static const struct script_call call = {
        .flags = "",
        .valued = "Fv",
        .words = " --posix --traditional --re-interval ",
        .effects = awk_program_effects,
    };

    return call_effects(&call, words, n);
}
