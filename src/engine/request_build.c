/* request_build.c - a history becomes messages that every provider takes. */
#include "engine/request_build.h"

#define NOT_RUN "The tool call was not executed: the run ended before its turn came."
#define BEGIN_NOTE "[The conversation goes on from here.]"
#define CONTINUE_NOTE "Continue."

struct builder {
    struct built_messages *out;
    const struct request_target *target;
    struct strbuf system;
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

static bool is_blank(struct str text)
{
    return str_trim(text).n == 0;
}

static bool takes_media(const struct builder *b, const struct media *m)
{
    const struct model_info *info = b->target->info;
    unsigned can = info ? info->capabilities : ~0u;

    if (str_starts(m->mime, S("image/")))
        return can & CAN_SEE_IMAGES;
    if (str_starts(m->mime, S("application/pdf")))
        return can & CAN_READ_PDF;
    if (str_starts(m->mime, S("audio/")))
        return can & CAN_HEAR_AUDIO;
    return true;
}

static struct part name_media(struct arena *a, const struct media *m)
{
    struct str name = m->name.n ? m->name : S("without a name");

    return (struct part){.kind = PART_TEXT,
                         .text = arena_format(a,
                                              "[A file of type %" STR_FMT " (%" STR_FMT
                                              ") was left out: this model cannot take it.]",
                                              STR_ARG(m->mime), STR_ARG(name))};
}

static void add_part(struct builder *b, struct message *to, const struct part *p)
{
    struct part named;

    if (p->kind == PART_TEXT && is_blank(p->text) && p->signature.n == 0)
        return;
    if (p->kind == PART_MEDIA && !takes_media(b, &p->media)) {
        named = name_media(&b->out->arena, &p->media);
        p = &named;
    }
    message_add(to, p);
}

/* Parts that only their own provider may see again. */
static bool is_foreign(const struct builder *b, const struct message *m, const struct part *p)
{
    bool is_private = p->kind == PART_REASONING || p->kind == PART_SERVER_TOOL_USE ||
                      p->kind == PART_SERVER_TOOL_RESULT || p->kind == PART_CITATION;

    return is_private && !message_is_native_to(m, b->target->provider, b->target->protocol);
}

/* Does a provider see anything in it? Reasoning alone is not an answer. */
static bool says_something(const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind != PART_REASONING && m->parts[i].kind != PART_CITATION)
            return true;
    return false;
}

/* --- the user --- */

static void build_user(struct builder *b, const struct message *m)
{
    AUTO(message) struct message *copy = message_new(ROLE_USER, m->id);

    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TEXT || m->parts[i].kind == PART_MEDIA)
            add_part(b, copy, &m->parts[i]);
    if (copy->n_parts)
        push_in_order(b, TAKE(copy));
}

static void build_system(struct builder *b, const struct message *m)
{
    if (b->system.n)
        strbuf_add_cstr(&b->system, "\n\n");
    message_text(m, &b->system);
}

/* --- the assistant and its tools --- */

static bool has_call(const struct message *m, struct str id)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_CALL && str_eq(m->parts[i].id, id))
            return true;
    return false;
}

/* The id of the call at `index`. The second of the same id gets the first free "ID_2", "ID_3", ...,
 * the third the next: a provider may have used some of them itself. */
static struct str unique_id(struct arena *a, const struct message *m, size_t index)
{
    struct str id = m->parts[index].id, other = id;
    unsigned n_before = 0;

    for (size_t i = 0; i < index; i++)
        n_before += m->parts[i].kind == PART_TOOL_CALL && str_eq(m->parts[i].id, id);
    for (unsigned suffix = 2; n_before; suffix++) {
        other = arena_format(a, "%" STR_FMT "_%u", STR_ARG(id), suffix);
        n_before -= !has_call(m, other);
    }
    return other;
}

static void add_interrupted_note(struct message *m)
{
    for (size_t i = m->n_parts; i-- > 0;) {
        struct part *p = &m->parts[i];

        if (p->kind != PART_TEXT)
            continue;
        p->text = arena_format(&m->arena, "%" STR_FMT "\n\n" INTERRUPTED_NOTE, STR_ARG(p->text));
        p->native = (struct str){0};
        return;
    }
    message_add_text(m, S(INTERRUPTED_NOTE));
}

