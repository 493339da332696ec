/* http_test.c - hooks that are services, on a real server of the loopback. */
#include "hook/executors.h"
#include "net/http1.h"
#include "net/server.h"
#include "sys/loop.h"
#include "test.h"

struct trial {
    struct server *server;
    struct http_hooks executor;
    struct http_source source;
    struct http_client *client;
    struct arena arena;
    struct json *definition;
    struct hook_job job;
    struct hook_reply reply;
    struct err *error;
    struct server_script script;
};

static const char *const environment[] = {"HOOK_SECRET=s3cret", NULL};

static struct err *get_client(void *self, struct http_client **ret_client)
{
    *ret_client = ((struct trial *)self)->client;
    return NULL;
}

static void trial_init(struct trial *t, struct str response, enum server_then then)
{
    *t = (struct trial){.script = {.response = response, .then = then}};
    t->server = server_start(server_play, &t->script);
    t->source = (struct http_source){.get = get_client, .self = t};
    http_hooks_init(&t->executor, &t->source, environment);
    t->definition = json_new(&t->arena, JSON_OBJECT);
    json_set_str(&t->arena, t->definition, "url",
                 arena_format(&t->arena, "%s/hook", server_url(t->server)));
    t->job = (struct hook_job){
        .definition = t->definition, .input = S("{\"tool_name\":\"Bash\"}"), .timeout_ms = 60000};
    hook_reply_init(&t->reply);
}

static void trial_done(struct trial *t)
{
    server_stop(t->server);
    arena_done(&t->arena);
    hook_reply_done(&t->reply);
}
DEFINE_AUTO_VAL(trial, trial_done)

static struct err *run_in_task(void *arg)
{
    struct trial *t = arg;
    static const char *const nothing[] = {NULL};
    struct http1_options options = {.ca.environment = nothing};

    t->client = http1_client_new(&options);
    t->error = t->executor.executor.run(&t->executor.executor, &t->job, &t->reply);
    http_client_free(TAKE(t->client));
    return NULL;
}

static void run_it(struct trial *t)
{
    assert_ok(loop_run_once(run_in_task, t));
}

#define RESPONSE(status, body_length, body)                                                        \
    S("HTTP/1.1 " status "\r\nContent-Length: " body_length "\r\n\r\n" body)

TEST(the_input_is_posted_and_the_answer_is_the_body)
{
    AUTO(trial) struct trial t;
    AUTO_FREE char *request = NULL;

    trial_init(&t, RESPONSE("200 OK", "2", "{}"), SERVER_CLOSES);
    run_it(&t);
    assert_ok(t.error);
    assert_int_equal(t.reply.exit_code, 0);
    assert_str(strbuf_str(&t.reply.out), "{}");
    request = server_take_request(t.server);
    assert_non_null(strstr(request, "POST /hook HTTP/1.1\r\n"));
    assert_non_null(strcasestr(request, "\r\nContent-Type: application/json\r\n"));
    assert_non_null(strstr(request, "\r\n\r\n{\"tool_name\":\"Bash\"}"));
}

TEST(method_and_headers_are_the_definition_s)
{
    AUTO(trial) struct trial t;
    AUTO_FREE char *request = NULL;
    struct json *headers;

    trial_init(&t, RESPONSE("204 No Content", "0", ""), SERVER_CLOSES);
    headers = json_new(&t.arena, JSON_OBJECT);
    json_set_str(&t.arena, headers, "Authorization", S("$ENV:HOOK_SECRET"));
    json_set_str(&t.arena, headers, "content-type", S("text/json"));
    json_set(&t.arena, t.definition, "headers", headers);
    json_set_str(&t.arena, t.definition, "method", S("PUT"));
    run_it(&t);
    assert_ok(t.error);
    assert_int_equal(t.reply.exit_code, 0);
    request = server_take_request(t.server);
    assert_non_null(strstr(request, "PUT /hook HTTP/1.1\r\n"));
    assert_non_null(strcasestr(request, "\r\nAuthorization: s3cret\r\n"));
    assert_non_null(strcasestr(request, "\r\nContent-Type: text/json\r\n"));
    assert_null(strstr(request, "application/json"));
}

TEST(a_403_blocks_with_the_body_as_the_reason)
{
    AUTO(trial) struct trial t;

    trial_init(&t, RESPONSE("403 Forbidden", "11", "not on main"), SERVER_CLOSES);
    run_it(&t);
    assert_ok(t.error);
    assert_int_equal(t.reply.exit_code, 2);
    assert_str(strbuf_str(&t.reply.err), "not on main");
    assert_str(strbuf_str(&t.reply.out), "");
}

TEST(any_other_status_is_a_failure)
{
    AUTO(trial) struct trial t;
    AUTO(trial) struct trial moved;

    trial_init(&t, RESPONSE("500 Oops", "5", "broke"), SERVER_CLOSES);
    run_it(&t);
    assert_ok(t.error);
    assert_int_equal(t.reply.exit_code, 1);
    assert_str(strbuf_str(&t.reply.err), "HTTP 500: broke");
    trial_init(&moved, S("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"),
               SERVER_CLOSES);
    run_it(&moved);
    assert_ok(moved.error);
    assert_str(strbuf_str(&moved.reply.err), "HTTP 302");
    assert_int_equal(server_n_requests(moved.server), 1);
}

TEST(a_server_that_stalls_is_given_up_in_time)
{
    AUTO(trial) struct trial t;

    trial_init(&t, S("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), SERVER_STALLS);
    t.job.timeout_ms = 200;
    run_it(&t);
    assert_ok(t.error);
    assert_true(t.reply.timed_out);
}

TEST(a_server_that_is_not_there_is_an_error)
{
    AUTO(trial) struct trial t;

    trial_init(&t, S(""), SERVER_CLOSES);
    server_stop(TAKE(t.server));
    run_it(&t);
    assert_err(t.error, ERR_NETWORK);
}

TEST(a_body_without_end_is_an_error)
{
    AUTO(strbuf) struct strbuf response = {0}; /* longer than the server sends it */
    AUTO(trial) struct trial t;

    strbuf_addf(&response, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
                HOOK_MAX_OUTPUT + 100000);
    while (response.n < HOOK_MAX_OUTPUT + 200000)
        strbuf_add_cstr(&response, "a lot of text ");
    trial_init(&t, strbuf_str(&response), SERVER_CLOSES);
    run_it(&t);
    assert_err(t.error, ERR_BAD_RESPONSE);
}

TEST(a_variable_that_is_not_set_keeps_the_request_from_being_sent)
{
    AUTO(trial) struct trial t;
    struct json *headers;

    trial_init(&t, RESPONSE("200 OK", "2", "{}"), SERVER_CLOSES);
    headers = json_new(&t.arena, JSON_OBJECT);
    json_set_str(&t.arena, headers, "X", S("$ENV:NOT_THERE"));
    json_set(&t.arena, t.definition, "headers", headers);
    run_it(&t);
    assert_err(t.error, ERR_CONFIGURATION);
    assert_int_equal(server_n_requests(t.server), 0);
}

RUN_TESTS(UNIT(the_input_is_posted_and_the_answer_is_the_body),
          UNIT(method_and_headers_are_the_definition_s),
          UNIT(a_403_blocks_with_the_body_as_the_reason), UNIT(any_other_status_is_a_failure),
          UNIT(a_server_that_stalls_is_given_up_in_time),
          UNIT(a_server_that_is_not_there_is_an_error), UNIT(a_body_without_end_is_an_error),
          UNIT(a_variable_that_is_not_set_keeps_the_request_from_being_sent))
