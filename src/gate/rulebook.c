/* rulebook.c - reads rules, and walks those that a call needs to be held against. */
#include "gate/rulebook.h"

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

const struct pattern *rule_list_next(const struct rule_list *l, const struct sieve *v,
                                     bool unclear_counts, size_t *at)
{
    while (*at < l->n) {
        size_t i = (*at)++;

        if (sieve_passes(v, &l->keys[i], unclear_counts))
            return &l->patterns[i];
    }
    return NULL;
}
