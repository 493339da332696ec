/* answer.c - words of the command line as answers to what was asked. */
#include "cli/flags/answer.h"

#include "cli/output/display.h"

#define CALL_MAX_CHARS 60
#define BUDGET_ID "budget" /* that ask belongs to no call */

static struct str id_of(const struct ask *ask)
{
    return ask->call_id.n ? ask->call_id : S(BUDGET_ID);
}

/* --- the words --- */

static const struct {
    const char *what, *words, *example;
} kinds[] = {
    [ASK_PERMISSION] = {"whether the call may run", "yes, session, project, no, no:REASON", "yes"},
    [ASK_QUESTION] = {"the question", "a text, or no:REASON", "\"TEXT\""},
    [ASK_BUDGET] = {"whether to spend more", "yes, session, no", "yes"},
    [ASK_PLAN] = {"whether the plan is approved",
                  "yes, edits (yes, and allow all edits of files), no, no:REASON", "yes"},
};
_Static_assert(ARRAY_LEN(kinds) == N_ASK_KINDS, "one for each");

static struct err *parse_word(const struct ask *ask, struct str text, struct answer *ret)
{
    static const struct {
        const char *word;
        enum answer_kind kind;
    } words[] = {{"yes", ANSWER_ONCE},
                 {"session", ANSWER_SESSION},
                 {"always", ANSWER_SESSION},
                 {"project", ANSWER_PROJECT},
                 {"no", ANSWER_NO}};

    if (ask->kind == ASK_PLAN && str_is(text, "edits")) {
        ret->kind = ANSWER_SESSION;
        return NULL;
    }
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(text, words[i].word)) {
            ret->kind = words[i].kind;
            return NULL;
        }
    if (!str_starts(text, S("no:")))
        return err_hint(err_new(ERR_VALIDATION, "--answer: \"%" STR_FMT "\" does not answer %s",
                                STR_ARG(text), kinds[ask->kind].what),
                        "one of: %s", kinds[ask->kind].words);
    *ret = (struct answer){.kind = ANSWER_NO, .reason = str_trim(str_skip(text, strlen("no:")))};
    return NULL;
}

/* The answers as JSON, or as the text that answers the first question; "no:" declines. */
static struct err *parse_value(struct str text, struct arena *a, struct answer *ret)
{
    bool is_json = str_starts(text, S("{")) || str_starts(text, S("["));
    struct json *value;
    struct err *e;

    if (str_starts(text, S("no:"))) {
        *ret = (struct answer){.kind = ANSWER_NO, .reason = str_trim(str_skip(text, 3))};
        return NULL;
    }
    if (is_json) {
        e = json_parse(a, text, 0, &value);
        if (e)
            return err_wrap(e, "--answer");
    } else {
        value = json_new(a, JSON_ARRAY);
        json_push(value, json_new_str(a, text));
    }
    *ret = (struct answer){.kind = ANSWER_VALUE, .value = value};
    return NULL;
}

/* --- to what --- */

NEVER_NULL static struct err *list_asks(const struct loaded *l, struct err *take_error)
{
    AUTO(strbuf) struct strbuf ids = {0};

    for (size_t i = 0; i < l->n_asks; i++)
        strbuf_addf(&ids, "%s%" STR_FMT, i ? ", " : "", STR_ARG(id_of(&l->asks[i])));
    return err_hint(take_error, "CALL=ANSWER, where CALL is one of: %s", strbuf_cstr(&ids));
}

static bool is_call(const struct history *h, struct str id)
{
    for (size_t i = 0; i < h->n_messages; i++) {
        const struct message *m = h->messages[i];

        for (size_t k = 0; k < m->n_parts; k++)
            if (m->parts[k].kind == PART_TOOL_CALL && str_eq(m->parts[k].id, id))
                return true;
    }
    return false;
}

/* Words that allow and forbid have no "="; the text that answers a question may have one. */
static bool names_other(const struct loaded *l, const struct history *h, struct str text,
                        struct str *ret_name)
{
    size_t at = str_find_char(text, '=');

    *ret_name = at == STR_NONE ? (struct str){0} : str_slice(text, 0, at);
    if (!ret_name->n || str_starts(text, S("no:")))
        return false;
    return l->n_asks > 1 || l->asks[0].kind != ASK_QUESTION || str_is(*ret_name, BUDGET_ID) ||
           is_call(h, *ret_name);
}

