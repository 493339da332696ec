/* unfinished.c - answers that are none: cut off by a limit, empty, declined or withheld.
 *
 * What can be mended by asking again is: an answer that reached the output limit is continued, an
 * empty one is asked for once more. The rest is an error, so that it does not pass for success. */
#include "engine/run_state.h"

#define MAX_CONTINUED 3 /* times in a row */
#define CONTINUE                                                                                   \
    "[Your answer reached the output limit and was cut off. Continue exactly where it stopped, "   \
    "without repeating anything.]"
#define SAY_SOMETHING                                                                              \
    "[Your answer was empty. If the work is done, say what you did; if it is not, go on.]"

static struct err *ask_again(struct run *r, struct str text)
{
    AUTO(message) struct message *m = run_new_message(r, ROLE_USER);

    message_add_context(m, text);
    run_append(r, m);
    return NULL;
}

static struct err *continue_answer(struct run *r, const struct message *answer, bool *ret_goes_on)
{
    if (r->n_continued == MAX_CONTINUED)
        return err_hint(err_new(ERR_OUTPUT_LIMIT, "the answer was cut off %d times (%" STR_FMT ")",
                                MAX_CONTINUED + 1, STR_ARG(answer->stop_reason)),
                        "maxOutput in the profile sets the limit, or what is left of the budget; "
                        "ask for less at a time");
    message_text(answer, &r->continued);
    r->n_continued++;
    r->is_continuing = *ret_goes_on = true;
    return ask_again(r, S(CONTINUE));
}

static struct err *say_declined(const struct message *answer)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct str said;

    message_text(answer, &text);
    for (size_t i = 0; i < answer->n_parts; i++)
        if (answer->parts[i].kind == PART_REFUSAL)
            strbuf_add(&text, answer->parts[i].text);
    said = str_trim(strbuf_str(&text));
    return err_hint(err_new(ERR_CONTENT_FILTER, "the model declined to answer%s%" STR_FMT,
                            said.n ? ": " : "", STR_ARG(said)),
                    "say it in other words, or ask another model");
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

static struct err *mend_empty(struct run *r, const struct message *answer, bool *ret_goes_on)
{
    if (r->was_empty)
        return err_hint(err_new(ERR_PROVIDER_ERROR, "the model's answer is empty (%" STR_FMT ")",
                                STR_ARG(answer->stop_reason)),
                        "ask again, or ask another model");
    r->was_empty = *ret_goes_on = true;
    return ask_again(r, S(SAY_SOMETHING));
}

void unfinished_reset(struct run *r)
{
    strbuf_clear(&r->continued);
    r->n_continued = 0;
    r->is_continuing = r->was_empty = false;
}

struct err *unfinished_check(struct run *r, const struct message *answer, bool *ret_goes_on)
{
    *ret_goes_on = r->is_continuing = false;
    if (r->stop == STOP_LENGTH)
        return continue_answer(r, answer, ret_goes_on);
    if (r->stop == STOP_REFUSED || has(answer, PART_REFUSAL))
        return say_declined(answer);
    if (r->stop == STOP_FILTERED)
        return err_hint(err_new(ERR_CONTENT_FILTER,
                                "the provider withheld the rest of the answer (%" STR_FMT ")",
                                STR_ARG(answer->stop_reason)),
                        "say it in other words, or ask another model");
    if (is_empty(answer) && r->n_continued == 0)
        return mend_empty(r, answer, ret_goes_on);
    return NULL;
}
