/* show_text.c - a conversation for a person: prompts with their numbers, answers, calls. */
#include "cli/session/show.h"

#include "cli/flags/answer.h"
#include "cli/output/text.h"
#include "sys/loop.h"

#include <inttypes.h>
#include <unistd.h>

#define LABEL_WIDTH 10
#define PLAIN_COLUMNS 100
#define NOTE_COLUMNS 72
#define CALL_MAX_CHARS 100
#define TOLD_LINES 6

static size_t n_columns(void)
{
    return cli_n_columns() ? cli_n_columns() : PLAIN_COLUMNS;
}

static struct err *print(struct strbuf *out)
{
    struct err *e = cli_print(strbuf_str(out));

    strbuf_clear(out);
    return e;
}

/* --- the header --- */

static void add_label(struct strbuf *out, const char *label)
{
    AUTO(strbuf) struct strbuf padded = {0};

    strbuf_addf(&padded, "%-*s", LABEL_WIDTH, label);
    cli_add_tinted(out, TINT_FAINT, strbuf_str(&padded));
}

static void add_field(struct strbuf *out, const char *label, struct str value)
{
    if (value.n == 0)
        return;
    add_label(out, label);
    cli_add_visible(out, value);
    strbuf_add_char(out, '\n');
}

static void add_title(struct strbuf *out, const struct store_summary *s)
{
    AUTO(strbuf) struct strbuf title = {0};

    session_add_line(&title, s->name.n ? s->name : s->preview, n_columns());
    if (title.n == 0)
        return;
    cli_add_tinted(out, TINT_BOLD, strbuf_str(&title));
    strbuf_add_char(out, '\n');
}

static void add_model(struct strbuf *out, const struct loaded *l)
{
    if (!l->model.n)
        return;
    add_label(out, "model");
    if (l->provider.n) {
        cli_add_visible(out, l->provider);
        strbuf_add_char(out, '/');
    }
    cli_add_visible(out, l->model);
    strbuf_add_char(out, '\n');
}

static void add_times(struct strbuf *out, const struct store_summary *s)
{
    add_label(out, "time");
    session_add_time(out, s->created_ms);
    strbuf_add_cstr(out, ", last used ");
    session_add_age(out, s->updated_ms, clock_unix_ms(loop_clock(task_loop())));
    strbuf_add_char(out, '\n');
}

static size_t count_live(const struct turn_list *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        n += l->items[i].is_live;
    return n;
}

static void add_size(struct strbuf *out, const struct session_show *s)
{
    const struct spent *spent = &s->loaded.spent;
    size_t n_turns = count_live(&s->turns);

    add_label(out, "size");
    strbuf_addf(out, "%" PRIu64 " message%s, %zu turn%s", s->summary.n_messages,
                s->summary.n_messages == 1 ? "" : "s", n_turns, n_turns == 1 ? "" : "s");
    if (usage_is_known(&spent->usage))
        strbuf_addf(out, "; %" PRId64 " tokens in, %" PRId64 " out", usage_prompt(&spent->usage),
                    usage_completion(&spent->usage));
    if (spent->microcents > 0 || !spent->is_unpriced) {
        strbuf_add_cstr(out, spent->is_estimated ? ", about " : ", ");
        text_add_money(out, spent->microcents);
        strbuf_add_cstr(out, spent->is_unpriced ? " and unknown costs" : "");
    }
    strbuf_add_char(out, '\n');
}

/* Below the call: a question is nothing without its words. */
static void add_question(struct strbuf *out, const struct ask *ask)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct str rest, line;

    answer_flags_question(ask, &text);
    rest = strbuf_str(&text);
    while (rest.n && str_split(&rest, '\n', &line)) {
        strbuf_addf(out, "%*s", line.n ? LABEL_WIDTH : 0, "");
        cli_add_visible(out, line);
        strbuf_add_char(out, '\n');
    }
}

static void add_asks(struct strbuf *out, const struct session_show *s)
{
    for (size_t i = 0; i < s->loaded.n_asks; i++) {
        const struct ask *ask = &s->loaded.asks[i];
        AUTO(strbuf) struct strbuf call = {0};

        if (ask->tool.n)
            display_call(&call, ask->tool, ask->args, CALL_MAX_CHARS);
        else
            strbuf_add(&call, ask->text);
        strbuf_addf(out, "%*s", LABEL_WIDTH, "");
        cli_add_tinted(out, TINT_YELLOW, strbuf_str(&call));
        if (ask->call_id.n) {
            strbuf_add_cstr(out, "  (");
            cli_add_visible(out, ask->call_id);
            strbuf_add_char(out, ')');
        }
        strbuf_add_char(out, '\n');
        add_question(out, ask);
    }
}

