/* verify_events.c - what events say of each other. */
#include "archive/verify.h"

#include <stdarg.h>

struct open_attempt {
    enum { ATTEMPT_NONE, ATTEMPT_ASKED, ATTEMPT_ANSWERED } state;
    uint64_t seq;
    unsigned round, number;
    bool is_aside, has_request, has_bytes, has_reply;
    bool has_own_bytes; /* its provider speaks over a wire */
    size_t n_parts;     /* of the reply */
};

struct open_tool {
    struct str call_id, name; /* in the arena */
    size_t index;
    uint64_t seq;
    bool has_begun, has_ended;
};

struct verifier {
    struct str stream; /* on the heap */
    struct finding_sink sink;
    struct verified totals;
    uint64_t next_seq; /* 0: not known */
    bool is_in_run;
    bool is_blind;        /* something of this run could not be read */
    bool is_history_lost; /* the same of the history, until it begins anew */
    uint64_t run_seq;
    struct open_attempt attempt;

    size_t n_early; /* calls that began before their answer was there, and are not settled */
    struct arena tools_arena; /* emptied when no call is open */
    struct open_tool *tools;
    size_t n_tools, tools_room;

    struct arena calls_arena; /* of the last answer of the history */
    struct str *calls;        /* ids of those without a result */
    size_t n_calls, calls_room;
    uint64_t answer_seq;
    size_t n_messages;
    size_t n_of, n_replaced; /* of a compaction that is being read; n_of 0: none is */
};

/* --- findings --- */

static const struct {
    const char *name;
    bool is_problem;
} kinds[] = {
#define X(name, text, is_problem) {text, is_problem},
    FINDING_TABLE(X)
#undef X
};

const char *finding_name(enum finding_kind k)
{
    return kinds[k].name;
}

bool finding_is_problem(enum finding_kind k)
{
    return kinds[k].is_problem;
}

void verifier_report(struct verifier *v, enum finding_kind kind, uint64_t seq, const char *format,
                     ...)
{
    AUTO(strbuf) struct strbuf text = {0};
    va_list args;

    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    if (kinds[kind].is_problem)
        v->totals.n_problems++;
    else
        v->totals.n_notes++;
    v->sink.on_finding(v->sink.self, &(struct finding){.kind = kind,
                                                       .stream = v->stream,
                                                       .seq = seq,
                                                       .text = strbuf_str(&text)});
}

/* --- attempts --- */

static void report_attempt(struct verifier *v, enum finding_kind kind, const char *what)
{
    const struct open_attempt *a = &v->attempt;

    if (!v->is_blind)
        verifier_report(v, kind, a->seq, "round %u, attempt %u%s: %s", a->round, a->number,
                        a->is_aside ? " (an aside)" : "", what);
}

/* Another attempt or the end of the run has come instead of what was due. */
static void close_attempt(struct verifier *v)
{
    if (v->attempt.state == ATTEMPT_ASKED)
        report_attempt(v, FINDING_MISSING_ATTEMPT_END, "its end is not recorded");
    if (v->attempt.state == ATTEMPT_ANSWERED)
        report_attempt(v, FINDING_MISSING_NORMALIZED, "the answer was not accepted as a message");
    v->attempt = (struct open_attempt){0};
}

static void take_attempt_begin(struct verifier *v, const struct event *e)
{
    close_attempt(v);
    v->totals.n_attempts++;
    v->attempt = (struct open_attempt){.state = ATTEMPT_ASKED,
                                       .seq = e->seq,
                                       .round = e->round,
                                       .number = e->attempt,
                                       .is_aside = e->body.attempt.is_aside};
}

static bool is_in_attempt(struct verifier *v, const struct event *e)
{
    if (v->attempt.state == ATTEMPT_ASKED)
        return true;
    if (!v->is_blind)
        verifier_report(v, FINDING_MISSING_REQUEST, e->seq,
                        "%s belongs to an attempt that had not started", event_type_name(e->type));
    return false;
}

/* Models that live in this process send nothing over a wire. */
static bool speaks_over_wire(struct str protocol)
{
    return !str_is(protocol, "script") && !str_is(protocol, "replay");
}

static void take_request(struct verifier *v, const struct event *e)
{
    if (!is_in_attempt(v, e))
        return;
    v->attempt.has_request = true;
    v->attempt.has_own_bytes = speaks_over_wire(e->body.request.request->protocol);
}

