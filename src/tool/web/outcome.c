/* outcome.c - errors as results. */
#include "tool/web/outcome.h"

#include "sys/task.h"

struct err *web_outcome(struct tool_result *result, struct err *take_error)
{
    AUTO(err) struct err *e = take_error;
    AUTO_FREE char *text = NULL;
    const char *hint;

    if (!e)
        return NULL;
    TRY(task_check()); /* the request's own deadline is over by now: this one is the caller's */
    text = err_message(e);
    hint = err_find_hint(e);
    if (hint)
        tool_result_fail(result, "%s. Hint: %s.", text, hint);
    else
        tool_result_fail(result, "%s.", text);
    result->code = e->kind;
    return NULL;
}
