/* answer.c - an answer that must be JSON of a certain shape. */
#include "engine/run_state.h"

#include "model/fenced.h"

static struct err *tell_mismatch(const struct schema_report *report)
{
    AUTO(strbuf) struct strbuf places = {0};

    for (size_t i = 0; i < report->n_errors; i++)
        strbuf_addf(&places, "%s%" STR_FMT "%s%" STR_FMT, i ? "; " : "",
                    STR_ARG(report->errors[i].path), report->errors[i].path.n ? ": " : "",
                    STR_ARG(report->errors[i].message));
    return err_new(ERR_VALIDATION, "the answer does not fit the schema: %s", strbuf_cstr(&places));
}

static struct err *tell_no_json(struct err *take_error)
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
        return tell_no_json(e);
    TRY(schema_validate(schema, value, &scratch, &is_valid, &report));
    if (!is_valid)
        return tell_mismatch(&report);
    *ret_value = value;
    return NULL;
}

struct err *answer_check(struct run *r, struct str text)
{
    r->result->value = NULL;
    if (!r->input->output_schema)
        return NULL;
    return answer_parse(r->input->output_schema, text, &r->result->arena, &r->result->value);
}
