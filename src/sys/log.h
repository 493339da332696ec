/* log.h - what happened, for operators: levels, text or JSON lines, never a secret.
 *
 * A log is a value that is passed along; there is no global one, and libraries do not print. Every
 * field whose key names a credential is replaced by [REDACTED], and so is every known secret value
 * wherever it stands. A NULL log swallows everything. Writing never fails the caller: a log
 * that cannot be written must not stop the work it tells about. */
#ifndef KEEL_SYS_LOG_H
#define KEEL_SYS_LOG_H

#include "base/secrets.h"
#include "sys/clock.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };
enum log_format { LOG_TEXT, LOG_JSON };

const char *log_level_name(enum log_level l);
bool log_level_find(struct str name, enum log_level *ret_level);

struct log;

struct log_sink { /* gets whole lines with their newline */
    void (*write)(void *self, enum log_level level, struct str line);
    void *self;
};

struct log *log_new(enum log_level level, enum log_format format, const struct clock *clock,
                    struct log_sink sink) MUST_USE;
void log_free(struct log *l);
DEFINE_AUTO_PTR(log, log_free)

/* A sink for a file descriptor that is not closed. */
struct log_sink log_fd_sink(int fd);

/* From now on none of these values appears in a line. Keeps a reference; NULL: none are known. */
void log_hide(struct log *l, const struct secrets *secrets);

struct log_field {
    const char *key;
    struct str value;
};
void log_event(struct log *l, enum log_level level, const char *message,
               const struct log_field *fields, size_t n_fields);
void log_printf(struct log *l, enum log_level level, const char *format, ...) PRINTF_LIKE(3, 4);

#define LOG_EVENT(l, level, message, ...)                                                          \
    log_event((l), (level), (message), (const struct log_field[]){__VA_ARGS__},                    \
              sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

#endif
