/* show_calls.c - tool calls of a conversation, and what they gave back. */
#include "cli/session/show.h"

#include "session/codec/codec.h"

static struct shown_call *add_call(struct session_show *s, size_t index)
{
    s->calls = arena_grow(&s->calls_arena, s->calls, s->n_calls, &s->calls_room, sizeof *s->calls);
    s->calls[s->n_calls] = (struct shown_call){.index = index};
    return &s->calls[s->n_calls++];
}

void session_show_note_request(struct session_show *s, const struct event_tool *t)
{
    add_call(s, t->index)->args = t->args ? json_copy(&s->calls_arena, t->args) : NULL;
}

static struct shown_call *find_call(struct session_show *s, size_t index)
{
    for (size_t i = s->n_calls; i-- > 0;)
        if (s->calls[i].index == index)
            return &s->calls[i];
    return NULL;
}

void session_show_note_end(struct session_show *s, const struct event *e)
{
    struct shown_call *call = find_call(s, e->body.tool.index);

    if (call)
        call->end_seq = e->seq;
}

void session_show_forget_calls(struct session_show *s)
{
    arena_done(&s->calls_arena);
    s->calls_arena = (struct arena){0};
    s->calls = NULL;
    s->n_calls = s->calls_room = 0;
}

/* The model may have got a part of it; all of it is in the event of its end. */
static void read_whole(struct session_show *s, uint64_t end_seq, struct arena *a,
                       const struct part **result)
{
    struct part *whole = ARENA_NEW(a, struct part);
    AUTO(err) struct err *e = codec_read_result(s->work->store, s->summary.id, end_seq, a, whole);

    if (e)
        cli_tell_error(e);
    else
        *result = whole;
}

/* A plan is for the person: an argument that reads like an answer. One that waited begins again
 * with its answer, and one that waits now is in the header. */
static void show_plan(struct session_show *s, const struct event_tool *t)
{
    bool waits = s->loaded.last_run == LAST_RUN_SUSPENDED && s->turn == session_show_last(s);

    if (!str_is(t->name, TOOL_EXIT_PLAN_MODE) || waits || str_eq(t->call_id, strbuf_str(&s->plan)))
        return;
    strbuf_clear(&s->plan);
    strbuf_add(&s->plan, t->call_id);
    session_show_stream(s, str_trim(json_get_text(t->args, "plan")));
}

struct err *session_show_tool(struct session_show *s, const struct event *e)
{
    const struct shown_call *call = find_call(s, e->body.tool.index);
    AUTO(arena) struct arena a = {0};
    struct event shown = *e;

    if (call)
        shown.body.tool.args = call->args;
    if (s->is_whole && e->type == EVENT_TOOL_RESULT && call && call->end_seq)
        read_whole(s, call->end_seq, &a, &shown.body.tool.result);
    display_event(&s->show, &shown);
    if (e->type == EVENT_TOOL_BEGIN)
        show_plan(s, &shown.body.tool);
    return TAKE(s->show.error);
}

/* --- of a copied session --- */

void session_show_note_calls(struct session_show *s, const struct message *m)
{
    session_show_forget_calls(s);
    for (size_t i = 0; i < m->n_parts; i++) {
        const struct part *part = &m->parts[i];
        struct shown_call *call;
        struct json_where where;
        struct json *args = NULL;

        if (part->kind != PART_TOOL_CALL)
            continue;
        call = add_call(s, i);
        call->id = arena_str(&s->calls_arena, part->id);
        call->name = arena_str(&s->calls_arena, part->name);
        json_parse_at(&s->calls_arena, arena_str(&s->calls_arena, part->args), JSON_REPAIR_UTF8,
                      &args, &where);
        call->args = args;
    }
}

static struct err *show_base_call(struct session_show *s, struct shown_call *call,
                                  const struct part *result)
{
    struct event e = {.type = EVENT_TOOL_BEGIN,
                      .body.tool = {.name = call->name,
                                    .args = call->args,
                                    .result = result,
                                    .was_executed = true,
                                    .is_ok = !result || !result->is_error}};

    call->was_shown = true;
    display_event(&s->show, &e);
    e.type = EVENT_TOOL_RESULT;
    if (result)
        display_event(&s->show, &e);
    return TAKE(s->show.error);
}

struct err *session_show_base_results(struct session_show *s, const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        for (size_t k = 0; k < s->n_calls; k++)
            if (m->parts[i].kind == PART_TOOL_RESULT && !s->calls[k].was_shown &&
                str_eq(s->calls[k].id, m->parts[i].id))
                TRY(show_base_call(s, &s->calls[k], &m->parts[i]));
    return NULL;
}

struct err *session_show_other_calls(struct session_show *s)
{
    for (size_t i = 0; i < s->n_calls; i++)
        if (s->calls[i].id.n && !s->calls[i].was_shown)
            TRY(show_base_call(s, &s->calls[i], NULL));
    return NULL;
}
