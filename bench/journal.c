/* journal.c - what it costs that nothing is lost: processor time, bytes, and opening it again.
 *
 *     bench-journal DIRECTORY [PART]
 *
 * Turns of a conversation are told to a session's journal over SQLite, which writes in full
 * synchronisation. Each turn has a prompt, an answer that streams in as Anthropic's do and calls a
 * tool, and the tool's result. The reference is SQLite alone: one row with as many bytes, committed
 * as often. Processor time is that of the whole process, threads and kernel included. */
#include "bench.h"

#include "session/journal.h"
#include "session/load.h"
#include "store/sqlite.h"
#include "store/sqlite_db.h"
#include "sys/loop.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define N_COMMITS 1000
#define RESULT_BYTES 2000
#define PAIRS_A_COMMIT 5 /* 50 deltas a second, and a commit every 100 ms */

struct bench {
    const char *dir;
    struct arena arena;
    /* the session that is being written */
    struct store *store;
    struct store_lease lease;
    struct str id;
    struct journal *journal;
    struct group tasks;
    struct history history;
    uint64_t next_seq, n_payloads, n_deltas;
    int64_t now;
    unsigned turn;
    size_t n_payload_bytes; /* of all that has to be kept */
    struct owner agent, execution;
};

static double cpu_us(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* --- a session --- */

static struct err *begin(struct bench *b, const char *name)
{
    struct store_summary create = {.cwd = S("/project"), .created_ms = 1700000000000};

    b->id = arena_format(&b->arena, "bench-%s", name);
    b->store = store_sqlite_new(arena_format(&b->arena, "%s/%s.db", b->dir, name).p);
    TRY(store_open(b->store, b->id, &create, &b->arena, &b->lease));
    group_begin(&b->tasks, 0, GROUP_KEEP_GOING);
    b->journal = journal_new(&(struct journal_options){.store = b->store,
                                                       .stream = b->id,
                                                       .fence = b->lease.fence,
                                                       .next_seq = b->lease.next_seq,
                                                       .tasks = &b->tasks});
    b->next_seq = b->lease.next_seq;
    b->now = 1700000000000;
    b->turn = 0;
    b->n_payload_bytes = 0;
    b->agent = (struct owner){"agent", S("main"), NULL};
    b->execution =
        (struct owner){"execution", S("0199c0de-0000-7000-8000-000000000001"), &b->agent};
    return NULL;
}

static struct err *end(struct bench *b)
{
    TRY(journal_sync(b->journal));
    TRY(group_end(&b->tasks));
    journal_free(TAKE(b->journal));
    history_done(&b->history);
    b->history = (struct history){0};
    store_close(b->store, b->id, b->lease.fence);
    store_free(TAKE(b->store));
    return NULL;
}

static void tell(struct bench *b, enum event_type type, struct event e)
{
    e.type = type;
    e.seq = b->next_seq++;
    e.unix_ms = b->now;
    e.stream = b->id;
    e.run_id = b->execution.id;
    e.owner = &b->execution;
    e.turn = b->turn;
    e.round = e.attempt = 1;
    recorder_append(journal_recorder(b->journal), &e);
}

static void append_message(struct bench *b, struct message *m, const char *mutation)
{
    tell(b, EVENT_HISTORY,
         (struct event){
             .body.message = {m, mutation[0] == 'a' ? b->history.n_messages : 0, mutation}});
    history_add_message(&b->history, m, b->now);
    for (size_t i = 0; i < m->n_parts; i++) {
        b->n_payload_bytes += m->parts[i].text.n + m->parts[i].args.n;
        for (size_t k = 0; k < m->parts[i].n_content; k++)
            b->n_payload_bytes += m->parts[i].content[k].text.n;
    }
}

/* --- an answer that streams in --- */

static void tell_payload(struct bench *b, enum payload_kind kind, struct str bytes)
{
    struct native_payload p = {.provider = S("anthropic"),
                               .api_surface = S("anthropic-messages"),
                               .kind = kind,
                               .sequence = b->n_payloads++,
                               .http_status = kind == PAYLOAD_REQUEST ? 0 : 200,
                               .bytes = bytes};

    if (kind != PAYLOAD_REQUEST)
        b->n_payload_bytes += bytes.n;
    tell(b, EVENT_NATIVE_PAYLOAD, (struct event){.body.payload = &p});
}

static void tell_piece(struct bench *b, unsigned i)
{
    static const char *const words[] = {" the",       " parser",  " of",
                                        " \"dates\"", " reads\n", " a year"};
    AUTO(strbuf) struct strbuf text = {0}, payload = {0};
    struct delta d = {0};

    for (unsigned k = 0; k <= i % 4; k++)
        strbuf_add_cstr(&text, words[(i + k) % ARRAY_LEN(words)]);
    strbuf_add_cstr(&payload, "{\"type\":\"content_block_delta\",\"index\":0,"
                              "\"delta\":{\"type\":\"text_delta\",\"text\":");
    json_write_string(&payload, strbuf_str(&text));
    strbuf_add_cstr(&payload, "}}");
    b->now += 20;
    tell_payload(b, PAYLOAD_STREAM_EVENT, strbuf_str(&payload));
    d.text = strbuf_str(&text);
    tell(b, EVENT_DELTA, (struct event){.body.delta = {.delta = &d, .sequence = b->n_deltas++}});
}

static struct err *stream(struct bench *b, unsigned n_pairs, unsigned a_commit, struct reply *reply)
{
    size_t part;

    TRY(reply_begin(reply, PART_TEXT, S(""), S(""), &part));
    for (unsigned i = 0; i < n_pairs; i++) {
        tell_piece(b, i);
        TRY(reply_add_text(reply, part, S(" the parser of")));
        if (a_commit && i % a_commit == a_commit - 1)
            TRY(journal_sync(b->journal));
    }
    TRY(reply_begin(reply, PART_TOOL_CALL, S("toolu_01"), S("Read"), &part));
    TRY(reply_add_args(reply, part, S("{\"file_path\":\"src/main.c\"}")));
    reply_set_stop(reply, S("tool_use"), STOP_TOOL_CALLS);
    reply->is_complete = true;
    reply_finish(reply);
    return NULL;
}

/* --- a turn --- */

static struct str new_id(struct bench *b, const char *kind)
{
    return arena_format(&b->arena, "%s-%08u-0000-7000-8000-0000000000", kind, b->turn);
}

static struct err *answer(struct bench *b, unsigned n_pairs, unsigned a_commit, struct str request)
{
    AUTO(reply) struct reply reply;
    AUTO(message) struct message *m = NULL;
    struct usage usage = {.input = 9000, .output = 400, .cache_read = 8000, .cache_write = -1};
    struct event_attempt attempt = {.provider = S("anthropic"),
                                    .model = S("claude-sonnet"),
                                    .max_attempts = 3,
                                    .cost_microcents = 1200,
                                    .usage = &usage};
    struct model_request q = {.provider = S("anthropic"),
                              .protocol = S("anthropic-messages"),
                              .model = S("claude-sonnet"),
                              .stream = true,
                              .max_output = 8192};

    reply_init(&reply, (struct delta_sink){0});
    b->n_payloads = b->n_deltas = 0;
    tell(b, EVENT_ATTEMPT_BEGIN, (struct event){.body.attempt = attempt});
    tell(b, EVENT_PROVIDER_REQUEST, (struct event){.body.request = {.request = &q}});
    tell_payload(b, PAYLOAD_REQUEST, request);
    TRY(stream(b, n_pairs, a_commit, &reply));
    tell(b, EVENT_RESPONSE_RAW,
         (struct event){.body.reply = {&reply, "provider-normalized-message"}});
    tell(b, EVENT_ATTEMPT_END, (struct event){.body.attempt = attempt});
    m = reply_to_message(
        &reply, new_id(b, "answer"), MESSAGE_COMPLETE,
        (struct origin){S("anthropic"), S("anthropic-messages"), S("claude-sonnet")});
    tell(b, EVENT_RESPONSE_NORMALIZED, (struct event){.body.message = {.message = m}});
    append_message(b, m, "append");
    tell(b, EVENT_ASSISTANT_COMMITTED, (struct event){.body.message = {.message = m}});
    return NULL;
}

static struct err *call(struct bench *b)
{
    char text[RESULT_BYTES + 1];
    struct part content = {.kind = PART_TEXT, .text = str_make(text, RESULT_BYTES)};
    struct part result = {.kind = PART_TOOL_RESULT,
                          .id = S("toolu_01"),
                          .name = S("Read"),
                          .content = &content,
                          .n_content = 1};
    struct event_tool t = {.batch_id = S("batch-1"), .name = S("Read"), .call_id = S("toolu_01")};
    AUTO(message) struct message *m = message_new(ROLE_TOOL, new_id(b, "result"));

    snprintf(text, sizeof text, "%0*u", RESULT_BYTES, b->turn);
    message_add(m, &result);
    tell(b, EVENT_TOOL_REQUEST, (struct event){.body.tool = t});
    tell(b, EVENT_TOOL_BEGIN, (struct event){.body.tool = t});
    TRY(journal_sync(b->journal)); /* before it runs */
    t.result = &result;
    t.is_ok = t.was_executed = true;
    tell(b, EVENT_TOOL_END, (struct event){.body.tool = t});
    tell(b, EVENT_TOOL_RESULT, (struct event){.body.tool = t});
    append_message(b, m, "append");
    t.message = m;
    tell(b, EVENT_TOOL_COMMITTED, (struct event){.body.tool = t});
    return NULL;
}

static struct err *play_turn(struct bench *b, unsigned n_pairs, unsigned a_commit,
                             struct str request)
{
    AUTO(message) struct message *m = message_new(ROLE_USER, new_id(b, "prompt"));
    struct run_result result = {.outcome = RUN_DONE, .n_rounds = 1};

    message_add_text(m, S("Why does it not read the dates of last year?"));
    b->turn++;
    tell(b, EVENT_RUN_BEGIN,
         (struct event){.history = &b->history,
                        .body.run = {.policy = "conversation", .input = S("Why does it not?")}});
    tell(b, EVENT_USER_INPUT, (struct event){.body.message = {.message = m}});
    append_message(b, m, "append");
    TRY(answer(b, n_pairs, a_commit, request));
    TRY(call(b));
    tell(b, EVENT_RUN_END, (struct event){.history = &b->history, .body.result = &result});
    return journal_sync(b->journal);
}

/* --- SQLite alone --- */

static struct err *commit_row(struct sqlite_db *db, int64_t key, struct str body)
{
    struct err *e;

    TRY(sqlite_begin_transaction(db));
    e = sqlite_begin(db, SQL_APPEND);
    if (!e) {
        sqlite_int(db, SQL_APPEND, 1, key);
        for (int i = 2; i <= 9; i++)
            sqlite_int(db, SQL_APPEND, i, 1);
        sqlite_text(db, SQL_APPEND, 10, body);
        sqlite_int(db, SQL_APPEND, 11, 1);
        e = sqlite_finish(db, SQL_APPEND);
    }
    return sqlite_end_transaction(db, e);
}

/* Processor time of one commit of so many bytes. */
static struct err *measure_alone(struct bench *b, const char *name, size_t n_bytes, double *ret_us)
{
    struct str body = str_make(arena_alloc(&b->arena, n_bytes), n_bytes);
    struct sqlite_db db = {0};
    double start;
    struct err *e;

    memset((char *)body.p, 'x', n_bytes);
    e = sqlite_db_open(&db, arena_format(&b->arena, "%s/%s-alone.db", b->dir, name).p);
    start = cpu_us();
    for (int64_t i = 1; !e && i <= N_COMMITS; i++)
        e = commit_row(&db, i, body);
    *ret_us = (cpu_us() - start) / N_COMMITS;
    sqlite_db_close(&db);
    return e;
}

/* --- figures --- */

/* So many events of a stream are committed together. */
static struct err *measure_events(struct bench *b, unsigned n_pairs)
{
    size_t before;
    double start, took, alone;

    TRY(begin(b, n_pairs == 4 ? "eight" : "many"));
    start = cpu_us();
    before = b->n_payload_bytes;
    b->n_payloads = b->n_deltas = 0;
    for (unsigned i = 0; i < N_COMMITS; i++) {
        for (unsigned k = 0; k < n_pairs; k++)
            tell_piece(b, i + k);
        TRY(journal_sync(b->journal));
    }
    took = cpu_us() - start;
    TRY(measure_alone(b, n_pairs == 4 ? "eight" : "many", (b->n_payload_bytes - before) / N_COMMITS,
                      &alone));
    printf("\"us_per_event_of_%u\":%.2f,\"us_alone_of_%u\":%.2f,", 2 * n_pairs,
           took / N_COMMITS / (2 * n_pairs), 2 * n_pairs, alone / (2 * n_pairs));
    return end(b);
}

static struct err *measure_intent(struct bench *b)
{
    struct event_tool t = {.batch_id = S("batch-1"), .name = S("Read"), .call_id = S("toolu_01")};
    double start, took, alone;

    TRY(begin(b, "intent"));
    start = cpu_us();
    for (unsigned i = 0; i < N_COMMITS; i++) {
        tell(b, EVENT_TOOL_BEGIN, (struct event){.body.tool = t});
        TRY(journal_sync(b->journal));
    }
    took = (cpu_us() - start) / N_COMMITS;
    TRY(measure_alone(b, "intent", 100, &alone));
    printf("\"us_per_intent\":%.1f,\"us_alone\":%.1f,", took, alone);
    return end(b);
}

static size_t size_of_file(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 ? (size_t)s.st_size : 0;
}

/* Ten turns as they would come from a model, and as fast as can be. */
static struct err *measure_bytes(struct bench *b, const char *name, unsigned a_commit)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary summary;
    size_t n_payload_bytes;
    bool found;

    TRY(begin(b, name));
    for (int i = 0; i < 10; i++)
        TRY(play_turn(b, 400, a_commit, S("{}")));
    TRY(store_find(b->store, b->id, &a, &summary, &found));
    n_payload_bytes = b->n_payload_bytes;
    TRY(end(b));
    printf("\"%s_record_bytes\":%llu,\"%s_file_bytes\":%zu,\"%s_payload_bytes\":%zu,", name,
           (unsigned long long)summary.n_bytes, name,
           size_of_file(arena_format(&a, "%s/%s.db", b->dir, name).p), name, n_payload_bytes);
    return NULL;
}

