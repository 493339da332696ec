/* plan.c - the parts of a plan, and who holds them. */
#include "sdk/agent/plan.h"

/* --- its parts --- */

struct plan_chain *plan_chain_new(size_t n)
{
    struct plan_chain *c = mem_alloc(sizeof *c + n * sizeof c->targets[0]);

    c->n_refs = 1;
    c->n = n;
    return c;
}

struct plan_chain *plan_chain_copy(const struct plan_chain *c)
{
    struct plan_chain *copy = plan_chain_new(c->n);

    for (size_t i = 0; i < c->n; i++) {
        copy->targets[i] = c->targets[i];
        copy->models[i] = c->models[i] ? model_choice_ref(c->models[i]) : NULL;
    }
    return copy;
}

void plan_chain_unref(struct plan_chain *c)
{
    if (!c || --c->n_refs)
        return;
    for (size_t i = 0; i < c->n; i++)
        model_choice_unref(c->models[i]);
    mem_free(c);
}

struct plan_note {
    unsigned n_refs;
    char text[];
};

static void plan_note_unref(struct plan_note *n)
{
    if (n && --n->n_refs == 0)
        mem_free(n);
}

struct plan_words *plan_words_new(void)
{
    struct plan_words *w = mem_alloc(sizeof *w);

    w->n_refs = 1;
    return w;
}

static const struct str *copy_names(struct arena *a, const struct str *names, size_t n)
{
    struct str *copies = n ? ARENA_ARRAY(a, n, struct str) : NULL;

    for (size_t i = 0; i < n; i++)
        copies[i] = arena_str(a, names[i]);
    return copies;
}

static const char *copy_text(struct arena *a, const char *text)
{
    return text ? arena_cstr(a, str_of(text)) : NULL;
}

struct plan_words *plan_words_copy(const struct plan_words *w)
{
    struct plan_words *copy = plan_words_new();
    struct arena *a = &copy->arena;

    copy->system_prompt = copy_text(a, w->system_prompt);
    copy->append_system_prompt = copy_text(a, w->append_system_prompt);
    copy->filter = w->filter;
    copy->filter.allow = copy_names(a, w->filter.allow, w->filter.n_allow);
    copy->filter.deny = copy_names(a, w->filter.deny, w->filter.n_deny);
    return copy;
}

static void plan_words_unref(struct plan_words *w)
{
    if (!w || --w->n_refs)
        return;
    arena_done(&w->arena);
    mem_free(w);
}

/* --- the plan --- */

static void agent_plan_free(struct run_plan *plan)
{
    struct agent_plan *p = (struct agent_plan *)plan;

    plan_chain_unref(p->chain);
    plan_note_unref(p->note);
    plan_words_unref(p->words);
    prefix_unref(p->prefix);
    mem_free(p);
}

struct agent_plan *agent_plan_new(void)
{
    struct agent_plan *p = mem_alloc(sizeof *p);

    p->plan = (struct run_plan){.free = agent_plan_free, .n_refs = 1};
    return p;
}

struct agent_plan *agent_plan_copy(const struct agent_plan *p)
{
    struct agent_plan *copy = mem_copy(p, sizeof *p);

    copy->plan.n_refs = 1;
    if (copy->chain)
        copy->chain->n_refs++;
    if (copy->note)
        copy->note->n_refs++;
    if (copy->words)
        copy->words->n_refs++;
    if (copy->prefix)
        copy->prefix = prefix_ref(copy->prefix);
    return copy;
}

void agent_plan_unref(struct agent_plan *p)
{
    run_plan_unref(p ? &p->plan : NULL);
}

void agent_plan_set_chain(struct agent_plan *p, struct plan_chain *take_chain)
{
    plan_chain_unref(p->chain);
    p->chain = take_chain;
    p->plan.targets = take_chain->targets;
    p->plan.n_targets = take_chain->n;
}

void agent_plan_set_note(struct agent_plan *p, struct str text)
{
    plan_note_unref(p->note);
    p->note = mem_alloc(sizeof *p->note + text.n);
    p->note->n_refs = 1;
    memcpy(p->note->text, text.p, text.n);
    p->plan.note = str_make(p->note->text, text.n);
}

void agent_plan_set_words(struct agent_plan *p, struct plan_words *take_words)
{
    plan_words_unref(p->words);
    p->words = take_words;
    p->plan.filter = take_words->filter;
}

void agent_plan_set_prefix(struct agent_plan *p, struct prefix *take_prefix)
{
    prefix_unref(p->prefix);
    p->prefix = take_prefix;
    p->plan.system = take_prefix ? take_prefix->system : (struct str){0};
    p->plan.told_tools = take_prefix ? take_prefix->tools : NULL;
}
