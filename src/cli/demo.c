/* demo.c - `keel demo`: a scripted model answers, so that one sees keel without a key. */
#include "cli/commands.h"

#include "cli/run.h"
#include "cli/text.h"
#include "provider/script.h"

#include <stdio.h>

static const struct option options[] = {
    {"script", 0, "FILE", "play this script (YAML or JSON) instead of the bundled one"},
    {"fast", 0, NULL, "do not wait between the pieces"},
    {0},
};

static const char bundled[] =
    "turns:\n"
    "  - - reasoning: The person wants to see how an answer streams in.\n"
    "      split: 6\n"
    "      delay_ms: 25\n"
    "    - text: |\n"
    "        Hello! I am a script that plays a model: nothing here leaves your machine.\n"
    "        A real model answers in the same way: piece by piece, its reasoning apart\n"
    "        from its answer, and with calls of tools such as this one:\n"
    "      split: 7\n"
    "      delay_ms: 15\n"
    "    - tool: Bash\n"
    "      args: {command: uname -sr, description: Show the kernel}\n"
    "    - usage: {input: 412, output: 96}\n"
    "  - - text: |\n"
    "        That was one request. Retries and errors are scripted too:\n"
    "      split: 7\n"
    "      delay_ms: 15\n"
    "    - error: provider_rate_limit\n"
    "      message: too many requests\n"
    "      retry_after_ms: 1500\n"
    "  - - text: |\n"
    "        Now with a real model:\n"
    "          export ANTHROPIC_API_KEY=...    (keel doctor names the others)\n"
    "          keel -p \"why is the sky blue?\"\n"
    "      split: 7\n"
    "      delay_ms: 15\n"
    "    - usage: {input: 530, output: 41}\n";

enum colour { PLAIN, BOLD, FAINT, RED, CYAN };

struct demo {
    struct provider *provider;
    bool in_colour;
    bool is_in_line;          /* something stands before the cursor */
    enum delta_kind last;     /* what, when something does */
    struct err *output_error; /* nobody watches any more: why */
};

static void show(struct demo *d, enum colour colour, struct str text)
{
    static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[31m", "\033[36m"};
    AUTO(strbuf) struct strbuf out = {0};

    if (text.n == 0 || d->output_error)
        return;
    if (d->in_colour && colour != PLAIN)
        strbuf_addf(&out, "%s%" STR_FMT "\033[0m", codes[colour], STR_ARG(text));
    else
        strbuf_add(&out, text);
    d->output_error = cli_print(strbuf_str(&out));
    d->is_in_line = text.p[text.n - 1] != '\n';
}

static void start_line(struct demo *d)
{
    if (d->is_in_line)
        show(d, PLAIN, S("\n"));
}

static void on_delta(void *self, const struct delta *x)
{
    struct demo *d = self;

    if (d->last != x->kind && x->kind != DELTA_TOOL_ARGS)
        start_line(d);
    d->last = x->kind;
    if (x->kind == DELTA_REASONING) {
        show(d, FAINT, d->is_in_line ? S("") : S("(thinks) "));
        show(d, FAINT, x->text);
    } else if (x->kind == DELTA_TOOL_BEGIN) {
        show(d, CYAN, x->name);
        show(d, PLAIN, S(" "));
    } else {
        show(d, PLAIN, x->text);
    }
    if (d->output_error)
        loop_cancel(task_loop());
}

/* As keel would classify it. */
static void show_error(struct demo *d, const struct err *e)
{
    AUTO(strbuf) struct strbuf line = {0};

    strbuf_addf(&line, ": %s (%s", e->text, err_is_retryable(e) ? "keel would try again" : "final");
    if (e->retry_after_ms >= 0) {
        strbuf_add_cstr(&line, " in ");
        text_add_duration(&line, e->retry_after_ms);
    }
    strbuf_add_cstr(&line, ")\n");
    start_line(d);
    show(d, RED, str_of(err_code(e->kind)));
    show(d, PLAIN, strbuf_str(&line));
}

static void show_usage(struct demo *d, const struct reply *r)
{
    AUTO(strbuf) struct strbuf line = {0};

    strbuf_addf(&line, "[%lld tokens in, %lld out, stopped: %" STR_FMT "]\n",
                (long long)r->usage.input, (long long)r->usage.output, STR_ARG(r->stop_reason));
    start_line(d);
    show(d, FAINT, strbuf_str(&line));
}

static struct err *play_turn(struct demo *d, size_t number)
{
    AUTO(reply) struct reply reply;
    AUTO(err) struct err *e = NULL;
    char heading[64];

    reply_init(&reply, (struct delta_sink){on_delta, d});
    snprintf(heading, sizeof heading, "%s-- request %zu --\n", number > 1 ? "\n" : "", number);
    show(d, BOLD, str_of(heading));
    e = provider_ask(d->provider, &(struct model_request){.model = S("demo"), .stream = true},
                     &(struct provider_call){0}, &reply);
    if (err_is(e, ERR_CANCELLED)) {
        start_line(d);
        return TAKE(e);
    }
    if (e)
        show_error(d, e);
    if (usage_is_known(&reply.usage))
        show_usage(d, &reply);
    start_line(d);
    return NULL;
}

static struct err *play(void *arg)
{
    struct demo *d = arg;
    size_t n = script_provider_n_turns(d->provider);

    for (size_t i = 0; i < n; i++)
        TRY(play_turn(d, i + 1));
    return NULL;
}

static struct err *run(const struct args *args, int *ret_status)
{
    AUTO(provider) struct provider *provider = NULL;
    AUTO(strbuf) struct strbuf script = {0};
    AUTO(err) struct err *e = NULL;
    struct virtual_clock no_wait;
    struct demo d = {.in_colour = cli_has_colour()};

    TRY(args_count(args, 0, 0, "no operand"));
    if (args_has(args, "script"))
        TRY(cli_read_file(args_get(args, "script"), &script));
    else
        strbuf_add_cstr(&script, bundled);
    TRY(script_provider_new(S("demo"), strbuf_str(&script), &provider));
    d.provider = provider;
    virtual_clock_init(&no_wait, 0);
    e = cli_run(args_has(args, "fast") ? &no_wait.clock : NULL, play, &d);
    return d.output_error ? d.output_error : TAKE(e);
}

const struct command command_demo = {
    .name = "demo",
    .usage = "[--script FILE] [--fast]",
    .group = "Ask",
    .summary = "see answers stream in, without a key or a network",
    .options = options,
    .run = run,
};
