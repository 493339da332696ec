/* transcript.h - for tests of decoders: what an answer was read as, in a few lines of text.
 *
 *     assert_reads(&protocol_openai_chat,
 *                  SSE("{'choices':[{'delta':{'content':'Hello'}}]}", "[DONE]"),
 *                  "text 'Hello'\n"
 *                  "end stop\n"
 *                  "usage 9 in, 2 out\n");
 *
 * Answers and transcripts are written with ' for ", which C would want escaped. A transcript has
 * one line for each part in its order, indented lines for what belongs to it, then the stop reason
 * as our word and the provider's, usage, who answered, and the error if there was one. Every answer
 * is read whole, in pieces of seven bytes and byte by byte, and must come out the same. */
#ifndef KEEL_TEST_UNIT_PROVIDER_TRANSCRIPT_H
#define KEEL_TEST_UNIT_PROVIDER_TRANSCRIPT_H

#include "test.h"

#include "provider/decode.h"

/* --- answers --- */

/* What a provider sent, line by line. */
struct answer_text {
    const char *before, *after; /* each line */
    const char *const *lines;   /* NULL at the end */
};

#define ANSWER(before_, after_, ...)                                                               \
    ((struct answer_text){before_, after_, (const char *const[]){__VA_ARGS__, NULL}})
#define SSE(...) ANSWER("data: ", "\n\n", __VA_ARGS__)
#define NDJSON(...) ANSWER("", "\n", __VA_ARGS__)
#define BODY(...) ANSWER("", "", __VA_ARGS__)
/* One event with a name. */
#define EVENT(name, data) ANSWER("event: " name "\ndata: ", "\n\n", data)

/* Takes ' for ". */
static inline void add_quoted(struct strbuf *out, const char *text)
{
    for (; *text; text++)
        strbuf_add_char(out, *text == '\'' ? '"' : *text);
}

static inline struct strbuf answer_bytes(struct answer_text answer)
{
    struct strbuf bytes = {0};

    for (size_t i = 0; answer.lines[i]; i++) {
        strbuf_add_cstr(&bytes, answer.before);
        add_quoted(&bytes, answer.lines[i]);
        strbuf_add_cstr(&bytes, answer.after);
    }
    return bytes;
}

/* --- transcripts --- */

static inline void tell_str(struct strbuf *out, const char *label, struct str text)
{
    if (text.n == 0)
        return;
    strbuf_add_cstr(out, label);
    json_write_string(out, text);
    strbuf_add_char(out, '\n');
}

static inline void tell_word(struct strbuf *out, struct str word)
{
    if (word.n)
        strbuf_addf(out, " %" STR_FMT, STR_ARG(word));
}

/* Ids that reply_finish() made differ from build to build. */
static inline struct str tellable_id(const struct part *p)
{
    bool is_made = p->kind == PART_TOOL_CALL && p->id.n > 22 && str_starts(p->id, S("call_")) &&
                   p->id.p[21] == '_';

    return is_made ? S("made_id") : p->id;
}

static inline void tell_part(struct strbuf *out, const struct reply_part *rp)
{
    static const char *const names[] = {
        [PART_TEXT] = "text",
        [PART_MEDIA] = "media",
        [PART_TOOL_CALL] = "call",
        [PART_TOOL_RESULT] = "result",
        [PART_REASONING] = "reasoning",
        [PART_SERVER_TOOL_USE] = "server call",
        [PART_SERVER_TOOL_RESULT] = "server result",
        [PART_CITATION] = "citation",
        [PART_REFUSAL] = "refusal",
    };
    const struct part *p = &rp->part;

    strbuf_add_cstr(out, names[p->kind]);
    tell_word(out, tellable_id(p));
    tell_word(out, p->name);
    tell_word(out, p->args);
    tell_word(out, p->url);
    if (p->is_free_text)
        strbuf_add_cstr(out, " (free text)");
    if (rp->text.n) {
        strbuf_add_char(out, ' ');
        json_write_string(out, strbuf_str(&rp->text));
    }
    strbuf_add_char(out, '\n');
    if (p->kind == PART_MEDIA) {
        strbuf_addf(out, "  %" STR_FMT, STR_ARG(p->media.mime));
        tell_str(out, p->media.source == MEDIA_URL ? " at " : " ", p->media.data);
    }
    tell_str(out, "  bad arguments ", p->bad_args);
    tell_str(out, "  title ", p->title);
    tell_str(out, "  signature ", p->signature);
    tell_str(out, "  data ", p->data);
    if (p->native.n)
        strbuf_addf(out, "  native %" STR_FMT "\n", STR_ARG(p->native));
}

