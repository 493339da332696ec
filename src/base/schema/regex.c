/* regex.c - translates ECMA-262 regular expressions for PCRE2.
 *
 * The two languages mostly agree; where they do not, ECMA-262 in Unicode mode wins. So \s and the
 * dot get their sets, \p its long names, [] and [^] their meaning, \u its number, and an extension
 * of PCRE2 is escaped or refused. Three things that are not ECMA-262 are accepted because schemas
 * from Python programs hold them: \A and \Z, (?P<name>...) and the flags (?i), (?m), (?s). */
#include "base/schema/node.h"

#include "base/ascii.h"
#include "base/utf8.h"

#define SPACES                                                                                     \
    "\\t-\\r\\x20\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}"          \
    "\\x{3000}\\x{feff}"
#define NO_SPACES                                                                                  \
    "\\x00-\\x08\\x0e-\\x1f\\x21-\\x9f\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}"     \
    "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}"                 \
    "\\x{ff00}-\\x{10ffff}"
#define DOT "[^\\n\\r\\x{2028}\\x{2029}]"

struct regex_translator {
    struct str in;
    size_t at;
    struct strbuf *out;
    struct regex_traits traits;
    bool dot_is_all; /* the flag s was seen: PCRE2 knows its scope */
};

/* The long names of the general categories, which PCRE2 does not know. */
static const struct {
    const char *name, *category;
} categories[] = {
    {"Letter", "L"},
    {"Cased_Letter", "L&"},
    {"LC", "L&"},
    {"Uppercase_Letter", "Lu"},
    {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Combining_Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Other", "C"},
    {"Control", "Cc"},
    {"cntrl", "Cc"},
    {"Format", "Cf"},
    {"Surrogate", "Cs"},
    {"Private_Use", "Co"},
    {"Unassigned", "Cn"},
};

static bool at_end(const struct regex_translator *t)
{
    return t->at >= t->in.n;
}

/* NUL also means the end; a NUL in the pattern is an ordinary character. */
static char peek(const struct regex_translator *t, size_t ahead)
{
    return t->at + ahead < t->in.n ? t->in.p[t->at + ahead] : 0;
}

static bool skip_over(struct regex_translator *t, const char *text)
{
    if (!str_starts(str_skip(t->in, t->at), str_of(text)))
        return false;
    t->at += strlen(text);
    return true;
}

/* Exactly n hexadecimal digits. */
static bool read_hex(struct regex_translator *t, unsigned n, uint32_t *ret_value)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < n; i++) {
        int digit = ascii_hex_value(peek(t, i));

        if (digit < 0)
            return false;
        value = value * 16 + (uint32_t)digit;
    }
    t->at += n;
    *ret_value = value;
    return true;
}

/* --- escapes --- */

static void add_char(struct strbuf *out, uint32_t c)
{
    if (c < 0x80 && (ascii_is_alpha((char)c) || ascii_is_digit((char)c)))
        strbuf_add_char(out, (char)c);
    else
        strbuf_addf(out, "\\x{%x}", (unsigned)c);
}

/* \u0041, \u{1f432}, or a surrogate pair. The 'u' has been read. */
static struct err *read_unicode(struct regex_translator *t, uint32_t *ret_char)
{
    size_t start;
    uint32_t low;

    if (skip_over(t, "{")) {
        uint32_t value = 0;

        for (start = t->at; ascii_hex_value(peek(t, 0)) >= 0 && value <= 0x10FFFF; t->at++)
            value = value * 16 + (uint32_t)ascii_hex_value(peek(t, 0));
        if (t->at == start || value > 0x10FFFF || !skip_over(t, "}"))
            return err_new(ERR_VALIDATION, "\\u{...} is not a code point");
        *ret_char = value;
        return NULL;
    }
    if (!read_hex(t, 4, ret_char))
        return err_new(ERR_VALIDATION, "\\u is not followed by four hexadecimal digits");
    start = t->at;
    if (*ret_char >= 0xD800 && *ret_char < 0xDC00 && skip_over(t, "\\u")) {
        if (read_hex(t, 4, &low) && low >= 0xDC00 && low < 0xE000)
            *ret_char = 0x10000 + ((*ret_char - 0xD800) << 10) + (low - 0xDC00);
        else
            t->at = start;
    }
    return NULL;
}

/* Escapes for one character, in a class or outside; *ret_known says if it was one. The backslash
 * has been read. */
static struct err *read_char_escape(struct regex_translator *t, uint32_t *ret_char, bool *ret_known)
{
    static const char from[] = "tnrfv", to[] = "\t\n\r\f\v";
    char c = peek(t, 0);
    const char *simple = c ? strchr(from, c) : NULL;
    unsigned n;

