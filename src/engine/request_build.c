/* request_build.c - a history becomes messages that every provider takes. */
#include "engine/refused_media.h"
#include "engine/request_build_parts.h"

#define NOT_RUN "The tool call was not executed: the run ended before its turn came."
#define NO_OUTPUT "(no output)"
#define BEGIN_NOTE "[The conversation goes on from here.]"
#define CONTINUE_NOTE "Continue."

struct builder {
    struct built_messages *out;
    const struct request_target *target;
    struct strbuf system;
    struct call_ids ids;
    struct bound bound; /* of what was pushed so far */
};

void built_messages_done(struct built_messages *b)
{
    for (size_t i = 0; i < b->n; i++)
        message_unref(b->items[i]);
    arena_done(&b->arena);
    *b = (struct built_messages){0};
}

static void push(struct builder *b, struct message *take_message)
{
    struct built_messages *out = b->out;

    out->items = arena_grow(&out->arena, out->items, out->n, &out->room, sizeof *out->items);
    out->items[out->n++] = take_message;
    bound_add(&b->bound, take_message);
}

static void push_note(struct builder *b, struct str id, struct str text)
{
    struct message *m = message_new(ROLE_USER, id);

    message_add_text(m, text);
    push(b, m);
}

/* Messages of the assistant cannot come first. */
static void push_in_order(struct builder *b, struct message *take_message)
{
    if (b->out->n == 0 && take_message->role != ROLE_USER)
        push_note(b, S("begin"), S(BEGIN_NOTE));
    push(b, take_message);
}

/* --- what can be sent --- */

/* To the model, what is told beside a prompt is text like the prompt. */
static void add_text(struct message *to, const struct part *p)
{
    struct part sent = *p;

    sent.kind = PART_TEXT;
    if (!request_is_blank(p->text))
        message_add(to, &sent);
}

/* The file, or its name. */
static void add_media(struct builder *b, struct message *to, const struct part *p,
                      enum file_place place)
{
    struct arena *a = &b->out->arena;
    struct part sent = {.kind = PART_MEDIA, .media = request_media(a, &p->media)};
    const struct json *refused =
        refused_media_find(b->target->refused, b->target->provider, &sent.media);

    if (refused)
        sent = (struct part){
            .kind = PART_TEXT,
            .text = request_name_refused(a, &sent.media, json_get_text(refused, "reason"))};
    else if (!request_takes_media(b->target, &sent.media, place))
        sent =
            (struct part){.kind = PART_TEXT, .text = request_name_media(a, b->target, &sent.media)};
    message_add(to, &sent);
}

static void add_said(struct builder *b, struct message *to, const struct part *p,
                     enum file_place place)
{
    if (p->kind == PART_TEXT || p->kind == PART_CONTEXT)
        add_text(to, p);
    else if (p->kind == PART_MEDIA)
        add_media(b, to, p, place);
}

static bool speaks_anthropic(const struct builder *b)
{
    return str_is(b->target->protocol, "anthropic-messages");
}

static bool is_native(const struct builder *b, const struct message *m)
{
    return message_is_native_to(m, b->target->provider, b->target->protocol);
}

/* --- the user --- */

static void build_user(struct builder *b, const struct message *m)
{
    AUTO(message) struct message *copy = message_new(ROLE_USER, m->id);

    for (size_t i = 0; i < m->n_parts; i++)
        add_said(b, copy, &m->parts[i], FILE_IN_PROMPT);
    if (copy->n_parts)
        push_in_order(b, TAKE(copy));
}

static void build_system(struct builder *b, const struct message *m)
{
    AUTO(strbuf) struct strbuf text = {0};

    message_text(m, &text);
    if (request_is_blank(strbuf_str(&text)))
        return;
    if (b->system.n)
        strbuf_add_cstr(&b->system, "\n\n");
    strbuf_add(&b->system, strbuf_str(&text));
}

/* --- what the assistant said --- */

/* The messages that are to be sent, and where in them the builder stands. */
struct place {
    const struct message *const *messages;
    size_t n, at;
    bool is_end; /* nothing at all comes behind the last of them */
};

/* An answer that its provider wants to go on with: it goes back as it is, and nothing follows. */
static bool is_paused(const struct builder *b, const struct place *p)
{
    const struct message *m = p->messages[p->at];

    return p->is_end && p->at + 1 == p->n && speaks_anthropic(b) && is_native(b, m) &&
           str_is(m->stop_reason, "pause_turn");
}

static bool has_server_part(const struct message *m, enum part_kind kind, struct str id)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == kind && str_eq(m->parts[i].id, id) && m->parts[i].native.n)
            return true;
    return false;
}

/* A use of a provider's own tool and its result go together or not at all. After a pause the
 * result stands in the next answer. */
