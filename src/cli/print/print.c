/* print.c - `keel -p PROMPT`: runs the agent once and prints its answer. */
#include "cli/print/parts.h"

#include "cli/flags/agent.h"
#include "cli/flags/answer.h"
#include "cli/interrupt.h"
#include "cli/output/outbox.h"
#include "sdk/live_session.h"
#include "sdk/process_log.h"
#include "view/stream_json.h"

#include <sys/stat.h>
#include <unistd.h>

/* --- traces --- */

#define ANSWER_PIECE '{'

/* What was held back of an answer: it has ended. */
static void end_trace(struct print *p)
{
    AUTO(strbuf) struct strbuf shown = {0};
    struct str rest = secrets_stream_end(&p->trace, &shown);

    if (rest.n)
        cli_tell_bytes(ANSWER_PIECE, rest);
}

/* The client takes credentials out of headers and addresses; a peer may repeat one elsewhere, and
 * its answer comes in pieces. */
static void trace_line(void *self, char kind, struct str text)
{
    struct print *p = self;
    AUTO(strbuf) struct strbuf shown = {0};

    if (kind == ANSWER_PIECE) {
        text = secrets_stream_add(&p->trace, text, &shown);
    } else {
        end_trace(p);
        text = secrets_hide(p->secrets, text, &shown, NULL);
    }
    if (text.n)
        cli_tell_bytes(kind, text);
}

/* --- before the run --- */

static struct err *open_project(struct print *p)
{
    struct host_options host = {.loads_ahead = true};
    struct project_options options = {.settings_file = args_get(p->args, "settings")};

    if (args_has(p->args, "trace-llm"))
        host.trace = (struct http_trace){trace_line, p};
    TRY(agent_flags_cwd(p->args, &p->arena, &options.cwd));
    TRY(agent_flags_layers(p->args, &options.skipped_layers));
    p->host = host_new(&host);
    TRY(project_open(p->host, &options, &p->project));
    TRY(process_log_open(
        p->project,
        &(struct log_flags){args_get(p->args, "log-file"), args_get(p->args, "log-level")}, "print",
        KEEL_VERSION));
    TRY(print_read_wait(p));
    print_settings_notices(p->project);
    return project_choose_model(p->project, args_get(p->args, "model"), &p->options.agent.model);
}

/* Which model is asked, where no flag names one: a session keeps its own. For people who watch: in
 * a script it would be there every time. */
static void tell_model(const struct print *p, const struct agent *a)
{
    const struct profile *found = &p->options.agent.model->profile;
    const struct target *first = agent_get_plan(a)->targets;
    bool is_watched = isatty(STDERR_FILENO) == 1 || args_has(p->args, "verbose");

    if (found->notice.n == 0 || !is_watched)
        return;
    if (str_eq(first->model, found->model) && str_eq(first->provider->id, found->id))
        cli_tell("%" STR_FMT, STR_ARG(found->notice));
    else
        cli_tell("using %" STR_FMT "/%" STR_FMT ", the session's model",
                 STR_ARG(first->provider->id), STR_ARG(first->model));
}

/* JSON that must fit a schema is only worth printing when it does. */
static void choose_show(struct print *p)
{
    bool is_terminal = isatty(STDOUT_FILENO) == 1;
    struct display *s = &p->text.show;

    p->text.is_streaming = p->format == FORMAT_TEXT && is_terminal && !p->schema;
    s->margin_fd = STDERR_FILENO;
    s->in_colour = cli_has_colour(STDERR_FILENO);
    s->is_visible = is_terminal;
    if (p->format == FORMAT_TEXT && is_terminal)
        s->flags |= DISPLAY_TOOLS | DISPLAY_FAILURES | DISPLAY_RETRIES;
    if (p->format != FORMAT_STREAM_JSON || isatty(STDERR_FILENO) == 1) /* its lines say it */
        s->flags |= DISPLAY_LONG_WAITS;
    if (p->text.is_streaming)
        s->flags |= DISPLAY_TEXT;
    if (p->text.is_streaming && isatty(STDERR_FILENO) == 1)
        s->flags |= DISPLAY_REASONING;
    if (args_has(p->args, "verbose") && p->format != FORMAT_STREAM_JSON)
        s->flags |= DISPLAY_TOOLS | DISPLAY_RETRIES | DISPLAY_DETAILS;
}

static void open_json(struct print *p, struct agent *a)
{
    AUTO(tool_set) struct tool_set *tools = agent_exposed_tools(a);
    const char **names = ARENA_ARRAY(&p->arena, tools->n, const char *);

    for (size_t i = 0; i < tools->n; i++)
        names[i] = tools->entries[i].tool->name;
    p->json.only_result = p->format == FORMAT_JSON;
    p->json.view = stream_json_new(&(struct stream_json_options){
        .session_id = arena_cstr(
            &p->arena, str_of(agent_get_session(a)->conversation.id)), /* outlives the agent */
        .cwd = p->project->place.cwd,
        .model = arena_cstr(&p->arena, agent_get_plan(a)->targets[0].model),
        .permission_mode = permission_mode_name(agent_get_mode(a)),
        .version = KEEL_VERSION,
        .api_key_source = arena_cstr(&p->arena, p->options.agent.model->profile.key_source.n
                                                    ? p->options.agent.model->profile.key_source
                                                    : S("none")),
        .tools = names,
        .n_tools = tools->n,
        .include_partial = p->include_partial,
        .replay_user = args_has(p->args, "replay-user-messages"),
    });
}