static struct err *play_five(struct bench *b, const char *name, unsigned n, struct str request)
{
    double start = cpu_us();

    for (int i = 0; i < 5; i++)
        TRY(play_turn(b, 40, 0, request));
    printf("\"%s_%u\":%.0f,", name, n, (cpu_us() - start) / 5);
    return NULL;
}

/* Of turn n and those after it. A request has all messages, and only its hash is kept. */
static struct err *measure_turns(struct bench *b)
{
    static const unsigned wanted[] = {10, 100, 1000};
    AUTO(strbuf) struct strbuf request = {0};

    TRY(begin(b, "turns"));
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        while (b->turn < wanted[i] - 1) {
            TRY(play_turn(b, 40, 0, S("{}")));
            strbuf_addf(&request, "%0*u", RESULT_BYTES + 600, b->turn);
        }
        TRY(play_five(b, "us_of_turn", wanted[i], S("{}")));
        TRY(play_five(b, "us_of_full_turn", wanted[i], strbuf_str(&request)));
    }
    return end(b);
}

static struct err *write_large(struct bench *b)
{
    AUTO(message) struct message *summary = message_new(ROLE_USER, S("summary"));
    struct event_checkpoint checkpoint = {.usage = USAGE_UNKNOWN};

    message_add_text(summary, S("[Context Summary] In short."));
    TRY(begin(b, "large"));
    while (b->n_payload_bytes < (size_t)95 << 20)
        TRY(play_turn(b, 2000, 0, S("{}")));
    history_done(&b->history);
    b->history = (struct history){0};
    append_message(b, summary, "compact");
    for (int i = 0; i < 20; i++)
        TRY(play_turn(b, 2000, 0, S("{}")));
    checkpoint.base_seq = journal_base_seq(b->journal);
    tell(b, EVENT_CHECKPOINT, (struct event){.body.checkpoint = checkpoint});
    return end(b);
}

