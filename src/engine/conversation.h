/* conversation.h - what outlives a run: history, the state of the tools, the stream of its events.
 *
 * One run at a time. Runs change it and nothing else; two conversations share nothing. */
#ifndef KEEL_ENGINE_CONVERSATION_H
#define KEEL_ENGINE_CONVERSATION_H

#include "model/history.h"
#include "model/kept_body.h"
#include "port/event_stream.h"
#include "port/tool_state.h"

struct conversation {
    char *id; /* also of the stream */
    struct history history;
    struct tool_state *state;
    struct event_stream stream;
    bool is_running;
    /* what the next request begins with */
    struct built_prefix *built;
    struct kept_body body;
};

/* Its stream is open and records nothing. */
void conversation_init(struct conversation *c, struct str id, struct str cwd);
/* Changes of the tools' state are events from here on; a run does it too. */
void conversation_listen(struct conversation *c);
/* No run is under way: gives back what only makes the next request cheaper to write. */
void conversation_rest(struct conversation *c);
void conversation_done(struct conversation *c); /* after the tools' tasks have ended */
DEFINE_AUTO_VAL(conversation, conversation_done)

#endif