static void take_payload(struct verifier *v, const struct event *e)
{
    if (is_in_attempt(v, e))
        v->attempt.has_bytes |= e->body.payload->kind != PAYLOAD_REQUEST;
}

static void take_reply(struct verifier *v, const struct event *e)
{
    if (!is_in_attempt(v, e))
        return;
    v->attempt.has_reply = true;
    v->attempt.n_parts = e->body.reply.reply->n_parts;
}

/* One that failed has said so, and that is all that is asked of it. */
static void take_attempt_end(struct verifier *v, const struct event *e)
{
    struct open_attempt *a = &v->attempt;

    if (e->body.attempt.is_lost || !is_in_attempt(v, e))
        return; /* the cut-off run is reported anyway */
    if (!a->has_request)
        report_attempt(v, FINDING_MISSING_REQUEST, "the request is not recorded");
    if (!e->body.attempt.error && a->has_own_bytes && !a->has_bytes)
        report_attempt(v, FINDING_MISSING_NATIVE, "the bytes of the answer are missing");
    if (!e->body.attempt.error && !a->has_reply)
        report_attempt(v, FINDING_MISSING_RAW, "the reply is not recorded");
    a->state = ATTEMPT_NONE;
    /* An answer without anything in it may have been withheld, and is then an error. */
    if (!e->body.attempt.error && !a->is_aside && a->n_parts)
        a->state = ATTEMPT_ANSWERED;
}

static void take_normalized(struct verifier *v)
{
    if (v->attempt.state == ATTEMPT_ANSWERED)
        v->attempt.state = ATTEMPT_NONE;
}

/* --- tool calls --- */

static struct open_tool *find_tool(struct verifier *v, const struct event_tool *t)
{
    for (size_t i = 0; i < v->n_tools; i++)
        if (v->tools[i].index == t->index && str_eq(v->tools[i].call_id, t->call_id))
            return &v->tools[i];
    return NULL;
}

static void forget_tools(struct verifier *v)
{
    arena_done(&v->tools_arena);
    v->tools_arena = (struct arena){0};
    v->tools = NULL;
    v->n_tools = v->tools_room = 0;
}

static void take_tool_request(struct verifier *v, const struct event *e)
{
    const struct event_tool *t = &e->body.tool;

    v->totals.n_calls++;
    v->tools = arena_grow(&v->tools_arena, v->tools, v->n_tools, &v->tools_room, sizeof *v->tools);
    v->tools[v->n_tools++] = (struct open_tool){.call_id = arena_str(&v->tools_arena, t->call_id),
                                                .name = arena_str(&v->tools_arena, t->name),
                                                .index = t->index,
                                                .seq = e->seq};
}

static void take_tool_result(struct verifier *v, const struct event *e)
{
    const struct event_tool *t = &e->body.tool;
    struct open_tool *open = find_tool(v, t);

    if (!open) {
        if (!v->is_blind)
            verifier_report(v, FINDING_UNMATCHED_RESULT, e->seq,
                            "the result of %" STR_FMT " (%" STR_FMT ") has no request",
                            STR_ARG(t->name), STR_ARG(t->call_id));
        return;
    }
    if (open->has_begun && !open->has_ended && !v->is_blind)
        verifier_report(v, FINDING_MISSING_TOOL_END, open->seq,
                        "%" STR_FMT " (%" STR_FMT ") started, but its end is not recorded",
                        STR_ARG(open->name), STR_ARG(open->call_id));
    *open = v->tools[--v->n_tools];
    if (v->n_tools == 0)
        forget_tools(v);
}

/* One that began early begins in its batch, or is dropped. */
static void take_early(struct verifier *v, const struct event *e)
{
    if (e->type == EVENT_TOOL_EARLY)
        v->n_early++;
    else if (v->n_early)
        v->n_early--;
}

static void close_early(struct verifier *v)
{
    if (v->n_early && !v->is_blind)
        verifier_report(v, FINDING_UNMATCHED_REQUEST, v->run_seq,
                        "%zu early call%s of the run: the outcome is not recorded", v->n_early,
                        v->n_early == 1 ? "" : "s");
    v->n_early = 0;
}

