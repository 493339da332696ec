/* big_session.c - makes a session of any size fast, and says how much memory a command took.
 *
 *     big-session make STORE ID N_CALLS N_BYTES    so many calls that printed so much each
 *     big-session peak COMMAND...                  the most kilobytes that it had, on standard
 * error
 *
 * The session is made of events through the codec and the store, as a run makes it, but with the
 * same output for each call: content is stored once, so that 10 GB take 10 MB of the disk. The peak
 * is that of a child of this small program, because a child begins with its parent's. */
#include "base/mem.h"
#include "session/codec/codec.h"
#include "store/open.h"
#include "sys/loop.h"
#include "sys/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHOWN_BYTES 20000 /* of an output, as the model gets it */
#define N_BATCH 8         /* calls that are appended together */

struct making {
    const char *store_name;
    struct str id;
    size_t n_calls, n_bytes;
    struct store *store;
    struct store_lease lease;
    struct codec_writer *writer;
    struct codec_record **records;
    size_t n, room;
    uint64_t seq, first_seq;
    size_t n_messages;
    struct strbuf output;
};

static void emit(struct making *m, enum event_type type, struct event *e)
{
    static const struct owner agent = {"agent", {"main", 4}, NULL};
    struct codec_record next, *last = m->n ? m->records[m->n - 1] : NULL;

    e->type = type;
    e->seq = m->seq++;
    e->unix_ms = 1767323045000 + (int64_t)e->seq;
    e->stream = m->id;
    e->run_id = S("run");
    e->owner = &agent;
    e->turn = e->round = e->attempt = 1;
    if (codec_write(m->writer, e, last, &next))
        return;
    if (m->n == m->room) {
        m->room = m->room ? 2 * m->room : 64;
        m->records = mem_resize(m->records, m->room * sizeof *m->records);
    }
    m->records[m->n++] = mem_copy(&next, sizeof next);
}

static void commit(struct making *m, struct message *message)
{
    struct event e = {
        .body.message = {.message = message, .index = m->n_messages++, .mutation = "append"}};

    emit(m, EVENT_HISTORY, &e);
}

static struct err *append(struct making *m)
{
    AUTO(arena) struct arena a = {0};
    struct store_record *records = ARENA_ARRAY(&a, m->n, struct store_record);
    struct blob_store *blobs = store_blobs(m->store, m->id);
    struct store_summary update = {.id = m->id, .n_messages = m->n_messages};
    char handle[SHA256_HEX_SIZE];

    for (size_t i = 0; i < m->n; i++) {
        struct codec_record *r = m->records[i];

        codec_record_end(r);
        records[i] = r->record;
        for (size_t k = 0; k < r->n_blobs; k++)
            if (!r->blobs[k].is_there)
                TRY(blob_put_soon(blobs, r->blobs[k].bytes, handle));
    }
    TRY(blob_sync(blobs));
    TRY(store_append(m->store, m->id, m->first_seq, m->lease.fence, records, m->n, &update));
    for (size_t i = 0; i < m->n; i++) {
        codec_record_done(m->records[i]);
        mem_free(m->records[i]);
    }
    m->n = 0;
    m->first_seq = m->seq;
    return NULL;
}

/* --- one round --- */

static void emit_request(struct making *m)
{
    struct model_request request = {.provider = S("p"),
                                    .protocol = S("anthropic-messages"),
                                    .model = S("m"),
                                    .system = S("You are somebody.")};
    struct event e = {.body.request.request = &request};

    emit(m, EVENT_PROVIDER_REQUEST, &e);
}

static void emit_tool(struct making *m, enum event_type type, struct str call_id,
                      const struct part *result, const struct message *message)
{
    struct event e = {.body.tool = {.batch_id = S("b"),
                                    .name = S("Bash"),
                                    .call_id = call_id,
                                    .is_ok = true,
                                    .was_executed = true,
                                    .result = result,
                                    .message = message}};

    emit(m, type, &e);
}

