/* reserve.c - estimates for requests whose usage is not known, or not yet. */
#include "engine/reserve.h"

#include "engine/ledger.h"

#define BYTES_PER_TOKEN 4
#define ANSWER_BYTES_PER_TOKEN 3 /* code and other languages are denser than English */

/* --- before it leaves --- */

static size_t schema_size(const struct json *schema)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (!schema || schema->raw.n)
        return schema ? schema->raw.n : 0;
    json_write(&text, schema);
    return text.n;
}

static int64_t prompt_tokens(const struct model_request *q)
{
    size_t n_bytes = q->system.n + schema_size(q->output_schema);
    int64_t n_tokens = q->message_tokens;

    for (size_t i = 0; i < q->n_tools; i++)
        n_bytes += q->tools[i]->name.n + q->tools[i]->description.n +
                   schema_size(q->tools[i]->input_schema);
    for (size_t i = 0; i < q->n_messages && !q->message_tokens; i++)
        n_tokens += ledger_message_tokens(q->messages[i]);
    return n_tokens + (int64_t)(n_bytes / BYTES_PER_TOKEN);
}

static int64_t cost_of(int64_t input, int64_t output, const struct price *price)
{
    struct usage usage = USAGE_UNKNOWN;

    usage.input = input;
    usage.output = output;
    return usage_cost_microcents(&usage, price);
}

struct reservation reservation_of(const struct model_request *request, const struct price *price,
                                  int64_t used)
{
    struct reservation r = {.input = MAX(prompt_tokens(request), used),
                            .output = RESERVE_USUAL_OUTPUT};

    if (request->max_output > 0)
        r.output = MIN(request->max_output, r.output);
    r.microcents = cost_of(r.input, r.output, price);
    return r;
}

void reservation_limit(struct reservation *r, struct model_request *request)
{
    int64_t longest = request_max_output(request);
    bool is_known = request->max_output > 0 || (request->info && request->info->max_output > 0);

    if (!r->max_output || (is_known && r->max_output >= longest)) {
        r->max_output = 0;
        return;
    }
    /* Of a model that nothing is known about, more than the default may be more than it takes. */
    r->max_output = request->max_output = MIN(r->max_output, longest);
    request->reasoning_budget = MIN(request->reasoning_budget, r->max_output / 2);
}

/* --- when it has ended --- */

int64_t reserve_output_tokens(uint64_t n_bytes)
{
    return (int64_t)((n_bytes + ANSWER_BYTES_PER_TOKEN - 1) / ANSWER_BYTES_PER_TOKEN);
}

/* A provider that has refused has done nothing; one that fell silent may still be at work. */
static bool may_be_billed(const struct attempt *a, bool was_sent)
{
    if (!a->error || a->reply->n_parts || usage_is_known(&a->reply->usage))
        return true;
    return was_sent && (err_is(a->error, ERR_CANCELLED) || err_is(a->error, ERR_TIMEOUT));
}

/* What a provider counts on its way is not all of an answer that breaks off. */
static struct usage complete_usage(const struct reservation *r, const struct attempt *a)
{
    struct usage u = a->reply->usage;
    int64_t came = reserve_output_tokens(a->reply->n_bytes);

    if (u.input < 0)
        u.input = r->input;
    if (u.output < 0)
        u.output = MAX(came, r->output);
    else if (a->error && usage_completion(&u) < came)
        u.output += came - usage_completion(&u);
    return u;
}

struct settlement reservation_settle(const struct reservation *r, const struct attempt *a,
                                     bool was_sent)
{
    const struct usage *counted = &a->reply->usage;
    struct settlement s = {.usage = *counted, .microcents = a->cost_microcents};

    if (!may_be_billed(a, was_sent))
        return (struct settlement){.usage = USAGE_UNKNOWN};
    s.usage = complete_usage(r, a);
    s.is_estimated = s.usage.input != counted->input || s.usage.output != counted->output;
    if (s.is_estimated)
        s.microcents = usage_cost_microcents(&s.usage, &a->target->price);
    return s;
}

struct settlement reservation_settle_lost(const struct reservation *r, const struct price *price,
                                          uint64_t n_bytes)
{
    struct settlement s = {.usage = USAGE_UNKNOWN, .is_estimated = true};

    s.usage.input = r->input;
    s.usage.output = MAX(r->output, reserve_output_tokens(n_bytes));
    s.microcents = usage_cost_microcents(&s.usage, price);
    return s;
}
