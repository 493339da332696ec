/* story.c - pairs calls with results, and omits what only programs need. */
#include "transcript/story.h"

#include "view/field.h"

const bool story_unwanted[EVENT_N_TYPES] = {
    [EVENT_PROVIDER_REQUEST] = true, [EVENT_NATIVE_PAYLOAD] = true, [EVENT_DELTA] = true,
    [EVENT_PRE_IMAGE] = true,        [EVENT_TOOL_PROGRESS] = true,  [EVENT_TOOL_COMMITTED] = true,
};

struct pending_call {
    struct part part; /* in the arena */
    int64_t unix_ms;
    uint64_t duration_ms;
    bool was_denied, is_told;
};

struct story {
    struct redaction *redaction;
    void (*on_item)(void *self, const struct story_item *item);
    void *self;

    struct arena arena; /* of the calls that wait for their results */
    struct pending_call *calls;
    size_t n_calls, calls_room;

    unsigned n_messages;
    bool is_base;   /* the present message belongs to the base of a new history */
    bool had_error; /* a message has shown the run's failure */
    struct story_totals totals;
};

/* --- items --- */

static void emit_item(struct story *s, struct story_item *item)
{
    AUTO(strbuf) struct strbuf text = {0}, title = {0}, url = {0};

    item->text = redaction_hide(s->redaction, item->text, &text);
    item->title = redaction_hide(s->redaction, item->title, &title);
    item->url = redaction_hide(s->redaction, item->url, &url);
    s->on_item(s->self, item);
}

static void note(struct story *s, const struct event *e, enum story_tone tone, struct str text)
{
    emit_item(s, &(struct story_item){
                     .kind = STORY_NOTE, .tone = tone, .unix_ms = e->unix_ms, .text = text});
}

/* The media parts, one after the other. */
static const struct part *media_of(struct arena *a, const struct part *parts, size_t n,
                                   size_t *ret_n)
{
    struct part *media = ARENA_ARRAY(a, n ? n : 1, struct part);

    *ret_n = 0;
    for (size_t i = 0; i < n; i++)
        if (parts[i].kind == PART_MEDIA)
            media[(*ret_n)++] = parts[i];
    return media;
}

/* --- tool calls --- */

static void read_args(const struct story *s, struct arena *a, const struct part *p,
                      struct story_item *item)
{
    struct json *args = NULL;

    if (!p->is_free_text && p->bad_args.n == 0)
        err_ignore(json_parse(a, p->args, 0, &args), "what is no JSON is shown as it is");
    if (json_is(args, JSON_OBJECT)) {
        item->args = json_hide_secret_keys(a, redaction_hide_in(s->redaction, a, args));
    } else {
        AUTO(strbuf) struct strbuf hidden = {0};
        struct str text = redact_args(p->bad_args.n ? p->bad_args : p->args, a);

        item->free_args = arena_str(a, redaction_hide(s->redaction, text, &hidden));
    }
}

static void emit_call(struct story *s, struct pending_call *c, const struct part *result)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct story_item item = {.kind = STORY_TOOL,
                              .unix_ms = c->unix_ms,
                              .tool = c->part.name,
                              /* a provider's own tools have theirs in the answer */
                              .has_result = result || c->part.kind == PART_SERVER_TOOL_USE,
                              .was_denied = c->was_denied,
                              .duration_ms = c->duration_ms};

    c->is_told = true;
    result = redact_result(result, &a);
    read_args(s, &a, &c->part, &item);
    if (result) {
        for (size_t i = 0; i < result->n_content; i++)
            strbuf_add(&text, result->content[i].text);
        item.media = media_of(&a, result->content, result->n_content, &item.n_media);
        item.is_error = result->is_error;
    }
    item.text = strbuf_str(&text);
    emit_item(s, &item);
}

static void forget_calls(struct story *s)
{
    s->calls = NULL;
    s->n_calls = s->calls_room = 0;
    arena_clear(&s->arena);
}

static void emit_unanswered(struct story *s)
{
    for (size_t i = 0; i < s->n_calls; i++)
        if (!s->calls[i].is_told)
            emit_call(s, &s->calls[i], NULL);
    forget_calls(s);
}

static void add_call(struct story *s, const struct part *p, int64_t unix_ms)
{
    s->calls = arena_grow(&s->arena, s->calls, s->n_calls, &s->calls_room, sizeof *s->calls);
    s->calls[s->n_calls++] =
        (struct pending_call){.part = part_copy(&s->arena, p), .unix_ms = unix_ms};
}

static struct pending_call *find_call(struct story *s, struct str id)
{
    for (size_t i = 0; i < s->n_calls; i++)
        if (!s->calls[i].is_told && str_eq(s->calls[i].part.id, id))
            return &s->calls[i];
    return NULL;
}

