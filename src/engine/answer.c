/* answer.c - is an answer without calls the end of the turn?
 *
 * One that was cut off by a limit, is empty, was declined or withheld, or has the wrong shape is
 * not. What can be mended by asking again is: an answer that reached the output limit is continued,
 * an empty one is asked for once more, one that does not fit its schema goes back with what is
 * wrong. The rest is an error, so that it does not pass for success. */
#include "engine/run_state.h"

#include "base/utf8.h"
#include "model/fenced.h"

#define MAX_CONTINUED 3 /* times in a row */
#define MAX_UNREAD 3
#define CONTINUE                                                                                   \
    "[Your answer reached the output limit and was cut off. Continue exactly where it stopped, "   \
    "without repeating anything.]"
#define SAY_SOMETHING                                                                              \
    "[Your answer was empty. If the work is done, say what you did; if it is not, continue.]"
#define CALL_AGAIN "[Your tool call could not be read, and nothing was run. Make the call again.]"
#define MISFIT "[Your answer was not accepted: "
#define MISFIT_END " Answer again, with the JSON value alone: no other text, no code fence.]"
#define MISFIT_MAX_BYTES 4000 /* of what is wrong with it: the model has written a part of that */

/* --- its schema --- */

static struct err *mismatch(const struct schema_report *report)
{
    AUTO(strbuf) struct strbuf places = {0};

    for (size_t i = 0; i < report->n_errors; i++)
        strbuf_addf(&places, "%s%" STR_FMT "%s%" STR_FMT, i ? "; " : "",
                    STR_ARG(report->errors[i].path), report->errors[i].path.n ? ": " : "",
                    STR_ARG(report->errors[i].message));
    return err_new(ERR_VALIDATION, "the answer does not fit the schema: %s", strbuf_cstr(&places));
}

static struct err *not_json(struct err *take_error)
{
    AUTO(err) struct err *e = take_error;
    AUTO_FREE char *why = err_message(e);
    struct str place = str_of(why), prefix = S("not valid JSON: ");

    if (str_starts(place, prefix))
        place = str_skip(place, prefix.n);
    return err_new(e->kind, "the answer is not JSON: %" STR_FMT, STR_ARG(place));
}

struct err *answer_parse(const struct json *output_schema, struct str text, struct arena *a,
                         const struct json **ret_value)
{
    AUTO(schema) struct schema *schema = NULL;
    AUTO(arena) struct arena scratch = {0};
    struct schema_report report;
    struct json *value;
    struct err *e;
    bool is_valid;

    TRY(schema_compile(output_schema, NULL, &schema));
    e = json_parse(a, fenced_json(text), 0, &value);
    if (e)
        return not_json(e);
    TRY(schema_validate(schema, value, &scratch, &is_valid, &report));
    if (!is_valid)
        return mismatch(&report);
    *ret_value = value;
    return NULL;
}

struct err *answer_validate(struct run *r, struct str text)
{
    r->result->value = NULL;
    if (!r->input->output_schema)
        return NULL;
    return answer_parse(r->input->output_schema, text, &r->result->arena, &r->result->value);
}

/* --- asking again --- */

static struct err *ask_again(struct run *r, struct str text)
{
    AUTO(message) struct message *m = run_new_message(r, ROLE_USER);

    message_add_context(m, text);
    run_append(r, m);
    return NULL;
}

static struct err *continue_answer(struct run *r, const struct message *answer, bool *ret_continues)
{
    if (r->n_continued == MAX_CONTINUED)
        return err_hint(err_new(ERR_OUTPUT_LIMIT, "the answer was cut off %d times (%" STR_FMT ")",
                                MAX_CONTINUED + 1, STR_ARG(answer->stop_reason)),
                        "the limit is maxOutput of the profile or the rest of the budget; ask for "
                        "less at a time");
    message_text(answer, &r->continued);
    r->n_continued++;
    r->is_continuing = *ret_continues = true;
    return ask_again(r, S(CONTINUE));
}

static struct str why_it_ended(const struct run *r, const struct message *answer)
{
    return r->stop_detail.n ? r->stop_detail : answer->stop_reason;
}

static struct err *say_declined(const struct run *r, const struct message *answer)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct str said;

    message_text(answer, &text);
    for (size_t i = 0; i < answer->n_parts; i++)
        if (answer->parts[i].kind == PART_REFUSAL)
            strbuf_add(&text, answer->parts[i].text);
    said = str_trim(strbuf_str(&text));
    return err_hint(err_new(ERR_CONTENT_FILTER,
                            "the model declined to answer%s%" STR_FMT "%s%" STR_FMT "%s",
                            said.n ? ": " : "", STR_ARG(said), r->stop_detail.n ? " [" : "",
                            STR_ARG(r->stop_detail), r->stop_detail.n ? "]" : ""),
                    "rephrase the prompt, or use another model with --model");
}

static bool has(const struct message *m, enum part_kind kind)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == kind)
            return true;
    return false;
}

static bool is_empty(const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_MEDIA ||
            (m->parts[i].kind == PART_TEXT && str_trim(m->parts[i].text).n))
            return false;
    return true;
}

static struct err *mend_empty(struct run *r, const struct message *answer, bool *ret_continues)
{
    if (r->was_empty)
        return err_hint(err_new(ERR_PROVIDER_ERROR, "the model's answer is empty%s%" STR_FMT "%s",
                                answer->stop_reason.n ? " (" : "", STR_ARG(answer->stop_reason),
                                answer->stop_reason.n ? ")" : ""),
                        "try again, or use another model with --model");
    r->was_empty = *ret_continues = true;
    return ask_again(r, S(SAY_SOMETHING));
}

