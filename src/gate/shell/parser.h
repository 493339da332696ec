/* parser.h - the parts of the splitter. */
#ifndef KEEL_GATE_SHELL_PARSER_H
#define KEEL_GATE_SHELL_PARSER_H

#include "base/strbuf.h"
#include "gate/shell/split.h"

/* The result, from the line and from all code found in it. */
struct splitter {
    struct arena *arena;
    struct shell_split *split;
    size_t commands_room, redirections_room;
    unsigned depth;
    bool is_inner;       /* the current text was found in the arguments of a wrapper */
    bool is_moved;       /* a `cd` was seen */
    bool holds_code;     /* some text contains a quoted substitution */
    bool evaluates_text; /* and somewhere values of variables are evaluated again */
    /* Bash runs substitutions in text that it evaluates as a number or an index. So nothing is sure
     * where evaluated text may contain: */
    bool computes;
    bool takes_text;  /* text that comes to be while the line runs: output, input, file names */
    bool holds_signs; /* or a quoted half of a substitution */
    /* A variable may get a value that sets another variable when evaluated. */
    bool holds_operators;
};

#define SHELL_MAX_HERE_DOCUMENTS 16

struct here_document {
    struct str delimiter;
    bool is_quoted, strips_tabs;
};

/* One text being read: the line, a backquoted command, the body of a here-document. */
struct parser {
    struct splitter *out;
    struct str src;
    size_t at;
    bool is_piped;     /* the next command reads from the one before */
    unsigned n_nested; /* open substitutions in this text */
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

/* Skips an operator. Bash joins lines first, so the next line may extend it. */
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

/* False, with doubt: too deep, or too much. Leave after each true. */
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
/* Reads a separate text, such as the argument of eval. */
void splitter_read(struct splitter *s, struct str code);
/* Skips blanks, joined lines and comments. */
void parser_skip_blanks(struct parser *p);

/* --- word.c --- */

/* Variables that programs use have names in capitals, except for proxies. */
bool shell_is_harmless_name(struct str name);

/* A word being read. */
struct word_builder {
    struct strbuf text;
    bool is_unknown, may_hold_slash;
    bool is_cut;      /* what follows cannot be separated from the expansion */
    bool holds_signs; /* "$" or "`", in quotes */
};

/* Reads one word, which must have at least one character that is not a blank. With `may_assign` a
 * name may be followed by a subscript with blanks, or by a list in parentheses. */
struct shell_word parser_word(struct parser *p, bool may_assign);
void builder_add(struct word_builder *b, char c);
void builder_add_anything(struct word_builder *b);
/* Ends the word, and notes its effect on the whole line. */
void splitter_note(struct splitter *s, const struct word_builder *b);
/* The length of NAME or NAME[x] with = or += after it, including the "="; 0: not an assignment. */
size_t shell_assignment_head(struct str word);

/* --- quote.c --- */

/* After the opening quote; stops after the closing one. */
void parser_single_quoted(struct parser *p, struct word_builder *b);
void parser_double_quoted(struct parser *p, struct word_builder *b);
void parser_ansi_quoted(struct parser *p, struct word_builder *b);

/* --- expansion.c --- */

enum quoting { NOT_QUOTED, IN_DOUBLE_QUOTES, IN_HERE_DOCUMENT };

/* At "$", "`", or the "((" of an arithmetic command. */
void parser_dollar(struct parser *p, struct word_builder *b, enum quoting quoting);
void parser_backquoted(struct parser *p, enum quoting quoting);
/* After the opening parentheses; stops after the closing ones. */
void parser_arithmetic(struct parser *p);
/* After "(". */
void parser_substitution(struct parser *p);

/* --- computing.c --- */

/* Bash evaluates this. */
void splitter_note_computed(struct splitter *s, struct str text);
/* A variable may get this value, as written and without quotes. */
void splitter_note_value(struct splitter *s, struct str source, struct str text);

/* --- here.c --- */

/* After "<<"; remembers the document. */
void parser_here_delimiter(struct parser *p);
/* After a newline; reads the bodies of the remembered documents. */
void parser_here_bodies(struct parser *p);

/* --- redirection.c --- */

/* At its operator. */
void parser_redirection(struct parser *p);

/* --- command.c --- */

/* Lists a command and those that it starts. */
void splitter_add(struct splitter *s, const struct shell_word *words, size_t n_words,
                  size_t n_assignments);
/* Lists a command that may be anything. */
void splitter_add_anything(struct splitter *s);

/* --- starter.c --- */

/* Can this program, with these words, start any other that the line does not name? */
bool shell_starts_unseen(struct str name, const struct shell_word *words, size_t n);
/* Does it assign a variable from which other programs take a program's name or code? */
bool shell_names_program(struct str assignment);

/* --- wrapper.c --- */

/* Lists the commands that it starts: `env`, `sudo`, `xargs`, `sh -c`, `eval`... */
void splitter_look_through(struct splitter *s, const struct shell_word *words, size_t n);
bool shell_looks_through(struct str name); /* does it know the program? */

#endif
