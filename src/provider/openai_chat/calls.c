/* calls.c - puts streamed tool calls together.
 *
 * In OpenAI's stream the first piece of a call has index, id and name, and the others have the
 * index and more of the arguments. Vendors omit the index or the id, repeat id and name in every
 * piece, give all calls the same index, cut the name, or send the arguments as an object. */
#include "provider/openai_chat/openai_chat.h"

#define NO_INDEX (-1)
#define MAX_NAME_BYTES 256

struct chat_call {
    int64_t index;
    size_t part;
};

/* One entry of tool_calls, of any type. */
struct piece {
    int64_t index;
    struct str id, name;
    const struct json *args; /* string or object; may be NULL */
    const struct json *extra;
    bool is_free_text;
};

static struct piece read_piece(const struct json *entry)
{
    const struct json *function = json_get(entry, "function"), *custom = json_get(entry, "custom");
    struct piece p = {.index = json_int_or(json_get(entry, "index"), NO_INDEX),
                      .id = json_get_text(entry, "id"),
                      .extra = json_get(entry, "extra_content")};

    p.is_free_text = json_is(custom, JSON_OBJECT) || str_is(json_get_text(entry, "type"), "custom");
    p.name = json_get_text(p.is_free_text ? custom : function, "name");
    p.args = p.is_free_text ? json_get(custom, "input") : json_get(function, "arguments");
    return p;
}

static struct str args_text(const struct piece *p)
{
    if (json_is(p->args, JSON_STRING))
        return p->args->text;
    return json_is(p->args, JSON_OBJECT) ? p->args->raw : (struct str){0};
}

/* No JSON value continues after "...}" with "{...": another one has begun. */
static bool starts_other_args(const struct reply *r, const struct chat_call *call,
                              const struct piece *p)
{
    struct str so_far = str_trim(reply_part_args(r, call->part)), next = str_trim(args_text(p));

    return so_far.n && so_far.p[so_far.n - 1] == '}' && next.n && next.p[0] == '{';
}

/* Does this piece belong to another call than the one that began with the same index? */
static bool is_another(struct reply *r, const struct chat_call *call, const struct piece *p)
{
    const struct part *begun = reply_part(r, call->part);

    if (p->name.n == 0)
        return false;
    if (p->id.n && begun->id.n)
        return !str_eq(p->id, begun->id);
    return starts_other_args(r, call, p);
}

static struct chat_call *find_by_index(struct reply *r, struct chat_calls *calls,
                                       const struct piece *p)
{
    for (size_t i = calls->n; i-- > 0;)
        if (calls->items[i].index == p->index)
            return is_another(r, &calls->items[i], p) ? NULL : &calls->items[i];
    return NULL;
}

/* Without an index the id decides. Without both, a name begins a call and other pieces belong to
 * the last one. */
static struct chat_call *find_by_id(struct reply *r, struct chat_calls *calls,
                                    const struct piece *p)
{
    for (size_t i = calls->n; p->id.n && i-- > 0;)
        if (str_eq(reply_part(r, calls->items[i].part)->id, p->id))
            return &calls->items[i];
    return calls->n && p->name.n == 0 ? &calls->items[calls->n - 1] : NULL;
}

/* Ends the last call if it is complete. Parallel calls may alternate, so the beginning of another
 * part proves nothing: a call has ended when nothing of it is missing. */
void chat_end_call(struct reply *r)
{
    size_t last = r->n_parts - 1;
    const struct part *p;

    if (r->n_parts == 0 || r->parts[last].is_closed)
        return;
    p = reply_part(r, last);
    if (p->kind == PART_TOOL_CALL && p->id.n && p->name.n && !p->is_free_text &&
        reply_has_whole_args(r, last))
        reply_close(r, last);
}

static struct err *begin_call(struct reply *r, struct chat_calls *calls, const struct piece *p,
                              struct chat_call **ret_call)
{
    struct chat_call call = {.index = p->index};

    reply_close_text(r);
    chat_end_call(r);
    TRY(reply_begin(r, PART_TOOL_CALL, p->id, p->name, &call.part));
    reply_part(r, call.part)->is_free_text = p->is_free_text;
    calls->items = arena_grow(&r->arena, calls->items, calls->n, &calls->room, sizeof call);
    calls->items[calls->n] = call;
    *ret_call = &calls->items[calls->n++];
    return NULL;
}

/* A repeated name may be the same, longer, or the next piece of it. It only grows, up to a
 * limit. */
static struct err *extend_name(struct reply *r, struct chat_call *call, struct str name)
{
    const struct part *part = reply_part(r, call->part);

    if (name.n == 0 || str_starts(part->name, name) || part->name.n + name.n > MAX_NAME_BYTES)
        return NULL;
    if (part->name.n && reply_part_args(r, call->part).n)
        return NULL;
    if (!str_starts(name, part->name))
        name = arena_format(&r->arena, "%" STR_FMT "%" STR_FMT, STR_ARG(part->name), STR_ARG(name));
    return reply_set_name(r, call->part, name);
}

/* Some vendors send the complete arguments once more. */
static bool repeats_args(const struct reply *r, const struct chat_call *call, const struct piece *p)
{
    struct str args = str_trim(args_text(p));

    return args.n && str_eq(args, str_trim(reply_part_args(r, call->part))) &&
           reply_has_whole_args(r, call->part);
}

static struct err *take_piece(struct reply *r, struct chat_calls *calls, const struct piece *p,
                              bool is_whole)
{
    struct chat_call *call = NULL;
    struct part *part;

    if (!is_whole)
        call = p->index == NO_INDEX ? find_by_id(r, calls, p) : find_by_index(r, calls, p);
    if (call)
        TRY(extend_name(r, call, p->name));
    else if (p->name.n || p->id.n || args_text(p).n)
        TRY(begin_call(r, calls, p, &call));
    else
        return NULL; /* some send an empty call with every answer */
    part = reply_part(r, call->part);
    if (part->id.n == 0)
        TRY(reply_set_id(r, call->part, p->id));
    if (json_is(p->extra, JSON_OBJECT) && part->native.n == 0)
        TRY(reply_set_field(r, &part->native, p->extra->raw));
    if (repeats_args(r, call, p))
        return NULL;
    return reply_add_args(r, call->part, args_text(p));
}

/* The old function_call is not read: it answers a list of functions that keel never sends. */
struct err *chat_take_calls(struct reply *r, struct chat_calls *calls, const struct json *said,
                            bool is_whole)
{
    json_each (entry, json_get(said, "tool_calls")) {
        struct piece p = read_piece(entry);
        TRY(take_piece(r, calls, &p, is_whole));
    }
    return NULL;
}
