/* log.h - what an operator must know of a process, as lines of JSON.
 *
 * A log is a value that is passed along: there is no global one, and libraries print nothing. NULL
 * is a log that is off and costs a comparison. A line is one write to a file that is opened for
 * appending, so that processes may share it. If the file was renamed or removed, the next line
 * begins a new one of that name in the same directory; a link there is not followed. Writing never
 * fails the caller: lines that cannot be written are counted, and the next one says how many are
 * missing. Known secrets are replaced everywhere.
 *
 *     {"time":"2026-11-18T20:31:18.042Z","level":"info","pid":4711,"event":"run_end",...} */
#ifndef KEEL_SYS_LOG_H
#define KEEL_SYS_LOG_H

#include "base/secrets.h"
#include "sys/clock.h"

#define LOG_MAX_LINE ((size_t)64 << 10)

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
const char *log_level_name(enum log_level l); /* "error", "warning", "info", "debug" */
bool log_level_find(struct str name, enum log_level *ret_level);

struct log;

struct log_sink { /* gets whole lines with their newline; false: not written */
    bool (*write)(void *self, struct str line);
    void *self;
};
/* `clock` NULL: the machine's. */
struct log *log_new(enum log_level level, const struct clock *clock, struct log_sink sink) MUST_USE;
/* Writes to that file, which is created with mode 0600. ERR_VALIDATION: it cannot be written. */
MUST_USE struct err *log_open(const char *path, enum log_level level, struct log **ret_log);
void log_free(struct log *l);
DEFINE_AUTO_PTR(log, log_free)

/* From now on none of these values appears in a line. Keeps a reference; NULL: no secrets. */
void log_hide(struct log *l, const struct secrets *secrets);

/* Begin a line, add its members, end it. NULL: lines of this level are off, and there is nothing to
 * end. */
struct json_writer *log_begin(struct log *l, enum log_level level, const char *event);
void log_end(struct log *l);

#endif
