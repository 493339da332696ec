/* command.c - matches a pattern against the commands of a line. */
#include "gate/command.h"

#include "gate/look/look.h"
#include "gate/options.h"
#include "gate/wildcard.h"

static bool is_unknown(const struct split_command *c)
{
    struct str name = shell_command_name(c);

    return name.n && !shell_knows_program(name) && !look_has_program(name);
}

void command_init(struct command_line *c, struct arena *a, struct str line, bool other_shell)
{
    *c = (struct command_line){.line = str_trim(line)};
    shell_split(a, c->line, &c->split);
    c->split.is_sure = c->split.is_sure && !other_shell;
    c->is_unknown = ARENA_ARRAY(a, c->split.n_commands, bool);
    for (size_t i = 0; i < c->split.n_commands; i++)
        c->is_unknown[i] = is_unknown(&c->split.commands[i]);
}

/* --- patterns --- */

/* "git log:*" and "git log *" match the command with any arguments. The head is "git log". */
static struct str head_of(struct str pattern)
{
    size_t n = pattern.n;
    bool takes_more =
        n >= 2 && pattern.p[n - 1] == '*' && (pattern.p[n - 2] == ':' || pattern.p[n - 2] == ' ');

    return takes_more ? str_make(pattern.p, n - 2) : pattern;
}

/* Do both start with the same plain characters? Decides most rules. */
static bool may_start(struct str pattern, struct str text)
{
    size_t n = MIN(pattern.n, text.n);

    for (size_t i = 0; i < n; i++) {
        if (pattern.p[i] == '*' || pattern.p[i] == '\\')
            return true;
        if (pattern.p[i] != text.p[i])
            return false;
    }
    return true;
}

/* "git log:*" does not match "git logs". */
static bool matches_prefix(struct str head, struct str text)
{
    AUTO(strbuf) struct strbuf pattern = {0};

    strbuf_add(&pattern, head);
    if (head.n == 0 || !strchr("/=:-", head.p[head.n - 1]))
        strbuf_add_char(&pattern, ' ');
    strbuf_add_char(&pattern, '*');
    return wildcard_matches(strbuf_str(&pattern), text);
}

static bool matches(struct str pattern, struct str text)
{
    struct str head = head_of(pattern);

    if (!may_start(head, text))
        return false;
    if (wildcard_matches(head, text))
        return true;
    if (head.n == pattern.n)
        return false;
    return pattern.p[head.n] == ' ' ? wildcard_matches(pattern, text) : matches_prefix(head, text);
}

/* Such a pattern would match unknown text as if it were a NUL. */
static bool holds_nul(struct str pattern)
{
    return str_find_char(pattern, SHELL_ANYTHING) != STR_NONE;
}

/* --- narrowly --- */

static bool is_allowed(struct str pattern, const struct split_command *c)
{
    return c->n_assignments == 0 && c->words[0].is_known && matches(pattern, c->source);
}

static size_t n_written_commands(const struct shell_split *split)
{
    size_t n = 0;

    for (size_t i = 0; i < split->n_commands; i++)
        n += !split->commands[i].is_inner;
    return n;
}

/* Does the line consist only of its commands, each with the meaning it has alone? */
static bool can_be_judged(const struct shell_split *split)
{
    size_t n = n_written_commands(split);

    return split->is_sure && !split->changes_names && n && !(split->sets_variables && n > 1);
}

static bool is_allowed_in_all(struct str pattern, const struct command_line *c)
{
    if (!can_be_judged(&c->split) || command_writes(c))
        return false;
    for (size_t i = 0; i < c->split.n_commands; i++)
        if (!c->split.commands[i].is_inner && !is_allowed(pattern, &c->split.commands[i]))
            return false;
    return true;
}

static enum match match_narrowly(struct str pattern, const struct command_line *c)
{
    if (wildcard_is_literal(pattern) && wildcard_matches(pattern, c->line))
        return MATCH_YES; /* a person saw exactly this text */
    return !holds_nul(pattern) && is_allowed_in_all(pattern, c) ? MATCH_YES : MATCH_NO;
}

