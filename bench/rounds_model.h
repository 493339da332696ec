/* rounds_model.h - a model that calls one tool so many times, and a gate that lets it. */
#ifndef KEEL_BENCH_ROUNDS_MODEL_H
#define KEEL_BENCH_ROUNDS_MODEL_H

#include "engine/run.h"

#include <stdio.h>

#define N_ROUNDS 3
#define RESULT_BYTES 1000
#define ROUNDS_SCHEMA                                                                              \
    "{\"type\":\"object\",\"additionalProperties\":false,"                                         \
    "\"properties\":{\"round\":{\"type\":\"integer\"}}}"

/* Since the last prompt. */
static inline int rounds_count_results(const struct model_request *q)
{
    int n = 0;

    for (size_t i = q->n_messages; i-- > 0 && q->messages[i]->role != ROLE_USER;)
        n += q->messages[i]->role == ROLE_TOOL;
    return n;
}

static inline struct err *rounds_answer(struct reply *reply, int n_results)
{
    char text[64];
    size_t part;

    snprintf(text, sizeof text, "That was number %d.", n_results);
    TRY(reply_begin(reply, PART_TEXT, S(""), S(""), &part));
    TRY(reply_add_text(reply, part, str_of(text)));
    reply_set_stop(reply, S("end_turn"), STOP_END);
    if (n_results == N_ROUNDS)
        return NULL;
    snprintf(text, sizeof text, "{\"round\":%d}", n_results + 1);
    TRY(reply_begin(reply, PART_TOOL_CALL, str_of(text), S("Hold"), &part));
    TRY(reply_add_args(reply, part, str_of(text)));
    reply_set_stop(reply, S("tool_use"), STOP_TOOL_CALLS);
    return NULL;
}

static inline struct err *rounds_ask(const struct provider *p, const struct model_request *request,
                                     const struct provider_call *call, struct reply *reply)
{
    TRY(rounds_answer(reply, rounds_count_results(request)));
    reply->is_complete = true;
    reply_finish(reply);
    return NULL;
}

static inline void rounds_free(struct provider *p)
{
}

static const struct provider_ops rounds_ops = {.ask = rounds_ask, .free = rounds_free};
static const struct provider rounds_provider = {&rounds_ops, {"p", 1}, {"script", 6}};

static inline struct err *rounds_judge(struct gate *g, const struct gate_call *c, struct arena *a,
                                       struct verdict *v)
{
    struct json *given, *args;

    v->entry = tool_set_find(c->tools, c->call->name);
    TRY(json_parse(a, c->call->args, 0, &given));
    TRY(tool_entry_arguments(v->entry, given, a, &args));
    v->args = args;
    v->kind = VERDICT_ALLOW;
    return NULL;
}

#endif
