/* decode_attempt.c - a request, and its answer once it was whole. */
#include "session/codec/decode.h"

#include "engine/shorten.h"
#include "model/message_json.h"

static const struct price *get_price(struct decoding *d)
{
    const struct json *v = json_get(d->body, "price");
    struct price *p = ARENA_NEW(d->arena, struct price);

    if (!json_is(v, JSON_ARRAY))
        return NULL;
    *p = (struct price){.input = json_int_or(json_at(v, 0), -1),
                        .output = json_int_or(json_at(v, 1), -1),
                        .cache_read = json_int_or(json_at(v, 2), -1),
                        .cache_write = json_int_or(json_at(v, 3), -1),
                        .long_from = json_int_or(json_at(v, 4), 0),
                        .long_input_percent = json_int_or(json_at(v, 5), 0),
                        .long_output_percent = json_int_or(json_at(v, 6), 0),
                        .search = json_int_or(json_at(v, 7), 0),
                        .search_request = json_int_or(json_at(v, 8), 0)};
    return p;
}

static struct reservation get_reserved(const struct decoding *d)
{
    const struct json *v = json_get(d->body, "reserved");

    return (struct reservation){.input = json_int_or(json_at(v, 0), 0),
                                .output = json_int_or(json_at(v, 1), 0),
                                .microcents = json_int_or(json_at(v, 2), -1),
                                .max_output = json_int_or(json_at(v, 3), 0)};
}

static void get_assumed(struct decoding *d, struct event_attempt *a)
{
    const struct json *v = json_get(d->body, "assumed");
    struct usage *u = ARENA_NEW(d->arena, struct usage);

    if (!json_is(v, JSON_ARRAY))
        return;
    *u = USAGE_UNKNOWN;
    u->input = json_int_or(json_at(v, 0), 0);
    u->output = json_int_or(json_at(v, 1), 0);
    u->cache_read = json_int_or(json_at(v, 2), -1);
    u->cache_write = json_int_or(json_at(v, 3), -1);
    a->assumed = u;
    a->assumed_microcents = json_int_or(json_at(v, 4), -1);
}

struct err *codec_decode_attempt(struct decoding *d)
{
    struct event_attempt *a = &d->event->body.attempt;
    const struct json *slugs = json_get(d->body, "retrySlugs");
    const char **list = ARENA_ARRAY(d->arena, slugs ? slugs->n : 0, const char *);
    struct usage *usage = ARENA_NEW(d->arena, struct usage);

    if (d->event->type == EVENT_ATTEMPT_BEGIN || d->event->type == EVENT_ATTEMPT_END)
        codec_stream_reading_clear(&d->reader->streaming);
    json_each (v, slugs)
        list[a->n_retry_slugs++] = arena_cstr(d->arena, json_str(v));
    a->retry_slugs = list;
    a->price = get_price(d);
    a->reserved = get_reserved(d);
    get_assumed(d, a);
    a->usage = codec_get_usage(d, usage) || d->event->type == EVENT_ATTEMPT_END ? usage : NULL;
    a->cost_microcents = json_int_or(json_get(d->body, "costMicrocents"), -1);
    if (a->error) /* what the peer asked for: the error's own words do not say it */
        d->reader->error->retry_after_ms = json_int_or(json_get(d->body, "retryAfterMs"), -1);
    return NULL;
}

/* --- the request --- */

static void read_def(const struct json *v, struct tool_def *ret)
{
    *ret = (struct tool_def){.name = json_get_text(v, "name"),
                             .description = json_get_text(v, "description"),
                             .input_schema = json_get(v, "parameters")};
}

struct err *codec_get_tool_set(struct decoding *d, const struct tool_set **ret_set)
{
    struct tool_set *set = ARENA_NEW(d->arena, struct tool_set);
    const struct json *list;

    TRY(codec_get_json(d, "toolSchemas", &list));
    set->version = (uint64_t)codec_get_int(d, "toolsVersion");
    set->entries = ARENA_ARRAY(d->arena, list ? list->n : 0, struct tool_entry);
    json_each (v, list)
        read_def(v, &set->entries[set->n++].def);
    *ret_set = set;
    return NULL;
}

static struct maybe_double get_maybe(const struct decoding *d, const char *key)
{
    struct maybe_double m = {0};

    m.is_set = json_double(json_get(d->body, key), &m.value);
    return m;
}

static struct err *get_offered(struct decoding *d, struct model_request *request)
{
    const struct json *list;
    struct tool_def *defs;
    const struct tool_def **tools;

    TRY(codec_get_json(d, "tools", &list));
    defs = ARENA_ARRAY(d->arena, list ? list->n : 0, struct tool_def);
    tools = ARENA_ARRAY(d->arena, list ? list->n : 0, const struct tool_def *);
    json_each (v, list) {
        read_def(v, &defs[request->n_tools]);
        tools[request->n_tools] = &defs[request->n_tools];
        request->n_tools++;
    }
    request->tools = tools;
    return NULL;
}

static const struct history_cut *get_cut(struct decoding *d)
{
    const struct json *v = json_get(d->body, "cut"), *clipped = json_get(v, "clipped");
    struct history_cut *cut = ARENA_NEW(d->arena, struct history_cut);
    size_t *indices = ARENA_ARRAY(d->arena, clipped ? clipped->n : 0, size_t);

    if (!json_is(v, JSON_OBJECT))
        return NULL;
    cut->has_nothing = json_bool(json_get(v, "all"), false);
    cut->n_skipped = (size_t)json_int_or(json_get(v, "skipped"), 0);
    cut->n_behind = (size_t)json_int_or(json_get(v, "behind"), 0);
    json_each (index, clipped)
        indices[cut->n_clipped++] = (size_t)json_int_or(index, 0);
    cut->clipped = indices;
    return cut;
}

