/* live_world.h - a live session for tests, with a model over real HTTP that says what the test
 * tells it to, and a face that writes down what it hears.
 *
 *     world_init(&w, settings, steps);     the model answers one request after another with these
 *     run_live(&w, fn);                    fn runs in a task while the session is open
 *
 * What happens wakes the test's task: wait_for() and the like return when it has happened. */
#ifndef KEEL_TEST_UNIT_SDK_LIVE_WORLD_H
#define KEEL_TEST_UNIT_SDK_LIVE_WORLD_H

#include "sdk/live_session.h"

#include "files.h"
#include "net/server.h"
#include "sys/loop.h"
#include "sys/tasks.h"

#include <poll.h>
#include <stdatomic.h>

#define MODEL "claude-sonnet-4-5"
#define OTHER_MODEL "claude-haiku-4-5"

/* --- the model --- */

enum how {
    AT_ONCE,
    HELD,       /* after its text, until the test lets it go on */
    SILENT,     /* the request is read, and never answered */
    OVERLOADED, /* a status that is tried again */
};

struct answer_step {
    enum how how;
    const char *text;
    const char *tool, *args; /* a call after the text; NULL: none */
};

struct world {
    struct temp_dir dir;
    struct arena arena;
    struct host *host;
    struct project *project;
    struct live_session live;
    struct live_options options;
    struct question_face questions;
    /* the model, whose threads use these */
    struct server *server;
    struct loop *loop;
    const struct answer_step *steps; /* one for each request; the last one has no text */
    atomic_uint next_step;
    int release[2];
    /* what has happened, as the test's task waits for it */
    struct event_subscriber subscriber;
    unsigned n_events[EVENT_N_TYPES], n_awaited[EVENT_N_TYPES];
    unsigned n_requests, n_requests_awaited; /* that have come in, hooks too */
    struct strbuf asked;                     /* bodies of the model's requests */
    struct strbuf log;                       /* how runs ended, and what happened to questions */
    char question[32];                       /* the open one; empty: none */
    struct waker *waiting;
};

#define DATA(json) "data: " json "\n\n"

static inline void add_text_block(struct strbuf *out, const char *text)
{
    strbuf_addf(out,
                DATA("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
                     "\"text\",\"text\":\"\"}}")
                    DATA("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                         "\"text_delta\",\"text\":\"%s\"}}"),
                text);
}

static inline void add_call_block(struct strbuf *out, const char *tool, const char *args)
{
    AUTO(strbuf) struct strbuf quoted = {0};

    json_write_string(&quoted, str_of(args));
    strbuf_addf(out,
                DATA("{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":"
                     "\"tool_use\",\"id\":\"call_%s\",\"name\":\"%s\",\"input\":{}}}")
                    DATA("{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":"
                         "\"input_json_delta\",\"partial_json\":%s}}")
                        DATA("{\"type\":\"content_block_stop\",\"index\":1}"),
                tool, tool, strbuf_cstr(&quoted));
}

/* False: keel has hung up instead. */
static inline bool wait_for_release(struct world *w, struct server_connection *c)
{
    struct pollfd fds[] = {{.fd = w->release[0], .events = POLLIN},
                           {.fd = server_fd(c), .events = POLLIN}};
    char byte;

    poll(fds, 2, -1);
    return (fds[0].revents & POLLIN) && read(w->release[0], &byte, 1) == 1;
}

static inline void send_answer(struct world *w, struct server_connection *c,
                               const struct answer_step *s)
{
    AUTO(strbuf) struct strbuf head = {0}, rest = {0};

    strbuf_add_cstr(&head,
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                    "connection: close\r\n\r\n" DATA(
                        "{\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"model\":\"m\","
                        "\"role\":\"assistant\",\"usage\":{\"input_tokens\":3}}}"));
    add_text_block(&head, s->text);
    strbuf_add_cstr(&rest, DATA("{\"type\":\"content_block_stop\",\"index\":0}"));
    if (s->tool)
        add_call_block(&rest, s->tool, s->args);
    strbuf_addf(&rest,
                DATA("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"%s\"},"
                     "\"usage\":{\"output_tokens\":2}}") DATA("{\"type\":\"message_stop\"}"),
                s->tool ? "tool_use" : "end_turn");
    if (!server_send(c, strbuf_str(&head), 0))
        return;
    if (s->how != HELD || wait_for_release(w, c))
        server_send(c, strbuf_str(&rest), 0);
}

