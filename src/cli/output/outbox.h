/* outbox.h - output that waits until the events behind it are durable.
 *
 * Printing cannot be undone: a reader who saw a result must find it in the session after a crash.
 * So output of a run is kept here, in order and for both streams, until the journal has its events.
 * Output of commands without a session passes through.
 *
 * There is one, as there is one standard output. */
#ifndef KEEL_CLI_OUTPUT_OUTBOX_H
#define KEEL_CLI_OUTPUT_OUTBOX_H

#include "base/err.h"
#include "base/str.h"

/* Output from here on belongs to the event with this number, and those before it. */
void outbox_follow(uint64_t seq);
/* Events before this number are durable: prints their output. */
MUST_USE struct err *outbox_release(uint64_t next_seq);
/* Prints everything: the run has ended, and events that are not durable have been reported. Numbers
 * start again. */
MUST_USE struct err *outbox_flush(void);

/* True: it is kept and printed later. False: the caller prints it now. */
bool outbox_keep(int fd, struct str text);
/* Writes to a descriptor as it is. When nothing reads standard output any more the program ends,
 * as the shell expects of it: silently, by SIGPIPE. When its reader has stopped reading and a
 * signal ends keel, the rest is given up after a second. */
MUST_USE struct err *outbox_write(int fd, struct str text);

#endif
