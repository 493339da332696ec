/* import_claude.c - transcripts of Claude Code: lines with a uuid and that of their parent.
 *
 * The lines are a tree; the path from its root to the last leaf is the conversation. An answer has
 * several lines with one message id, and results of parallel calls are beside the path: both belong
 * to it. The person has seen the lines before a compact boundary, but the model no longer does.
 * Lines of subagents (sidechains) and of the program itself (meta) are omitted. */
#include "transcript/import_parts.h"

/* A line that the tree needs. It keeps only the keys of names (import_index.c). */
struct claude_node {
    size_t line;
    uint64_t uuid, parent, message_id; /* 0: none */
    bool is_message, is_answer, has_result, is_side, is_meta, is_boundary;
    bool is_taken;
};

struct claude {
    struct importing *x;
    struct claude_node *nodes;
    size_t n, room;
    struct import_index by_uuid; /* nodes, + 1 */
    struct imported *session;
    /* the answer that more lines are added to */
    struct message *answer;
    uint64_t answer_id;
    int64_t answer_ms;
    struct import_item *results; /* between its lines */
    size_t n_results, results_room;
    bool is_compacted; /* the next message begins a shorter history */
};

static void claude_done(struct claude *c)
{
    message_unref(c->answer);
    mem_free(c->nodes);
    mem_free(c->results);
    import_index_done(&c->by_uuid);
}
DEFINE_AUTO_VAL(claude, claude_done)

/* --- the tree --- */

static bool has_block(const struct json *message, const char *type)
{
    json_each (block, json_get(message, "content"))
        if (str_is(json_get_text(block, "type"), type))
            return true;
    return false;
}

static struct claude_node node_of(const struct json *v, size_t line)
{
    struct str type = json_get_text(v, "type"), parent = json_get_text(v, "parentUuid");
    const struct json *message = json_get(v, "message");
    bool is_user = str_is(type, "user"), is_answer = str_is(type, "assistant");
    bool is_boundary = str_is(json_get_text(v, "subtype"), "compact_boundary");

    if (is_boundary && !parent.n)
        parent = json_get_text(v, "logicalParentUuid");
    return (struct claude_node){
        .line = line,
        .uuid = import_key(json_get_text(v, "uuid")),
        .parent = import_key(parent),
        .message_id = is_answer ? import_key(json_get_text(message, "id")) : 0,
        .is_message = (is_user || is_answer) && json_is(message, JSON_OBJECT),
        .is_answer = is_answer,
        .is_side = json_bool(json_get(v, "isSidechain"), false),
        .is_meta = json_bool(json_get(v, "isMeta"), false),
        .is_boundary = is_boundary,
        .has_result = is_user && has_block(message, "tool_result"),
    };
}

/* Of two lines with one uuid the later one counts. */
static void add_node(struct claude *c, const struct claude_node *n)
{
    if (!n->uuid && !n->is_message && !n->is_boundary)
        return;
    c->nodes = mem_grow(c->nodes, c->n, &c->room, sizeof *c->nodes);
    c->nodes[c->n++] = *n;
    if (n->uuid)
        *import_index_at(&c->by_uuid, n->uuid) = c->n;
}

static struct claude_node *find_node(struct claude *c, uint64_t uuid)
{
    size_t found = import_index_find(&c->by_uuid, uuid);

    return found ? &c->nodes[found - 1] : NULL;
}

static struct claude_node *last_leaf(struct claude *c)
{
    for (size_t i = c->n; i-- > 0;)
        if (c->nodes[i].is_message && !c->nodes[i].is_side && !c->nodes[i].is_meta)
            return &c->nodes[i];
    return NULL;
}

static void take_way(struct claude *c)
{
    struct claude_node *n = last_leaf(c);

    while (n && !n->is_taken) { /* a loop ends the path */
        n->is_taken = true;
        n = find_node(c, n->parent);
    }
}

/* Takes the other lines of the answers on the path. */
static void take_further_lines(struct claude *c)
{
    AUTO(import_index) struct import_index answers = {0};

    for (size_t i = 0; i < c->n; i++)
        if (c->nodes[i].is_taken && c->nodes[i].message_id)
            *import_index_at(&answers, c->nodes[i].message_id) = 1;
    for (size_t i = 0; i < c->n; i++)
        if (c->nodes[i].is_answer && !c->nodes[i].is_side)
            c->nodes[i].is_taken |= import_index_find(&answers, c->nodes[i].message_id) != 0;
}

static void take_further_results(struct claude *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct claude_node *node = &c->nodes[i], *parent = find_node(c, node->parent);

        if (!node->is_taken && node->has_result && !node->is_side && parent && parent->is_taken &&
            parent->is_answer)
            node->is_taken = true;
    }
}

