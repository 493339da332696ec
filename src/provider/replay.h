/* replay.h - a model that answers from a session log, offline.
 *
 * The log is JSONL; each `provider_response_normalized` line holds one answer, and every request
 * takes the next. A request beyond the last answer is an error. */
#ifndef KEEL_PROVIDER_REPLAY_H
#define KEEL_PROVIDER_REPLAY_H

#include "port/provider.h"

/* Copies the log. Errors name the line. A last line that was cut off is ignored. */
MUST_USE struct err *replay_provider_new(struct str id, struct str log,
                                         struct provider **ret_provider);

#endif
