/* replay.c - plays the answers that a session log recorded. */
#include "provider/replay.h"

#include "model/message_json.h"
#include "net/lines.h"

struct replay_provider {
    struct provider provider;
    struct arena arena;
    struct message **answers;
    size_t n_answers, room;
    size_t n_played; /* the only member that changes: the next answer */
};

/* --- loading --- */

static struct err *add_line(struct replay_provider *r, struct str line, size_t number)
{
    AUTO(arena) struct arena scratch = {0};
    struct message *answer;
    struct json *entry;
    struct err *e = NULL;

    if (str_trim(line).n == 0)
        return NULL;
    e = json_parse(&scratch, line, JSON_REPAIR_UTF8, &entry);
    if (!e && !str_is(json_get_text(entry, "event"), "provider_response_normalized"))
        return NULL;
    if (!e)
        e = message_read(json_get(entry, "response"), &answer);
    if (e)
        return err_wrap(e, "replay: line %zu of the log", number);
    r->answers = arena_grow(&r->arena, r->answers, r->n_answers, &r->room, sizeof *r->answers);
    r->answers[r->n_answers++] = answer;
    return NULL;
}

static struct err *load(struct replay_provider *r, struct str log)
{
    AUTO(line_reader) struct line_reader lines;
    struct str line;
    bool has_line;

    lines_init(&lines, JSON_MAX_BYTES);
    lines_feed(&lines, log);
    for (size_t number = 1;; number++) {
        TRY(lines_next(&lines, &line, &has_line));
        if (!has_line)
            return NULL;
        TRY(add_line(r, line, number));
    }
}

/* --- playing --- */

static bool grows(enum part_kind kind)
{
    return kind == PART_TEXT || kind == PART_REASONING || kind == PART_REFUSAL;
}

static struct err *play_part(struct reply *reply, const struct part *p)
{
    size_t index;

    TRY(reply_begin(reply, p->kind, p->id, p->name, &index));
    if (grows(p->kind))
        TRY(reply_add_text(reply, index, p->text));
    else
        TRY(reply_set_text(reply, index, p->text));
    TRY(reply_add_args(reply, index, p->bad_args.n ? p->bad_args : p->args));
    *reply_part(reply, index) = part_copy(&reply->arena, p);
    return NULL;
}

static struct err *replay_ask(const struct provider *p, const struct model_request *request,
                              const struct provider_call *call, struct reply *reply)
{
    struct replay_provider *r = (struct replay_provider *)p;
    const struct message *answer;

    if (r->n_played == r->n_answers)
        return err_hint(err_new(ERR_PROVIDER_ERROR,
                                "[replay] no recorded provider response for call #%zu",
                                r->n_played + 1),
                        "this run makes more requests than the recorded one: compare their inputs");
    answer = r->answers[r->n_played++];
    reply->model = reply_str(reply, answer->origin.model);
    reply->id = reply_str(reply, answer->id);
    reply->usage = answer->usage;
    reply->usage.routed_provider = reply_str(reply, answer->usage.routed_provider);
    reply->usage.routed_model = reply_str(reply, answer->usage.routed_model);
    reply_set_stop(reply, answer->stop_reason, STOP_END);
    for (size_t i = 0; i < answer->n_parts; i++) {
        if (answer->parts[i].kind == PART_TOOL_CALL)
            reply->stop = STOP_TOOL_CALLS;
        TRY(play_part(reply, &answer->parts[i]));
    }
    reply->is_complete = true;
    reply_finish(reply);
    return NULL;
}

static void replay_free(struct provider *p)
{
    struct replay_provider *r = (struct replay_provider *)p;

    for (size_t i = 0; i < r->n_answers; i++)
        message_unref(r->answers[i]);
    arena_done(&r->arena);
    mem_free(r);
}

static const struct provider_ops ops = {.ask = replay_ask, .free = replay_free};

struct err *replay_provider_new(struct str id, struct str log, struct provider **ret_provider)
{
    struct replay_provider *r = mem_alloc(sizeof *r);
    struct err *e;

    r->provider =
        (struct provider){.ops = &ops, .id = arena_str(&r->arena, id), .protocol = S("replay")};
    e = load(r, log);
    if (e) {
        replay_free(&r->provider);
        return e;
    }
    *ret_provider = &r->provider;
    return NULL;
}