static void take_tool(struct verifier *v, const struct event *e)
{
    struct open_tool *open = find_tool(v, &e->body.tool);

    if (e->type == EVENT_TOOL_BEGIN)
        take_early(v, e);
    if (!open)
        return; /* its result says so */
    open->has_begun |= e->type == EVENT_TOOL_BEGIN;
    open->has_ended |= e->type == EVENT_TOOL_END;
}

static void close_tools(struct verifier *v)
{
    for (size_t i = 0; i < v->n_tools && !v->is_blind; i++)
        verifier_report(v, FINDING_UNMATCHED_REQUEST, v->tools[i].seq,
                        "%" STR_FMT " (%" STR_FMT ") was requested and has no result",
                        STR_ARG(v->tools[i].name), STR_ARG(v->tools[i].call_id));
    forget_tools(v);
}

/* --- the history --- */

static void forget_calls(struct verifier *v)
{
    arena_done(&v->calls_arena);
    v->calls_arena = (struct arena){0};
    v->calls = NULL;
    v->n_calls = v->calls_room = 0;
}

static void close_calls(struct verifier *v)
{
    for (size_t i = 0; i < v->n_calls && !v->is_history_lost; i++)
        verifier_report(v, FINDING_UNPAIRED_MESSAGE, v->answer_seq,
                        "the history has no result for the call %" STR_FMT, STR_ARG(v->calls[i]));
    forget_calls(v);
}

static void open_calls(struct verifier *v, const struct event *e)
{
    const struct message *m = e->body.message.message;

    v->answer_seq = e->seq;
    for (size_t i = 0; i < m->n_parts; i++) {
        if (m->parts[i].kind != PART_TOOL_CALL)
            continue;
        v->calls =
            arena_grow(&v->calls_arena, v->calls, v->n_calls, &v->calls_room, sizeof *v->calls);
        v->calls[v->n_calls++] = arena_str(&v->calls_arena, m->parts[i].id);
    }
}

static void take_result_message(struct verifier *v, const struct event *e)
{
    const struct message *m = e->body.message.message;
    struct str id = m->n_parts ? m->parts[0].id : (struct str){0};

    for (size_t i = 0; i < v->n_calls; i++)
        if (str_eq(v->calls[i], id)) {
            memmove(v->calls + i, v->calls + i + 1, (--v->n_calls - i) * sizeof *v->calls);
            return;
        }
    if (!v->is_history_lost)
        verifier_report(v, FINDING_UNPAIRED_MESSAGE, e->seq,
                        "the history has a result for %" STR_FMT ", which was not called",
                        STR_ARG(id));
}

static void begin_history(struct verifier *v, size_t n_of)
{
    forget_calls(v);
    v->n_of = n_of;
    v->n_replaced = v->n_messages;
    v->n_messages = 0;
    v->is_history_lost = false;
}

/* One that a crash has cut off has changed nothing. */
static void end_compaction(struct verifier *v)
{
    if (v->n_of && v->n_messages < v->n_of) {
        v->n_messages = v->n_replaced;
        forget_calls(v); /* all had their results before it began */
    }
    v->n_of = 0;
}

static void take_history(struct verifier *v, const struct event *e)
{
    const struct event_message *b = &e->body.message;
    const struct message *m = b->message;

    if (strcmp(b->mutation, "append") == 0)
        end_compaction(v);
    else if (b->index == 0)
        begin_history(v, b->n_of);
    if (!m)
        return;
    if (b->index != v->n_messages && !v->is_history_lost)
        verifier_report(v, FINDING_HISTORY_MISMATCH, e->seq,
                        "message %zu of the history is at position %zu", v->n_messages, b->index);
    v->n_messages = b->index + 1;
    if (m->role == ROLE_TOOL) {
        take_result_message(v, e);
    } else if (!m->is_error && m->role != ROLE_SYSTEM) {
        close_calls(v);
        open_calls(v, e);
    }
}

/* --- runs --- */

/* Its process has died: what was under way is not known, and the next run says so to the model. */
static void report_cut(struct verifier *v)
{
    if (v->is_in_run)
        verifier_report(v, FINDING_CUT_OFF, v->run_seq, "the run was cut off%s%s",
                        v->attempt.state == ATTEMPT_ASKED ? " while an answer was arriving" : "",
                        v->n_tools ? " while tool calls were under way" : "");
    v->attempt = (struct open_attempt){0};
    v->n_early = 0;
    forget_tools(v);
}

