/* compact.c - when a history is summarised, and how the summary takes its place. */
#include "session/compact.h"

#include "base/clip.h"
#include "base/utf8.h"
#include "engine/hide.h"
#include "engine/shorten.h"
#include "session/summary.h"

#define MAX_REATTACHED_BYTES ((size_t)24 << 10)
#define REATTACHED_PART 20 /* of the window, at most */
#define CHARS_PER_TOKEN 4
#define ANSWER_PART 10      /* of the window, kept free for the summary */
#define SOURCE "compaction" /* of notices */

/* One compaction on its way. */
struct compacting {
    struct compaction *owner;
    struct run *run;
    const char *trigger;
    struct arena arena;
    struct token_estimate before;
    int64_t window;
    struct str wishes[3];       /* the options', the demand's, the hooks' */
    struct strbuf summary;      /* as it will stand in the history */
    struct message *reattached; /* NULL: nothing */
};

static void compacting_done(struct compacting *x)
{
    message_unref(x->reattached);
    strbuf_done(&x->summary);
    arena_done(&x->arena);
}
DEFINE_AUTO_VAL(compacting, compacting_done)

/* --- is it due? --- */

static bool reaches(int64_t used, int64_t window, int per_mille)
{
    return window > 0 && (__int128)used * 1000 >= (__int128)window * per_mille;
}

static bool begins_with(const struct message *m, struct str text)
{
    return m->n_parts && m->parts[0].kind == PART_TEXT && str_starts(m->parts[0].text, text);
}

/* What the last compaction has left: more than that cannot be gained by another one. As the
 * provider counted the first request after it, system prompt and tools included, or as its own
 * messages are estimated; 0 if there was none. */
static int64_t count_settled(const struct history *h)
{
    int64_t tokens = 0;
    bool is_compacted = false;

    for (size_t i = 0; i < h->n; i++) {
        const struct message *m = h->entries[i].message;

        if (!m || m->role == ROLE_SYSTEM)
            continue;
        if (!is_compacted && !begins_with(m, S(COMPACT_SUMMARY_PREFIX)))
            return 0;
        if (!is_compacted || begins_with(m, S(REATTACH_NOTE)))
            tokens += ledger_message_tokens(m);
        is_compacted = true;
        if (m->role == ROLE_ASSISTANT && usage_is_known(&m->usage))
            return MAX(tokens, usage_prompt(&m->usage));
    }
    return tokens;
}

static bool has_grown(const struct compacting *x, int64_t since)
{
    return since == 0 || x->before.used - since >= x->window / COMPACT_GROWTH_PART;
}

static bool is_due(struct compacting *x)
{
    struct compaction *c = x->owner;
    int per_mille = c->options.threshold_per_mille;
    int64_t settled;

    if (per_mille < 0)
        return false;
    if (!reaches(x->before.used, x->window, per_mille ? per_mille : COMPACT_DEFAULT_PER_MILLE)) {
        c->failed_at = 0; /* that overflow is over */
        return false;
    }
    settled = count_settled(run_history(x->run));
    return has_grown(x, c->failed_at) && has_grown(x, settled ? MAX(settled, x->before.floor) : 0);
}

/* Has the model said anything? A single prompt that is too long does not get shorter. */
static bool has_answer(const struct history *h)
{
    for (size_t i = 0; i < h->n; i++) {
        const struct message *m = h->entries[i].message;

        if (m && m->role == ROLE_ASSISTANT && !m->is_error)
            return true;
    }
    return false;
}

static bool has_something(const struct history *h)
{
    for (size_t i = 0; i < h->n; i++) {
        const struct message *m = h->entries[i].message;

        if (m && m->role != ROLE_SYSTEM && !m->is_error)
            return true;
    }
    return false;
}

/* --- when it goes wrong --- */

/* The history stays; the person is told why. What interrupts the run is passed on instead. */
static struct err *give_up(struct compacting *x, struct err *take_error)
{
    AUTO(err) struct err *e = take_error;
    AUTO_FREE char *text = NULL;
    const char *hint;
    struct err *interrupted = task_check();

