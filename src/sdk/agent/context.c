/* context.c - what the model reads beside the prompts: where it works, what hooks add. */
#include "sdk/agent/parts.h"

#include "sdk/prompt/git_state.h"
#include "sdk/prompt/surroundings.h"
#include "sys/loop.h"

#include <ctype.h>
#include <sys/utsname.h>
#include <time.h>

#define MAX_HOSTS 10 /* that are named */

/* --- where it works --- */

static struct str join_dirs(struct agent *a, struct arena *scratch)
{
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 0; i < a->base->tool_config.n_added_dirs; i++)
        strbuf_addf(&text, "%s%s", i ? ", " : "", a->base->tool_config.added_dirs[i]);
    return arena_str(scratch, strbuf_str(&text));
}

static struct str describe_repository(struct agent *a, struct arena *scratch)
{
    struct str state;

    if (!a->project->is_repository)
        return S("no");
    state = git_state_describe(scratch, a->project->place.dir);
    return arena_format(scratch, "yes%s%" STR_FMT, state.n ? ", " : "", STR_ARG(state));
}

static bool is_told_of(const struct agent *a, const char *tool)
{
    json_each (item, a->plan->plan.told_tools)
        if (str_is(json_get_text(item, "name"), tool))
            return true;
    return false;
}

/* What cannot be used is not described. */
static bool has_calls(const struct agent *a)
{
    return (a->plan->plan.told_tools && a->plan->plan.told_tools->n) || a->plan->plan.web_search ||
           a->plan->plan.web_fetch;
}

static struct str describe_system(const struct agent *a, struct arena *scratch)
{
    struct utsname os = {0};

    uname(&os);
    return arena_format(scratch, "%s %s %s%s", os.sysname, os.release, os.machine,
                        is_told_of(a, "Bash") ? "; commands run in bash" : "");
}

static struct str today(struct arena *scratch)
{
    time_t now = (time_t)(clock_unix_ms(loop_clock(task_loop())) / 1000);
    struct tm day = {0};
    char date[64];

    localtime_r(&now, &day);
    strftime(date, sizeof date, "%A, %Y-%m-%d (time zone %Z, UTC%z)", &day);
    return arena_str(scratch, str_of(date));
}

/* As it is asked for; models do not know their names otherwise. */
static struct str describe_model(const struct agent *a, struct arena *scratch)
{
    const struct target *first = &a->plan->plan.targets[0];

    if (!first->info || !first->info->name || str_is(first->model, first->info->name))
        return first->model;
    return arena_format(scratch, "%s (%" STR_FMT ")", first->info->name, STR_ARG(first->model));
}

/* --- what it may do --- */

/* Which commands the mode does not let run by themselves. */
static const char *describe_commands(const struct agent *a)
{
    const struct permission_rules *rules = &a->gate.rules;

    return rules->looks_freely && !rules->other_shell ? "commands that do more than look"
                                                      : "commands";
}

/* What the tools of the model can do, as far as a mode may restrict it. */
struct abilities {
    bool changes, commands, web, looks;
};

static struct abilities find_abilities(const struct agent *a)
{
    return (struct abilities){
        .changes = is_told_of(a, "Write") || is_told_of(a, "Edit") || is_told_of(a, "NotebookEdit"),
        .commands = is_told_of(a, "Bash"),
        .web = is_told_of(a, TOOL_WEB_FETCH) || is_told_of(a, TOOL_WEB_SEARCH) ||
               a->plan->plan.web_search || a->plan->plan.web_fetch,
        .looks = is_told_of(a, "Read") || is_told_of(a, "Grep") || is_told_of(a, "Glob"),
    };
}

