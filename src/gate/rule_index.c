/* rule_index.c - reads rules, makes their keys, and filters them for a call. */
#include "gate/rule_index.h"

#include "base/glob.h"
#include "gate/command.h"
#include "gate/options.h"
#include "gate/path.h"

/* --- trigrams --- */

#define N_BYTES 3

static uint16_t gram_at(const char *p)
{
    uint32_t gram = (uint32_t)(unsigned char)p[0] | (uint32_t)(unsigned char)p[1] << 8 |
                    (uint32_t)(unsigned char)p[2] << 16;

    return (uint16_t)((gram * UINT32_C(0x9E3779B1)) >> (32 - TRIGRAM_BITS));
}

static struct gram_key gram_key_of_any(void)
{
    return (struct gram_key){TRIGRAM_NONE, TRIGRAM_NONE};
}

static void gram_key_add(struct gram_key *key, struct str plain)
{
    if (plain.n < N_BYTES)
        return;
    if (key->first == TRIGRAM_NONE)
        key->first = gram_at(plain.p);
    key->last = gram_at(plain.p + plain.n - N_BYTES);
}

void grams_add(struct grams *g, struct str text)
{
    for (size_t i = 0; i + N_BYTES <= text.n; i++)
        g->has[gram_at(text.p + i)] = true;
    g->has[TRIGRAM_NONE] = true;
}

static void grams_add_all(struct grams *g)
{
    memset(g->has, true, sizeof g->has);
}

static bool grams_may_hold(const struct grams *g, struct gram_key key)
{
    return g->has[key.first] && g->has[key.last];
}

/* --- keys of command patterns --- */

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

static struct command_key command_key_of(struct str pattern)
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

/* Whether the pattern may match, read either way. */
static bool command_glance_passes(const struct command_glance *g, const struct command_key *key,
                                  bool unclear_counts)
{
    for (size_t i = 0; i < N_COMMAND_DEPTHS; i++)
        if (!g->starts[i][key->starts[i]] && !(unclear_counts && g->may_start[i]))
            return false;
    return (unclear_counts && g->is_in_doubt) || grams_may_hold(&g->grams, key->grams);
}

/* --- keys of path patterns --- */

/* Short enough that the glob fits even if every byte of both is escaped. */
#define MAX_PATTERN (GLOB_MAX_PATTERN / 4 - 8)
#define MAX_BASE (GLOB_MAX_PATTERN / 4 - 8)

/* Only names, `*` and `?`: certainly readable, and its plain text is literal. */
static bool is_told_by_bytes(struct str text)
{
    if (text.n > MAX_PATTERN || !path_is_simple(text))
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (strchr("[]{}\\", text.p[i]))
            return false;
    return true;
}

/* A slash beside a wildcard may match nothing. */
static struct str trim_slashes(struct str run)
{
    while (str_starts(run, S("/")))
        run = str_skip(run, 1);
    while (str_ends(run, S("/")))
        run.n--;
    return run;
}

/* Cuts off the next run of plain text. */
static bool next_run(struct str *rest, struct str *ret_run)
{
    size_t n = 0;

    if (rest->n == 0)
        return false;
    while (n < rest->n && !strchr("*?,!", rest->p[n]))
        n++;
    *ret_run = trim_slashes(str_slice(*rest, 0, n));
    *rest = str_skip(*rest, n + 1);
    return true;
}

static struct gram_key path_key_of(struct str pattern)
{
    struct gram_key key = gram_key_of_any();
    struct str rest = path_pattern_text(pattern), run;

    if (!is_told_by_bytes(rest))
        return key;
    while (next_run(&rest, &run))
        gram_key_add(&key, run);
    return key;
}

static bool path_bases_are_long(const struct path_bases *bases)
{
    return bases->workspace.directory.n > MAX_BASE || bases->cwd.directory.n > MAX_BASE ||
           bases->home.directory.n > MAX_BASE;
}

/* --- keys of rules, and the filter of a call --- */

#define SLOT_SEVERAL 255 /* for names that stand for several tools */

static uint8_t tool_slot(struct str name)
{
    return (uint8_t)(str_hash(name) % SLOT_SEVERAL);
}

static bool names_several(struct str tool)
{
    return str_find_char(tool, '*') != STR_NONE || str_starts(tool, S("mcp__"));
}

struct rule_key rule_key_of(const struct pattern *p)
{
    struct rule_key key = {.tool = names_several(p->tool) ? SLOT_SEVERAL : tool_slot(p->tool)};
    bool is_any = p->is_broken || pattern_takes_any(p);

