/* command_key.c - how patterns and commands begin, and what they hold. */
#include "gate/command_key.h"

#include "gate/command.h"
#include "gate/options.h"

/* How many bytes of a beginning to compare: a word, two words, nearly all of most rules. If a
 * command is expanded late, the shorter ones still help. */
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

/* Other characters of a pattern may stand for something else, or for nothing. */
static bool is_plain(char c)
{
    static const bool is_special[256] = {
        ['*'] = true,  ['\\'] = true, ['\''] = true, ['"'] = true, [' '] = true,
        ['\t'] = true, ['\r'] = true, ['\n'] = true, [':'] = true, ['\0'] = true};

    return !is_special[(unsigned char)c];
}

static struct str first_word(struct str pattern)
{
    size_t n = 0;

    while (n < pattern.n && is_plain(pattern.p[n]))
        n++;
    return str_slice(pattern, 0, n);
}

/* Then the words after the first may be in another order, and letters in other words. */
static bool has_options(struct str flat)
{
    AUTO(strbuf) struct strbuf rest = {0};
    uint64_t letters;

    return options_of_pattern(flat, &letters, &rest);
}

static void set_starts(struct command_key *key, struct str start)
{
    uint32_t hash = 0;
    size_t n = 0;

    for (size_t d = 0; d < N_COMMAND_DEPTHS; d++) {
        for (; n < MIN(start.n, depths[d]); n++)
            hash = hash_add(hash, start.p[n]);
        key->starts[d] = slot_of(hash);
    }
}

/* Includes the blank before it, which every word but the first has. */
static struct str last_word(struct str run)
{
    size_t blank = str_rfind_char(run, ' ');

    return blank == STR_NONE ? run : str_skip(run, blank);
}

static void set_grams(struct command_key *key, struct str head, bool is_in_order)
{
    struct str run;

    while (str_split(&head, '*', &run)) {
        if (!is_in_order)
            run = last_word(run);
        if (is_in_order || !str_starts(run, S(" -")))
            gram_key_add(&key->grams, run);
    }
}

struct command_key command_key_of(struct str pattern)
{
    struct command_key key = {.grams = gram_key_of_any()};
    struct str head = command_pattern_head(pattern), first = first_word(pattern);
    bool is_in_order = !has_options(pattern);

    /* A pattern with a NUL is in doubt for every command. Others are read without their quotes. */
    if (str_find_char(pattern, SHELL_ANYTHING) != STR_NONE) {
        set_starts(&key, S(""));
    } else if (str_starts(pattern, S(" ")) || !command_pattern_is_flat(pattern)) {
        set_starts(&key, first);
    } else {
        set_starts(&key, is_in_order ? str_slice(head, 0, str_find_char(head, '*')) : first);
        set_grams(&key, head, is_in_order);
    }
    return key;
}

/* --- lines --- */

static void note_unknown(struct command_glance *g, struct str text)
{
    size_t n_known = text.n ? str_find_char(text, SHELL_ANYTHING) : 0;

    g->is_in_doubt = g->is_in_doubt || n_known != STR_NONE;
    for (size_t d = 0; d < N_COMMAND_DEPTHS; d++)
        g->may_start[d] = g->may_start[d] || n_known < depths[d];
}

static void note_start(struct command_glance *g, struct str text)
{
    uint32_t hash = 0;
    size_t n = 0;

    for (size_t d = 0; d < N_COMMAND_DEPTHS; d++) {
        for (; n < MIN(text.n, depths[d]); n++) {
            for (size_t deeper = d; deeper < N_COMMAND_DEPTHS; deeper++)
                g->starts[deeper][slot_of(hash)] = true;
            hash = hash_add(hash, text.p[n]);
        }
        g->starts[d][slot_of(hash)] = true;
    }
}

static void note_text(struct command_glance *g, struct str text)
{
    note_unknown(g, text);
    note_start(g, text);
    grams_add(&g->grams, text);
}

/* The end of a text is a text of its own. */
static void note_end(struct command_glance *g, struct str text, size_t at)
{
    note_unknown(g, str_skip(text, at));
    note_start(g, str_skip(text, at));
}

static void note_command(struct command_glance *g, const struct split_command *c)
{
    note_text(g, c->text);
    if (!str_eq(c->source, c->text))
        note_text(g, c->source);
    if (c->program_at)
        note_end(g, c->text, c->program_at);
    if (c->basename_at != c->program_at)
        note_end(g, c->text, c->basename_at);
    for (size_t i = 0; i < c->n_readings; i++)
        note_text(g, c->readings[i]);
}

void command_glance_init(struct command_glance *g, struct str line, const struct shell_split *split)
{
    *g = (struct command_glance){.is_in_doubt = !split->is_sure};
    memset(g->may_start, !split->is_sure, sizeof g->may_start);
    note_text(g, line);
    for (size_t i = 0; i < split->n_commands; i++)
        note_command(g, &split->commands[i]);
}
