/* command_key.c - most patterns are for other commands, as the way they begin tells. */
#include "gate/command.h"

#include "gate/options.h"

/* How much of a beginning is looked at: a word, a word and the next, nearly all of most rules. What
 * is expanded late in a command leaves the shorter ones to tell by. */
static const size_t depths[N_COMMAND_DEPTHS] = {3, 8, 32};

static uint32_t hash_add(uint32_t hash, char c)
{
    return (hash ^ (unsigned char)c) * UINT32_C(0x01000193);
}

static uint16_t slot_of(uint32_t hash)
{
    return (uint16_t)((hash * UINT32_C(0x9E3779B1)) >> (32 - COMMAND_SLOT_BITS));
}

/* --- patterns --- */

/* In a pattern these may stand for something else, or for nothing. */
static bool is_plain(char c)
{
    static const bool is_special[256] = {
        ['*'] = true,  ['\\'] = true, ['\''] = true, ['"'] = true, [' '] = true,
        ['\t'] = true, ['\r'] = true, ['\n'] = true, [':'] = true, ['\0'] = true};

    return !is_special[(unsigned char)c];
}

static size_t n_plain(struct str pattern)
{
    size_t n = 0;

    while (n < pattern.n && is_plain(pattern.p[n]))
        n++;
    return n;
}

static bool has_options(struct str flat)
{
    AUTO(strbuf) struct strbuf rest = {0};
    uint64_t letters;

    return options_of_pattern(flat, &letters, &rest);
}

/* What every text that the pattern matches, or may match, begins with. */
static struct str sure_start(struct str pattern)
{
    struct str head = command_pattern_head(pattern);
    size_t n = n_plain(pattern);

    /* One with a NUL is in doubt for every command. */
    if (str_find_char(pattern, SHELL_ANYTHING) != STR_NONE)
        return (struct str){0};
    /* The first word alone, where those after it may be quoted otherwise or stand in another order.
     */
    if (n == 0 || !command_pattern_is_flat(pattern) || has_options(pattern))
        return str_slice(pattern, 0, n);
    return str_slice(head, 0, str_find_char(head, '*'));
}

struct command_key command_key_of(struct str pattern)
{
    struct str start = sure_start(pattern);
    struct command_key key;
    uint32_t hash = 0;
    size_t n = 0;

    for (size_t d = 0; d < N_COMMAND_DEPTHS; d++) {
        for (; n < MIN(start.n, depths[d]); n++)
            hash = hash_add(hash, start.p[n]);
        key.slots[d] = slot_of(hash);
    }
    return key;
}

/* --- lines --- */

/* A text that begins with what is not known may be anything from there on. */
static void note_unknown(struct command_starts *s, struct str text)
{
    size_t n_known = text.n ? str_find_char(text, SHELL_ANYTHING) : 0;

    for (size_t d = 0; d < N_COMMAND_DEPTHS; d++)
        if (n_known < depths[d])
            memset(s->may_be[d], true, sizeof s->may_be[d]);
}

static void note_start(struct command_starts *s, struct str text)
{
    uint32_t hash = 0;
    size_t n = 0;

    note_unknown(s, str_slice(text, 0, depths[N_COMMAND_DEPTHS - 1]));
    for (size_t d = 0; d < N_COMMAND_DEPTHS; d++) {
        for (; n < MIN(text.n, depths[d]); n++) {
            for (size_t deeper = d; deeper < N_COMMAND_DEPTHS; deeper++)
                s->may_be[deeper][slot_of(hash)] = true;
            hash = hash_add(hash, text.p[n]);
        }
        s->may_be[d][slot_of(hash)] = true;
    }
}

void command_note_starts(struct command *c)
{
    if (!c->split.is_sure) {
        memset(c->starts.may_be, true, sizeof c->starts.may_be);
        return;
    }
    note_start(&c->starts, c->line);
    for (size_t i = 0; i < c->split.n_commands; i++) {
        const struct shell_command *command = &c->split.commands[i];

        note_start(&c->starts, command->source);
        note_start(&c->starts, command->text);
        if (command->program_at)
            note_start(&c->starts, str_skip(command->text, command->program_at));
        if (command->basename_at != command->program_at)
            note_start(&c->starts, str_skip(command->text, command->basename_at));
    }
}
