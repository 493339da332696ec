/* print.c - `keel -p PROMPT`: asks the model once and prints its answer as it comes. */
#include "cli/print.h"

#include "sdk/runtime.h"
#include "sys/loop.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct print {
    const struct args *args;
    struct runtime *runtime;
    struct message *prompt;
    struct err *output_error;
    char last_char;
};

static void on_delta(void *self, const struct delta *d)
{
    struct print *p = self;

    if ((d->kind != DELTA_TEXT && d->kind != DELTA_REFUSAL) || p->output_error)
        return;
    p->output_error = cli_print(d->text);
    p->last_char = d->text.p[d->text.n - 1];
}

static void trace_line(void *self, char kind, struct str text)
{
    fprintf(stderr, "%c %" STR_FMT "\n", kind, STR_ARG(text));
}

/* What is piped in goes before the prompt, as a part of its own. */
static struct err *user_message(struct str prompt, struct message **ret_message)
{
    AUTO(message) struct message *m = message_new(ROLE_USER, S("prompt"));
    AUTO(strbuf) struct strbuf piped = {0};
    struct stat in;

    if (fstat(STDIN_FILENO, &in) == 0 && (S_ISFIFO(in.st_mode) || S_ISREG(in.st_mode)))
        TRY(cli_read_file("-", &piped));
    if (str_trim(strbuf_str(&piped)).n)
        message_add_text(m, strbuf_str(&piped));
    if (str_trim(prompt).n)
        message_add_text(m, prompt);
    if (m->n_parts == 0)
        return err_hint(err_new(ERR_VALIDATION, "keel -p needs a prompt"),
                        "keel -p \"why is the sky blue?\", or pipe it in");
    *ret_message = TAKE(m);
    return NULL;
}

static struct err *ask(void *arg)
{
    struct print *p = arg;
    const struct profile *profile = &p->runtime->profile;
    const struct message *messages[] = {p->prompt};
    AUTO(reply) struct reply reply;
    struct provider_call call;
    struct model_request request = {
        .provider = profile->id,
        .model = profile->model,
        .messages = messages,
        .n_messages = 1,
        .system = str_of(args_get(p->args, "append-system-prompt")),
        .stream = true,
        .options = profile->options,
        .info = profile->info_is_known ? &profile->info : NULL,
        .max_output = profile->info.max_output,
    };
    struct err *e;

    reply_init(&reply, (struct delta_sink){on_delta, p});
    TRY(runtime_call(p->runtime, &call));
    e = provider_ask(p->runtime->provider, &request, &call, &reply);
    http_client_free(TAKE(p->runtime->http));
    return e;
}

struct err *print_run(const struct args *args, int *ret_status)
{
    AUTO(runtime) struct runtime runtime = {0};
    AUTO(message) struct message *prompt = NULL;
    struct print p = {.args = args, .runtime = &runtime};
    struct runtime_options options = {.settings_file = args_get(args, "settings")};

    if (args->n_operands > 1)
        return err_hint(err_new(ERR_VALIDATION, "keel -p takes one prompt"),
                        "put it into quotes: keel -p \"why is the sky blue?\"");
    if (args_has(args, "trace-llm"))
        options.trace.line = trace_line;
    TRY(runtime_open(&runtime, &options));
    for (size_t i = 0; i < settings_n_warnings(runtime.settings); i++)
        fprintf(stderr, "keel: %" STR_FMT "\n", STR_ARG(settings_warning(runtime.settings, i)));
    TRY(runtime_use_model(&runtime, args_get(args, "model")));
    if (runtime.profile.notice.n)
        fprintf(stderr, "keel: %" STR_FMT "\n", STR_ARG(runtime.profile.notice));
    TRY(user_message(str_of(args->n_operands ? args->operands[0] : ""), &prompt));
    p.prompt = prompt;
    TRY(loop_run_once(ask, &p));
    if (p.last_char && p.last_char != '\n')
        TRY(cli_print(S("\n")));
    return p.output_error;
}
