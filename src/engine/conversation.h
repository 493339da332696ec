/* conversation.h - what outlives a run: history, the state of the tools, the numbering of its
 * events.
 *
 * One run at a time. Runs change it and nothing else; two conversations share nothing. */
#ifndef KEEL_ENGINE_CONVERSATION_H
#define KEEL_ENGINE_CONVERSATION_H

#include "model/history.h"
#include "model/kept_body.h"
#include "port/tool_state.h"

struct conversation {
    char *id; /* names its stream of events */
    struct history history;
    struct tool_state *state;
    uint64_t next_seq;
    unsigned n_runs;
    bool is_running;
    /* what the next request begins with */
    struct built_prefix *built;
    struct kept_body body;
};

void conversation_init(struct conversation *c, struct str id, struct str cwd);
void conversation_done(struct conversation *c); /* after the tools' tasks have ended */
DEFINE_AUTO_VAL(conversation, conversation_done)

#endif
