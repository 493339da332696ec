/* encode.h - one event on its way into a record. Only encode*.c and types.c include this.
 *
 * put: a member of the body that is being written; what is empty or 0 is omitted. */
#ifndef KEEL_SESSION_CODEC_ENCODE_H
#define KEEL_SESSION_CODEC_ENCODE_H

#include "session/codec/codec.h"
#include "session/codec/payload_strings.h"

#define N_KNOWN 16 /* messages and results that the next records may refer to */

struct known_result {
    uint64_t seq;
    unsigned char hash[SHA256_SIZE]; /* of it as JSON */
};

/* What streams in within an attempt: what the next entry need not say again. */
struct stream_writing {
    uint64_t next_payload, next_delta; /* their sequences */
    int64_t unix_ms;                   /* of the last entry */
    struct strbuf provider, api_surface;
    int http_status;
    /* the last delta of the record */
    bool has_delta;
    enum delta_kind kind;
    size_t part;
    struct strbuf id, name;
    /* the last payload of the record, and what deltas may repeat of it */
    struct strbuf source; /* with brackets around it */
    bool stands_as_it_is;
    struct arena scratch;
    struct payload_strings strings;
    /* the text that a delta had from there, and what stands around it in the source: payloads that
     * have the same around another text are told by that text */
    bool has_text;
    size_t text_place;
    struct str before, after;
    struct strbuf text; /* of the last such payload */
};

struct codec_writer {
    struct message *messages[N_KNOWN]; /* they do not change; references are held */
    struct known_result results[N_KNOWN];
    unsigned next_message, next_result;
    char blobs[N_KNOWN][SHA256_HEX_SIZE]; /* of the last records, with their bytes */
    unsigned next_blob;
    uint64_t reply_seq;  /* of an answer that no message was made of yet; 0: there is none */
    struct strbuf reply; /* its parts as JSON */
    struct stream_writing stream;
    /* the history */
    uint64_t base_seq;
    size_t n_messages;
    struct history_hash hash;
    struct codec_pack *packs; /* of the history, in their order; on the heap */
    size_t n_packs, packs_room;
    size_t pack_from;       /* see codec_writer_pack_from() */
    struct arena run_arena; /* of these, which say what codec_position does */
    struct str run_id, provider, model;
    /* what was offered last */
    uint64_t tools_version;
    size_t n_tools;
    char tools[SHA256_HEX_SIZE];
    char system[SHA256_HEX_SIZE]; /* the last prompt that became a blob */
};

struct encoding {
    struct codec_writer *writer;
    struct codec_record *out;
    struct json_writer json;
    const struct event *event;
};

/* --- values --- */

void codec_add_blob(struct encoding *c, struct str bytes, char handle[SHA256_HEX_SIZE]);
void codec_add_blob_as(struct encoding *c, struct str bytes, const char *handle); /* its hash */
/* One that is stored already: it stays as long as the record does. Nothing for what is no handle.
 * `n_bytes` of it, so that no one has to ask the store; 0: not known. */
void codec_add_handle(struct encoding *c, struct str handle, uint64_t n_bytes);
void codec_write_blob(struct encoding *c, struct str bytes);
void codec_write_reference(struct encoding *c, const char *kind, struct str value);

void codec_put_text(struct encoding *c, const char *key, struct str text);
void codec_put_shared(struct encoding *c, const char *key, struct str text); /* by many records */
void codec_put_system(struct encoding *c, const char *key, struct str text);
void codec_put_json_text(struct encoding *c, const char *key, struct str text);
void codec_put_json(struct encoding *c, const char *key, const struct json *v);
void codec_put_int(struct encoding *c, const char *key, int64_t value);
void codec_put_true(struct encoding *c, const char *key, bool value);
void codec_put_name(struct encoding *c, const char *key, const char *name);
void codec_put_error(struct encoding *c, const struct err *e);
void codec_put_usage(struct encoding *c, const struct usage *u);

/* --- messages --- */

void codec_put_message(struct encoding *c, const char *key, const struct message *m);
void codec_put_result(struct encoding *c, const struct part *p);
void codec_put_history(struct encoding *c, const char *key);
void codec_put_pack(struct encoding *c); /* of the history at a checkpoint */
void codec_add_pack(struct codec_writer *w, const struct codec_pack *pack);
/* A run has begun, or, without one, a history. */
void codec_note_run(struct codec_writer *w, struct str run_id, struct str provider,
                    struct str model);
void codec_put_reply(struct encoding *c, const char *key, const struct reply *r);
void codec_forget_reply(struct codec_writer *w);

/* --- tools that are offered --- */

void codec_put_schemas(struct encoding *c, const struct tool_set *set);

/* --- what streams in --- */

bool codec_is_streamed(const struct event *e); /* its record is one of a stream */
bool codec_stream_joins(const struct codec_writer *w, const struct codec_record *last,
                        const struct event *e);
void codec_stream_begin(struct encoding *c); /* ends within the list of the record's entries */
void codec_stream_join(struct encoding *c);  /* begins there */
void codec_stream_done(struct stream_writing *s);

/* --- events --- */

void codec_encode_session(struct encoding *c);
void codec_encode_run(struct encoding *c);
void codec_encode_result(struct encoding *c);
void codec_encode_compact(struct encoding *c);
void codec_encode_tools(struct encoding *c);
void codec_encode_state(struct encoding *c);
void codec_encode_answer(struct encoding *c);
void codec_encode_checkpoint(struct encoding *c);
void codec_encode_error(struct encoding *c);
void codec_encode_attempt(struct encoding *c);
void codec_encode_request(struct encoding *c);
void codec_encode_reply(struct encoding *c);
void codec_encode_payload(struct encoding *c);
void codec_encode_delta(struct encoding *c);
void codec_encode_message(struct encoding *c);
void codec_encode_history(struct encoding *c);
void codec_encode_batch(struct encoding *c);
void codec_encode_tool(struct encoding *c);
void codec_encode_snapshot(struct encoding *c);
void codec_encode_pre_image(struct encoding *c);

#endif
