/* tools.c - the tools of an agent, and what the settings say about them. */
#include "sdk/agent/parts.h"

#include "config/passed_variables.h"
#include "config/settings_keys.h"
#include "tool/builtin.h"
#include "tool/names.h"
#include "tool/web/service.h"

const struct setting_key run_settings[] = {
    {"retry", SETTING_OBJECT, .help = "how long to retry failed requests"},
    {"retry.maxSeconds", SETTING_INTEGER, .least = 1,
     .help = "total delay between the attempts of a round (600), as --retry-seconds"},
    {"maxTurns", SETTING_INTEGER, .most = UINT32_MAX - 1,
     .help = "requests with tools for one prompt, as --max-turns; 0: no limit (0)"},
    {"stopHookBlocks", SETTING_INTEGER, .least = 1,
     .help = "how often Stop hooks may make the model continue in one turn (8)"},
    {"toolTimeout", SETTING_INTEGER, .least = 1,
     .help = "how long a tool may take, in ms (300000)"},
    {"toolTimeouts", SETTING_OBJECT, .help = "the same for single tools, by name"},
    {"toolTimeouts.*", SETTING_INTEGER, .least = 1, .help = "how long this tool may take, in ms"},
    {"toolResponseMaxBytes", SETTING_INTEGER, .least = 1,
     .help = "longer results are stored and shortened (12288)"},
    {"background", SETTING_OBJECT, .help = "background commands"},
    {"background.waitSeconds", SETTING_INTEGER, .most = AGENT_MAX_WAIT_SECONDS,
     .help = "how long keel -p waits for them after the answer before it stops them (600)"},
    {"webSearch", SETTING_OBJECT, .help = "search service for WebSearch"},
    {"webSearch.provider", SETTING_STRING, .words = "native, brave, searxng, command",
     .help = "native (the model's own), brave, searxng or command"},
    {"webSearch.url", SETTING_STRING, .help = "address of the SearXNG server"},
    {"webSearch.command", SETTING_STRING,
     .help = "command that takes the query and prints the results as JSON"},
    {"webSearch.keyVariable", SETTING_STRING, .help = "the variable with the key (BRAVE_API_KEY)"},
    {"webFetch", SETTING_OBJECT, .help = "what WebFetch may do"},
    {"webFetch.provider", SETTING_STRING, .words = "keel, native",
     .help = "keel (its own tool), or native (the model's own fetch) (keel)"},
    {"webFetch.allow", SETTING_STRINGS, .help = "private hosts that may be fetched"},
    {0},
};

/* --- settings --- */

static struct err *read_limits(struct agent_base *b, const struct settings *s)
{
    struct agent_limits *l = &b->limits;
    int64_t retry_seconds = settings_int(s, "retry.maxSeconds", 0);
    int64_t n_blocks = settings_int(s, "stopHookBlocks", 0);
    int64_t max_rounds = settings_int(s, "maxTurns", 0);

    l->max_rounds = max_rounds ? (unsigned)max_rounds : RUN_UNLIMITED;
    l->max_stop_blocks = (unsigned)MIN(n_blocks, (int64_t)UINT32_MAX);
    l->retry_max_ms = (uint64_t)MIN(retry_seconds, (int64_t)RETRY_MAX_SECONDS) * 1000;
    l->tool_timeout_ms = (uint64_t)settings_int(s, "toolTimeout", 0);
    l->tool_response_bytes = (size_t)settings_int(s, "toolResponseMaxBytes", 0);
    l->tool_timeouts = settings_get(s, "toolTimeouts");
    json_each (timeout, l->tool_timeouts)
        TRY(tool_name_check("toolTimeouts", timeout->key));
    return NULL;
}

static struct launcher *search_launcher(struct agent_base *b, const struct settings *s)
{
    struct setting_origin origin = settings_origin(s, "webSearch.command");

    if (!origin.is_set || !layer_is_project(origin.layer))
        return &launcher_plain;
    checked_launcher_init(&b->search, &launcher_plain, b->project);
    return &b->search.launcher;
}

static void read_search(struct agent_base *b, const struct settings *s)
{
    struct web_search_config *search = &b->tool_config.search;

    *search = (struct web_search_config){
        .kind = settings_text(s, "webSearch.provider", &b->arena),
        .url = settings_text(s, "webSearch.url", &b->arena),
        .command = settings_text(s, "webSearch.command", &b->arena),
        .key_variable = settings_text(s, "webSearch.keyVariable", &b->arena),
        .launcher = search_launcher(b, s),
    };
}

