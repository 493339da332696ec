/* parser.h - what the parts of the splitter share. */
#ifndef KEEL_GATE_SHELL_PARSER_H
#define KEEL_GATE_SHELL_PARSER_H

#include "base/strbuf.h"
#include "gate/shell/split.h"

/* What comes out, from the line and from all code found in it. */
struct splitter {
    struct arena *arena;
    struct shell_split *split;
    size_t commands_room, redirections_room;
    unsigned depth;
    bool is_inner;       /* what is read now was found by looking through a wrapper */
    bool is_moved;       /* a `cd` was seen */
    bool holds_code;     /* some text has a substitution in it that was quoted */
    bool evaluates_text; /* and somewhere values of variables are evaluated again */
    /* What bash computes, as a number or as the name of an element, runs the substitutions in it.
     * So nothing is sure where a text is computed that may hold any: */
    bool computes;
    bool takes_text;  /* one that comes to be while the line runs: output, input, names of files */
    bool holds_signs; /* or a quoted one with half a substitution */
    /* A variable may get a value that sets another when it is computed. */
    bool holds_operators;
};

#define SHELL_MAX_HERE_DOCUMENTS 16

struct here_document {
    struct str delimiter;
    bool is_quoted, strips_tabs;
};

/* One text that is read: the line, a backquoted command, the body of a here-document. */
struct parser {
    struct splitter *out;
    struct str src;
    size_t at;
    bool is_piped;     /* the command that starts here reads from the one before */
    unsigned n_nested; /* substitutions that are open in this text */
    struct here_document pending[SHELL_MAX_HERE_DOCUMENTS];
    size_t n_pending; /* their bodies start after the next newline */
};

enum until { UNTIL_END, UNTIL_PAREN, UNTIL_ITEM_END /* of a case; not consumed */ };

static inline char parser_char(const struct parser *p, size_t ahead)
{
    return p->at + ahead < p->src.n ? p->src.p[p->at + ahead] : '\0';
}

static inline bool parser_is_at_end(const struct parser *p)
{
    return p->at >= p->src.n;
}

static inline bool parser_is_at_join(const struct parser *p)
{
    return parser_char(p, 0) == '\\' && parser_char(p, 1) == '\n';
}

static inline void splitter_doubt(struct splitter *s)
{
    s->split->is_sure = false;
}

/* Passes over a sign. Bash joins lines first, so the next line may add to it. */
static inline void parser_take(struct parser *p)
{
    p->at++;
    if (parser_is_at_join(p))
        splitter_doubt(p->out);
}

static inline bool shell_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Ends a word. */
static inline bool shell_is_meta(char c)
{
    return shell_is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' ||
           c == ')' || c == '<' || c == '>';
}

static inline bool shell_is_name_char(char c, bool is_first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!is_first && c >= '0' && c <= '9');
}

/* False, and doubt: too deep, or enough. Every true one is followed by a leave. */
static inline bool splitter_enter(struct splitter *s)
{
    if (s->depth >= SHELL_MAX_DEPTH || s->split->n_commands >= SHELL_MAX_COMMANDS) {
        splitter_doubt(s);
        return false;
    }
    s->depth++;
    return true;
}

static inline void splitter_leave(struct splitter *s)
{
    s->depth--;
}

/* --- parse.c --- */

void parser_commands(struct parser *p, enum until until);
/* A text of its own, such as the argument of eval. */
void splitter_read(struct splitter *s, struct str code);
/* After blanks, joined lines and comments. */
void parser_skip_blanks(struct parser *p);

/* --- word.c --- */

/* What programs look at in their environment is written in capitals, but for proxies. */
bool shell_is_harmless_name(struct str name);

/* A word that is being read. */
struct word_builder {
    struct strbuf text;
    bool is_unknown, may_hold_slash;
    bool is_cut;      /* what follows is not told apart from what is expanded */
    bool holds_signs; /* "$" or "`", in quotes */
};

/* Reads one word; at least one character that is no blank must be there. With `may_assign` a name
 * may be followed by a subscript with blanks in it, or by a list in parentheses. */
struct shell_word parser_word(struct parser *p, bool may_assign);
void builder_add(struct word_builder *b, char c);
void builder_add_anything(struct word_builder *b);
/* The word is read: for the line as a whole. */
void splitter_note(struct splitter *s, const struct word_builder *b);
/* The length of NAME, NAME[x] with = or += after it, up to and with the "="; 0: no assignment. */
size_t shell_assignment_head(struct str word);

/* --- quote.c --- */

/* After the opening quote, to after the closing one. */
void parser_single_quoted(struct parser *p, struct word_builder *b);
void parser_double_quoted(struct parser *p, struct word_builder *b);
void parser_ansi_quoted(struct parser *p, struct word_builder *b);

/* --- expansion.c --- */

enum quoting { NOT_QUOTED, IN_DOUBLE_QUOTES, IN_HERE_DOCUMENT };

/* At the "$", the "`", or the "((" of an arithmetic command. */
void parser_dollar(struct parser *p, struct word_builder *b, enum quoting quoting);
void parser_backquoted(struct parser *p, enum quoting quoting);
/* After the opening parentheses, to after the closing ones. */
void parser_arithmetic(struct parser *p);
/* After "(". */
void parser_substitution(struct parser *p);

/* --- computing.c --- */

/* Bash computes this. */
void splitter_note_computed(struct splitter *s, struct str text);
/* A variable may get this, as written and without quotes. */
void splitter_note_value(struct splitter *s, struct str source, struct str text);

/* --- here.c --- */

/* After "<<"; notes the document. */
void parser_here_delimiter(struct parser *p);
/* After a newline; reads the bodies of the noted ones. */
void parser_here_bodies(struct parser *p);

/* --- redirection.c --- */

/* At its sign. */
void parser_redirection(struct parser *p);

/* --- command.c --- */

/* Lists a command and those that it starts. */
void splitter_add(struct splitter *s, const struct shell_word *words, size_t n_words,
                  size_t n_assignments);
/* Lists one that may be anything. */
void splitter_add_anything(struct splitter *s);

/* --- starter.c --- */

/* Can the program of this name start any other, with these words, and does the line not tell
 * which? */
bool shell_starts_unseen(struct str name, const struct shell_word *words, size_t n);
/* Is it an assignment to a variable that others take the name of a program, or code, from? */
bool shell_names_program(struct str assignment);

/* --- wrapper.c --- */

/* Lists what the command starts: `env`, `sudo`, `xargs`, `sh -c`, `eval`... */
void splitter_look_through(struct splitter *s, const struct shell_word *words, size_t n);
bool shell_looks_through(struct str name); /* does it know the program? */

#endif
