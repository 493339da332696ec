/* progress.c - a line that is rewritten. */
#include "cli/output/progress.h"

#include "base/strbuf.h"
#include "cli/output/outbox.h"
#include "sys/clock.h"
#include "sys/loop.h"

#include <inttypes.h>
#include <unistd.h>

#define QUIET_MS 1000
#define STEP_MS 200
#define N_UNLOOKED 64 /* events between two looks at the clock */

static uint64_t now_ms(void)
{
    return clock_monotonic_ms(loop_clock(task_loop()));
}

void progress_begin(struct progress *p, const char *what, bool prints)
{
    *p = (struct progress){.what = what};
    p->is_on = outbox_has_status() && !(prints && isatty(STDOUT_FILENO));
    if (p->is_on)
        p->began_ms = p->told_ms = now_ms();
}

/* Is it time for another line? */
static bool is_due(struct progress *p)
{
    uint64_t now;

    if (!p->is_on)
        return false;
    now = now_ms();
    if (now - p->began_ms < QUIET_MS || now - p->told_ms < STEP_MS)
        return false;
    p->told_ms = now;
    return p->is_shown = true;
}

void progress_part(struct progress *p, uint64_t n, uint64_t n_all)
{
    AUTO(strbuf) struct strbuf end = {0};

    if (!n_all || p->n_calls++ % N_UNLOOKED || !is_due(p))
        return;
    strbuf_addf(&end, "%" PRIu64 " %%", MIN(n, n_all) * 100 / n_all);
    outbox_status(str_of(p->what), strbuf_cstr(&end));
}

void progress_count(struct progress *p, uint64_t n, const char *of)
{
    AUTO(strbuf) struct strbuf end = {0};

    if (!is_due(p))
        return;
    strbuf_addf(&end, "%" PRIu64 " %s", n, of);
    outbox_status(str_of(p->what), strbuf_cstr(&end));
}

void progress_end(struct progress *p)
{
    if (p->is_shown)
        outbox_wipe_status();
    p->is_shown = false;
}

static struct err *count_seconds(void *arg)
{
    struct progress *p = arg;

    for (;;) {
        TRY(task_sleep(STEP_MS));
        progress_count(p, (now_ms() - p->began_ms) / 1000, "s");
    }
}

struct err *progress_around(const char *what, task_fn fn, void *arg)
{
    struct progress p;
    struct group g;
    struct err *e;

    progress_begin(&p, what, /* prints= */ false);
    if (!p.is_on)
        return fn(arg);
    group_begin(&g, 0, 0);
    group_spawn(&g, "progress", count_seconds, &p);
    e = fn(arg);
    group_cancel(&g);
    err_ignore(group_end(&g), "it was cancelled, or what has interrupted fn as well");
    progress_end(&p);
    return e;
}