/* The model wanted to work, so its words before the call are not the end of it. */
static struct err *ask_for_call(struct run *r, const struct message *answer, bool *ret_continues)
{
    if (r->n_unread == MAX_UNREAD)
        return err_hint(
            err_new(
                ERR_PROVIDER_ERROR,
                "the provider could not parse the model's tool calls %d times in a row (%" STR_FMT
                ")",
                MAX_UNREAD + 1, STR_ARG(why_it_ended(r, answer))),
            "ask for smaller steps, or use another model with --model");
    r->n_unread++;
    *ret_continues = true;
    return ask_again(r, S(CALL_AGAIN));
}

/* It is taken as it is, but not in silence. */
static void tell_odd_end(struct run *r, const struct message *answer)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (r->stop == STOP_TOOL_CALLS)
        strbuf_add_cstr(
            &text,
            "the answer may be incomplete: the provider announced a tool call but sent none");
    else if (r->stop == STOP_UNKNOWN && answer->stop_reason.n)
        strbuf_addf(&text,
                    "the answer may be incomplete: it ended for an unknown reason (%" STR_FMT ")",
                    STR_ARG(answer->stop_reason));
    if (text.n)
        run_notice(r, SEVERITY_WARNING, "provider", strbuf_str(&text));
}

/* The model reads what is wrong and where, as often as the policy lets it. */
struct err *answer_fit(struct run *r, bool *ret_continues)
{
    AUTO(err) struct err *e = answer_validate(r, r->result->text);
    AUTO_FREE char *why = e ? err_message(e) : NULL;
    AUTO(strbuf) struct strbuf text = {0};

    if (!err_is(e, ERR_VALIDATION) || r->policy->max_misfits == 0) {
        r->n_misfits = 0;
        return TAKE(e);
    }
    if (r->n_misfits == r->policy->max_misfits)
        return err_hint(
            TAKE(e),
            "the model tried %u more time%s; try a simpler schema, or another model with --model",
            r->n_misfits, r->n_misfits == 1 ? "" : "s");
    answer_reset(r);
    r->n_misfits++;
    r->result->text = (struct str){0};
    *ret_continues = true;
    strbuf_addf(&text, MISFIT "%" STR_FMT "." MISFIT_END,
                STR_ARG(utf8_truncate(str_of(why), MISFIT_MAX_BYTES)));
    return ask_again(r, strbuf_str(&text));
}

void answer_reset(struct run *r)
{
    strbuf_clear(&r->continued);
    r->n_continued = r->n_unread = 0;
    r->is_continuing = r->was_empty = false;
}

struct err *answer_check(struct run *r, const struct message *answer, bool *ret_continues)
{
    *ret_continues = r->is_continuing = false;
    if (r->stop == STOP_LENGTH)
        return continue_answer(r, answer, ret_continues);
    if (r->stop == STOP_REFUSED || has(answer, PART_REFUSAL))
        return say_declined(r, answer);
    if (r->stop == STOP_FILTERED)
        return err_hint(err_new(ERR_CONTENT_FILTER,
                                "the provider withheld the rest of the answer (%" STR_FMT ")",
                                STR_ARG(why_it_ended(r, answer))),
                        "rephrase the prompt, or use another model with --model");
    if (r->stop == STOP_UNREAD)
        return ask_for_call(r, answer, ret_continues);
    if (is_empty(answer) && r->n_continued == 0)
        return mend_empty(r, answer, ret_continues);
    tell_odd_end(r, answer);
    return answer_fit(r, ret_continues);
}

/* --- resuming --- */

/* What keel has said to an answer, which stands before it; empty: nothing. */
static struct str find_word(const struct history *h, size_t at)
{
    const struct message *word, *answer;

    if (at == 0)
        return (struct str){0};
    word = h->messages[at];
    answer = h->messages[at - 1];
    if (word->role != ROLE_USER || word->n_parts != 1 || word->parts[0].kind != PART_CONTEXT ||
        answer->role != ROLE_ASSISTANT || answer->state != MESSAGE_COMPLETE ||
        message_n_calls(answer))
        return (struct str){0};
    return word->parts[0].text;
}

void answer_resume(struct run *r)
{
    const struct history *h = &r->conversation->history;
    size_t end = h->n_messages, from;
    struct str word;

    /* An answer that nothing was said to yet may be the next of these. */
    if (end && h->messages[end - 1]->role == ROLE_ASSISTANT)
        end--;
    for (from = end; from >= 2 && str_is(find_word(h, from - 1), CONTINUE); from -= 2)
        r->n_continued++;
    for (size_t i = from; i < end; i += 2)
        message_text(h->messages[i], &r->continued);
    for (size_t i = end; i >= 2 && str_is(find_word(h, i - 1), CALL_AGAIN); i -= 2)
        r->n_unread++;
    word = end ? find_word(h, end - 1) : (struct str){0};
    r->is_continuing = r->n_continued > 0;
    r->was_empty = str_is(word, SAY_SOMETHING);
    for (; from >= 2 && (word = find_word(h, from - 1)).n; from -= 2)
        r->n_misfits += str_starts(word, S(MISFIT));
}
