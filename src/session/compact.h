/* compact.h - a long history becomes a summary of it, before the window is full.
 *
 * Due at the start of a run and between rounds, when the context is at or over the threshold, or
 * would be with the results of a batch; never during an answer, and never twice for one overflow:
 * neither a summary that failed nor one that did not help is tried again before the context has
 * grown by a twentieth of the window. Old and large results are taken out first, if that gains
 * enough. Else the model is asked aside for a summary; the history is then that summary as one
 * assistant message, "[Context Summary] ...", and one user message with what must not be forgotten.
 * Results that no model has seen yet stay behind it, with the answer that called for them. The
 * system prompt is not part of it and stays, and so do system messages. A failure leaves the
 * history as it is, and is reported; an interrupt leaves it, too. The journal keeps what was
 * summarised. */
#ifndef KEEL_SESSION_COMPACT_H
#define KEEL_SESSION_COMPACT_H

#include "engine/run.h"

#define COMPACT_DEFAULT_PER_MILLE LEDGER_COMPACT_PER_MILLE
#define COMPACT_SUMMARY_PREFIX "[Context Summary] "
#define COMPACT_GROWTH_PART 20   /* of the window: growth before the next try */
#define COMPACT_KEPT_ROUNDS 4    /* answers whose results are not taken out */
#define COMPACT_LARGE_RESULT 500 /* tokens: smaller ones are not worth a name */
/* Of the window: taking out results for less would not be worth it. All behind the first of them is
 * read by the provider anew, at ten times the price of what it has cached; after a fifth the window
 * fills for many rounds before that is due again. */
#define COMPACT_RESULTS_PART 5

/* --- what is put back --- */

struct reattaching {
    const struct conversation *conversation; /* with the history that was summarised */
    const struct path_filter *hidden;        /* files that must not be seen; NULL: none */
    size_t max_bytes;                        /* that there is room for */
};

/* Appends what the model must still know after a compaction; nothing, if there is nothing. May
 * wait; its only errors are those of an interrupted wait. Longer texts than asked for are cut. */
struct reattacher {
    struct err *(*attach)(void *self, const struct reattaching *r, struct strbuf *out);
    void *self;
};
/* The person's last message while work on it continues; the todo list; the files in work. */
extern const struct reattacher reattach_request, reattach_todos, reattach_files;

#define REATTACH_NOTE "[Added after the summary by keel, not by the person]"
#define REATTACH_REQUEST "The last message of the person, word for word:\n\n"

/* --- compacting --- */

struct compact_options {
    int threshold_per_mille;              /* 0: COMPACT_DEFAULT_PER_MILLE; -1: never by itself */
    struct str instructions;              /* what the summary must care for; may be empty */
    const struct reattacher *reattachers; /* NULL: the three above */
    size_t n_reattachers;
    bool keeps_results;       /* old results are never taken out: only a summary makes room */
    bool reattaches_as_given; /* what they give is not cut: it was, when it was recorded */
    void (*on_compact)(void *self, struct str summary, const struct event_compact *event);
    void *self;
};

/* Which of the two ways to make room may be used; a replay knows which one was, and that it was
 * due. */
enum compact_steps { COMPACT_ALL_STEPS, COMPACT_ONLY_RESULTS, COMPACT_ONLY_SUMMARY };

struct compaction {
    struct compactor compactor; /* what a run is given */
    struct compact_options options;
    struct conversation *conversation;
    struct str demanded; /* instructions of a manual one */
    bool is_demanded;
    /* The run in which a batch has ended, by its number; 0: none. The next call in that run makes
     * room for its results if that was promised, and else leaves them alone. */
    unsigned looked_in;
    bool is_promised;
    enum compact_steps steps;
    int64_t failed_at;   /* tokens; 0: the last one did not fail */
    struct err *failure; /* why the last one left the history as it was; NULL: it did not */
};
void compaction_init(struct compaction *c, const struct compact_options *options,
                     struct conversation *conversation);
void compaction_done(struct compaction *c);
DEFINE_AUTO_VAL(compaction, compaction_done)

/* The next time that a run could compact it does, whatever the threshold says. The instructions
 * are added to those of the options and borrowed until then. */
void compaction_demand(struct compaction *c, struct str instructions);

#endif