static void take_all(struct claude *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->nodes[i].is_taken = !c->nodes[i].is_side;
}

/* --- messages --- */

static void push(struct claude *c, struct import_item item, bool is_summary)
{
    bool begins = c->is_compacted && c->session->n > 0;

    c->is_compacted = false;
    import_add_item(c->x, c->session, begins || is_summary ? IMPORT_COMPACT : IMPORT_APPEND, begins,
                    item);
}

/* Ends the answer: adds it and the results that came meanwhile. */
static void end_answer(struct claude *c)
{
    if (c->answer && c->answer->n_parts)
        push(c, import_put(c->x, TAKE(c->answer), c->answer_ms), false);
    message_unref(TAKE(c->answer));
    for (size_t i = 0; i < c->n_results; i++) {
        c->results[i].unix_ms = c->answer_ms;
        push(c, c->results[i], false);
    }
    c->n_results = 0;
}

static struct usage read_usage(const struct json *v)
{
    struct usage u = USAGE_UNKNOWN;

    u.input = json_int_or(json_get(v, "input_tokens"), -1);
    u.output = json_int_or(json_get(v, "output_tokens"), -1);
    u.cache_read = json_int_or(json_get(v, "cache_read_input_tokens"), -1);
    u.cache_write = json_int_or(json_get(v, "cache_creation_input_tokens"), -1);
    return u;
}

static void begin_answer(struct claude *c, const struct json *v, const struct json *message)
{
    struct str model = json_get_text(message, "model");

    end_answer(c);
    c->answer = message_new(ROLE_ASSISTANT, json_get_text(v, "uuid"));
    c->answer_id = import_key(json_get_text(message, "id"));
    c->answer_ms = import_time(json_get(v, "timestamp"));
    c->answer->is_error =
        json_bool(json_get(v, "isApiErrorMessage"), false) || str_is(model, "<synthetic>");
    message_set_origin(c->answer, (struct origin){.provider = S("anthropic"),
                                                  .protocol = S("anthropic-messages"),
                                                  .model = model});
    if (model.n && !c->answer->is_error)
        import_set(c->x, &c->session->model, model);
}

static void add_input(struct claude *c, const struct json *block)
{
    AUTO(strbuf) struct strbuf args = {0};

    if (json_has(block, "input"))
        json_write(&args, json_get(block, "input"));
    import_add_call(c->x, c->answer, json_get_text(block, "id"), json_get_text(block, "name"),
                    strbuf_str(&args));
}

/* Signed reasoning goes back to the provider that signed it. */
static void add_thinking(struct claude *c, const struct json *block)
{
    struct part p = {.kind = PART_REASONING,
                     .text = json_get_text(block, "thinking"),
                     .signature = json_get_text(block, "signature"),
                     .data = json_get_text(block, "data")};
    AUTO(strbuf) struct strbuf native = {0};
    bool is_signed = p.signature.n || p.data.n;

    if (is_signed && !block->raw.n) /* of a long line */
        json_write(&native, block);
    if (is_signed)
        p.native = block->raw.n ? block->raw : strbuf_str(&native);
    if (is_signed || p.text.n)
        import_add_part(c->x, c->answer, &p);
}

static void add_text(struct claude *c, struct str text)
{
    import_add_part(c->x, c->answer, &(struct part){.kind = PART_TEXT, .text = text});
}

static void add_block(struct claude *c, const struct json *block)
{
    struct str type = json_get_text(block, "type");

    if (str_is(type, "text"))
        add_text(c, json_get_text(block, "text"));
    else if (str_is(type, "tool_use"))
        add_input(c, block);
    else if (str_is(type, "thinking") || str_is(type, "redacted_thinking"))
        add_thinking(c, block);
    else
        import_leave_out(c->x, type.n ? type : S("a block without a type"));
}

static void take_answer(struct claude *c, const struct json *v)
{
    const struct json *message = json_get(v, "message"), *content = json_get(message, "content");

    if (!c->answer || !c->answer_id || c->answer_id != import_key(json_get_text(message, "id")))
        begin_answer(c, v, message);
    if (json_is(content, JSON_STRING))
        add_text(c, content->text);
    else
        json_each (block, content)
            add_block(c, block);
    if (json_is(json_get(message, "usage"), JSON_OBJECT))
        c->answer->usage = read_usage(json_get(message, "usage"));
    if (!str_eq(c->answer->stop_reason, json_get_text(message, "stop_reason")))
        c->answer->stop_reason =
            arena_str(&c->answer->arena, json_get_text(message, "stop_reason"));
}