    if (interrupted)
        return interrupted;
    if (err_is(e, ERR_CANCELLED))
        return TAKE(e);
    secrets_hide_in_err(run_secrets(x->run), e);
    text = err_message(e);
    hint = err_find_hint(e);
    x->owner->failed_at = x->before.used;
    run_notice(x->run, SEVERITY_WARNING, SOURCE,
               arena_format(&x->arena, "The history stays as it is: %s%s%s", text, hint ? "; " : "",
                            hint ? hint : ""));
    x->owner->failure = TAKE(e);
    return NULL;
}

/* --- hooks --- */

static struct json *new_fields(struct compacting *x)
{
    struct json *fields = json_new(&x->arena, JSON_OBJECT);

    json_set_str(&x->arena, fields, "trigger", str_of(x->trigger));
    return fields;
}

static struct err *ask_hooks(struct compacting *x, enum hook_event event, struct json *fields,
                             struct hook_outcome *ret_outcome)
{
    const struct secrets *secrets = run_secrets(x->run);
    struct hook_input input = {
        .event = event,
        .matched = str_of(x->trigger),
        .fields = secrets_hide_in_json(secrets, &x->arena, fields, NULL),
    };

    TRY(hooks_run(x->owner->hooks, &input, &x->arena, ret_outcome));
    if (ret_outcome->system_message.n)
        run_notice(x->run, SEVERITY_WARNING, "hook", ret_outcome->system_message);
    if (ret_outcome->stops_run)
        return err_new(ERR_PLUGIN, "a %s hook ended the run: %" STR_FMT, hook_event_name(event),
                       STR_ARG(ret_outcome->stop_reason));
    return NULL;
}

/* What the person wants the summary to care for, settings and demand together. */
static struct str join_instructions(struct compacting *x)
{
    struct str a = str_trim(x->wishes[0]), b = str_trim(x->wishes[1]);

    if (!a.n || !b.n)
        return a.n ? a : b;
    return arena_format(&x->arena, "%" STR_FMT "\n\n%" STR_FMT, STR_ARG(a), STR_ARG(b));
}

/* An error ends the run; *ret_refusal, that of a hook, only the compaction. */
static struct err *ask_before(struct compacting *x, struct err **ret_refusal)
{
    struct hook_outcome outcome = {0};
    struct json *fields = new_fields(x);

    *ret_refusal = NULL;
    json_set_str(&x->arena, fields, "custom_instructions", join_instructions(x));
    TRY(ask_hooks(x, HOOK_PRE_COMPACT, fields, &outcome));
    x->wishes[2] = outcome.additional_context;
    if (outcome.is_blocked)
        *ret_refusal =
            err_new(ERR_PLUGIN, "a PreCompact hook says no: %" STR_FMT, STR_ARG(outcome.reason));
    return NULL;
}

static struct err *tell_after(struct compacting *x)
{
    struct hook_outcome outcome;
    struct json *fields = new_fields(x);

    json_set_str(&x->arena, fields, "compact_summary", strbuf_str(&x->summary));
    return ask_hooks(x, HOOK_POST_COMPACT, fields, &outcome);
}

/* --- the summary --- */

/* Asks about the history without some `n_excess` tokens of it. */
static struct err *ask_about(struct compacting *x, struct str question, int64_t n_excess,
                             struct strbuf *answer)
{
    struct aside aside = {.instruction = question};
    AUTO(message) struct message *said = NULL;
    const struct message *const *messages;
    struct history_cut cut;
    size_t n;

    if (n_excess > 0) {
        messages = history_messages(run_history(x->run), &n);
        cut = shorten_plan(messages, n, n_excess, &x->arena);
        aside.cut = &cut;
    }
    strbuf_clear(answer);
    TRY(run_ask_aside(x->run, &aside, &said));
    message_text(said, answer);
    return NULL;
}

/* A question that does not fit is asked about less: once by our own count, and once more, about
 * half a window, when the provider counts otherwise. */
