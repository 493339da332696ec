/* import_claude.c - transcripts of Claude Code: lines with a uuid and that of their parent.
 *
 * The lines are a tree; the way from its root to the last leaf is the conversation. Answers come in
 * several lines of one message id, and results of parallel calls hang beside the way: both belong
 * to it. What stands before a compact boundary was seen by the person, and no longer by the model.
 * Lines of subagents (sidechains) and of the program itself (meta) are left out. */
#include "transcript/import_parts.h"

#include <stdlib.h>

struct node {
    struct str uuid, parent, message_id;
    bool is_message, is_answer, has_result, is_side, is_meta, is_boundary;
    bool is_taken;
};

struct claude {
    struct importing *x;
    struct arena arena;
    struct node *nodes;
    size_t n, room;
    size_t *table; /* of uuids: index + 1; 0: free */
    size_t table_size;
    struct imported *session;
    /* the answer that lines are still added to */
    struct message *answer;
    struct str answer_id;
    int64_t answer_ms;
    struct message **results; /* that came between its lines */
    size_t n_results, results_room;
    bool is_compacted; /* the next message begins a shorter history */
};

/* --- the tree --- */

static bool has_block(const struct json *message, const char *type)
{
    json_each (block, json_get(message, "content"))
        if (str_is(json_get_text(block, "type"), type))
            return true;
    return false;
}

static void add_node(struct claude *c, const struct json *v)
{
    struct str type = json_get_text(v, "type"), parent = json_get_text(v, "parentUuid");
    const struct json *message = json_get(v, "message");
    bool is_user = str_is(type, "user"), is_answer = str_is(type, "assistant");
    struct node *n;

    c->nodes = arena_grow(&c->arena, c->nodes, c->n, &c->room, sizeof *c->nodes);
    n = &c->nodes[c->n++];
    *n = (struct node){
        .uuid = arena_str(&c->arena, json_get_text(v, "uuid")),
        .is_message = (is_user || is_answer) && json_is(message, JSON_OBJECT),
        .is_answer = is_answer,
        .is_side = json_bool(json_get(v, "isSidechain"), false),
        .is_meta = json_bool(json_get(v, "isMeta"), false),
        .is_boundary = str_is(json_get_text(v, "subtype"), "compact_boundary"),
        .has_result = is_user && has_block(message, "tool_result"),
    };
    if (is_answer)
        n->message_id = arena_str(&c->arena, json_get_text(message, "id"));
    if (n->is_boundary && !parent.n)
        parent = json_get_text(v, "logicalParentUuid");
    n->parent = arena_str(&c->arena, parent);
}

static size_t *slot_of(struct claude *c, struct str uuid)
{
    size_t at = str_hash(uuid) % c->table_size;

    while (c->table[at] && !str_eq(c->nodes[c->table[at] - 1].uuid, uuid))
        at = (at + 1) % c->table_size;
    return &c->table[at];
}

/* Of two lines with one uuid the later counts. */
static void index_nodes(struct claude *c)
{
    c->table_size = 2 * c->n + 1;
    c->table = ARENA_ARRAY(&c->arena, c->table_size, size_t);
    for (size_t i = 0; i < c->n; i++)
        if (c->nodes[i].uuid.n)
            *slot_of(c, c->nodes[i].uuid) = i + 1;
}

static struct node *find_node(struct claude *c, struct str uuid)
{
    size_t found = uuid.n ? *slot_of(c, uuid) : 0;

    return found ? &c->nodes[found - 1] : NULL;
}

static struct node *last_leaf(struct claude *c)
{
    for (size_t i = c->n; i-- > 0;)
        if (c->nodes[i].is_message && !c->nodes[i].is_side && !c->nodes[i].is_meta)
            return &c->nodes[i];
    return NULL;
}

static bool has_uuids(const struct claude *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->nodes[i].uuid.n)
            return true;
    return false;
}

static void take_way(struct claude *c)
{
    struct node *n = last_leaf(c);

    while (n && !n->is_taken) { /* a loop is no way either */
        n->is_taken = true;
        n = find_node(c, n->parent);
    }
}

/* Ids of the answers on the way, as a sorted list. */
static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void take_further_lines(struct claude *c)
{
    struct str *ids = ARENA_ARRAY(&c->arena, c->n + 1, struct str);
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        if (c->nodes[i].is_taken && c->nodes[i].message_id.n)
            ids[n++] = c->nodes[i].message_id;
    qsort(ids, n, sizeof *ids, by_text);
    for (size_t i = 0; i < c->n; i++) {
        struct node *node = &c->nodes[i];

        if (!node->is_taken && node->is_answer && !node->is_side && node->message_id.n &&
            bsearch(&node->message_id, ids, n, sizeof *ids, by_text))
            node->is_taken = true;
    }
}

