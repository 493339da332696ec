/* openai_responses_decode.c - reads answers of the OpenAI Responses API.
 *
 * A stream is: response.created, then items (added, deltas, done; each with its output_index and
 * id), then response.completed, .incomplete or .failed with the whole response once more. Vendors
 * leave out any of it but the last event: deltas, numbers, ids, or the output in the end. So what
 * came is kept, and each final form only adds what is missing. */
#include "provider/openai_responses.h"

#include "provider/decode.h"

#define USD_TICKS_PER_MICROCENT 100

struct state {
    struct responses_items items;
};

void openai_responses_begin(struct decode *d)
{
    d->state = ARENA_NEW(&d->reply->arena, struct state);
}

static struct responses_items *items_of(struct decode *d)
{
    return &((struct state *)d->state)->items;
}

/* --- usage and stop --- */

/* Some vendors write numbers as strings. */
static int64_t count_or(const struct json *v, int64_t otherwise)
{
    int64_t n;

    if (json_int64(v, &n) || str_to_int64(json_str(v), &n))
        return n;
    return otherwise;
}

/* A number of dollars, or one in a string, or one beside its parts. */
static void take_cost(struct reply *r, const struct json *cost)
{
    struct json amount = {.type = JSON_NUMBER};

    if (json_is(cost, JSON_OBJECT))
        cost = json_get(cost, "total_cost");
    if (!cost)
        return;
    amount.text = cost->text;
    money_from_usd(&amount, &r->usage.cost_microcents);
}

static void take_usage(struct reply *r, const struct json *usage)
{
    const struct json *input = json_get(usage, "input_tokens_details");
    const struct json *output = json_get(usage, "output_tokens_details");
    int64_t ticks = count_or(json_get(usage, "cost_in_usd_ticks"), -1);
    struct usage *u = &r->usage;

    if (!json_is(usage, JSON_OBJECT))
        return;
    u->input = count_or(json_get(usage, "input_tokens"), u->input);
    u->output = count_or(json_get(usage, "output_tokens"), u->output);
    u->cache_read = count_or(json_get(input, "cached_tokens"), u->cache_read);
    u->cache_write = count_or(json_get(input, "cache_write_tokens"), u->cache_write);
    u->reasoning = count_or(json_get(output, "reasoning_tokens"), u->reasoning);
    u->input_includes_cache = true;
    if (ticks >= 0)
        u->cost_microcents = ticks / USD_TICKS_PER_MICROCENT;
    take_cost(r, json_get(usage, "cost"));
}

static bool has_part(const struct reply *r, enum part_kind kind)
{
    for (size_t i = 0; i < r->n_parts; i++)
        if (r->parts[i].part.kind == kind)
            return true;
    return false;
}

static enum stop stop_of(const struct reply *r, struct str status, struct str reason)
{
    if (str_is(status, "incomplete")) {
        if (str_is(reason, "max_output_tokens") || str_is(reason, "max_tokens"))
            return STOP_LENGTH;
        return str_is(reason, "content_filter") ? STOP_FILTERED : STOP_UNKNOWN;
    }
    if (has_part(r, PART_TOOL_CALL))
        return STOP_TOOL_CALLS;
    return has_part(r, PART_REFUSAL) ? STOP_REFUSED : STOP_END;
}

static void take_stop(struct reply *r, const struct json *response, struct str status)
{
    struct str reason = json_get_text(json_get(response, "incomplete_details"), "reason");

    reply_set_stop(r, status, stop_of(r, status, reason));
    r->stop_detail = reply_str(r, reason);
    r->is_complete = true;
}

/* --- items --- */

/* The streamed item that a line of the finished output repeats: the one of the same id, or else
 * the first of its type that is not taken. */
static struct responses_item *find_listed(struct responses_items *items, const struct json *json)
{
    struct str type = json_get_text(json, "type"), id = json_get_text(json, "id");
    struct responses_item *first = NULL;

    for (size_t i = 0; i < items->n; i++) {
        struct responses_item *item = &items->at[i];

        if (item->is_listed || !str_eq(item->type, type))
            continue;
        if (id.n && str_eq(item->id, id))
            return item;
        first = first ? first : item;
    }
    return first;
}

static struct err *take_output(struct decode *d, const struct json *output)
{
    struct responses_items *items = items_of(d);

    json_each (json, output) {
        struct responses_item *item = find_listed(items, json);

        if (json_get_text(json, "type").n == 0)
            continue;
        if (!item)
            TRY(responses_item_open(d, items, json_get_text(json, "type"),
                                    json_get_text(json, "id"), /* output_index= */ -1, &item));
        item->is_listed = true;
        TRY(responses_item_settle(d, item, json));
    }
    return NULL;
}

static struct responses_item *find_item(struct decode *d, struct str type, const struct json *event)
{
    return responses_item_find(items_of(d), type, json_get_text(event, "item_id"),
                               count_or(json_get(event, "output_index"), -1));
}

