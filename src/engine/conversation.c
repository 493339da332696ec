/* conversation.c - beginning and ending a conversation. */
#include "engine/conversation.h"

#include "engine/request_build.h"

void conversation_init(struct conversation *c, struct str id, struct str cwd)
{
    *c = (struct conversation){.id = str_dup(id),
                               .state = tool_state_new(cwd),
                               .next_seq = 1,
                               .built = built_prefix_new()};
}

void conversation_done(struct conversation *c)
{
    tool_state_free(c->state);
    history_done(&c->history);
    built_prefix_free(c->built);
    kept_body_done(&c->body);
    mem_free(c->id);
    *c = (struct conversation){0};
}
