/* plan.h - an agent's plan (engine/run.h) of now: a value that is swapped whole.
 *
 * Whoever changes something begins with a copy that shares its parts with the plan of now, replaces
 * a part and makes it the plan. A run that still uses the one before holds it. A part that stays is
 * at the same address: a run sees by that what has changed. So an agent holds what its plan needs,
 * however often model and prompt were changed. */
#ifndef KEEL_SDK_AGENT_PLAN_H
#define KEEL_SDK_AGENT_PLAN_H

#include "engine/run.h"
#include "sdk/project.h"
#include "sdk/prompt/prefix.h"

/* Whom to ask. Counted. */
struct plan_chain {
    unsigned n_refs;
    struct model_choice *models[CHAIN_MAX_TARGETS]; /* NULL: the caller has brought a provider */
    size_t n;
    struct target targets[];
};

/* What the person wants of system text and tools. Counted. */
struct plan_words {
    struct arena arena;
    const char *system_prompt, *append_system_prompt; /* NULL: unsaid */
    struct tool_filter filter;
    unsigned n_refs;
};

/* What has become known of a model. Counted. */
struct plan_note;

struct agent_plan {
    struct run_plan plan; /* points at the rest */
    struct plan_chain *chain;
    struct plan_note *note; /* NULL: nothing */
    struct plan_words *words;
    struct prefix *prefix; /* what requests begin with; NULL: it is not fixed yet */
};

struct agent_plan *agent_plan_new(void) MUST_USE;
struct agent_plan *agent_plan_copy(const struct agent_plan *p) MUST_USE;
void agent_plan_unref(struct agent_plan *p); /* accepts NULL */

/* Of a copy that is not in use yet; what it had before is given back. */
void agent_plan_set_chain(struct agent_plan *p, struct plan_chain *take_chain);
void agent_plan_set_note(struct agent_plan *p, struct str text); /* copied */
void agent_plan_set_words(struct agent_plan *p, struct plan_words *take_words);
void agent_plan_set_prefix(struct agent_plan *p, struct prefix *take_prefix); /* may be NULL */

/* Zeroed; with room for n targets. */
struct plan_chain *plan_chain_new(size_t n) MUST_USE;
struct plan_chain *plan_chain_copy(const struct plan_chain *c) MUST_USE;
void plan_chain_unref(struct plan_chain *c);
DEFINE_AUTO_PTR(plan_chain, plan_chain_unref)
struct plan_words *plan_words_new(void) MUST_USE;
struct plan_words *plan_words_copy(const struct plan_words *w) MUST_USE;

#endif
