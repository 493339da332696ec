/* prune.h - how long sessions are kept: until they are old, or the oldest when there is no room.
 *
 * Sessions with a name are kept, and so are those that are open. What is shared with a session that
 * stays, stays. In a task.
 *
 * How old a session is depends on a clock, and a clock may be wrong for a while. It is the store's;
 * and the store remembers, for all who share it, which time was believed when somebody last looked
 * for old sessions. A clock that is far ahead of this is not believed at once: nothing becomes old
 * by its jump, and what it says is approached by some days a day. A person may say that it is
 * right. The first who looks removes nothing for its age: what is known of the time then is what
 * the times of several sessions agree about. */
#ifndef KEEL_SDK_PRUNE_H
#define KEEL_SDK_PRUNE_H

#include "port/store.h"
#include "sdk/project.h"

#define PRUNE_DEFAULT_DAYS 90
#define PRUNE_DEFAULT_BYTES ((int64_t)8 << 30)

struct prune_limits {
    int64_t days;  /* after the last use; 0: for ever */
    int64_t bytes; /* of all sessions; 0: no limit */
};
struct prune_limits prune_limits(const struct settings *s);

struct prune_report {
    /* That go, the oldest first, with id, preview, last use and size; in the caller's arena. NULL
     * after prune_visit(). */
    struct store_summary *items;
    size_t n;
    uint64_t n_bytes;
    size_t n_held;      /* that would go if the clock were believed */
    int64_t days_ahead; /* of the clock; 0: it is not far ahead */
    bool is_unnoted;    /* keel's home has no room to remember that it was done */
};
/* Which ones would go; `kept` is not among them, it may be empty. */
MUST_USE struct err *prune_plan(struct store *s, const struct prune_limits *limits, struct str kept,
                                int64_t now_ms, struct arena *a, struct prune_report *ret_report);
/* Removes them. The report has those that are gone; one that was opened meanwhile is not a failure.
 */
MUST_USE struct err *prune_apply(struct store *s, struct prune_report *report);

/* What is known of the time. */
struct prune_clock {
    int64_t now_ms;   /* as the store's clock says */
    int64_t last_ms;  /* when it was done last, by that clock; 0: not known */
    int64_t known_ms; /* that has been believed before */
    bool is_first;    /* nobody has believed one before: it is when other sessions were used */
    bool is_right;    /* a person says so of now_ms; false after reading */
};
/* `kept` vouches for nothing: it was used just now. */
MUST_USE struct err *prune_clock_read(struct store *s, struct str kept, struct arena *a,
                                      struct prune_clock *ret_clock);
/* Not so far ahead that a person has to say that it is right, and not behind. */
bool prune_clock_is_likely(const struct prune_clock *c);
/* Removes those that go by what is believed, and remembers with the store that it was done now and
 * what is believed from now on; a clock that is not believed is approached once a day. Sessions
 * with a last use that a believed clock says is still to come get the time of now, or that just
 * before `kept` was used. The report is true after an error, too. */
MUST_USE struct err *prune_by_clock(struct store *s, const struct prune_limits *limits,
                                    struct str kept, const struct prune_clock *c, struct arena *a,
                                    struct prune_report *ret_report);

/* Which ones would go, however many there are, and how many are held because more is not believed:
 * `visit` gets each, the newest first. */
typedef struct err *prune_visit_fn(void *self, const struct store_summary *s);
MUST_USE struct err *prune_visit(struct store *s, const struct prune_limits *limits,
                                 const struct prune_clock *c, prune_visit_fn *visit, void *self,
                                 struct prune_report *ret_report);

/* Once a day at most for all who share the store; *ret_report is empty when it is not due or there
 * is nothing to do, and true after an error. Each time, times are mended, and `kept` gets a
 * believable one where the clock is far behind. */
MUST_USE struct err *prune_daily(const struct project *p, struct store *s, struct str kept,
                                 struct arena *a, struct prune_report *ret_report);

/* "3 sessions (12.4 MB)" */
void prune_describe(const struct prune_report *r, struct strbuf *out);
/* Why some were kept, and what to do if they should not be. */
void prune_describe_held(const struct prune_report *r, struct strbuf *out);

#endif
