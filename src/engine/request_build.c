/* request_build.c - a history becomes messages that every provider takes. */
#include "engine/refused_media.h"
#include "engine/request_build_parts.h"

#include "engine/ledger.h"

#define NOT_RUN "The tool call was not executed: the run ended before its turn came."
#define NO_OUTPUT "(no output)"
#define BEGIN_NOTE "[The conversation continues from here.]"
#define CONTINUE_NOTE "Continue."

struct request_builder {
    struct build_state *to;
    struct arena scratch; /* emptied with each answer */
    const struct request_target *target;
};

static void push(struct request_builder *b, struct message *take_message)
{
    message_list_add(&b->to->sent, take_message);
    bound_add(&b->to->bound, take_message);
    b->to->tokens += ledger_message_tokens(take_message);
    if (take_message->role == ROLE_USER)
        b->to->last_user = b->to->sent.n;
}

static void push_note(struct request_builder *b, struct str id, struct str text)
{
    struct message *m = message_new(ROLE_USER, id);

    message_add_text(m, text);
    push(b, m);
}

/* Messages of the assistant cannot come first. */
static void push_in_order(struct request_builder *b, struct message *take_message)
{
    if (b->to->sent.n == 0 && take_message->role != ROLE_USER)
        push_note(b, S("begin"), S(BEGIN_NOTE));
    push(b, take_message);
}

/* --- what can be sent --- */

/* For the model, context beside a prompt is text like the prompt. */
static void add_text(struct message *to, const struct part *p)
{
    struct part sent = *p;

    sent.kind = PART_TEXT;
    if (!request_is_blank(p->text))
        message_lend(to, p->kind == PART_TEXT ? p : &sent);
}

/* The file, or its name. */
static void add_media(struct request_builder *b, struct message *to, const struct part *p,
                      enum file_place place)
{
    struct arena *a = &to->arena;
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
    message_lend(to, &sent);
}

static void add_said(struct request_builder *b, struct message *to, const struct part *p,
                     enum file_place place)
{
    if (p->kind == PART_TEXT || p->kind == PART_CONTEXT)
        add_text(to, p);
    else if (p->kind == PART_MEDIA)
        add_media(b, to, p, place);
}

const struct message_form *request_form(const struct request_target *t)
{
    static const struct message_form any = {0};

    return t->form ? t->form : &any;
}

static bool is_native(const struct request_builder *b, const struct message *m)
{
    return message_is_native_to(m, b->target->provider, b->target->protocol);
}

/* --- the user --- */

static void build_user(struct request_builder *b, const struct message *m)
{
    AUTO(message) struct message *sent = message_new_from(ROLE_USER, m);

    sent->origin = (struct origin){0};
    for (size_t i = 0; i < m->n_parts; i++)
        add_said(b, sent, &m->parts[i], FILE_IN_PROMPT);
    if (sent->n_parts)
        push_in_order(b, TAKE(sent));
}

static void build_system(struct request_builder *b, const struct message *m)
{
    AUTO(strbuf) struct strbuf text = {0};

    message_text(m, &text);
    if (request_is_blank(strbuf_str(&text)))
        return;
    if (b->to->system.n)
        strbuf_add_cstr(&b->to->system, "\n\n");
    strbuf_add(&b->to->system, strbuf_str(&text));
}

/* --- what the assistant said --- */

/* The messages to send, and the one that is built now. */
struct build_place {
    const struct message *const *messages;
    size_t n, at;
    bool is_end; /* nothing at all comes behind the last of them */
};

/* An answer that its provider wants to continue: it goes back as it is, and nothing follows. */
static bool is_paused(const struct request_builder *b, const struct build_place *p)
{
    const struct message *m = p->messages[p->at];

    return p->is_end && p->at + 1 == p->n && request_form(b->target)->continues_pauses &&
           is_native(b, m) && m->stop == STOP_PAUSED;
}

static bool has_server_part(const struct message *m, enum part_kind kind, struct str id)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == kind && str_eq(m->parts[i].id, id) && m->parts[i].native.n)
            return true;
    return false;
}

/* A use of a provider's own tool and its result go together or not at all. After a pause the result
 * is in the next answer. */
static bool has_counterpart(const struct request_builder *b, const struct build_place *p,
                            const struct part *part)
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

/* Has nothing before it changed since it was made? */
static bool is_where_it_was(const struct request_builder *b, const struct message *m)
{
    char before[SHA256_HEX_SIZE];

    bound_format(&b->to->bound, before);
    return str_is(m->origin.bound, before);
}

/* Parts that only their own provider may see again. */
static bool goes_back(const struct request_builder *b, const struct build_place *p,
                      const struct part *part)
{
    const struct message_form *form = request_form(b->target);
    const struct message *m = p->messages[p->at];

    if (!is_native(b, m))
        return false;
    if (part->kind == PART_REASONING)
        return !form->binds_reasoning ||
               (part->native.n && (part->signature.n || part->data.n) && is_where_it_was(b, m));
    return part->native.n && (!form->pairs_server_tools || has_counterpart(b, p, part));
}