static void emit_round(struct making *m, size_t number)
{
    AUTO(arena) struct arena a = {0};
    struct str call_id = S("call"); /* each time, so that results are the same content */
    struct part call = {.kind = PART_TOOL_CALL,
                        .id = call_id,
                        .name = S("Bash"),
                        .args = arena_format(&a, "{\"command\":\"print %zu\"}", number)};
    struct part text = {.kind = PART_TEXT, .text = strbuf_str(&m->output)};
    struct part whole = {.kind = PART_TOOL_RESULT,
                         .id = call_id,
                         .name = S("Bash"),
                         .content = &text,
                         .n_content = 1};
    struct part head = {.kind = PART_TEXT, .text = str_slice(text.text, 0, SHOWN_BYTES)};
    struct part shown = whole;
    AUTO(message)
    struct message *answer = message_new(ROLE_ASSISTANT, arena_format(&a, "answer-%zu", number));
    AUTO(message)
    struct message *result = message_new(ROLE_TOOL, arena_format(&a, "result-%zu", number));

    shown.content = &head;
    message_add(answer, &call);
    message_add(result, &shown);
    emit_request(m);
    commit(m, answer);
    emit_tool(m, EVENT_TOOL_REQUEST, call_id, NULL, NULL);
    emit_tool(m, EVENT_TOOL_BEGIN, call_id, NULL, NULL);
    emit_tool(m, EVENT_TOOL_END, call_id, &whole, NULL);
    emit_tool(m, EVENT_TOOL_RESULT, call_id, &shown, NULL);
    commit(m, result);
    emit_tool(m, EVENT_TOOL_COMMITTED, call_id, NULL, result);
}

/* --- all of it --- */

static void fill_output(struct making *m)
{
    for (size_t i = 0; m->output.n < m->n_bytes; i++)
        strbuf_addf(&m->output, "line %zu of \"what\" a tool\thas printed\n", i);
}

static struct err *make_session(struct making *m)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary create = {
        .id = m->id, .cwd = S("/somewhere"), .created_ms = 1767323045000};
    AUTO(message) struct message *prompt = message_new(ROLE_USER, S("prompt"));
    struct event begin = {.body.session = {.cwd = create.cwd, .provider = S("p"), .model = S("m")}};
    struct event run = {.body.run = {.policy = "conversation", .input = S("print much")}};

    TRY(store_open(m->store, m->id, &create, &a, &m->lease));
    m->seq = m->first_seq = m->lease.next_seq;
    fill_output(m);
    message_add_text(prompt, S("print much"));
    emit(m, EVENT_SESSION_BEGIN, &begin);
    emit(m, EVENT_RUN_BEGIN, &run);
    commit(m, prompt);
    for (size_t i = 0; i < m->n_calls; i++) {
        emit_round(m, i);
        if (i % N_BATCH == 0)
            TRY(append(m));
    }
    TRY(append(m));
    store_close(m->store, m->id, m->lease.fence);
    return NULL;
}

static struct err *make_in_task(void *arg)
{
    struct making *m = arg;
    struct err *e;

    TRY(store_from_url(m->store_name, "/tmp", /* timeout_ms= */ 0, &m->store));
    m->writer = codec_writer_new();
    e = make_session(m);
    codec_writer_free(m->writer);
    store_free(m->store);
    strbuf_done(&m->output);
    mem_free(m->records);
    return e;
}

static int make(char **args)
{
    struct making m = {.store_name = args[0],
                       .id = str_of(args[1]),
                       .n_calls = strtoul(args[2], NULL, 10),
                       .n_bytes = strtoul(args[3], NULL, 10)};
    AUTO(err) struct err *e = loop_run_once(make_in_task, &m);

    if (e)
        fprintf(stderr, "big-session: %s\n", e->text);
    return e != NULL;
}

static int peak(char **command)
{
    struct rusage usage;
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        execv(command[0], command);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) < 0)
        return 127;
    fprintf(stderr, "peak %ld\n", usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "make") == 0)
        return make(argv + 2);
    if (argc > 2 && strcmp(argv[1], "peak") == 0)
        return peak(argv + 2);
    fprintf(stderr, "usage: big-session make STORE ID N_CALLS N_BYTES | peak COMMAND...\n");
    return 2;
}