/* --- the run --- */

static void on_reader_gone(void *arg, int ready)
{
    struct print *p = arg;
    struct loop *l = p->reader.loop;

    loop_watch_stop(&p->reader);
    p->reader_is_gone = true;
    loop_cancel(l);
}

/* The answer may come long after its reader has left. A pipe's writing end is never readable, so
 * only its end is noticed. */
static void watch_reader(struct print *p)
{
    struct stat out;

    if (fstat(STDOUT_FILENO, &out) == 0 && S_ISFIFO(out.st_mode))
        err_ignore(loop_watch_start(&p->reader, task_loop(), STDOUT_FILENO, TASK_FD_READ,
                                    on_reader_gone, p),
                   "a write will fail, only later");
}

static bool may_drop_text(void *self)
{
    return true;
}

/* Once the answer cannot be read, the rest would be paid for and thrown away. */
static void keep_output_error(struct print *p, struct err *take_error)
{
    if (!take_error)
        return;
    err_free(p->output_error);
    p->output_error = take_error;
    loop_cancel(task_loop());
}

/* What is printed of a run waits until it is durable, and so does a line about a background command
 * that ends between two runs. A notice between runs is printed at once. */
static bool must_be_durable(const struct print *p, const struct event *e)
{
    bool is_of_run = e->run_id.n || (e->type == EVENT_STATE && p->json.view);

    return is_of_run && !e->parent_stream.n && e->seq && !p->is_ending;
}

static void show_to_readers(struct print *p, const struct event *e)
{
    run_progress_event(&p->progress, e);
    print_text_event(&p->text, e);
    if (p->json.view)
        print_json_event(&p->json, e);
}

static void print_event(void *self, const struct event *e)
{
    struct print *p = self;

    if (must_be_durable(p, e))
        outbox_follow(e->seq);
    show_to_readers(p, e);
}

static void print_durable(void *self, uint64_t next_seq)
{
    keep_output_error(self, outbox_release(next_seq));
}

/* main reports the error, if there is one. */
static struct err *finish(struct print *p, struct run_result *r)
{
    p->status = run_result_exit_code(r);
    if (p->reader_is_gone)
        return NULL;
    if (p->output_error)
        return TAKE(p->output_error);
    if (p->json.output_error)
        return TAKE(p->json.output_error);
    if (p->format == FORMAT_TEXT)
        TRY(print_text_end(&p->text, r));
    else
        print_text_asks(&p->text, r);
    return TAKE(r->error);
}

/* The last turn is finished. Its process may have died before it printed the answer, and that of
 * a finished turn is always the same: so it is printed, and no model is asked. */
static struct err *repeat_answer(struct print *p)
{
    const struct session *s = agent_get_session(p->live->agent);
    AUTO(run_result)
    struct run_result result = {
        .usage = USAGE_UNKNOWN, .child_usage = USAGE_UNKNOWN, .cost_is_known = true};
    struct event end = {.type = EVENT_RUN_END, .body.result = &result};
    AUTO(strbuf) struct strbuf text = {0};
    struct str stop_reason;

    if (!session_answer(s, &text, &stop_reason))
        return err_hint(
            err_new(ERR_VALIDATION, "session %s has no prompt to answer", s->conversation.id),
            "give the prompt: keel -p -r %s PROMPT", s->conversation.id);
    result.text = arena_str(&result.arena, strbuf_str(&text));
    result.stop_reason = arena_str(&result.arena, stop_reason);
    if (p->schema)
        result.error = answer_parse(p->schema, result.text, &result.arena, &result.value);
    result.outcome = result.error ? RUN_FAILED : RUN_DONE;
    cli_tell("session %s has nothing to resume; this is its last answer", s->conversation.id);
    p->text.is_streaming = false; /* it has not streamed now */
    show_to_readers(p, &end);
    keep_output_error(p, outbox_flush());
    return finish(p, &result);
}

/* --- what the run is asked --- */

static struct err *read_answers(struct print *p, struct run_input *input)
{
    const struct session *s = agent_get_session(p->live->agent);
    struct given_answer *answers;

    if ((p->prompt || p->input) && args_has(p->args, "answer"))
        return err_hint(err_new(ERR_VALIDATION, "--answer cannot be combined with a prompt"),
                        "give --answer, or a prompt");
    TRY(answer_flags_read(p->args, &s->loaded, &s->conversation.history, &p->arena, &answers,
                          &input->n_answers));
    input->answers = answers;
    return NULL;
}

