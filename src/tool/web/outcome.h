/* outcome.h - how a request that failed is told to the model. */
#ifndef KEEL_TOOL_WEB_OUTCOME_H
#define KEEL_TOOL_WEB_OUTCOME_H

#include "port/tool.h"

/* Consumes the error. What the model can know of (no such host, a time-out of the request itself)
 * becomes a failed result; what interrupted the task comes back. NULL in, NULL out. */
MUST_USE struct err *web_outcome(struct tool_result *result, struct err *take_error);

#endif
