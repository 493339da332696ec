/* glob_compile.c - parses a pattern and writes its program.
 *
 * Plain text at the start and at the end of a pattern is not part of the program: comparing it
 * decides most matches at once. */
#include "base/glob_program.h"
#include "base/utf8.h"

#define NONE UINT16_MAX

/* An open brace. Every alternative starts with a fork to the next one and ends with a jump to the
 * closing brace. Until that comes, the targets of the jumps link them. */
struct brace {
    size_t at;     /* in the pattern */
    uint16_t fork; /* of the alternative that is being read */
    uint16_t last_fork, last_jump;
    bool at_component;
};

struct glob_parser {
    struct glob *g;
    struct str pattern, rest;
    size_t first_special; /* see find_special() */
    bool is_plain;        /* nothing but plain text so far */
    bool at_component;    /* a name of a file or directory may start here */
    size_t n_ranges;
    size_t n_tail_ops; /* the last ones, which are the same as the tail */
    size_t depth;
    struct brace braces[GLOB_MAX_DEPTH];
};

static bool has_flag(const struct glob_parser *p, int flag)
{
    return p->g->flags & flag;
}

static size_t offset(const struct glob_parser *p)
{
    return p->pattern.n - p->rest.n;
}

/* The next byte, or 0. */
static char peek(const struct glob_parser *p)
{
    return p->rest.n ? p->rest.p[0] : 0;
}

static struct err *invalid(const struct glob_parser *p, size_t at, const char *what,
                           const char *hint)
{
    struct str shown = utf8_truncate(p->pattern, 200);

    return err_hint(err_new(ERR_VALIDATION, "the glob pattern \"%" STR_FMT "\": %s at byte %zu",
                            STR_ARG(shown), what, at + 1),
                    "%s", hint);
}

static uint16_t emit(struct glob_parser *p, enum glob_op_kind kind, uint32_t c)
{
    BUG_IF(p->g->n_ops == GLOB_MAX_OPS);
    p->g->ops[p->g->n_ops] = (struct glob_op){.kind = (uint8_t)kind, .c = c};
    return (uint16_t)p->g->n_ops++;
}

/* The rest matches more than one text: the head is over, and a tail may only begin later. */
static void end_text(struct glob_parser *p)
{
    p->is_plain = false;
    p->at_component = false;
    p->n_tail_ops = 0;
    p->g->n_tail = 0;
}

static void emit_wild(struct glob_parser *p, enum glob_op_kind kind, bool takes_slash)
{
    uint16_t at;

    end_text(p);
    at = emit(p, kind, 0);
    p->g->ops[at].takes_slash = takes_slash;
}

/* The next character of the pattern stands for itself. */
static void add_char(struct glob_parser *p)
{
    struct glob *g = p->g;
    struct str bytes = p->rest;
    uint32_t c = glob_take_char(&p->rest, g->flags);

    if (c >= GLOB_BAD_BYTE) { /* in a path it may be part of a character: no use as plain text */
        end_text(p);
        emit(p, OP_CHAR, c);
        return;
    }
    bytes.n -= p->rest.n;
    memcpy(g->text + g->n_head + g->n_tail, bytes.p, bytes.n);
    if (p->is_plain) {
        g->n_head += bytes.n;
    } else {
        g->n_tail += bytes.n;
        p->n_tail_ops++;
        emit(p, OP_CHAR, has_flag(p, GLOB_NOCASE) ? glob_fold(c) : c);
    }
    p->at_component = c == '/';
}

/* --- stars --- */

/* Any number of whole directories, including none. */
static void emit_directories(struct glob_parser *p)
{
    uint16_t fork;

    end_text(p);
    fork = emit(p, OP_FORK, 0);
    emit_wild(p, OP_RUN, /* takes_slash= */ true);
    emit(p, OP_CHAR, '/');
    p->g->ops[fork].to = (uint16_t)p->g->n_ops;
    p->at_component = true;
}

static bool at_end(const struct glob_parser *p)
{
    return p->rest.n == 0 || (p->depth && (peek(p) == ',' || peek(p) == '}'));
}

static void parse_stars(struct glob_parser *p)
{
    bool is_git = has_flag(p, GLOB_GIT);
    bool at_component = p->at_component || (is_git && offset(p) == p->first_special);
    size_t n = 0;
    bool is_double;

    while (n < p->rest.n && p->rest.p[n] == '*')
        n++;
    p->rest = str_skip(p->rest, n);
    is_double = at_component && (n == 2 || (n > 2 && is_git));

    if (is_double && peek(p) == '/') {
        p->rest = str_skip(p->rest, 1);
        emit_directories(p);
    } else if (is_double && (at_end(p) || (is_git && str_starts(p->rest, S("\\/"))))) {
        emit_wild(p, OP_RUN, /* takes_slash= */ true);
    } else {
        emit_wild(p, OP_RUN, !has_flag(p, GLOB_LITERAL_SEPARATOR));
    }
}

