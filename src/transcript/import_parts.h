/* import_parts.h - what the readers of all forms share. Private to import. */
#ifndef KEEL_TRANSCRIPT_IMPORT_PARTS_H
#define KEEL_TRANSCRIPT_IMPORT_PARTS_H

#include "base/json_walk.h"
#include "transcript/import.h"

/* A file being read, line by line or value by value. */
struct importing {
    struct import *out;
    const struct import_options *options;
    const struct import_source *source;
    uint64_t start;       /* of its text: behind a mark of the encoding */
    uint64_t next;        /* byte that is read next */
    struct strbuf buffer; /* what was read */
    size_t at;            /* in the buffer */
    bool is_over;
    struct err *error;    /* of the source; it then looks as if the file ended */
    size_t line;          /* number of the one that was read last, from 1 */
    struct str text;      /* of it */
    struct arena scratch; /* of what it says */
};

/* The next line that is a JSON object, good until the next call; NULL at the end. A line that is
 * none is a problem; the last one may have been cut off. */
const struct json *import_next_line(struct importing *x);
void import_rewind(struct importing *x);
/* A value of any length. Of one that is longer than json_parse() takes, what nothing is taken from
 * is omitted, and so are texts that it has twice. It borrows from `raw` and the scratch. */
MUST_USE struct err *import_value(struct importing *x, struct str raw, struct json **ret_value);
/* Walks over the file's values, from its start. */
void import_walk(struct importing *x, struct json_walk *ret_walk);
/* Something on the line of the moment cannot be read. */
void import_problem(struct importing *x, const char *format, ...) PRINTF_LIKE(2, 3);
void import_leave_out(struct importing *x, struct str kind);

struct imported *import_new_session(struct importing *x);
/* Takes the reference. */
void import_add(struct importing *x, struct imported *s, enum import_step step, bool begins,
                struct message *take_message, int64_t unix_ms);
struct str import_str(struct importing *x, struct str s); /* lives as long as the import */

/* ISO 8601 with any zone, or a number of seconds or milliseconds; 0: it is neither. */
int64_t import_time(const struct json *v);

/* A message in keel's or a record's own form. */
MUST_USE struct err *import_message(struct importing *x, const struct json *v,
                                    struct message **ret_message);
/* A call's arguments: what is no JSON object is kept as what came instead. */
void import_add_call(struct message *m, struct str id, struct str name, struct str args);
/* A result of its own. Content: text, or a list of parts with `text` or an image. */
struct message *import_result(struct importing *x, struct str call_id, const struct json *content,
                              bool is_error) MUST_USE;
/* {"type":"base64","media_type":M,"data":D}, or a data: or http address. */
bool import_image(struct arena *a, const struct json *source, struct part *ret_part);

/* --- the forms --- */

MUST_USE struct err *import_log(struct importing *x);
/* One after the other, or as a list. */
MUST_USE struct err *import_records(struct importing *x);
/* Does the file begin with a record? */
bool import_is_record(struct importing *x);
MUST_USE struct err *import_claude(struct importing *x);
MUST_USE struct err *import_codex(struct importing *x);

/* Makes ids unique, gives every call a result and every message a time, finds the preview. */
void import_finish(struct imported *s, struct import *out);

#endif
