/* text.c - `keel -p` for people and for pipes: the answer and nothing else on stdout. */
#include "cli/print/parts.h"

#include "cli/flags/answer.h"

#include <unistd.h>

void print_text_event(void *self, const struct event *e)
{
    struct print_text *t = self;

    display_event(&t->show, e);
    if (e->type == EVENT_RESPONSE_RAW && e->parent_stream.n == 0)
        t->stop = e->body.reply.reply->stop;
}

void print_text_done(struct print_text *t)
{
    err_free(t->show.error);
}

/* --- the answer --- */

static struct err *print_line(struct str text)
{
    AUTO(strbuf) struct strbuf out = {0};

    if (text.n == 0)
        return NULL;
    strbuf_add(&out, text);
    if (!str_ends(text, S("\n")))
        strbuf_add_char(&out, '\n');
    return isatty(STDOUT_FILENO) ? cli_print_visible(strbuf_str(&out))
                                 : cli_print_raw(strbuf_str(&out));
}

/* With a schema the value is printed as JSON, whatever the model wrapped it in. An answer that does
 * not match the schema is not printed. */
static struct err *print_answer(const struct run_result *r)
{
    AUTO(strbuf) struct strbuf value = {0};

    if (r->value) {
        json_write(&value, r->value);
        return print_line(strbuf_str(&value));
    }
    if (err_is(r->error, ERR_VALIDATION))
        return NULL;
    return print_line(r->text);
}

/* --- what a person must know of it --- */

/* An answer that is not all of it must not look as if it were. */
static void note_stop(const struct print_text *t, const struct run_result *r)
{
    if (r->outcome != RUN_DONE)
        return;
    if (r->is_fallback && r->forced == FINAL_TURN_LIMIT)
        cli_tell("the round limit was reached before the model gave an answer");
    else if (r->is_fallback)
        cli_tell("the model gave no answer (%s)", final_reason_name(r->forced));
    else if (t->stop == STOP_LENGTH)
        cli_tell("the answer was cut off: %" STR_FMT
                 "\nmaxOutput in the profile, or the rest of the budget, sets this limit",
                 STR_ARG(r->stop_reason));
    else if (str_trim(r->text).n == 0)
        cli_tell("the answer has no text (stopped: %" STR_FMT ")", STR_ARG(r->stop_reason));
    else if (r->forced == FINAL_TURN_LIMIT)
        cli_tell("the round limit (%s) was reached; this is the answer so far", t->rounds_set_by);
}

#define DENIALS_TOLD 5
#define CALL_MAX_CHARS 100

/* Where they have not been seen as they happened. */
static void list_denials(struct strbuf *out, const struct run_result *r)
{
    for (size_t i = 0; i < MIN(r->n_denials, (size_t)DENIALS_TOLD); i++) {
        strbuf_add_cstr(out, "\n  ");
        display_call(out, r->denials[i].tool, r->denials[i].args, CALL_MAX_CHARS);
    }
    if (r->n_denials > DENIALS_TOLD)
        strbuf_addf(out, "\n  and %zu more", r->n_denials - DENIALS_TOLD);
}

/* Who denied a call, and what to do about it. */
static const struct {
    const char *rule; /* how the rule begins that decided */
    const char *hint;
} deniers[] = {
    {VERDICT_BY_PERSON, "you answered no"},
    {"hook:", "a hook forbids it, and no flag allows it; keel config show --origin prints hooks"},
    {"mode:plan", "plan mode changes nothing; choose another with --permission-mode MODE"},
    {"mode:default/modify", "--permission-mode acceptEdits allows changes of files, "
                            "--allowed-tools RULE single calls"},
    {"mode:", "--allowed-tools RULE allows single calls, --permission-mode MODE more"},
    {"", "a rule or keel's own policy forbids it; keel permissions test says which"},
};

static size_t denier_of(const struct denial *d)
{
    size_t i = 0;

    while (!str_starts(d->rule, str_of(deniers[i].rule)))
        i++;
    return i;
}

static void add_hints(struct strbuf *out, const struct run_result *r)
{
    bool has_denied[ARRAY_LEN(deniers)] = {false};

    for (size_t i = 0; i < r->n_denials; i++)
        has_denied[denier_of(&r->denials[i])] = true;
    for (size_t i = 0; i < ARRAY_LEN(deniers); i++)
        if (has_denied[i])
            strbuf_addf(out, "\n%s", deniers[i].hint);
}

static void note_denials(const struct print_text *t, const struct run_result *r)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (r->n_denials == 0)
        return;
    strbuf_addf(&text, "%zu call%s not allowed%s", r->n_denials,
                r->n_denials == 1 ? " was" : "s were", t->is_streaming ? "" : ":");
    if (!t->is_streaming)
        list_denials(&text, r);
    add_hints(&text, r);
    cli_tell("%s", strbuf_cstr(&text));
}

void print_text_asks(const struct print_text *t, const struct run_result *r)
{
    AUTO(strbuf) struct strbuf hint = {0};

    for (size_t i = 0; i < r->n_asks; i++) {
        const struct ask *ask = &r->asks[i];
        AUTO(strbuf) struct strbuf call = {0}, text = {0};

        if (ask->tool.n)
            display_call(&call, ask->tool, ask->args, CALL_MAX_CHARS);
        answer_flags_question(ask, &text);
        if (!text.n)
            strbuf_add(&text, ask->text);
        cli_tell("suspended, waiting for an answer (%s): %s%s%s", ask_kind_name(ask->kind),
                 strbuf_cstr(&call), call.n && text.n ? "\n" : "", strbuf_cstr(&text));
    }
    if (!r->n_asks || !t->session)
        return;
    answer_flags_hint(r->asks, r->n_asks, t->session, &hint);
    cli_tell("%s", strbuf_cstr(&hint));
}

struct err *print_text_end(struct print_text *t, const struct run_result *r)
{
    display_end_line(&t->show);
    if (t->show.error)
        return TAKE(t->show.error);
    if (!t->is_streaming || r->is_fallback || r->is_given) /* what has not streamed */
        TRY(print_answer(r));
    note_stop(t, r);
    note_denials(t, r);
    print_text_asks(t, r);
    return NULL;
}
