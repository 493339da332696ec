/* spending.c - counts what requests cost and refuses the next one over the limit. */
#include "cli/spending.h"

#include "cli/text.h"

struct err *spending_init(struct spending *s, const struct args *args)
{
    const char *given = args_get(args, "max-budget-usd");
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = NULL;
    struct json *amount = NULL;

    *s = (struct spending){0};
    if (!given)
        return NULL;
    e = json_parse(&a, str_of(given), 0, &amount);
    if (!e && money_from_usd(amount, &s->max_microcents) && s->max_microcents > 0)
        return NULL;
    return err_new(ERR_VALIDATION, "--max-budget-usd takes an amount over 0, not \"%s\"", given);
}

static struct err *reserve(void *self, const struct attempt *a, int64_t prompt_tokens,
                           struct ask *ret_ask)
{
    const struct spending *s = self;
    AUTO(strbuf) struct strbuf spent = {0}, max = {0};

    if (s->is_unknown)
        return err_hint(err_new(ERR_CONFIGURATION,
                                "--max-budget-usd cannot be kept: what %" STR_FMT
                                " costs is not known",
                                STR_ARG(a->target->model)),
                        "the setting `pricing` tells it");
    if (s->spent_microcents < s->max_microcents)
        return NULL;
    text_add_money(&spent, s->spent_microcents);
    text_add_money(&max, s->max_microcents);
    return err_new(ERR_BUDGET_EXCEEDED, "%s are spent; --max-budget-usd is %s", strbuf_cstr(&spent),
                   strbuf_cstr(&max));
}

static void settle(void *self, const struct attempt *a)
{
    struct spending *s = self;

    if (a->cost_microcents >= 0)
        s->spent_microcents += a->cost_microcents;
    else if (usage_is_known(&a->reply->usage))
        s->is_unknown = true;
}

struct attempt_budget spending_budget(struct spending *s)
{
    if (s->max_microcents == 0)
        return (struct attempt_budget){0};
    return (struct attempt_budget){reserve, settle, s};
}