/* The messages as they were sent are made anew: the same history gives the same. */
static void build_messages(struct decoding *d, struct model_request *request,
                           const struct event_request *b)
{
    struct codec_reader *r = d->reader;
    struct request_target target = {.provider = request->provider,
                                    .protocol = request->protocol,
                                    .form = r->find_form ? r->find_form(request->protocol) : NULL,
                                    .model = request->model,
                                    .authored = request->system,
                                    .tools = request->tools,
                                    .n_tools = request->n_tools};
    AUTO(shortened) struct shortened shortened = {0};
    size_t n;
    const struct message *const *messages = history_messages(&r->history, &n);

    if (b->cut) {
        shorten(messages, n, b->cut, &shortened);
        messages = (const struct message *const *)shortened.items;
        n = shortened.n;
    }
    built_messages_done(&r->built);
    request_build(messages, n, &target, b->overlays, b->n_overlays, &r->built);
    request->messages = (const struct message *const *)r->built.items;
    request->n_messages = r->built.n;
}

struct err *codec_decode_request(struct decoding *d)
{
    struct event_request *b = &d->event->body.request;
    struct model_request *r = ARENA_NEW(d->arena, struct model_request);
    const struct json *overlays = json_get(d->body, "overlays");
    struct str *texts = ARENA_ARRAY(d->arena, overlays ? overlays->n : 0, struct str);

    b->request = r;
    b->tools_version = (uint64_t)codec_get_int(d, "toolsVersion");
    json_each (v, overlays)
        texts[b->n_overlays++] = json_str(v);
    b->overlays = texts;
    b->cut = get_cut(d);
    r->stream = codec_get_bool(d, "stream");
    r->max_output = codec_get_int(d, "maxOutputTokens");
    r->effort = (enum effort)CODEC_GET_NAME(d, "effort", effort_name, EFFORT_MAX);
    r->reasoning_budget = codec_get_int(d, "reasoningBudget");
    r->sampling.temperature = get_maybe(d, "temperature");
    r->sampling.top_p = get_maybe(d, "topP");
    r->web_search = codec_get_bool(d, "webSearch");
    r->web_fetch = codec_get_bool(d, "webFetch");
    r->cache = (enum prompt_cache)MIN(MAX(codec_get_int(d, "promptCache"), 0), PROMPT_CACHE_LONG);
    TRY(codec_get_text(d, "provider", &r->provider));
    TRY(codec_get_text(d, "protocol", &r->protocol));
    TRY(codec_get_text(d, "model", &r->model));
    TRY(codec_get_text(d, "system", &r->system));
    TRY(codec_get_json(d, "outputSchema", &r->output_schema));
    TRY(get_offered(d, r));
    if (!(d->reader->leaves & CODEC_LEAVE_REQUESTS))
        build_messages(d, r, b);
    return codec_check_history(d, "messages");
}

/* --- the answer --- */

static void begin_reply(struct codec_reader *r)
{
    r->passed.seq = 0;
    if (r->has_reply)
        reply_done(&r->reply);
    reply_init(&r->reply, (struct delta_sink){0});
    r->reply.max_json = SIZE_MAX / 2; /* it was stored: its size is what it is */
    r->has_reply = true;
}

/* Its parts are as they were when the answer had come: nothing streams any more. */
static struct err *add_reply_part(struct decoding *d, const struct json *v)
{
    struct reply *r = &d->reader->reply;
    struct part part, rest;
    size_t index;

    TRY(part_read(v, d->arena, &part));
    TRY(reply_begin(r, part.kind, (struct str){0}, (struct str){0}, &index));
    rest = part;
    rest.text = (struct str){0};
    *reply_part(r, index) = part_copy(&r->arena, &rest);
    TRY(reply_set_text(r, index, part.text));
    return part.kind == PART_TOOL_CALL || part.kind == PART_SERVER_TOOL_USE
               ? reply_set_args(r, index, part.args)
               : NULL;
}

struct err *codec_decode_reply(struct decoding *d)
{
    struct codec_reader *reader = d->reader;
    struct reply *r = &reader->reply;
    const struct json *parts;
    struct str text;

    begin_reply(reader);
    reader->reply_seq = d->record->seq;
    d->event->body.reply = (struct event_reply){r, codec_get_word(d, "responseKind")};
    TRY(codec_get_text(d, "id", &text));
    r->id = reply_str(r, text);
    TRY(codec_get_text(d, "model", &text));
    r->model = reply_str(r, text);
    TRY(codec_get_text(d, "stopReason", &text));
    r->stop_reason = reply_str(r, text);
    TRY(codec_get_text(d, "stop", &text));
    r->stop = stop_find(text);
    TRY(codec_get_text(d, "stopDetail", &text));
    r->stop_detail = reply_str(r, text);
    r->is_complete = codec_get_bool(d, "isComplete");
    codec_get_usage(d, &r->usage);
    r->usage.routed_provider = reply_str(r, r->usage.routed_provider);
    r->usage.routed_model = reply_str(r, r->usage.routed_model);
    TRY(codec_get_json(d, "parts", &parts));
    json_each (v, parts)
        TRY(add_reply_part(d, v));
    return NULL;
}
