/* import_codex.c - rollouts of Codex: lines {"timestamp","type","payload"}, or the items alone, in
 * the form of the first versions.
 *
 * Everything that the model said, thought and called until another role speaks is one answer.
 * Encrypted reasoning is omitted: only the account that it was made for can send it back. So are
 * the messages in which Codex describes the environment to the model: keel sends its own. */
#include "transcript/import_parts.h"

struct codex {
    struct importing *x;
    struct imported *session;
    struct message *answer; /* that more items are added to */
    int64_t answer_ms;
    int64_t now_ms;        /* of the line */
    enum import_step step; /* COMPACT while a shorter history is being read */
    bool begins;
};

static void push(struct codex *c, struct message *take_message, int64_t unix_ms)
{
    import_add(c->x, c->session, c->step, c->begins, take_message, unix_ms);
    c->begins = false;
}

static void end_answer(struct codex *c)
{
    if (c->answer && c->answer->n_parts)
        push(c, TAKE(c->answer), c->answer_ms);
    message_unref(TAKE(c->answer));
}

static struct message *answer_of(struct codex *c)
{
    if (c->answer)
        return c->answer;
    c->answer = message_new(ROLE_ASSISTANT, (struct str){0});
    c->answer_ms = c->now_ms;
    message_set_origin(c->answer,
                       (struct origin){.provider = S("codex"), .model = c->session->model});
    return c->answer;
}

/* --- items --- */

static bool is_surroundings(struct str text)
{
    static const char *const starts[] = {"<environment_context>",
                                         "<user_instructions>",
                                         "# AGENTS.md instructions",
                                         "<permissions instructions>",
                                         "<turn_aborted>",
                                         "<user_shell_command>",
                                         "<INSTRUCTIONS>"};

    text = str_trim(text);
    for (size_t i = 0; i < ARRAY_LEN(starts); i++)
        if (str_starts(text, str_of(starts[i])))
            return true;
    return false;
}

static void add_text(struct codex *c, struct message *m, struct str text)
{
    import_add_part(c->x, m, &(struct part){.kind = PART_TEXT, .text = text});
}

static void add_content(struct codex *c, struct message *m, const struct json *content)
{
    struct part p;

    if (json_is(content, JSON_STRING) && content->text.n)
        add_text(c, m, content->text);
    json_each (v, content) {
        struct str text = json_get_text(v, "text");

        if (m->role == ROLE_USER && is_surroundings(text))
            import_leave_out(c->x, S("Codex's description of its environment"));
        else if (text.n)
            add_text(c, m, text);
        else if (m->role == ROLE_USER && import_image(&c->x->scratch, json_get(v, "image_url"), &p))
            message_add(m, &p);
    }
}

static void take_message(struct codex *c, const struct json *v)
{
    struct str role = json_get_text(v, "role");
    AUTO(message) struct message *m = NULL;

    if (str_is(role, "assistant")) {
        add_content(c, answer_of(c), json_get(v, "content"));
        return;
    }
    if (!str_is(role, "user")) {
        import_leave_out(c->x, S("instructions of Codex"));
        return;
    }
    m = message_new(ROLE_USER, (struct str){0});
    add_content(c, m, json_get(v, "content"));
    if (m->n_parts == 0)
        return;
    end_answer(c);
    push(c, TAKE(m), c->now_ms);
}

static void take_reasoning(struct codex *c, const struct json *v)
{
    AUTO(strbuf) struct strbuf text = {0};
    static const char *const lists[] = {"summary", "content"};

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        json_each (piece, json_get(v, lists[i]))
            strbuf_addf(&text, "%s%" STR_FMT, text.n ? "\n\n" : "",
                        STR_ARG(json_get_text(piece, "text")));
    if (text.n)
        import_add_part(c->x, answer_of(c),
                        &(struct part){.kind = PART_REASONING, .text = strbuf_str(&text)});
    else
        import_leave_out(c->x, S("encrypted reasoning"));
}

/* A shell call, which has an item of its own. */
static void take_shell(struct codex *c, const struct json *v)
{
    AUTO(strbuf) struct strbuf args = {0};
    struct str id = json_get_text(v, "call_id");

    if (json_has(v, "action"))
        json_write(&args, json_get(v, "action"));
    import_add_call(c->x, answer_of(c), id.n ? id : json_get_text(v, "id"), S("local_shell"),
                    strbuf_str(&args));
}

