/* provider.c - models that answer with the bytes that they answered with then. */
#include "sdk/replay/parts.h"

#include "provider/decode.h"

#include <stdio.h>

struct played {
    struct provider provider;
    struct replay *replay;
    const struct protocol *protocol; /* NULL: it lived in the process */
    const struct dialect *dialect;
    const struct vendor *words;
    struct provider_capabilities capabilities;
};

/* One request. */
struct exchange {
    const struct played *provider;
    const struct provider_call *call;
    const struct recorded_attempt *attempt;
    uint64_t n_payloads;
    /* of the payload that is played */
    enum payload_kind kind;
    int status;
};

/* --- the provider's bytes --- */

static void tell_payload(struct exchange *x, enum payload_kind kind, struct str bytes)
{
    if (!x->call->on_native_payload)
        return;
    x->call->on_native_payload(x->call->self,
                               &(struct native_payload){
                                   .provider = x->provider->provider.id,
                                   .api_surface = str_of(x->provider->protocol->api_surface),
                                   .kind = kind,
                                   .sequence = x->n_payloads++,
                                   .bytes = bytes,
                                   .http_status = x->status,
                               });
}

/* How it came is a matter of the recording. */
static void on_event(void *self, struct str type, struct str bytes)
{
    struct exchange *x = self;

    tell_payload(x, x->kind, bytes);
}

static bool reads_as_event(const struct exchange *x, struct str bytes)
{
    AUTO(decoder) struct decoder decoder;
    struct reply reply;
    AUTO(err) struct err *e = NULL;

    reply_init(&reply, (struct delta_sink){0});
    decoder_init(&decoder, x->provider->protocol, x->status, NULL, /* unix_now_ms= */ 0, &reply);
    e = decoder_feed_event(&decoder, DECODE_PLAIN_TYPE, bytes);
    if (!e)
        e = decoder_end(&decoder);
    reply_done(&reply);
    return !e;
}

/* Did the answer come in one piece? Older versions have kept that like the only event of a stream.
 */
static bool is_whole(const struct exchange *x, const struct recorded_payload *p)
{
    const struct recorded_event *next = recording_at(x->provider->replay->recording, 1);

    if (p->kind == PAYLOAD_RESPONSE)
        return true;
    return !x->attempt->error && !(next && next->payload) && x->n_payloads == 1 &&
           !reads_as_event(x, p->bytes);
}

/* Until all have come, or one does not do what it did then, which then shows. */
static struct err *feed_stream(struct exchange *x, struct decoder *d,
                               const struct recorded_payload *p)
{
    uint64_t n_before;

    do {
        n_before = x->n_payloads;
        TRY(decoder_feed_event(d, p->event_type.n ? p->event_type : DECODE_PLAIN_TYPE, p->bytes));
        p = replay_next_payload(x->provider->replay);
    } while (p && x->n_payloads > n_before);
    return NULL;
}

/* --- how it ended --- */

/* The id of the request came in a header, and headers are not recorded. */
static bool is_same_error(const struct err *read, const struct err *recorded)
{
    AUTO_FREE char *one = err_message(read);
    AUTO_FREE char *other = err_message(recorded);
    struct str rest = str_of(other);

    if (read->kind != recorded->kind || !str_starts(rest, str_of(one)))
        return false;
    rest = str_skip(rest, strlen(one));
    return rest.n == 0 || str_starts(rest, S(" (request-id "));
}

static struct err *recorded_error(const struct exchange *x)
{
    struct err *e = err_copy(x->attempt->error);

    if (err_is(e, ERR_CANCELLED))
        replay_cancel(x->provider->replay);
    return e;
}

static bool was_answered(const struct recorded_attempt *a)
{
    return a->said && a->said->state == MESSAGE_COMPLETE;
}

/* The process died before it told how the attempt ended; what was read may tell. */
static struct err *end_recording(const struct exchange *x)
{
    const struct message *said = x->attempt->said;

    if (said && said->state == MESSAGE_BROKEN)
        return err_new(ERR_NETWORK, "the stream broke");
    return err_new(ERR_CANCELLED, "the recording ends here");
}

/* What the bytes say wins over what was recorded; but of a stream that broke off they cannot say
 * why. */
static struct err *end_exchange(struct exchange *x, struct err *take_read, bool is_final)
{
    AUTO(err) struct err *read = take_read;

    if (!x->attempt->has_ended && !was_answered(x->attempt))
        return end_recording(x);
    if (!x->attempt->error)
        return TAKE(read);
    if (read)
        read = err_wrap(TAKE(read), "%" STR_FMT, STR_ARG(x->provider->provider.id));
    if (is_final && read && !is_same_error(read, x->attempt->error))
        return TAKE(read);
    return recorded_error(x);
}

/* Where a provider gives no id it is made of the arguments; if a credential was taken out of them
 * it cannot be made again, and is the recorded one. */
