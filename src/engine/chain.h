/* chain.h - a chain of targets: which is asked next, and when. Pure; ask.c does what it says.
 *
 * A target is a provider with a model. What a failure means depends on its kind: cancelled ends
 * all; a refused key, a used-up quota, an unknown model or an answer that cannot be read skips the
 * target; rate limits, overload, network and time-outs are tried again at the same target, up to
 * its attempts; then the next target is asked. All other failures are final.
 *
 * Between attempts at one target the provider's own delay is waited (unless it is longer than 8 s
 * and another target is free). Where it names none, the waits double from 0.5 s to 60 s (or as the
 * target has it), each of them up to a half shorter or longer by chance. All waits of one walk
 * together are bounded: one that would go beyond that ends the attempts at this target at once.
 *
 * After a rate limit a target rests for 30 s: it is skipped while another one is there. Rests last
 * as long as the chain, which belongs to one run. */
#ifndef KEEL_ENGINE_CHAIN_H
#define KEEL_ENGINE_CHAIN_H

#include "port/provider.h"
#include "sys/random.h"

#define CHAIN_MAX_TARGETS 16
#define CHAIN_DEFAULT_MAX_WAIT_MS 600000
#define RETRY_MAX_SECONDS 604800 /* the longest that can be set: a week */

/* Waits between attempts where the provider names none. */
struct backoff {
    uint64_t first_ms, max_ms; /* 0: 500 and 60000 */
};

struct target {
    const struct provider *provider;
    struct str model;
    const struct model_info *info; /* NULL: not known */
    struct price price;            /* configured, else the catalogue's; -1 where unknown */
    unsigned max_attempts;         /* 0: the chain's default */
    struct backoff backoff;
    int64_t window;     /* tokens; 0: what `info` says that a prompt may have, else the default */
    int64_t max_output; /* tokens to ask for; 0: as the model has it */
    int compact_per_mille;      /* of the window, when it is compacted; 0: as usual */
    uint64_t idle_ms;           /* longest silence; 0: the call's */
    uint64_t total_ms;          /* longest answer; 0: the call's */
    const struct json *options; /* the profile's; may be NULL */
};

/* One request to one target: before it leaves, and after it has ended. */
struct attempt {
    const struct target *target;
    unsigned number;    /* from 1, over all targets of this walk */
    unsigned at_target; /* from 1, at this target */
    unsigned max_at_target;
    /* when it has ended: */
    const struct reply *reply;
    const struct err *error; /* NULL: it answered */
    int64_t cost_microcents; /* -1: unknown */
    uint64_t duration_ms;
    uint64_t delay_ms; /* until it would be tried again, which need not happen; 0: it would not */
};

struct chain {
    const struct target *targets;
    size_t n_targets;
    unsigned default_attempts;
    uint64_t max_wait_ms; /* between the attempts of one walk, all together */
    const struct random *random;
    uint64_t rests_until_ms[CHAIN_MAX_TARGETS];
};

void chain_init(struct chain *c, const struct target *targets, size_t n_targets,
                unsigned default_attempts, const struct random *random);

/* One answer's way along the chain. */
struct chain_walk {
    struct chain *chain;
    uint32_t unfit;      /* a bit for each target not to ask; one is asked if all are unfit */
    size_t index;        /* of the target that is asked */
    unsigned n_attempts; /* over all targets */
    unsigned at_target, max_at_target;
    uint64_t waited_ms;
};
void chain_begin(struct chain_walk *w, struct chain *c, uint32_t unfit, uint64_t now_ms);
const struct target *chain_target(const struct chain_walk *w);
/* To the next target that may be asked and does not rest; false: there is none. */
bool chain_move(struct chain_walk *w, uint64_t now_ms);
/* The next attempt at this target. */
struct attempt chain_attempt(struct chain_walk *w);
/* The last one does not count: the same request is not made again. */
void chain_forgive(struct chain_walk *w);

/* Is such a failure worth another try at the same target? */
bool chain_retries(const struct err *e);
/* How long to wait before it. `known_ms` instead of a wait by chance; -1: it is not known. */
uint64_t chain_delay_ms(const struct chain_walk *w, const struct err *e, int64_t known_ms);

enum chain_next {
    CHAIN_ANSWERED,
    CHAIN_RETRY,    /* the same target, after the delay */
    CHAIN_NEXT,     /* the next one, if there is one */
    CHAIN_TOO_LONG, /* likewise: the delay goes beyond what is left of the waiting time */
    CHAIN_END,
};
enum chain_next chain_next(const struct chain_walk *w, const struct err *e, uint64_t delay_ms,
                           uint64_t now_ms);
/* The target has failed with `e`: if that was a limit, it rests. */
void chain_note(struct chain_walk *w, const struct err *e, uint64_t now_ms);
/* CHAIN_NEXT and CHAIN_TOO_LONG, for a person: after how many attempts keel gave up, why, and what
 * would change it. What is not tried again stays as it is. */
struct err *chain_explain(const struct chain_walk *w, struct err *take_error, enum chain_next next,
                          uint64_t delay_ms) MUST_USE;

#endif