bool command_cover_init(struct command_cover *cover, const struct command_line *c, struct arena *a)
{
    const struct shell_split *split = &c->split;
    bool has_one_part = n_written_commands(split) == 1 && !command_writes(c);

    if (has_one_part || !can_be_judged(split))
        return false;
    *cover = (struct command_cover){.command = c,
                                    .is_covered = ARENA_ARRAY(a, split->n_commands, bool),
                                    .n_left = n_written_commands(split)};
    return true;
}

bool command_cover_add(struct command_cover *cover, struct str pattern)
{
    const struct shell_split *split = &cover->command->split;
    size_t before = cover->n_left;

    if (holds_nul(pattern))
        return false;
    for (size_t i = 0; i < split->n_commands; i++)
        if (!split->commands[i].is_inner && !cover->is_covered[i] &&
            is_allowed(pattern, &split->commands[i])) {
            cover->is_covered[i] = true;
            cover->n_left--;
        }
    return cover->n_left < before;
}

/* --- widely --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Has it no quotes or backslashes, and single blanks between words? */
static bool is_flat(struct str pattern)
{
    for (size_t i = 0; i < pattern.n; i++) {
        char c = pattern.p[i];

        if (c == '\'' || c == '"' || c == '\\' || (is_blank(c) && c != ' ') ||
            (c == ' ' && i && pattern.p[i - 1] == ' '))
            return false;
    }
    return true;
}

/* Appends it without quotes and backslashes, with one blank between words, as in the texts of
 * commands. */
static void flatten(struct strbuf *out, struct str pattern)
{
    for (size_t i = 0; i < pattern.n; i++) {
        char c = pattern.p[i], next = i + 1 < pattern.n ? pattern.p[i + 1] : '\0';

        if (is_blank(c)) {
            if (out->n && out->p[out->n - 1] != ' ')
                strbuf_add_char(out, ' ');
        } else if ((c != '\'' && c != '"' && c != '\\') || (c == '\\' && next == '*')) {
            strbuf_add_char(out, c);
        }
    }
}

/* The text that every match ends with; empty if that is hard to say. */
static struct str plain_tail(struct str pattern)
{
    size_t star = str_rfind_char(pattern, '*');

    if (str_find_char(pattern, '\\') != STR_NONE)
        return (struct str){0};
    return star == STR_NONE ? pattern : str_skip(pattern, star + 1);
}

/* Could the unknown parts of the text make it match? */
static bool may_match(struct str pattern, struct str text)
{
    AUTO(strbuf) struct strbuf head = {0};
    struct str tail = plain_tail(pattern);
    size_t first = str_find_char(text, SHELL_ANYTHING), n_head;
    size_t n_after = text.n - 1 - str_rfind_char(text, SHELL_ANYTHING);
    size_t n_tail = MIN(n_after, tail.n);

    wildcard_add_head(&head, head_of(pattern));
    n_head = MIN(first, head.n);
    return str_eq(str_slice(text, 0, n_head), str_slice(strbuf_str(&head), 0, n_head)) &&
           str_eq(str_skip(text, text.n - n_tail), str_skip(tail, tail.n - n_tail));
}

static enum match match_text(struct str pattern, struct str text)
{
    if (matches(pattern, text))
        return MATCH_YES;
    if (str_find_char(text, SHELL_ANYTHING) == STR_NONE)
        return MATCH_NO;
    return may_match(pattern, text) ? MATCH_UNCLEAR : MATCH_NO;
}

static enum match worse(enum match a, enum match b)
{
    return a == MATCH_YES || b == MATCH_NO ? a : b;
}

static enum match match_one(struct str flat, struct str as_written, const struct split_command *c)
{
    enum match result = matches(as_written, c->source) ? MATCH_YES : match_text(flat, c->text);

    if (c->program_at)
        result = worse(result, match_text(flat, str_skip(c->text, c->program_at)));
    if (c->basename_at != c->program_at)
        result = worse(result, match_text(flat, str_skip(c->text, c->basename_at)));
    for (size_t i = 0; i < c->n_readings; i++)
        result = worse(result, match_text(flat, c->readings[i]));
    return result;
}

