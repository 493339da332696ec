/* ask_user_question.c - AskUserQuestion: lets the person decide what the model must not guess.
 *
 * The asker may answer at once or later. If later, the call is suspended and runs again with the
 * answer in its context. */
#include "tool/builtin.h"

/* Answers are keyed by the text of their question, so no two questions may have the same text. */
static const struct json *find_repeated(const struct json *questions)
{
    json_each (a, questions)
        for (const struct json *b = a->next; b; b = b->next)
            if (str_eq(json_get_text(a, "question"), json_get_text(b, "question")))
                return b;
    return NULL;
}

/* --- reading an answer --- */

/* The answer to one question, or NULL. An object in {"answers":...} is keyed by the question's text
 * or header, a list by position. Anything else answers a single question. */
static const struct json *find_answer(const struct json *value, const struct json *questions,
                                      const struct json *question, size_t place)
{
    const struct json *answers = json_get(value, "answers"), *found;

    if (!answers)
        answers = value;
    if (json_is(answers, JSON_OBJECT)) {
        found = json_get_str(answers, json_get_text(question, "question"));
        return found ? found : json_get_str(answers, json_get_text(question, "header"));
    }
    if (json_is(answers, JSON_ARRAY) && (questions->n > 1 || answers->n == 1))
        return json_at(answers, place);
    return questions->n == 1 ? answers : NULL;
}

static void add_answer(struct strbuf *out, const struct json *answer)
{
    if (json_is(answer, JSON_STRING))
        strbuf_add(out, answer->text);
    else
        json_write(out, answer);
}

static void add_answers(struct strbuf *out, const struct json *answer)
{
    if (!answer || answer->type == JSON_NULL || (answer->type == JSON_ARRAY && !answer->n)) {
        strbuf_add_cstr(out, "(no answer)");
    } else if (answer->type == JSON_ARRAY) {
        json_each (one, answer) {
            strbuf_add_cstr(out, one == answer->first ? "" : ", ");
            add_answer(out, one);
        }
    } else {
        add_answer(out, answer);
    }
}

static void take_value(struct tool_result *r, const struct json *questions,
                       const struct json *value)
{
    struct json *details = tool_result_details(r), *answers = json_new(&r->arena, JSON_OBJECT);
    size_t place = 0;

    json_set(&r->arena, details, "answers", answers);
    tool_result_addf(r, "The person answered:");
    json_each (question, questions) {
        const struct json *answer = find_answer(value, questions, question, place++);
        struct str text = json_get_text(question, "question");

        tool_result_addf(r, "\n\nQuestion: ");
        strbuf_add(&r->text, text);
        tool_result_addf(r, "\nAnswer: ");
        add_answers(&r->text, answer);
        if (answer)
            json_set_key(&r->arena, answers, text, json_copy(&r->arena, answer));
    }
}

/* --- the other outcomes --- */

static void add_refusal(struct tool_result *r, struct str reason)
{
    json_set_bool(&r->arena, tool_result_details(r), "declined", true);
    tool_result_addf(r, "The person declined to answer");
    if (reason.n) {
        json_set_str(&r->arena, r->details, "reason", reason);
        tool_result_addf(r, ": ");
        strbuf_add(&r->text, reason);
    }
    tool_result_addf(r, "\nDo not ask the same again. Continue with what you know, or say what you "
                        "cannot do without an answer.");
}

static void take_answer(struct tool_result *r, const struct ask *ask, const struct answer *answer)
{
    switch (answer->kind) {
    case ANSWER_NOBODY:
        json_set_bool(&r->arena, tool_result_details(r), "unavailable", true);
        tool_result_addf(
            r, "No one can answer in this run. Decide yourself: take the choice that is safest and "
               "easiest to change later, and state it as an assumption in your answer.");
        break;
    case ANSWER_LATER:
        tool_result_wait(r, ask);
        break;
    case ANSWER_NO:
        add_refusal(r, answer->reason);
        break;
    case ANSWER_VALUE:
        take_value(r, json_get(ask->args, "questions"), answer->value);
        break;
    case ANSWER_ONCE:
    case ANSWER_SESSION:
    case ANSWER_PROJECT:
        json_set_bool(&r->arena, tool_result_details(r), "agreed", true);
        tool_result_addf(
            r, "The person agreed without choosing: take what you recommend, and say what it is.");
        break;
    }
}

static struct err *ask_user_question_run(const struct tool *t, struct tool_context *c,
                                         const struct json *args, struct tool_result *result)
{
    const struct json *questions = json_get(args, "questions");
    const struct json *repeated = find_repeated(questions);
    struct ask ask = {.kind = ASK_QUESTION,
                      .call_id = c->call_id,
                      .tool = str_of(t->name),
                      .args = args,
                      .text = json_get_text(questions->first, "question")};
    struct answer answer;

    if (repeated) {
        struct str text = json_get_text(repeated, "question");

        tool_result_fail(result, "The question \"%" STR_FMT "\" appears twice. Ask it once.",
                         STR_ARG(text));
        return NULL;
    }
    if (c->answer)
        answer = *c->answer;
    else
        TRY(asker_ask(c->asker, &ask, &result->arena, &answer));
    take_answer(result, &ask, &answer);
    return NULL;
}

/* People take their time: there is no deadline. */
static uint64_t ask_user_question_timeout(const struct tool *t, const struct json *args)
{
    return TOOL_NO_DEADLINE;
}

static const char description[] =
    "Asks the person one to four questions, each with two to four answers to choose from. Use it "
    "when only they can decide and a wrong guess would cost much: a choice between designs, a "
    "missing requirement. Do not use it for what you can find out yourself, nor to ask whether to "
    "continue or whether a plan is all right. Put the answer you recommend first. The person can "
    "always write another answer, so add no option for that.";

static const char schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"questions\"],"
    "\"properties\":{\"questions\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":4,"
    "\"description\":\"The questions; no two may be the same\","
    "\"items\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"required\":[\"question\",\"options\"],\"properties\":{"
    "\"question\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":2000,"
    "\"description\":\"The complete question, ending in a question mark\"},"
    "\"header\":{\"type\":\"string\",\"maxLength\":80,"
    "\"description\":\"A label of one or two words, ideally up to 12 characters\"},"
    "\"options\":{\"type\":\"array\",\"minItems\":2,\"maxItems\":4,"
    "\"description\":\"The answers to choose from\","
    "\"items\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"required\":[\"label\"],\"properties\":{"
    "\"label\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200,"
    "\"description\":\"The answer in a few words\"},"
    "\"description\":{\"type\":\"string\",\"maxLength\":2000,"
    "\"description\":\"What it means and what it entails\"}}}},"
    "\"multiSelect\":{\"type\":\"boolean\","
    "\"description\":\"Let the person choose several options. Default: false\"}}}}}}";

struct tool tool_ask_user_question = {
    .name = "AskUserQuestion",
    .description = description,
    .schema = schema,
    .risk = RISK_INSPECT,
    .needs = NEEDS_PERSON,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = ask_user_question_run,
    .timeout_ms = ask_user_question_timeout,
};
