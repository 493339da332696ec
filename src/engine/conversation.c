/* conversation.c - beginning and ending a conversation. */
#include "engine/conversation.h"

#include "engine/request_build.h"

void conversation_init(struct conversation *c, struct str id, struct str cwd)
{
    *c = (struct conversation){
        .id = str_dup(id), .state = tool_state_new(cwd), .built = built_prefix_new()};
    c->stream.id = str_of(c->id);
    event_stream_open(&c->stream, 1, NULL);
}

static void on_state_change(void *self, struct str key, const struct json *value)
{
    struct event e = {.body.state = {.key = key, .value = value}};

    event_stream_emit(self, EVENT_STATE, &e);
}

void conversation_listen(struct conversation *c)
{
    tool_state_listen(c->state, (struct state_listener){on_state_change, &c->stream});
}

void conversation_rest(struct conversation *c)
{
    BUG_IF(c->is_running);
    built_prefix_clear(c->built);
    kept_body_done(&c->body);
}

void conversation_done(struct conversation *c)
{
    tool_state_free(c->state);
    event_stream_done(&c->stream);
    history_done(&c->history);
    built_prefix_free(c->built);
    kept_body_done(&c->body);
    mem_free(c->id);
    *c = (struct conversation){0};
}