static void add_last_state(struct strbuf *out, const struct session_show *s)
{
    const struct turn_entry *last = session_show_last(s);
    bool is_fine = s->state == TURN_DONE || s->state == TURN_NONE;

    cli_add_tinted(out, is_fine ? TINT_GREEN : TINT_YELLOW, str_of(turn_state_text(s->state)));
    if (last && last->error_code.n && last->state != TURN_INTERRUPTED)
        strbuf_addf(out, " (%" STR_FMT ")", STR_ARG(last->error_code));
    if (last && last->state == TURN_DONE && last->forced.n)
        strbuf_addf(out, " (%" STR_FMT ")", STR_ARG(last->forced));
}

static void add_state(struct strbuf *out, const struct session_show *s)
{
    add_label(out, "state");
    if (s->summary.is_open) {
        strbuf_add_cstr(out, "open in ");
        cli_add_visible(out, s->summary.holder.n ? s->summary.holder : S("another process"));
        if (session_show_is_running(s, session_show_last(s)))
            strbuf_add_cstr(out, ", at work");
    } else {
        add_last_state(out, s);
    }
    strbuf_add_char(out, '\n');
    if (s->loaded.last_run == LAST_RUN_SUSPENDED)
        add_asks(out, s);
}

struct err *session_show_header(struct session_show *s)
{
    AUTO(strbuf) struct strbuf out = {0};

    s->show = (struct display){.flags = DISPLAY_TEXT | DISPLAY_TOOLS |
                                        (s->with_tools ? DISPLAY_RESULTS : DISPLAY_FAILURES) |
                                        (s->is_whole ? DISPLAY_WHOLE : 0),
                               .margin_fd = STDOUT_FILENO,
                               .in_colour = cli_has_colour(STDOUT_FILENO),
                               .is_visible = true};
    add_title(&out, &s->summary);
    add_field(&out, "id", s->summary.id);
    add_field(&out, "directory", s->summary.cwd);
    add_model(&out, &s->loaded);
    add_times(&out, &s->summary);
    add_size(&out, s);
    add_state(&out, s);
    return print(&out);
}

/* --- lines of our own --- */

static struct err *end_text(struct session_show *s)
{
    display_end_line(&s->show);
    s->show.has_text = s->show.wants_blank = false;
    return TAKE(s->show.error);
}

static struct err *say(struct session_show *s, enum tint tint, struct str text)
{
    AUTO(strbuf) struct strbuf out = {0};

    TRY(end_text(s));
    cli_add_tinted(&out, tint, text);
    strbuf_add_char(&out, '\n');
    return print(&out);
}

/* A prompt in bold, further lines below its first. */
static struct err *say_prompt(struct session_show *s, struct str mark, struct str text)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct str rest = str_trim(text), line;
    bool is_first = true;

    TRY(end_text(s));
    strbuf_add_char(&out, '\n');
    cli_add_tinted(&out, TINT_GREEN, mark);
    while (str_split(&rest, '\n', &line)) {
        if (!is_first)
            strbuf_addf(&out, "\n%*s", (int)mark.n, "");
        cli_add_tinted(&out, TINT_BOLD, line);
        is_first = false;
    }
    strbuf_add_cstr(&out, "\n\n");
    return print(&out);
}

static struct err *say_note(struct session_show *s, struct str text, size_t max_lines)
{
    static const char mark[] = "(note) ";
    AUTO(strbuf) struct strbuf note = {0};
    struct str rest = str_trim(text), line = {0};

    strbuf_add_cstr(&note, mark);
    if (max_lines == 1)
        session_add_line(&note, rest, NOTE_COLUMNS);
    for (size_t n = 0; max_lines > 1 && n < max_lines && str_split(&rest, '\n', &line); n++) {
        strbuf_addf(&note, "%s%*s", n ? "\n" : "", n ? (int)strlen(mark) : 0, "");
        session_add_line(&note, n + 1 == max_lines && rest.n ? S("...") : line, NOTE_COLUMNS);
    }
    return say(s, TINT_FAINT, strbuf_str(&note));
}

/* --- turns --- */