static enum match match_flat(struct str flat, struct str as_written,
                             const struct shell_split *split)
{
    enum match result = split->is_sure ? MATCH_NO : MATCH_UNCLEAR;

    for (size_t i = 0; i < split->n_commands && result != MATCH_YES; i++)
        result = worse(result, match_one(flat, as_written, &split->commands[i]));
    return result;
}

static enum match match_reordered(uint64_t letters, struct str pattern,
                                  const struct split_command *c)
{
    AUTO(strbuf) struct strbuf rest = {0};
    struct command_options has = options_of_command(c, &rest);
    enum match result = match_text(pattern, strbuf_str(&rest));

    if ((letters & ~has.letters) == 0 || result == MATCH_NO)
        return result;
    return has.may_have_more ? MATCH_UNCLEAR : MATCH_NO;
}

/* The same program with the options of the pattern, in any order, perhaps with more. */
static enum match match_options(struct str flat, const struct shell_split *split)
{
    AUTO(strbuf) struct strbuf rest = {0};
    struct str program = str_slice(flat, 0, str_find_char(flat, ' '));
    enum match result = MATCH_NO;
    uint64_t letters = 0;

    for (size_t i = 0; i < split->n_commands && result != MATCH_YES; i++) {
        if (!str_eq(program, shell_command_name(&split->commands[i])))
            continue;
        if (!letters && !options_of_pattern(flat, &letters, &rest))
            break;
        result = worse(result, match_reordered(letters, strbuf_str(&rest), &split->commands[i]));
    }
    return result;
}

static enum match match_flat_or_reordered(struct str flat, struct str as_written,
                                          const struct shell_split *split)
{
    enum match result = match_flat(flat, as_written, split);

    return result == MATCH_YES ? result : worse(result, match_options(flat, split));
}

static enum match match_widely(struct str pattern, const struct command_line *c)
{
    AUTO(strbuf) struct strbuf flat = {0};

    if (matches(pattern, c->line))
        return MATCH_YES;
    if (holds_nul(pattern))
        return MATCH_UNCLEAR;
    if (is_flat(pattern))
        return match_flat_or_reordered(pattern, pattern, &c->split);
    flatten(&flat, pattern);
    return match_flat_or_reordered(strbuf_str(&flat), pattern, &c->split);
}

enum match command_match(struct str pattern, const struct command_line *c, enum reading reading)
{
    return reading == READ_WIDELY ? match_widely(pattern, c) : match_narrowly(pattern, c);
}

/* --- programs that may start their arguments --- */

/* Does a command begin at this word: as it is, after its last slash, or after the "=" of an
 * option? */
static bool begins_command(struct str flat, struct str text, struct str word)
{
    size_t slash = str_rfind_char(word, '/'), equals = str_find_char(word, '=');

    return matches(flat, text) || (slash != STR_NONE && matches(flat, str_skip(text, slash + 1))) ||
           (equals != STR_NONE && str_starts(word, S("-")) &&
            matches(flat, str_skip(text, equals + 1)));
}

static bool may_pass_on(struct str flat, const struct split_command *c)
{
    size_t at = c->program_at;

    for (size_t i = c->n_assignments; i < c->n_words; i++) {
        struct str text = str_skip(c->text, MIN(at, c->text.n));

        if (i > c->n_assignments && begins_command(flat, text, c->words[i].text))
            return true;
        at += c->words[i].text.n + 1;
    }
    return false;
}

bool command_may_pass_on(struct str pattern, const struct command_line *c)
{
    AUTO(strbuf) struct strbuf flat = {0};

    flatten(&flat, pattern);
    if (!flat.n || flat.p[0] == '*' || holds_nul(pattern))
        return false;
    for (size_t i = 0; i < c->split.n_commands; i++)
        if (c->is_unknown[i] && may_pass_on(strbuf_str(&flat), &c->split.commands[i]))
            return true;
    return false;
}
