/* validity_test.c - whatever happened to a conversation, providers take the request made of it.
 *
 * validity_test PART OF-PARTS: a share of the seeds, so that the parts can run side by side. */
#include "unit/test.h"

#include "engine/request_build.h"
#include "engine/shorten.h"
#include "provider/protocol.h"
#include "scenario.h"
#include "strict/strict.h"

#define N_SEEDS 100000
#define SHOWN_BYTES 6000

#define SHOWN_FAILURES 3

static unsigned part, n_parts;
static size_t n_failed; /* the first few are shown */

/* --- whom to ask, and how --- */

struct model {
    enum maker maker;
    const char *name;
    bool (*judge)(const struct json *body, struct strbuf *why);
    struct model_info info;
    bool is_known; /* else nothing is known about it */
};

#define SEES (CAN_TOOLS | CAN_SEE_IMAGES | CAN_READ_PDF | CAN_HEAR_AUDIO)

static const struct model models[] = {
    {BY_ANTHROPIC, "new", strict_anthropic, .is_known = false},
    {BY_ANTHROPIC,
     "with a budget",
     strict_anthropic,
     {.max_output = 8192, .capabilities = SEES | CAN_REASON},
     true},
    {BY_CHAT, "new", strict_openai_chat, .is_known = false},
    {BY_CHAT, "blind", strict_openai_chat, {.capabilities = CAN_TOOLS}, true},
    {BY_RESPONSES, "new", strict_openai_responses, .is_known = false},
    {BY_RESPONSES, "plain", strict_openai_responses, {.capabilities = SEES}, true},
    {BY_GEMINI, "gemini-2.5-pro", strict_gemini, {.capabilities = SEES | CAN_REASON}, true},
    {BY_GEMINI,
     "gemini-3-pro",
     strict_gemini_3,
     {.capabilities = SEES | CAN_REASON | REASONS_BY_LEVEL},
     true},
    {BY_OLLAMA, "new", strict_ollama, .is_known = false},
    {BY_OLLAMA, "blind", strict_ollama, {.capabilities = CAN_TOOLS | CAN_REASON}, true},
};

static const struct tool_def read_tool = {.name = {"Read", 4}, .description = {"reads", 5}},
                             patch_tool = {.name = {"Bash", 4}, .takes_free_text = true};

struct question {
    const struct tool_def *tools[2];
    struct str overlays[2];
    struct model_request request;
};

/* All settings that change what may stand in the messages. */
static void choose_settings(const struct random *r, struct question *q)
{
    struct model_request *x = &q->request;

    q->tools[0] = &read_tool;
    q->tools[1] = &patch_tool;
    x->tools = q->tools;
    x->n_tools = random_below(r, 4) ? 2 : 0;
    x->tool_choice.kind = (enum tool_choice_kind)random_below(r, TOOL_CHOICE_NAMED + 1);
    x->tool_choice.name = read_tool.name;
    x->tool_choice.one_at_a_time = random_below(r, 4) == 0;
    x->effort = (enum effort)random_below(r, EFFORT_MAX + 1);
    x->max_output = random_below(r, 2) ? 4096 : 0;
    x->stream = random_below(r, 2);
    x->cache = (enum prompt_cache)random_below(r, PROMPT_CACHE_LONG + 1);
    x->cache_key = S("session");
    x->web_search = random_below(r, 6) == 0;
    if (random_below(r, 4) == 0)
        x->sampling.temperature = (struct maybe_double){true, 0.5};
}

/* --- asking --- */

static void complain(const struct scenario *s, uint64_t seed, const struct model *m,
                     const char *why, struct str body)
{
    if (n_failed++ >= SHOWN_FAILURES)
        return;
    print_error("seed %llu, asking %" STR_FMT " (%s)\nsteps: %s\nrefused: %s\nbody: %" STR_FMT "\n",
                (unsigned long long)seed, STR_ARG(maker_protocol(m->maker)), m->name,
                strbuf_cstr(&s->told), why, STR_ARG(str_slice(body, 0, SHOWN_BYTES)));
}

