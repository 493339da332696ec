/* hook_answer_fuzz.c - what must hold for everything that a hook can say. The input: a byte for the
 * event, a byte for the exit code, then stdout; stderr is the same text. */
#include "base/utf8.h"
#include "hook/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_TEXT_BYTES (4 * (HOOK_MAX_TEXT_CHARS + 100))

static void check_text(struct str text)
{
    BUG_IF(!utf8_is_valid(text));
    BUG_IF(text.n > 2 * MAX_TEXT_BYTES);
}

static void check_outcome(enum hook_event event, const struct hook_outcome *o)
{
    const struct hook_event_info *info = hook_event_info(event);

    check_text(o->reason);
    check_text(o->additional_context);
    check_text(o->system_message);
    check_text(o->stop_reason);
    BUG_IF(o->is_blocked && !hook_event_may_block(event));
    BUG_IF(o->permission != HOOK_NO_OPINION && !info->decides_permission);
    BUG_IF(info->decides_permission && o->is_blocked != (o->permission == HOOK_DENY));
    BUG_IF(o->updated_input && !info->takes_changed_input);
    BUG_IF(o->updated_input && o->updated_input->type != JSON_OBJECT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena a = {0};
    AUTO(hook_reply) struct hook_reply reply;
    struct hook_answer answers[2];
    struct hook_outcome all;
    enum hook_event event;

    hook_reply_init(&reply);
    if (size < 2)
        return 0;
    event = (enum hook_event)(data[0] % HOOK_N_EVENTS);
    reply.exit_code = data[1] % 4;
    strbuf_add(&reply.out, str_make((const char *)data + 2, size - 2));
    strbuf_add(&reply.err, str_make((const char *)data + 2, size - 2));
    answers[0] = hook_answer_read(event, &reply, &a);
    check_text(answers[0].problem);
    check_outcome(event, &answers[0].outcome);
    BUG_IF(answers[0].problem.n && answers[0].outcome.permission == HOOK_ALLOW);
    BUG_IF(answers[0].problem.n && answers[0].outcome.updated_input);

    reply.exit_code = 2;
    answers[1] = hook_answer_read(event, &reply, &a);
    all = hook_answers_merge(event, answers, 2, &a);
    check_outcome(event, &all);
    /* Nobody talks a block away, except by ending the run. */
    BUG_IF(hook_event_may_block(event) && !all.is_blocked && !all.stops_run);
    return 0;
}
