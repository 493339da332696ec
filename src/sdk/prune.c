/* prune.c - finds the sessions that have been kept for long enough, and removes them. */
#include "sdk/prune.h"

#include "sys/fs.h"
#include "sys/loop.h"

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)
#define PAGE 1000
#define STAMP_MAX 64

/* A clock that is further ahead than this is not believed at once. */
#define TRUST_MS (7 * DAY_MS)
/* What it is believed then, each time: more than a day, so that it is reached some day. */
#define STEP_MS (2 * DAY_MS)
/* Up to this it may have been a holiday, and needs no notice. */
#define FAR_MS (30 * DAY_MS)

/* --- how long --- */

static struct err *read_limit(const struct settings *s, const char *path, int64_t otherwise,
                              int64_t *ret_value)
{
    *ret_value = settings_get(s, path) ? settings_int(s, path, 0) : otherwise;
    return *ret_value >= 0 ? NULL
                           : err_new(ERR_VALIDATION, "%s must be 0 or more, not %lld", path,
                                     (long long)*ret_value);
}

struct err *prune_limits_read(const struct settings *s, struct prune_limits *ret_limits)
{
    TRY(read_limit(s, "sessions.retentionDays", PRUNE_DEFAULT_DAYS, &ret_limits->days));
    return read_limit(s, "sessions.maxBytes", PRUNE_DEFAULT_BYTES, &ret_limits->bytes);
}

/* --- which --- */

struct planning {
    const struct prune_limits *limits;
    struct str kept;
    struct arena *arena;
    struct store_summary *items; /* that may go, the newest first */
    size_t n, room;
    uint64_t n_bytes; /* of all sessions */
};

static void note(struct planning *p, const struct store_summary *s)
{
    p->n_bytes += s->n_bytes;
    if (s->name.n || s->is_open || str_eq(s->id, p->kept))
        return;
    p->items = arena_grow(p->arena, p->items, p->n, &p->room, sizeof *p->items);
    p->items[p->n++] = *s;
}

static struct err *note_all(struct planning *p, struct store *s)
{
    struct store_list_query q = {.n_max = PAGE};
    size_t n = PAGE;

    while (n == PAGE) {
        struct store_summary *items = NULL;

        n = 0;
        TRY(store_list(s, &q, p->arena, &items, &n));
        for (size_t i = 0; i < n; i++)
            note(p, &items[i]);
        if (n) {
            q.before_ms = items[n - 1].updated_ms;
            q.before_id = items[n - 1].id;
        }
    }
    return NULL;
}

static bool must_go(const struct planning *p, const struct store_summary *s, int64_t now_ms)
{
    int64_t days = p->limits->days, used_ms = MAX(s->updated_ms, s->used_ms);
    bool is_old = days && days < INT64_MAX / DAY_MS && used_ms < now_ms - days * DAY_MS;

    return is_old || (p->limits->bytes && p->n_bytes > (uint64_t)p->limits->bytes);
}

struct err *prune_plan(struct store *s, const struct prune_limits *limits, struct str kept,
                       int64_t now_ms, struct arena *a, struct prune_report *ret_report)
{
    struct planning p = {.limits = limits, .kept = kept, .arena = a};

    *ret_report = (struct prune_report){0};
    TRY(note_all(&p, s));
    ret_report->items = ARENA_ARRAY(a, p.n, struct store_summary);
    for (size_t i = p.n; i-- > 0;) {
        if (!must_go(&p, &p.items[i], now_ms))
            continue; /* its own clock may have been behind: there may be older ones above it */
        ret_report->items[ret_report->n++] = p.items[i];
        ret_report->n_bytes += p.items[i].n_bytes;
        p.n_bytes -= p.items[i].n_bytes;
    }
    return NULL;
}

/* --- removing --- */

struct err *prune_apply(struct store *s, struct prune_report *r)
{
    size_t n = 0;

    r->n_bytes = 0;
    for (size_t i = 0; i < r->n; i++) {
        struct err *e = store_remove(s, r->items[i].id);

        if (err_is(e, ERR_CANCELLED))
            return e;
        if (!e) {
            r->n_bytes += r->items[i].n_bytes;
            r->items[n++] = r->items[i];
        }
        err_ignore(e, "somebody has opened it; the next time then");
    }
    r->n = n;
    return store_sweep(s);
}

void prune_describe(const struct prune_report *r, struct strbuf *out)
{
    strbuf_addf(out, "%zu session%s (%.1f MB)", r->n, r->n == 1 ? "" : "s",
                (double)r->n_bytes / 1e6);
}

void prune_describe_held(const struct prune_report *r, struct strbuf *out)
{
    strbuf_addf(out,
                "%zu session%s kept, though by the clock %s too old: it is %lld days ahead of when "
                "sessions were used or removed last, and may be wrong. If the date is right, keel "
                "session prune --trust-clock removes them",
                r->n_held, r->n_held == 1 ? " was" : "s were",
                r->n_held == 1 ? "it is" : "they are", (long long)r->days_ahead);
}

/* --- the clock --- */