/* What a person can do about the last one. */
static void add_remedy(struct strbuf *out, const struct session_show *s, enum turn_state state)
{
    if (state == TURN_SUSPENDED) {
        strbuf_add_cstr(out, "; ");
        answer_flags_hint(s->loaded.asks, s->loaded.n_asks,
                          arena_cstr(&s->work->arena, s->summary.id), out);
    } else if (state != TURN_DONE) {
        strbuf_addf(out, "; keel -p -r %" STR_FMT " %s", STR_ARG(s->summary.id),
                    state == TURN_CUT_OFF ? "finishes it" : "retries it");
    }
}

/* How the turn ended, where that was not with an answer. */
static struct err *end_turn(struct session_show *s)
{
    const struct turn_entry *t = TAKE(s->turn);
    AUTO(strbuf) struct strbuf line = {0};

    TRY(end_text(s));
    if (!t || session_show_is_running(s, t) || (t->state == TURN_DONE && !t->forced.n))
        return NULL;
    strbuf_addf(&line, "(%s",
                t->state == TURN_SUSPENDED && t != session_show_last(s)
                    ? "waited for an answer"
                    : turn_state_text(t->state));
    if (t->forced.n)
        strbuf_addf(&line, ", %" STR_FMT, STR_ARG(t->forced));
    if (t->error_code.n && t->state != TURN_INTERRUPTED)
        strbuf_addf(&line, ": %" STR_FMT, STR_ARG(t->error_code));
    if (t->error.n && t->state != TURN_INTERRUPTED && !s->has_error)
        strbuf_addf(&line, ": %" STR_FMT, STR_ARG(t->error));
    if (t == session_show_last(s) && !s->summary.is_open)
        add_remedy(&line, s, t->state);
    strbuf_add_char(&line, ')');
    return say(s, t->state == TURN_DONE ? TINT_FAINT : TINT_YELLOW, strbuf_str(&line));
}

static struct err *begin_turn(struct session_show *s, const struct event *e)
{
    const struct event_run *run = &e->body.run;
    AUTO(strbuf) struct strbuf mark = {0};

    TRY(end_turn(s));
    s->turn = turn_list_find(&s->turns, e->turn);
    s->has_error = false;
    strbuf_addf(&mark, "[%u] ", e->turn);
    s->wants_prompt = run->input.n > 0;
    return say_prompt(s, strbuf_str(&mark),
                      s->wants_prompt      ? run->input
                      : run->only_compacts ? S("(compacted)")
                                           : S("(continued)"));
}

static struct err *show_rewind(struct session_show *s, const struct event *e)
{
    const struct event_rewind *r = &e->body.rewind;
    AUTO(strbuf) struct strbuf line = {0};

    TRY(end_turn(s));
    strbuf_addf(&line, "\n[%u] %s rewound to before turn %u", e->turn,
                r->takes_messages ? "the conversation was" : "files were", r->turn);
    if (r->takes_messages && r->n_files)
        strbuf_addf(&line, ", with %zu file%s", r->n_files, r->n_files == 1 ? "" : "s");
    return say(s, TINT_YELLOW, strbuf_str(&line));
}

/* --- messages --- */

void session_show_stream(struct session_show *s, struct str text)
{
    struct delta delta = {.kind = DELTA_TEXT, .text = text};
    struct event e = {.type = EVENT_DELTA, .body.delta = {.delta = &delta}};

    display_event(&s->show, &e);
    display_end_line(&s->show);
    s->show.wants_blank = true;
}

static struct err *show_answer(struct session_show *s, const struct message *m)
{
    AUTO(strbuf) struct strbuf text = {0};

    message_text(m, &text);
    for (size_t i = 0; i < m->n_parts && !text.n; i++)
        if (m->parts[i].kind == PART_REFUSAL)
            strbuf_add(&text, m->parts[i].text);
    s->has_error |= m->is_error;
    if (m->is_error)
        return say(s, TINT_RED, strbuf_str(&text));
    session_show_stream(s, strbuf_str(&text));
    if (m->state == MESSAGE_COMPLETE || (s->turn && s->turn->state == TURN_INTERRUPTED))
        return NULL;
    return say(s, TINT_YELLOW,
               m->state == MESSAGE_INTERRUPTED ? S("(interrupted)") : S("(incomplete)"));
}

/* --- messages of a copied session --- */

