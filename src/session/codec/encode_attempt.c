/* encode_attempt.c - a request, and its answer once it is whole. */
#include "session/codec/encode.h"

static void put_price(struct encoding *c, const struct price *p)
{
    if (!p || p->input < 0 || p->output < 0)
        return;
    jw_key(&c->json, "price");
    jw_begin_array(&c->json);
    jw_int(&c->json, p->input);
    jw_int(&c->json, p->output);
    jw_int(&c->json, p->cache_read);
    jw_int(&c->json, p->cache_write);
    if (p->long_from || p->search || p->search_request) {
        jw_int(&c->json, p->long_from);
        jw_int(&c->json, p->long_input_percent);
        jw_int(&c->json, p->long_output_percent);
    }
    if (p->search || p->search_request)
        jw_int(&c->json, p->search);
    if (p->search_request)
        jw_int(&c->json, p->search_request);
    jw_end_array(&c->json);
}

static void put_numbers(struct encoding *c, const char *key, const int64_t *numbers, size_t n)
{
    jw_key(&c->json, key);
    jw_begin_array(&c->json);
    for (size_t i = 0; i < n; i++)
        jw_int(&c->json, numbers[i]);
    jw_end_array(&c->json);
}

static void put_reserved(struct encoding *c, const struct reservation *r)
{
    const int64_t numbers[] = {r->input, r->output, r->microcents, r->max_output};

    if (r->input || r->output)
        put_numbers(c, "reserved", numbers, r->max_output ? 4 : 3);
}

static void put_assumed(struct encoding *c, const struct event_attempt *a)
{
    const struct usage *u = a->assumed;

    if (u) {
        const int64_t numbers[] = {usage_fresh_input(u), usage_completion(u), u->cache_read,
                                   u->cache_write, a->assumed_microcents};

        put_numbers(c, "assumed", numbers, ARRAY_LEN(numbers));
    }
}

void codec_encode_attempt(struct encoding *c)
{
    const struct event_attempt *a = &c->event->body.attempt;

    if (c->event->type == EVENT_ATTEMPT_BEGIN || c->event->type == EVENT_ATTEMPT_END)
        codec_stream_done(&c->writer->stream);
    if (c->event->type == EVENT_ATTEMPT_BEGIN)
        codec_forget_reply(c->writer);
    if (a->error && a->error->retry_after_ms >= 0)
        jw_kv_int(&c->json, "retryAfterMs", a->error->retry_after_ms);
    put_price(c, a->price);
    put_reserved(c, &a->reserved);
    put_assumed(c, a);
    if (a->n_retry_slugs) {
        jw_key(&c->json, "retrySlugs");
        jw_begin_array(&c->json);
        for (size_t i = 0; i < a->n_retry_slugs; i++)
            jw_str(&c->json, str_of(a->retry_slugs[i]));
        jw_end_array(&c->json);
    }
    codec_put_usage(c, a->usage);
    if (a->cost_microcents >= 0)
        jw_kv_int(&c->json, "costMicrocents", a->cost_microcents);
}

/* --- the request --- */

static void write_schema(struct json_writer *w, const struct tool_def *d)
{
    jw_begin_object(w);
    jw_kv_str(w, "name", d->name);
    jw_kv_str(w, "description", d->description);
    if (d->input_schema)
        jw_kv_json(w, "parameters", d->input_schema);
    jw_end_object(w);
}

void codec_put_schemas(struct encoding *c, const struct tool_set *set)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct json_writer w;

    jw_init(&w, &text);
    jw_begin_array(&w);
    for (size_t i = 0; set && i < set->n; i++)
        write_schema(&w, &set->entries[i].def);
    jw_end_array(&w);
    codec_put_json_text(c, "toolSchemas", strbuf_str(&text));
}

/* Written out when the set or the number of those offered has changed, else named again. */
static void put_tools(struct encoding *c, const struct event_request *b)
{
    struct codec_writer *writer = c->writer;
    AUTO(strbuf) struct strbuf text = {0};
    struct json_writer w;

    jw_key(&c->json, "tools");
    if (writer->tools[0] && writer->tools_version == b->tools_version &&
        writer->n_tools == b->request->n_tools) {
        codec_write_reference(c, "$blob", str_of(writer->tools));
        return;
    }
    jw_init(&w, &text);
    jw_begin_array(&w);
    for (size_t i = 0; i < b->request->n_tools; i++)
        write_schema(&w, b->request->tools[i]);
    jw_end_array(&w);
    codec_add_blob(c, strbuf_str(&text), writer->tools);
    codec_write_reference(c, "$blob", str_of(writer->tools));
    writer->tools_version = b->tools_version;
    writer->n_tools = b->request->n_tools;
}

static void put_maybe(struct encoding *c, const char *key, struct maybe_double d)
{
    if (d.is_set)
        jw_kv_double(&c->json, key, d.value);
}

static void put_cut(struct encoding *c, const struct history_cut *cut)
{
    if (!cut)
        return;
    jw_key(&c->json, "cut");
    jw_begin_object(&c->json);
    codec_put_true(c, "all", cut->has_nothing);
    codec_put_int(c, "skipped", (int64_t)cut->n_skipped);
    codec_put_int(c, "behind", (int64_t)cut->n_behind);
    jw_key(&c->json, "clipped");
    jw_begin_array(&c->json);
    for (size_t i = 0; i < cut->n_clipped; i++)
        jw_int(&c->json, (int64_t)cut->clipped[i]);
    jw_end_array(&c->json);
    jw_end_object(&c->json);
}

void codec_encode_request(struct encoding *c)
{
    const struct event_request *b = &c->event->body.request;
    const struct model_request *r = b->request;

    codec_put_text(c, "provider", r->provider);
    codec_put_text(c, "protocol", r->protocol);
    codec_put_text(c, "model", r->model);
    codec_put_system(c, "system", r->system);
    codec_put_history(c, "messages");
    put_cut(c, b->cut);
    put_tools(c, b);
    codec_put_true(c, "stream", r->stream);
    codec_put_int(c, "maxOutputTokens", r->max_output);
    codec_put_name(c, "effort", effort_name(r->effort));
    codec_put_int(c, "reasoningBudget", r->reasoning_budget);
    put_maybe(c, "temperature", r->sampling.temperature);
    put_maybe(c, "topP", r->sampling.top_p);
    codec_put_true(c, "webSearch", r->web_search);
    codec_put_true(c, "webFetch", r->web_fetch);
    codec_put_int(c, "promptCache", r->cache);
    codec_put_json(c, "outputSchema", r->output_schema);
    if (b->n_overlays) {
        jw_key(&c->json, "overlays");
        jw_begin_array(&c->json);
        for (size_t i = 0; i < b->n_overlays; i++)
            jw_str(&c->json, b->overlays[i]);
        jw_end_array(&c->json);
    }
    codec_put_int(c, "toolsVersion", (int64_t)b->tools_version);
}

/* --- the answer --- */

void codec_encode_reply(struct encoding *c)
{
    const struct reply *r = c->event->body.reply.reply;

    codec_put_name(c, "responseKind", c->event->body.reply.kind);
    codec_put_text(c, "id", r->id);
    codec_put_text(c, "model", r->model);
    codec_put_text(c, "stopReason", r->stop_reason);
    codec_put_text(c, "stop", str_of(stop_name(r->stop)));
    codec_put_text(c, "stopDetail", r->stop_detail);
    codec_put_true(c, "isComplete", r->is_complete);
    codec_put_usage(c, &r->usage);
    codec_put_reply(c, "parts", r);
}
