/* stream_json_line.h - shared by the files of the stream-json view. */
#ifndef KEEL_VIEW_STREAM_JSON_LINE_H
#define KEEL_VIEW_STREAM_JSON_LINE_H

#include "view/field.h"
#include "view/stream_json.h"

/* The usage of one model, in this run and the ones before. */
struct model_total {
    struct str name;
    int64_t input, output, cache_read, cache_write, reasoning, microcents;
    int64_t window, max_output;
    bool has_answered; /* or failed */
};

/* The answer that is being streamed. */
struct partial {
    bool is_open;                       /* message_start was written, message_stop was not */
    bool has_block;                     /* content_block_start was written for `part` */
    size_t part;                        /* of the reply: the part with the open block */
    unsigned n_blocks;                  /* begun so far */
    uint16_t block_of[REPLY_MAX_PARTS]; /* by part: index + 1 of its block; 0: none yet */
    enum delta_kind kind;               /* of the open block's deltas */
};

struct stream_json {
    struct stream_json_options options;
    struct arena arena;
    unsigned char uuid_seed[10];
    uint64_t n_lines;
    bool is_running; /* a run has begun and not ended */
    struct partial partial;
    struct strbuf message_id; /* of the present answer; empty: unknown */
    struct strbuf model;      /* of the present attempt */
    size_t n_reported;        /* parts of its answer that need no more lines */
    size_t n_reported_lines;  /* lines of these parts */
    enum stop stop;           /* of the last answer */
    bool has_failed;          /* the last attempt failed, with this error: */
    enum err_kind failure;
    bool in_tools; /* the last round's calls are running */
    struct model_total *models;
    size_t n_models, models_room;
    int64_t earlier_microcents; /* of the runs before */
};

/* A line: begin, add fields, end. The end adds session_id and uuid: a new one, or the given one. */
void line_begin(struct json_writer *w, struct strbuf *out, const char *type);
void line_end(struct stream_json *s, struct json_writer *w, const struct event *e);
void line_end_as(struct stream_json *s, struct json_writer *w, struct str uuid);
void line_parent(struct json_writer *w, const struct event *e); /* parent_tool_use_id */

/* The id of an answer, shared by all its lines: the provider's, else a generated one. */
struct str message_id(struct stream_json *s, const struct event *e, struct str given);

/* The complete usage object of the Messages API. */
void usage_block(struct json_writer *w, const struct usage *u);
/* The message object of the Messages API, without its content, which the caller writes after it. */
void message_head(struct json_writer *w, struct str id, struct str model);
void message_tail(struct json_writer *w, const struct usage *u);
/* The stop reason in terms of the Messages API, or null. */
void field_stop(struct json_writer *w, struct str reason, enum stop stop);
/* The SDK's word for a failure of the provider. */
struct str failure_word(enum err_kind kind);

void write_assistant(struct stream_json *s, const struct event *e, struct strbuf *out);
/* A part of a streaming answer is complete. */
void write_part(struct stream_json *s, const struct event *e, struct strbuf *out);
void write_prompt(struct stream_json *s, const struct event *e, struct strbuf *out);
void write_tool_result(struct stream_json *s, const struct event *e, struct strbuf *out);
/* A change of state, if it is about a background command. */
void write_task(struct stream_json *s, const struct event *e, struct strbuf *out);
void write_result(struct stream_json *s, const struct event *e, struct strbuf *out);

/* Only for the main run: pieces of children would be mixed in. */
void partial_delta(struct stream_json *s, const struct event *e, struct strbuf *out);
/* The part has ended: its line comes before the end of its block. */
void partial_part(struct stream_json *s, const struct event *e, struct strbuf *out);
/* Ends the message, if one is open; `reply` has the stop reason, NULL: interrupted. */
void partial_end(struct stream_json *s, const struct event *e, const struct reply *reply,
                 struct strbuf *out);

#endif