static void take_custom_call(struct codex *c, const struct json *v)
{
    import_add_part(c->x, answer_of(c),
                    &(struct part){.kind = PART_TOOL_CALL,
                                   .id = json_get_text(v, "call_id"),
                                   .name = json_get_text(v, "name"),
                                   .args = json_get_text(v, "input"),
                                   .is_free_text = true});
}

/* Text, or {"content": text, "success": b}, or a list of parts. */
static void take_output(struct codex *c, const struct json *v)
{
    const struct json *output = json_get(v, "output");
    bool is_error = !json_bool(json_get(output, "success"), true);

    if (json_is(output, JSON_OBJECT))
        output = json_get(output, "content");
    end_answer(c);
    push(c, import_result(c->x, json_get_text(v, "call_id"), output, is_error), c->now_ms);
}

static bool take_item(struct codex *c, const struct json *v)
{
    struct str type = json_get_text(v, "type");

    if (str_is(type, "message"))
        take_message(c, v);
    else if (str_is(type, "reasoning"))
        take_reasoning(c, v);
    else if (str_is(type, "function_call"))
        import_add_call(c->x, answer_of(c), json_get_text(v, "call_id"), json_get_text(v, "name"),
                        json_get_text(v, "arguments"));
    else if (str_is(type, "custom_tool_call"))
        take_custom_call(c, v);
    else if (str_is(type, "local_shell_call"))
        take_shell(c, v);
    else if (str_ends(type, S("_call_output")))
        take_output(c, v);
    else
        return false;
    return true;
}

/* --- lines --- */

static void take_meta(struct codex *c, const struct json *v)
{
    struct imported *s = c->session;
    const struct json *base = json_get(v, "base_instructions");

    if (s->id.n)
        return; /* a copy names its original, too */
    import_set(c->x, &s->id, json_get_text(v, "id"));
    import_set(c->x, &s->cwd, json_get_text(v, "cwd"));
    s->created_ms = import_time(json_get(v, "timestamp"));
    import_set(c->x, &s->system,
               base ? json_get_text(base, "text") : json_get_text(v, "instructions"));
}

static void take_context(struct codex *c, const struct json *v)
{
    if (json_get_text(v, "model").n)
        import_set(c->x, &c->session->model, json_get_text(v, "model"));
    if (!c->session->cwd.n)
        import_set(c->x, &c->session->cwd, json_get_text(v, "cwd"));
}

static void take_compacted(struct codex *c, const struct json *v)
{
    const struct json *items = json_get(v, "replacement_history");

    end_answer(c);
    c->step = IMPORT_COMPACT;
    c->begins = true;
    json_each (item, items)
        (void)take_item(c, item);
    end_answer(c);
    if (c->begins && json_get_text(v, "message").n) {
        message_add_text(answer_of(c), json_get_text(v, "message"));
        end_answer(c);
    }
    c->step = IMPORT_APPEND;
    c->begins = false;
}

/* Removes the last n_turns prompts and everything after them. */
static void roll_back(struct codex *c, int64_t n_turns)
{
    struct imported *s = c->session;

    end_answer(c);
    while (n_turns > 0 && s->n && s->items[s->n - 1].step == IMPORT_APPEND)
        n_turns -= s->items[--s->n].role == ROLE_USER;
}

static void take_event(struct codex *c, const struct json *v)
{
    if (str_is(json_get_text(v, "type"), "thread_rolled_back"))
        roll_back(c, json_int_or(json_get(v, "num_turns"), 0));
}

static void take_line(struct codex *c, const struct json *v)
{
    const struct json *payload = json_get(v, "payload");
    struct str type = json_get_text(v, "type");

    c->now_ms = import_time(json_get(v, "timestamp"));
    if (!payload) {
        if (json_has(v, "record_type") || take_item(c, v))
            return;
        if (!type.n && json_has(v, "id"))
            take_meta(c, v);
        else
            import_leave_out(c->x, type.n ? type : S("lines without a type"));
        return;
    }
    if (str_is(type, "session_meta"))
        take_meta(c, payload);
    else if (str_is(type, "turn_context"))
        take_context(c, payload);
    else if (str_is(type, "compacted"))
        take_compacted(c, payload);
    else if (str_is(type, "event_msg"))
        take_event(c, payload);
    else if (!str_is(type, "response_item"))
        import_leave_out(c->x, type);
    else if (!take_item(c, payload))
        import_leave_out(c->x, json_get_text(payload, "type"));
}

struct err *import_codex(struct importing *x)
{
    struct codex c = {.x = x, .session = import_new_session(x)};
    const struct json *v;

    c.session->provider = S("openai");
    while ((v = import_next_line(x)))
        take_line(&c, v);
    end_answer(&c);
    return NULL;
}