/* ". One, two and three VERB", or nothing; what is NULL is not among them. */
static struct str describe_limits(struct arena *scratch, const char *const *what, size_t n,
                                  const char *verb)
{
    AUTO(strbuf) struct strbuf text = {0};
    const char *waiting = NULL;

    for (size_t i = 0; i < n; i++) {
        if (!what[i])
            continue;
        if (waiting)
            strbuf_addf(&text, "%s%s", text.n ? ", " : "", waiting);
        waiting = what[i];
    }
    if (!waiting)
        return (struct str){0};
    strbuf_addf(&text, "%s%s %s", text.n ? " and " : "", waiting, verb);
    return arena_format(scratch, ". %c%s", toupper((unsigned char)text.p[0]),
                        strbuf_cstr(&text) + 1);
}

static struct str describe_plan_mode(const struct agent *a, const char *verb, struct arena *scratch)
{
    return arena_format(
        scratch,
        "plan. Look around and %s every change is refused: Write, Edit%s%s. Requests to the web "
        "and reads outside the workspace %s",
        is_told_of(a, TOOL_EXIT_PLAN_MODE) ? "work out a plan, then call " TOOL_EXIT_PLAN_MODE
                                             " with it. Until it is approved"
                                           : "give a plan as your answer. In this mode",
        is_told_of(a, "Bash") ? ", " : "", is_told_of(a, "Bash") ? describe_commands(a) : "", verb);
}

/* What would be asked is refused where no one can be asked. Nothing is said where there is nothing
 * to restrict. */
static struct str describe_mode(const struct agent *a, struct arena *scratch)
{
    struct abilities can = find_abilities(a);
    const char *verb =
        a->asker ? "need the person's consent" : "are refused unless a rule allows them";
    const char *changes = can.changes ? "changes of files" : NULL;
    const char *commands =
        can.commands && !a->gate.rules.commands_run_freely ? describe_commands(a) : NULL;
    const char *web = can.web ? "requests to the web" : NULL;
    const char *looks = can.looks ? "reads outside the workspace" : NULL;

    if (!has_calls(a))
        return (struct str){0};
    switch (a->mode) {
    case MODE_PLAN:
        return describe_plan_mode(a, verb, scratch);
    case MODE_DEFAULT:
        return arena_format(
            scratch, "default%" STR_FMT,
            STR_ARG(describe_limits(scratch, (const char *[]){changes, commands, web, looks}, 4,
                                    verb)));
    case MODE_ACCEPT_EDITS:
        return arena_format(
            scratch, "acceptEdits%s%" STR_FMT,
            can.changes ? ". Change files in the workspace freely" : "",
            STR_ARG(describe_limits(scratch, (const char *[]){web, commands, looks}, 3, verb)));
    case MODE_BYPASS:
        break;
    }
    return a->base->tool_config.is_confined && can.commands
               ? S("bypassPermissions. No call needs consent, so take care. Protected files and "
                   "the limits on commands stay")
               : S("bypassPermissions. No call needs consent, so take care. Protected files stay "
                   "protected");
}

static void add_hosts(struct strbuf *text, const struct net_patterns *allowed)
{
    for (size_t i = 0; i < allowed->n && i < MAX_HOSTS; i++) {
        const struct host_pattern *p = &allowed->items[i];

        strbuf_addf(text, "%s%s%" STR_FMT, i ? ", " : "", p->is_below_only ? "*." : "",
                    STR_ARG(p->host.n ? p->host : S("every public host")));
    }
    if (allowed->n > MAX_HOSTS)
        strbuf_addf(text, " and %zu more", allowed->n - MAX_HOSTS);
}

