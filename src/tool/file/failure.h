/* failure.h - a failure as a result for the model: what went wrong, and what to do about it. */
#ifndef KEEL_TOOL_FILE_FAILURE_H
#define KEEL_TOOL_FILE_FAILURE_H

#include "port/tool.h"

/* Makes the error the result, with its hint. NULL is fine and changes nothing; being cancelled or
 * too late is no result and is handed back. */
MUST_USE struct err *failure_tell(struct tool_result *r, struct err *take_error);

#endif
