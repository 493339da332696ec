/* waiting.c - a line about what takes long, while nothing else is to be seen. */
#include "cli/print/waiting.h"

#include "cli/output/display.h"
#include "cli/output/outbox.h"
#include "sys/clock.h"
#include "sys/loop.h"

#include <inttypes.h>

#define QUIET_MS 1000
#define STEP_MS 200
#define CALL_MAX_CHARS 50

static uint64_t now_ms(void)
{
    return clock_monotonic_ms(loop_clock(task_loop()));
}

static void wait_for_model(struct run_status *s)
{
    strbuf_cut(&s->what, 0);
    strbuf_addf(&s->what, "waiting for %" STR_FMT, STR_ARG(s->model));
    s->since_ms = now_ms();
}

static struct err *run_status_tick(void *arg)
{
    struct run_status *s = arg;

    for (;;) {
        uint64_t waited_ms;

        TRY(task_sleep(STEP_MS));
        waited_ms = now_ms() - s->since_ms;
        if (waited_ms >= QUIET_MS && outbox_quiet_ms() >= QUIET_MS) {
            AUTO(strbuf) struct strbuf end = {0};

            strbuf_addf(&end, "%" PRIu64 " s", waited_ms / 1000);
            outbox_status(strbuf_str(&s->what), strbuf_cstr(&end));
        }
    }
}

void run_status_begin(struct run_status *s, struct str model)
{
    *s = (struct run_status){.model = model, .is_on = outbox_has_status()};
    if (!s->is_on)
        return;
    wait_for_model(s);
    group_begin(&s->ticker, 0, 0);
    group_spawn(&s->ticker, "status", run_status_tick, s);
}

void run_status_event(void *self, const struct event *e)
{
    struct run_status *s = self;

    if (!s->is_on || e->parent_stream.n)
        return;
    if (e->type == EVENT_TOOL_BEGIN) {
        strbuf_cut(&s->what, 0);
        strbuf_add_cstr(&s->what, "running ");
        show_call(&s->what, e->body.tool.name, e->body.tool.args, CALL_MAX_CHARS);
        s->since_ms = now_ms();
    } else if (e->type == EVENT_TOOL_RESULT || e->type == EVENT_RETRY) {
        wait_for_model(s);
    }
}

void run_status_end(struct run_status *s)
{
    if (s->is_on) {
        group_cancel(&s->ticker);
        err_ignore(group_end(&s->ticker), "it was cancelled, or what has interrupted the run");
        outbox_wipe_status();
    }
    s->is_on = false;
    strbuf_done(&s->what);
}
