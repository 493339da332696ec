/* prune.c - finds the sessions that have been kept for long enough, and removes them. */
#include "sdk/prune.h"

#include "sys/fs.h"
#include "sys/loop.h"

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)
#define PAGE 1000
#define STAMP_MAX 64

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
    int64_t days = p->limits->days;
    bool is_old = days && days < INT64_MAX / DAY_MS && s->updated_ms < now_ms - days * DAY_MS;

    return is_old || (p->limits->bytes && p->n_bytes > (uint64_t)p->limits->bytes);
}

struct err *prune_plan(struct store *s, const struct prune_limits *limits, struct str kept,
                       int64_t now_ms, struct arena *a, struct prune_report *ret_report)
{
    struct planning p = {.limits = limits, .kept = kept, .arena = a};

    *ret_report = (struct prune_report){0};
    TRY(note_all(&p, s));
    ret_report->items = ARENA_ARRAY(a, p.n, struct store_summary);
    for (size_t i = p.n; i-- > 0 && must_go(&p, &p.items[i], now_ms);) {
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

/* --- once a day --- */

static const char *stamp_path(const struct runtime *r, struct arena *a)
{
    struct str home = runtime_home(r, a);

    return home.n ? arena_format(a, "%" STR_FMT "/pruned", STR_ARG(home)).p : NULL;
}

static bool is_due(const char *path, int64_t now_ms)
{
    AUTO(strbuf) struct strbuf text = {.max_bytes = STAMP_MAX};
    int64_t last_ms;
    bool exists = false;

    err_ignore(fs_read(path, &text, &exists), "it is made anew");
    return !exists || !str_to_int64(str_trim(strbuf_str(&text)), &last_ms) || last_ms > now_ms ||
           now_ms - last_ms >= DAY_MS;
}

struct err *prune_daily(const struct runtime *r, struct store *s, struct str kept, struct arena *a,
                        struct prune_report *ret_report)
{
    int64_t now_ms = clock_unix_ms(loop_clock(task_loop()));
    const char *path = stamp_path(r, a);
    struct prune_limits limits;

    *ret_report = (struct prune_report){0};
    TRY(prune_limits_read(r->settings, &limits));
    if (!path || (!limits.days && !limits.bytes) || !is_due(path, now_ms))
        return NULL;
    TRY(fs_write_atomic(path, arena_format(a, "%lld\n", (long long)now_ms), 0600));
    TRY(prune_plan(s, &limits, kept, now_ms, a, ret_report));
    return prune_apply(s, ret_report);
}
