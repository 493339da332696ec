/* sieve.c - keys of rules, and what a call lets through. */
#include "gate/sieve.h"

#include "gate/path.h"

/* --- rules --- */

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

/* --- calls --- */

static void tie(struct sieve *v, const char *name, enum tool_ties how)
{
    v->ties[tool_slot(str_of(name))] |= (uint8_t)how;
}

/* As rules about paths extend to other tools. */
static void tie_files(struct sieve *v, const struct subject *s)
{
    tie(v, "Read", TIE_BY_FILES);
    if (s->command || s->tool->risk == RISK_MODIFY)
        tie(v, "Edit", TIE_BY_FILES);
    if (s->command)
        tie(v, "Write", TIE_BY_FILES);
}

static void note_names(struct sieve *v, const struct names *names)
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
static bool note_files(struct sieve *v, const struct subject *s)
{
    if (s->command)
        return command_note_files(s, &v->paths);
    if (s->names)
        note_names(v, s->names);
    else if (v->is_about_path)
        grams_add_all(&v->paths); /* which one cannot be told */
    return s->names || v->is_about_path;
}

void sieve_init(struct sieve *v, const struct subject *s)
{
    *v = (struct sieve){.is_about_path = subject_takes_path(s), .command = s->command};
    v->ties[SLOT_SEVERAL] = TIE_BY_NAME;
    tie(v, s->tool->name, TIE_BY_NAME);
    if (!note_files(v, s))
        return;
    tie_files(v, s);
    if (has_long_bases(s))
        grams_add_all(&v->paths);
}
