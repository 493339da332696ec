/* prune.c - finds the sessions that have been kept for long enough, and removes them. */
#include "sdk/prune.h"

#include "config/settings_keys.h"

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)
#define PAGE 1000

/* A clock that is further ahead than this is not believed at once. */
#define TRUST_MS (7 * DAY_MS)
/* What it is believed then, each time: more than a day, so that it is reached some day. */
#define STEP_MS (2 * DAY_MS)
/* Up to this it may have been a holiday, and needs no notice. */
#define FAR_MS (30 * DAY_MS)
/* As many sessions may have been used with a wrong clock, and vouch for no time by themselves. */
#define N_DOUBTED 2

const struct setting_key prune_settings[] = {
    {"sessions.retentionDays", SETTING_INTEGER,
     .help = "days after the last use; named sessions are kept; 0: forever (90)"},
    {"sessions.maxBytes", SETTING_INTEGER,
     .help = "bytes of all sessions; the oldest unnamed ones are removed first; 0: no limit "
             "(8589934592)"},
    {0},
};

/* --- how long --- */

struct prune_limits prune_limits(const struct settings *s)
{
    return (struct prune_limits){
        .days = settings_int(s, "sessions.retentionDays", PRUNE_DEFAULT_DAYS),
        .bytes = settings_int(s, "sessions.maxBytes", PRUNE_DEFAULT_BYTES),
    };
}

/* --- which --- */

struct planning {
    const struct prune_limits *limits;
    struct str kept;
    int64_t now_ms;
    prune_visit_fn *visit;
    void *self;
    uint64_t n_bytes; /* of all sessions */
    uint64_t n_older; /* bytes of those that may go and were not looked at yet */
};

static bool may_go(const struct planning *p, const struct store_summary *s)
{
    return !s->name.n && !s->is_open && !str_eq(s->id, p->kept);
}

static struct err *add_bytes(struct planning *p, const struct store_summary *s)
{
    p->n_bytes += s->n_bytes;
    p->n_older += may_go(p, s) ? s->n_bytes : 0;
    return NULL;
}

/* Without room the oldest go, until there is: so this one goes when all older ones do not make
 * enough. Its own clock may have been behind: there may be older ones above it. */
static struct err *decide(struct planning *p, const struct store_summary *s)
{
    int64_t days = p->limits->days, used_ms = MAX(s->updated_ms, s->used_ms);
    bool is_old = days && days < INT64_MAX / DAY_MS && used_ms < p->now_ms - days * DAY_MS;

    if (!may_go(p, s))
        return NULL;
    p->n_older -= MIN(p->n_older, s->n_bytes); /* others may change them meanwhile */
    if (is_old || (p->limits->bytes && p->n_bytes > p->n_older + (uint64_t)p->limits->bytes))
        return p->visit(p->self, s);
    return NULL;
}

/* The newest first, a page at a time. */
static struct err *each_session(struct planning *p, struct store *s,
                                struct err *(*fn)(struct planning *p,
                                                  const struct store_summary *s))
{
    struct store_list_query q = {.n_max = PAGE};
    AUTO_FREE char *last = NULL;
    size_t n = PAGE;

    while (n == PAGE) {
        AUTO(arena) struct arena a = {0};
        struct store_summary *items = NULL;

        n = 0;
        TRY(store_list(s, &q, &a, &items, &n));
        for (size_t i = 0; i < n; i++)
            TRY(fn(p, &items[i]));
        if (!n)
            break;
        mem_free(last);
        last = str_dup(items[n - 1].id);
        q.before_ms = items[n - 1].updated_ms;
        q.before_id = str_of(last);
    }
    return NULL;
}

static struct err *visit_at(struct store *s, const struct prune_limits *limits, struct str kept,
                            int64_t now_ms, prune_visit_fn *visit, void *self)
{
    struct planning p = {
        .limits = limits, .kept = kept, .now_ms = now_ms, .visit = visit, .self = self};

    if (limits->bytes)
        TRY(each_session(&p, s, add_bytes));
    return each_session(&p, s, decide);
}

