/* run.c - finds the hooks of an event, runs them, and merges their answers. */
#include "hook/run.h"

#include "hook/answer.h"
#include "sys/task.h"

#define MAX_AT_ONCE 16
#define MAX_INPUT ((size_t)256 << 20) /* arguments and a result, both escaped */

/* One hook that runs for one event. */
struct hook_call {
    const struct hook_runner *runner;
    const struct hook_def *def;
    struct hook_job what;
    struct hook_reply reply;
    struct err *failure; /* why it did not run */
};

struct hook_calls {
    struct hook_call *items;
    size_t n;
};

static void hook_calls_done(struct hook_calls *j)
{
    for (size_t i = 0; i < j->n; i++) {
        hook_reply_done(&j->items[i].reply);
        err_free(j->items[i].failure);
    }
    mem_free(j->items);
}
DEFINE_AUTO_VAL(hook_calls, hook_calls_done)

/* --- which --- */

static bool is_same_env(const struct json *a, const struct json *b)
{
    return a == b || (a && b && json_equal(a, b));
}

static bool is_same(const struct hook_def *a, const struct hook_def *b)
{
    return a->timeout_ms == b->timeout_ms && a->fails_closed == b->fails_closed &&
           a->is_project == b->is_project && is_same_env(a->env, b->env) &&
           json_equal(a->definition, b->definition);
}

static bool is_there(const struct hook_calls *j, const struct hook_def *def)
{
    for (size_t i = 0; i < j->n; i++)
        if (is_same(j->items[i].def, def))
            return true;
    return false;
}

static struct str matched_text(const struct hook_input *input)
{
    const char *field = hook_event_info(input->event)->match_field;

    if (input->matched.n || !field)
        return input->matched;
    return json_get_text(input->fields, field);
}

static void find_calls(const struct hook_runner *r, const struct hook_input *input,
                       struct hook_calls *j)
{
    const struct hook_list *list = hook_config_list(r->config, input->event);
    struct str text = matched_text(input);

    j->items = list->n ? mem_alloc(list->n * sizeof *j->items) : NULL;
    for (size_t i = 0; i < list->n; i++) {
        struct hook_call *call = &j->items[j->n];

        if (!matcher_matches(list->items[i].matcher, text) || is_there(j, &list->items[i]))
            continue;
        *call = (struct hook_call){.runner = r, .def = &list->items[i]};
        hook_reply_init(&call->reply);
        j->n++;
    }
}

/* --- running them --- */

static void write_input(const struct hook_input *input, const struct hook_place *place,
                        struct strbuf *out)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_object(&w);
    jw_kv_str(&w, "session_id", place->session_id);
    jw_kv_str(&w, "transcript_path", place->transcript_path);
    jw_kv_str(&w, "cwd", str_of(place->cwd));
    jw_kv_str(&w, "permission_mode", str_of(place->permission_mode));
    jw_kv_str(&w, "hook_event_name", str_of(hook_event_name(input->event)));
    json_each (field, input->fields) {
        jw_key_str(&w, field->key);
        jw_json(&w, field);
    }
    jw_end_object(&w);
}

static struct hook_executor *find_executor(const struct hook_runner *r, struct str type)
{
    for (size_t i = 0; i < r->n_executors; i++)
        if (str_is(type, r->executors[i]->type))
            return r->executors[i];
    return NULL;
}

/* An interruption is an error; any other is the call's failure. */
static struct err *hook_call_run(void *arg)
{
    struct hook_call *call = arg;
    struct hook_executor *x = find_executor(call->runner, call->def->type);
    struct err *e =
        x ? x->run(x, &call->what, &call->reply)
          : err_new(ERR_CONFIGURATION, "hooks of type %" STR_FMT " are not available here",
                    STR_ARG(call->def->type));

    if (err_is(e, ERR_CANCELLED) || err_is(e, ERR_TIMEOUT))
        return e;
    call->failure = e;
    return NULL;
}

/* `cwd` is a copy: the session may change its directory while the hooks run. */
static struct err *run_calls(struct hook_calls *j, const char *cwd, struct str input)
{
    struct group g;

