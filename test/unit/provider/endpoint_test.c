/* endpoint_test.c - a provider over real HTTP, against a server in the same process. */
#include "port/provider_conformance.h"

#include "net/http1.h"
#include "net/server.h"
#include "provider/endpoint.h"
#include "sys/loop.h"

#define EVENT(json) "data: " json "\n\n"

static const char good_stream[] =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" EVENT(
        "{\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"usage\":{\"input_tokens\":3}}}")
        EVENT("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
              "\"text\":\"\"}}") EVENT("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{"
                                       "\"type\":\"text_delta\",\"text\":\"Hello\"}}")
            EVENT("{\"type\":\"content_block_stop\",\"index\":0}")
                EVENT("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
                      "\"usage\":{\"output_tokens\":2}}") EVENT("{\"type\":\"message_stop\"}");

/* One question to a server; what is asked and what came of it. */
struct world {
    struct server *server;
    struct endpoint_config config;
    const struct credentials *credentials;
    uint64_t idle_ms;
    struct reply reply;
    struct strbuf payloads;
    struct err *error;
    bool may_not_send;
};

static void on_payload(void *self, const struct native_payload *p)
{
    struct world *w = self;

    strbuf_addf(&w->payloads, "%s %llu %" STR_FMT "|", payload_kind_name(p->kind),
                (unsigned long long)p->sequence, STR_ARG(str_slice(p->bytes, 0, 30)));
}

static struct err *before_send(void *self)
{
    struct world *w = self;

    strbuf_add_cstr(&w->payloads, "wait|");
    return w->may_not_send ? err_new(ERR_STORAGE, "the disk is full") : NULL;
}

static struct err *ask(void *arg)
{
    struct world *w = arg;
    AUTO(http_client) struct http_client *http = NULL;
    AUTO(provider) struct provider *provider = NULL;
    AUTO(message) struct message *m = message_new(ROLE_USER, S("u"));
    const struct message *messages[] = {m};
    struct model_request request = {
        .provider = S("p"), .model = S("m"), .messages = messages, .n_messages = 1, .stream = true};

    message_add_text(m, S("hi"));
    w->config.base_url = str_of(server_url(w->server));
    TRY(endpoint_provider_new(&w->config, &provider));
    http = http1_client_new(&(struct http1_options){0});
    w->error = provider_ask(provider, &request,
                            &(struct provider_call){.http = http,
                                                    .credentials = w->credentials,
                                                    .idle_ms = w->idle_ms,
                                                    .on_native_payload = on_payload,
                                                    .self = w,
                                                    .before_send = before_send,
                                                    .send_self = w},
                            &w->reply);
    return NULL;
}

static struct world world_of(server_fn fn, void *arg)
{
    static const struct dialect plain;
    struct world w = {
        .server = server_start(fn, arg),
        .config = {.id = S("p"),
                   .protocol = &protocol_anthropic_messages,
                   .dialect = &plain,
                   .auth = AUTH_X_API_KEY,
                   .key_hint = S("check THE_KEY")},
    };

    reply_init(&w.reply, (struct delta_sink){0});
    return w;
}

static void world_done(struct world *w)
{
    server_stop(w->server);
    reply_done(&w->reply);
    strbuf_done(&w->payloads);
    err_free(w->error);
}
DEFINE_AUTO_VAL(world, world_done)

static void run(struct world *w)
{
    assert_ok(loop_run_once(ask, w));
}

/* --- the end of an answer --- */

static struct err *ask_thrice(void *arg)
{
    struct world *w = arg;
    AUTO(http_client) struct http_client *http = NULL;
    AUTO(provider) struct provider *provider = NULL;
    struct model_request request = {.provider = S("p"), .model = S("m"), .stream = true};

    w->config.base_url = str_of(server_url(w->server));
    TRY(endpoint_provider_new(&w->config, &provider));
    http = http1_client_new(&(struct http1_options){0});
    for (int i = 0; i < 3; i++) {
        reply_clear(&w->reply);
        TRY(provider_ask(provider, &request, &(struct provider_call){.http = http}, &w->reply));
    }
    return NULL;
}