static void read_hosts(struct agent_base *b, const struct settings *s)
{
    const struct json *hosts = settings_get(s, "webFetch.allow");
    struct str *list = ARENA_ARRAY(&b->arena, hosts ? hosts->n : 0, struct str);

    b->tool_config.allowed_hosts = list;
    json_each (host, hosts)
        list[b->tool_config.n_allowed_hosts++] = json_str(host);
}

/* --- secrets --- */

static void add_reference(struct texts *list, struct arena *a, const struct json *value)
{
    if (env_is_reference(json_str(value)))
        texts_add(list, a, str_skip(json_str(value), strlen(ENV_REFERENCE_PREFIX)));
}

/* The variables that keys and headers of the profiles come from, whatever they are called. */
static void find_secrets(struct agent_base *b, const struct settings *s)
{
    struct texts list = {0};

    json_each (profile, settings_get(s, "providers")) {
        add_reference(&list, &b->arena, json_get(profile, "apiKey"));
        json_each (header, json_get(profile, "headers"))
            add_reference(&list, &b->arena, header);
    }
    if (b->tool_config.search.key_variable.n)
        texts_add(&list, &b->arena, b->tool_config.search.key_variable);
    b->tool_config.passed_variables =
        passed_variables(s, &b->arena, &b->tool_config.n_passed_variables);
    b->tool_config.secret_variables = list.items;
    b->tool_config.n_secret_variables = list.n;
}

struct err *agent_base_add_tools(struct agent_base *b)
{
    const struct settings *s = b->project->settings;

    b->tool_config.environment = host_environment(b->project->host);
    TRY(read_limits(b, s));
    read_search(b, s);
    read_hosts(b, s);
    find_secrets(b, s);
    b->fetches_natively = str_is(settings_text(s, "webFetch.provider", &b->arena), "native");
    b->tools = tool_registry_new();
    for (struct tool *const *t = builtin_tools; *t; t++)
        TRY(tool_registry_add(b->tools, *t, NULL));
    if (!web_has_service(&b->tool_config)) /* in its place, and only where the model can search */
        TRY(tool_registry_add(b->tools, &tool_web_search_model, NULL));
    return NULL;
}

/* --- the provider's own search and fetch --- */

/* Did the person choose it, and not a project? */
static bool is_own_choice(const struct settings *s, const char *path)
{
    struct setting_origin origin = settings_origin(s, path);

    switch (origin.layer) {
    case LAYER_FLAGS:
    case LAYER_USER:
    case LAYER_ROBOTA_USER:
    case LAYER_CLAUDE_USER:
        return origin.is_set;
    default:
        return false;
    }
}

/* Its calls cannot be asked about one by one: it is there where none of them would be. Where
 * nothing is configured, a session that has it keeps it, unless a rule is against it. */
static enum native_wish native_wish(struct agent *a, const char *path, bool is_configured,
                                    const struct tool *tool)
{
    const struct settings *s = a->project->settings;
    AUTO(arena) struct arena scratch = {0};
    struct decided d =
        permission_decide(a->gate.book, a->mode, tool, json_new(&scratch, JSON_OBJECT),
                          a->session.conversation.state, NULL);

    if (d.decision != DECISION_AUTO && d.by != DECIDED_BY_MODE)
        return NATIVE_REFUSED;
    if (!settings_get(s, path))
        return NATIVE_UNSAID;
    if (is_configured && (d.decision == DECISION_AUTO || is_own_choice(s, path)))
        return NATIVE_WANTED;
    return NATIVE_REFUSED;
}

void agent_choose_native(struct agent *a)
{
    const struct settings *s = a->project->settings;

    a->search_wish =
        native_wish(a, "webSearch.provider", str_is(a->base->tool_config.search.kind, "native"),
                    &tool_web_search);
    a->fetch_wish = native_wish(a, "webFetch.provider", a->base->fetches_natively, &tool_web_fetch);
    /* A list of domains can be kept to only by who makes the requests. */
    if (settings_get(s, "permissions.allowedDomains"))
        a->fetch_wish = NATIVE_REFUSED;
}