static inline void tell_stop(struct strbuf *out, const struct reply *r)
{
    static const char *const stops[] = {
        [STOP_UNKNOWN] = "stopped",   [STOP_END] = "end",
        [STOP_TOOL_CALLS] = "calls",  [STOP_LENGTH] = "cut off",
        [STOP_FILTERED] = "filtered", [STOP_REFUSED] = "refused",
        [STOP_PAUSED] = "paused",     [STOP_OVERFLOW] = "window full",
        [STOP_UNREAD] = "unread",
    };

    if (r->stop_reason.n == 0)
        return;
    strbuf_addf(out, "%s %" STR_FMT, stops[r->stop], STR_ARG(r->stop_reason));
    if (r->stop_detail.n)
        strbuf_addf(out, " (%" STR_FMT ")", STR_ARG(r->stop_detail));
    strbuf_add_char(out, '\n');
}

static inline void tell_count(struct strbuf *out, const char **separator, int64_t n,
                              const char *label)
{
    if (n < 0)
        return;
    strbuf_addf(out, "%s%lld %s", *separator, (long long)n, label);
    *separator = ", ";
}

static inline void tell_usage(struct strbuf *out, const struct usage *u)
{
    const char *separator = "usage ";

    tell_count(out, &separator, u->input, "in");
    tell_count(out, &separator, u->output, "out");
    tell_count(out, &separator, u->cache_read, "cached");
    tell_count(out, &separator, u->cache_write, "written");
    tell_count(out, &separator, u->reasoning, "reasoning");
    tell_count(out, &separator, u->cost_microcents, "microcents");
    if (u->upstream_microcents)
        tell_count(out, &separator, u->upstream_microcents, "of them upstream");
    if (separator[0] == ',')
        strbuf_add_char(out, '\n');
    if (u->routed_provider.n || u->routed_model.n) {
        strbuf_add_cstr(out, "answered by");
        tell_word(out, u->routed_provider);
        tell_word(out, u->routed_model);
        strbuf_add_char(out, '\n');
    }
}

static inline void tell_error(struct strbuf *out, const struct err *e)
{
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    if (e)
        strbuf_addf(out, "error %s: %s\n", err_code(e->kind), text);
}

static inline struct err *read_in_pieces(struct decoder *d, struct str bytes, size_t piece)
{
    for (; bytes.n; bytes = str_skip(bytes, piece)) {
        struct err *e = decoder_feed(d, str_slice(bytes, 0, piece));
        if (e) {
            reply_finish(d->decode.reply);
            return e;
        }
    }
    return decoder_end(d);
}

/* The transcript of one answer, read `piece` bytes at a time. */
static inline void tell_answer(struct strbuf *out, const struct protocol *protocol, int status,
                               struct str bytes, size_t piece)
{
    AUTO(reply) struct reply reply;
    AUTO(decoder) struct decoder decoder;
    AUTO(err) struct err *e = NULL;

    reply_init(&reply, (struct delta_sink){0});
    decoder_init(&decoder, protocol, status, NULL, 0, &reply);
    e = read_in_pieces(&decoder, bytes, piece);
    for (size_t i = 0; i < reply.n_parts; i++)
        tell_part(out, &reply.parts[i]);
    tell_stop(out, &reply);
    tell_usage(out, &reply.usage);
    tell_error(out, e);
}

