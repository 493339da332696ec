/* callback.c - hooks that are functions of the host program. */
#include "hook/executors.h"

static struct err *callback_hook_run(struct hook_executor *executor, const struct hook_job *job,
                                     struct hook_reply *reply)
{
    struct callback_hooks *x = (struct callback_hooks *)executor;
    struct deadline limit;
    struct err *e;

    deadline_begin(&limit, job->timeout_ms, "the hook");
    e = x->call(x->self, json_get_text(job->definition, "callback"), job->input, reply);
    deadline_end(&limit);
    if (!err_is(e, ERR_TIMEOUT) || !limit.expired)
        return e;
    err_ignore(e, "it is told by timed_out");
    reply->timed_out = true;
    return NULL;
}

void callback_hooks_init(struct callback_hooks *x,
                         struct err *(*call)(void *self, struct str id, struct str input,
                                             struct hook_reply *reply),
                         void *self)
{
    *x = (struct callback_hooks){
        .executor = {.type = "callback", .run = callback_hook_run}, .call = call, .self = self};
}