    *ret_known = true;
    if (simple) {
        t->at++;
        *ret_char = (uint32_t)to[simple - from];
        return NULL;
    }
    if (skip_over(t, "u"))
        return read_unicode(t, ret_char);
    if (skip_over(t, "x"))
        return read_hex(t, 2, ret_char)
                   ? NULL
                   : err_new(ERR_VALIDATION, "\\x is not followed by two hexadecimal digits");
    if (c == 'c' && ascii_is_alpha(peek(t, 1))) {
        *ret_char = (uint32_t)peek(t, 1) & 0x1F;
        t->at += 2;
        return NULL;
    }
    if (c == '0' && !ascii_is_digit(peek(t, 1))) {
        t->at++;
        *ret_char = 0;
        return NULL;
    }
    n = utf8_decode(str_skip(t->in, t->at), ret_char);
    *ret_known = n && !ascii_is_alpha(c) && !ascii_is_digit(c);
    if (*ret_known) /* \. \- \/ and the like mean themselves */
        t->at += n;
    return NULL;
}

static struct err *unknown_escape(const struct regex_translator *t)
{
    if (at_end(t))
        return err_new(ERR_VALIDATION, "it ends with a backslash");
    return err_new(ERR_VALIDATION, "\\%c, at offset %zu, means nothing in ECMA-262", peek(t, 0),
                   t->at - 1);
}

/* \p{Letter}, \P{Script=Greek}. Appends PCRE2's form. */
static struct err *add_property(struct regex_translator *t)
{
    char letter = peek(t, 0);
    struct str name = str_skip(t->in, t->at + 2);
    size_t end = 0;

    while (end < name.n && (ascii_is_alpha(name.p[end]) || ascii_is_digit(name.p[end]) ||
                            name.p[end] == '_' || name.p[end] == '='))
        end++;
    if (peek(t, 1) != '{' || end == 0 || end >= name.n || name.p[end] != '}')
        return err_new(ERR_VALIDATION, "\\%c is not followed by {the name of a property}", letter);
    name.n = end;
    t->at += 3 + end;

    if (str_starts(name, S("General_Category=")))
        name = str_skip(name, 17);
    else if (str_starts(name, S("gc=")))
        name = str_skip(name, 3);
    for (size_t i = 0; i < ARRAY_LEN(categories); i++)
        if (str_is(name, categories[i].name))
            name = str_of(categories[i].category);
    strbuf_addf(t->out, "\\%c{%" STR_FMT "}", letter, STR_ARG(name));
    return NULL;
}

/* \1, \12, \k<name>. The backslash has been read. */
static struct err *add_backreference(struct regex_translator *t)
{
    t->traits.has_backreference = true;
    if (skip_over(t, "k")) {
        if (peek(t, 0) != '<')
            return err_new(ERR_VALIDATION, "\\k is not followed by <the name of a group>");
        strbuf_add(t->out, S("\\k"));
        return NULL; /* the name is copied like any text */
    }
    strbuf_add(t->out, S("\\g{"));
    for (; ascii_is_digit(peek(t, 0)); t->at++)
        strbuf_add_char(t->out, peek(t, 0));
    strbuf_add_char(t->out, '}');
    return NULL;
}

static struct err *add_escape(struct regex_translator *t)
{
    char c = peek(t, 1);
    bool known;
    uint32_t value;

    t->at++;
    switch (c) {
    case 'd':
    case 'D':
    case 'w':
    case 'W':
    case 'b':
    case 'B':
    case 'A':
        t->at++;
        strbuf_addf(t->out, "\\%c", c);
        return NULL;
    case 'Z': /* Python's: the very end */
    case 'z':
        t->at++;
        strbuf_add(t->out, S("\\z"));
        return NULL;
    case 's':
        t->at++;
        strbuf_add(t->out, S("[" SPACES "]"));
        return NULL;
    case 'S':
        t->at++;
        strbuf_add(t->out, S("[^" SPACES "]"));
        return NULL;
    case 'p':
    case 'P':
        return add_property(t);
    case 'k':
        return add_backreference(t);
    }
    if (c >= '1' && c <= '9')
        return add_backreference(t);
    TRY(read_char_escape(t, &value, &known));
    if (!known)
        return unknown_escape(t);
    add_char(t->out, value);
    return NULL;
}

/* --- classes --- */

/* Is an escape for several characters `ahead`? */
static bool is_set_escape(const struct regex_translator *t, size_t ahead)
{
    char c = peek(t, ahead + 1);

    return peek(t, ahead) == '\\' && c && strchr("dDwWsSpP", c);
}

static struct err *add_class_set(struct regex_translator *t)
{
    char c = peek(t, 1);

    t->at++;
    if (c == 'p' || c == 'P')
        return add_property(t);
    t->at++;
    if (c == 's' || c == 'S')
        strbuf_add_cstr(t->out, c == 's' ? SPACES : NO_SPACES);
    else
        strbuf_addf(t->out, "\\%c", c);
    return NULL;
}

static struct err *add_class_char(struct regex_translator *t)
{
    uint32_t value;
    bool known;