static struct err *show_base_message(struct session_show *s, const struct event_message *b)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (b->index == 0)
        TRY(say(s, TINT_FAINT, S("\n(from before this session was copied or imported)")));
    if (b->message->role == ROLE_TOOL)
        return session_show_base_results(s, b->message);
    TRY(session_show_other_calls(s));
    if (b->message->role == ROLE_USER) {
        message_text(b->message, &text);
        return say_prompt(s, S("[-] "), strbuf_str(&text));
    }
    if (b->message->role != ROLE_ASSISTANT)
        return NULL;
    TRY(show_answer(s, b->message));
    session_show_note_calls(s, b->message);
    return NULL;
}

/* --- what became of the history --- */

static void describe_compaction(struct session_show *s, const struct event *e, struct strbuf *out)
{
    struct store_query q = {.from = e->seq, .type = S("context_compact"), .n_max = 1};
    AUTO(store_page) struct store_page page = {0};
    AUTO(arena) struct arena a = {0};
    struct json_where where;
    struct json *body;

    strbuf_add_cstr(out, e->body.message.is_kept ? "(old tool results were removed"
                                                 : "(earlier messages were summarized");
    err_ignore(store_read(s->work->store, s->summary.id, &q, &page), "it is only for the duration");
    if (page.n && json_parse_at(&a, page.records[0].body, JSON_REPAIR_UTF8, &body, &where))
        strbuf_addf(out, ": about %lld tokens instead of %lld",
                    (long long)json_int_or(json_get(json_get(body, "after"), "usedTokens"), 0),
                    (long long)json_int_or(json_get(json_get(body, "before"), "usedTokens"), 0));
    strbuf_add_char(out, ')');
}

static struct err *show_summary(struct session_show *s, const struct event *e)
{
    AUTO(strbuf) struct strbuf line = {0}, text = {0};

    if (e->body.message.index == 0) {
        describe_compaction(s, e, &line);
        TRY(say(s, TINT_YELLOW, strbuf_str(&line)));
    }
    if (!s->with_tools || !e->body.message.message || e->body.message.is_kept)
        return NULL;
    message_text(e->body.message.message, &text);
    return say(s, TINT_FAINT, strbuf_str(&text));
}

static struct err *show_user(struct session_show *s, const struct message *m)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (s->wants_prompt) { /* its turn began with it */
        s->wants_prompt = false;
        return NULL;
    }
    message_text(m, &text);
    if (text.n)
        return say_note(s, strbuf_str(&text), 1);
    for (size_t i = 0; i < m->n_parts; i++) /* keel's own words, without a prompt */
        if (m->parts[i].kind == PART_CONTEXT)
            strbuf_add(&text, m->parts[i].text);
    return say_note(s, strbuf_str(&text), TOLD_LINES);
}

static struct err *show_message(struct session_show *s, const struct event *e)
{
    const struct event_message *b = &e->body.message;

    if (strcmp(b->mutation, "rewind") == 0)
        return NULL;
    if (strcmp(b->mutation, "clear") == 0)
        return say(s, TINT_YELLOW, S("(the history was cleared)"));
    if (strcmp(b->mutation, "compact") == 0)
        return show_summary(s, e);
    if (!b->message)
        return NULL;
    if (strcmp(b->mutation, "fork-base") == 0)
        return show_base_message(s, b);
    if (b->message->role == ROLE_USER)
        return show_user(s, b->message);
    if (b->message->role != ROLE_ASSISTANT)
        return NULL;
    session_show_forget_calls(s);
    return show_answer(s, b->message);
}

struct err *session_show_event(struct session_show *s, const struct event *e)
{
    switch (e->type) {
    case EVENT_RUN_BEGIN:
        TRY(session_show_other_calls(s));
        return begin_turn(s, e);
    case EVENT_REWOUND:
        return show_rewind(s, e);
    case EVENT_HISTORY:
        return show_message(s, e);
    case EVENT_TOOL_REQUEST:
        session_show_note_request(s, &e->body.tool);
        return NULL;
    case EVENT_TOOL_END:
        session_show_note_end(s, e);
        return NULL;
    case EVENT_TOOL_BEGIN:
    case EVENT_TOOL_RESULT:
        return session_show_tool(s, e);
    default:
        return NULL;
    }
}

/* --- the end --- */

struct err *session_show_end(struct session_show *s)
{
    TRY(session_show_other_calls(s));
    if (!s->only && s->loaded.partial)
        TRY(show_answer(s, s->loaded.partial));
    return end_turn(s);
}
