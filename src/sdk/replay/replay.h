/* replay.h - recorded runs once more, offline, through the real engine.
 *
 * The engine runs as it did then: it builds its requests, which the protocol encodes; the recorded
 * bytes of the answers go through the protocol's decoder; messages are committed, batches are run.
 * What it emits must be what was emitted then, line by line (archive/replay_line.h). What came from
 * outside is played: answers, outcomes of tools, verdicts, words of hooks, limits of a budget, and
 * the moment at which a person ended it. Nothing is sent, run, asked or stored.
 *
 * A run starts from what the stream held at its beginning, so that each one stands for itself. Ids
 * are new ones, and each must stand wherever the recorded one stood; times are the recorded ones.
 * Dialect and options of a provider are those of its profile as it is configured now, and what is
 * known of a model is what the catalogue says now.
 *
 * In a task of a loop that has the clock below: waits between attempts take no time. */
#ifndef KEEL_SDK_REPLAY_REPLAY_H
#define KEEL_SDK_REPLAY_REPLAY_H

#include "port/store.h"
#include "sdk/project.h"
#include "sys/clock.h"

/* Goes with the recorded times, and jumps where a task sleeps. */
struct replay_clock {
    struct clock clock;
    uint64_t now_ms;
};
void replay_clock_init(struct replay_clock *c);

enum replay_verdict {
    REPLAY_SAME,
    REPLAY_DIFFERENT, /* `recorded` and `replayed` say how */
    REPLAY_DAMAGED,   /* the same up to a record that cannot be read: `damage` */
};

/* One run. Borrowed until the sink returns. */
struct replayed_run {
    uint64_t seq; /* of its first event */
    unsigned turn;
    size_t n_compared, n_recorded; /* events */
    bool is_cut;                   /* the recording ends before the run did */
    enum replay_verdict verdict;
    struct str damage;
    uint64_t different_seq;
    struct str recorded, replayed; /* lines; empty: there was none */
    size_t at;                     /* the first byte that differs */
};

struct replay_options {
    const struct project *project; /* for profiles */
    struct store *store;
    struct str session;
    unsigned only_turn;         /* 0: all runs */
    size_t tool_response_bytes; /* the setting; 0: the default */
    struct replay_clock *clock;
    void (*on_run)(void *self, const struct replayed_run *run);
    void *self;
};

/* An error: the store cannot be read. */
MUST_USE struct err *session_replay(const struct replay_options *options);

#endif