static inline void assert_reads_(const struct protocol *protocol, int status,
                                 struct answer_text answer, const char *want, const char *file,
                                 int line)
{
    static const size_t pieces[] = {SIZE_MAX, 7, 1};
    AUTO(strbuf) struct strbuf bytes = answer_bytes(answer), told = {0};

    add_quoted(&told, want);
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        AUTO(strbuf) struct strbuf got = {0};

        tell_answer(&got, protocol, status, strbuf_str(&bytes), pieces[i]);
        if (!str_eq(strbuf_str(&got), strbuf_str(&told))) {
            print_error("want:\n%sgot%s:\n%s", strbuf_cstr(&told), i ? " (in pieces)" : "",
                        strbuf_cstr(&got));
            _fail(file, line);
        }
    }
}
#define assert_reads(protocol, answer, want)                                                       \
    assert_reads_((protocol), 200, (answer), (want), __FILE__, __LINE__)
#define assert_reads_failure(protocol, status, answer, want)                                       \
    assert_reads_((protocol), (status), (answer), (want), __FILE__, __LINE__)

/* --- what a watcher sees while it streams --- */

struct watched_answer {
    struct reply reply;
    struct strbuf seen;
};

static inline void watched_answer_done(struct watched_answer *w)
{
    reply_done(&w->reply);
    strbuf_done(&w->seen);
}
DEFINE_AUTO_VAL(watched_answer, watched_answer_done)

static inline void tell_delta(void *self, const struct delta *d)
{
    static const char *const names[] = {
        [DELTA_TEXT] = "text",       [DELTA_REASONING] = "reasoning",
        [DELTA_REFUSAL] = "refusal", [DELTA_TOOL_BEGIN] = "call",
        [DELTA_TOOL_ARGS] = "args",  [DELTA_SERVER_TOOL] = "server call",
    };
    struct strbuf *out = &((struct watched_answer *)self)->seen;

    strbuf_addf(out, "%zu %s", d->part, names[d->kind]);
    if (d->kind == DELTA_TOOL_BEGIN || d->kind == DELTA_SERVER_TOOL) {
        tell_word(out, d->id);
        tell_word(out, d->name);
    } else {
        strbuf_add_char(out, ' ');
        json_write_string(out, d->text);
    }
    strbuf_add_char(out, '\n');
}

static inline void tell_end(void *self, size_t index)
{
    struct watched_answer *w = self;
    const struct part *p = reply_part(&w->reply, index);

    strbuf_addf(&w->seen, "%zu whole", index);
    if (p->kind == PART_TOOL_CALL) {
        tell_word(&w->seen, tellable_id(p));
        tell_word(&w->seen, reply_part_args(&w->reply, index));
    }
    strbuf_add_char(&w->seen, '\n');
}

static inline void assert_watched_(const struct protocol *protocol, struct answer_text answer,
                                   struct delta_sink sink, const char *want, const char *file,
                                   int line)
{
    AUTO(strbuf) struct strbuf bytes = answer_bytes(answer), told = {0};
    AUTO(watched_answer) struct watched_answer w = {0};
    AUTO(decoder) struct decoder decoder;

    sink.self = &w;
    reply_init(&w.reply, sink);
    decoder_init(&decoder, protocol, 200, NULL, 0, &w.reply);
    assert_ok_(read_in_pieces(&decoder, strbuf_str(&bytes), SIZE_MAX), file, line);
    add_quoted(&told, want);
    assert_str_(strbuf_str(&w.seen), strbuf_cstr(&told), file, line);
}
/* One line for each delta: the index of its part, its kind, and what it brings. */
#define assert_deltas(protocol, answer, want)                                                      \
    assert_watched_((protocol), (answer), (struct delta_sink){.on_delta = tell_delta}, (want),     \
                    __FILE__, __LINE__)
/* And for each part that is told to be whole: its index, of a call also its id and arguments. */
#define assert_ends(protocol, answer, want)                                                        \
    assert_watched_((protocol), (answer),                                                          \
                    (struct delta_sink){.on_delta = tell_delta, .on_close = tell_end}, (want),     \
                    __FILE__, __LINE__)

#endif