struct collecting {
    struct arena *arena;
    struct prune_report *report;
    size_t room;
};

static struct err *collect(void *self, const struct store_summary *s)
{
    struct collecting *c = self;
    struct prune_report *r = c->report;

    r->items = arena_grow(c->arena, r->items, r->n, &c->room, sizeof *r->items);
    r->items[r->n++] = (struct store_summary){.id = arena_str(c->arena, s->id),
                                              .preview = arena_str(c->arena, s->preview),
                                              .updated_ms = s->updated_ms,
                                              .n_bytes = s->n_bytes};
    r->n_bytes += s->n_bytes;
    return NULL;
}

/* A process that is killed on its way has removed the oldest. */
static void put_oldest_first(struct prune_report *r)
{
    for (size_t i = 0; i < r->n / 2; i++) {
        struct store_summary swap = r->items[i];

        r->items[i] = r->items[r->n - 1 - i];
        r->items[r->n - 1 - i] = swap;
    }
}

struct err *prune_plan(struct store *s, const struct prune_limits *limits, struct str kept,
                       int64_t now_ms, struct arena *a, struct prune_report *ret_report)
{
    struct collecting c = {.arena = a, .report = ret_report};

    *ret_report = (struct prune_report){0};
    TRY(visit_at(s, limits, kept, now_ms, collect, &c));
    put_oldest_first(ret_report);
    return NULL;
}

/* --- removing --- */

static bool is_open(struct store *s, struct str id)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary found = {0};
    bool exists = false;

    err_ignore(store_find(s, id, &a, &found, &exists), "then it is not known");
    return exists && found.is_open;
}

/* What fails with one may succeed with the next; the first failure is reported. */
struct err *prune_apply(struct store *s, struct prune_report *r)
{
    AUTO(err) struct err *failure = NULL;
    size_t n = 0, n_all = r->n;

    r->n = r->n_bytes = 0;
    for (size_t i = 0; i < n_all; i++) {
        struct err *e = store_remove(s, r->items[i].id);

        if (err_is(e, ERR_CANCELLED))
            return e;
        if (!e) {
            r->n_bytes += r->items[i].n_bytes;
            r->items[n++] = r->items[i];
            r->n = n;
        } else if (!failure && !is_open(s, r->items[i].id)) {
            failure = TAKE(e);
        }
        err_ignore(e, "somebody has opened it; the next time then");
    }
    TRY(store_sweep(s));
    return TAKE(failure);
}

void prune_describe(const struct prune_report *r, struct strbuf *out)
{
    strbuf_addf(out, "%zu session%s (%.1f MB)", r->n, r->n == 1 ? "" : "s",
                (double)r->n_bytes / 1e6);
}

void prune_describe_held(const struct prune_report *r, struct strbuf *out)
{
    strbuf_addf(
        out,
        "kept %zu expired session%s: the clock is %lld days ahead of the last use or removal of a "
        "session, and may be wrong. If the date is right, run keel session prune --trust-clock",
        r->n_held, r->n_held == 1 ? "" : "s", (long long)r->days_ahead);
}

/* --- the clock --- */

/* When other sessions than `kept` were used last. A clock may have been wrong for a run or two: so
 * the times of the newest are not believed before others come near them. 0: there is no other. */
static struct err *find_last_use(struct store *s, struct str kept, struct arena *a, int64_t *ret_ms)
{
    struct store_summary *items = NULL;
    size_t n = 0, n_others = 0;

    *ret_ms = 0;
    TRY(store_list(s, &(struct store_list_query){.n_max = N_DOUBTED + 2}, a, &items, &n));
    for (size_t i = 0; i < n && n_others <= N_DOUBTED; i++)
        if (!str_eq(items[i].id, kept)) {
            *ret_ms = n_others ? MIN(*ret_ms, items[i].updated_ms) : items[i].updated_ms;
            n_others++;
        }
    return NULL;
}

