/* outcome.c - errors as results. */
#include "tool/web/outcome.h"

#include "sys/task.h"

/* What ends a sentence that may have an end already. */
static const char *full_stop(const char *sentence)
{
    size_t n = strlen(sentence);

    return n && strchr(".?!", sentence[n - 1]) ? "" : ".";
}

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
    tool_result_fail(result, "%s%s", text, full_stop(text));
    if (hint)
        tool_result_addf(result, " Hint: %s%s", hint, full_stop(hint));
    result->code = e->kind;
    return NULL;
}
