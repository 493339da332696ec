/* here.c - finds the end of here-documents, and what is expanded in them. */
#include "gate/shell/parser.h"

/* Quotes are removed and nothing is expanded. */
static struct str delimiter_text(struct parser *p, bool *ret_is_quoted)
{
    AUTO(strbuf) struct strbuf text = {0};

    *ret_is_quoted = false;
    while (!parser_is_at_end(p) && !shell_is_meta(parser_char(p, 0))) {
        char c = parser_char(p, 0);

        p->at++;
        if (c == '\'' || c == '"') {
            *ret_is_quoted = true;
            for (; !parser_is_at_end(p) && parser_char(p, 0) != c; p->at++) {
                if (parser_char(p, 0) == '\\' || parser_char(p, 0) == '\n')
                    splitter_doubt(p->out);
                strbuf_add_char(&text, parser_char(p, 0));
            }
            if (parser_is_at_end(p))
                splitter_doubt(p->out);
            p->at = MIN(p->at + 1, p->src.n);
        } else if (c == '\\') {
            *ret_is_quoted = true;
            if (parser_is_at_end(p) || parser_char(p, 0) == '\n')
                splitter_doubt(p->out);
            else
                strbuf_add_char(&text, p->src.p[p->at++]);
        } else {
            if (c == '$' || c == '`')
                splitter_doubt(p->out);
            strbuf_add_char(&text, c);
        }
    }
    return arena_str(p->out->arena, strbuf_str(&text));
}

void parser_here_delimiter(struct parser *p)
{
    struct here_document here = {0};

    if (parser_char(p, 0) == '-') {
        here.strips_tabs = true;
        p->at++;
    }
    parser_skip_blanks(p);
    here.delimiter = delimiter_text(p, &here.is_quoted);
    if ((here.delimiter.n == 0 && !here.is_quoted) || p->n_pending == SHELL_MAX_HERE_DOCUMENTS) {
        splitter_doubt(p->out);
        return;
    }
    p->pending[p->n_pending++] = here;
}

/* --- bodies --- */

static bool ends_in_join(struct str line)
{
    size_t n = 0;

    while (n < line.n && line.p[line.n - 1 - n] == '\\')
        n++;
    return n % 2 == 1;
}

static void expand_body(struct parser *outer, struct str body)
{
    struct word_builder b = {.is_cut = true};
    struct parser p = {.out = outer->out, .src = body};

    if (!splitter_enter(p.out))
        return;
    while (!parser_is_at_end(&p)) {
        char c = parser_char(&p, 0);

        if (c == '\\')
            p.at = MIN(p.at + 2, p.src.n);
        else if (c == '$')
            parser_dollar(&p, &b, IN_HERE_DOCUMENT);
        else if (c == '`')
            parser_backquoted(&p, IN_HERE_DOCUMENT);
        else
            p.at++;
    }
    splitter_leave(p.out);
}

static struct str without_tabs(struct str line)
{
    while (line.n && line.p[0] == '\t')
        line = str_skip(line, 1);
    return line;
}

static struct str take_line(struct parser *p)
{
    struct str rest = str_skip(p->src, p->at);
    size_t n = str_find_char(rest, '\n');

    n = n == STR_NONE ? rest.n : n;
    p->at = MIN(p->at + n + 1, p->src.n);
    return str_slice(rest, 0, n);
}

/* Bash reads joined lines as one line, which may be the delimiter. */
static void judge_line(struct parser *p, const struct here_document *here, struct str line)
{
    bool may_be_joined = !here->is_quoted && ends_in_join(line) &&
                         str_starts(here->delimiter, str_slice(line, 0, line.n - 1));
    bool may_end_early = p->n_nested && str_starts(line, here->delimiter);

    if (may_be_joined || may_end_early)
        splitter_doubt(p->out);
}

static void read_body(struct parser *p, const struct here_document *here)
{
    size_t start = p->at, end = start;
    bool is_joined = false, is_ended = false;

    while (!parser_is_at_end(p) && !is_ended) {
        struct str line;

        end = p->at;
        line = take_line(p);
        if (here->strips_tabs)
            line = without_tabs(line);
        if (str_eq(line, here->delimiter) && !is_joined) {
            is_ended = true;
            break;
        }
        judge_line(p, here, line);
        is_joined = !here->is_quoted && ends_in_join(line);
    }
    if (!is_ended) {
        splitter_doubt(p->out); /* bash takes all the rest for it, and warns */
        end = p->at;
    }
    if (!here->is_quoted)
        expand_body(p, str_slice(p->src, start, end - start));
}

void parser_here_bodies(struct parser *p)
{
    for (size_t i = 0; i < p->n_pending; i++)
        read_body(p, &p->pending[i]);
    p->n_pending = 0;
}