static bool has_counterpart(const struct builder *b, const struct place *p, const struct part *part)
{
    bool is_use = part->kind == PART_SERVER_TOOL_USE;
    size_t at = p->at;

    do {
        const struct message *m = p->messages[at];

        if (m->role != ROLE_ASSISTANT || !is_native(b, m))
            return false;
        if (has_server_part(m, is_use ? PART_SERVER_TOOL_RESULT : PART_SERVER_TOOL_USE, part->id))
            return true;
        at = is_use ? at + 1 : at - 1;
    } while (at < p->n);
    return is_use && is_paused(b, p);
}

/* Has nothing before it changed since it was made? Only Anthropic's API asks. */
static bool is_where_it_was(const struct builder *b, const struct message *m)
{
    char before[SHA256_HEX_SIZE];

    bound_tell(&b->bound, before);
    return str_is(m->origin.bound, before);
}

/* Parts that only their own provider may see again. */
static bool goes_back(const struct builder *b, const struct place *p, const struct part *part)
{
    const struct message *m = p->messages[p->at];

    if (!is_native(b, m))
        return false;
    if (part->kind == PART_REASONING)
        return !speaks_anthropic(b) ||
               (part->native.n && (part->signature.n || part->data.n) && is_where_it_was(b, m));
    return part->native.n && (!speaks_anthropic(b) || has_counterpart(b, p, part));
}

/* Nothing to read, but a signature hangs on it, or it is a block of the provider's. */
static bool is_kept_blank(const struct builder *b, const struct message *m, const struct part *p)
{
    return p->signature.n && p->native.n && is_native(b, m);
}

/* Pictures that a model made, and the words of what it spoke. */
static void add_made_media(struct builder *b, struct message *to, const struct part *p)
{
    struct part sent = *p;

    sent.media = request_media(&b->out->arena, &p->media);
    if (request_takes_media(b->target, &sent.media, FILE_IN_ANSWER))
        message_add(to, &sent);
    else if (!request_is_blank(p->text))
        message_add_text(to, p->text);
}

static void add_call(struct message *to, const struct part *p, const struct sent_call *call)
{
    struct part sent = *p;

    if (!str_eq(call->id, p->id) || !str_eq(call->name, p->name))
        sent.native = (struct str){0}; /* its bytes have the other */
    sent.id = call->id;
    sent.name = call->name;
    message_add(to, &sent);
}

static void add_answered(struct builder *b, const struct place *place, struct message *to,
                         size_t at, const struct sent_call *calls)
{
    const struct message *m = place->messages[place->at];
    const struct part *p = &m->parts[at];

    switch (p->kind) {
    case PART_TEXT:
    case PART_REFUSAL:
        if (!request_is_blank(p->text) || is_kept_blank(b, m, p))
            message_add(to, p);
        break;
    case PART_TOOL_CALL:
        add_call(to, p, &calls[at]);
        break;
    case PART_MEDIA:
        add_made_media(b, to, p);
        break;
    case PART_REASONING:
    case PART_SERVER_TOOL_USE:
    case PART_SERVER_TOOL_RESULT:
        if (goes_back(b, place, p))
            message_add(to, p);
        break;
    case PART_CITATION: /* for people */
    case PART_TOOL_RESULT:
    case PART_CONTEXT:
        break;
    }
}

/* At the end of the text; but reasoning must not be the last that an answer has. */
static void add_end_note(struct message *m, const char *note)
{
    bool ends_thinking = m->n_parts && m->parts[m->n_parts - 1].kind == PART_REASONING;

    for (size_t i = m->n_parts; i-- > 0 && !ends_thinking;) {
        struct part *p = &m->parts[i];

        if (p->kind != PART_TEXT)
            continue;
        p->text = arena_format(&m->arena, "%" STR_FMT "\n\n%s", STR_ARG(p->text), note);
        p->native = (struct str){0};
        return;
    }
    message_add_text(m, str_of(note));
}

/* Does a provider see anything in it? Reasoning alone is not an answer. */
static bool says_something(const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind != PART_REASONING)
            return true;
    return false;
}

static struct message *build_answer(struct builder *b, const struct place *place,
                                    const struct sent_call *calls)
{
    const struct message *m = place->messages[place->at];
    struct message *copy = message_new(ROLE_ASSISTANT, m->id);

    message_set_origin(copy, m->origin);
    for (size_t i = 0; i < m->n_parts; i++)
        add_answered(b, place, copy, i, calls);
    if (m->state != MESSAGE_COMPLETE)
        add_end_note(copy, m->state == MESSAGE_INTERRUPTED ? INTERRUPTED_NOTE : BROKEN_NOTE);
    while (speaks_anthropic(b) && copy->n_parts &&
           copy->parts[copy->n_parts - 1].kind == PART_REASONING)
        copy->n_parts--; /* the API wants thinking to lead to something */
    return copy;
}