/* In chunks, and the last one comes in a packet of its own. */
static void send_and_end(struct server_connection *c, void *arg)
{
    struct str body =
        str_skip(str_of(good_stream), str_find(str_of(good_stream), S("\r\n\r\n")) + 4);
    AUTO(strbuf) struct strbuf chunk = {0};

    strbuf_addf(&chunk,
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n%zx\r\n%" STR_FMT "\r\n",
                body.n, STR_ARG(body));
    while (server_read_request(c))
        if (!server_send(c, strbuf_str(&chunk), 0) || !server_send(c, S("0\r\n\r\n"), 1))
            return;
}

TEST(a_connection_is_kept_though_the_answer_ends_before_its_body)
{
    AUTO(world) struct world w = world_of(send_and_end, NULL);

    assert_ok(loop_run_once(ask_thrice, &w));
    assert_int_equal(server_n_requests(w.server), 3);
    assert_int_equal(server_n_connections(w.server), 1);
}

TEST(an_answer_that_is_whole_needs_no_end_of_its_connection)
{
    struct server_script script = {.response = str_of(good_stream), .then = SERVER_STALLS};
    AUTO(world) struct world w = world_of(server_play, &script);

    run(&w);
    assert_ok(TAKE(w.error));
    assert_str(reply_part_text(&w.reply, 0), "Hello");
}

/* --- credentials that can be renewed --- */

struct renewing {
    struct credentials port;
    unsigned n_asked, n_refreshed;
};

static struct err *renew(void *self, struct str provider, bool refresh, struct secret *ret)
{
    struct renewing *r = self;

    r->n_asked++;
    r->n_refreshed += refresh;
    secret_set(ret, refresh ? S("new-key-123") : S("old-key-123"));
    return NULL;
}

TEST(an_answer_streams_in_and_every_payload_is_told)
{
    struct server_script script = {.response = str_of(good_stream), .step = 7};
    AUTO(world) struct world w = world_of(server_play, &script);
    AUTO_FREE char *request = NULL;

    run(&w);
    assert_ok(TAKE(w.error));
    assert_str(reply_part_text(&w.reply, 0), "Hello");
    assert_int_equal(w.reply.usage.output, 2);
    assert_true(w.reply.is_complete);
    request = server_take_request(w.server);
    assert_true(str_starts(str_of(request), S("POST /v1/messages HTTP/1.1\r\n")));
    assert_non_null(strstr(request, "anthropic-version: 2023-06-01"));
    assert_true(str_starts(strbuf_str(&w.payloads), S("wait|request 0 {\"model\":\"m\"")));
    assert_true(
        str_ends(strbuf_str(&w.payloads), S("stream_event 6 {\"type\":\"message_stop\"}|")));
}

TEST(nothing_leaves_when_the_last_wait_fails)
{
    struct server_script script = {.response = str_of(good_stream)};
    AUTO(world) struct world w = world_of(server_play, &script);

    w.may_not_send = true;
    run(&w);
    assert_true(err_is(w.error, ERR_STORAGE));
    assert_str(strbuf_str(&w.payloads), "wait|");
    assert_int_equal(server_n_connections(w.server), 0);
}

static struct err *no_key(void *self, struct str provider, bool refresh, struct secret *ret)
{
    return err_new(ERR_PROVIDER_AUTH, "there is no key");
}

TEST(a_request_is_made_before_the_last_wait)
{
    struct server_script script = {.response = str_of(good_stream)};
    AUTO(world) struct world w = world_of(server_play, &script);
    struct credentials keys = {no_key, NULL};

    w.credentials = &keys;
    run(&w);
    assert_true(err_is(w.error, ERR_PROVIDER_AUTH));
    assert_str(strbuf_str(&w.payloads), "");
}

TEST(a_broken_stream_is_an_error_that_keeps_what_had_come)
{
    struct server_script script = {.response = str_slice(str_of(good_stream), 0, 400)};
    AUTO(world) struct world w = world_of(server_play, &script);

    run(&w);
    assert_err(TAKE(w.error), ERR_NETWORK);
    assert_str(reply_part_text(&w.reply, 0), "Hello");
    assert_false(w.reply.is_complete);
}