static struct err *ask(struct compacting *x, struct strbuf *answer)
{
    int64_t used = MAX(x->before.used, x->before.serialized);
    int64_t room = x->window - x->window / ANSWER_PART;
    AUTO(strbuf) struct strbuf question = {0};
    struct str hidden;
    struct err *e;

    summary_question(x->wishes, ARRAY_LEN(x->wishes), &question);
    hidden = hide_in_str(run_secrets(x->run), &x->arena, strbuf_str(&question), NULL);
    e = ask_about(x, hidden, used + (int64_t)hidden.n / CHARS_PER_TOKEN - room, answer);
    if (!err_is(e, ERR_CONTEXT_OVERFLOW))
        return e;
    err_free(e);
    return ask_about(x, hidden, MAX(used - x->window / 2, x->window / 4), answer);
}

static struct err *summarise(struct compacting *x)
{
    AUTO(strbuf) struct strbuf answer = {0};
    struct str text;
    struct err *e = ask(x, &answer);

    if (e)
        return err_wrap(e, "no summary was made");
    text = summary_trim(strbuf_str(&answer), S(COMPACT_SUMMARY_PREFIX));
    if (text.n == 0)
        return err_new(ERR_PROVIDER_ERROR, "the model's summary is empty");
    strbuf_add_cstr(&x->summary, COMPACT_SUMMARY_PREFIX);
    strbuf_add(&x->summary, text);
    return strbuf_check(&x->summary, "the summary");
}

/* --- what is put back --- */

/* As a part of the message, which begins with a note that tells whose word it is. */
static void add_reattached(struct compacting *x, struct str text)
{
    AUTO(strbuf) struct strbuf valid = {0};

    if (text.n == 0)
        return;
    if (!x->reattached) {
        x->reattached = run_new_message(x->run, ROLE_USER);
        message_add_text(x->reattached, S(REATTACH_NOTE));
    }
    utf8_add_repaired(&valid, text);
    message_add_text(x->reattached, strbuf_str(&valid));
}

static struct err *reattach_one(struct compacting *x, const struct reattacher *attacher,
                                size_t *n_left)
{
    struct reattaching context = {
        .conversation = x->owner->conversation, .hidden = run_hidden(x->run), .max_bytes = *n_left};
    AUTO(strbuf) struct strbuf text = {0}, clipped = {0};

    TRY(attacher->attach(attacher->self, &context, &text));
    if (x->owner->options.reattaches_as_given) {
        add_reattached(x, strbuf_str(&text));
        return NULL;
    }
    if (text.n > *n_left) {
        clip_middle(&clipped, strbuf_str(&text), *n_left);
        add_reattached(x, strbuf_str(&clipped));
        *n_left = 0;
        return NULL;
    }
    add_reattached(x, strbuf_str(&text));
    *n_left -= text.n;
    return NULL;
}

static struct err *reattach(struct compacting *x)
{
    const struct reattacher usual[] = {reattach_request, reattach_todos, reattach_files};
    const struct compact_options *o = &x->owner->options;
    const struct reattacher *list = o->reattachers ? o->reattachers : usual;
    size_t n = o->reattachers ? o->n_reattachers : ARRAY_LEN(usual);
    size_t n_left =
        MIN(MAX_REATTACHED_BYTES, (size_t)(x->window / REATTACHED_PART) * CHARS_PER_TOKEN);
    uint64_t found = 0; /* was told when the model read it */

    for (size_t i = 0; i < n && n_left; i++)
        TRY(reattach_one(x, &list[i], &n_left));
    if (x->reattached)
        hide_in_message(run_secrets(x->run), &x->reattached, &found);
    return NULL;
}

/* --- the new history --- */

struct new_history {
    struct message **items;
    size_t n;
};

static void new_history_done(struct new_history *h)
{
    for (size_t i = 0; i < h->n; i++)
        message_unref(h->items[i]);
}
DEFINE_AUTO_VAL(new_history, new_history_done)

/* A message that is kept is told anew: a history that begins here must not refer back. */
static struct message *repeat(struct compacting *x, const struct message *m)
{
    struct message *copy = run_new_message(x->run, m->role);