struct err *prune_clock_read(struct store *s, struct str kept, struct arena *a,
                             struct prune_clock *ret_clock)
{
    struct store_belief belief;
    int64_t used_ms;

    *ret_clock = (struct prune_clock){0};
    TRY(store_now(s, &ret_clock->now_ms));
    TRY(store_read_belief(s, &belief));
    ret_clock->last_ms = belief.looked_ms;
    ret_clock->known_ms = belief.believed_ms;
    if (belief.believed_ms)
        return NULL;
    TRY(find_last_use(s, kept, a, &used_ms));
    ret_clock->is_first = true;
    ret_clock->known_ms = used_ms ? used_ms : ret_clock->now_ms;
    return NULL;
}

static bool is_trusted(const struct prune_clock *c)
{
    return c->is_right || c->now_ms - c->known_ms <= TRUST_MS;
}

static bool is_behind(const struct prune_clock *c)
{
    return !c->is_right && c->known_ms - c->now_ms > TRUST_MS;
}

bool prune_clock_is_likely(const struct prune_clock *c)
{
    return c->now_ms >= c->known_ms && c->now_ms - c->known_ms <= (c->is_first ? TRUST_MS : FAR_MS);
}

static bool is_due(const struct prune_clock *c)
{
    return !c->last_ms || c->last_ms > c->now_ms || c->now_ms - c->last_ms >= DAY_MS;
}

/* A clock that is near what was believed is right, also where that had been stepped up to a clock
 * that was ahead: so one that jumps to and fro does not get its way step by step. */
static int64_t believed_ms(const struct prune_clock *c)
{
    if (is_behind(c))
        return c->known_ms;
    return is_trusted(c) ? c->now_ms : c->known_ms + STEP_MS;
}

static struct err *write_clock(struct store *s, const struct prune_clock *c)
{
    if (!is_trusted(c) && !is_due(c))
        return NULL; /* one step a day, however often it is called */
    return store_write_belief(
        s, &(struct store_belief){.looked_ms = c->now_ms, .believed_ms = believed_ms(c)});
}

/* --- times --- */

static struct err *find_use(struct store *s, struct str id, int64_t *ret_ms)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary found = {0};
    bool is_there = false;

    if (id.n)
        TRY(store_find(s, id, &a, &found, &is_there));
    *ret_ms = is_there ? found.updated_ms : 0;
    return NULL;
}

/* Others have times that were written while the clock was ahead. None of them was used after the
 * session that was used just now. */
static struct err *mend_times(struct store *s, struct str kept, const struct prune_clock *c)
{
    AUTO(arena) struct arena a = {0};
    int64_t now_ms = is_behind(c) ? c->known_ms : c->now_ms, kept_ms;
    struct store_summary *newest = NULL;
    size_t n = 0;

    if (!is_trusted(c))
        return NULL;
    TRY(store_list(s, &(struct store_list_query){.n_max = 1}, &a, &newest, &n));
    if (!n || newest->updated_ms <= now_ms + TRUST_MS)
        return NULL;
    TRY(find_use(s, kept, &kept_ms));
    if (kept_ms && kept_ms <= now_ms + TRUST_MS)
        return store_clamp_times(s, now_ms + TRUST_MS, MIN(now_ms, kept_ms - 1));
    TRY(store_clamp_times(s, now_ms + TRUST_MS, now_ms - 1));
    return kept_ms ? store_update(s, &(struct store_summary){.id = kept, .updated_ms = now_ms})
                   : NULL;
}

/* Its last use was later than it says: a clock was far behind. It was after that of all others, but
 * for those that are in the future; what is believed may have been stepped up to a clock that was
 * ahead, and would make it the newest for days. */
static struct err *mend_own_time(struct store *s, struct str kept, const struct prune_clock *c)
{
    AUTO(arena) struct arena a = {0};
    struct store_list_query past = {.before_ms = c->known_ms + TRUST_MS, .n_max = 2};
    struct store_summary *items = NULL;
    int64_t used_ms = c->known_ms - TRUST_MS;
    size_t n = 0;