static void use_recorded_calls(const struct exchange *x, struct reply *reply)
{
    const struct message *said = x->attempt->said;

    for (size_t i = 0; said && i < MIN(reply->n_parts, said->n_parts); i++) {
        const struct part *then = &said->parts[i];
        struct part *now = reply_part(reply, i);

        if (now->kind == PART_TOOL_CALL && then->kind == PART_TOOL_CALL &&
            str_starts(now->id, S("call_")) && str_starts(then->id, S("call_")) &&
            str_eq(now->args, then->args) && str_find(now->args, S("[REDACTED]")) != STR_NONE)
            now->id = reply_str(reply, then->id);
    }
}

/* What the bytes of a whole answer say; of one that broke off they cannot say why. */
static bool is_final_whole(const struct exchange *x)
{
    return !err_is(x->attempt->error, ERR_NETWORK) && !err_is(x->attempt->error, ERR_TIMEOUT);
}

/* One answer to the request. */
static struct err *receive_once(struct exchange *x, const struct recorded_payload *p,
                                struct reply *reply, bool *ret_is_final)
{
    AUTO(decoder) struct decoder decoder;
    bool is_error = p && p->http_status >= 400, whole;
    struct err *e = NULL;

    x->status = p ? p->http_status : 200;
    x->kind = p ? p->kind : PAYLOAD_RESPONSE;
    whole = p && !is_error && is_whole(x, p);
    decoder_init(&decoder, x->provider->protocol, x->status, NULL, /* unix_now_ms= */ 0, reply);
    decoder_set_vendor(&decoder, x->provider->words);
    decoder.on_event = on_event;
    decoder.self = x;
    if (is_error)
        e = decoder_feed(&decoder, p->bytes);
    else if (whole)
        e = decoder_feed_event(&decoder, (struct str){0}, p->bytes);
    else if (p)
        e = feed_stream(x, &decoder, p);
    *ret_is_final = e || is_error || (whole && is_final_whole(x));
    if (!e)
        e = decoder_end(&decoder);
    if (e)
        reply_finish(reply);
    if (is_error)
        tell_payload(x, PAYLOAD_RESPONSE, strbuf_str(&decoder.whole));
    return e;
}

/* After a key was refused the request may have been sent once more. */
static struct err *receive(struct exchange *x, struct reply *reply)
{
    struct replay *r = x->provider->replay;
    const struct recorded_payload *p = replay_next_payload(r);
    bool is_final;
    struct err *e = receive_once(x, p, reply, &is_final);

    while (x->status >= 400 && (p = replay_next_payload(r))) {
        err_free(e);
        reply_clear(reply);
        e = receive_once(x, p, reply, &is_final);
    }
    replay_load(r); /* how it ended */
    use_recorded_calls(x, reply);
    return end_exchange(x, e, is_final);
}

static struct err *ask_over_wire(struct exchange *x, const struct model_request *request,
                                 struct reply *reply)
{
    AUTO(strbuf) struct strbuf body;

    strbuf_init(&body, REPLY_MAX_BYTES * 2);
    TRY(x->provider->protocol->encode(request, x->provider->dialect, &body));
    if (!x->attempt->was_sent)
        return end_exchange(x, NULL, /* is_final= */ false);
    tell_payload(x, PAYLOAD_REQUEST, strbuf_str(&body));
    return receive(x, reply);
}

/* --- models without a wire --- */

/* An answer that ended before a call's arguments came looks like one of a call without any: what
 * streamed in then tells them apart. */
static bool has_streamed_args(const struct exchange *x, size_t part)
{
    const struct recorded_event *next = recording_at(x->provider->replay->recording, 0);
    char mark[32];

    if (!next || next->type != EVENT_DELTA)
        return true; /* of a question aside nothing streams */
    snprintf(mark, sizeof mark, "\n%d %zu ", DELTA_TOOL_ARGS, part);
    return str_find(strbuf_str(&recording_pieces(x->provider->replay->recording)->text),
                    str_of(mark)) != STR_NONE;
}

static struct err *play_part(struct exchange *x, struct reply *reply, const struct part *p)
{
    bool grows = p->kind == PART_TEXT || p->kind == PART_REASONING || p->kind == PART_REFUSAL;
    size_t index;

    TRY(reply_begin(reply, p->kind, p->id, p->name, &index));
    TRY(grows ? reply_add_text(reply, index, p->text) : reply_set_text(reply, index, p->text));
    if (x->attempt->said->state == MESSAGE_COMPLETE || has_streamed_args(x, index))
        TRY(reply_add_args(reply, index, p->bad_args.n ? p->bad_args : p->args));
    *reply_part(reply, index) = part_copy(&reply->arena, p);
    return NULL;
}

static struct err *play_message(struct exchange *x, struct reply *reply)
{
    const struct message *m = x->attempt->said;
    enum stop stop = m ? m->stop : STOP_UNKNOWN;

    for (size_t i = 0; m && i < m->n_parts; i++)
        TRY(play_part(x, reply, &m->parts[i]));
    if (m && stop == STOP_UNKNOWN)
        stop = message_n_calls(m) ? STOP_TOOL_CALLS : STOP_END;
    if (m) {
        reply->id = reply_str(reply, m->id);
        reply->model =
            reply_str(reply, m->usage.routed_model.n ? m->usage.routed_model : m->origin.model);
        reply->usage = m->usage;
        reply->usage.routed_provider = reply_str(reply, m->usage.routed_provider);
        reply->usage.routed_model = reply_str(reply, m->usage.routed_model);
        reply_set_stop(reply, m->stop_reason, stop);
        reply->is_complete = m->state == MESSAGE_COMPLETE;
    }
    reply_finish(reply);
    return end_exchange(x, NULL, /* is_final= */ false);
}

