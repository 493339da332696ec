/* jsonl.c - writes a transcript as the lines of the session's log.
 *
 * A value that an earlier line has is only named (view/session_log.h), and the output of tools is
 * read and written piece by piece. So the export, and the memory that it takes, grow no faster than
 * the session. If whole requests are wanted, each of them has everything. */
#include "transcript/requests.h"

#include "base/sha256.h"
#include "view/session_log.h"
#include "view/session_log_fields.h"

/* The place of a text that is written piece by piece. A line is searched for it once. The line must
 * also be a tool_end whose result the reader did not load. */
#define MARK "keel:the-result-is-written-here:5f1d8e0c7a934b26"
#define STRUCTURE_MAX_BYTES ((size_t)4 << 20)

/* A value that later lines may name. */
struct known_value {
    uint64_t seq;
    const char *field;
    char sha256[SHA256_HEX_SIZE];
};

struct jsonl {
    struct writer writer;
    struct strbuf line, hidden, value;
    struct known_value system, tools;
    /* of the messages since the last line that had it */
    struct strbuf structure;
    size_t structure_from;
};

static struct writer *jsonl_new(void)
{
    struct jsonl *j = mem_alloc(sizeof *j);

    strbuf_init(&j->line, WRITER_MAX_BYTES);
    strbuf_init(&j->hidden, WRITER_MAX_BYTES);
    return &j->writer;
}

static void jsonl_begin(struct writer *w, const struct store_summary *s, unsigned depth)
{
    struct jsonl *j = (struct jsonl *)w;

    j->system = j->tools = (struct known_value){0};
    j->structure_from = 0;
    strbuf_clear(&j->structure);
}

/* --- values of earlier lines --- */

/* The earlier line that has it; seq 0: this line is the first. */
static struct session_log_same find_earlier(struct known_value *known, const struct event *e,
                                            const char *field, struct str json)
{
    char sha256[SHA256_HEX_SIZE];

    sha256_hex(json, sha256);
    if (known->seq && strcmp(known->sha256, sha256) == 0)
        return (struct session_log_same){known->seq, known->field, known->sha256};
    *known = (struct known_value){.seq = e->seq, .field = field};
    memcpy(known->sha256, sha256, sizeof sha256);
    return (struct session_log_same){0};
}

static struct str system_json(struct jsonl *j, struct str system)
{
    strbuf_clear(&j->value);
    json_write_string(&j->value, system);
    return strbuf_str(&j->value);
}

static struct str tools_json(struct jsonl *j, const struct model_request *r)
{
    struct json_writer w;

    strbuf_clear(&j->value);
    jw_init(&w, &j->value);
    jw_begin_array(&w);
    for (size_t i = 0; i < r->n_tools; i++)
        session_log_schema(&w, r->tools[i]);
    jw_end_array(&w);
    return strbuf_str(&j->value);
}

/* The first list of a session is usually the one that its requests offer. */
static void note_session(struct jsonl *j, const struct event *e)
{
    const struct event_session *s = &e->body.session;
    struct json_writer w;

    (void)find_earlier(&j->system, e, "systemPrompt", system_json(j, s->system));
    strbuf_clear(&j->value);
    jw_init(&w, &j->value);
    jw_begin_array(&w);
    for (size_t i = 0; s->tools && i < s->tools->n; i++)
        session_log_schema(&w, &s->tools->entries[i].def);
    jw_end_array(&w);
    (void)find_earlier(&j->tools, e, "toolSchemas", strbuf_str(&j->value));
}

static void note_message(struct jsonl *j, const struct event_message *b)
{
    struct json_writer w;

    if (b->index == 0 && strcmp(b->mutation, "append") != 0) {
        strbuf_clear(&j->structure);
        j->structure_from = 0;
    }
    if (!b->message)
        return;
    if (j->structure.n > STRUCTURE_MAX_BYTES) {
        strbuf_clear(&j->structure);
        j->structure_from = b->index;
    }
    jw_init(&w, &j->structure);
    session_log_structure(&w, b->message);
    strbuf_add_char(&j->structure, '\n');
}

static struct session_log_links links_of(struct jsonl *j, const struct event *e,
                                         struct codec_range *range)
{
    struct session_log_links l = {.sha256 = range->sha256,
                                  .structure_from = j->structure_from,
                                  .structure = strbuf_str(&j->structure)};

    codec_reader_range(j->writer.reader, range);
    l.base_seq = range->base_seq;
    l.n_messages = range->n;
    if (e->type == EVENT_PROVIDER_REQUEST) {
        const struct model_request *r = e->body.request.request;

        l.system = find_earlier(&j->system, e, "system", system_json(j, r->system));
        l.tools = find_earlier(&j->tools, e, "tools", tools_json(j, r));
    }
    return l;
}

/* --- credentials --- */

/* A copy of the event without values under names of credentials. `ret_message` holds what it
 * borrows. */