TEST(a_silent_provider_times_out)
{
    struct server_script script = {.response = str_slice(str_of(good_stream), 0, 400),
                                   .then = SERVER_STALLS};
    AUTO(world) struct world w = world_of(server_play, &script);

    w.idle_ms = 50;
    run(&w);
    assert_err(TAKE(w.error), ERR_TIMEOUT);
    assert_str(reply_part_text(&w.reply, 0), "Hello");
}

TEST(a_refusal_is_classified_with_its_delay_and_what_to_do)
{
    struct server_script script = {
        .response =
            S("HTTP/1.1 429 Too Many\r\nretry-after: 7\r\ncontent-type: application/json\r\n"
              "connection: close\r\n\r\n{\"type\":\"error\",\"error\":{\"type\":"
              "\"rate_limit_error\",\"message\":\"slow down\"}}")};
    AUTO(world) struct world w = world_of(server_play, &script);
    AUTO_FREE char *text = NULL;

    run(&w);
    assert_true(err_is(w.error, ERR_PROVIDER_RATE_LIMIT));
    assert_int_equal(w.error->retry_after_ms, 7000);
    text = err_message(w.error);
    assert_string_equal(text, "p: HTTP 429: slow down");
}

/* A server that refuses, with this status and these headers. */
static void format_refusal(struct strbuf *out, int status, const char *headers)
{
    strbuf_addf(out,
                "HTTP/1.1 %d No\r\n%sconnection: close\r\n\r\n"
                "{\"error\":{\"type\":\"x\",\"message\":\"so it goes\"}}",
                status, headers);
}

