/* display.c - what a person sees of a run, event by event. */
#include "cli/output/display.h"

#include "base/clip.h"
#include "cli/io.h"
#include "cli/output/text.h"
#include "port/stored_result.h"
#include "sys/loop.h"

#include <inttypes.h>
#include <unistd.h>

#define CALL_MAX_CHARS 100
#define RESULT_MAX_LINES 8
#define RESULT_MAX_CHARS 100
#define LONG_WAIT_MS 2000
#define CLOCK_FROM_MS 60000 /* of longer waits the time of day is shown, too */

enum colour { PLAIN, FAINT, RED, GREEN, CYAN };

/* --- where it goes --- */

/* Without a reader of the answer, the rest would be paid for and thrown away. */
static void keep_error(struct display *s, struct err *e)
{
    if (!e)
        return;
    err_free(s->error);
    s->error = e;
    loop_cancel(task_loop());
}

static void say_text(struct display *s, struct str text)
{
    if (text.n == 0 || s->error)
        return;
    keep_error(s, s->is_visible ? cli_print_visible(text) : cli_print_raw(text));
    s->is_in_line = text.p[text.n - 1] != '\n';
}

void display_end_line(struct display *s)
{
    if (s->is_in_line)
        say_text(s, S("\n"));
    s->is_in_line = false;
}

static void say_margin(struct display *s, enum colour colour, struct str text)
{
    static const char *const codes[] = {"", "\033[2m", "\033[31m", "\033[32m", "\033[36m"};
    AUTO(strbuf) struct strbuf out = {0};
    bool is_coloured = s->in_colour && colour != PLAIN;

    if (s->error)
        return;
    strbuf_add_cstr(&out, is_coloured ? codes[colour] : "");
    cli_add_visible(&out, text);
    strbuf_add_cstr(&out, is_coloured ? "\033[0m" : "");
    if (s->margin_fd == STDOUT_FILENO)
        keep_error(s, cli_print(strbuf_str(&out)));
    else
        cli_print_error(strbuf_str(&out));
}

/* A line of its own. */
static void say_line(struct display *s, enum colour colour, struct str text)
{
    display_end_line(s);
    say_margin(s, colour, text);
    say_margin(s, PLAIN, S("\n"));
    s->wants_blank = s->has_text;
}

/* --- the answer --- */

static void show_text(struct display *s, struct str text)
{
    if (!(s->flags & DISPLAY_TEXT) || text.n == 0)
        return;
    if (s->in_kind == DELTA_REASONING)
        display_end_line(s);
    if (s->wants_blank) {
        display_end_line(s);
        say_text(s, S("\n"));
    }
    s->wants_blank = false;
    s->has_text = true;
    s->in_kind = DELTA_TEXT;
    say_text(s, text);
}

static void show_reasoning(struct display *s, struct str text)
{
    if (!(s->flags & DISPLAY_REASONING) || text.n == 0)
        return;
    if (s->in_kind != DELTA_REASONING)
        display_end_line(s);
    if (!s->is_in_line)
        say_margin(s, FAINT, S("(thinks) "));
    s->in_kind = DELTA_REASONING;
    say_margin(s, FAINT, text);
    s->is_in_line = text.p[text.n - 1] != '\n';
}

static void show_delta(struct display *s, const struct event_delta *d)
{
    if (d->is_separator)
        s->wants_blank = s->has_text;
    else if (d->delta->kind == DELTA_TEXT || d->delta->kind == DELTA_REFUSAL)
        show_text(s, d->delta->text);
    else if (d->delta->kind == DELTA_REASONING)
        show_reasoning(s, d->delta->text);
}

/* --- tools --- */

void display_call(struct strbuf *out, struct str tool, const struct json *args, size_t max_chars)
{
    struct str about = str_trim(tool_main_argument(args)), line = {0};

    strbuf_add(out, tool);
    str_split(&about, '\n', &line);
    if (line.n == 0)
        return;
    strbuf_add_cstr(out, "  ");
    clip_line(out, line, max_chars);
    if (about.n)
        strbuf_add_cstr(out, " ...");
}

