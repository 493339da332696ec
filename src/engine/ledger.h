/* ledger.h - how full the context window is. Pure.
 *
 * used = max(estimate of all that is sent, what the provider last counted plus an estimate of what
 * was added since, the caller's floor). A count on the last message is exact. Usage of earlier
 * requests is never added up: every request sends the whole conversation. */
#ifndef KEEL_ENGINE_LEDGER_H
#define KEEL_ENGINE_LEDGER_H

#include "model/history.h"
#include "model/tool_def.h"

/* Shares of the window, in per mille, at which something is done. */
enum {
    LEDGER_RESULTS_PER_MILLE = 800, /* later results of a batch are cut (fit.c) */
    LEDGER_COMPACT_PER_MILLE = 835, /* a run begins with a compaction */
    LEDGER_GUARD_PER_MILLE = 950,   /* nothing is sent */
};

struct token_estimate {
    int64_t serialized; /* from the size of all messages, and of what precedes them */
    int64_t counted;    /* the provider's last count and an estimate of the rest; 0: none yet */
    int64_t floor;      /* the caller's */
    int64_t used;       /* the largest of them, or the exact count */
    bool is_exact;      /* nothing came after the provider's count */
};

/* `head`: the tokens of what precedes the messages. */
struct token_estimate ledger_estimate(const struct message *const *messages, size_t n_messages,
                                      int64_t head, int64_t floor);
/* The same for a history that grows: only what came since the last time is looked at. */
struct token_estimate ledger_estimate_history(struct history *h, int64_t head, int64_t floor);
/* System text and tools. */
int64_t ledger_head_tokens(struct str system, const struct tool_def *const *tools, size_t n_tools);

/* Four characters a token, media by their kind. */
int64_t ledger_message_tokens(const struct message *m);
/* What a tool's result will take: two characters a token, because such text is dense. */
int64_t ledger_result_tokens(struct str text);

/* What a last turn needs of the window: the answer that is asked for (0: of usual length) and a
 * little more, and no more than this share. */
int64_t ledger_reserve(int64_t window, int64_t max_output, int per_mille);

bool ledger_is_over(int64_t used, int64_t window, int per_mille);

/* Why a prompt was not sent, for the person and for later rounds; `is_first`: nothing came before
 * it. */
void ledger_explain_guard(const struct token_estimate *e, int64_t window, bool is_first,
                          struct strbuf *out);

#endif