static inline void wake_test(struct world *w)
{
    if (w->waiting)
        waker_wake(w->waiting);
}

struct arrival {
    struct world *world;
    char *body; /* NULL: of a hook */
};

static inline void on_arrival(void *arg)
{
    struct arrival *a = arg;

    if (a->body)
        strbuf_add_cstr(&a->world->asked, a->body);
    a->world->n_requests++;
    wake_test(a->world);
    free(a->body);
    free(a);
}

static inline void serve(struct server_connection *c, void *arg)
{
    static const char overloaded[] =
        "HTTP/1.1 529 Overloaded\r\ncontent-type: application/json\r\nconnection: close\r\n"
        "content-length: 72\r\n\r\n"
        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"try later\"}}";
    struct world *w = arg;
    struct arrival *arrival = calloc(1, sizeof *arrival);
    const struct answer_step *step = NULL;
    char *request;

    if (!server_read_request(c)) {
        free(arrival);
        return;
    }
    request = server_copy_request(w->server);
    if (strstr(request, "/v1/messages")) {
        step = &w->steps[w->next_step++];
        arrival->body = strdup(strstr(request, "\r\n\r\n"));
    }
    free(request);
    arrival->world = w;
    loop_post(w->loop, on_arrival, arrival);
    if (!step || !step->text || step->how == SILENT)
        server_wait_for_close(c);
    else if (step->how == OVERLOADED)
        server_send(c, str_of(overloaded), 0);
    else
        send_answer(w, c, step);
}

/* --- the face --- */

static inline void on_event(void *self, const struct event *e)
{
    struct world *w = self;

    w->n_events[e->type]++;
    wake_test(w);
}

static inline void on_end(void *self, struct run_result *r)
{
    struct world *w = self;

    strbuf_addf(&w->log, "%s%s%" STR_FMT "\n", run_outcome_name(r->outcome), r->text.n ? ": " : "",
                STR_ARG(r->text));
    wake_test(w);
}

static inline void show_question(void *self, const struct open_question *q)
{
    struct world *w = self;

    snprintf(w->question, sizeof w->question, "%" STR_FMT, STR_ARG(q->id));
    strbuf_addf(&w->log, "asked about %" STR_FMT "\n", STR_ARG(q->ask->tool));
    wake_test(w);
}

static inline void withdraw_question(void *self, const struct open_question *q)
{
    struct world *w = self;

    w->question[0] = '\0';
    strbuf_add_cstr(&w->log, "withdrawn\n");
}

static inline void read_word(void *self, const struct open_question *q, const struct json *said,
                             struct answer *ret_answer)
{
    bool is_yes = str_is(json_str(said), "yes");

    *ret_answer = (struct answer){.kind = is_yes ? ANSWER_ONCE : ANSWER_NO};
}

/* --- the world --- */

static inline void world_done(struct world *w)
{
    server_stop(w->server);
    close(w->release[0]);
    close(w->release[1]);
    strbuf_done(&w->asked);
    strbuf_done(&w->log);
    project_unref(w->project);
    host_unref(w->host);
    arena_done(&w->arena);
    temp_dir_done(&w->dir);
}
DEFINE_AUTO_VAL(world, world_done)

/* "URL" in the settings stands for the server's. */
static inline void put_settings(struct world *w, const char *settings)
{
    const char *at = strstr(settings, "URL");
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add(&text, str_make(settings, at ? (size_t)(at - settings) : strlen(settings)));
    if (at)
        strbuf_addf(&text, "%s%s", server_url(w->server), at + 3);
    put(&w->dir, "home/.keel/settings.json", strbuf_cstr(&text));
}