/* Nothing to read, but a signature hangs on it, or it is a block of the provider's. */
static bool is_kept_blank(const struct request_builder *b, const struct message *m,
                          const struct part *p)
{
    return p->signature.n && p->native.n && is_native(b, m);
}

/* Pictures that a model made, and the words of what it spoke. */
static void add_made_media(struct request_builder *b, struct message *to, const struct part *p)
{
    struct part sent = *p;

    sent.media = request_media(&to->arena, &p->media);
    if (request_takes_media(b->target, &sent.media, FILE_IN_ANSWER))
        message_lend(to, &sent);
    else if (!request_is_blank(p->text))
        message_lend(to, &(struct part){.kind = PART_TEXT, .text = p->text});
}

static void add_call(struct message *to, const struct part *p, const struct sent_call *call)
{
    struct part sent = *p;

    if (str_eq(call->id, p->id) && str_eq(call->name, p->name)) {
        message_lend(to, p);
        return;
    }
    sent.native = (struct str){0}; /* its bytes have the other */
    sent.id = arena_str(&to->arena, call->id);
    sent.name = arena_str(&to->arena, call->name);
    message_lend(to, &sent);
}

static void add_answered(struct request_builder *b, const struct build_place *place,
                         struct message *to, size_t at, const struct sent_call *calls)
{
    const struct message *m = place->messages[place->at];
    const struct part *p = &m->parts[at];

