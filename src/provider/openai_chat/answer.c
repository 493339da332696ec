/* answer.c - writes the assistant's messages.
 *
 * A message has all text in one string, then the calls. Reasoning goes back only to the provider
 * that made it, in the way that its vendor accepts. */
#include "provider/openai_chat/openai_chat.h"

/* An assistant message, sorted by the places of its parts. */
struct chat_answer {
    const struct message *m;
    bool is_native;
    struct strbuf text, reasoning;
    const struct part *details;
    size_t n_calls;
};

static void chat_answer_done(struct chat_answer *a)
{
    strbuf_done(&a->text);
    strbuf_done(&a->reasoning);
}
DEFINE_AUTO_VAL(chat_answer, chat_answer_done)

static void sort_part(struct chat_answer *a, const struct part *p)
{
    switch (p->kind) {
    case PART_TEXT:
    case PART_REFUSAL:
    case PART_MEDIA: /* the words of speech: the API forgets the sound */
        strbuf_add(&a->text, p->text);
        break;
    case PART_TOOL_CALL:
        a->n_calls++;
        break;
    case PART_REASONING:
        if (a->is_native)
            strbuf_add(&a->reasoning, p->text);
        if (a->is_native && p->native.n)
            a->details = p;
        break;
    default: /* the API has no place for others */
        break;
    }
}

static struct err *sort_answer(struct chat_answer *a)
{
    for (size_t i = 0; i < a->m->n_parts; i++)
        sort_part(a, &a->m->parts[i]);
    if (text_is_blank(strbuf_str(&a->text)))
        strbuf_clear(&a->text);
    TRY(strbuf_check(&a->text, "an answer"));
    return strbuf_check(&a->reasoning, "an answer");
}

static void write_thinking_part(struct chat_talk *t, struct str thinking)
{
    jw_begin_object(t->w);
    jw_kv_str(t->w, "type", S("thinking"));
    jw_key(t->w, "thinking");
    jw_begin_array(t->w);
    chat_write_text(t->b, thinking);
    jw_end_array(t->w);
    jw_end_object(t->w);
}

static void write_answer_content(struct chat_talk *t, const struct chat_answer *a)
{
    if (a->reasoning.n && t->b->dialect->reasoning_replay == REPLAY_THINKING_PARTS) {
        jw_begin_array(t->w);
        write_thinking_part(t, strbuf_str(&a->reasoning));
        if (a->text.n)
            chat_write_text(t->b, strbuf_str(&a->text));
        jw_end_array(t->w);
    } else if (a->text.n) {
        jw_str(t->w, strbuf_str(&a->text));
    } else {
        jw_null(t->w);
    }
}

static void write_reasoning(struct chat_talk *t, const struct chat_answer *a)
{
    const char *key = NULL;

    switch (t->b->dialect->reasoning_replay) {
    case REPLAY_REASONING_CONTENT:
        key = "reasoning_content";
        break;
    case REPLAY_REASONING_DETAILS:
        if (a->details) {
            jw_kv_raw(t->w, "reasoning_details", a->details->native);
            return;
        }
        key = "reasoning";
        break;
    case REPLAY_REASONING_FIELD:
        key = "reasoning";
        break;
    case REPLAY_THINKING_PARTS: /* part of the content */
    case REPLAY_NO_REASONING:
        return;
    }
    if (a->reasoning.n)
        jw_kv_str(t->w, key, strbuf_str(&a->reasoning));
}

/* The arguments are JSON in a string; free text for a function becomes its only argument. */
static void write_arguments(struct chat_talk *t, const struct part *call)
{
    AUTO(strbuf) struct strbuf args = {0};
    struct json_writer inner;

    if (!call->is_free_text) {
        jw_kv_str(t->w, "arguments", call->args.n ? call->args : S("{}"));
        return;
    }
    jw_init(&inner, &args);
    jw_begin_object(&inner);
    jw_kv_str(&inner, "input", call->args);
    jw_end_object(&inner);
    jw_kv_str(t->w, "arguments", strbuf_str(&args));
}

static void write_call(struct chat_talk *t, const struct chat_answer *a, const struct part *call)
{
    bool is_custom = chat_is_custom(t->b, call->is_free_text);
    const char *kind = is_custom ? "custom" : "function";

    jw_begin_object(t->w);
    jw_key(t->w, "id");
    chat_write_call_id(t, call->id);
    jw_kv_str(t->w, "type", str_of(kind));
    jw_key(t->w, kind);
    jw_begin_object(t->w);
    jw_kv_str(t->w, "name", call->name);
    if (is_custom)
        jw_kv_str(t->w, "input", call->args);
    else
        write_arguments(t, call);
    jw_end_object(t->w);
    if (a->is_native && call->native.n)
        jw_kv_raw(t->w, "extra_content", call->native);
    jw_end_object(t->w);
}

static void write_calls(struct chat_talk *t, const struct chat_answer *a)
{
    jw_key(t->w, "tool_calls");
    jw_begin_array(t->w);
    for (size_t i = 0; i < a->m->n_parts; i++)
        if (a->m->parts[i].kind == PART_TOOL_CALL)
            write_call(t, a, &a->m->parts[i]);
    jw_end_array(t->w);
}

struct err *chat_write_answer(struct chat_talk *t, const struct message *m)
{
    AUTO(chat_answer)
    struct chat_answer a = {
        .m = m,
        .is_native = message_is_native_to(m, t->b->request->provider, t->b->request->protocol)};

    TRY(sort_answer(&a));
    if (a.text.n == 0 && a.n_calls == 0)
        return NULL; /* nothing that this API accepts */
    t->after_results = false;
    chat_begin_message(t, S("assistant"));
    write_answer_content(t, &a);
    write_reasoning(t, &a);
    if (a.n_calls)
        write_calls(t, &a);
    jw_end_object(t->w);
    return NULL;
}
