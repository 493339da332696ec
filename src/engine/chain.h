/* chain.h - asks a chain of targets until one answers or the failure is final.
 *
 * A target is a provider with a model. What a failure means is told by its kind: cancelled ends
 * all; a refused key, a used-up quota, an unknown model or an answer that cannot be read skips the
 * target; rate limits, overload, network and time-outs are tried again at the same target, up to
 * its attempts; then the next target is asked. All other failures are final.
 *
 * Between attempts at one target the provider's own delay is waited (unless it is longer than 8 s
 * and another target is free). Where it names none, the waits double from 0.5 s to 60 s (or as the
 * target has it), each of them up to a half shorter or longer by chance. All waits of one ask
 * together are bounded: one that would go beyond that ends the attempts at this target at once.
 *
 * After a rate limit a target rests for 30 s: it is skipped while another one is there. Once text
 * has been shown, no other target is asked, unless the watcher agrees to drop it. Rests last as
 * long as the chain, which belongs to one run. */
#ifndef KEEL_ENGINE_CHAIN_H
#define KEEL_ENGINE_CHAIN_H

#include "base/secrets.h"
#include "port/provider.h"
#include "sys/random.h"

#define CHAIN_MAX_TARGETS 16
#define CHAIN_DEFAULT_MAX_WAIT_MS 600000
#define RETRY_MAX_SECONDS 604800 /* that anybody may allow: a week */

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

/* One request to one target, told before it leaves and after it ended. */
struct attempt {
    const struct target *target;
    unsigned number;    /* from 1, over all targets of this ask */
    unsigned at_target; /* from 1, at this target */
    unsigned max_at_target;
    /* when it has ended: */
    const struct reply *reply;
    const struct err *error; /* NULL: it answered */
    int64_t cost_microcents; /* -1: unknown */
    uint64_t duration_ms;
    uint64_t delay_ms; /* until it would be tried again, which need not happen; 0: it would not */
};

/* What the run does around attempts. All but `build` may be NULL. */
struct chain_hooks {
    /* Does the request fit into the window of this target? One that is too small is skipped. */
    bool (*fits)(void *self, const struct target *t);
    /* Fills in the request for this target; what it points at lives until the attempt has ended. */
    struct err *(*build)(void *self, const struct target *t, struct model_request *ret_request);
    /* May it be made? An error (budget_exceeded, ...) ends the ask with it. */
    struct err *(*reserve)(void *self, const struct attempt *a);
    /* The last wait before the bytes leave; an error ends the ask, and the attempt is settled. */
    struct err *(*before_send)(void *self);
    /* After every attempt, failed ones too. */
    void (*settle)(void *self, const struct attempt *a);
    /* The attempt failed; `is_last`: by itself the chain asks this target no more. True: the next
     * request is built without what may be wrong with this one, so the same target is asked again
     * at once, and that is not one of its attempts. May be NULL. */
    bool (*repair)(void *self, const struct target *t, const struct err *why, bool is_last);
    void (*on_retry)(void *self, const struct attempt *a);
    void (*on_fallback)(void *self, const struct target *from, const struct target *to,
                        const struct err *why);
    /* The wait after this attempt, where the provider names none; -1: it is a matter of chance. */
    int64_t (*known_delay)(void *self);
    /* Text of a failed attempt has been shown. True: it was taken back, go on elsewhere. */
    bool (*drop_text)(void *self);
    void *self;
    const struct secrets *secrets; /* kept out of errors; NULL: none are known */
};

struct chain {
    const struct target *targets;
    size_t n_targets;
    unsigned default_attempts;
    uint64_t max_wait_ms; /* between the attempts of one ask, all together */
    const struct random *random;
    uint64_t rests_until_ms[CHAIN_MAX_TARGETS];
};

void chain_init(struct chain *c, const struct target *targets, size_t n_targets,
                unsigned default_attempts, const struct random *random);

/* In a task. The reply holds the answer, or what had come when the last attempt failed. */
MUST_USE struct err *chain_ask(struct chain *c, const struct chain_hooks *hooks,
                               const struct provider_call *call, struct reply *reply,
                               const struct target **ret_target);

#endif
