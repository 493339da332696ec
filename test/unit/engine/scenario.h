/* scenario.h - histories made by what happens to conversations, for tests.
 *
 * A scenario is a few steps, chosen by a seed: somebody asks, a model of some vendor answers and
 * calls tools, is interrupted, its process dies, the history is summarised, forked or cleared, the
 * vendor changes. Answers hold what decoders leave in them: provider blocks, signatures, ids as odd
 * as models and vendors make them. The same seed gives the same history. */
#ifndef KEEL_TEST_SCENARIO_H
#define KEEL_TEST_SCENARIO_H

#include "model/message.h"
#include "sys/random.h"

#define SCENARIO_MAX_MESSAGES 96

/* Whose answers a history holds: one for each protocol, named by it. */
enum maker { BY_ANTHROPIC, BY_CHAT, BY_RESPONSES, BY_GEMINI, BY_OLLAMA, N_MAKERS };
struct str maker_provider(enum maker m);
struct str maker_protocol(enum maker m);

#define THOUGHT_OF "a thought of " /* in reasoning, before its maker's number */

struct scenario {
    struct seeded_random seeded;
    const struct random *random;
    struct arena arena; /* for texts under construction */
    struct message *list[SCENARIO_MAX_MESSAGES];
    size_t n;
    enum maker maker;   /* who answers now */
    unsigned n_ids;     /* given away */
    struct strbuf told; /* the steps, for people */
};

void scenario_init(struct scenario *s, uint64_t seed);
void scenario_done(struct scenario *s);
DEFINE_AUTO_VAL(scenario, scenario_done)

#endif