    for (size_t i = 0; i < m->n_parts; i++)
        message_add(copy, &m->parts[i]);
    return copy;
}

static void make_history(struct compacting *x, struct new_history *ret)
{
    const struct history *old = run_history(x->run);
    struct message *summary;

    *ret = (struct new_history){.items =
                                    ARENA_ARRAY(&x->arena, old->n_messages + 2, struct message *)};
    for (size_t i = 0; i < old->n; i++)
        if (old->entries[i].message && old->entries[i].message->role == ROLE_SYSTEM)
            ret->items[ret->n++] = repeat(x, old->entries[i].message);
    summary = run_new_message(x->run, ROLE_ASSISTANT);
    message_add_text(summary, strbuf_str(&x->summary));
    ret->items[ret->n++] = summary;
    if (x->reattached)
        ret->items[ret->n++] = TAKE(x->reattached);
}

static struct event_context describe(const struct token_estimate *e, int64_t window)
{
    return (struct event_context){.used = e->used,
                                  .window = window,
                                  .serialized = e->serialized,
                                  .counted = e->counted,
                                  .is_exact = e->is_exact};
}

static struct err *check_gain(const struct compacting *x, const struct token_estimate *after)
{
    if (after->serialized < x->before.serialized)
        return NULL;
    return err_new(ERR_PROVIDER_ERROR,
                   "a summary would not make it shorter (about %lld tokens instead of %lld)",
                   (long long)after->serialized, (long long)x->before.serialized);
}

static struct err *replace(struct compacting *x)
{
    struct compaction *c = x->owner;
    AUTO(new_history) struct new_history new = {0};
    struct token_estimate after;
    struct event_compact event = {.trigger = x->trigger, .before = describe(&x->before, x->window)};

    make_history(x, &new);
    after = ledger_estimate((const struct message *const *)new.items, new.n,
                            run_head_tokens(x->run), x->before.floor);
    TRY(check_gain(x, &after));
    event.after = describe(&after, x->window);
    c->failed_at = 0;
    run_replace_history(x->run, "compact", new.items, new.n, &event);
    if (c->options.on_compact)
        c->options.on_compact(c->options.self, strbuf_str(&x->summary), &event);
    return NULL;
}

/* --- all of it --- */

static struct err *compact_now(struct compacting *x)
{
    struct err *e;

    TRY(ask_before(x, &e));
    if (!e)
        e = summarise(x);
    if (!e)
        e = reattach(x);
    if (!e)
        e = task_check(); /* an interrupted run keeps its history */
    if (!e)
        e = replace(x);
    return e ? give_up(x, e) : tell_after(x);
}

static struct err *compact(struct compactor *base, struct run *r, bool is_full)
{
    struct compaction *c = (struct compaction *)base;
    AUTO(compacting)
    struct compacting x = {.owner = c,
                           .run = r,
                           .trigger = c->is_demanded ? "manual" : "auto",
                           .wishes = {c->options.instructions, c->demanded}};

    x.before = run_context(r, &x.window);
    if (is_full && !has_answer(run_history(r)))
        return NULL;
    if (is_full && c->options.threshold_per_mille >= 0)
        x.before.used = MAX(x.before.used, x.window); /* whatever the count says */
    else if (!is_due(&x) && !c->is_demanded)
        return NULL;
    c->is_demanded = false;
    c->demanded = (struct str){0};
    err_free(TAKE(c->failure));
    if (has_something(run_history(r)))
        return compact_now(&x);
    if (strcmp(x.trigger, "manual") == 0)
        run_notice(r, SEVERITY_VERBOSE, SOURCE, S("There is nothing to summarise yet."));
    return NULL;
}

void compaction_init(struct compaction *c, const struct compact_options *options,
                     struct conversation *conversation, struct hooks *hooks)
{
    *c = (struct compaction){
        .compactor = {compact}, .options = *options, .conversation = conversation, .hooks = hooks};
}

void compaction_done(struct compaction *c)
{
    err_free(TAKE(c->failure));
}

void compaction_demand(struct compaction *c, struct str instructions)
{
    c->is_demanded = true;
    c->demanded = instructions;
}