static struct message *build_answer(struct builder *b, const struct message *m)
{
    struct message *copy = message_new(ROLE_ASSISTANT, m->id);

    message_set_origin(copy, m->origin);
    for (size_t i = 0; i < m->n_parts; i++) {
        struct part p = m->parts[i];

        if (is_foreign(b, m, &p))
            continue;
        if (p.kind == PART_TOOL_CALL) {
            struct str id = unique_id(&b->out->arena, m, i);

            if (!str_eq(id, p.id))
                p.native = (struct str){0}; /* its bytes have the other id */
            p.id = id;
        }
        add_part(b, copy, &p);
    }
    if (m->state == MESSAGE_INTERRUPTED)
        add_interrupted_note(copy);
    return copy;
}

/* The n-th result for a call id among the tool messages that follow the answer. */
static const struct part *find_result(const struct message *const *after, size_t n_after,
                                      struct str id, unsigned nth)
{
    for (size_t i = 0; i < n_after && after[i]->role != ROLE_ASSISTANT; i++)
        for (size_t k = 0; k < after[i]->n_parts; k++) {
            const struct part *p = &after[i]->parts[k];

            if (p->kind == PART_TOOL_RESULT && str_eq(p->id, id) && nth-- == 0)
                return p;
        }
    return NULL;
}

static void build_result(struct builder *b, const struct part *call, struct str sent_id,
                         const struct part *result)
{
    static const struct part not_run = {.kind = PART_TEXT, .text = {NOT_RUN, sizeof NOT_RUN - 1}};
    struct message *m = message_new(ROLE_TOOL, sent_id), *content = NULL;
    struct part p = {.kind = PART_TOOL_RESULT,
                     .id = sent_id,
                     .name = call->name,
                     .is_error = result ? result->is_error : true,
                     .content = (struct part *)&not_run,
                     .n_content = 1};

    if (result) {
        content = message_new(ROLE_TOOL, sent_id);
        for (size_t i = 0; i < result->n_content; i++)
            add_part(b, content, &result->content[i]);
        p.content = content->parts;
        p.n_content = content->n_parts;
    }
    message_add(m, &p);
    message_unref(content);
    push(b, m);
}

static void build_results(struct builder *b, const struct message *m,
                          const struct message *const *after, size_t n_after)
{
    for (size_t i = 0; i < m->n_parts; i++) {
        const struct part *call = &m->parts[i];
        unsigned nth = 0;

        if (call->kind != PART_TOOL_CALL)
            continue;
        for (size_t k = 0; k < i; k++)
            nth += m->parts[k].kind == PART_TOOL_CALL && str_eq(m->parts[k].id, call->id);
        build_result(b, call, unique_id(&b->out->arena, m, i),
                     find_result(after, n_after, call->id, nth));
    }
}

static void build_assistant(struct builder *b, const struct message *m,
                            const struct message *const *after, size_t n_after)
{
    AUTO(message) struct message *answer = NULL;

    if (m->is_error)
        return;
    answer = build_answer(b, m);
    if (!says_something(answer))
        return;
    push_in_order(b, TAKE(answer));
    build_results(b, m, after, n_after);
}

/* --- all of it --- */

static void build_all(struct builder *b, const struct message *const *messages, size_t n)
{
    for (size_t i = 0; i < n; i++)
        switch (messages[i]->role) {
        case ROLE_SYSTEM:
            build_system(b, messages[i]);
            break;
        case ROLE_USER:
            build_user(b, messages[i]);
            break;
        case ROLE_ASSISTANT:
            build_assistant(b, messages[i], messages + i + 1, n - i - 1);
            break;
        case ROLE_TOOL: /* went out with its call, or has none */
            break;
        }
}

void request_build(const struct message *const *messages, size_t n_messages,
                   const struct request_target *target, const struct str *overlays,
                   size_t n_overlays, struct built_messages *ret)
{
    struct builder b = {.out = ret, .target = target};

    *ret = (struct built_messages){0};
    build_all(&b, messages, n_messages);
    for (size_t i = 0; i < n_overlays; i++)
        push_note(&b, S("overlay"), overlays[i]);
    if (ret->n == 0 || ret->items[ret->n - 1]->role == ROLE_ASSISTANT)
        push_note(&b, S("continue"), S(CONTINUE_NOTE));
    ret->system = arena_str(&ret->arena, strbuf_str(&b.system));
    strbuf_done(&b.system);
}
