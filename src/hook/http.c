/* http.c - hooks that are web services. */
#include "base/utf8.h"
#include "hook/executors.h"

#define OK_FROM 200
#define OK_TO 299
#define FORBIDDEN 403
#define MAX_BODY_SHOWN 300

static struct err *add_headers(const struct http_hooks *x, const struct json *headers,
                               struct arena *a, struct http_headers *list)
{
    json_each (header, headers) {
        struct str value;

        TRY(hook_resolve(json_str(header), x->environment, &value));
        http_headers_add(a, list, header->key, value);
    }
    if (!http_headers_get(list, "Content-Type").n)
        http_headers_add(a, list, S("Content-Type"), S("application/json"));
    return NULL;
}

static void read_response(int status, const struct strbuf *body, struct hook_reply *reply)
{
    if (status >= OK_FROM && status <= OK_TO) {
        strbuf_add(&reply->out, strbuf_str(body));
    } else if (status == FORBIDDEN) {
        reply->exit_code = 2;
        strbuf_add(&reply->err, strbuf_str(body));
    } else {
        struct str said = utf8_truncate(str_trim(strbuf_str(body)), MAX_BODY_SHOWN);

        reply->exit_code = 1;
        strbuf_addf(&reply->err, "HTTP %d%s%" STR_FMT, status, said.n ? ": " : "", STR_ARG(said));
    }
}

static struct err *ask_service(const struct http_hooks *x, const struct hook_job *job,
                               struct hook_reply *reply)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf body;
    struct str method = json_get_text(job->definition, "method");
    struct http_request request = {.method = method.n ? arena_cstr(&a, method) : "POST",
                                   .url = json_get_text(job->definition, "url"),
                                   .body = job->input,
                                   .max_body_bytes = HOOK_MAX_OUTPUT};
    struct http_response response;
    struct http_client *client;

    strbuf_init(&body, HOOK_MAX_OUTPUT);
    TRY(add_headers(x, json_get(job->definition, "headers"), &a, &request.headers));
    TRY(x->http->get(x->http->self, &client));
    TRY(http_fetch(client, &request, &a, &response, &body));
    read_response(response.status, &body, reply);
    return NULL;
}

static struct err *http_hook_run(struct hook_executor *executor, const struct hook_job *job,
                                 struct hook_reply *reply)
{
    struct http_hooks *x = (struct http_hooks *)executor;
    struct deadline limit;
    struct err *e;

    if (!x->http)
        return err_new(ERR_CONFIGURATION, "no network is available here");
    deadline_begin(&limit, job->timeout_ms, "the hook");
    e = ask_service(x, job, reply);
    deadline_end(&limit);
    if (!err_is(e, ERR_TIMEOUT) || !limit.expired)
        return e;
    err_ignore(e, "it is told by timed_out");
    reply->timed_out = true;
    return NULL;
}

void http_hooks_init(struct http_hooks *x, const struct http_source *http,
                     const char *const *environment)
{
    *x = (struct http_hooks){.executor = {.type = "http", .run = http_hook_run},
                             .http = http,
                             .environment = environment};
}