TEST(a_refusal_names_the_id_of_the_request)
{
    static const struct {
        const char *header, *text;
    } cases[] = {
        {"request-id: req_123\r\n", "p: HTTP 500: so it goes (request-id req_123)"},
        {"x-request-id: 8f-2\r\n", "p: HTTP 500: so it goes (request-id 8f-2)"},
        {"x-amzn-RequestId: a-b\r\n", "p: HTTP 500: so it goes (request-id a-b)"},
        {"apim-request-id: z\r\n", "p: HTTP 500: so it goes (request-id z)"},
        {"request-id: two words\r\n", "p: HTTP 500: so it goes"},
        {"", "p: HTTP 500: so it goes"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(strbuf) struct strbuf response = {0};
        struct server_script script = {0};
        AUTO(world) struct world w = world_of(server_play, &script);
        AUTO_FREE char *text = NULL;

        format_refusal(&response, 500, cases[i].header);
        script.response = strbuf_str(&response);
        run(&w);
        text = err_message(w.error);
        assert_string_equal(text, cases[i].text);
    }
}

TEST(a_refusal_says_what_to_do_next)
{
    static const struct {
        int status;
        const char *hint;
    } cases[] = {
        {400, "--trace-llm prints the request"},
        {402, "add credit, or use another model with --model"},
        {404, "asked for \"m\"; check \"model\" and \"baseUrl\" of providers.p in the settings"},
        {413, "keel session compact"},
        {429, "try again later, or use another model with --model"},
        {500, "try again later, or use another model with --model"},
        {529, "try again later, or use another model with --model"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(strbuf) struct strbuf response = {0};
        struct server_script script = {0};
        AUTO(world) struct world w = world_of(server_play, &script);

        format_refusal(&response, cases[i].status, "");
        script.response = strbuf_str(&response);
        run(&w);
        if (!err_find_hint(w.error) || !strstr(err_find_hint(w.error), cases[i].hint))
            fail_msg("HTTP %d: %s", cases[i].status,
                     err_find_hint(w.error) ? err_find_hint(w.error) : "no hint");
    }
}

TEST(a_model_that_a_vendor_does_not_have_leads_to_its_list)
{
    struct server_script script = {
        .response = S("HTTP/1.1 404 No\r\nconnection: close\r\n\r\n"
                      "{\"error\":{\"type\":\"not_found_error\",\"message\":\"model: m\"}}")};
    AUTO(world) struct world w = world_of(server_play, &script);

    w.config.id = S("anthropic");
    run(&w);
    assert_string_equal(
        err_find_hint(w.error),
        "the request asked for \"m\"; keel models anthropic --refresh lists the models");
}

TEST(a_web_page_instead_of_an_answer_is_told_as_such)
{
    struct server_script script = {
        .response = S("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n"
                      "<!doctype html><title>Login</title>")};
    AUTO(world) struct world w = world_of(server_play, &script);

    run(&w);
    assert_true(err_is(w.error, ERR_MODEL_NOT_AVAILABLE)); /* another target may have it */
    assert_int_equal(err_exit_code(w.error), 6);
    assert_non_null(strstr(err_find_hint(w.error), "base URL"));
}

/* Refuses the first key it sees, and answers the next. */
static void refuse_old_key(struct server_connection *c, void *arg)
{
    unsigned *n_requests = arg;

    while (server_read_request(c)) {
        bool is_first = (*n_requests)++ == 0;

        if (is_first)
            server_send(c,
                        S("HTTP/1.1 401 Unauthorized\r\ncontent-length: 71\r\n\r\n"
                          "{\"error\":{\"type\":\"authentication_error\",\"message\":\"the key has "
                          "expired\"}}"),
                        0);
        else
            server_send(c, str_of(good_stream), 0);
        if (!is_first)
            return;
    }
}

TEST(a_refused_key_is_renewed_once)
{
    unsigned n_requests = 0;
    struct renewing keys = {.port = {renew, &keys}};
    AUTO(world) struct world w = world_of(refuse_old_key, &n_requests);
    AUTO_FREE char *request = NULL;

    w.credentials = &keys.port;
    run(&w);
    assert_ok(TAKE(w.error));
    assert_int_equal(n_requests, 2);
    assert_int_equal(keys.n_asked, 2);
    assert_int_equal(keys.n_refreshed, 1);
    request = server_take_request(w.server);
    assert_non_null(strstr(request, "x-api-key: new-key-123"));
}

static struct err *cannot_renew(void *self, struct str provider, bool refresh, struct secret *ret)
{
    if (refresh)
        return err_new(ERR_PROVIDER_AUTH, "no other key");
    secret_set(ret, S("the-only-key"));
    return NULL;
}

TEST(a_key_that_cannot_be_renewed_leaves_the_refusal_and_a_hint)
{
    struct server_script script = {
        .response = S("HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n"
                      "{\"error\":{\"type\":\"authentication_error\",\"message\":\"bad key\"}}")};
    AUTO(world) struct world w = world_of(server_play, &script);
    struct credentials keys = {cannot_renew, NULL};
    AUTO_FREE char *text = NULL;

    w.credentials = &keys;
    run(&w);
    assert_true(err_is(w.error, ERR_PROVIDER_AUTH));
    text = err_message(w.error);
    assert_string_equal(text, "p: HTTP 401: bad key");
    assert_string_equal(err_find_hint(w.error), "check THE_KEY");
    assert_int_equal(server_n_requests(w.server), 1);
    assert_null(strstr(text, "the-only-key"));
}

static const char conforming_stream[] =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" EVENT(
        "{\"type\":\"message_start\",\"message\":{}}") EVENT("{\"type\":\"content_block_start\","
                                                             "\"index\":0,\"content_block\":{"
                                                             "\"type\":\"text\",\"text\":\"\"}}")
        EVENT("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
              "\"text\":\"Hello, \"}}") EVENT("{\"type\":\"content_block_delta\",\"index\":0,"
                                              "\"delta\":{\"type\":\"text_delta\",\"text\":"
                                              "\"world.\"}}")
            EVENT("{\"type\":\"content_block_stop\",\"index\":0}")
                EVENT("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}")
                    EVENT("{\"type\":\"message_stop\"}");

static struct err *check_conformance(void *arg)
{
    struct world *w = arg;
    AUTO(http_client) struct http_client *http = NULL;
    AUTO(provider) struct provider *provider = NULL;

    w->config.base_url = str_of(server_url(w->server));
    TRY(endpoint_provider_new(&w->config, &provider));
    http = http1_client_new(&(struct http1_options){0});
    provider_conforms(provider, &(struct provider_call){.http = http});
    return NULL;
}

TEST(an_endpoint_conforms)
{
    struct server_script script = {.response = str_of(conforming_stream), .step = 11};
    AUTO(world) struct world w = world_of(server_play, &script);

    assert_ok(loop_run_once(check_conformance, &w));
}

/* --- what the server knows about a model --- */

struct asked_model {
    struct world *world;
    const char *model;
    int64_t window;
};

static struct err *ask_about(void *arg)
{
    struct asked_model *m = arg;
    AUTO(arena) struct arena a = {0};
    AUTO(http_client) struct http_client *http = NULL;
    AUTO(provider) struct provider *provider = NULL;
    struct model_info info = {0};

    m->world->config.base_url = str_of(server_url(m->world->server));
    TRY(endpoint_provider_new(&m->world->config, &provider));
    http = http1_client_new(&(struct http1_options){0});
    m->world->error = endpoint_ask_model(provider, &(struct provider_call){.http = http},
                                         str_of(m->model), &a, &info);
    m->window = info.context_window;
    return NULL;
}

static int64_t ask_window(struct world *w, const struct protocol *protocol, const char *model)
{
    struct asked_model m = {.world = w, .model = model};

    w->config.protocol = protocol;
    w->config.models_path = S("/models");
    assert_ok(loop_run_once(ask_about, &m));
    return m.window;
}

#define OK_HEAD "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"
#define MODEL_LIST OK_HEAD "{\"data\":[{\"id\":\"a\",\"max_model_len\":4096},{\"id\":\"b\"}]}"

TEST(the_window_of_a_model_is_asked_of_the_server_that_has_it)
{
    struct server_script listing = {.response = S(MODEL_LIST)};
    struct server_script showing = {
        .response = S(OK_HEAD "{\"model_info\":{\"qwen3.context_length\":40960}}")};
    AUTO(world) struct world list = world_of(server_play, &listing);
    AUTO(world) struct world show = world_of(server_play, &showing);
    AUTO_FREE char *request = NULL;

    assert_int_equal(ask_window(&list, &protocol_openai_chat, "a"), 4096);
    assert_null(list.error);
    assert_int_equal(ask_window(&show, &protocol_ollama, "qwen3"), 40960);
    assert_null(show.error);
    request = server_take_request(show.server);
    assert_non_null(strstr(request, "POST /api/show"));
    assert_non_null(strstr(request, "{\"model\":\"qwen3\"}"));
}

/* One answer a connection, in this order. */
struct lists {
    const char *answers[2];
    _Atomic unsigned n;
};

static void answer_in_order(struct server_connection *c, void *arg)
{
    struct lists *l = arg;
    unsigned n = l->n++;

    if (server_read_request(c))
        server_send(c, str_of(l->answers[n % 2]), 0);
}

TEST(the_list_that_tells_windows_is_asked_before_the_one_that_tells_names)
{
    struct lists rich = {
        {OK_HEAD "{\"data\":[{\"id\":\"a\",\"loaded_context_length\":8192},{\"id\":\"b\"}]}"}};
    struct lists old = {{"HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n", MODEL_LIST}};
    AUTO(world) struct world there = world_of(answer_in_order, &rich);
    AUTO(world) struct world gone = world_of(answer_in_order, &old);
    AUTO_FREE char *first = NULL, *second = NULL;

    there.config.about_path = gone.config.about_path = S("/api/v0/models");
    assert_int_equal(ask_window(&there, &protocol_openai_chat, "a"), 8192);
    first = server_take_request(there.server);
    assert_non_null(strstr(first, "GET /api/v0/models HTTP"));
    assert_int_equal(ask_window(&gone, &protocol_openai_chat, "a"), 4096);
    second = server_take_request(gone.server);
    assert_non_null(strstr(second, "GET /models HTTP"));
}

TEST(a_server_of_one_model_answers_with_it_whatever_it_is_called)
{
    struct server_script listing = {
        .response =
            S(OK_HEAD "{\"data\":[{\"id\":\"/models/qwen.gguf\",\"meta\":{\"n_ctx\":32768}}]}")};
    AUTO(world) struct world any = world_of(server_play, &listing);
    AUTO(world) struct world strict = world_of(server_play, &listing);

    any.config.has_any_name = true;
    assert_int_equal(ask_window(&any, &protocol_openai_chat, "qwen"), 32768);
    assert_null(any.error);
    assert_int_equal(ask_window(&strict, &protocol_openai_chat, "qwen"), 0);
    assert_true(err_is(strict.error, ERR_MODEL_NOT_AVAILABLE));
}

TEST(a_model_that_the_server_does_not_list_is_not_available)
{
    struct server_script listing = {.response = S(MODEL_LIST)};
    AUTO(world) struct world w = world_of(server_play, &listing);

    assert_int_equal(ask_window(&w, &protocol_openai_chat, "c"), 0);
    assert_true(err_is(w.error, ERR_MODEL_NOT_AVAILABLE));
}

TEST(a_base_url_that_is_none_is_refused_at_once)
{
    static const char *const bad[] = {"", "localhost:8080", "ftp://h/x", "http://", "file:///etc"};
    static const struct dialect plain;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct provider *p = NULL;
        struct endpoint_config c = {.id = S("p"),
                                    .protocol = &protocol_anthropic_messages,
                                    .dialect = &plain,
                                    .base_url = str_of(bad[i])};
        assert_err(endpoint_provider_new(&c, &p), ERR_CONFIGURATION);
    }
}

