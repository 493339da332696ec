/* process_log.h - the log that the operator of this process wants, and its lines that no session
 * tells. view/operator_log.h writes the others. */
#ifndef KEEL_SDK_PROCESS_LOG_H
#define KEEL_SDK_PROCESS_LOG_H

#include "sdk/project.h"
#include "sys/log.h"

struct log_flags {
    const char *file, *level; /* --log-file, --log-level; NULL: as the rest says */
};

/* Flags, then KEEL_LOG, then the settings log.file and log.level: opens the log for the project's
 * host and says that the process works for `command`. Does nothing if no log is wanted.
 * ERR_VALIDATION: what was asked for cannot be. */
MUST_USE struct err *process_log_open(struct project *p, const struct log_flags *flags,
                                      const char *command, const char *version);
/* The process ends with that status; `e` NULL: it did well. */
void process_log_end(struct log *l, int status, const struct err *e);

/* A session was opened, or closed. */
void process_log_session(struct log *l, const char *event, const char *id, const char *how,
                         bool is_stored);

#endif