/* --- classes --- */

static const struct {
    const char *name;
    const char *ranges; /* pairs of the first and the last character */
} named_classes[] = {
    {"alnum", "09AZaz"},   {"alpha", "AZaz"},   {"blank", "\t\t  "}, {"cntrl", "\1\37\177\177"},
    {"digit", "09"},       {"graph", "!~"},     {"lower", "az"},     {"print", " ~"},
    {"punct", "!/:@[`{~"}, {"space", "\t\r  "}, {"upper", "AZ"},     {"xdigit", "09AFaf"},
};

static void add_range(struct glob_parser *p, uint32_t low, uint32_t high)
{
    p->g->ranges[p->n_ranges++] = (struct glob_range){low, high};
}

/* Reads [:alpha:] inside a class, or nothing if the text only looks like the start of it. */
static struct err *parse_class_name(struct glob_parser *p)
{
    size_t end = str_find_char(p->rest, ']');
    struct str name;

    if (end == STR_NONE || end < 3 || p->rest.p[end - 1] != ':')
        return NULL;
    name = str_slice(p->rest, 2, end - 3);
    for (size_t i = 0; i < ARRAY_LEN(named_classes); i++) {
        if (!str_is(name, named_classes[i].name))
            continue;
        for (const char *r = named_classes[i].ranges; *r; r += 2)
            add_range(p, (unsigned char)r[0], (unsigned char)r[1]);
        p->rest = str_skip(p->rest, end + 1);
        return NULL;
    }
    return invalid(p, offset(p), "unknown character class", "use one such as [:alpha:]");
}

/* A character that a class names; only git knows escapes there. */
static uint32_t take_member(struct glob_parser *p)
{
    if (has_flag(p, GLOB_GIT) && peek(p) == '\\' && p->rest.n > 1)
        p->rest = str_skip(p->rest, 1);
    return glob_take_char(&p->rest, p->g->flags);
}

/* One character of a class, or a range of them. */
static struct err *parse_member(struct glob_parser *p)
{
    size_t start = offset(p);
    uint32_t low = take_member(p), high = low;

    if (p->rest.n > 1 && p->rest.p[0] == '-' && p->rest.p[1] != ']') {
        p->rest = str_skip(p->rest, 1);
        high = take_member(p);
    }
    if (high < low) {
        if (!has_flag(p, GLOB_GIT))
            return invalid(p, start, "the range ends before it starts",
                           "put the lower character first, as in [a-z]");
        high = low; /* git takes the first character alone */
    }
    add_range(p, low, high);
    return NULL;
}

static struct err *parse_class(struct glob_parser *p)
{
    size_t start = offset(p), first_range = p->n_ranges, first_member;
    bool is_git = has_flag(p, GLOB_GIT), is_negated;
    struct glob_op *op;

    p->rest = str_skip(p->rest, 1);
    is_negated = peek(p) == '!' || peek(p) == '^';
    p->rest = str_skip(p->rest, is_negated);
    first_member = offset(p);

    while (p->rest.n && (peek(p) != ']' || offset(p) == first_member)) {
        size_t before = offset(p);

        if (is_git && str_starts(p->rest, S("[:")))
            TRY(parse_class_name(p));
        if (offset(p) == before)
            TRY(parse_member(p));
    }
    if (p->rest.n == 0)
        return invalid(p, start, "the '[' is not closed", "write [[] for a plain '['");
    p->rest = str_skip(p->rest, 1);

    emit_wild(p, is_negated ? OP_NOT_CLASS : OP_CLASS,
              !is_git && !(is_negated && has_flag(p, GLOB_LITERAL_SEPARATOR)));
    op = &p->g->ops[p->g->n_ops - 1];
    op->to = (uint16_t)first_range;
    op->c = (uint32_t)(p->n_ranges - first_range);
    return NULL;
}

/* --- braces --- */

static void begin_alternative(struct glob_parser *p, struct brace *b)
{
    end_text(p);
    p->at_component = b->at_component;
    b->fork = emit(p, OP_FORK, 0);
}

static void end_alternative(struct glob_parser *p, struct brace *b)
{
    struct glob_op *ops = p->g->ops;
    uint16_t jump;

    if (p->g->n_ops == b->fork + 1u && !has_flag(p, GLOB_EMPTY_ALTERNATES)) {
        p->g->n_ops = b->fork; /* an empty one does not count */
        return;
    }
    jump = emit(p, OP_JUMP, 0);
    ops[jump].to = b->last_jump;
    ops[b->fork].to = b->fork + 1; /* nowhere else, unless another alternative comes */
    if (b->last_fork != NONE)
        ops[b->last_fork].to = b->fork;
    b->last_fork = b->fork;
    b->last_jump = jump;
}

