/* ask_hooks.c - what hooks are told of a call, and what they say besides yes and no. */
#include "gate/ask_hooks.h"

static struct json *fields_of(const struct gate_call *call, const struct verdict *v,
                              struct arena *a)
{
    struct json *fields = json_new(a, JSON_OBJECT);

    json_set_str(a, fields, "tool_name", str_of(v->entry->tool->name));
    json_set(a, fields, "tool_input", json_copy(a, v->args));
    json_set_str(a, fields, "tool_use_id", call->call->id);
    return fields;
}

void gate_add_line(struct arena *a, struct str *text, struct str line)
{
    if (line.n == 0)
        return;
    *text =
        text->n ? arena_format(a, "%" STR_FMT "\n%" STR_FMT, STR_ARG(*text), STR_ARG(line)) : line;
}

bool gate_has_hooks(struct hooks *h, enum hook_event event, const struct gate_call *call,
                    struct arena *a, const struct verdict *verdict)
{
    struct hook_input input = {.event = event};

    if (!h)
        return false;
    input.fields = fields_of(call, verdict, a);
    return hooks_has(h, &input);
}

struct err *gate_ask_hooks(struct hooks *h, enum hook_event event, const struct gate_call *call,
                           struct arena *a, struct verdict *verdict,
                           struct hook_outcome *ret_outcome)
{
    struct hook_input input = {.event = event};

    *ret_outcome = (struct hook_outcome){0};
    if (!h)
        return NULL;
    input.fields = fields_of(call, verdict, a);
    TRY(hooks_run(h, &input, a, ret_outcome));
    gate_add_line(a, &verdict->hook_context, ret_outcome->additional_context);
    gate_add_line(a, &verdict->hook_message, ret_outcome->system_message);
    if (ret_outcome->stops_run && !verdict->stops_run) {
        verdict->stops_run = true;
        verdict->stop_reason = ret_outcome->stop_reason;
    }
    return NULL;
}
