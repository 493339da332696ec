/* news.c - background commands: what the model hears of them, and the wait for them. */
#include "sdk/agent/parts.h"

#include "sys/loop.h"
#include "tool/shell/background.h"
#include "tool/shell/news.h"

static struct agent *agent_of(struct news *n)
{
    return (struct agent *)((char *)n - offsetof(struct agent, news));
}

static struct tool_state *state_of(struct agent *a)
{
    return a->session.conversation.state;
}

static void news_take(struct news *n, struct strbuf *out)
{
    shell_news_add(state_of(agent_of(n)), out);
}

static void tell_wait(struct run *r, struct tool_state *s, uint64_t wait_ms)
{
    AUTO(strbuf) struct strbuf line = {0};
    size_t n = background_n_running(s);
    const char *separator = ": ";

    strbuf_addf(&line, "waiting up to %g s for %zu background command%s", (double)wait_ms / 1000, n,
                n == 1 ? "" : "s");
    for (struct shell *k = background_next(s, NULL); k; k = background_next(s, k))
        if (shell_state(k) == SHELL_RUNNING) {
            strbuf_addf(&line, "%s%s", separator, shell_id(k));
            separator = ", ";
        }
    strbuf_add_cstr(&line, " (Ctrl-C ends the wait)");
    run_notice(r, SEVERITY_VERBOSE, "background", strbuf_str(&line));
}

/* One time for the whole run, however often its model answers. What still runs then is stopped. */
static struct err *news_wait(struct news *n, struct run *r)
{
    struct agent *a = agent_of(n);
    struct tool_state *s = state_of(a);
    uint64_t start_ms = loop_now_ms(task_loop()), waited_ms;

    if (background_n_running(s) == 0)
        return NULL;
    if (a->wait_left_ms) {
        tell_wait(r, s, a->wait_left_ms);
        TRY(background_wait(s, a->wait_left_ms));
    }
    waited_ms = loop_now_ms(task_loop()) - start_ms;
    a->wait_left_ms -= MIN(a->wait_left_ms, waited_ms);
    if (background_n_running(s) == 0)
        return NULL;
    a->wait_left_ms = 0;
    return background_stop(s);
}

void agent_news_begin(struct agent *a)
{
    a->wait_left_ms = a->wait_background_ms;
    a->news = (struct news){.take = news_take};
    if (a->wait_background_ms || a->stops_background)
        a->news.wait = news_wait;
}

static void tell_stopped(void *self, struct str line)
{
    agent_notice(self, SEVERITY_WARNING, "background", line);
}

void agent_news_end(struct agent *a)
{
    if (state_of(a))
        shell_news_store(state_of(a), a->blobs, tell_stopped, a);
}
