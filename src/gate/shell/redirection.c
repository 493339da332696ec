/* redirection.c - ">", "<" and the like: the files that they open. */
#include "gate/shell/parser.h"

/* The longest first. */
static const struct sign {
    struct str text;
    bool writes, may_duplicate, is_here_document, is_here_string;
} signs[] = {
    {.text = S("&>>"), .writes = true},
    {.text = S("<<<"), .is_here_string = true},
    {.text = S("&>"), .writes = true},
    {.text = S(">>"), .writes = true},
    {.text = S(">|"), .writes = true},
    {.text = S(">&"), .writes = true, .may_duplicate = true},
    {.text = S("<<"), .is_here_document = true},
    {.text = S("<>"), .writes = true},
    {.text = S("<&"), .may_duplicate = true},
    {.text = S(">"), .writes = true},
    {.text = S("<")},
};

static const struct sign *take_sign(struct parser *p)
{
    struct str rest = str_skip(p->src, p->at);

    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (str_starts(rest, signs[i].text)) {
            p->at += signs[i].text.n;
            return &signs[i];
        }
    return NULL;
}

/* "2", "-", "2-". */
static bool is_descriptor(struct str text)
{
    if (str_ends(text, S("-")))
        text.n--;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
    return true;
}

/* Bash opens sockets for these. */
static bool is_network(struct str path)
{
    return str_starts(path, S("/dev/tcp/")) || str_starts(path, S("/dev/udp/"));
}

static void add(struct splitter *s, const struct shell_word *target, bool writes)
{
    struct shell_split *split = s->split;

    if (split->n_redirections == SHELL_MAX_COMMANDS) {
        splitter_doubt(s);
        return;
    }
    split->redirections = arena_grow(s->arena, split->redirections, split->n_redirections,
                                     &s->redirections_room, sizeof *split->redirections);
    split->redirections[split->n_redirections++] = (struct shell_redirection){
        .target = *target, .writes = writes, .is_inner = s->is_inner, .is_moved = s->is_moved};
}

void parser_redirection(struct parser *p)
{
    const struct sign *sign = take_sign(p);
    struct shell_word target;
    char c;

    if (!sign || parser_is_at_join(p)) {
        splitter_doubt(p->out);
        p->at = MIN(p->at + !sign, p->src.n);
        return;
    }
    if (sign->is_here_document) {
        parser_here_delimiter(p);
        return;
    }
    parser_skip_blanks(p);
    c = parser_char(p, 0);
    if (parser_is_at_end(p) ||
        (shell_is_meta(c) && !((c == '<' || c == '>') && parser_char(p, 1) == '('))) {
        splitter_doubt(p->out);
        return;
    }
    target = parser_word(p, /* may_assign= */ false);
    if (sign->is_here_string || (sign->may_duplicate && is_descriptor(target.text)))
        return;
    /* A process substitution is not a file. */
    if (str_starts(target.source, S("<(")) || str_starts(target.source, S(">(")))
        return;
    if (is_network(target.text))
        splitter_doubt(p->out);
    add(p->out, &target, sign->writes);
}
