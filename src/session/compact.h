/* compact.h - a long history becomes a summary of it, before the window is full.
 *
 * Due at the start of a run and between rounds, when the context is at or over the threshold; never
 * during an answer, and never twice for one overflow. The model is asked aside for a summary; the
 * history is then that summary as one assistant message, "[Context Summary] ...", and one user
 * message with what must not be forgotten. The system prompt is not part of it and stays. A summary
 * that failed or is empty leaves the history as it is, and it is told. */
#ifndef KEEL_SESSION_COMPACT_H
#define KEEL_SESSION_COMPACT_H

#include "engine/run.h"

#define COMPACT_DEFAULT_PER_MILLE LEDGER_COMPACT_PER_MILLE
#define COMPACT_SUMMARY_PREFIX "[Context Summary] "

/* Appends what the model must still know after a compaction; nothing, if there is nothing. */
struct reattacher {
    void (*attach)(void *self, const struct conversation *c, struct strbuf *out);
    void *self;
};
extern const struct reattacher reattach_todos, reattach_files;

struct compact_options {
    int threshold_per_mille;              /* 0: COMPACT_DEFAULT_PER_MILLE; -1: never by itself */
    struct str instructions;              /* what the summary must care for; may be empty */
    const struct reattacher *reattachers; /* NULL: todos and files */
    size_t n_reattachers;
    void (*on_compact)(void *self, struct str summary, const struct event_compact *event);
    void *self;
};

struct compaction {
    struct compactor compactor; /* what a run is given */
    struct compact_options options;
    struct conversation *conversation;
    struct hooks *hooks; /* PreCompact, PostCompact; NULL: none */
    struct str demanded; /* instructions of a manual one */
    bool is_demanded;
    int64_t failed_at; /* tokens: not tried again before the context has grown beyond */
};
void compaction_init(struct compaction *c, const struct compact_options *options,
                     struct conversation *conversation, struct hooks *hooks);

#endif