static void show_tool_begin(struct display *s, const struct event_tool *t)
{
    AUTO(strbuf) struct strbuf line = {0};

    if (!(s->flags & DISPLAY_TOOLS))
        return;
    s->last_call = t->index;
    strbuf_add_cstr(&line, "> ");
    display_call(&line, t->name, t->args, CALL_MAX_CHARS);
    say_line(s, s->flags & DISPLAY_RESULTS ? CYAN : FAINT, strbuf_str(&line));
}

/* What the model reads, as far as it is text. */
static struct str result_text(const struct event_tool *t)
{
    for (size_t i = 0; t->result && i < t->result->n_content; i++)
        if (t->result->content[i].kind == PART_TEXT)
            return t->result->content[i].text;
    return (struct str){0};
}

static enum colour colour_of(struct str line, bool is_diff)
{
    if (is_diff && str_starts(line, S("+")))
        return GREEN;
    return is_diff && str_starts(line, S("-")) ? RED : FAINT;
}

/* Without blank lines around it, and a diff without its file names: the call has named it. */
static struct str result_body(struct str text, bool is_diff)
{
    size_t hunk = is_diff ? str_find(text, S("@@")) : STR_NONE;

    if (hunk != STR_NONE)
        text = str_skip(text, hunk);
    while (str_starts(text, S("\n")))
        text = str_skip(text, 1);
    while (str_ends(text, S("\n")))
        text.n--;
    return text;
}

static void show_result(struct display *s, const struct event_tool *t)
{
    struct str diff = json_get_text(t->metadata, "diff");
    struct str rest = result_body(diff.n ? diff : result_text(t), diff.n > 0), line;

    for (size_t n = 0; str_split(&rest, '\n', &line); n++) {
        AUTO(strbuf) struct strbuf shown = {0};

        strbuf_add_cstr(&shown, "  ");
        if (n == RESULT_MAX_LINES && rest.n && !(s->flags & DISPLAY_WHOLE)) {
            say_line(s, FAINT, S("  ..."));
            return;
        }
        if (s->flags & DISPLAY_WHOLE)
            strbuf_add(&shown, line);
        else
            clip_line(&shown, line, RESULT_MAX_CHARS);
        say_line(s, colour_of(line, diff.n > 0), strbuf_str(&shown));
    }
}

static void show_details(struct display *s, const struct event_tool *t)
{
    AUTO(strbuf) struct strbuf line = {0};

    strbuf_add_cstr(&line, "  ");
    display_call(&line, t->name, t->args, CALL_MAX_CHARS);
    strbuf_add_cstr(&line, ": ");
    text_add_duration(&line, (int64_t)t->duration_ms);
    strbuf_addf(&line, ", %zu characters%s%s", t->n_chars_out, t->is_ok ? "" : ", ",
                t->is_ok        ? ""
                : t->error_code ? t->error_code
                                : "failed");
    say_line(s, t->is_ok ? FAINT : RED, strbuf_str(&line));
}

/* A call that was not allowed never began: this is all that is seen of it. */
static void show_refusal(struct display *s, const struct event_tool *t)
{
    AUTO(strbuf) struct strbuf line = {0};

    strbuf_add_cstr(&line, "> ");
    display_call(&line, t->name, t->args, CALL_MAX_CHARS);
    strbuf_addf(&line, ": not allowed");
    say_line(s, RED, strbuf_str(&line));
}

/* Nor did one that names no tool, or has the wrong arguments. One that was given up because the run
 * ends is not worth a line. */
static bool could_not_begin(const struct event_tool *t)
{
    return !t->was_executed && !t->was_denied && !t->is_ok && t->error_code &&
           strcmp(t->error_code, err_code(ERR_CANCELLED)) != 0;
}