static void take_further_results(struct claude *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct node *node = &c->nodes[i], *parent = find_node(c, node->parent);

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

static void push(struct claude *c, struct message *take_message, int64_t unix_ms, bool is_summary)
{
    bool begins = c->is_compacted && c->session->n > 0;

    c->is_compacted = false;
    import_add(c->x, c->session, begins || is_summary ? IMPORT_COMPACT : IMPORT_APPEND, begins,
               take_message, unix_ms);
}

/* The answer is whole: it and the results that came meanwhile. */
static void end_answer(struct claude *c)
{
    if (c->answer)
        push(c, TAKE(c->answer), c->answer_ms, false);
    for (size_t i = 0; i < c->n_results; i++)
        push(c, c->results[i], c->answer_ms, false);
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
    c->answer_id = arena_str(&c->arena, json_get_text(message, "id"));
    c->answer_ms = import_time(json_get(v, "timestamp"));
    c->answer->is_error =
        json_bool(json_get(v, "isApiErrorMessage"), false) || str_is(model, "<synthetic>");
    message_set_origin(c->answer, (struct origin){.provider = S("anthropic"),
                                                  .protocol = S("anthropic-messages"),
                                                  .model = model});
    if (model.n && !c->answer->is_error)
        c->session->model = import_str(c->x, model);
}

static void add_input(struct claude *c, const struct json *block)
{
    AUTO(strbuf) struct strbuf args = {0};

    if (json_has(block, "input"))
        json_write(&args, json_get(block, "input"));
    import_add_call(c->answer, json_get_text(block, "id"), json_get_text(block, "name"),
                    strbuf_str(&args));
}

/* Reasoning goes back with its signature, to the provider that signed it. */
static void add_thinking(struct claude *c, const struct json *block)
{
    struct part p = {.kind = PART_REASONING,
                     .text = json_get_text(block, "thinking"),
                     .signature = json_get_text(block, "signature"),
                     .data = json_get_text(block, "data")};
    bool is_signed = p.signature.n || p.data.n;

    if (is_signed)
        p.native = block->raw;
    if (is_signed || p.text.n)
        message_add(c->answer, &p);
}

static void add_block(struct claude *c, const struct json *block)
{
    struct str type = json_get_text(block, "type");

    if (str_is(type, "text"))
        message_add_text(c->answer, json_get_text(block, "text"));
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

    if (!c->answer || !c->answer_id.n || !str_eq(c->answer_id, json_get_text(message, "id")))
        begin_answer(c, v, message);
    if (json_is(content, JSON_STRING))
        message_add_text(c->answer, content->text);
    else
        json_each (block, content)
            add_block(c, block);
    if (json_is(json_get(message, "usage"), JSON_OBJECT))
        c->answer->usage = read_usage(json_get(message, "usage"));
    if (json_get_text(message, "stop_reason").n)
        c->answer->stop_reason =
            arena_str(&c->answer->arena, json_get_text(message, "stop_reason"));
}

static void add_result(struct claude *c, const struct json *block)
{
    c->results =
        arena_grow(&c->arena, c->results, c->n_results, &c->results_room, sizeof *c->results);
    c->results[c->n_results++] =
        import_result(c->x, json_get_text(block, "tool_use_id"), json_get(block, "content"),
                      json_bool(json_get(block, "is_error"), false));
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
    push(c, TAKE(m), import_time(json_get(v, "timestamp")), is_summary);
}

static void take_facts(struct claude *c, const struct json *v)
{
    struct imported *s = c->session;

    if (!s->id.n)
        s->id = import_str(c->x, json_get_text(v, "sessionId"));
    if (!s->cwd.n)
        s->cwd = import_str(c->x, json_get_text(v, "cwd"));
}

static void take_node(struct claude *c, const struct json *v, const struct node *n)
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

/* What it is called stands on lines of its own; only those that are about this conversation count.
 */
static void take_title(struct claude *c, const struct json *v)
{
    struct str type = json_get_text(v, "type");

    if (str_is(type, "custom-title"))
        c->session->name = import_str(c->x, json_get_text(v, "customTitle"));
    else if (str_is(type, "summary") && !c->session->name.n &&
             find_node(c, json_get_text(v, "leafUuid")))
        c->session->name = import_str(c->x, json_get_text(v, "summary"));
}

static void count_left_out(struct claude *c, const struct json *v, const struct node *n)
{
    struct str type = json_get_text(v, "type");

    if (n->is_side)
        import_leave_out(c->x, S("lines of subagents"));
    else if (n->is_message && n->is_meta)
        import_leave_out(c->x, S("lines of the program itself"));
    else if (n->is_message && !n->is_taken)
        import_leave_out(c->x, S("lines of another branch"));
    else if (!n->is_message && !n->is_boundary && !str_is(type, "summary") &&
             !str_is(type, "custom-title"))
        import_leave_out(c->x, type.n ? type : S("lines without a type"));
}

static void read_nodes(struct claude *c)
{
    struct importing *x = c->x;
    const struct json *v;

    import_rewind(x);
    for (size_t i = 0; (v = import_next_line(x)); i++) {
        const struct node *n = &c->nodes[i];

        take_title(c, v);
        count_left_out(c, v, n);
        if (n->is_taken)
            take_node(c, v, n);
    }
    end_answer(c);
}

struct err *import_claude(struct importing *x)
{
    struct claude c = {.x = x};
    const struct json *v;
    size_t n_problems, n_bytes;

    while ((v = import_next_line(x)))
        add_node(&c, v);
    index_nodes(&c);
    if (has_uuids(&c)) {
        take_way(&c);
        take_further_lines(&c);
        take_further_results(&c);
    } else {
        take_all(&c);
    }
    n_problems = x->out->n_problems;
    n_bytes = x->out->problems.n;
    x->out->n_left_out = 0; /* lines are read again, and told again */
    c.session = import_new_session(x);
    c.session->provider = S("anthropic");
    read_nodes(&c);
    x->out->n_problems = n_problems;
    strbuf_cut(&x->out->problems, n_bytes);
    message_unref(c.answer);
    arena_done(&c.arena);
    return NULL;
}
