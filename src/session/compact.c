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
#define KEPT_PART 4         /* of the messages or the window: a summary is made of no less */
#define GAIN_PART 10        /* of the window: a summary of less than that gains nothing */
#define NAME_TOKENS 50      /* a result that is only named */
#define SOURCE "compaction" /* of notices */

/* One compaction on its way. */
struct compacting {
    struct compaction *owner;
    struct run *run;
    const char *trigger;
    struct arena arena;
    struct token_estimate before;
    int64_t window;
    int64_t takes;   /* the window, or less: what the provider has just found too long */
    size_t n_unseen; /* messages at the end that stay: an answer, and results that no model saw */
    int64_t unseen;  /* tokens of those results */
    struct str wishes[3];       /* the options', the demand's, the hooks' */
    struct strbuf summary;      /* as the history will have it */
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

    for (size_t i = 0; i < h->n_messages; i++) {
        const struct message *m = h->messages[i];

        if (m->role == ROLE_SYSTEM)
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

/* Of the model that is asked; the operator's word for this model wins. -1: never. */
static int find_threshold(const struct compacting *x)
{
    int set = x->owner->options.threshold_per_mille, own = run_compact_per_mille(x->run);

    if (set < 0)
        return -1;
    return own ? own : set ? set : COMPACT_DEFAULT_PER_MILLE;
}

/* Neither the last failure nor the last success is so near that nothing else can come of it. */
static bool is_worth_it(const struct compacting *x)
{
    int64_t settled = count_settled(run_history(x->run));

    return has_grown(x, x->owner->failed_at) &&
           has_grown(x, settled ? MAX(settled, x->before.floor) : 0);
}

static bool is_due(struct compacting *x)
{
    int per_mille = find_threshold(x);

    if (per_mille < 0)
        return false;
    if (!reaches(x->before.used, x->window, per_mille)) {
        x->owner->failed_at = 0; /* that overflow is over */
        return false;
    }
    return is_worth_it(x);
}

/* Results that would reach the threshold, or could fill the window, wait for a compaction: one that
 * is worth it, and has something to summarise besides what every request begins with. */
static enum room find_room(struct compactor *base, struct run *r, const struct waiting_results *w)
{
    struct compaction *c = (struct compaction *)base;
    struct compacting x = {.owner = c, .run = r};
    int per_mille = find_threshold(&x);

    x.before = run_context(r, &x.window);
    /* exact after an answer, if the provider counts right; behind results the estimate counts */
    x.before.used = MAX(x.before.used, x.before.serialized);
    c->looked_in = c->conversation->stream.turn;
    c->is_promised = false;
    if (per_mille < 0)
        return ROOM_LITTLE;
    if (!reaches(x.before.used + w->likely, x.window, per_mille) &&
        !ledger_is_over(x.before.used + w->most, x.window, LEDGER_GUARD_PER_MILLE))
        return ROOM_ENOUGH;
    if (!is_worth_it(&x) || x.before.used - run_head_tokens(r) < x.window / GAIN_PART)
        return ROOM_REST;
    c->is_promised = true;
    return ROOM_COMING;
}

/* An answer that called tools at the end of the history, and its results, none of which a model has
 * seen yet. */
static void find_unseen(struct compacting *x)
{
    size_t n;
    const struct message *const *messages = history_messages(run_history(x->run), &n);
    size_t i = n;

    x->n_unseen = 0;
    x->unseen = 0;
    while (i > 0 && (messages[i - 1]->role == ROLE_TOOL || messages[i - 1]->is_error)) {
        const struct message *m = messages[--i];

        x->unseen += m->role == ROLE_TOOL ? ledger_message_tokens(m) : 0;
    }
    if (i == 0 || i == n || messages[i - 1]->role != ROLE_ASSISTANT)
        x->unseen = 0;
    else
        x->n_unseen = n - i + 1;
}

/* Has the model said anything but the last `n_behind` messages? A single prompt that is too long
 * does not get shorter. */
static bool has_answer(const struct history *h, size_t n_behind)
{
    size_t n;
    const struct message *const *messages = history_messages(h, &n);

    for (size_t i = 0; i + n_behind < n; i++)
        if (messages[i]->role == ROLE_ASSISTANT && !messages[i]->is_error)
            return true;
    return false;
}

static bool has_something(const struct history *h)
{
    for (size_t i = 0; i < h->n_messages; i++) {
        const struct message *m = h->messages[i];

        if (m->role != ROLE_SYSTEM && !m->is_error)
            return true;
    }
    return false;
}

/* --- when it goes wrong --- */

/* The history stays, and a notice says why. An error that interrupts the run is passed on instead.
 */
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

/* What the person wants the summary to care for, settings and demand together. */
static struct str join_instructions(struct compacting *x)
{
    struct str a = str_trim(x->wishes[0]), b = str_trim(x->wishes[1]);

    if (!a.n || !b.n)
        return a.n ? a : b;
    return arena_format(&x->arena, "%" STR_FMT "\n\n%" STR_FMT, STR_ARG(a), STR_ARG(b));
}

/* An error ends the run; *ret_refusal, that of a hook, only the compaction. */
static struct err *hook_before(struct compacting *x, struct err **ret_refusal)
{
    struct hook_outcome outcome = {0};
    struct json *fields = new_fields(x);

    *ret_refusal = NULL;
    json_set_str(&x->arena, fields, "custom_instructions", join_instructions(x));
    TRY(run_ask_hooks(x->run, HOOK_PRE_COMPACT, str_of(x->trigger), fields, &x->arena, &outcome));
    x->wishes[2] = outcome.additional_context;
    if (outcome.is_blocked)
        *ret_refusal =
            err_new(ERR_PLUGIN, "a PreCompact hook says no: %" STR_FMT, STR_ARG(outcome.reason));
    return NULL;
}

static struct err *hook_after(struct compacting *x)
{
    struct hook_outcome outcome;
    struct json *fields = new_fields(x);

    json_set_str(&x->arena, fields, "compact_summary", strbuf_str(&x->summary));
    return run_ask_hooks(x->run, HOOK_POST_COMPACT, str_of(x->trigger), fields, &x->arena,
                         &outcome);
}

/* --- the summary --- */

/* Asks about the history without some `n_excess` tokens of it. */
static struct err *ask_about(struct compacting *x, struct str question, int64_t n_excess,
                             struct strbuf *answer)
{
    struct aside aside = {.instruction = question};
    AUTO(message) struct message *said = NULL;
    const struct message *const *messages;
    struct history_cut cut = {0};
    size_t n;

    if (n_excess > 0) {
        messages = history_messages(run_history(x->run), &n);
        cut = shorten_plan(messages, n - x->n_unseen, n_excess, &x->arena);
    }
    cut.n_behind = x->n_unseen;
    if (n_excess > 0 || x->n_unseen)
        aside.cut = &cut;
    strbuf_clear(answer);
    TRY(run_ask_aside(x->run, &aside, &said));
    message_text(said, answer);
    return NULL;
}

/* A question that does not fit is asked about less: once by our own count, and once more, about
 * half a window, when the provider counts otherwise. A part of the messages always stays: a summary
 * of nothing would be worse than none. */
static struct err *ask(struct compacting *x, struct strbuf *answer)
{
    int64_t used = MAX(x->before.used, x->before.serialized) - x->unseen;
    int64_t room = x->takes - x->takes / ANSWER_PART;
    int64_t messages = MAX(used - run_head_tokens(x->run), 0);
    int64_t most = messages - MIN(messages, x->takes) / KEPT_PART;
    AUTO(strbuf) struct strbuf question = {0};
    struct str hidden;
    struct err *e;

    summary_question(x->wishes, ARRAY_LEN(x->wishes), &question);
    hidden = hide_in_str(run_secrets(x->run), &x->arena, strbuf_str(&question), NULL);
    e = ask_about(x, hidden, MIN(used + (int64_t)hidden.n / CHARS_PER_TOKEN - room, most), answer);
    if (!err_is(e, ERR_CONTEXT_OVERFLOW))
        return e;
    err_free(e);
    return ask_about(x, hidden, MIN(MAX(used - x->takes / 2, x->takes / 4), most), answer);
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

/* As a part of the message, which begins with a note about its author. */
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
        MIN(MAX_REATTACHED_BYTES, (size_t)(x->takes / REATTACHED_PART) * CHARS_PER_TOKEN);
    uint64_t found = 0; /* was reported when the model read it */

    for (size_t i = 0; i < n && n_left; i++)
        TRY(reattach_one(x, &list[i], &n_left));
    if (x->reattached)
        hide_in_message(run_secrets(x->run), &x->reattached, &found);
    return NULL;
}

/* --- the new history --- */

struct new_history {
    struct new_message *items; /* references are held */
    size_t n;
};

static void new_history_done(struct new_history *h)
{
    for (size_t i = 0; i < h->n; i++)
        message_unref(h->items[i].message);
}
DEFINE_AUTO_VAL(new_history, new_history_done)

static void new_history_init(struct new_history *h, struct compacting *x)
{
    *h = (struct new_history){
        .items = ARENA_ARRAY(&x->arena, run_history(x->run)->n_messages + 2, struct new_message)};
}

static void add_message(struct new_history *h, struct message *take_message, bool is_kept)
{
    h->items[h->n++] = (struct new_message){take_message, is_kept};
}

/* What is kept is a new message, no longer bound to what preceded it. */
static void make_history(struct compacting *x, struct new_history *ret)
{
    size_t n;
    const struct message *const *old = history_messages(run_history(x->run), &n);
    struct message *summary;

    new_history_init(ret, x);
    for (size_t i = 0; i < n; i++)
        if (old[i]->role == ROLE_SYSTEM)
            add_message(ret, run_repeat_message(x->run, old[i]), /* is_kept= */ false);
    summary = run_new_message(x->run, ROLE_ASSISTANT);
    message_add_text(summary, strbuf_str(&x->summary));
    add_message(ret, summary, /* is_kept= */ false);
    if (x->reattached)
        add_message(ret, TAKE(x->reattached), /* is_kept= */ false);
    for (size_t i = n - x->n_unseen; i < n; i++)
        add_message(ret, run_repeat_message(x->run, old[i]), /* is_kept= */ true);
}

static struct event_context describe(const struct token_estimate *e, int64_t window)
{
    return (struct event_context){.used = e->used,
                                  .window = window,
                                  .serialized = e->serialized,
                                  .counted = e->counted,
                                  .is_exact = e->is_exact};
}

static struct token_estimate estimate(struct compacting *x, const struct new_history *h)
{
    const struct message **messages = ARENA_ARRAY(&x->arena, h->n, const struct message *);

    for (size_t i = 0; i < h->n; i++)
        messages[i] = h->items[i].message;
    return ledger_estimate(messages, h->n, run_head_tokens(x->run), x->before.floor);
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
    after = estimate(x, &new);
    TRY(check_gain(x, &after));
    event.after = describe(&after, x->window);
    c->failed_at = 0;
    run_replace_history(x->run, new.items, new.n, &event);
    if (c->options.on_compact)
        c->options.on_compact(c->options.self, strbuf_str(&x->summary), &event);
    return NULL;
}

/* --- results that are taken out --- */

/* The new history has `n_results` of them less. */
static void replace_results(struct compacting *x, const struct new_history *new, size_t n_results)
{
    struct token_estimate after = estimate(x, new);
    struct event_compact event = {.trigger = "auto",
                                  .before = describe(&x->before, x->window),
                                  .after = describe(&after, x->window),
                                  .n_results = n_results};

    run_replace_history(x->run, new->items, new->n, &event);
}

/* The results that the newest answers asked for are still in use. */
static size_t find_newest(const struct message *const *messages, size_t n)
{
    size_t n_answers = 0, i = n;

    while (i > 0 && n_answers < COMPACT_KEPT_ROUNDS)
        n_answers += message_n_calls(messages[--i]) > 0;
    return i;
}

static bool has_media(const struct part *result)
{
    for (size_t i = 0; i < result->n_content; i++)
        if (result->content[i].kind != PART_TEXT)
            return true;
    return false;
}

/* What of it can be taken out, and read again by its name: text. In tokens; 0: nothing. */
static int64_t count_gain(const struct message *m)
{
    int64_t tokens = ledger_message_tokens(m);

    if (m->role != ROLE_TOOL || m->n_parts != 1 || m->parts[0].kind != PART_TOOL_RESULT)
        return 0;
    return tokens < COMPACT_LARGE_RESULT || has_media(&m->parts[0]) ? 0 : tokens - NAME_TOKENS;
}

/* A provider's count holds no longer behind the first result that is not there. */
static bool make_without_results(struct compacting *x, size_t n_old,
                                 const struct message *const *messages, size_t n,
                                 struct new_history *new, size_t *ret_n_results)
{
    for (size_t i = 0; i < n; i++) {
        struct message *m = (struct message *)messages[i];

        if (i < n_old && count_gain(m)) {
            m = run_shorten_results(x->run, m, SHORTENED_TO_NAME);
            *ret_n_results += 1;
        } else if (*ret_n_results && usage_is_known(&m->usage)) {
            m = run_repeat_message(x->run, m);
        } else {
            m = message_ref(m);
        }
        if (!m)
            return false;
        add_message(new, m, /* is_kept= */ true);
    }
    return true;
}

/* Takes out old and large results, all at once, if that gains enough. */
static void take_out_results(struct compacting *x)
{
    size_t n, n_old, n_results = 0;
    const struct message *const *messages = history_messages(run_history(x->run), &n);
    AUTO(new_history) struct new_history new = {0};
    int64_t gain = 0;

    n_old = find_newest(messages, n);
    for (size_t i = 0; i < n_old; i++)
        gain += count_gain(messages[i]);
    if (gain < x->window / COMPACT_RESULTS_PART)
        return;
    new_history_init(&new, x);
    if (!make_without_results(x, n_old, messages, n, &new, &n_results))
        return;
    replace_results(x, &new, n_results);
    x->before = run_context(x->run, &x->window);
}

/* Does it take more than its beginning and end, and the note about the rest? */
static bool is_worth_shortening(const struct message *result)
{
    return ledger_message_tokens(result) > 2 * FIT_PREVIEW_CHARS / CHARS_PER_TOKEN;
}

/* Its head and tail, or where not even they fit, how its call ended. */
static struct message *shorten_one(struct compacting *x, const struct message *result, int64_t used)
{
    int64_t preview = 2 * FIT_PREVIEW_CHARS / CHARS_PER_TOKEN;
    bool has_room = !ledger_is_over(used + preview, x->takes, LEDGER_GUARD_PER_MILLE);

    return run_shorten_results(x->run, result,
                               has_room ? SHORTENED_TO_PREVIEW : SHORTENED_TO_ENDING);
}

/* No room was made for results that no model has seen: those that do not fit into what is left are
 * stored and shortened, as they would have been when they came. The history alone decides, so a
 * later run and a replay come to the same. */
static void shorten_unseen(struct compacting *x)
{
    size_t n, n_results = 0;
    const struct message *const *messages = history_messages(run_history(x->run), &n);
    int64_t used = MAX(x->before.used, x->before.serialized) - x->unseen;
    AUTO(new_history) struct new_history new = {0};

    new_history_init(&new, x);
    for (size_t i = 0; i < n; i++) {
        struct message *m = (struct message *)messages[i], *shorter = NULL;
        bool is_unseen = i + x->n_unseen >= n && m->role == ROLE_TOOL;
        int64_t tokens = is_unseen ? ledger_message_tokens(m) : 0;

        /* twice: its text may be dense */
        if (is_unseen && is_worth_shortening(m) &&
            ledger_is_over(used + 2 * tokens, x->takes, LEDGER_GUARD_PER_MILLE))
            shorter = shorten_one(x, m, used);
        n_results += shorter != NULL;
        used += shorter ? ledger_message_tokens(shorter) : tokens;
        add_message(&new, shorter ? shorter : message_ref(m), /* is_kept= */ true);
    }
    if (n_results)
        replace_results(x, &new, n_results);
}

/* Results that take most of what a provider has refused would be refused again behind a summary:
 * their beginnings and ends stay, the rest is stored. True if that has made it shorter. */
static bool shorten_refused(struct compacting *x)
{
    size_t n, n_results = 0;
    const struct message *const *messages = history_messages(run_history(x->run), &n);
    AUTO(new_history) struct new_history new = {0};

    if (2 * x->unseen < x->takes - run_head_tokens(x->run))
        return false;
    new_history_init(&new, x);
    for (size_t i = 0; i < n; i++) {
        struct message *m = (struct message *)messages[i], *shorter = NULL;

        if (i + x->n_unseen >= n && m->role == ROLE_TOOL && is_worth_shortening(m))
            shorter = run_shorten_results(x->run, m, SHORTENED_TO_PREVIEW);
        n_results += shorter != NULL;
        add_message(&new, shorter ? shorter : message_ref(m), /* is_kept= */ true);
    }
    if (!n_results)
        return false;
    replace_results(x, &new, n_results);
    x->before = run_context(x->run, &x->window);
    find_unseen(x);
    return true;
}

/* --- all of it --- */

static struct err *compact_now(struct compacting *x)
{
    struct err *e;

    TRY(hook_before(x, &e));
    if (!e)
        e = summarise(x);
    if (!e)
        e = reattach(x);
    if (!e)
        e = task_check(); /* an interrupted run keeps its history */
    if (!e)
        e = replace(x);
    if (!e)
        return hook_after(x);
    TRY(give_up(x, e));
    shorten_unseen(x);
    return NULL;
}

static bool is_enough(const struct compacting *x)
{
    return !reaches(x->before.used, x->window, find_threshold(x)) &&
           !(x->unseen &&
             ledger_is_over(x->before.used + x->unseen, x->window, LEDGER_GUARD_PER_MILLE));
}

/* Old results go first, and a summary is asked for only where that is not enough. */
static struct err *compact_in_steps(struct compacting *x)
{
    struct compaction *c = x->owner;
    bool is_automatic = strcmp(x->trigger, "auto") == 0;

    if (is_automatic && c->steps != COMPACT_ONLY_SUMMARY && !c->options.keeps_results)
        take_out_results(x);
    if (c->steps == COMPACT_ONLY_RESULTS)
        return NULL;
    if (is_automatic && c->steps == COMPACT_ALL_STEPS && is_enough(x))
        return NULL;
    return compact_now(x);
}

static struct err *compact(struct compactor *base, struct run *r, bool is_full)
{
    struct compaction *c = (struct compaction *)base;
    bool has_looked = c->looked_in == c->conversation->stream.turn;
    AUTO(compacting)
    struct compacting x = {.owner = c,
                           .run = r,
                           .trigger = c->is_demanded ? "manual" : "auto",
                           .wishes = {c->options.instructions, c->demanded}};

    c->looked_in = 0;
    x.before = run_context(r, &x.window);
    x.takes = x.window;
    if (is_full && !has_answer(run_history(r), 0))
        return NULL;
    if (is_full && c->options.threshold_per_mille >= 0)
        x.takes = MIN(x.window, MAX(x.before.used, x.before.serialized));
    else if (!c->is_demanded && c->steps == COMPACT_ALL_STEPS &&
             !(has_looked ? c->is_promised : is_due(&x)))
        return NULL;
    find_unseen(&x);
    if (is_full && shorten_refused(&x) && !has_answer(run_history(r), x.n_unseen))
        return NULL;
    c->is_demanded = false;
    c->demanded = (struct str){0};
    err_free(TAKE(c->failure));
    if (is_full)
        return compact_now(&x);
    if (has_something(run_history(r)))
        return compact_in_steps(&x);
    if (strcmp(x.trigger, "manual") == 0)
        run_notice(r, SEVERITY_VERBOSE, SOURCE, S("There is nothing to summarize yet."));
    return NULL;
}

void compaction_init(struct compaction *c, const struct compact_options *options,
                     struct conversation *conversation)
{
    *c = (struct compaction){
        .compactor = {compact, find_room}, .options = *options, .conversation = conversation};
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