    for (size_t i = 0; i < j->n; i++)
        j->items[i].what = (struct hook_job){.definition = j->items[i].def->definition,
                                             .env = j->items[i].def->env,
                                             .input = input,
                                             .cwd = cwd,
                                             .timeout_ms = j->items[i].def->timeout_ms,
                                             .is_project = j->items[i].def->is_project};
    if (j->n == 1)
        return hook_call_run(&j->items[0]);
    group_begin(&g, MAX_AT_ONCE, GROUP_KEEP_GOING);
    for (size_t i = 0; i < j->n; i++)
        group_spawn(&g, "hook", hook_call_run, &j->items[i]);
    return group_end(&g);
}

/* --- what they said --- */

static struct str failure_text(const struct err *e, struct arena *a)
{
    AUTO_FREE char *text = err_message(e);
    const char *hint = err_find_hint(e);

    return arena_format(a, "it did not run: %s%s%s", text, hint ? "; " : "", hint ? hint : "");
}

static struct hook_answer read_call(const struct hook_call *call, enum hook_event event,
                                    struct arena *a)
{
    if (call->failure)
        return (struct hook_answer){.problem = failure_text(call->failure, a)};
    if (call->reply.timed_out)
        return (struct hook_answer){.problem = arena_format(a, "it timed out after %g s",
                                                            (double)call->what.timeout_ms / 1000)};
    return hook_answer_read(event, &call->reply, a);
}

/* A model that changes a hook's script could switch off the hook. */
static bool is_tampered_with(const struct hook_call *call, enum hook_event event)
{
    return event == HOOK_PRE_TOOL_USE && err_is(call->failure, ERR_TOOL_DENIED);
}

static struct hook_answer judge_call(const struct hook_call *call, enum hook_event event,
                                     struct arena *a)
{
    struct hook_answer answer = read_call(call, event, a);
    struct hook_outcome *o = &answer.outcome;
    struct str text;

    if (answer.problem.n == 0)
        return answer;
    text = arena_format(a, "the %s hook %" STR_FMT " failed: %" STR_FMT, hook_event_name(event),
                        STR_ARG(call->def->label), STR_ARG(answer.problem));
    if (call->runner->notice)
        call->runner->notice(call->runner->self, event, text);
    if (call->def->fails_closed || is_tampered_with(call, event)) {
        o->is_blocked = true;
        o->permission = HOOK_DENY;
    }
    if (o->is_blocked && o->reason.n == 0)
        o->reason =
            arena_format(a, "%" STR_FMT "; without its answer the call is denied", STR_ARG(text));
    return answer;
}

static struct err *hook_runner_run(struct hooks *h, const struct hook_input *input, struct arena *a,
                                   struct hook_outcome *ret_outcome)
{
    const struct hook_runner *r = (const struct hook_runner *)h;
    AUTO(hook_calls) struct hook_calls j = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct hook_place place = {0};
    struct hook_answer *answers;

    find_calls(r, input, &j);
    if (j.n == 0)
        return NULL;
    r->place(r->self, &place);
    strbuf_init(&text, MAX_INPUT);
    write_input(input, &place, &text);
    if (!strbuf_is_over(&text))
        TRY(run_calls(&j, arena_cstr(a, str_of(place.cwd)), strbuf_str(&text)));
    answers = ARENA_ARRAY(a, j.n, struct hook_answer);
    for (size_t i = 0; i < j.n; i++) {
        if (strbuf_is_over(&text))
            j.items[i].failure = strbuf_check(&text, "a hook's input");
        answers[i] = judge_call(&j.items[i], input->event, a);
    }
    *ret_outcome = hook_answers_merge(input->event, answers, j.n, a);
    return NULL;
}

static bool hook_runner_has(struct hooks *h, const struct hook_input *input)
{
    AUTO(hook_calls) struct hook_calls j = {0};

    find_calls((const struct hook_runner *)h, input, &j);
    return j.n > 0;
}

void hook_runner_init(struct hook_runner *r)
{
    *r = (struct hook_runner){.hooks = {.run = hook_runner_run, .has = hook_runner_has}};
}