/* --- what its tools said --- */

/* The n-th result for a call id among the tool messages that follow the answer. What tells people
 * of an error is no answer: the run went on behind it. */
static const struct part *find_result(const struct message *const *after, size_t n_after,
                                      struct str id, unsigned nth)
{
    for (size_t i = 0; i < n_after; i++) {
        if (after[i]->role == ROLE_ASSISTANT && !after[i]->is_error)
            return NULL;
        for (size_t k = 0; k < after[i]->n_parts; k++) {
            const struct part *p = &after[i]->parts[k];

            if (p->kind == PART_TOOL_RESULT && str_eq(p->id, id) && nth-- == 0)
                return p;
        }
    }
    return NULL;
}

/* Anthropic takes only text in a result that is an error. */
static void add_content(struct builder *b, struct message *to, const struct part *result)
{
    for (size_t i = 0; i < result->n_content; i++) {
        const struct part *p = &result->content[i];
        struct media media;

        if (p->kind == PART_MEDIA && result->is_error && speaks_anthropic(b)) {
            media = request_media(&b->out->arena, &p->media);
            message_add_text(to, request_name_media(&b->out->arena, b->target, &media));
        } else {
            add_said(b, to, p, FILE_IN_RESULT);
        }
    }
    if (to->n_parts == 0)
        message_add_text(to, S(NO_OUTPUT));
}

static void build_result(struct builder *b, const struct sent_call *call, const struct part *result)
{
    struct message *m = message_new(ROLE_TOOL, call->id);
    AUTO(message) struct message *content = message_new(ROLE_TOOL, call->id);
    struct part p = {.kind = PART_TOOL_RESULT,
                     .id = call->id,
                     .name = call->name,
                     .is_error = result ? result->is_error : true};

    if (result)
        add_content(b, content, result);
    else
        message_add_text(content, S(NOT_RUN));
    p.content = content->parts;
    p.n_content = content->n_parts;
    message_add(m, &p);
    push(b, m);
}

static void build_assistant(struct builder *b, const struct place *place)
{
    const struct message *m = place->messages[place->at];
    AUTO(message) struct message *answer = NULL;
    const struct sent_call *calls;
    size_t after = place->at + 1;

    if (m->is_error)
        return;
    calls = call_ids_give(&b->ids, &b->out->arena, m);
    answer = build_answer(b, place, calls);
    if (!says_something(answer))
        return;
    push_in_order(b, TAKE(answer));
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_CALL)
            build_result(b, &calls[i],
                         find_result(place->messages + after, place->n - after, m->parts[i].id,
                                     calls[i].nth));
}

/* --- all of it --- */

static void build_all(struct builder *b, struct place *p)
{
    for (p->at = 0; p->at < p->n; p->at++)
        switch (p->messages[p->at]->role) {
        case ROLE_SYSTEM:
            build_system(b, p->messages[p->at]);
            break;
        case ROLE_USER:
            build_user(b, p->messages[p->at]);
            break;
        case ROLE_ASSISTANT:
            build_assistant(b, p);
            break;
        case ROLE_TOOL: /* went out with its call, or has none */
            break;
        }
}

/* The model must have something to answer to. */
static bool needs_continue_note(const struct builder *b, struct place p)
{
    const struct built_messages *out = b->out;

    if (out->n == 0)
        return true;
    p.at = p.n - 1;
    return out->items[out->n - 1]->role == ROLE_ASSISTANT && !is_paused(b, &p);
}

void request_build(const struct message *const *messages, size_t n_messages,
                   const struct request_target *target, const struct str *overlays,
                   size_t n_overlays, struct built_messages *ret)
{
    struct builder b = {.out = ret, .target = target};
    struct place place = {.messages = messages, .n = n_messages, .is_end = n_overlays == 0};

    *ret = (struct built_messages){0};
    if (speaks_anthropic(&b))
        bound_begin(&b.bound, target);
    for (size_t i = 0; i < n_messages; i++)
        if (messages[i]->role == ROLE_SYSTEM) /* is sent before all others */
            bound_add(&b.bound, messages[i]);
    build_all(&b, &place);
    for (size_t i = 0; i < n_overlays; i++)
        push_note(&b, S("overlay"), overlays[i]);
    if (needs_continue_note(&b, place))
        push_note(&b, S("continue"), S(CONTINUE_NOTE));
    ret->system = arena_str(&ret->arena, strbuf_str(&b.system));
    bound_tell(&b.bound, ret->bound);
    strbuf_done(&b.system);
}