/* "Exit code 2": what a command's result begins with, unless it took too long. */
static void add_failure(struct strbuf *out, const struct event_tool *t)
{
    struct str rest = result_body(result_text(t), /* is_diff= */ false), first = {0};
    int64_t code = json_int_or(json_get(t->metadata, "exitCode"), 0);
    int64_t signal = json_int_or(json_get(t->metadata, "signal"), 0);

    str_split(&rest, '\n', &first);
    if (str_starts(first, S(STORED_RESULT_MARK)))
        str_split(&rest, '\n', &first);
    if (str_starts(first, S("Exit code ")) || str_starts(first, S("Killed by ")))
        clip_line(out, first, RESULT_MAX_CHARS);
    else if (json_bool(json_get(t->metadata, "timedOut"), false))
        strbuf_add_cstr(out, "Timed out");
    else if (code)
        strbuf_addf(out, "Exit code %" PRId64, code);
    else if (signal)
        strbuf_addf(out, "Killed by signal %" PRId64, signal);
    else
        clip_line(out, first.n ? first : S("failed"), RESULT_MAX_CHARS);
}

static void show_failure(struct display *s, const struct event_tool *t)
{
    AUTO(strbuf) struct strbuf line = {0};

    strbuf_add_cstr(&line, "  ");
    if (s->flags & DISPLAY_TOOLS && s->last_call != t->index) { /* of several at once */
        display_call(&line, t->name, t->args, CALL_MAX_CHARS);
        strbuf_add_cstr(&line, ": ");
    }
    add_failure(&line, t);
    say_line(s, RED, strbuf_str(&line));
}

static void show_tool_result(struct display *s, const struct event_tool *t)
{
    if (t->was_denied && s->flags & DISPLAY_TOOLS)
        show_refusal(s, t);
    if (could_not_begin(t))
        show_tool_begin(s, t);
    if (s->flags & DISPLAY_RESULTS)
        show_result(s, t);
    else if (s->flags & DISPLAY_FAILURES && !t->is_ok && (t->was_executed || could_not_begin(t)))
        show_failure(s, t);
    if (s->flags & DISPLAY_DETAILS && t->was_executed)
        show_details(s, t);
}

/* --- the model --- */

/* "anthropic: HTTP 429: slow down; trying again in 5 min (at 16:20:05, attempt 2 of 10)" */
static void show_retry(struct display *s, const struct event *e)
{
    const struct event_attempt *a = &e->body.attempt;
    AUTO_FREE char *why = err_message(a->error);
    AUTO(strbuf) struct strbuf line = {0};

    if (!(s->flags & DISPLAY_RETRIES) &&
        !(s->flags & DISPLAY_LONG_WAITS && a->delay_ms > LONG_WAIT_MS))
        return;
    strbuf_addf(&line, "%s; trying again in ", why);
    text_add_duration(&line, (int64_t)a->delay_ms);
    strbuf_add_cstr(&line, " (");
    if (a->delay_ms >= CLOCK_FROM_MS) {
        strbuf_add_cstr(&line, "at ");
        text_add_clock(&line, e->unix_ms + (int64_t)a->delay_ms);
        strbuf_add_cstr(&line, ", ");
    }
    strbuf_addf(&line, "attempt %u of %u)", a->at_target + 1, a->max_attempts);
    if (s->flags & DISPLAY_RETRIES)
        say_line(s, FAINT, strbuf_str(&line));
    else
        cli_tell("%s", strbuf_cstr(&line));
}

/* Another model answers than was asked for: always reported. */
static void show_fallback(struct display *s, const struct event_attempt *a)
{
    AUTO_FREE char *why = err_message(a->error);

    display_end_line(s);
    cli_tell("%s\nasking %" STR_FMT "/%" STR_FMT " instead", why, STR_ARG(a->next_provider),
             STR_ARG(a->next_model));
}

