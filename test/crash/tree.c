/* tree.c STORE ID DIRECTORY - a session whose model asks a helper, which asks another one: for the
 * tests that kill it. Begins the session, or continues it, and prints the answer.
 *
 * The model knows by what it is told what it has to say. Each helper leaves a line in DIRECTORY, so
 * that work which is done twice shows. */
#include "port/runner.h"
#include "provider/script.h"
#include "session/session.h"
#include "store/open.h"
#include "sys/loop.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct scene {
    const char *id, *directory;
    struct store *store;
    struct target target;
    struct run_plan plan;
    struct event_subscriber printer, *subscribers[1];
};

/* --- the model --- */

static bool has_result(const struct model_request *q)
{
    for (size_t i = 0; i < q->n_messages; i++)
        if (q->messages[i]->role == ROLE_TOOL)
            return true;
    return false;
}

/* Who asks: the session itself, its helper "1", or the helper of that, "2". */
static const char *find_script(const struct model_request *q)
{
    bool is_done = has_result(q);

    if (str_is(q->system, "2"))
        return is_done ? "turns: [{text: Two.}]"
                       : "turns: [{tool: Mark, id: b, args: {line: two}}]";
    if (str_is(q->system, "1"))
        return is_done ? "turns: [{text: One.}]"
                       : "turns: [[{tool: Mark, id: a, args: {line: one}}, {tool: Delegate, id: d, "
                         "args: {to: '2'}}]]";
    return is_done ? "turns: [{text: The end.}]"
                   : "turns: [{tool: Delegate, id: c, args: {to: '1'}}]";
}

static struct err *model_ask(const struct provider *p, const struct model_request *q,
                             const struct provider_call *call, struct reply *reply)
{
    AUTO(provider) struct provider *script = NULL;

    TRY(script_provider_new(p->id, str_of(find_script(q)), &script));
    return provider_ask(script, q, call, reply);
}

static void model_free(struct provider *p)
{
}

static const struct provider_ops model_ops = {.ask = model_ask, .free = model_free};
static const struct provider model = {
    .ops = &model_ops, .id = {"model", 5}, .protocol = {"script", 6}};

/* --- its tools --- */

static struct err *mark_run(const struct tool *t, struct tool_context *c, const struct json *args,
                            struct tool_result *r)
{
    const struct scene *s = t->self;
    struct str line = json_get_text(args, "line");
    char path[4096];
    int fd;

    snprintf(path, sizeof path, "%s/marks", s->directory);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || dprintf(fd, "%.*s\n", (int)line.n, line.p) < 0)
        abort();
    close(fd);
    tool_result_addf(r, "marked");
    return NULL;
}

static struct err *delegate_run(const struct tool *t, struct tool_context *c,
                                const struct json *args, struct tool_result *r)
{
    AUTO(run_result) struct run_result result = {0};
    struct child_spec spec = {.agent = S("Helper"),
                              .system = json_get_text(args, "to"),
                              .prompt = S("Help me."),
                              .tools = {.allows_all = true}};

    TRY(c->runner->run(c->runner->self, &spec, &result));
    strbuf_add(&r->text, result.text);
    r->is_error = result.outcome != RUN_DONE;
    return NULL;
}

#define SCHEMA(name) "{\"type\":\"object\",\"properties\":{\"" name "\":{\"type\":\"string\"}}}"

static struct tool mark = {.name = "Mark",
                           .description = "leaves a line",
                           .schema = SCHEMA("line"),
                           .risk = RISK_EXECUTE,
                           .run = mark_run};
static struct tool delegate = {.name = "Delegate",
                               .description = "asks a helper",
                               .schema = SCHEMA("to"),
                               .risk = RISK_INSPECT,
                               .needs = NEEDS_RUNNER,
                               .delegates = true,
                               .begins_late = true,
                               .run = delegate_run};