static void take_results(struct story *s, const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++) {
        struct pending_call *c = find_call(s, m->parts[i].id);

        if (m->parts[i].kind == PART_TOOL_RESULT && c)
            emit_call(s, c, &m->parts[i]);
    }
}

/* --- messages --- */

/* All parts of a kind, with a blank line between them. */
static void add_parts(struct strbuf *out, const struct message *m, enum part_kind kind)
{
    for (size_t i = 0; i < m->n_parts; i++) {
        if (m->parts[i].kind != kind)
            continue;
        if (out->n)
            strbuf_add_cstr(out, "\n\n");
        strbuf_add(out, m->parts[i].text);
    }
}

static void take_prompt(struct story *s, const struct event *e, const struct message *m)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct story_item item = {.kind = s->is_base ? STORY_SUMMARY : STORY_PROMPT,
                              .unix_ms = e->unix_ms,
                              .number = ++s->n_messages,
                              .is_first = true};

    emit_unanswered(s);
    add_parts(&text, m, PART_TEXT);
    item.media = media_of(&a, m->parts, m->n_parts, &item.n_media);
    if (!text.n && !item.n_media && !s->is_base) {
        item.kind = STORY_TOLD;
        add_parts(&text, m, PART_CONTEXT);
    }
    item.text = strbuf_str(&text);
    emit_item(s, &item);
}

static void take_part(struct story *s, const struct part *p, struct story_item *item)
{
    switch (p->kind) {
    case PART_TEXT:
    case PART_REFUSAL:
        item->kind = s->is_base ? STORY_SUMMARY : STORY_ANSWER;
        item->text = p->text;
        break;
    case PART_REASONING:
        item->kind = STORY_REASONING;
        item->text = p->text;
        break;
    case PART_CITATION:
        item->kind = STORY_SOURCE;
        item->title = p->title;
        item->url = p->url;
        item->text = p->text;
        break;
    case PART_MEDIA:
        item->kind = STORY_ANSWER;
        item->media = p;
        item->n_media = 1;
        break;
    case PART_TOOL_CALL:
    case PART_SERVER_TOOL_USE:
        add_call(s, p, item->unix_ms);
        return;
    case PART_TOOL_RESULT:
    case PART_SERVER_TOOL_RESULT:
    case PART_CONTEXT:
        return;
    }
    if (str_trim(item->text).n == 0 && item->n_media == 0 && item->url.n == 0)
        return;
    emit_item(s, item);
    item->is_first = false;
}

static void take_answer(struct story *s, const struct event *e, const struct message *m)
{
    bool is_first = true;

    emit_unanswered(s);
    s->n_messages++;
    if (m->is_error) {
        AUTO(strbuf) struct strbuf text = {0};

        message_text(m, &text);
        s->had_error = true;
        note(s, e, TONE_ERROR, strbuf_str(&text));
        return;
    }
    for (size_t i = 0; i < m->n_parts; i++) {
        struct story_item item = {.unix_ms = e->unix_ms,
                                  .number = s->n_messages,
                                  .is_first = is_first,
                                  .model = m->origin.model};

        take_part(s, &m->parts[i], &item);
        is_first = item.is_first;
    }
    if (m->state == MESSAGE_INTERRUPTED)
        note(s, e, TONE_WARNING, S("This answer was interrupted."));
    else if (m->state == MESSAGE_BROKEN)
        note(s, e, TONE_WARNING, S("This answer ended before it was complete."));
}

static void take_message(struct story *s, const struct event *e, const struct message *m)
{
    switch (m->role) {
    case ROLE_SYSTEM:
        break;
    case ROLE_USER:
        take_prompt(s, e, m);
        break;
    case ROLE_ASSISTANT:
        take_answer(s, e, m);
        break;
    case ROLE_TOOL:
        take_results(s, m);
        break;
    }
}

static void take_history(struct story *s, const struct event *e)
{
    const struct event_message *b = &e->body.message;
    struct str mutation = str_of(b->mutation);

    s->is_base = str_is(mutation, "compact");
    if (b->index == 0 && str_is(mutation, "compact"))
        note(s, e, TONE_PLAIN,
             b->is_kept ? S("Old tool results were removed here to make room.")
                        : S("The conversation was summarized here to make room."));
    if (b->index == 0 && str_is(mutation, "rewind"))
        note(s, e, TONE_PLAIN, S("The conversation was rewound here and continues differently."));
    if (str_is(mutation, "clear"))
        note(s, e, TONE_PLAIN, S("The conversation was cleared."));
    if (b->message && !b->is_kept && !str_is(mutation, "rewind"))
        take_message(s, e, b->message);
}

/* --- runs --- */