/* The ask that this is about; *text is then the answer alone. */
static struct err *find_ask(const struct loaded *l, const struct history *h, struct str *text,
                            const struct ask **ret_ask)
{
    struct str name;

    for (size_t i = 0; i < l->n_asks; i++) {
        struct str id = id_of(&l->asks[i]);

        if (text->n > id.n && str_starts(*text, id) && text->p[id.n] == '=') {
            *text = str_skip(*text, id.n + 1);
            *ret_ask = &l->asks[i];
            return NULL;
        }
    }
    if (names_other(l, h, *text, &name))
        return list_asks(l, err_new(ERR_VALIDATION, "--answer: no open question about %" STR_FMT,
                                    STR_ARG(name)));
    if (l->n_asks != 1)
        return list_asks(
            l, err_new(ERR_VALIDATION, "--answer needs a call: %zu questions are open", l->n_asks));
    *ret_ask = &l->asks[0];
    return NULL;
}

static struct err *answered_twice(const struct ask *ask)
{
    AUTO(strbuf) struct strbuf call = {0};

    if (ask->tool.n)
        display_call(&call, ask->tool, ask->args, CALL_MAX_CHARS);
    else
        strbuf_add(&call, ask->text);
    return err_hint(err_new(ERR_VALIDATION, "--answer: %" STR_FMT " (%s) has two answers",
                            STR_ARG(id_of(ask)), strbuf_cstr(&call)),
                    "give one answer to each question; nothing was done");
}

/* Behind `n` answers that were given before. */
static struct err *read_one(const struct loaded *l, const struct history *h, struct arena *a,
                            struct str text, struct given_answer *answers, size_t n)
{
    struct given_answer *ret = &answers[n];
    const struct ask *ask = NULL;

    TRY(find_ask(l, h, &text, &ask));
    for (size_t i = 0; i < n; i++)
        if (str_eq(answers[i].call_id, ask->call_id))
            return answered_twice(ask);
    ret->call_id = ask->call_id;
    return ask->kind == ASK_QUESTION ? parse_value(text, a, &ret->answer)
                                     : parse_word(ask, text, &ret->answer);
}

struct err *answer_flags_read(const struct args *args, const struct loaded *l,
                              const struct history *h, struct arena *a,
                              struct given_answer **ret_answers, size_t *ret_n)
{
    const char *given;
    size_t at = 0;

    *ret_answers = ARENA_ARRAY(a, args->n_given, struct given_answer);
    *ret_n = 0;
    while ((given = args_next(args, "answer", &at))) {
        if (l->last_run != LAST_RUN_SUSPENDED || !l->n_asks)
            return err_hint(err_new(ERR_VALIDATION, "--answer: this session asks no question"),
                            "keel session show prints its state");
        TRY(read_one(l, h, a, str_of(given), *ret_answers, *ret_n));
        ++*ret_n;
    }
    return NULL;
}

/* --- how to say it --- */

static void add_options(const struct json *question, struct strbuf *out)
{
    json_each (option, json_get(question, "options")) {
        struct str description = str_trim(json_get_text(option, "description"));

        strbuf_addf(out, "\n  %" STR_FMT "%s%" STR_FMT, STR_ARG(json_get_text(option, "label")),
                    description.n ? ": " : "", STR_ARG(description));
    }
}

void answer_flags_question(const struct ask *ask, struct strbuf *out)
{
    if (ask->kind == ASK_PLAN)
        strbuf_add(out, ask->text);
    if (ask->kind != ASK_QUESTION)
        return;
    json_each (question, json_get(ask->args, "questions")) {
        strbuf_addf(out, "%s%" STR_FMT "%s", out->n ? "\n" : "",
                    STR_ARG(json_get_text(question, "question")),
                    json_bool(json_get(question, "multiSelect"), false) ? " (one or several)" : "");
        add_options(question, out);
    }
}

void answer_flags_hint(const struct ask *asks, size_t n, const char *session, struct strbuf *out)
{
    unsigned kinds_told = 0;

    strbuf_addf(out, "to answer: keel -p -r %s", session);
    for (size_t i = 0; i < n; i++) {
        strbuf_add_cstr(out, " --answer ");
        if (n > 1)
            strbuf_addf(out, "%" STR_FMT "=", STR_ARG(id_of(&asks[i])));
        strbuf_add_cstr(out, kinds[asks[i].kind].example);
    }
    for (size_t i = 0; i < n; i++) {
        if (!(kinds_told & 1u << asks[i].kind))
            strbuf_addf(out, "\nanswers: %s", kinds[asks[i].kind].words);
        kinds_told |= 1u << asks[i].kind;
    }
}
