/* request.c - derives values from a request's settings. */
#include "model/request.h"

static const char *const effort_names[] = {
    [EFFORT_UNSET] = "",      [EFFORT_NONE] = "none",     [EFFORT_MINIMAL] = "minimal",
    [EFFORT_LOW] = "low",     [EFFORT_MEDIUM] = "medium", [EFFORT_HIGH] = "high",
    [EFFORT_XHIGH] = "xhigh", [EFFORT_MAX] = "max",
};

const char *effort_name(enum effort e)
{
    return effort_names[e];
}

bool effort_find(struct str name, enum effort *ret_effort)
{
    if (str_is(name, "off")) {
        *ret_effort = EFFORT_NONE;
        return true;
    }
    for (int e = EFFORT_NONE; e <= EFFORT_MAX; e++)
        if (str_is(name, effort_names[e])) {
            *ret_effort = (enum effort)e;
            return true;
        }
    return false;
}

/* --- effort --- */

static bool takes(unsigned levels, int effort)
{
    return effort > EFFORT_NONE && effort <= EFFORT_MAX && (levels & EFFORT_BIT(effort));
}

enum effort effort_nearest(unsigned levels, enum effort asked)
{
    if (!(levels & ~EFFORT_BIT(EFFORT_NONE)) || asked <= EFFORT_NONE)
        return asked;
    for (int distance = 0; distance <= EFFORT_MAX; distance++) {
        int lower = (int)asked - distance, higher = (int)asked + distance;

        if (takes(levels, lower) && (asked >= EFFORT_HIGH || !takes(levels, higher)))
            return (enum effort)lower;
        if (takes(levels, higher))
            return (enum effort)higher;
    }
    return asked;
}

enum effort request_effort(const struct model_request *r)
{
    enum effort asked = r->effort;

    if (asked == EFFORT_UNSET && r->reasoning_budget <= 0 && request_can(r, REASONS_IF_ASKED))
        asked = EFFORT_MEDIUM;
    return r->info ? effort_nearest(r->info->efforts, asked) : asked;
}

struct err *request_check(const struct model_request *r)
{
    if (r->effort != EFFORT_NONE || r->reasoning_budget > 0 || !request_can(r, REASONS_ALWAYS) ||
        request_can(r, REASONS_BETWEEN_TOOLS))
        return NULL;
    return err_hint(err_new(ERR_VALIDATION,
                            "%" STR_FMT " always reasons; its reasoning cannot be switched off",
                            STR_ARG(r->model)),
                    "--effort low makes it reason the least");
}

int64_t request_max_output(const struct model_request *r)
{
    if (r->max_output > 0)
        return r->max_output;
    if (r->info && r->info->max_output > 0)
        return r->info->max_output;
    return MODEL_DEFAULT_MAX_OUTPUT;
}

int64_t request_reasoning_budget(const struct model_request *r)
{
    static const int percent[] = {
        [EFFORT_LOW] = 20,   [EFFORT_MEDIUM] = 50, [EFFORT_HIGH] = 80,
        [EFFORT_XHIGH] = 90, [EFFORT_MAX] = 95,
    };

    if (r->reasoning_budget > 0)
        return r->reasoning_budget;
    if (r->effort <= EFFORT_NONE)
        return 0;
    if (r->effort == EFFORT_MINIMAL)
        return 1024;
    return MAX(request_max_output(r) * percent[r->effort] / 100, (int64_t)1024);
}