static double read_file(const char *path)
{
    static char buffer[1 << 20];
    double start = seconds();
    FILE *file = fopen(path, "rb");

    while (file && fread(buffer, 1, sizeof buffer, file) > 0)
        ;
    if (file)
        fclose(file);
    return (seconds() - start) * 1000;
}

static struct err *measure_opening(struct bench *b)
{
    AUTO(conversation) struct conversation c;
    struct str path = arena_format(&b->arena, "%s/large.db", b->dir);
    AUTO(store) struct store *s = NULL;
    struct loaded loaded;
    double start, took;
    long before;
    struct err *e;

    TRY(write_large(b));
    before = resident_kib();
    s = store_sqlite_new(path.p);
    conversation_init(&c, b->id, S("/"));
    start = seconds();
    e = session_load(s, b->id, 0, &c, &loaded);
    took = (seconds() - start) * 1000;
    printf("\"large_bytes\":%zu,\"open_ms\":%.1f,\"open_kib\":%ld,\"open_messages\":%zu,"
           "\"read_ms\":%.1f,",
           size_of_file(path.p), took, resident_kib() - before, c.history.n_messages,
           read_file(path.p));
    loaded_done(&loaded);
    return e;
}

static struct err *measure_eight(struct bench *b)
{
    return measure_events(b, 4);
}

