/* hidden_thoughts.h - providers that do not show their reasoning to this account.
 *
 * Models are asked for the text of their reasoning. Some vendors show it only to accounts that they
 * have verified, and refuse the request of others: it is made again without that wish, and so are
 * all later ones of the session. */
#ifndef KEEL_ENGINE_HIDDEN_THOUGHTS_H
#define KEEL_ENGINE_HIDDEN_THOUGHTS_H

#include "engine/run.h"

/* True: the error refuses to show reasoning, and the provider is not asked for it from now on, so
 * that the request is worth another try. */
bool hidden_thoughts_accept(struct run *r, struct str provider, const struct err *e);
/* Has this provider refused to show its reasoning? */
bool hidden_thoughts_are(const struct tool_state *s, struct str provider);

#endif
