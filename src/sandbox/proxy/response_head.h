/* response_head.h - the head of a server's answer, told that the connection ends with it. Pure.
 *
 * The proxy asks servers to close, and not all of them say that they will. A command that does not
 * know sends its next request into a connection that is about to end. */
#ifndef KEEL_SANDBOX_PROXY_RESPONSE_HEAD_H
#define KEEL_SANDBOX_PROXY_RESPONSE_HEAD_H

#include "base/strbuf.h"

/* Can the head of an answer start with these bytes? What cannot is passed on as it is. */
bool proxy_answer_begins(struct str bytes);

/* Writes a whole head for the command. True: it is the last one, the body follows; else it was an
 * interim answer, and another head comes. */
bool proxy_answer_write(struct strbuf *out, struct str head);

#endif