/* In the test's own memory: threads know where it is. */
static inline void world_init(struct world *w, const char *settings,
                              const struct answer_step *steps)
{
    const char **environment;
    struct project_options options;

    *w = (struct world){.dir = temp_dir_make(), .steps = steps};
    assert_int_equal(pipe(w->release), 0);
    w->server = server_start(serve, w);
    put_settings(w, settings);
    put(&w->dir, "work/", "");
    environment = ARENA_ARRAY(&w->arena, 5, const char *);
    environment[0] = arena_format(&w->arena, "HOME=%s/home", w->dir.path).p;
    environment[1] = "PATH=/usr/bin:/bin";
    environment[2] = "ANTHROPIC_API_KEY=key";
    environment[3] = arena_format(&w->arena, "ANTHROPIC_BASE_URL=%s", server_url(w->server)).p;
    w->host = host_new(&(struct host_options){.environment = environment});
    options = (struct project_options){.cwd = arena_format(&w->arena, "%s/work", w->dir.path).p};
    assert_ok(project_open(w->host, &options, &w->project));
    w->subscriber = (struct event_subscriber){.on_event = on_event, .self = w};
    w->questions = (struct question_face){
        .show = show_question, .withdraw = withdraw_question, .read = read_word, .self = w};
    w->options = (struct live_options){.agent.subscriber = &w->subscriber,
                                       .face = {.on_end = on_end, .self = w},
                                       .questions = &w->questions};
}

/* In a task. */
static inline struct err *open_live(struct world *w)
{
    AUTO(model_choice) struct model_choice *model = NULL;

    w->loop = task_loop();
    TRY(project_choose_model(w->project, "anthropic/" MODEL, &model));
    w->options.agent.model = model;
    return live_session_open(&w->live, w->project, &w->options);
}

static inline struct err *submit(struct world *w, const char *text)
{
    struct message *m = message_new(ROLE_USER, S(""));

    message_add_text(m, str_of(text));
    return live_session_submit(&w->live, m, (struct str){0});
}

static inline void release(struct world *w)
{
    (void)!write(w->release[1], "x", 1);
}

static inline struct err *park(struct world *w)
{
    struct waker waker;
    struct err *e;

    waker_init(&waker);
    w->waiting = &waker;
    e = waker_park(&waker);
    w->waiting = NULL;
    return e;
}

/* Until one more has come than was waited for. */
static inline struct err *wait_for(struct world *w, enum event_type type)
{
    while (w->n_events[type] == w->n_awaited[type])
        TRY(park(w));
    w->n_awaited[type]++;
    return NULL;
}

static inline struct err *wait_for_request(struct world *w)
{
    while (w->n_requests == w->n_requests_awaited)
        TRY(park(w));
    w->n_requests_awaited++;
    return NULL;
}

static inline struct err *wait_for_log(struct world *w, const char *text)
{
    while (!strstr(strbuf_cstr(&w->log), text))
        TRY(park(w));
    return NULL;
}

#define EXPECT_LOG(w, wanted)                                                                      \
    do {                                                                                           \
        if (!str_is(strbuf_str(&(w)->log), wanted))                                                \
            return err_new(ERR_INTERNAL, "%s:%d: wanted \"%s\", got \"%s\"", __FILE__, __LINE__,   \
                           wanted, strbuf_cstr(&(w)->log));                                        \
    } while (0)

/* No thread of the model uses the loop when it ends. */
static inline void close_live(struct world *w)
{
    live_session_done(&w->live);
    server_stop(w->server);
    w->server = NULL;
}

/* Runs `fn` while the session is open, and closes it. */
struct live_test {
    struct world *world;
    struct err *(*fn)(struct world *w);
};

static inline struct err *live_test_task(void *arg)
{
    struct live_test *t = arg;
    struct err *e = open_live(t->world);

    if (!e)
        e = t->fn(t->world);
    close_live(t->world);
    return e;
}

static inline struct err *run_live(struct world *w, struct err *(*fn)(struct world *w))
{
    return loop_run_once(live_test_task, &(struct live_test){w, fn});
}

static inline void run_world(const char *settings, const struct answer_step *steps,
                             struct err *(*fn)(struct world *w))
{
    AUTO(world) struct world w;

    world_init(&w, settings, steps);
    assert_ok(run_live(&w, fn));
}

#endif