    key.command = command_key_of(is_any ? S("") : p->argument);
    key.path = is_any ? gram_key_of_any() : path_key_of(p->argument);
    return key;
}

static void tie(struct rule_filter *v, const char *name, enum tool_ties how)
{
    v->ties[tool_slot(str_of(name))] |= (uint8_t)how;
}

/* As rules about paths extend to other tools. */
static void tie_files(struct rule_filter *v, const struct subject *s)
{
    tie(v, "Read", TIE_BY_FILES);
    if (s->command || s->tool->risk == RISK_MODIFY)
        tie(v, "Edit", TIE_BY_FILES);
    if (s->command)
        tie(v, "Write", TIE_BY_FILES);
}

static void note_names(struct rule_filter *v, const struct names *names)
{
    for (size_t i = 0; i < names->n; i++) {
        grams_add(&v->paths, str_of(names->paths[i]));
        if (strlen(names->paths[i]) > PATH_MAX_BYTES)
            grams_add_all(&v->paths); /* in doubt for every rule */
    }
}

static bool has_long_bases(const struct subject *s)
{
    struct path_bases found = s->bases ? *s->bases : path_bases_of(s);

    return path_bases_are_long(&found);
}

/* False: it has none. */
static bool note_files(struct rule_filter *v, const struct subject *s)
{
    if (s->command)
        return command_note_files(s, &v->paths);
    if (s->names)
        note_names(v, s->names);
    else if (v->is_about_path)
        grams_add_all(&v->paths); /* which one cannot be told */
    return s->names || v->is_about_path;
}

void rule_filter_init(struct rule_filter *v, const struct subject *s)
{
    *v = (struct rule_filter){.is_about_path = subject_takes_path(s),
                              .glance = s->command ? &s->command->glance : NULL};
    v->ties[SLOT_SEVERAL] = TIE_BY_NAME;
    tie(v, s->tool->name, TIE_BY_NAME);
    if (!note_files(v, s))
        return;
    tie_files(v, s);
    if (has_long_bases(s))
        grams_add_all(&v->paths);
}

bool rule_filter_passes(const struct rule_filter *v, const struct rule_key *key,
                        bool unclear_counts)
{
    int ties = v->ties[key->tool];

    if (!ties)
        return false;
    if (v->is_about_path || ties == TIE_BY_FILES)
        return grams_may_hold(&v->paths, key->path);
    if (!v->glance || command_glance_passes(v->glance, &key->command, unclear_counts))
        return true;
    return (ties & TIE_BY_FILES) && grams_may_hold(&v->paths, key->path);
}

/* --- the rulebook --- */

void rulebook_add(struct rulebook *b, enum rule_kind kind, struct str text)
{
    struct rule_list *l = &b->lists[kind];

    l->patterns = arena_grow(&b->arena, l->patterns, l->n, &l->patterns_room, sizeof *l->patterns);
    l->keys = arena_grow(&b->arena, l->keys, l->n, &l->keys_room, sizeof *l->keys);
    l->patterns[l->n] = pattern_read(text);
    l->keys[l->n] = rule_key_of(&l->patterns[l->n]);
    l->n++;
}

static void add_all(struct rulebook *b, enum rule_kind kind, const struct str *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rulebook_add(b, kind, texts[i]);
}

struct rulebook *rulebook_new(const struct permission_rules *rules)
{
    struct rulebook *b = mem_alloc(sizeof *b);

    b->environment = rules->environment;
    b->looks_freely = rules->looks_freely;
    b->commands_run_freely = rules->commands_run_freely;
    b->other_shell = rules->other_shell;
    add_all(b, RULE_DENY, rules->deny, rules->n_deny);
    add_all(b, RULE_ASK, rules->ask, rules->n_ask);
    add_all(b, RULE_ALLOW, rules->allow, rules->n_allow);
    return b;
}

void rulebook_free(struct rulebook *b)
{
    if (!b)
        return;
    arena_done(&b->arena);
    mem_free(b);
}

const struct pattern *rule_list_next(const struct rule_list *l, const struct rule_filter *v,
                                     bool unclear_counts, size_t *at)
{
    while (*at < l->n) {
        size_t i = (*at)++;

        if (rule_filter_passes(v, &l->keys[i], unclear_counts))
            return &l->patterns[i];
    }
    return NULL;
}