static struct event redact(const struct event *e, struct arena *a, struct message **ret_message)
{
    struct event shown = *e;

    switch (e->type) {
    case EVENT_USER_INPUT:
    case EVENT_RESPONSE_NORMALIZED:
    case EVENT_ASSISTANT_COMMITTED:
    case EVENT_HISTORY:
        if (e->body.message.message)
            shown.body.message.message = *ret_message = redact_message(e->body.message.message);
        break;
    case EVENT_RESPONSE_RAW:
        shown.body.reply.reply = redact_reply(e->body.reply.reply, a);
        break;
    case EVENT_TOOL_END:
    case EVENT_TOOL_RESULT:
        shown.body.tool.result = redact_result(e->body.tool.result, a);
        break;
    case EVENT_TOOL_COMMITTED:
        if (e->body.tool.message)
            shown.body.tool.message = *ret_message = redact_message(e->body.tool.message);
        break;
    default:
        break;
    }
    return shown;
}

/* --- results in pieces --- */

struct pouring {
    struct jsonl *jsonl;
    struct redaction_stream redaction;
};

static void pour(struct jsonl *j, struct str text)
{
    struct strbuf *escaped = &j->value;

    strbuf_clear(escaped);
    json_write_string(escaped, text);
    strbuf_add(&j->writer.out, str_slice(strbuf_str(escaped), 1, escaped->n - 2));
    if (j->writer.out.n >= WRITER_FLUSH_BYTES)
        writer_flush(&j->writer);
}

static struct err *write_piece(void *self, struct str text)
{
    struct pouring *p = self;

    pour(p->jsonl, redaction_stream_add(&p->redaction, text));
    return NULL;
}

static void pour_result(struct jsonl *j)
{
    struct pouring p = {.jsonl = j, .redaction.redaction = j->writer.redaction};
    const struct transcript *t = j->writer.transcript;
    AUTO(err) struct err *e = codec_reader_result(j->writer.reader, write_piece, &p);

    pour(j, redaction_stream_end(&p.redaction));
    redaction_stream_done(&p.redaction);
    if (e && t->on_broken)
        t->on_broken(t->self, e);
}

/* --- lines --- */

/* Writes what j->line holds. */
static void add_line(struct jsonl *j)
{
    struct writer *w = &j->writer;
    struct str line = redaction_hide_json(
        w->redaction, str_slice(strbuf_str(&j->line), 0, j->line.n - 1), &j->hidden);
    size_t mark = codec_reader_left(w->reader) ? str_find(line, S(MARK)) : STR_NONE;

    if (strbuf_is_over(&j->line))
        strbuf_set_over(&w->out);
    if (mark == STR_NONE) {
        strbuf_add(&w->out, line);
    } else {
        strbuf_add(&w->out, str_slice(line, 0, mark));
        pour_result(j);
        strbuf_add(&w->out, str_skip(line, mark + strlen(MARK)));
    }
    strbuf_add_char(&w->out, '\n');
    strbuf_clear(&j->line);
}

static void add_whole_request(struct jsonl *j, const struct event *e)
{
    AUTO(request_redacted) struct request_redacted shown;

    request_redact(e, &shown);
    strbuf_clear(&j->line);
    session_log_write(&shown.event, &j->line);
    add_line(j);
}

static void jsonl_event(struct writer *w, const struct event *e)
{
    struct jsonl *j = (struct jsonl *)w;
    AUTO(arena) struct arena a = {0};
    AUTO(message) struct message *shown_message = NULL;
    struct event shown = redact(e, &a, &shown_message);
    struct part text = {.kind = PART_TEXT, .text = S(MARK)};
    struct part result = {.kind = PART_TOOL_RESULT, .content = &text, .n_content = 1};
    struct codec_range range;
    struct session_log_links links;

    if (e->type == EVENT_PROVIDER_REQUEST && w->transcript->with_requests) {
        add_whole_request(j, e);
        return;
    }
    if (e->type == EVENT_SESSION_BEGIN)
        note_session(j, e);
    if (e->type == EVENT_HISTORY)
        note_message(j, &e->body.message);
    if (codec_reader_left(w->reader))
        shown.body.tool.result = &result;
    links = links_of(j, e, &range);
    strbuf_clear(&j->line);
    session_log_write_linked(&shown, &links, &j->line);
    add_line(j);
    if (session_log_write_shown(e, &j->line))
        add_line(j);
    if (e->type == EVENT_RUN_END) {
        strbuf_clear(&j->structure);
        j->structure_from = range.n;
    }
}

static void jsonl_free(struct writer *w)
{
    struct jsonl *j = (struct jsonl *)w;

    strbuf_done(&j->line);
    strbuf_done(&j->hidden);
    strbuf_done(&j->value);
    strbuf_done(&j->structure);
    mem_free(j);
}

const struct writer_ops writer_jsonl = {
    .make = jsonl_new, .begin = jsonl_begin, .event = jsonl_event, .free = jsonl_free};