static void show_attempt(struct display *s, const struct event_attempt *a)
{
    AUTO(strbuf) struct strbuf line = {0};

    if (!(s->flags & DISPLAY_DETAILS) || a->is_lost) /* it was another process's */
        return;
    strbuf_addf(&line, "  %" STR_FMT "/%" STR_FMT, STR_ARG(a->provider), STR_ARG(a->model));
    if (a->usage && a->usage->routed_model.n)
        strbuf_addf(&line, " (%" STR_FMT " answered)", STR_ARG(a->usage->routed_model));
    strbuf_add_cstr(&line, ": ");
    text_add_duration(&line, (int64_t)a->duration_ms);
    if (a->error)
        strbuf_addf(&line, ", %s", err_code(a->error->kind));
    if (a->usage && usage_is_known(a->usage))
        strbuf_addf(&line, ", %" PRId64 " tokens in, %" PRId64 " out", usage_prompt(a->usage),
                    usage_completion(a->usage));
    if (a->cost_microcents >= 0) {
        strbuf_add_cstr(&line, ", ");
        text_add_money(&line, a->cost_microcents);
    }
    say_line(s, a->error ? RED : FAINT, strbuf_str(&line));
}

/* That a result was stored is between keel and the model. */
static bool is_routine(const struct event_notice *n)
{
    return strcmp(n->source, "agent:tool_output") == 0;
}

static void show_notice(struct display *s, const struct event_notice *n)
{
    bool is_wait = strcmp(n->source, "background") == 0;

    if (is_wait && s->flags & DISPLAY_RETRIES)
        say_line(s, FAINT, n->text);
    else if (is_wait && s->flags & (DISPLAY_LONG_WAITS | DISPLAY_DETAILS))
        cli_tell("%" STR_FMT, STR_ARG(n->text));
    if (!severity_is_for_person(n->severity))
        return;
    if (is_routine(n) && !(s->flags & DISPLAY_DETAILS))
        return;
    display_end_line(s);
    cli_tell("%" STR_FMT, STR_ARG(n->text));
}

void display_notices(void *self, const struct event *e)
{
    const struct event_notice *n = &e->body.notice;

    if (e->type == EVENT_NOTICE && !e->parent_stream.n && severity_is_for_person(n->severity))
        cli_tell("%" STR_FMT, STR_ARG(n->text));
}

static void show_total(struct display *s, const struct run_result *r)
{
    AUTO(strbuf) struct strbuf line = {0};

    if (!(s->flags & DISPLAY_DETAILS))
        return;
    strbuf_addf(&line, "  %s: %u request%s, %u tool call%s, ", run_outcome_name(r->outcome),
                r->n_attempts, r->n_attempts == 1 ? "" : "s", r->n_tools_executed,
                r->n_tools_executed == 1 ? "" : "s");
    text_add_duration(&line, (int64_t)r->duration_ms);
    if (run_result_cost_is_known(r) && run_result_microcents(r) > 0) {
        strbuf_add_cstr(&line, ", ");
        text_add_money(&line, run_result_microcents(r));
    }
    say_line(s, FAINT, strbuf_str(&line));
}

void display_event(void *self, const struct event *e)
{
    struct display *s = self;

    if (e->parent_stream.n)
        return;
    switch (e->type) {
    case EVENT_DELTA:
        show_delta(s, &e->body.delta);
        break;
    case EVENT_TOOL_BEGIN:
        show_tool_begin(s, &e->body.tool);
        break;
    case EVENT_TOOL_RESULT:
        show_tool_result(s, &e->body.tool);
        break;
    case EVENT_ATTEMPT_END:
        show_attempt(s, &e->body.attempt);
        break;
    case EVENT_RETRY:
        show_retry(s, e);
        break;
    case EVENT_FALLBACK:
        show_fallback(s, &e->body.attempt);
        break;
    case EVENT_NOTICE:
        show_notice(s, &e->body.notice);
        break;
    case EVENT_RUN_END:
        show_total(s, e->body.result);
        break;
    default:
        break;
    }
}