    if (skip_over(t, "\\b")) {
        strbuf_add(t->out, S("\\x08"));
        return NULL;
    }
    if (skip_over(t, "\\")) {
        TRY(read_char_escape(t, &value, &known));
        if (!known)
            return unknown_escape(t);
    } else {
        t->at += utf8_decode(str_skip(t->in, t->at), &value);
    }
    add_char(t->out, value);
    return NULL;
}

/* "x", "a-z", "\w" or "\w-": beside a set the hyphen is a character, as in browsers. */
static struct err *add_class_member(struct regex_translator *t)
{
    bool is_set = is_set_escape(t, 0);

    TRY(is_set ? add_class_set(t) : add_class_char(t));
    if (peek(t, 0) != '-' || peek(t, 1) == ']')
        return NULL;
    t->at++;
    if (is_set || is_set_escape(t, 0)) {
        strbuf_add(t->out, S("\\-"));
        return NULL;
    }
    strbuf_add_char(t->out, '-');
    return at_end(t) ? NULL : add_class_char(t);
}

static struct err *add_class(struct regex_translator *t)
{
    if (skip_over(t, "[]")) {
        strbuf_add(t->out, S("(?!)"));
        return NULL;
    }
    if (skip_over(t, "[^]")) {
        strbuf_add(t->out, S("(?s:.)"));
        return NULL;
    }
    t->at++;
    strbuf_add(t->out, skip_over(t, "^") ? S("[^") : S("["));
    while (!at_end(t) && peek(t, 0) != ']')
        TRY(add_class_member(t));
    if (at_end(t))
        return err_new(ERR_VALIDATION, "a [ is not closed");
    t->at++;
    strbuf_add_char(t->out, ']');
    return NULL;
}

/* --- groups and repeats --- */

/* The length of "(?i)" or "(?i-s:", or 0 for anything else. */
static size_t flags_length(const struct regex_translator *t)
{
    size_t n = 2;

    if (peek(t, 1) != '?')
        return 0;
    while (peek(t, n) && strchr("ims-", peek(t, n)))
        n++;
    return n > 2 && (peek(t, n) == ')' || peek(t, n) == ':') ? n + 1 : 0;
}

static struct err *add_group(struct regex_translator *t)
{
    static const char *const openings[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<", "(?P<"};
    size_t n = flags_length(t);

    if (n) {
        struct str flags = str_slice(t->in, t->at, n);

        t->dot_is_all |= str_find_char(flags, 's') != STR_NONE;
        strbuf_add(t->out, flags);
        t->at += n;
        return NULL;
    }
    for (size_t i = 0; i < ARRAY_LEN(openings); i++)
        if (skip_over(t, openings[i])) {
            strbuf_add_cstr(t->out, openings[i]);
            return NULL;
        }
    if (peek(t, 1) == '?' || peek(t, 1) == '*')
        return err_new(ERR_VALIDATION, "it has a group (%c, which ECMA-262 does not have",
                       peek(t, 1));
    t->at++;
    strbuf_add_char(t->out, '(');
    return NULL;
}

/* "{2}", "{2,}" or "{2,5}"; any other brace is a character. */
static void add_brace(struct regex_translator *t)
{
    uint64_t numbers[2] = {0};
    size_t n = 1, part = 0;

    for (; ascii_is_digit(peek(t, n)) || (peek(t, n) == ',' && part == 0 && n > 1); n++) {
        if (peek(t, n) == ',')
            part = 1;
        else
            numbers[part] = MIN(numbers[part] * 10 + (uint64_t)(peek(t, n) - '0'), UINT16_MAX);
    }
    if (peek(t, n) != '}' || n == 1) {
        strbuf_add(t->out, S("\\{"));
        t->at++;
        return;
    }
    t->traits.longest_repeat = MAX(t->traits.longest_repeat, MAX(numbers[0], numbers[1]));
    strbuf_add(t->out, str_slice(t->in, t->at, n + 1));
    t->at += n + 1;
}

static struct err *add_item(struct regex_translator *t)
{
    char c = peek(t, 0);

    switch (c) {
    case '\\':
        return add_escape(t);
    case '[':
        return add_class(t);
    case '(':
        return add_group(t);
    case '{':
        add_brace(t);
        return NULL;
    case '.':
        strbuf_add_cstr(t->out, t->dot_is_all ? "." : DOT);
        break;
    case ']':
    case '}':
        strbuf_addf(t->out, "\\%c", c);
        break;
    default:
        strbuf_add_char(t->out, c);
        break;
    }
    t->at++;
    return NULL;
}

struct err *schema_regex_translate(struct str source, struct strbuf *out,
                                   struct regex_traits *ret_traits)
{
    struct regex_translator t = {.in = source, .out = out};

    if (!utf8_is_valid(source))
        return err_new(ERR_VALIDATION, "it is not UTF-8");
    /* A search may start anywhere: leading ".*" adds nothing but quadratic time. */
    if (skip_over(&t, ".*"))
        (void)skip_over(&t, "?");
    while (!at_end(&t))
        TRY(add_item(&t));
    *ret_traits = t.traits;
    return NULL;
}
