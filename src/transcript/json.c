/* json.c - writes a transcript as one object, the session's record (session/session_record.h).
 * Children are in one list, each with the id of its parent. */
#include "session/session_record.h"
#include "transcript/requests.h"

struct tree_writing {
    const struct transcript *transcript;
    struct redaction *redaction;
    struct record_writer *writer;
    bool has_children;
};

static struct err *write_stream(void *self, const struct store_summary *s, unsigned depth)
{
    struct tree_writing *t = self;
    struct json_writer *json = record_writer_json(t->writer);

    if (depth && !t->has_children) {
        t->has_children = true;
        jw_key(json, "children");
        jw_begin_array(json);
    }
    jw_begin_object(json);
    if (depth)
        jw_kv_str(json, "parentSessionId", s->parent);
    TRY(record_writer_add(t->writer, t->transcript->store, s));
    if (t->transcript->with_requests)
        TRY(requests_write(t->transcript, t->redaction, t->writer, s->id));
    if (depth)
        jw_end_object(json);
    return NULL;
}

struct err *transcript_write_record(const struct transcript *t, struct redaction *r)
{
    struct record_sink sink = {.redaction = r,
                               .write = t->write,
                               .on_broken = t->on_broken,
                               .on_progress = t->on_progress,
                               .self = t->self};
    AUTO(record_writer) struct record_writer *w = record_writer_new(&sink);
    struct tree_writing tree = {.transcript = t, .redaction = r, .writer = w};
    struct json_writer *json = record_writer_json(w);

    TRY(transcript_each(t, r, write_stream, &tree));
    if (tree.has_children)
        jw_end_array(json);
    jw_end_object(json);
    TRY(record_writer_flush(w));
    return t->write(t->self, S("\n"));
}
