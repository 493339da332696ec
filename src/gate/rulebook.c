/* rulebook.c - reads rules. */
#include "gate/rulebook.h"

void rulebook_add(struct rulebook *b, enum rule_kind kind, struct str text)
{
    struct rule_list *l = &b->lists[kind];

    l->patterns = arena_grow(&b->arena, l->patterns, l->n, &l->room, sizeof *l->patterns);
    l->patterns[l->n++] = pattern_read(text);
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