static struct err *measure_many(struct bench *b)
{
    return measure_events(b, 32);
}

static struct err *measure_paced(struct bench *b)
{
    return measure_bytes(b, "paced", PAIRS_A_COMMIT);
}

static struct err *measure_fast(struct bench *b)
{
    return measure_bytes(b, "fast", 0);
}

static const struct {
    const char *name;
    struct err *(*run)(struct bench *b);
} parts[] = {
    {"eight", measure_eight},     {"many", measure_many}, {"intent", measure_intent},
    {"paced", measure_paced},     {"fast", measure_fast}, {"turns", measure_turns},
    {"opening", measure_opening},
};

/* Of the directory and, if one is wanted alone, the part. */
static struct err *measure(void *arg)
{
    char **words = arg;
    struct bench b = {.dir = words[0]};
    struct err *e = NULL;

    printf("{");
    for (size_t i = 0; !e && i < ARRAY_LEN(parts); i++)
        if (!words[1] || strcmp(words[1], parts[i].name) == 0)
            e = parts[i].run(&b);
    printf("\"end\":true}\n");
    arena_done(&b.arena);
    return e;
}

int main(int argc, char **argv)
{
    AUTO(err) struct err *e = NULL;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: bench-journal DIRECTORY [PART]\n");
        return 2;
    }
    e = loop_run_once(measure, argv + 1);
    if (e)
        fprintf(stderr, "%s\n", e->text);
    return e ? 1 : 0;
}
