/* messages.c - writes a conversation as Chat Completions messages.
 *
 * Every tool result is a message of its own, with nothing between the results of one round. So if
 * the vendor does not accept pictures in results, they go into a user message after them. Empty
 * messages and texts are not written: APIs refuse them. */
#include "provider/openai_chat/openai_chat.h"

#include "base/ascii.h"
#include "base/sha256.h"

#define MAX_CALL_ID 40
#define SHORT_CALL_ID 9

/* --- ids --- */

static bool is_short_id(struct str id)
{
    for (size_t i = 0; i < id.n; i++)
        if (!ascii_is_alnum(id.p[i]))
            return false;
    return id.n == SHORT_CALL_ID;
}

void chat_write_call_id(struct chat_talk *t, struct str id)
{
    char hex[SHA256_HEX_SIZE];

    if (t->b->dialect->short_call_ids && !is_short_id(id)) {
        sha256_hex(id, hex);
        id = str_make(hex, SHORT_CALL_ID);
    }
    jw_call_id(t->w, id, MAX_CALL_ID);
}

/* --- system --- */

struct str chat_cache_mark(const struct model_request *r)
{
    return r->cache == PROMPT_CACHE_LONG ? S("{\"type\":\"ephemeral\",\"ttl\":\"1h\"}")
                                         : S("{\"type\":\"ephemeral\"}");
}

static struct str system_role(const struct chat_talk *t)
{
    return t->b->dialect->developer_role ? S("developer") : S("system");
}

/* The mark follows what does not change during a session: tools and system text. */
static void write_marked_text(struct chat_talk *t, struct str text)
{
    jw_begin_array(t->w);
    jw_begin_object(t->w);
    jw_kv_str(t->w, "type", S("text"));
    jw_kv_str(t->w, "text", text);
    jw_kv_raw(t->w, "cache_control", chat_cache_mark(t->b->request));
    jw_end_object(t->w);
    jw_end_array(t->w);
}

static void write_system(struct chat_talk *t)
{
    const struct model_request *r = t->b->request;

    if (text_is_blank(r->system))
        return;
    jw_begin_object(t->w);
    jw_kv_str(t->w, "role", system_role(t));
    jw_key(t->w, "content");
    if (t->b->dialect->cache_marks && r->cache != PROMPT_CACHE_OFF)
        write_marked_text(t, r->system);
    else
        jw_str(t->w, r->system);
    jw_end_object(t->w);
}

/* --- user --- */

static bool is_said(const struct part *p)
{
    return (p->kind == PART_TEXT && !text_is_blank(p->text)) || p->kind == PART_MEDIA;
}

static size_t count_said(const struct message *m, const struct part **ret_last)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_parts; i++)
        if (is_said(&m->parts[i])) {
            *ret_last = &m->parts[i];
            n++;
        }
    return n;
}

/* Begins a message; its content comes next. Some vendors require a message of the assistant between
 * tool results and the user. */
void chat_begin_message(struct chat_talk *t, struct str role)
{
    if (t->after_results && t->b->dialect->answer_after_tools)
        jw_raw(t->w, S("{\"role\":\"assistant\",\"content\":\"I have the results.\"}"));
    t->after_results = false;
    jw_begin_object(t->w);
    jw_kv_str(t->w, "role", role);
    jw_key(t->w, "content");
}

static struct err *write_said(struct chat_talk *t, const struct message *m)
{
    const struct part *last = NULL;
    size_t n = count_said(m, &last);

    if (n == 0)
        return NULL;
    chat_begin_message(t, m->role == ROLE_SYSTEM ? system_role(t) : S("user"));
    if (n == 1 && last->kind == PART_TEXT) {
        jw_str(t->w, last->text);
        jw_end_object(t->w);
        return NULL;
    }
    jw_begin_array(t->w);
    for (size_t i = 0; i < m->n_parts; i++) {
        const struct part *p = &m->parts[i];

        if (is_said(p) && p->kind == PART_TEXT)
            chat_write_text(t->b, p->text);
        else if (is_said(p))
            TRY(chat_write_media(t->b, &p->media));
    }
    jw_end_array(t->w);
    jw_end_object(t->w);
    return NULL;
}

/* --- tool results --- */

/* May this picture be inside the result? */
static bool stays_inside(const struct chat_talk *t, const struct part *content)
{
    return t->b->dialect->tool_images && media_is(&content->media, "image/");
}