/* Items that came after reasoning are named after it, and go back only behind it. */
static const char *find_torn_item(const struct json *body)
{
    json_each (item, json_get(body, "input")) {
        struct str id = json_get_text(item, "id");
        size_t at = str_find(id, S("_of_"));
        char needed[32];
        bool is_there = false;

        if (at == STR_NONE || str_is(str_skip(id, at + 4), "0"))
            continue;
        snprintf(needed, sizeof needed, "rs_%" STR_FMT, STR_ARG(str_skip(id, at + 4)));
        for (const struct json *p = json_get(body, "input")->first; p != item; p = p->next)
            is_there |= str_is(json_get_text(p, "id"), needed);
        if (!is_there)
            return id.p;
    }
    return NULL;
}

/* What one provider's model thought is nobody else's business. */
static bool tells_thoughts_of_others(struct str body, enum maker to)
{
    for (int maker = 0; maker < N_MAKERS; maker++) {
        char thought[32];

        snprintf(thought, sizeof thought, THOUGHT_OF "%d", maker);
        if (maker != (int)to && str_find(body, str_of(thought)) != STR_NONE)
            return true;
    }
    return false;
}

static void judge(const struct scenario *s, uint64_t seed, const struct model *m, struct str body)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf why = {0};
    struct json *v = NULL;
    struct json_where where;
    const char *torn;

    if (!json_parse_at(&a, body, JSON_UNIQUE_KEYS, &v, &where))
        complain(s, seed, m, where.reason, body);
    else if (!m->judge(v, &why))
        complain(s, seed, m, strbuf_cstr(&why), body);
    else if ((torn = find_torn_item(v)))
        complain(s, seed, m, torn, body);
    else if (tells_thoughts_of_others(body, m->maker))
        complain(s, seed, m, "it tells what another provider's model thought", body);
}

static void ask_model(struct scenario *s, uint64_t seed, const struct model *m)
{
    static const struct dialect plain;
    const struct random *r = s->random;
    struct question q = {.overlays = {S("Sum up now."), S("[A notice]")}};
    struct request_target target = {.provider = maker_provider(m->maker),
                                    .protocol = maker_protocol(m->maker),
                                    .form = protocol_form(maker_protocol(m->maker)),
                                    .info = m->is_known ? &m->info : NULL};
    const struct message *const *messages = (const struct message *const *)s->list;
    AUTO(shortened) struct shortened shortened = {0};
    AUTO(built_messages) struct built_messages built;
    AUTO(strbuf) struct strbuf body = {0};
    size_t n = s->n;
    struct err *e;

    if (n && random_below(r, 8) == 0) {
        struct history_cut cut =
            shorten_plan(messages, n, (int64_t)random_below(r, 200), &s->arena);

        shorten(messages, n, &cut, &shortened);
        messages = (const struct message *const *)shortened.items;
        n = shortened.n;
    }
    request_build(messages, n, &target, q.overlays, random_below(r, 4) ? 0 : 1 + random_below(r, 2),
                  &built);
    q.request = (struct model_request){.provider = target.provider,
                                       .protocol = target.protocol,
                                       .model = str_of(m->name),
                                       .system = built.system,
                                       .messages = (const struct message *const *)built.items,
                                       .n_messages = built.n,
                                       .info = target.info};
    choose_settings(r, &q);
    e = protocol_find(target.protocol)->encode(&q.request, &plain, &body);
    if (e) {
        char *why = err_message(e);

        complain(s, seed, m, why, strbuf_str(&body));
        free(why);
        err_free(e);
    } else {
        judge(s, seed, m, strbuf_str(&body));
    }
}

TEST(every_history_gives_requests_that_all_providers_take)
{
    for (uint64_t seed = part; seed < N_SEEDS; seed += n_parts) {
        AUTO(scenario) struct scenario s;

        scenario_init(&s, seed);
        for (size_t i = 0; i < ARRAY_LEN(models); i += 2)
            ask_model(&s, seed, &models[i + random_below(s.random, 2)]);
    }
    assert_int_equal(n_failed, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {UNIT(every_history_gives_requests_that_all_providers_take)};

    part = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    n_parts = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
