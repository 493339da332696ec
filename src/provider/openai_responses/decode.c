/* decode.c - reads answers of the OpenAI Responses API.
 *
 * A stream is: response.created, then items (added, deltas, done; each with its output_index and
 * id), then response.completed, .incomplete or .failed with the whole response once more. Vendors
 * omit any of it except the last event: deltas, numbers, ids, or the final output. So every piece
 * is kept, and each final form only adds what is missing. */
#include "provider/openai_responses/openai_responses.h"

#include "provider/provider_error.h"

#define USD_TICKS_PER_MICROCENT 100

void openai_responses_begin(struct decode *d)
{
    d->state = ARENA_NEW(&d->reply->arena, struct responses_items);
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

/* Dollars as a number, as a string, or as the total of an object. */
static void take_cost(struct reply *r, const struct json *cost)
{
    struct json amount = {.type = JSON_NUMBER};
    int64_t microcents;

    if (json_is(cost, JSON_OBJECT))
        cost = json_get(cost, "total_cost");
    if (!cost)
        return;
    amount.text = cost->text;
    if (money_from_usd(&amount, &microcents))
        usage_take_cost(&r->usage, microcents);
}

static void take_usage(struct reply *r, const struct json *usage)
{
    const struct json *input = json_get(usage, "input_tokens_details");
    const struct json *output = json_get(usage, "output_tokens_details");
    int64_t ticks = count_or(json_get(usage, "cost_in_usd_ticks"), -1);
    struct usage *u = &r->usage;

    if (!json_is(usage, JSON_OBJECT))
        return;
    usage_take_count(u, &u->input, json_get(usage, "input_tokens"));
    usage_take_count(u, &u->output, json_get(usage, "output_tokens"));
    usage_take_count(u, &u->cache_read, json_get(input, "cached_tokens"));
    usage_take_count(u, &u->cache_write, json_get(input, "cache_write_tokens"));
    usage_take_count(u, &u->reasoning, json_get(output, "reasoning_tokens"));
    u->input_includes_cache = true;
    if (ticks >= 0)
        usage_take_cost(u, ticks / USD_TICKS_PER_MICROCENT);
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
    reply_set_word(r, &r->stop_detail, reason);
    r->is_complete = true;
}

/* --- items --- */

/* The streamed item for an item of the final output: the one with the same id, or else the first
 * one of its type that is not taken. */
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
    struct responses_items *items = d->state;

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

static int64_t output_index_of(const struct json *event)
{
    return count_or(json_get(event, "output_index"), -1);
}

static struct responses_item *find_item(struct decode *d, struct str type, const struct json *event)
{
    return responses_item_find(d->state, type, json_get_text(event, "item_id"),
                               output_index_of(event));
}

/* The item of a delta, opened if the vendor has not announced it. */
static struct err *need_item(struct decode *d, struct str type, const struct json *event,
                             struct responses_item **ret_item)
{
    *ret_item = find_item(d, type, event);
    if (*ret_item)
        return NULL;
    return responses_item_open(d, d->state, type, json_get_text(event, "item_id"),
                               output_index_of(event), ret_item);
}

/* --- events --- */

/* A type of event, and how it is read. */
struct event_kind {
    const char *type;
    struct err *(*take)(struct decode *d, const struct event_kind *kind, const struct json *event);
    const char *item;    /* type of its item */
    const char *member;  /* the member with its text */
    enum part_kind part; /* of its text */
    const char *status;  /* of the response, if the event ends it */
    bool after_end;      /* also read after the end of the response */
};

static struct err *item_added(struct decode *d, const struct event_kind *kind,
                              const struct json *event)
{
    const struct json *json = json_get(event, "item");
    struct str type = json_get_text(json, "type"), id = json_get_text(json, "id");
    struct responses_item *item;

    if (type.n == 0)
        return NULL;
    item = responses_item_find(d->state, type, id, output_index_of(event));
    if (item && !item->is_done && id.n && str_eq(item->id, id) &&
        item->output_index == output_index_of(event))
        return NULL; /* already announced */
    TRY(responses_item_open(d, d->state, type, id, output_index_of(event), &item));
    return responses_item_announce(d, item, json);
}

static struct err *item_done(struct decode *d, const struct event_kind *kind,
                             const struct json *event)
{
    const struct json *json = json_get(event, "item");
    struct str type = json_get_text(json, "type"), id = json_get_text(json, "id");
    struct responses_item *item = responses_item_find(d->state, type, id, output_index_of(event));

    if (type.n == 0)
        return NULL;
    if (!item || (item->is_done && (id.n == 0 || !str_eq(item->id, id))))
        TRY(responses_item_open(d, d->state, type, id, output_index_of(event), &item));
    return responses_item_settle(d, item, json);
}

static struct err *find_text(struct decode *d, const struct event_kind *kind,
                             const struct json *event, size_t *ret_index)
{
    struct responses_item *item;

    TRY(need_item(d, str_of(kind->item), event, &item));
    return responses_item_part(d, item, kind->part, count_or(json_get(event, "content_index"), 0),
                               ret_index);
}

static struct err *text_delta(struct decode *d, const struct event_kind *kind,
                              const struct json *event)
{
    struct str text = json_get_text(event, kind->member);
    size_t index;

    if (text.n == 0)
        return NULL;
    TRY(find_text(d, kind, event, &index));
    return reply_add_text(d->reply, index, text);
}

static struct err *text_done(struct decode *d, const struct event_kind *kind,
                             const struct json *event)
{
    struct str text = json_get_text(event, kind->member);
    size_t index;

    if (text.n == 0)
        return NULL;
    TRY(find_text(d, kind, event, &index));
    return responses_settle_text(d->reply, index, text);
}

static struct err *part_done(struct decode *d, const struct event_kind *kind,
                             const struct json *event)
{
    const struct json *part = json_get(event, "part");
    size_t index;

    if (!str_is(json_get_text(part, "type"), "output_text") || json_get_text(part, "text").n == 0)
        return NULL;
    TRY(find_text(d, kind, event, &index));
    return responses_settle_text(d->reply, index, json_get_text(part, "text"));
}

static struct err *annotation_added(struct decode *d, const struct event_kind *kind,
                                    const struct json *event)
{
    const struct json *json = json_get(event, "annotation");
    struct responses_item *item;

    if (!json_is(json, JSON_OBJECT))
        return NULL;
    TRY(need_item(d, str_of(kind->item), event, &item));
    return responses_item_cite(d, item, json);
}

/* Items of other types have their arguments only in their final form. */
static struct err *find_call(struct decode *d, const struct event_kind *kind,
                             const struct json *event, struct responses_item **ret_item)
{
    *ret_item = find_item(d, str_of(kind->item), event);
    if (*ret_item || find_item(d, (struct str){0}, event))
        return NULL;
    TRY(need_item(d, str_of(kind->item), event, ret_item));
    return responses_item_announce(d, *ret_item, event);
}

static struct err *args_delta(struct decode *d, const struct event_kind *kind,
                              const struct json *event)
{
    struct responses_item *item;

    TRY(find_call(d, kind, event, &item));
    if (!item)
        return NULL;
    return reply_add_args(d->reply, item->parts[0].index, json_get_text(event, kind->member));
}

static struct err *args_done(struct decode *d, const struct event_kind *kind,
                             const struct json *event)
{
    struct responses_item *item;

    TRY(find_call(d, kind, event, &item));
    if (!item)
        return NULL;
    return responses_settle_args(d->reply, item->parts[0].index,
                                 json_get_text(event, kind->member));
}

/* --- the response --- */

static void take_head(struct reply *r, const struct json *response)
{
    struct str id = json_get_text(response, "id"), model = json_get_text(response, "model");

    if (id.n)
        reply_set_word(r, &r->id, id);
    if (model.n)
        reply_set_word(r, &r->model, model);
    take_usage(r, json_get(response, "usage"));
}

/* xAI reports its own count. */
static void take_searches(struct usage *u, const struct json *usage)
{
    const struct json *details = json_get(usage, "server_side_tool_usage_details");

    usage_take_count(u, &u->web_searches, json_get(details, "web_search_calls"));
}

static bool is_unfinished(struct str status)
{
    return str_is(status, "queued") || str_is(status, "in_progress");
}

/* Reads an ended response. `status` is the one of its event, if there was one: some vendors omit it
 * inside, or forget to change it. */
static struct err *take_response(struct decode *d, const struct json *response, struct str status)
{
    struct str inner = json_get_text(response, "status");

    if (inner.n && (status.n == 0 || !is_unfinished(inner)))
        status = inner;
    take_head(d->reply, response);
    TRY(take_output(d, json_get(response, "output")));
    take_searches(&d->reply->usage, json_get(response, "usage"));
    if (str_is(status, "failed"))
        return openai_classify(0, response);
    if (str_is(status, "cancelled"))
        return err_new(ERR_PROVIDER_ERROR, "the provider cancelled the answer");
    if (is_unfinished(status))
        return err_hint(err_new(ERR_PROVIDER_ERROR, "the provider has only queued the answer"),
                        "remove \"background\" from the model's options");
    take_stop(d->reply, response, status);
    return NULL;
}

static struct err *response_begins(struct decode *d, const struct event_kind *kind,
                                   const struct json *event)
{
    const struct responses_items *items = d->state;

    if (items->n)
        return err_new(ERR_BAD_RESPONSE, "the provider began a second response in one stream");
    take_head(d->reply, json_get(event, "response"));
    return NULL;
}

static struct err *response_goes_on(struct decode *d, const struct event_kind *kind,
                                    const struct json *event)
{
    take_head(d->reply, json_get(event, "response"));
    return NULL;
}

static struct err *response_ends(struct decode *d, const struct event_kind *kind,
                                 const struct json *event)
{
    return take_response(d, json_get(event, "response"), str_of(kind->status));
}

static struct err *error_told(struct decode *d, const struct event_kind *kind,
                              const struct json *event)
{
    return openai_classify(0, event);
}

/* A router sends its price after the end. */
static struct err *ping(struct decode *d, const struct event_kind *kind, const struct json *event)
{
    take_cost(d->reply, json_get(event, "cost"));
    return NULL;
}

#define EVENT(name, ...) {"response." name, __VA_ARGS__}

static const struct event_kind event_kinds[] = {
    EVENT("output_text.delta", text_delta, "message", "delta", PART_TEXT),
    EVENT("output_text.done", text_done, "message", "text", PART_TEXT),
    EVENT("output_text.annotation.added", annotation_added, "message"),
    EVENT("refusal.delta", text_delta, "message", "delta", PART_REFUSAL),
    EVENT("refusal.done", text_done, "message", "refusal", PART_REFUSAL),
    EVENT("reasoning_text.delta", text_delta, "reasoning", "delta", PART_REASONING),
    EVENT("reasoning_summary_text.delta", text_delta, "reasoning", "delta", PART_REASONING),
    EVENT("function_call_arguments.delta", args_delta, "function_call", "delta"),
    EVENT("function_call_arguments.done", args_done, "function_call", "arguments"),
    EVENT("custom_tool_call_input.delta", args_delta, "custom_tool_call", "delta"),
    EVENT("custom_tool_call_input.done", args_done, "custom_tool_call", "input"),
    EVENT("mcp_call_arguments.delta", args_delta, "mcp_call", "delta"),
    EVENT("mcp_call_arguments.done", args_done, "mcp_call", "arguments"),
    EVENT("content_part.done", part_done, "message", NULL, PART_TEXT),
    EVENT("output_item.added", item_added),
    EVENT("output_item.done", item_done),
    EVENT("created", response_begins),
    EVENT("queued", response_goes_on),
    EVENT("in_progress", response_goes_on),
    EVENT("completed", response_ends, .status = "completed"),
    EVENT("incomplete", response_ends, .status = "incomplete"),
    EVENT("failed", response_ends, .status = "failed"),
    {"error", error_told},
    {"ping", ping, .after_end = true},
};

static const struct event_kind *find_event(struct str type)
{
    for (size_t i = 0; i < ARRAY_LEN(event_kinds); i++)
        if (str_is(type, event_kinds[i].type))
            return &event_kinds[i];
    return NULL; /* states of parts and built-in tools, previews, types newer than this code */
}

bool openai_responses_is_event(struct str type, const struct json *event)
{
    struct str own = json_get_text(event, "type");

    type = own.n ? own : type;
    return str_starts(type, S("response.")) || str_is(type, "ping") || str_is(type, "keepalive");
}

struct err *openai_responses_event(struct decode *d, struct str type, const struct json *event)
{
    const struct event_kind *kind;

    if (json_get_text(event, "type").n)
        type = json_get_text(event, "type");
    else if (error_body_is_error(event))
        type = S("error"); /* not from this API, but from a server in between */
    kind = event ? find_event(type) : NULL;
    if (!kind || (d->is_over && !kind->after_end))
        return NULL;
    TRY(kind->take(d, kind, event));
    d->is_over = d->reply->is_complete;
    return NULL;
}

struct err *openai_responses_body(struct decode *d, const struct json *body)
{
    if (!json_is(json_get(body, "output"), JSON_ARRAY)) {
        if (error_body_is_error(body))
            return openai_classify(0, body);
        return err_new(ERR_BAD_RESPONSE, "the answer has no output");
    }
    return take_response(d, body, (struct str){0});
}