static void add_result(struct claude *c, const struct json *block)
{
    struct message *m =
        import_result(c->x, json_get_text(block, "tool_use_id"), json_get(block, "content"),
                      json_bool(json_get(block, "is_error"), false));

    c->results = mem_grow(c->results, c->n_results, &c->results_room, sizeof *c->results);
    c->results[c->n_results++] = import_put(c->x, m, 0);
}

static void take_prompt(struct claude *c, const struct json *v)
{
    const struct json *content = json_get(json_get(v, "message"), "content");
    AUTO(message) struct message *m = message_new(ROLE_USER, json_get_text(v, "uuid"));
    bool is_summary = json_bool(json_get(v, "isCompactSummary"), false);
    struct part p;

    if (json_is(content, JSON_STRING) && content->text.n)
        message_add_text(m, content->text);
    json_each (block, content) {
        struct str type = json_get_text(block, "type");

        if (str_is(type, "tool_result"))
            add_result(c, block);
        else if (str_is(type, "text"))
            message_add_text(m, json_get_text(block, "text"));
        else if (import_image(&c->x->scratch, json_get(block, "source"), &p))
            message_add(m, &p);
        else
            import_leave_out(c->x, type.n ? type : S("a block without a type"));
    }
    if (m->n_parts == 0)
        return;
    end_answer(c);
    c->is_compacted |= is_summary;
    push(c, import_put(c->x, TAKE(m), import_time(json_get(v, "timestamp"))), is_summary);
}

static void take_facts(struct claude *c, const struct json *v)
{
    struct imported *s = c->session;

    if (!s->id.n)
        import_set(c->x, &s->id, json_get_text(v, "sessionId"));
    if (!s->cwd.n)
        import_set(c->x, &s->cwd, json_get_text(v, "cwd"));
}

static void take_node(struct claude *c, const struct json *v, const struct claude_node *n)
{
    if (n->is_boundary) {
        end_answer(c);
        c->is_compacted = true;
    }
    if (!n->is_message || n->is_meta)
        return;
    take_facts(c, v);
    if (n->is_answer)
        take_answer(c, v);
    else
        take_prompt(c, v);
}

/* --- the file --- */

/* Lines of their own hold its name; only those about this conversation count. */
static void take_title(struct claude *c, const struct json *v)
{
    struct str type = json_get_text(v, "type");

    if (str_is(type, "custom-title"))
        import_set(c->x, &c->session->name, json_get_text(v, "customTitle"));
    else if (str_is(type, "summary") && !c->session->name.n &&
             find_node(c, import_key(json_get_text(v, "leafUuid"))))
        import_set(c->x, &c->session->name, json_get_text(v, "summary"));
}

static void count_left_out(struct claude *c, const struct json *v, const struct claude_node *n)
{
    struct str type = json_get_text(v, "type");

    if (n->is_side)
        import_leave_out(c->x, S("lines of subagents"));
    else if (n->is_message && n->is_meta)
        import_leave_out(c->x, S("lines for the program itself"));
    else if (n->is_message && !n->is_taken)
        import_leave_out(c->x, S("lines of another branch"));
    else if (!n->is_message && !n->is_boundary && !str_is(type, "summary") &&
             !str_is(type, "custom-title"))
        import_leave_out(c->x, type.n ? type : S("lines without a type"));
}

/* The file may have changed since the tree was read: lines without a node are skipped. */
static void read_messages(struct claude *c)
{
    struct importing *x = c->x;
    const struct json *v;
    size_t next = 0;

    import_rewind(x);
    while ((v = import_next_line(x))) {
        struct claude_node n = node_of(v, x->line);

        while (next < c->n && c->nodes[next].line < n.line)
            next++;
        if (next < c->n && c->nodes[next].line == n.line)
            n.is_taken = c->nodes[next].is_taken;
        take_title(c, v);
        count_left_out(c, v, &n);
        if (n.is_taken)
            take_node(c, v, &n);
    }
    end_answer(c);
}

struct err *import_claude(struct importing *x)
{
    AUTO(claude) struct claude c = {.x = x};
    const struct json *v;
    size_t n_problems, n_bytes;

    while ((v = import_next_line(x))) {
        struct claude_node n = node_of(v, x->line);

        add_node(&c, &n);
    }
    if (c.by_uuid.n) {
        take_way(&c);
        take_further_lines(&c);
        take_further_results(&c);
    } else {
        take_all(&c);
    }
    n_problems = x->out->n_problems;
    n_bytes = x->out->problems.n;
    x->out->n_left_out = 0; /* lines are read, and counted, again */
    c.session = import_new_session(x);
    c.session->provider = S("anthropic");
    read_messages(&c);
    x->out->n_problems = n_problems;
    strbuf_cut(&x->out->problems, n_bytes);
    return NULL;
}