/* The item of a delta, opened if the vendor did not announce it. */
static struct err *need_item(struct decode *d, struct str type, const struct json *event,
                             struct responses_item **ret_item)
{
    *ret_item = find_item(d, type, event);
    if (*ret_item)
        return NULL;
    return responses_item_open(d, items_of(d), type, json_get_text(event, "item_id"),
                               count_or(json_get(event, "output_index"), -1), ret_item);
}

static struct err *open_named(struct decode *d, const struct json *event, const struct json *json,
                              struct responses_item **ret_item)
{
    return responses_item_open(d, items_of(d), json_get_text(json, "type"),
                               json_get_text(json, "id"),
                               count_or(json_get(event, "output_index"), -1), ret_item);
}

static struct err *on_item_added(struct decode *d, const struct json *event)
{
    const struct json *json = json_get(event, "item");
    struct responses_item *item;

    if (json_get_text(json, "type").n == 0)
        return NULL;
    TRY(open_named(d, event, json, &item));
    return responses_item_announce(d, item, json);
}

static struct err *on_item_done(struct decode *d, const struct json *event)
{
    const struct json *json = json_get(event, "item");
    struct str type = json_get_text(json, "type"), id = json_get_text(json, "id");
    struct responses_item *item;

    if (type.n == 0)
        return NULL;
    item =
        responses_item_find(items_of(d), type, id, count_or(json_get(event, "output_index"), -1));
    if (!item || (item->is_done && (id.n == 0 || !str_eq(item->id, id))))
        TRY(open_named(d, event, json, &item));
    return responses_item_settle(d, item, json);
}

/* --- text --- */

static struct err *find_text(struct decode *d, const struct json *event, const char *type,
                             enum part_kind kind, size_t *ret_index)
{
    struct responses_item *item;

    TRY(need_item(d, str_of(type), event, &item));
    return responses_item_part(d, item, kind, count_or(json_get(event, "content_index"), 0),
                               ret_index);
}

static struct err *add_text(struct decode *d, const struct json *event, const char *type,
                            enum part_kind kind)
{
    struct str delta = json_get_text(event, "delta");
    size_t index;

    if (delta.n == 0)
        return NULL;
    TRY(find_text(d, event, type, kind, &index));
    return reply_add_text(d->reply, index, delta);
}

static struct err *settle_text(struct decode *d, const struct json *event, enum part_kind kind,
                               struct str text)
{
    size_t index;

    if (text.n == 0)
        return NULL;
    TRY(find_text(d, event, "message", kind, &index));
    return responses_settle_text(d->reply, index, text);
}

static struct err *on_text_delta(struct decode *d, const struct json *event)
{
    return add_text(d, event, "message", PART_TEXT);
}

static struct err *on_text_done(struct decode *d, const struct json *event)
{
    return settle_text(d, event, PART_TEXT, json_get_text(event, "text"));
}

static struct err *on_refusal_delta(struct decode *d, const struct json *event)
{
    return add_text(d, event, "message", PART_REFUSAL);
}

static struct err *on_refusal_done(struct decode *d, const struct json *event)
{
    return settle_text(d, event, PART_REFUSAL, json_get_text(event, "refusal"));
}

static struct err *on_part_done(struct decode *d, const struct json *event)
{
    const struct json *part = json_get(event, "part");

    if (str_is(json_get_text(part, "type"), "output_text"))
        return settle_text(d, event, PART_TEXT, json_get_text(part, "text"));
    if (str_is(json_get_text(part, "type"), "refusal"))
        return settle_text(d, event, PART_REFUSAL, json_get_text(part, "refusal"));
    return NULL; /* a piece of reasoning: its item says it all */
}

static struct err *on_reasoning_delta(struct decode *d, const struct json *event)
{
    return add_text(d, event, "reasoning", PART_REASONING);
}

static struct err *on_annotation(struct decode *d, const struct json *event)
{
    const struct json *annotation = json_get(event, "annotation");
    struct responses_item *item;

    if (!json_is(annotation, JSON_OBJECT))
        return NULL;
    TRY(need_item(d, S("message"), event, &item));
    return responses_item_cite(d, item, annotation);
}

/* --- arguments --- */

/* An item of another type takes no arguments piece by piece: its final form has them. */
static struct err *find_call(struct decode *d, const struct json *event, struct str type,
                             struct responses_item **ret_item)
{
    *ret_item = find_item(d, type, event);
    if (*ret_item || find_item(d, (struct str){0}, event))
        return NULL;
    TRY(need_item(d, type, event, ret_item));
    return responses_item_announce(d, *ret_item, event);
}

static struct err *add_args(struct decode *d, const struct json *event, struct str type)
{
    struct responses_item *item;

    TRY(find_call(d, event, type, &item));
    return item ? reply_add_args(d->reply, item->parts[0].index, json_get_text(event, "delta"))
                : NULL;
}

static struct err *settle_args(struct decode *d, const struct json *event, struct str type,
                               const char *key)
{
    struct responses_item *item;

    TRY(find_call(d, event, type, &item));
    return item ? responses_settle_args(d->reply, item->parts[0].index, json_get_text(event, key))
                : NULL;
}

static struct err *on_args_delta(struct decode *d, const struct json *event)
{
    return add_args(d, event, S("function_call"));
}

