/* stream_json_line.h - what the files of the stream-json view share. */
#ifndef KEEL_VIEW_STREAM_JSON_LINE_H
#define KEEL_VIEW_STREAM_JSON_LINE_H

#include "view/field.h"
#include "view/stream_json.h"

/* What one model has taken so far, in this run and the ones before. */
struct model_total {
    struct str name;
    int64_t input, output, cache_read, cache_write, reasoning, microcents;
    int64_t window, max_output;
    bool has_answered; /* or failed to */
};

/* The answer that streams in. */
struct partial {
    bool is_open;                       /* message_start is out, message_stop is not */
    bool has_block;                     /* content_block_start is out for `part` */
    size_t part;                        /* of the reply: the one whose block is open */
    unsigned n_blocks;                  /* begun so far */
    uint16_t block_of[REPLY_MAX_PARTS]; /* by part: its block's index + 1; 0: none yet */
    enum delta_kind kind;               /* of the open block's deltas */
};

struct stream_json {
    struct stream_json_options options;
    struct arena arena;
    unsigned char uuid_seed[10];
    uint64_t n_lines;
    bool is_running; /* a run has begun and not ended */
    struct partial partial;
    struct strbuf message_id; /* of the answer under way; empty: not known yet */
    struct strbuf model;      /* of the attempt under way */
    size_t n_told;            /* parts of its answer that need no line any more */
    size_t n_told_lines;      /* that they have given */
    enum stop stop;           /* of the last answer */
    bool has_failed;          /* the last attempt did, with this: */
    enum err_kind failure;
    bool in_tools; /* the last round's calls are running */
    struct model_total *models;
    size_t n_models, models_room;
    int64_t earlier_microcents; /* of the runs before this one */
};

/* A line: begin, add fields, end. The end adds session_id and uuid: a new one, or the given. */
void line_begin(struct json_writer *w, struct strbuf *out, const char *type);
void line_end(struct stream_json *s, struct json_writer *w, const struct event *e);
void line_end_as(struct stream_json *s, struct json_writer *w, struct str uuid);
void line_parent(struct json_writer *w, const struct event *e); /* parent_tool_use_id */

/* An answer's id, which all its lines share: the provider's, else one of our own. */
struct str message_id(struct stream_json *s, const struct event *e, struct str given);

/* The Messages API's usage object, whole. */
void usage_block(struct json_writer *w, const struct usage *u);
/* The Messages API's message object up to its content, which the caller writes, and after it. */
void message_head(struct json_writer *w, struct str id, struct str model);
void message_tail(struct json_writer *w, const struct usage *u);
/* The Messages API's word for why a model stopped, or null. */
void field_stop(struct json_writer *w, struct str reason, enum stop stop);
/* The SDK's word for a failure of the provider. */
struct str failure_word(enum err_kind kind);

void write_assistant(struct stream_json *s, const struct event *e, struct strbuf *out);
/* A part of an answer that still streams in has come whole. */
void write_part(struct stream_json *s, const struct event *e, struct strbuf *out);
void write_prompt(struct stream_json *s, const struct event *e, struct strbuf *out);
void write_tool_result(struct stream_json *s, const struct event *e, struct strbuf *out);
/* A change of state, where it is a background command's. */
void write_task(struct stream_json *s, const struct event *e, struct strbuf *out);
void write_result(struct stream_json *s, const struct event *e, struct strbuf *out);

/* Only for the main run: pieces of children would mix. */
void partial_delta(struct stream_json *s, const struct event *e, struct strbuf *out);
/* The part has ended: its line stands before the end of its block. */
void partial_part(struct stream_json *s, const struct event *e, struct strbuf *out);
/* Ends the message, if one is open; `reply` says why it stopped, NULL: it broke off. */
void partial_end(struct stream_json *s, const struct event *e, const struct reply *reply,
                 struct strbuf *out);

#endif