/* Machines agree about a server's clock, but not about their own. */
static const char *stamp_path(const struct runtime *r, const struct store *s, struct arena *a)
{
    struct str home = runtime_home(r, a);

    if (!home.n)
        return NULL;
    return arena_format(a, "%" STR_FMT "/pruned%s%s", STR_ARG(home), store_has_clock(s) ? "-" : "",
                        store_has_clock(s) ? s->ops->name : "")
        .p;
}

/* "LAST KNOWN"; an older keel has written the first one alone, whatever its clock said. */
static void read_stamp(const char *path, struct prune_clock *c)
{
    AUTO(strbuf) struct strbuf text = {.max_bytes = STAMP_MAX};
    struct str last, rest;
    bool exists = false;

    err_ignore(fs_read(path, &text, &exists), "it is made anew");
    rest = str_trim(strbuf_str(&text));
    if (!exists || !str_split(&rest, ' ', &last) || !str_to_int64(last, &c->last_ms))
        c->last_ms = 0;
    else if (!str_to_int64(rest, &c->known_ms))
        c->known_ms = 0;
}

/* Of the newest one that is not `kept`; 0: there is none. */
static struct err *find_last_use(struct store *s, struct str kept, struct arena *a, int64_t *ret_ms)
{
    struct store_summary *items = NULL;
    size_t n = 0;

    *ret_ms = 0;
    TRY(store_list(s, &(struct store_list_query){.n_max = 2}, a, &items, &n));
    for (size_t i = 0; i < n; i++)
        if (!str_eq(items[i].id, kept))
            *ret_ms = MAX(*ret_ms, MAX(items[i].updated_ms, items[i].created_ms));
    return NULL;
}

struct err *prune_clock_read(const struct runtime *r, struct store *s, struct str kept,
                             struct arena *a, struct prune_clock *ret_clock)
{
    const char *path = stamp_path(r, s, a);
    int64_t used_ms;

    *ret_clock = (struct prune_clock){0};
    TRY(store_now(s, &ret_clock->now_ms));
    if (path)
        read_stamp(path, ret_clock);
    if (ret_clock->known_ms)
        return NULL;
    TRY(find_last_use(s, kept, a, &used_ms));
    ret_clock->known_ms = used_ms ? MIN(used_ms, ret_clock->now_ms) : ret_clock->now_ms;
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
    return c->now_ms >= c->known_ms && c->now_ms - c->known_ms <= FAR_MS;
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

struct err *prune_clock_write(const struct runtime *r, const struct store *s,
                              const struct prune_clock *c)
{
    AUTO(arena) struct arena a = {0};
    const char *path = stamp_path(r, s, &a);

    if (!path || (!is_trusted(c) && !is_due(c)))
        return NULL; /* one step a day, however often somebody looks */
    return fs_write_atomic(
        path, arena_format(&a, "%lld %lld\n", (long long)c->now_ms, (long long)believed_ms(c)),
        0600);
}

/* Others have times that were written while the clock was ahead. */
struct err *prune_mend_times(struct store *s, const struct prune_clock *c)
{
    if (is_behind(c) || !is_trusted(c))
        return NULL;
    return store_clamp_times(s, c->now_ms + TRUST_MS, c->now_ms);
}

struct err *prune_plan_by_clock(struct store *s, const struct prune_limits *limits, struct str kept,
                                const struct prune_clock *c, struct arena *a,
                                struct prune_report *ret_report)
{
    int64_t ahead_ms = c->now_ms - c->known_ms;
    struct prune_report all = {0};

    TRY(prune_plan(s, limits, kept, is_trusted(c) ? c->now_ms : c->known_ms, a, ret_report));
    if (is_trusted(c) || ahead_ms <= FAR_MS)
        return NULL;
    TRY(prune_plan(s, limits, kept, c->now_ms, a, &all));
    ret_report->n_held = all.n - MIN(ret_report->n, all.n);
    ret_report->days_ahead = ahead_ms / DAY_MS;
    return NULL;
}

/* --- once a day --- */

/* Its last use was later than it says: a clock was far behind. */
static struct err *mend_own_time(struct store *s, struct str kept, const struct prune_clock *c)
{
    if (!is_behind(c) || !kept.n || store_has_clock(s))
        return NULL;
    return store_update(s, &(struct store_summary){.id = kept, .updated_ms = c->known_ms});
}

struct err *prune_daily(const struct runtime *r, struct store *s, struct str kept, struct arena *a,
                        struct prune_report *ret_report)
{
    struct prune_limits limits;
    struct prune_clock c;

    *ret_report = (struct prune_report){0};
    TRY(prune_limits_read(r->settings, &limits));
    if (!runtime_home(r, a).n)
        return NULL;
    TRY(prune_clock_read(r, s, kept, a, &c));
    TRY(mend_own_time(s, kept, &c));
    if (!is_due(&c))
        return NULL;
    TRY(prune_clock_write(r, s, &c));
    TRY(prune_mend_times(s, &c));
    if (!limits.days && !limits.bytes)
        return NULL;
    TRY(prune_plan_by_clock(s, &limits, kept, &c, a, ret_report));
    return prune_apply(s, ret_report);
}
