/* demo.c - `keel demo`: a scripted model answers, so that one sees keel without a key. */
#include "cli/commands.h"

#include "provider/script.h"
#include "sys/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
    "      message: too many requests (scripted)\n"
    "      retry_after_ms: 1500\n"
    "  - - text: |\n"
    "        Now with a real model:\n"
    "          export ANTHROPIC_API_KEY=...    (keel doctor names the others)\n"
    "          keel -p \"why is the sky blue?\"\n"
    "      split: 7\n"
    "      delay_ms: 15\n"
    "    - usage: {input: 530, output: 41}\n";

struct demo {
    struct provider *provider;
    bool in_colour;
    enum delta_kind last;
    bool has_last;
};

static const char *colour(const struct demo *d, const char *code)
{
    return d->in_colour ? code : "";
}

static void on_delta(void *self, const struct delta *x)
{
    struct demo *d = self;
    bool is_new = !d->has_last || d->last != x->kind;

    d->has_last = true;
    d->last = x->kind;
    switch (x->kind) {
    case DELTA_REASONING:
        printf("%s%s%" STR_FMT "%s", colour(d, "\033[2m"), is_new ? "(thinks) " : "",
               STR_ARG(x->text), colour(d, "\033[0m"));
        break;
    case DELTA_TOOL_BEGIN:
        printf("%s%s%" STR_FMT "%s ", is_new ? "\n" : "", colour(d, "\033[36m"), STR_ARG(x->name),
               colour(d, "\033[0m"));
        break;
    default:
        printf("%s%" STR_FMT, is_new && x->kind == DELTA_TEXT ? "\n" : "", STR_ARG(x->text));
    }
    fflush(stdout);
}

/* One request; an error of the script is shown as keel would classify it. */
static struct err *play_turn(struct demo *d, int number)
{
    AUTO(reply) struct reply reply;
    AUTO(err) struct err *e = NULL;

    reply_init(&reply, (struct delta_sink){on_delta, d});
    d->has_last = false;
    printf("%s-- request %d --%s\n", colour(d, "\033[1m"), number, colour(d, "\033[0m"));
    e = provider_ask(d->provider, &(struct model_request){.model = S("demo"), .stream = true},
                     &(struct provider_call){0}, &reply);
    if (err_is(e, ERR_CANCELLED))
        return TAKE(e);
    if (e)
        printf("\n%s%s%s: %s (may be retried: %s, after %lld ms)\n", colour(d, "\033[31m"),
               err_code(e->kind), colour(d, "\033[0m"), e->text, err_is_retryable(e) ? "yes" : "no",
               (long long)MAX(e->retry_after_ms, (int64_t)0));
    if (usage_is_known(&reply.usage))
        printf("\n[%lld tokens in, %lld out, stopped: %s]\n", (long long)reply.usage.input,
               (long long)reply.usage.output, reply.stop_reason.p ? reply.stop_reason.p : "");
    printf("\n");
    return NULL;
}

static struct err *play(void *arg)
{
    struct demo *d = arg;
    size_t n = script_provider_n_turns(d->provider);

    for (size_t i = 0; i < n; i++)
        TRY(play_turn(d, (int)i + 1));
    return NULL;
}

static struct err *run(const struct args *args, int *ret_status)
{
    AUTO(provider) struct provider *provider = NULL;
    AUTO(strbuf) struct strbuf script = {0};
    AUTO(loop) struct loop *loop = NULL;
    struct virtual_clock no_wait;
    struct demo d = {.in_colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR")};

    TRY(args_count(args, 0, 0, "no operand"));
    if (args_has(args, "script"))
        TRY(cli_read_file(args_get(args, "script"), &script));
    else
        strbuf_add_cstr(&script, bundled);
    TRY(script_provider_new(S("demo"), strbuf_str(&script), &provider));
    d.provider = provider;
    virtual_clock_init(&no_wait, 0);
    loop = loop_new(args_has(args, "fast") ? &no_wait.clock : NULL);
    return loop_run(loop, play, &d);
}

const struct command command_demo = {
    .name = "demo",
    .usage = "[--script FILE] [--fast]",
    .group = "Ask",
    .summary = "see answers stream in, without a key or a network",
    .options = options,
    .run = run,
};
