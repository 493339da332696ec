/* ask_state.h - a question to the model while it is asked: what the files of asking share.
 *
 *     ask.c          targets and attempts, one after the other; what came is committed
 *     ask_request.c  what is sent
 *     ask_stream.c   what streams in */
#ifndef KEEL_ENGINE_ASK_STATE_H
#define KEEL_ENGINE_ASK_STATE_H

#include "engine/refused_media.h"
#include "engine/request_build.h"
#include "engine/run_state.h"

struct ask_state {
    struct run *run;
    const struct final_turn *final; /* NULL: an ordinary round */
    const struct aside *aside;      /* NULL: it belongs to the conversation */
    struct reply reply;
    struct built_messages built;
    struct arena arena; /* emptied with each attempt */
    const struct tool_def **tools;
    size_t n_tools;
    uint64_t n_deltas;
    const char *slugs[CHAIN_MAX_TARGETS * 8]; /* codes of the attempts that failed */
    size_t n_slugs;
    int64_t prompt_tokens; /* of the conversation, as the ledger has them */
    struct chain_walk walk;
    struct refusals refusals;
    /* of the attempt under way */
    struct model_request request;
    struct reservation reserved;
    bool was_sent;
    /* deltas without credentials: what was held back is of this part and kind */
    struct secrets_stream shown;
    struct strbuf shown_text;
    size_t shown_part;
    enum delta_kind shown_kind;
    uint64_t found; /* in the last attempt's answer */
};

/* --- ask_request.c --- */

/* Fills in a->request for this target; what it points at lives until the next one is built. */
void ask_build(struct ask_state *a, const struct target *t);
/* What ends this request only, or NULL. */
const struct str *ask_overlay(const struct ask_state *a);
/* Models are asked for the text of their reasoning. Some vendors show it only to accounts that they
 * have verified, and refuse the request of others. True: this error is such a refusal, and the
 * provider is not asked for it any more in this session, so that the request is worth another try.
 */
bool ask_without_thoughts(struct run *r, struct str provider, const struct err *e);

/* --- ask_stream.c --- */

/* Where the parts of the answer go while they come. */
struct delta_sink ask_sink(struct ask_state *a);
/* Emits what was held back: its part, or all of the answer, has ended. */
void ask_end_deltas(struct ask_state *a);
/* Text of different rounds must not run together. */
void ask_separate(struct ask_state *a);
/* For a provider_call; `self` is the ask_state. */
void ask_on_native_payload(void *self, const struct native_payload *p);

#endif
