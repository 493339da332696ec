/* script.c - plays scripted turns as if a model answered. */
#include "provider/script.h"

#include "base/yaml.h"
#include "sys/task.h"

struct script_provider {
    struct provider provider;
    struct arena arena;
    struct json *turns;
    size_t n_played; /* the only member that changes: the next turn */
};

/* --- checking --- */

static const char *const step_keys[] = {
    "text",   "reasoning", "refusal",  "tool",  "args",    "args_text",
    "id",     "split",     "delay_ms", "error", "message", "retry_after_ms",
    "status", "cut",       "stop",     "usage", NULL,
};

static bool is_known_key(struct str key)
{
    for (const char *const *k = step_keys; *k; k++)
        if (str_is(key, *k))
            return true;
    return false;
}

static struct err *check_step(const struct json *step, size_t turn, size_t index)
{
    enum err_kind kind;

    if (!json_is(step, JSON_OBJECT))
        return err_new(ERR_VALIDATION, "script: turn %zu, step %zu must be a mapping", turn, index);
    json_each (member, step)
        if (!is_known_key(member->key))
            return err_new(ERR_VALIDATION,
                           "script: turn %zu, step %zu has the unknown key \"%" STR_FMT "\"", turn,
                           index, STR_ARG(member->key));
    if (json_has(step, "error") && !err_kind_find(json_get_text(step, "error"), &kind))
        return err_new(ERR_VALIDATION,
                       "script: turn %zu, step %zu: \"%" STR_FMT "\" is not an error code", turn,
                       index, STR_ARG(json_get_text(step, "error")));
    return NULL;
}

static struct err *check_turns(const struct json *turns)
{
    size_t turn = 0;

    if (!json_is(turns, JSON_ARRAY))
        return err_hint(err_new(ERR_VALIDATION, "script: \"turns\" must be a list"),
                        "write turns: and one - per answer");
    json_each (v, turns) {
        size_t index = 0;

        turn++;
        if (v->type != JSON_ARRAY)
            TRY(check_step(v, turn, 1));
        else
            json_each (step, v)
                TRY(check_step(step, turn, ++index));
    }
    return NULL;
}

/* --- playing --- */

static struct err *wait(const struct json *step)
{
    int64_t delay_ms = json_int_or(json_get(step, "delay_ms"), 0);

    return delay_ms > 0 ? task_sleep((uint64_t)delay_ms) : NULL;
}

static size_t split_of(const struct json *step)
{
    int64_t split = json_int_or(json_get(step, "split"), 0);

    return split > 0 ? (size_t)split : SIZE_MAX;
}

static struct err *play_text(struct reply *r, const struct json *step, const char *key,
                             enum part_kind kind)
{
    struct str text = json_get_text(step, key);
    size_t split = split_of(step), index;

    if (!json_has(step, key))
        return NULL;
    TRY(reply_begin(r, kind, (struct str){0}, (struct str){0}, &index));
    for (size_t at = 0; at < text.n; at += MIN(split, text.n)) {
        TRY(wait(step));
        TRY(reply_add_text(r, index, str_slice(text, at, split)));
    }
    return NULL;
}

static struct err *play_tool(struct reply *r, const struct json *step)
{
    AUTO(strbuf) struct strbuf args = {0};
    const struct json *given = json_get(step, "args");
    size_t split = split_of(step), index;

    if (!json_has(step, "tool"))
        return NULL;
    if (given)
        json_write(&args, given);
    else
        strbuf_add(&args, json_get_text(step, "args_text"));
    TRY(reply_begin(r, PART_TOOL_CALL, json_get_text(step, "id"), json_get_text(step, "tool"),
                    &index));
    for (size_t at = 0; at < args.n; at += MIN(split, args.n)) {
        TRY(wait(step));
        TRY(reply_add_args(r, index, str_slice(strbuf_str(&args), at, split)));
    }
    reply_set_stop(r, S("tool_calls"), STOP_TOOL_CALLS);
    return NULL;
}

