/* summaries.c - histories are compacted where they were, and nothing is where nothing was. */
#include "sdk/replay/parts.h"

#include "session/summary.h"

#define NO_GAIN_PREFIX REPLAY_STAYS_PREFIX "a summary would not make it shorter"

/* What comes of the summary that begins now: what was put back, in the message that says so, and
 * that it gained nothing. One that failed does not say who asked for it. */
static bool look_at_summary(void *self, const struct event *e)
{
    struct replay *r = self;
    struct replay_summary *s = &r->summary;
    const struct message *m = e->type == EVENT_HISTORY ? e->body.message.message : NULL;

    if (m && !s->reattached && m->role == ROLE_USER &&
        str_eq(replay_first_text(m), S(REATTACH_NOTE)))
        s->reattached = message_ref((struct message *)m);
    if (e->type == EVENT_COMPACTED && e->body.compact.n_results)
        return true; /* results were shortened before it was asked for */
    if (e->type == EVENT_COMPACTED)
        s->was_automatic = strcmp(e->body.compact.trigger, "auto") == 0;
    if (e->type == EVENT_NOTICE && strcmp(e->body.notice.source, "compaction") == 0) {
        if (str_starts(e->body.notice.text, S(NO_GAIN_PREFIX)))
            s->no_gain = arena_str(&r->arena, e->body.notice.text);
        return false;
    }
    return e->type != EVENT_COMPACTED;
}

static struct err *look_ahead(struct replay *r)
{
    struct err *e;

    message_unref(r->summary.reattached);
    r->summary = (struct replay_summary){0};
    task_shield_begin();
    e = recording_load(r->recording);
    if (!e)
        e = recording_look_ahead(r->recording, look_at_summary, r);
    task_shield_end();
    return e;
}

static struct err *attach(void *self, const struct reattaching *context, struct strbuf *out)
{
    strbuf_add(out, ((const struct part *)self)->text);
    return NULL;
}

/* The recording does not have what would have been put back when it was too much. */
static struct err *refuse_to_attach(void *self, const struct reattaching *context,
                                    struct strbuf *out)
{
    const struct replay *r = self;

    return err_new(ERR_PROVIDER_ERROR, "%" STR_FMT,
                   STR_ARG(str_skip(r->summary.no_gain, strlen(REPLAY_STAYS_PREFIX))));
}

static void set_reattachers(struct replay *r)
{
    struct message *m = r->summary.reattached;
    size_t n = m ? m->n_parts - 1 : 0;
    struct reattacher *list = ARENA_ARRAY(&r->arena, n + 1, struct reattacher);

    for (size_t i = 0; i < n; i++)
        list[i] = (struct reattacher){attach, &m->parts[i + 1]};
    if (r->summary.no_gain.n)
        list[n++] = (struct reattacher){refuse_to_attach, r};
    r->compaction.options.reattachers = list;
    r->compaction.options.n_reattachers = n;
}

/* Results that did not fit were shortened after it. */
static bool is_failed_summary(const struct recorded_event *x)
{
    return x->type == EVENT_NOTICE && str_is(x->source, "compaction");
}

static bool is_compacted_now(struct replay *r)
{
    const struct recorded_event *x = replay_peek(r);
    struct str reason;

    if (x && x->type == EVENT_ERROR)
        return replay_ended_by_hook(r, HOOK_PRE_COMPACT, &reason);
    if (x && r->recording->only_compacts && x->seq == r->recording->cancel_seq)
        return true; /* while its hooks were asked */
    return x && ((x->type == EVENT_ATTEMPT_BEGIN && x->is_aside) || is_failed_summary(x));
}

/* What this summary was to take care of: by the settings, a person, or hooks. */
static struct str find_wishes(struct replay *r)
{
    const struct recorded_event *x;

    for (size_t i = 0; (x = recording_at(r->recording, i)); i++)
        if (x->type == EVENT_PROVIDER_REQUEST)
            return arena_str(&r->arena, summary_wishes(x->text));
    return (struct str){0};
}

/* Results are taken out next. */
static bool is_taken_out_now(const struct replay *r)
{
    const struct recorded_event *x = replay_peek(r);

    for (size_t i = 0; x && (x->type == EVENT_STATE || x->type == EVENT_NOTICE); i++) {
        if (is_failed_summary(x))
            return false;
        x = recording_at(r->recording, i); /* they are stored */
    }
    return x && x->type == EVENT_HISTORY && x->is_kept;
}

static struct err *make_shorter(struct replay *r, struct run *run, enum compact_steps steps,
                                bool is_full)
{
    r->compaction.steps = steps;
    return r->compaction.compactor.compact(&r->compaction.compactor, run, is_full);
}

/* It is compacted where it was, whatever the threshold was. */
struct err *replay_compact(struct compactor *c, struct run *run, bool is_full)
{
    struct replay *r = REPLAY_OF(c, compactor);

    if (is_taken_out_now(r) && !is_full)
        TRY(make_shorter(r, run, COMPACT_ONLY_RESULTS, is_full));
    if (!is_compacted_now(r) && !(is_full && is_taken_out_now(r)))
        return NULL;
    TRY(look_ahead(r));
    set_reattachers(r);
    r->compaction.options.instructions = find_wishes(r);
    if (!r->summary.was_automatic)
        compaction_demand(&r->compaction, (struct str){0});
    return make_shorter(r, run, COMPACT_ONLY_SUMMARY, is_full);
}

/* What came of the batch whose results come next: a compaction was to make room for them, or they
 * took what was left; they were shortened, or nothing of that was needed. */
enum room replay_find_room(struct compactor *c, struct run *run, const struct waiting_results *w)
{
    struct replay *r = REPLAY_OF(c, compactor);
    const struct recorded_event *x = replay_peek(r);
    bool is_told = x && x->type == EVENT_NOTICE && str_is(x->source, ROOM_SOURCE);
    bool is_short = false;

    if (is_told)
        return str_is(x->text, ROOM_REST_TEXT) ? ROOM_REST : ROOM_COMING;
    for (size_t i = 0; (x = recording_at(r->recording, i)); i++) {
        if (x->type == EVENT_BATCH_BEGIN || x->type == EVENT_ATTEMPT_BEGIN || is_failed_summary(x))
            break;
        is_short |= str_find(x->line, S("\"token_budget\"")) != STR_NONE ||
                    str_find(x->line, S("\"context_budget_exceeded\"")) != STR_NONE;
    }
    return is_short ? ROOM_LITTLE : ROOM_ENOUGH;
}
