/* request_build.c - a history becomes messages that every provider takes. */
#include "engine/request_build.h"

#include "port/tool_set.h"

#include <stdlib.h>

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

/* How the call at a part's place is sent. */
struct sent_call {
    struct str id, name;
    unsigned nth; /* of those with the same id in the history, from 0 */
};

/* Ids as the history has them, each with its part; sorted, so that equal ones stand together. */
struct id_place {
    struct str id;
    size_t part;
};

static int compare_places(const void *a, const void *b)
{
    const struct id_place *x = a, *y = b;
    int order = str_cmp(x->id, y->id);

    return order ? order : (x->part > y->part) - (x->part < y->part);
}

static int compare_ids(const void *a, const void *b)
{
    return str_cmp(((const struct id_place *)a)->id, ((const struct id_place *)b)->id);
}

static bool has_id(const struct id_place *places, size_t n, struct str id)
{
    return n && bsearch(&(struct id_place){.id = id}, places, n, sizeof *places, compare_ids);
}

/* The second call of an id gets the first free "ID_2", "ID_3", ..., the third the next: a provider
 * may have used some of them itself. */
static void number_ids(struct arena *a, const struct id_place *places, size_t n,
                       struct sent_call *calls)
{
    unsigned suffix = 2;

    for (size_t i = 0; i < n; i++) {
        struct sent_call *c = &calls[places[i].part];

        c->id = places[i].id;
        if (i == 0 || !str_eq(places[i - 1].id, c->id)) {
            suffix = 2;
            continue;
        }
        c->nth = calls[places[i - 1].part].nth + 1;
        do
            c->id = arena_format(a, "%" STR_FMT "_%u", STR_ARG(places[i].id), suffix++);
        while (has_id(places, n, c->id));
    }
}

/* Models invent names, and providers refuse a history with one that no tool could have. */
static struct str sendable_name(struct arena *a, struct str name)
{
    char text[TOOL_MAX_NAME];
    size_t n = MIN(name.n, sizeof text);

    if (tool_name_is_valid(name))
        return name;
    for (size_t i = 0; i < n; i++)
        text[i] = tool_name_is_valid(str_slice(name, i, 1)) ? name.p[i] : '_';
    return n ? arena_str(a, str_make(text, n)) : S("_");
}

/* By part: only those of calls are filled in. */
static struct sent_call *find_calls(struct arena *a, const struct message *m)
{
    struct sent_call *calls = ARENA_ARRAY(a, m->n_parts, struct sent_call);
    struct id_place *places = ARENA_ARRAY(a, m->n_parts, struct id_place);
    size_t n = 0;

    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_CALL) {
            places[n++] = (struct id_place){m->parts[i].id, i};
            calls[i].name = sendable_name(a, m->parts[i].name);
        }
    if (n)
        qsort(places, n, sizeof *places, compare_places);
    number_ids(a, places, n, calls);
    return calls;
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

static struct message *build_answer(struct builder *b, const struct message *m,
                                    const struct sent_call *calls)
{
    struct message *copy = message_new(ROLE_ASSISTANT, m->id);

    message_set_origin(copy, m->origin);
    for (size_t i = 0; i < m->n_parts; i++) {
        struct part p = m->parts[i];

        if (is_foreign(b, m, &p))
            continue;
        if (p.kind == PART_TOOL_CALL) {
            if (!str_eq(calls[i].id, p.id) || !str_eq(calls[i].name, p.name))
                p.native = (struct str){0}; /* its bytes have the other */
            p.id = calls[i].id;
            p.name = calls[i].name;
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

static void build_result(struct builder *b, const struct sent_call *call, const struct part *result)
{
    static const struct part not_run = {.kind = PART_TEXT, .text = {NOT_RUN, sizeof NOT_RUN - 1}};
    struct message *m = message_new(ROLE_TOOL, call->id), *content = NULL;
    struct part p = {.kind = PART_TOOL_RESULT,
                     .id = call->id,
                     .name = call->name,
                     .is_error = result ? result->is_error : true,
                     .content = (struct part *)&not_run,
                     .n_content = 1};

    if (result) {
        content = message_new(ROLE_TOOL, call->id);
        for (size_t i = 0; i < result->n_content; i++)
            add_part(b, content, &result->content[i]);
        p.content = content->parts;
        p.n_content = content->n_parts;
    }
    message_add(m, &p);
    message_unref(content);
    push(b, m);
}

static void build_results(struct builder *b, const struct message *m, const struct sent_call *calls,
                          const struct message *const *after, size_t n_after)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_CALL)
            build_result(b, &calls[i], find_result(after, n_after, m->parts[i].id, calls[i].nth));
}

static void build_assistant(struct builder *b, const struct message *m,
                            const struct message *const *after, size_t n_after)
{
    AUTO(message) struct message *answer = NULL;
    const struct sent_call *calls;

    if (m->is_error)
        return;
    calls = find_calls(&b->out->arena, m);
    answer = build_answer(b, m, calls);
    if (!says_something(answer))
        return;
    push_in_order(b, TAKE(answer));
    build_results(b, m, calls, after, n_after);
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