static size_t count_media(const struct chat_talk *t, const struct part *result, bool inside)
{
    size_t n = 0;

    for (size_t i = 0; i < result->n_content; i++)
        n +=
            result->content[i].kind == PART_MEDIA && stays_inside(t, &result->content[i]) == inside;
    return n;
}

static struct err *write_result_parts(struct chat_talk *t, const struct part *result)
{
    jw_begin_array(t->w);
    for (size_t i = 0; i < result->n_content; i++) {
        const struct part *p = &result->content[i];

        if (p->kind == PART_TEXT && !text_is_blank(p->text))
            chat_write_text(t->b, p->text);
        else if (p->kind == PART_MEDIA && stays_inside(t, p))
            TRY(chat_write_media(t->b, &p->media));
    }
    jw_end_array(t->w);
    return NULL;
}

static struct err *write_result_text(struct chat_talk *t, const struct part *result)
{
    AUTO(strbuf) struct strbuf text = {0};

    tool_result_text(result, &text);
    TRY(strbuf_check(&text, "a tool result"));
    if (!text_is_blank(strbuf_str(&text)))
        jw_str(t->w, strbuf_str(&text));
    else
        jw_str(t->w, tool_result_has_media(result) ? S("(see below)") : S("(no output)"));
    return NULL;
}

static struct err *write_result(struct chat_talk *t, const struct part *result)
{
    jw_begin_object(t->w);
    jw_kv_str(t->w, "role", S("tool"));
    jw_key(t->w, "tool_call_id");
    chat_write_call_id(t, result->id);
    jw_key(t->w, "content");
    if (count_media(t, result, /* inside= */ true))
        TRY(write_result_parts(t, result));
    else
        TRY(write_result_text(t, result));
    jw_end_object(t->w);
    t->after_results = true;
    return NULL;
}

static struct err *write_media_of(struct chat_talk *t, const struct part *result)
{
    AUTO(strbuf) struct strbuf title = {0};

    strbuf_addf(&title, "From the result of %" STR_FMT ":",
                STR_ARG(result->name.n ? result->name : S("a tool")));
    chat_write_text(t->b, strbuf_str(&title));
    for (size_t i = 0; i < result->n_content; i++)
        if (result->content[i].kind == PART_MEDIA && !stays_inside(t, &result->content[i]))
            TRY(chat_write_media(t->b, &result->content[i].media));
    return NULL;
}

/* One user message with the pictures of all results, in their order. */
static struct err *write_media_behind(struct chat_talk *t, struct message_run run)
{
    const struct message *const *messages = t->b->request->messages;
    bool has_begun = false;

    for (size_t i = run.from; i < run.to; i++)
        for (size_t k = 0; k < messages[i]->n_parts; k++) {
            const struct part *p = &messages[i]->parts[k];

            if (p->kind != PART_TOOL_RESULT || !count_media(t, p, /* inside= */ false))
                continue;
            if (!has_begun) {
                chat_begin_message(t, S("user"));
                jw_begin_array(t->w);
                has_begun = true;
            }
            TRY(write_media_of(t, p));
        }
    if (has_begun) {
        jw_end_array(t->w);
        jw_end_object(t->w);
    }
    return NULL;
}

static struct err *write_results(struct chat_talk *t, struct message_run run)
{
    const struct message *const *messages = t->b->request->messages;

    for (size_t i = run.from; i < run.to; i++)
        for (size_t k = 0; k < messages[i]->n_parts; k++)
            if (messages[i]->parts[k].kind == PART_TOOL_RESULT)
                TRY(write_result(t, &messages[i]->parts[k]));
    return write_media_behind(t, run);
}

/* --- all of them --- */

static struct err *write_run(struct body *b, struct message_run run)
{
    const struct message *const *messages = b->request->messages;
    struct chat_talk t = {.b = b, .w = &b->w, .after_results = b->mark};

    if (messages[run.from]->role == ROLE_ASSISTANT) {
        TRY(chat_write_answer(&t, messages[run.from]));
    } else {
        TRY(write_results(&t, run));
        for (size_t i = run.from; i < run.to; i++)
            TRY(write_said(&t, messages[i]));
    }
    b->mark = t.after_results;
    return NULL;
}

struct err *chat_write_messages(struct body *b)
{
    static const struct run_writer writer = {run_of_results, write_run};
    struct chat_talk t = {.b = b, .w = &b->w};

    if (!body_key(b, "messages"))
        return NULL;
    jw_begin_array(&b->w);
    write_system(&t);
    TRY(body_messages(b, &writer));
    jw_end_array(&b->w);
    return NULL;
}