static void add_count(int64_t *total, int64_t n)
{
    if (n >= 0)
        *total = MAX(*total, (int64_t)0) + n;
}

static void take_attempt_end(struct story *s, const struct event_attempt *a)
{
    struct story_totals *t = &s->totals;
    const struct usage *u = a->assumed ? a->assumed : a->usage;
    int64_t microcents = a->assumed ? a->assumed_microcents : a->cost_microcents;

    if (!u || !usage_is_known(u))
        return;
    add_count(&t->usage.input, usage_fresh_input(u));
    add_count(&t->usage.output, usage_completion(u));
    add_count(&t->usage.cache_read, u->cache_read);
    add_count(&t->usage.cache_write, u->cache_write);
    t->cost_is_known &= microcents >= 0 && !(a->assumed && microcents > 0);
    t->cost_microcents += MAX(microcents, (int64_t)0);
}

static void take_checkpoint(struct story *s, const struct event_checkpoint *c)
{
    struct story_totals *t = &s->totals;

    t->usage = c->usage;
    t->usage.routed_model = t->usage.routed_provider = (struct str){0};
    t->cost_microcents = c->cost_microcents;
    t->cost_is_known = c->cost_is_known;
    t->n_tool_calls = c->n_tool_calls;
    t->active_ms = c->active_ms;
}

static void take_fallback(struct story *s, const struct event *e)
{
    AUTO_FREE char *why = e->body.attempt.error ? err_message(e->body.attempt.error) : NULL;
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text, "%" STR_FMT " did not answer%s%s. %" STR_FMT " was asked instead.",
                STR_ARG(e->body.attempt.model), why ? ": " : "", why ? why : "",
                STR_ARG(e->body.attempt.next_model));
    note(s, e, TONE_WARNING, strbuf_str(&text));
}

/* Those from between runs are about keel and this machine, not about the conversation. */
static void take_notice(struct story *s, const struct event *e)
{
    enum severity severity = e->body.notice.severity;

    if (!e->run_id.n || !severity_is_for_person(severity))
        return;
    note(s, e,
         severity == SEVERITY_ERROR     ? TONE_ERROR
         : severity == SEVERITY_WARNING ? TONE_WARNING
                                        : TONE_PLAIN,
         e->body.notice.text);
}

static void take_run_end(struct story *s, const struct event *e)
{
    const struct run_result *r = e->body.result;

    s->totals.active_ms += r->duration_ms;
    if (r->outcome == RUN_FAILED && r->error && !s->had_error) {
        AUTO_FREE char *text = err_message(r->error);

        note(s, e, TONE_ERROR, str_of(text));
    }
    if (r->outcome == RUN_INTERRUPTED)
        note(s, e, TONE_WARNING, S("Interrupted."));
    for (size_t i = 0; r->outcome == RUN_SUSPENDED && i < r->n_asks; i++)
        note(s, e, TONE_WARNING, r->asks[i].text);
}

static void take_tool_result(struct story *s, const struct event_tool *t)
{
    struct pending_call *c = find_call(s, t->call_id);

    if (!c)
        return;
    c->duration_ms = t->duration_ms;
    c->was_denied = t->was_denied;
}

void story_event(struct story *s, const struct event *e)
{
    switch (e->type) {
    case EVENT_RUN_BEGIN:
        s->totals.n_runs++;
        s->had_error = false;
        break;
    case EVENT_HISTORY:
        take_history(s, e);
        break;
    case EVENT_TOOL_BEGIN:
        s->totals.n_tool_calls++;
        break;
    case EVENT_TOOL_RESULT:
        take_tool_result(s, &e->body.tool);
        break;
    case EVENT_FALLBACK:
        take_fallback(s, e);
        break;
    case EVENT_ATTEMPT_END:
        take_attempt_end(s, &e->body.attempt);
        break;
    case EVENT_CHECKPOINT:
        take_checkpoint(s, &e->body.checkpoint);
        break;
    case EVENT_NOTICE:
        take_notice(s, e);
        break;
    case EVENT_RUN_END:
        take_run_end(s, e);
        break;
    default:
        break;
    }
}

/* --- life cycle --- */

struct story *story_new(struct redaction *redaction,
                        void (*on_item)(void *self, const struct story_item *item), void *self)
{
    struct story *s = mem_alloc(sizeof *s);

    s->redaction = redaction;
    s->on_item = on_item;
    s->self = self;
    s->totals = (struct story_totals){.usage = USAGE_UNKNOWN, .cost_is_known = true};
    return s;
}

void story_end(struct story *s)
{
    emit_unanswered(s);
}

const struct story_totals *story_totals(const struct story *s)
{
    return &s->totals;
}

void story_free(struct story *s)
{
    if (!s)
        return;
    arena_done(&s->arena);
    mem_free(s);
}