static struct err *on_args_done(struct decode *d, const struct json *event)
{
    return settle_args(d, event, S("function_call"), "arguments");
}

static struct err *on_input_delta(struct decode *d, const struct json *event)
{
    return add_args(d, event, S("custom_tool_call"));
}

static struct err *on_input_done(struct decode *d, const struct json *event)
{
    return settle_args(d, event, S("custom_tool_call"), "input");
}

static struct err *on_mcp_args_delta(struct decode *d, const struct json *event)
{
    return add_args(d, event, S("mcp_call"));
}

/* --- the response --- */

static void take_head(struct reply *r, const struct json *response)
{
    struct str id = json_get_text(response, "id"), model = json_get_text(response, "model");

    if (id.n && !str_eq(id, r->id))
        r->id = reply_str(r, id);
    if (model.n && !str_eq(model, r->model))
        r->model = reply_str(r, model);
    take_usage(r, json_get(response, "usage"));
}

static struct err *on_created(struct decode *d, const struct json *event)
{
    if (d->reply->is_complete || items_of(d)->n)
        return err_new(ERR_PROVIDER_ERROR, "the provider began a second response in one stream");
    take_head(d->reply, json_get(event, "response"));
    return NULL;
}

static struct err *on_progress(struct decode *d, const struct json *event)
{
    take_head(d->reply, json_get(event, "response"));
    return NULL;
}

/* A response that has ended in any way. `status` is what its event said, for vendors that do not
 * repeat it inside. */
static struct err *take_response(struct decode *d, const struct json *response, struct str status)
{
    if (json_get_text(response, "status").n)
        status = json_get_text(response, "status");
    take_head(d->reply, response);
    TRY(take_output(d, json_get(response, "output")));
    if (str_is(status, "failed"))
        return openai_responses_classify(0, response);
    if (str_is(status, "cancelled"))
        return err_new(ERR_PROVIDER_ERROR, "the provider says that the answer was cancelled");
    if (str_is(status, "queued") || str_is(status, "in_progress"))
        return err_hint(err_new(ERR_PROVIDER_ERROR, "the provider has not begun to answer yet"),
                        "remove \"background\" from the model's options");
    take_stop(d->reply, response, status);
    return NULL;
}

static struct err *on_completed(struct decode *d, const struct json *event)
{
    return take_response(d, json_get(event, "response"), S("completed"));
}

static struct err *on_incomplete(struct decode *d, const struct json *event)
{
    return take_response(d, json_get(event, "response"), S("incomplete"));
}

static struct err *on_failed(struct decode *d, const struct json *event)
{
    return take_response(d, json_get(event, "response"), S("failed"));
}

static struct err *on_error(struct decode *d, const struct json *event)
{
    return openai_responses_classify(0, event);
}

/* A router tells its price after the end. */
static struct err *on_ping(struct decode *d, const struct json *event)
{
    take_cost(d->reply, json_get(event, "cost"));
    return NULL;
}

struct err *openai_responses_event(struct decode *d, struct str type, const struct json *event)
{
    static const struct {
        const char *type;
        struct err *(*take)(struct decode *d, const struct json *event);
        bool after_end;
    } events[] = {
        {"response.output_text.delta", on_text_delta},
        {"response.function_call_arguments.delta", on_args_delta},
        {"response.reasoning_summary_text.delta", on_reasoning_delta},
        {"response.reasoning_text.delta", on_reasoning_delta},
        {"response.custom_tool_call_input.delta", on_input_delta},
        {"response.mcp_call_arguments.delta", on_mcp_args_delta},
        {"response.refusal.delta", on_refusal_delta},
        {"response.output_item.added", on_item_added},
        {"response.output_item.done", on_item_done},
        {"response.output_text.done", on_text_done},
        {"response.output_text.annotation.added", on_annotation},
        {"response.refusal.done", on_refusal_done},
        {"response.content_part.done", on_part_done},
        {"response.function_call_arguments.done", on_args_done},
        {"response.custom_tool_call_input.done", on_input_done},
        {"response.created", on_created, /* after_end= */ true},
        {"response.queued", on_progress},
        {"response.in_progress", on_progress},
        {"response.completed", on_completed},
        {"response.done", on_completed},
        {"response.incomplete", on_incomplete},
        {"response.failed", on_failed},
        {"error", on_error},
        {"ping", on_ping, /* after_end= */ true},
    };

    if (json_get_text(event, "type").n)
        type = json_get_text(event, "type");
    for (size_t i = 0; event && i < ARRAY_LEN(events); i++)
        if (str_is(type, events[i].type))
            return d->reply->is_complete && !events[i].after_end ? NULL : events[i].take(d, event);
    return NULL; /* states of built-in tools, previews of images, what is younger than this code */
}

struct err *openai_responses_body(struct decode *d, const struct json *body)
{
    if (!json_is(json_get(body, "output"), JSON_ARRAY)) {
        if (json_is(json_get(body, "error"), JSON_OBJECT) || json_get_text(body, "error").n)
            return openai_responses_classify(0, body);
        return err_new(ERR_PROVIDER_ERROR, "the answer has no output");
    }
    return take_response(d, body, (struct str){0});
}