TEST(a_bad_base_url_names_the_variable_and_the_setting)
{
    static const struct dialect plain;
    struct endpoint_config c = {.id = S("work"),
                                .protocol = &protocol_anthropic_messages,
                                .dialect = &plain,
                                .words = vendor_find(S("anthropic")),
                                .base_url = S("ftp://h/x")};
    struct provider *p = NULL;
    AUTO(err) struct err *e = endpoint_provider_new(&c, &p);
    AUTO(err) struct err *other = NULL;
    AUTO_FREE char *text = err_message(e);

    assert_string_equal(
        text, "work: bad base URL \"ftp://h/x\": only http:// and https:// URLs are supported");
    assert_string_equal(err_find_hint(e), "correct ANTHROPIC_BASE_URL or \"baseUrl\" of "
                                          "providers.work in the settings");
    c.base_url = S("https://user:pass@h/");
    other = endpoint_provider_new(&c, &p);
    assert_non_null(strstr(err_find_hint(other), "remove it from ANTHROPIC_BASE_URL or"));
}

RUN_TESTS(UNIT(an_answer_streams_in_and_every_payload_is_told),
          UNIT(a_connection_is_kept_though_the_answer_ends_before_its_body),
          UNIT(an_answer_that_is_whole_needs_no_end_of_its_connection),
          UNIT(nothing_leaves_when_the_last_wait_fails),
          UNIT(a_request_is_made_before_the_last_wait),
          UNIT(a_broken_stream_is_an_error_that_keeps_what_had_come),
          UNIT(a_silent_provider_times_out),
          UNIT(a_refusal_is_classified_with_its_delay_and_what_to_do),
          UNIT(a_refusal_names_the_id_of_the_request), UNIT(a_refusal_says_what_to_do_next),
          UNIT(a_model_that_a_vendor_does_not_have_leads_to_its_list),
          UNIT(a_web_page_instead_of_an_answer_is_told_as_such),
          UNIT(a_refused_key_is_renewed_once),
          UNIT(a_key_that_cannot_be_renewed_leaves_the_refusal_and_a_hint),
          UNIT(the_window_of_a_model_is_asked_of_the_server_that_has_it),
          UNIT(the_list_that_tells_windows_is_asked_before_the_one_that_tells_names),
          UNIT(a_server_of_one_model_answers_with_it_whatever_it_is_called),
          UNIT(a_model_that_the_server_does_not_list_is_not_available), UNIT(an_endpoint_conforms),
          UNIT(a_base_url_that_is_none_is_refused_at_once),
          UNIT(a_bad_base_url_names_the_variable_and_the_setting))
