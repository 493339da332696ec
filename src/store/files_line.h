/* files_line.h - writes and reads one line of a session's log. Pure.
 *
 *     {"timestamp":T,"sessionId":ID,"event":TYPE,"seq":N,"n":COUNT,"executionId":RUN,"turn":..,
 *      "round":..,"attempt":..,"core":true,"payloads":[HANDLE..],"messages":N,"at":OFFSET,
 *      "check":SUM,MEMBERS OF THE BODY}
 *
 * Members without a value are omitted. The store's own lines have "fence" instead of "seq" and are
 * not records. "at" is the offset of the line in the file: it shows missing and repeated lines.
 * "messages" is the number of messages that the session has with this record. On a line of its own
 * it could be lost in a crash while the record stays. "check" is the 64-bit FNV-1a sum of the line
 * without this member, as sixteen hex digits. It finds damage, not forgery. Everything after it is
 * the body, byte for byte. A body that does not fit on a line becomes the string "$body". */
#ifndef KEEL_STORE_FILES_LINE_H
#define KEEL_STORE_FILES_LINE_H

#include "port/store.h"

struct files_line {
    struct str id; /* of the session; only when read */
    uint64_t at;   /* offset of the line; only when read; FILES_LINE_NOWHERE: not stated */
    struct store_record record; /* files_line_body() makes its body */
    bool is_own;                /* a line of the store: only type, time and body count */
    uint64_t fence;             /* of the store's own lines */
    uint64_t n_messages;        /* of a record; like in an update of a summary */
    struct str members;         /* of the body */
    bool is_wrapped;            /* they are a JSON string that holds the body */
};

#define FILES_LINE_NOWHERE UINT64_MAX

/* Writes the line with its newline. The record has its body. `base` is the offset of `out` in the
 * file. */
void files_line_write(struct strbuf *out, uint64_t base, struct str id, const struct files_line *l);

/* Can a crash have left these bytes of a line of this session? They are its first bytes, or
 * zeros. */
bool files_line_is_torn(struct str bytes, struct str id);

/* Parses a line without its newline. False: broken. Texts borrow from the line or live in `a`. */
bool files_line_parse(struct str line, struct arena *a, struct files_line *ret_line);
struct str files_line_body(const struct files_line *l, struct arena *a);

#endif