static void play_stop(struct reply *r, struct str word)
{
    static const struct {
        const char *word;
        enum stop stop;
    } stops[] = {{"end", STOP_END},           {"tool_calls", STOP_TOOL_CALLS},
                 {"length", STOP_LENGTH},     {"filtered", STOP_FILTERED},
                 {"refused", STOP_REFUSED},   {"paused", STOP_PAUSED},
                 {"overflow", STOP_OVERFLOW}, {"unread", STOP_UNREAD}};

    for (size_t i = 0; i < ARRAY_LEN(stops); i++)
        if (str_is(word, stops[i].word))
            reply_set_stop(r, word, stops[i].stop);
}

static struct err *play_error(const struct json *step)
{
    enum err_kind kind;
    struct err *e;

    if (json_bool(json_get(step, "cut"), false))
        return err_new(ERR_NETWORK, "the stream ended before the answer was complete");
    if (!err_kind_find(json_get_text(step, "error"), &kind))
        return NULL;
    e = err_new(kind, "%" STR_FMT, STR_ARG(json_get_text(step, "message")));
    e->retry_after_ms = json_int_or(json_get(step, "retry_after_ms"), -1);
    e->peer_status = (int)json_int_or(json_get(step, "status"), 0);
    return e;
}

static struct err *play_step(struct reply *r, const struct json *step)
{
    const struct json *usage = json_get(step, "usage");

    TRY(play_text(r, step, "reasoning", PART_REASONING));
    TRY(play_text(r, step, "text", PART_TEXT));
    TRY(play_text(r, step, "refusal", PART_REFUSAL));
    TRY(play_tool(r, step));
    play_stop(r, json_get_text(step, "stop"));
    r->usage.input = json_int_or(json_get(usage, "input"), r->usage.input);
    r->usage.output = json_int_or(json_get(usage, "output"), r->usage.output);
    return play_error(step);
}

static struct err *play_turn(struct reply *r, const struct json *turn)
{
    if (turn->type != JSON_ARRAY)
        return play_step(r, turn);
    json_each (step, turn)
        TRY(play_step(r, step));
    return NULL;
}

static struct err *script_ask(const struct provider *p, const struct model_request *request,
                              const struct provider_call *call, struct reply *reply)
{
    struct script_provider *s = (struct script_provider *)p;
    const struct json *turn = json_at(s->turns, s->n_played);
    struct err *e;

    if (!turn)
        return err_hint(err_new(ERR_PROVIDER_ERROR,
                                "the script has %u turn%s, but this is request %zu", s->turns->n,
                                s->turns->n == 1 ? "" : "s", s->n_played + 1),
                        "add a turn to the script, or find out why one more request was made");
    s->n_played++;
    reply_set_word(reply, &reply->model, request->model);
    reply->id = arena_format(&reply->arena, "script_%zu", s->n_played);
    reply_set_stop(reply, S("end"), STOP_END);
    e = play_turn(reply, turn);
    reply->is_complete = !e;
    reply_finish(reply);
    return e;
}

static void script_free(struct provider *p)
{
    struct script_provider *s = (struct script_provider *)p;

    arena_done(&s->arena);
    mem_free(s);
}

static const struct provider_ops ops = {.ask = script_ask, .free = script_free};

struct err *script_provider_new(struct str id, struct str script, struct provider **ret_provider)
{
    struct script_provider *s = mem_alloc(sizeof *s);
    struct json *root = NULL;
    struct err *e;

    s->provider =
        (struct provider){.ops = &ops, .id = arena_str(&s->arena, id), .protocol = S("script")};
    e = yaml_parse(&s->arena, script, &root);
    if (!e) {
        s->turns = json_get(root, "turns");
        e = check_turns(s->turns);
    }
    if (e) {
        script_free(&s->provider);
        return e;
    }
    *ret_provider = &s->provider;
    return NULL;
}

size_t script_provider_n_turns(const struct provider *p)
{
    BUG_IF(p->ops != &ops);
    return ((const struct script_provider *)p)->turns->n;
}

bool script_provider_is_over(const struct provider *p)
{
    return ((const struct script_provider *)p)->n_played >= script_provider_n_turns(p);
}