    if (!is_behind(c) || !kept.n || store_has_clock(s))
        return NULL;
    TRY(store_list(s, &past, &a, &items, &n));
    for (size_t i = 0; i < n; i++)
        if (!str_eq(items[i].id, kept))
            used_ms = MAX(used_ms, items[i].updated_ms + 1);
    return store_update(s, &(struct store_summary){.id = kept, .updated_ms = used_ms});
}

/* --- both --- */

struct counting {
    prune_visit_fn *visit; /* NULL: only counts */
    void *self;
    size_t n;
    uint64_t n_bytes;
};

static struct err *count(void *self, const struct store_summary *s)
{
    struct counting *c = self;

    c->n++;
    c->n_bytes += s->n_bytes;
    return c->visit ? c->visit(c->self, s) : NULL;
}

/* How many more would go if the clock were believed. */
static struct err *count_held(struct store *s, const struct prune_limits *limits, struct str kept,
                              const struct prune_clock *c, struct prune_report *report)
{
    struct counting all = {0};

    if (is_trusted(c) || (!c->is_first && c->now_ms - c->known_ms <= FAR_MS))
        return NULL;
    TRY(visit_at(s, limits, kept, c->now_ms, count, &all));
    report->n_held = all.n - MIN(report->n, all.n);
    report->days_ahead = (c->now_ms - c->known_ms) / DAY_MS;
    return NULL;
}

/* By a first look nothing is old. */
static int64_t age_from_ms(const struct prune_clock *c)
{
    if (c->is_first && !c->is_right)
        return 0;
    return is_trusted(c) ? c->now_ms : c->known_ms;
}

struct err *prune_visit(struct store *s, const struct prune_limits *limits,
                        const struct prune_clock *c, prune_visit_fn *visit, void *self,
                        struct prune_report *ret_report)
{
    struct counting some = {.visit = visit, .self = self};

    TRY(visit_at(s, limits, (struct str){0}, age_from_ms(c), count, &some));
    *ret_report = (struct prune_report){.n = some.n, .n_bytes = some.n_bytes};
    return count_held(s, limits, (struct str){0}, c, ret_report);
}

static struct err *mend_and_remove(struct store *s, const struct prune_limits *limits,
                                   struct str kept, const struct prune_clock *c, struct arena *a,
                                   struct prune_report *ret_report)
{
    struct prune_report plan;

    TRY(mend_times(s, kept, c));
    if (!limits->days && !limits->bytes)
        return NULL;
    TRY(prune_plan(s, limits, kept, age_from_ms(c), a, &plan));
    TRY(count_held(s, limits, kept, c, &plan));
    *ret_report = plan;
    return prune_apply(s, ret_report);
}

struct err *prune_by_clock(struct store *s, const struct prune_limits *limits, struct str kept,
                           const struct prune_clock *c, struct arena *a,
                           struct prune_report *ret_report)
{
    struct err *unwritten = write_clock(s, c);
    struct err *e;

    *ret_report = (struct prune_report){0};
    e = mend_and_remove(s, limits, kept, c, a, ret_report);
    if (unwritten) { /* there was no room, perhaps; now there may be */
        err_free(unwritten);
        unwritten = write_clock(s, c);
        ret_report->is_unnoted = unwritten;
        err_ignore(unwritten, "the report tells it");
    }
    return e;
}

/* --- once a day --- */

struct err *prune_daily(const struct project *p, struct store *s, struct str kept, struct arena *a,
                        struct prune_report *ret_report)
{
    struct prune_limits limits = prune_limits(p->settings);
    struct prune_clock c;

    *ret_report = (struct prune_report){0};
    TRY(prune_clock_read(s, kept, a, &c));
    TRY(mend_own_time(s, kept, &c));
    TRY(mend_times(s, kept, &c));
    if (!is_due(&c))
        return NULL;
    return prune_by_clock(s, &limits, kept, &c, a, ret_report);
}