static struct err *open_brace(struct glob_parser *p)
{
    struct brace *b = &p->braces[p->depth];

    if (p->depth == GLOB_MAX_DEPTH)
        return invalid(p, offset(p), "the braces are nested too deep", "write fewer levels");
    *b = (struct brace){
        .at = offset(p), .last_fork = NONE, .last_jump = NONE, .at_component = p->at_component};
    p->depth++;
    begin_alternative(p, b);
    return NULL;
}

static struct err *close_brace(struct glob_parser *p)
{
    struct brace *b;
    uint16_t jump, next;

    if (p->depth == 0)
        return invalid(p, offset(p), "the '}' has no matching '{'", "write \\} for a plain '}'");
    b = &p->braces[--p->depth];
    end_alternative(p, b);
    for (jump = b->last_jump; jump != NONE; jump = next) {
        next = p->g->ops[jump].to;
        p->g->ops[jump].to = (uint16_t)p->g->n_ops;
    }
    end_text(p);
    return NULL;
}

/* Reads one of { } , with its meaning. */
static struct err *parse_brace(struct glob_parser *p)
{
    char c = peek(p);

    if (c == '{') {
        TRY(open_brace(p));
    } else if (c == '}') {
        TRY(close_brace(p));
    } else {
        end_alternative(p, &p->braces[p->depth - 1]);
        begin_alternative(p, &p->braces[p->depth - 1]);
    }
    p->rest = str_skip(p->rest, 1);
    return NULL;
}

/* --- the pattern --- */

static bool is_brace(const struct glob_parser *p, char c)
{
    if (has_flag(p, GLOB_NO_BRACES | GLOB_GIT))
        return false;
    return c == '{' || c == '}' || (c == ',' && p->depth);
}

static struct err *parse_next(struct glob_parser *p)
{
    char c = peek(p);

    if (c == '*') {
        parse_stars(p);
    } else if (c == '?') {
        emit_wild(p, OP_ONE, !has_flag(p, GLOB_LITERAL_SEPARATOR));
        p->rest = str_skip(p->rest, 1);
    } else if (c == '[') {
        return parse_class(p);
    } else if (is_brace(p, c)) {
        return parse_brace(p);
    } else if (c == '\\' && !has_flag(p, GLOB_NO_ESCAPE)) {
        if (p->rest.n == 1)
            return invalid(p, offset(p), "nothing follows the backslash",
                           "write two backslashes for a plain one");
        p->rest = str_skip(p->rest, 1);
        add_char(p);
        return NULL;
    } else {
        add_char(p);
    }
    return NULL;
}

static struct err *parse(struct glob_parser *p)
{
    while (p->rest.n)
        TRY(parse_next(p));
    if (p->depth)
        return invalid(p, p->braces[p->depth - 1].at, "the '{' is not closed",
                       "write \\{ for a plain '{'");
    p->g->n_ops -= p->n_tail_ops; /* the tail is compared as text */
    emit(p, OP_END, 0);
    return NULL;
}

/* `**` followed by a slash means directories; alone it means everything. */
static bool is_everything(struct str pattern)
{
    struct str rest = pattern;

    while (str_starts(rest, S("**/")))
        rest = str_skip(rest, 3);
    return pattern.n && rest.n == 0;
}

/* git compares the plain text before this byte separately and starts to match after it. */
static size_t find_special(struct str pattern)
{
    size_t n = 0;

    while (n < pattern.n && !memchr("*?[\\", pattern.p[n], 4))
        n++;
    return n;
}

struct err *glob_compile(struct str pattern, int flags, struct glob **ret_glob)
{
    AUTO(glob) struct glob *g = NULL;
    struct glob_parser p;

    if (pattern.n > GLOB_MAX_PATTERN)
        return err_hint(
            err_new(ERR_VALIDATION, "a glob pattern of %zu bytes is too long", pattern.n),
            "the limit is %d bytes", GLOB_MAX_PATTERN);
    if (!(flags & GLOB_GIT) && is_everything(pattern))
        pattern = S("**");
    if (flags & GLOB_GIT)
        flags |= GLOB_LITERAL_SEPARATOR;

    g = mem_alloc(sizeof *g);
    g->flags = flags;
    g->text = mem_alloc(pattern.n);
    g->ops = mem_alloc((2 * pattern.n + 1) * sizeof *g->ops);
    g->ranges = mem_alloc(pattern.n * sizeof *g->ranges);
    p = (struct glob_parser){.g = g,
                             .pattern = pattern,
                             .rest = pattern,
                             .is_plain = true,
                             .at_component = true,
                             .first_special = find_special(pattern)};
    TRY(parse(&p));
    g->ops = mem_resize(g->ops, g->n_ops * sizeof *g->ops);
    g->ranges = mem_resize(g->ranges, p.n_ranges * sizeof *g->ranges);
    *ret_glob = TAKE(g);
    return NULL;
}