static void take_run_begin(struct verifier *v, const struct event *e)
{
    report_cut(v);
    end_compaction(v);
    v->totals.n_runs++;
    v->is_in_run = true;
    v->is_blind = false;
    v->run_seq = e->seq;
}

/* Calls that wait for an answer stay open. */
static void take_run_end(struct verifier *v, const struct event *e)
{
    close_attempt(v);
    close_early(v);
    if (e->body.result->outcome == RUN_SUSPENDED) {
        forget_tools(v);
    } else {
        close_tools(v);
        close_calls(v);
    }
    v->is_in_run = v->is_blind = false;
}

/* --- all of it --- */

static void check_number(struct verifier *v, uint64_t seq)
{
    if (v->next_seq && seq > v->next_seq)
        verifier_report(v, FINDING_MISSING_RECORDS, v->next_seq,
                        "%llu event%s missing before number %llu",
                        (unsigned long long)(seq - v->next_seq),
                        seq - v->next_seq == 1 ? " is" : "s are", (unsigned long long)seq);
    v->next_seq = seq + 1;
}

void verifier_take(struct verifier *v, const struct event *e)
{
    v->totals.n_events++;
    check_number(v, e->seq);
    switch (e->type) {
    case EVENT_RUN_BEGIN:
        take_run_begin(v, e);
        break;
    case EVENT_RUN_END:
        take_run_end(v, e);
        break;
    case EVENT_ATTEMPT_BEGIN:
        take_attempt_begin(v, e);
        break;
    case EVENT_PROVIDER_REQUEST:
        take_request(v, e);
        break;
    case EVENT_NATIVE_PAYLOAD:
        take_payload(v, e);
        break;
    case EVENT_RESPONSE_RAW:
        take_reply(v, e);
        break;
    case EVENT_ATTEMPT_END:
        take_attempt_end(v, e);
        break;
    case EVENT_RESPONSE_NORMALIZED:
        take_normalized(v);
        break;
    case EVENT_TOOL_EARLY:
    case EVENT_TOOL_DROPPED:
        take_early(v, e);
        break;
    case EVENT_TOOL_REQUEST:
        take_tool_request(v, e);
        break;
    case EVENT_TOOL_BEGIN:
    case EVENT_TOOL_END:
        take_tool(v, e);
        break;
    case EVENT_TOOL_RESULT:
        take_tool_result(v, e);
        break;
    case EVENT_HISTORY:
        take_history(v, e);
        break;
    default:
        break;
    }
}

void verifier_skip(struct verifier *v, const struct store_record *r)
{
    v->is_blind = v->is_history_lost = true;
    if (!r) {
        v->next_seq = 0;
        return;
    }
    check_number(v, r->seq);
    v->next_seq = r->seq + r->n_events;
    if (str_is(r->type, event_type_name(EVENT_RUN_END)))
        v->is_in_run = false;
}

static void check_index(struct verifier *v, uint64_t next_seq)
{
    if (v->next_seq && v->next_seq != next_seq)
        verifier_report(v, FINDING_STALE_INDEX, v->next_seq,
                        "the next number is %llu in the index, but %llu in the records",
                        (unsigned long long)next_seq, (unsigned long long)v->next_seq);
}

void verifier_end(struct verifier *v, uint64_t next_seq, bool is_open, struct verified *totals)
{
    if (!is_open) {
        report_cut(v);
        check_index(v, next_seq);
    }
    totals->n_streams++;
    totals->n_events += v->totals.n_events;
    totals->n_runs += v->totals.n_runs;
    totals->n_attempts += v->totals.n_attempts;
    totals->n_calls += v->totals.n_calls;
    totals->n_problems += v->totals.n_problems;
    totals->n_notes += v->totals.n_notes;
}

struct verifier *verifier_new(struct str stream, struct finding_sink sink)
{
    struct verifier *v = mem_alloc(sizeof *v);

    v->stream = str_make(str_dup(stream), stream.n);
    v->sink = sink;
    v->next_seq = 1;
    return v;
}

void verifier_free(struct verifier *v)
{
    if (!v)
        return;
    forget_tools(v);
    forget_calls(v);
    mem_free((char *)v->stream.p);
    mem_free(v);
}
