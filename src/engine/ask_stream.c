/* ask_stream.c - what streams in: deltas without credentials, parts that end, calls that may begin.
 */
#include "engine/ask_state.h"

#define ROUND_SEPARATOR "\n\n"

static void emit_delta(struct ask_state *a, const struct delta *d, bool is_separator)
{
    struct event e = {.body.delta = {.delta = d, .is_separator = is_separator}};

    if (!is_separator) {
        e.body.delta.sequence = a->n_deltas++;
        e.body.delta.reply = &a->reply;
    }
    run_emit(a->run, EVENT_DELTA, &e);
}

static void show_delta(struct ask_state *a, const struct delta *d)
{
    emit_delta(a, d, /* is_separator= */ false);
    if (a->run->kit->n_plugins)
        plugins_on_chunk(a->run, d);
}

void ask_end_deltas(struct ask_state *a)
{
    struct delta d = {.kind = a->shown_kind, .part = a->shown_part};

    d.text = secrets_stream_end(&a->shown, &a->shown_text);
    if (d.text.n == 0)
        return;
    if (d.part < a->reply.n_parts) { /* a repeated call may be gone when the answer ends */
        d.id = a->reply.parts[d.part].part.id;
        d.name = a->reply.parts[d.part].part.name;
    }
    show_delta(a, &d);
}

/* While the model still writes the command, its sandbox can be prepared. */
static void expect_command(const struct ask_state *a, struct str name)
{
    const struct tool_entry *entry = tool_set_find(a->run->tools, name);

    if (entry && entry->tool->begins_late)
        launcher_expect(a->run->kit->launcher);
}

static void ask_on_delta(void *self, const struct delta *d)
{
    struct ask_state *a = self;
    struct delta shown = *d;

    if (d->kind == DELTA_TOOL_BEGIN)
        expect_command(a, d->name);

    if (d->part != a->shown_part || d->kind != a->shown_kind)
        ask_end_deltas(a);
    a->shown_part = d->part;
    a->shown_kind = d->kind;
    if (d->kind == DELTA_SERVER_TOOL) /* comes in one piece */
        shown.text = secrets_hide(a->run->secrets, d->text, &a->shown_text, NULL);
    else
        shown.text = secrets_stream_add(&a->shown, d->text, &a->shown_text);
    if (shown.text.n || d->text.n == 0)
        show_delta(a, &shown);
}

/* A part that has ended, as the message will have it; false: only the end of the answer decides,
 * which drops calls that repeat another. */
static bool find_whole(const struct reply *r, size_t index, struct part *ret_part)
{
    struct part p = r->parts[index].part;

    p.text = reply_part_text(r, index);
    if (p.kind == PART_TOOL_CALL) {
        struct str args = str_trim(reply_part_args(r, index));

        p.args = args.n ? args : S("{}");
        for (size_t i = 0; i < index; i++)
            if (str_eq(r->parts[i].part.id, p.id))
                return false;
        if (p.is_free_text || (args.n && !reply_has_whole_args(r, index)))
            return false;
    }
    *ret_part = p;
    return index + 1 == r->n_parts;
}

static size_t n_calls_before(const struct reply *r, size_t index)
{
    size_t n = 0;

    for (size_t i = 0; i < index; i++)
        n += r->parts[i].part.kind == PART_TOOL_CALL;
    return n;
}

static void ask_on_close(void *self, size_t index)
{
    struct ask_state *a = self;
    struct part part, shown;
    AUTO(arena) struct arena scratch = {0};
    bool is_whole = find_whole(&a->reply, index, &part);
    bool is_call = a->reply.parts[index].part.kind == PART_TOOL_CALL;
    struct delta d = {.kind = DELTA_END, .part = index};
    struct event e = {.body.delta = {.delta = &d, .reply = &a->reply}};
    uint64_t found = 0;

    ask_end_deltas(a);
    if (is_whole && !(is_call && a->final)) { /* a last turn has no calls */
        shown = part;
        hide_in_part(a->run->secrets, &scratch, &shown, &found);
        e.body.delta.part = &shown;
    }
    e.body.delta.sequence = a->n_deltas++;
    run_emit(a->run, EVENT_DELTA, &e);
    if (is_call && is_whole && !found)
        early_offer(a->run, &part, n_calls_before(&a->reply, index));
    else if (is_call)
        early_close(a->run);
}

void ask_on_native_payload(void *self, const struct native_payload *p)
{
    struct ask_state *a = self;
    AUTO(strbuf) struct strbuf shown = {0};
    struct native_payload payload = *p;
    struct event e = {.body.payload = &payload};

    a->was_sent |= p->kind == PAYLOAD_REQUEST; /* its bytes leave next */
    payload.bytes = secrets_hide_in_json_text(a->run->secrets, p->bytes, &shown, NULL);
    if (payload.bytes.p != p->bytes.p)
        payload.hash = NULL;
    run_emit(a->run, EVENT_NATIVE_PAYLOAD, &e);
}

void ask_separate(struct ask_state *a)
{
    if ((a->run->place.round > 1 || a->final) && !a->run->is_continuing)
        emit_delta(a, &(struct delta){.kind = DELTA_TEXT, .text = S(ROUND_SEPARATOR)},
                   /* is_separator= */ true);
}

struct delta_sink ask_sink(struct ask_state *a)
{
    return (struct delta_sink){ask_on_delta, a, ask_on_close};
}