/* What works and what does not, so that no one has to try it out. */
static struct str describe_walls(struct agent *a, struct arena *scratch)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (!is_told_of(a, "Bash"))
        return (struct str){0};
    if (a->mode == MODE_PLAN)
        return a->gate.rules.looks_freely
                   ? S("only those that look, in a read-only sandbox without network")
                   : S("refused in this mode");
    if (!a->base->tool_config.is_confined)
        return S("not confined: they have the person's rights and network");
    strbuf_addf(&text,
                "in a sandbox. They can write in the working directory%s and $TMPDIR, not in /tmp "
                "or elsewhere. Network: ",
                a->base->tool_config.n_added_dirs ? ", the further directories" : "");
    if (net_rules_allow_any(&a->base->network)) {
        strbuf_add_cstr(&text, "loopback, ");
        add_hosts(&text, &a->base->network.allow);
    } else {
        strbuf_add_cstr(&text, "only loopback, so downloads, package installation, git fetch and "
                               "git push fail");
    }
    return arena_str(scratch, strbuf_str(&text));
}

static struct str describe_person(const struct agent *a)
{
    if (!has_calls(a) && !a->asker)
        return S("absent. No one can answer: decide yourself, and state your assumptions at the "
                 "end");
    if (!has_calls(a))
        return S("can answer questions");
    if (!a->asker)
        return S("absent. No one can answer or consent: decide yourself, choose what is easy to "
                 "undo, and state your assumptions at the end");
    return S("can answer questions and give consent");
}

static struct surroundings find_surroundings(struct agent *a, struct arena *scratch)
{
    struct surroundings s = {0};

    surroundings_add(&s, "Working directory", str_of(a->project->place.cwd));
    surroundings_add(&s, "Further directories", join_dirs(a, scratch));
    surroundings_add(&s, "Git repository", describe_repository(a, scratch));
    surroundings_add(&s, "System", describe_system(a, scratch));
    surroundings_add(&s, "Model", describe_model(a, scratch));
    surroundings_add(&s, "Date", today(scratch));
    surroundings_add(&s, "Permission mode", describe_mode(a, scratch));
    surroundings_add(&s, "Commands", describe_walls(a, scratch));
    surroundings_add(&s, "Person", describe_person(a));
    return s;
}

/* --- in messages --- */

/* After a summary there is no message any more that says it. */
static struct err *attach(void *self, const struct reattaching *r, struct strbuf *out)
{
    static const struct history nothing;
    AUTO(arena) struct arena scratch = {0};
    struct agent *a = self;
    struct surroundings now;

    if (!a->tells_surroundings)
        return NULL;
    now = find_surroundings(a, &scratch);
    surroundings_tell(&now, &nothing, out);
    return NULL;
}

void agent_choose_reattachers(struct agent *a, struct compact_options *o)
{
    a->reattachers[0] = (struct reattacher){attach, a};
    a->reattachers[1] = reattach_request;
    a->reattachers[2] = reattach_todos;
    a->reattachers[3] = reattach_files;
    o->reattachers = a->reattachers;
    o->n_reattachers = ARRAY_LEN(a->reattachers);
}

void agent_add_context(struct agent *a, struct str text)
{
    if (a->context.n)
        strbuf_add_cstr(&a->context, "\n\n");
    strbuf_add(&a->context, text);
}

void agent_tell_surroundings(struct agent *a, struct strbuf *out)
{
    AUTO(arena) struct arena scratch = {0};
    struct surroundings now;

    if (!a->tells_surroundings)
        return;
    now = find_surroundings(a, &scratch);
    surroundings_tell(&now, &a->session.conversation.history, out);
}

struct message *agent_with_context(struct agent *a, struct message *input)
{
    AUTO(strbuf) struct strbuf text = {0}, news = {0};
    struct message *longer;

    agent_tell_surroundings(a, &text);
    a->news.take(&a->news, &news);
    if (!text.n && !news.n && !a->context.n)
        return message_ref(input);
    longer = message_new(ROLE_USER, input->id);
    if (text.n)
        message_add_context(longer, strbuf_str(&text));
    if (news.n)
        message_add_context(longer, strbuf_str(&news));
    for (size_t i = 0; i < input->n_parts; i++)
        message_add(longer, &input->parts[i]);
    if (a->context.n)
        message_add_context(longer, strbuf_str(&a->context));
    strbuf_clear(&a->context);
    return longer;
}