    switch (p->kind) {
    case PART_TEXT:
    case PART_REFUSAL:
        if (!request_is_blank(p->text) || is_kept_blank(b, m, p))
            message_lend(to, p);
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
            message_lend(to, p);
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

    message_own_parts(m);
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

static struct message *build_answer(struct request_builder *b, const struct build_place *place,
                                    const struct sent_call *calls)
{
    const struct message *m = place->messages[place->at];
    struct message *sent = message_new_from(ROLE_ASSISTANT, m);

    for (size_t i = 0; i < m->n_parts; i++)
        add_answered(b, place, sent, i, calls);
    if (m->state != MESSAGE_COMPLETE)
        add_end_note(sent, m->state == MESSAGE_INTERRUPTED ? INTERRUPTED_NOTE : BROKEN_NOTE);
    while (request_form(b->target)->reasoning_leads_on && sent->n_parts &&
           sent->parts[sent->n_parts - 1].kind == PART_REASONING)
        sent->n_parts--;
    return sent;
}

/* --- what its tools said --- */

/* A result, and its message. */
struct found_result {
    const struct message *message; /* NULL: there is none */
    const struct part *part;
};

/* The n-th result for a call id among the tool messages that follow the answer. An error message
 * for people is not an answer: the run continued after it. */
static struct found_result find_result(const struct message *const *after, size_t n_after,
                                       struct str id, unsigned nth)
{
    for (size_t i = 0; i < n_after; i++) {
        if (after[i]->role == ROLE_ASSISTANT && !after[i]->is_error)
            break;
        for (size_t k = 0; k < after[i]->n_parts; k++) {
            const struct part *p = &after[i]->parts[k];

            if (p->kind == PART_TOOL_RESULT && str_eq(p->id, id) && nth-- == 0)
                return (struct found_result){after[i], p};
        }
    }
    return (struct found_result){0};
}

/* Nothing in it has to be omitted or replaced. */
static bool is_sendable(const struct part *result)
{
    for (size_t i = 0; i < result->n_content; i++)
        if (result->content[i].kind != PART_TEXT || request_is_blank(result->content[i].text))
            return false;
    return result->n_content > 0;
}

static void add_content(struct request_builder *b, struct message *to, const struct part *result)
{
    for (size_t i = 0; i < result->n_content; i++) {
        const struct part *p = &result->content[i];
        struct media media;

        if (p->kind == PART_MEDIA && result->is_error &&
            request_form(b->target)->has_plain_errors) {
            media = request_media(&to->arena, &p->media);
            message_add_text(to, request_name_media(&to->arena, b->target, &media));
        } else {
            add_said(b, to, p, FILE_IN_RESULT);
        }
    }
    if (to->n_parts == 0)
        message_add_text(to, S(NO_OUTPUT));
}

/* The content as it is sent: the result's own, or made of it in the message. */
static void set_content(struct request_builder *b, struct message *to, const struct part *result,
                        struct part *ret)
{
    if (is_sendable(result)) {
        ret->content = result->content;
        ret->n_content = result->n_content;
        return;
    }
    message_own_parts(to);
    add_content(b, to, result);
    ret->content = to->parts;
    ret->n_content = to->n_parts;
    to->parts = NULL;
    to->n_parts = to->parts_room = 0;
}

static struct message *build_found_result(struct request_builder *b, const struct sent_call *call,
                                          const struct found_result *found)
{
    struct message *m = message_new_from(ROLE_TOOL, found->message);
    const struct part *result = found->part;
    struct part p = {.kind = PART_TOOL_RESULT, .is_error = result->is_error};

    m->origin = (struct origin){0};
    p.id = str_eq(call->id, result->id) ? result->id : arena_str(&m->arena, call->id);
    p.name = str_eq(call->name, result->name) ? result->name : arena_str(&m->arena, call->name);
    m->id = p.id;
    set_content(b, m, result, &p);
    message_lend(m, &p);
    return m;
}

static struct message *build_missing_result(const struct sent_call *call)
{
    struct message *m = message_new(ROLE_TOOL, call->id);
    struct part text = {.kind = PART_TEXT, .text = S(NOT_RUN)};

    message_add(m, &(struct part){.kind = PART_TOOL_RESULT,
                                  .id = call->id,
                                  .name = call->name,
                                  .is_error = true,
                                  .content = &text,
                                  .n_content = 1});
    return m;
}

static void build_result(struct request_builder *b, const struct build_place *place,
                         const struct part *p, const struct sent_call *call)
{
    size_t after = place->at + 1;
    struct found_result found =
        find_result(place->messages + after, place->n - after, p->id, call->nth);

    push(b, found.part ? build_found_result(b, call, &found) : build_missing_result(call));
}

static void build_assistant(struct request_builder *b, const struct build_place *place)
{
    const struct message *m = place->messages[place->at];
    AUTO(message) struct message *answer = NULL;
    const struct sent_call *calls;

    if (m->is_error)
        return;
    arena_clear(&b->scratch);
    calls = call_ids_give(&b->to->ids, &b->to->arena, &b->scratch, m);
    answer = build_answer(b, place, calls);
    if (!says_something(answer))
        return;
    push_in_order(b, TAKE(answer));
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_CALL)
            build_result(b, place, &m->parts[i], &calls[i]);
}

/* --- all of it --- */

static void build_range(struct request_builder *b, struct build_place *p, size_t from, size_t to)
{
    for (p->at = from; p->at < to; p->at++)
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
static bool needs_continue_note(const struct request_builder *b, struct build_place p)
{
    const struct message_list *out = &b->to->sent;

    if (out->n == 0)
        return true;
    p.at = p.n - 1;
    return out->items[out->n - 1]->role == ROLE_ASSISTANT && !is_paused(b, &p);
}

/* Brings the prefix up to what is settled by now. */
static void extend_prefix(struct built_prefix *p, const struct request_target *target,
                          struct build_place *place)
{
    struct request_builder b = {.to = &p->built, .target = target};
    size_t to = request_count_settled(place->messages, place->n);

    if (!built_prefix_fits(p, target, place->messages, place->n, to))
        built_prefix_begin(p, target, place->messages, to);
    build_range(&b, place, p->of.n, to);
    for (size_t i = p->of.n; i < to; i++)
        message_list_add(&p->of, message_ref((struct message *)place->messages[i]));
    arena_done(&b.scratch);
}

/* Begins with the messages of the prefix; returns how many of the history they are. */
static size_t begin_with(struct built_prefix *prefix, const struct request_target *target,
                         struct build_place *place, struct built_messages *ret)
{
    struct build_state *s = &ret->state;

    if (prefix && !prefix->is_lent) {
        extend_prefix(prefix, target, place);
        prefix->is_lent = true;
        ret->prefix = prefix;
    }
    if (!ret->prefix || prefix->of.n == 0) {
        build_state_begin(s, target, place->messages, place->n);
        return 0;
    }
    s->bound = prefix->built.bound;
    s->tokens = prefix->built.tokens;
    s->last_user = prefix->built.last_user;
    s->ids.base = &prefix->built.ids;
    strbuf_add(&s->system, strbuf_str(&prefix->built.system));
    message_list_borrow(&s->sent, &prefix->built.sent);
    return prefix->of.n;
}

void request_build_on(struct built_prefix *prefix, const struct message *const *messages,
                      size_t n_messages, const struct request_target *target,
                      const struct str *overlays, size_t n_overlays, struct built_messages *ret)
{
    struct build_place place = {.messages = messages, .n = n_messages, .is_end = n_overlays == 0};
    struct request_builder b = {.to = &ret->state, .target = target};

    *ret = (struct built_messages){0};
    build_range(&b, &place, begin_with(prefix, target, &place, ret), n_messages);
    for (size_t i = 0; i < n_overlays; i++)
        push_note(&b, S("overlay"), overlays[i]);
    if (needs_continue_note(&b, place))
        push_note(&b, S("continue"), S(CONTINUE_NOTE));
    ret->items = ret->state.sent.items;
    ret->n = ret->state.sent.n;
    ret->system = strbuf_str(&ret->state.system);
    ret->tokens = ret->state.tokens;
    ret->n_settled = ret->state.sent.n_borrowed;
    ret->last_user = ret->state.last_user;
    bound_format(&ret->state.bound, ret->bound);
    arena_done(&b.scratch);
}

void request_build(const struct message *const *messages, size_t n_messages,
                   const struct request_target *target, const struct str *overlays,
                   size_t n_overlays, struct built_messages *ret)
{
    request_build_on(NULL, messages, n_messages, target, overlays, n_overlays, ret);
}
