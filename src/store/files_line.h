/* files_line.h - one line of a session's log, written and read. Pure.
 *
 *     {"timestamp":T,"sessionId":ID,"event":TYPE,"seq":N,"n":COUNT,"executionId":RUN,"turn":..,
 *      "round":..,"attempt":..,"core":true,"payloads":[HANDLE..],"messages":N,"at":OFFSET,
 *      "check":SUM,MEMBERS OF THE BODY}
 *
 * Members that say nothing are left out. The store's own lines have "fence" in the place of "seq"
 * and are no records. "at" is where in the file the line begins: lines that are missing, or stand
 * there twice, show. "messages" is how many the session has with this record: on a line of its own
 * it could be lost in a crash, and the record stay. "check" is the 64-bit FNV-1a sum of the line
 * without this member, as sixteen hex digits: it finds damage, not forgery. All behind it is the
 * body byte for byte. A body that does not fit on a line stands there as the string "$body". */
#ifndef KEEL_STORE_FILES_LINE_H
#define KEEL_STORE_FILES_LINE_H

#include "port/store.h"

struct files_line {
    struct str id; /* of the session; read only */
    uint64_t at;   /* where it begins; read only, FILES_LINE_NOWHERE: it does not say */
    struct store_record record; /* the body only once files_line_body() has made it */
    bool is_own;                /* of the store: type, time and body count */
    uint64_t fence;             /* of the store's own */
    uint64_t n_messages;        /* of a record; as in an update of a summary */
    struct str members;         /* of the body */
    bool is_wrapped;            /* they are a JSON string that holds the body */
};

#define FILES_LINE_NOWHERE UINT64_MAX

/* With its newline. The record has its body. `base` is where in the file `out` begins. */
void files_line_write(struct strbuf *out, uint64_t base, struct str id, const struct files_line *l);

/* Can a crash have left these bytes of a line of this session? They are its first ones, or zeros.
 */
bool files_line_is_torn(struct str bytes, struct str id);

/* Without its newline. False: broken. Texts borrow from the line or live in `a`. */
bool files_line_parse(struct str line, struct arena *a, struct files_line *ret_line);
struct str files_line_body(const struct files_line *l, struct arena *a);

#endif
