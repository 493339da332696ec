/* json.c - lines of JSON, the last one the result. */
#include "cli/print/json.h"

#include "base/uuid.h"
#include "cli/io.h"
#include "sys/loop.h"
#include "sys/random.h"
#include "view/stream_json.h"

#include <poll.h>
#include <unistd.h>

static void print_lines(struct print_json *j)
{
    if (j->line.n == 0 || j->output_error)
        return;
    if (j->is_ending) {
        strbuf_add(&j->late, strbuf_str(&j->line));
        return;
    }
    j->output_error = strbuf_check(&j->line, "a line of output");
    if (!j->output_error)
        j->output_error = cli_print(strbuf_str(&j->line));
    if (j->output_error && task_self())
        loop_cancel(task_loop()); /* the rest would be paid for and thrown away */
}

void print_json_line(struct print_json *j, struct str line)
{
    strbuf_clear(&j->line);
    strbuf_add(&j->line, line);
    print_lines(j);
}

void print_json_event(void *self, const struct event *e)
{
    struct print_json *j = self;
    bool is_result = e->type == EVENT_RUN_END && e->parent_stream.n == 0;

    if (j->only_result && e->type == EVENT_DELTA)
        return;
    strbuf_clear(&j->line);
    stream_json_event(j->view, e, &j->line); /* the result adds up what it has seen */
    if (!j->only_result || is_result)
        print_lines(j);
    j->has_result |= is_result;
}

void print_json_failure(struct print_json *j, const struct err *e)
{
    struct run_result result = {.outcome = RUN_FAILED, .usage = USAGE_UNKNOWN};
    unsigned char bytes[10];
    char id[UUID_TEXT_SIZE];
    struct event end = {.type = EVENT_RUN_END,
                        .unix_ms = clock_unix_ms(&clock_system),
                        .run_id = str_make(id, UUID_TEXT_SIZE - 1),
                        .body.result = &result};
    AUTO(stream_json) struct stream_json *view = NULL;

    if (j->has_result || j->output_error)
        return;
    if (!j->view)
        j->view = view = stream_json_new(&(struct stream_json_options){.version = KEEL_VERSION});
    random_fill(&random_system, bytes, sizeof bytes);
    uuid_v7(end.unix_ms, bytes, id);
    result.error = err_copy(e);
    print_json_event(j, &end);
    run_result_done(&result);
    if (view)
        j->view = NULL;
}

/* Who has read the last result may leave: that must not end the program while the session ends. */
void print_json_end(struct print_json *j)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    bool is_read = poll(&out, 1, 0) == 0 || !(out.revents & (POLLERR | POLLHUP | POLLNVAL));

    if (j->late.n && is_read && !j->output_error)
        j->output_error = cli_print(strbuf_str(&j->late));
    strbuf_clear(&j->late);
    j->is_ending = false;
}

void print_json_done(struct print_json *j)
{
    strbuf_done(&j->late);
    stream_json_free(j->view);
    strbuf_done(&j->line);
    err_free(j->output_error);
}