static struct err *allow(struct gate *g, const struct gate_call *call, struct arena *a,
                         struct verdict *v)
{
    struct tool_entry *entry = tool_set_find(call->tools, call->call->name);

    if (!entry)
        return err_new(ERR_INTERNAL, "the model calls what is not there");
    *v = (struct verdict){.kind = VERDICT_ALLOW, .entry = entry, .rule = S("*")};
    return json_parse(a, call->call->args, 0, (struct json **)&v->args);
}

/* --- the run --- */

static const struct run_plan *get_plan(void *self)
{
    return &((struct scene *)self)->plan;
}

static void print_notice(void *self, const struct event *e)
{
    if (e->type == EVENT_NOTICE && severity_is_for_person(e->body.notice.severity))
        fprintf(stderr, "%.*s\n", (int)e->body.notice.text.n, e->body.notice.text.p);
}

static struct err *open_session(struct scene *s, struct session *ret_session)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary found;
    bool exists;

    s->printer.on_event = print_notice;
    s->subscribers[0] = &s->printer;
    TRY(store_find(s->store, str_of(s->id), &a, &found, &exists));
    return session_open(ret_session,
                        &(struct session_options){.store = s->store,
                                                  .start = exists ? SESSION_RESUME : SESSION_NEW,
                                                  .id = str_of(s->id),
                                                  .cwd = S("/"),
                                                  .subscribers = s->subscribers,
                                                  .n_subscribers = 1});
}

static void run_session(struct scene *s, struct session *session, struct run_result *ret_result)
{
    struct gate gate = {allow};
    AUTO(message) struct message *input = NULL;

    if (!session->loaded.prompt && !session->conversation.history.n_messages) {
        input = message_new(ROLE_USER, S("input"));
        message_add_text(input, S("Go."));
    }
    session_run(session, &(struct run_input){.prompt = input},
                &(struct run_kit){
                    .plan = get_plan, .plan_self = s, .gate = &gate, .max_rounds = RUN_UNLIMITED},
                ret_result);
}

static struct err *print_answer(const struct session *session)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct str reason;

    if (!session_answer(session, &text, &reason))
        return err_new(ERR_INTERNAL, "there is no answer");
    printf("%s\n%zu open, %llu rounds\n", strbuf_cstr(&text), session->n_open_children,
           (unsigned long long)session->budget.spent.n_rounds);
    return NULL;
}

static struct err *play(void *arg)
{
    struct scene *s = arg;
    AUTO(session) struct session session = {0};
    AUTO(run_result) struct run_result result = {0};

    TRY(open_session(s, &session));
    if (session_can_resume(&session) || !session.conversation.history.n_messages)
        run_session(s, &session, &result);
    TRY(print_answer(&session));
    return session_shutdown(&session, "other");
}

static struct err *play_in(struct scene *s, const char *store)
{
    AUTO(tool_registry) struct tool_registry *tools = tool_registry_new();
    struct loop *loop = loop_new(NULL);
    struct err *e;

    mark.self = s;
    TRY(tool_registry_add(tools, &mark, NULL));
    TRY(tool_registry_add(tools, &delegate, NULL));
    TRY(store_from_url(store, s->directory, 0, &s->store));
    s->target = (struct target){.provider = &model, .model = S("model")};
    s->plan = (struct run_plan){.targets = &s->target,
                                .n_targets = 1,
                                .tools = tools,
                                .filter = {.allows_all = true},
                                .stream = true};
    e = loop_run(loop, play, s);
    store_free(s->store);
    loop_free(loop);
    return e;
}

int main(int argc, char **argv)
{
    struct scene s = {0};
    AUTO(err) struct err *e = NULL;
    AUTO_FREE char *text = NULL;

    if (argc != 4)
        return 2;
    s.id = argv[2];
    s.directory = argv[3];
    e = play_in(&s, argv[1]);
    if (!e)
        return 0;
    text = err_message(e);
    fprintf(stderr, "%s\n", text);
    return 1;
}
