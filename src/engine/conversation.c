/* conversation.c - beginning and ending a conversation. */
#include "engine/conversation.h"

void conversation_init(struct conversation *c, struct str id, struct str cwd)
{
    *c = (struct conversation){.id = str_dup(id), .tools = tool_session_new(cwd), .next_seq = 1};
}

void conversation_done(struct conversation *c)
{
    tool_session_free(c->tools);
    history_done(&c->history);
    mem_free(c->id);
    *c = (struct conversation){0};
}