/* --- the port --- */

static struct err *ask(const struct provider *p, const struct model_request *request,
                       const struct provider_call *call, struct reply *reply)
{
    const struct played *played = (const struct played *)p;
    struct exchange x = {.provider = played, .call = call, .attempt = played->replay->attempt};

    if (!x.attempt || played->replay->is_over)
        return err_new(ERR_CANCELLED, "the recording ends here");
    return played->protocol ? ask_over_wire(&x, request, reply) : play_message(&x, reply);
}

static struct provider_capabilities capabilities(const struct provider *p,
                                                 const struct model_info *info)
{
    return ((const struct played *)p)->capabilities;
}

static void free_nothing(struct provider *p)
{
}

static const struct provider_ops ops = {
    .ask = ask, .capabilities = capabilities, .free = free_nothing};

/* --- the chain --- */

/* The profile as it is configured now; one that is gone is taken to be its protocol's plain form.
 */
static void find_profile(struct replay *r, const struct recorded_target *a,
                         const struct protocol *protocol, struct profile *p)
{
    const struct project *project = r->options->project;
    struct profile_query query = {.model = arena_format(&r->arena, "%" STR_FMT "/%" STR_FMT,
                                                        STR_ARG(a->provider), STR_ARG(a->model))
                                               .p,
                                  .environment = host_environment(project->host),
                                  .is_offline = true};
    AUTO(err) struct err *e = profile_resolve(project->settings, &query, &r->arena, p);

    if (e || p->protocol != protocol)
        *p = (struct profile){.id = a->provider, .protocol = protocol, .model = a->model};
}

static void init_target(struct replay *r, const struct recorded_target *a, struct target *ret)
{
    static const struct dialect plain = {0};
    const struct protocol *protocol = protocol_find(a->protocol);
    struct profile *p = ARENA_NEW(&r->arena, struct profile);
    struct played *played = ARENA_NEW(&r->arena, struct played);

    *played = (struct played){
        .provider = {.ops = &ops, .id = a->provider, .protocol = a->protocol},
        .replay = r,
        .protocol = protocol,
        .dialect = &plain,
        .capabilities = r->recording->capabilities,
    };
    /* What a request asks for was on, whatever the run's own had. */
    played->capabilities.web_search.is_enabled = played->capabilities.web_search.is_supported;
    played->capabilities.web_fetch.is_enabled = played->capabilities.web_fetch.is_supported;
    played->capabilities.form = protocol ? &protocol->form : NULL;
    *ret = (struct target){.provider = &played->provider,
                           .model = a->model,
                           .price = a->price,
                           .max_attempts = a->max_attempts,
                           .window = a->window ? a->window : r->recording->window,
                           .max_output = a->max_output};
    if (!protocol)
        return;
    find_profile(r, a, protocol, p);
    if (p->vendor)
        played->dialect = &p->vendor->dialect;
    played->words = vendor_for_words(p->vendor, protocol);
    ret->info = p->info_is_known ? &p->info : NULL;
    ret->options = p->options;
}

/* The number that follows these words; 0: there is none. */
static int64_t number_after(struct str text, struct str words)
{
    size_t at = str_find(text, words);
    struct str rest = at == STR_NONE ? (struct str){0} : str_skip(text, at + words.n), digits;
    int64_t n;

    return str_split(&rest, ' ', &digits) && str_to_int64(digits, &n) ? n : 0;
}

static bool is_note_of(struct str text, struct str model)
{
    return str_starts(text, model) && str_starts(str_skip(text, model.n), S(" has a window of "));
}

/* PLAN_NOTE_FORMAT, as it was told then: from here on it has this window. */
void replay_take_note(struct replay *r, struct str text)
{
    int64_t window = number_after(text, S(" has a window of "));
    int64_t output = number_after(text, S(" answers of up to "));

    size_t i = 0;

    r->plan.note = arena_str(&r->arena, text);
    if (!window || !output)
        return;
    while (i < r->plan.n_targets && !is_note_of(text, r->targets[i].model))
        i++;
    if (i < r->plan.n_targets) {
        r->targets[i].window = window;
        r->targets[i].max_output = output;
    }
}

struct err *replay_add_targets(struct replay *r)
{
    const struct recording *x = r->recording;
    struct target *targets = ARENA_ARRAY(&r->arena, CHAIN_MAX_TARGETS, struct target);
    struct recorded_target first = {
        .provider = x->provider, .model = x->model, .price = {-1, -1, -1, -1}};
    size_t n = x->n_targets;

    for (size_t i = 0; i < n; i++)
        init_target(r, &x->targets[i], &targets[i]);
    if (n == 0)
        init_target(r, &first, &targets[n++]);
    r->plan.targets = r->targets = targets;
    r->plan.n_targets = n;
    return NULL;
}