static struct err *read_run_input(struct print *p, struct run_input *input)
{
    TRY(read_answers(p, input));
    input->output_schema = p->schema;
    if (p->max_rounds >= 0)
        input->max_rounds = p->max_rounds ? (unsigned)p->max_rounds : RUN_UNLIMITED;
    if (!p->text.is_streaming && !p->include_partial)
        input->drop_text = may_drop_text; /* no reader has seen it */
    return NULL;
}

/* The prompt on the command line, unless another program has put it there. */
static struct str typed_text(const struct print *p)
{
    const char *const *environment = host_environment(p->host);

    if (!p->args->n_operands || env_find(environment, "CLAUDE_CODE_ENTRYPOINT"))
        return (struct str){0};
    return str_of(p->args->operands[0]);
}

/* --- the face of the session --- */

static void print_run_begin(void *self)
{
    struct print *p = self;

    if (p->run_error && !err_is(p->run_error, ERR_CANCELLED)) /* only the last one's is main's */
        cli_tell_error(p->run_error);
    err_free(TAKE(p->run_error));
    run_progress_begin(&p->progress, agent_get_plan(p->live->agent)->targets[0].model);
}

static void print_run_end(void *self, struct run_result *r)
{
    struct print *p = self;

    run_progress_end(&p->progress);
    keep_output_error(p, outbox_flush());
    p->run_error = finish(p, r);
}

/* One prompt, or the rest of the last turn. */
static struct err *answer_one(struct print *p)
{
    if (!p->prompt && !session_can_resume(agent_get_session(p->live->agent)))
        return repeat_answer(p);
    TRY(live_session_submit(p->live, TAKE(p->prompt), typed_text(p)));
    return live_session_finish(p->live);
}

static struct err *answer_all(struct print *p)
{
    struct live_session *l = p->live;
    struct err *e;

    TRY(read_run_input(p, &l->input));
    e = p->input ? input_serve(p->input, l, &p->json) : answer_one(p);
    if (!p->run_error || (e && !err_is(e, ERR_CANCELLED)))
        return e;
    err_free(e); /* the run's own error is the reason */
    return TAKE(p->run_error);
}

static struct err *run_agent(struct print *p)
{
    AUTO(live_session) struct live_session live = {0};
    struct agent *agent;
    struct err *e;

    p->subscriber =
        (struct event_subscriber){.on_event = print_event, .on_durable = print_durable, .self = p};
    p->options.face = (struct live_face){print_run_begin, print_run_end, p};
    TRY(live_session_open(&live, p->project, &p->options));
    p->live = &live;
    agent = live.agent;
    tell_model(p, agent);
    print_missing_notices(p->args, p->project, agent_is_kept(agent));
    if (agent_is_kept(agent))
        p->text.session = arena_cstr(&p->arena, str_of(agent_get_session(agent)->conversation.id));
    p->trace.set = p->secrets = secrets_ref(project_secrets(p->project, NULL));
    if (p->format != FORMAT_TEXT)
        open_json(p, agent);
    e = answer_all(p);
    loop_watch_stop(&p->reader); /* it has all there is, and may leave while the session ends */
    keep_output_error(p, outbox_flush());
    p->is_ending = p->json.is_ending = true;
    return e;
}

static struct err *print_work(void *arg)
{
    struct print *p = arg;
    struct err *e;

    watch_reader(p);
    e = run_agent(p);
    p->live = NULL;
    print_json_end(&p->json);
    end_trace(p);
    secrets_hide_in_err(p->secrets, e);
    loop_watch_stop(&p->reader);
    return e;
}

static struct err *print_all(struct print *p)
{
    struct err *e;

    TRY(print_read_flags(p));
    TRY(open_project(p));
    if (!p->input)
        TRY(print_read_prompt(p->args, &p->prompt));
    choose_show(p);
    e = cli_run_task(NULL, print_work, p);
    if (err_is(e, ERR_CANCELLED) && p->text.is_streaming && p->text.session)
        e = err_hint(e, "keel -r %s continues it", p->text.session);
    if (!p->reader_is_gone)
        return e;
    err_free(e);
    return cli_print(S("\n")); /* ends the program as a closed pipe does */
}

static void print_done(struct print *p)
{
    print_text_done(&p->text);
    print_json_done(&p->json);
    message_unref(p->prompt);
    input_free(p->input);
    model_choice_unref(p->options.agent.model);
    project_unref(p->project);
    host_unref(p->host);
    secrets_unref(p->secrets);
    err_free(p->output_error);
    err_free(p->run_error);
    arena_done(&p->arena);
}

struct err *print_run(const struct args *args, int *ret_status)
{
    struct print p = {.args = args};
    struct err *e;

    TRY(print_read_format(args, &p.format));
    e = print_all(&p);
    if (e && p.format != FORMAT_TEXT)
        print_json_failure(&p.json, e);
    *ret_status = p.status;
    if (p.host)
        process_log_end(host_log(p.host), cli_exit_status(e ? err_exit_code(e) : p.status), e);
    print_done(&p);
    return e;
}
