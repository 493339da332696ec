/* outbox.h - output that waits until the events behind it are durable.
 *
 * What has been printed cannot be unprinted: a reader who saw a result must find it in the session
 * after a crash. So output of a run is kept here, in order and for both streams, until the journal
 * has the events that it is about. Output of commands without a session passes through.
 *
 * There is one, as there is one standard output. */
#ifndef KEEL_CLI_OUTPUT_OUTBOX_H
#define KEEL_CLI_OUTPUT_OUTBOX_H

#include "base/err.h"
#include "base/str.h"

/* What is printed from here on is about the event with this number, and those before it. */
void outbox_follow(uint64_t seq);
/* Events before this number are durable: prints what is about them. */
MUST_USE struct err *outbox_release(uint64_t next_seq);
/* Prints all of it: the run has ended, and what is not durable has been reported. Numbers begin
 * anew. */
MUST_USE struct err *outbox_flush(void);

/* True: it is kept and printed later. False: the caller prints it now. */
bool outbox_keep(int fd, struct str text);
/* Writes to a descriptor as it is. When nothing reads standard output any more the program ends,
 * as the shell expects of it: silently, by SIGPIPE. When its reader has stopped reading and a
 * signal ends keel, the rest is given up after a second. */
MUST_USE struct err *outbox_write(int fd, struct str text);

#endif
