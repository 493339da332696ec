/* print.c - `keel -p PROMPT`: asks the model once and prints its answer as it comes. */
#include "cli/print.h"

#include "cli/run.h"
#include "sdk/runtime.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

struct print {
    const struct args *args;
    struct runtime *runtime;
    struct message *prompt;
    bool is_terminal;          /* is stdout? */
    struct err *output_error;  /* nobody gets the answer: why */
    bool has_text, is_in_line; /* something has come; it does not end with a line end */
};

static void on_delta(void *self, const struct delta *d)
{
    struct print *p = self;

    if ((d->kind != DELTA_TEXT && d->kind != DELTA_REFUSAL) || d->text.n == 0 || p->output_error)
        return;
    p->output_error = p->is_terminal ? cli_print_visible(d->text) : cli_print(d->text);
    p->has_text = true;
    p->is_in_line = d->text.p[d->text.n - 1] != '\n';
    if (p->output_error)
        loop_cancel(task_loop()); /* the rest would be paid for and thrown away */
}

/* The client takes credentials out of headers and addresses; a peer may repeat one elsewhere. */
static void trace_line(void *self, char kind, struct str text)
{
    const struct print *p = self;
    AUTO(secret) struct secret key = {0};
    AUTO(strbuf) struct strbuf shown = {0};
    AUTO(err)
    struct err *none =
        credentials_get(&p->runtime->credentials.port, p->runtime->profile.id, false, &key);

    secret_hide(&key, text, &shown);
    cli_tell_bytes(kind, strbuf_str(&shown));
}

static bool is_piped_in(void)
{
    struct stat in;

    return fstat(STDIN_FILENO, &in) == 0 &&
           (S_ISFIFO(in.st_mode) || S_ISREG(in.st_mode) || S_ISSOCK(in.st_mode));
}

/* Whoever started keel may hold a pipe open and never write to it. */
#define STDIN_WAIT_MS 3000

static bool is_silent(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&in, 1, STDIN_WAIT_MS) == 0;
}

/* What is piped in goes behind the prompt, as a part of its own. */
static struct err *user_message(struct str prompt, struct message **ret_message)
{
    AUTO(message) struct message *m = message_new(ROLE_USER, S("prompt"));
    AUTO(strbuf) struct strbuf piped = {0};

    if (is_piped_in() && str_trim(prompt).n && is_silent())
        cli_tell("nothing comes from standard input; going on without it");
    else if (is_piped_in())
        TRY(cli_read_file("-", &piped));
    if (str_trim(prompt).n)
        message_add_text(m, prompt);
    if (str_trim(strbuf_str(&piped)).n)
        message_add_text(m, strbuf_str(&piped));
    if (m->n_parts == 0)
        return err_hint(err_new(ERR_VALIDATION, "keel -p needs a prompt"),
                        "keel -p \"why is the sky blue?\", or pipe it in");
    *ret_message = TAKE(m);
    return NULL;
}

/* An answer that is not all of it must not look as if it were. */
static void tell_stop(const struct print *p, const struct reply *reply)
{
    if (reply->stop == STOP_LENGTH)
        cli_tell("the answer was cut off: %" STR_FMT "\nmaxOutput in the profile sets the limit",
                 STR_ARG(reply->stop_reason));
    else if (!p->has_text)
        cli_tell("the answer has no text (stopped: %" STR_FMT ")", STR_ARG(reply->stop_reason));
}

static struct err *end_line(const struct print *p)
{
    return p->is_in_line ? cli_print(S("\n")) : NULL;
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
    if (!p->output_error)
        p->output_error = end_line(p);
    if (!e && !p->output_error)
        tell_stop(p, &reply);
    return e;
}

struct err *print_run(const struct args *args, int *ret_status)
{
    AUTO(runtime) struct runtime runtime = {0};
    AUTO(message) struct message *prompt = NULL;
    AUTO(err) struct err *e = NULL;
    struct print p = {.args = args, .runtime = &runtime, .is_terminal = isatty(STDOUT_FILENO) == 1};
    struct runtime_options options = {.settings_file = args_get(args, "settings")};

    if (args->n_operands > 1)
        return err_hint(err_new(ERR_VALIDATION, "keel -p takes one prompt"),
                        "put it into quotes: keel -p \"why is the sky blue?\"");
    if (args_has(args, "trace-llm"))
        options.trace = (struct http_trace){trace_line, &p};
    TRY(runtime_open(&runtime, &options));
    for (size_t i = 0; i < settings_n_warnings(runtime.settings); i++)
        cli_tell("%" STR_FMT, STR_ARG(settings_warning(runtime.settings, i)));
    TRY(runtime_use_model(&runtime, args_get(args, "model")));
    if (runtime.profile.notice.n)
        cli_tell("%" STR_FMT, STR_ARG(runtime.profile.notice));
    TRY(user_message(str_of(args->n_operands ? args->operands[0] : ""), &prompt));
    p.prompt = prompt;
    e = cli_run(NULL, ask, &p);
    return p.output_error ? p.output_error : TAKE(e);
}
