/* progress.c - a line that is rewritten. */
#include "cli/output/progress.h"

#include "base/visible.h"
#include "base/width.h"
#include "cli/output/display.h"
#include "sys/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define QUIET_MS 1000
#define STEP_MS 200
#define N_UNLOOKED 64 /* events between two looks at the clock */
#define CALL_MAX_CHARS 50

/* --- the line --- */

static struct screen {
    bool is_shown;       /* the line */
    bool is_inside_line; /* the cursor, of other output */
    uint64_t written_ms; /* when that was */
} screen;

/* Can a line on standard error be rewritten? */
static bool has_terminal(void)
{
    const char *term = getenv("TERM");

    return isatty(STDERR_FILENO) == 1 && term && strcmp(term, "dumb") != 0;
}

/* The machine's, also in a run with a virtual clock: it is a person who waits. */
static uint64_t now_ms(void)
{
    return clock_monotonic_ms(&clock_system);
}

/* A line that reaches the right edge would be continued below, and could not be rewritten. */
static void add_fitting(struct strbuf *out, struct str line, size_t n_end)
{
    static const struct str mark = S("...");
    struct winsize size;
    size_t room = SIZE_MAX;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        room = size.ws_col > n_end + mark.n + 1 ? size.ws_col - n_end - 1 : mark.n;
    if (width_of(line) <= room) {
        strbuf_add(out, line);
    } else {
        strbuf_add(out, width_truncate(line, room - mark.n));
        strbuf_add(out, mark);
    }
}

/* Shows "line: end", unless the cursor is inside a line of other output. */
static void show_line(struct str line, const char *end)
{
    AUTO(strbuf) struct strbuf shown = {0}, out = {0};

    if (screen.is_inside_line)
        return;
    visible_add(&shown, line);
    strbuf_add_cstr(&out, "\r\033[K");
    add_fitting(&out, strbuf_str(&shown), strlen(end) + 2);
    strbuf_addf(&out, ": %s", end);
    screen.is_shown = true;
    (void)!write(STDERR_FILENO, out.p, out.n);
}

static void wipe_line(void)
{
    static const struct str wipe = S("\r\033[K");

    if (screen.is_shown && !screen.is_inside_line)
        (void)!write(STDERR_FILENO, wipe.p, wipe.n);
    screen.is_shown = false;
}

void progress_make_room(int fd, struct str text)
{
    if (text.n == 0 || isatty(fd) != 1)
        return;
    wipe_line();
    screen.is_inside_line = text.p[text.n - 1] != '\n';
    screen.written_ms = now_ms();
}

/* --- a long command --- */

void progress_begin(struct progress *p, const char *what, bool prints)
{
    *p = (struct progress){.what = what};
    p->is_on = has_terminal() && !(prints && isatty(STDOUT_FILENO));
    if (p->is_on)
        p->began_ms = p->shown_ms = now_ms();
}

/* Is it time for another line? */
static bool is_due(struct progress *p)
{
    uint64_t now;

    if (!p->is_on)
        return false;
    now = now_ms();
    if (now - p->began_ms < QUIET_MS || now - p->shown_ms < STEP_MS)
        return false;
    p->shown_ms = now;
    return p->is_shown = true;
}

void progress_part(struct progress *p, uint64_t n, uint64_t n_all)
{
    AUTO(strbuf) struct strbuf end = {0};

    if (!n_all || p->n_calls++ % N_UNLOOKED || !is_due(p))
        return;
    strbuf_addf(&end, "%" PRIu64 " %%", MIN(n, n_all) * 100 / n_all);
    show_line(str_of(p->what), strbuf_cstr(&end));
}

void progress_count(struct progress *p, uint64_t n, const char *of)
{
    AUTO(strbuf) struct strbuf end = {0};

    if (!is_due(p))
        return;
    strbuf_addf(&end, "%" PRIu64 " %s", n, of);
    show_line(str_of(p->what), strbuf_cstr(&end));
}

void progress_end(struct progress *p)
{
    if (p->is_shown)
        wipe_line();
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

/* --- a run --- */

static void wait_for_model(struct run_progress *r)
{
    strbuf_cut(&r->what, 0);
    strbuf_addf(&r->what, "waiting for %" STR_FMT, STR_ARG(r->model));
    r->since_ms = now_ms();
}

static struct err *run_progress_tick(void *arg)
{
    struct run_progress *r = arg;

    for (;;) {
        uint64_t waited_ms;

        TRY(task_sleep(STEP_MS));
        waited_ms = now_ms() - r->since_ms;
        if (waited_ms >= QUIET_MS && now_ms() - screen.written_ms >= QUIET_MS) {
            AUTO(strbuf) struct strbuf end = {0};

            strbuf_addf(&end, "%" PRIu64 " s", waited_ms / 1000);
            show_line(strbuf_str(&r->what), strbuf_cstr(&end));
        }
    }
}

void run_progress_begin(struct run_progress *r, struct str model)
{
    *r = (struct run_progress){.model = model, .is_on = has_terminal()};
    if (!r->is_on)
        return;
    wait_for_model(r);
    group_begin(&r->ticker, 0, 0);
    group_spawn(&r->ticker, "progress", run_progress_tick, r);
}

void run_progress_event(void *self, const struct event *e)
{
    struct run_progress *r = self;

    if (!r->is_on || e->parent_stream.n)
        return;
    if (e->type == EVENT_TOOL_BEGIN) {
        strbuf_cut(&r->what, 0);
        strbuf_add_cstr(&r->what, "running ");
        display_call(&r->what, e->body.tool.name, e->body.tool.args, CALL_MAX_CHARS);
        r->since_ms = now_ms();
    } else if (e->type == EVENT_TOOL_RESULT || e->type == EVENT_RETRY) {
        wait_for_model(r);
    }
}

void run_progress_end(struct run_progress *r)
{
    if (r->is_on) {
        group_cancel(&r->ticker);
        err_ignore(group_end(&r->ticker), "it was cancelled, or what has interrupted the run");
        wipe_line();
    }
    r->is_on = false;
    strbuf_done(&r->what);
}
