/* failure.c - tells errors to the model. */
#include "tool/file/failure.h"

struct err *failure_tell(struct tool_result *r, struct err *take_error)
{
    AUTO(err) struct err *e = take_error;
    AUTO_FREE char *text = NULL;
    const char *hint;

    if (!e || err_is(e, ERR_CANCELLED) || err_is(e, ERR_TIMEOUT))
        return TAKE(e);
    text = err_message(e);
    hint = err_find_hint(e);
    tool_result_fail(r, "%s", text);
    if (hint)
        tool_result_addf(r, "\nHint: %s", hint);
    return NULL;
}
