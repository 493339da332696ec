/* agent_context.c - what the model is told beside the prompts: where it works, what hooks add. */
#include "sdk/agent_parts.h"

#include "sdk/surroundings.h"
#include "sys/fs.h"
#include "sys/loop.h"

#include <sys/utsname.h>
#include <time.h>

#define BRANCH_PREFIX "ref: refs/heads/"
#define MAX_HOSTS 10 /* that are named */

/* --- where it works --- */

static struct str join_dirs(struct agent *a, struct arena *scratch)
{
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 0; i < a->tool_config.n_added_dirs; i++)
        strbuf_addf(&text, "%s%s", i ? ", " : "", a->tool_config.added_dirs[i]);
    return arena_str(scratch, strbuf_str(&text));
}

/* Without asking git: a process is more than a prompt may cost. */
static struct str describe_repository(struct agent *a, struct arena *scratch)
{
    const char *git = fs_join(scratch, a->runtime->options.project_dir, ".git");
    AUTO(strbuf) struct strbuf head = {0};
    struct str line, rest;
    bool exists;

    if (!a->runtime->is_repository)
        return S("no");
    strbuf_init(&head, 4096);
    err_ignore(fs_read(fs_join(scratch, git, "HEAD"), &head, &exists), "the branch is not told");
    rest = strbuf_str(&head);
    if (!str_split(&rest, '\n', &line) || !str_starts(line, S(BRANCH_PREFIX)))
        return S("yes");
    return arena_format(scratch, "yes, on branch %" STR_FMT,
                        STR_ARG(str_skip(line, strlen(BRANCH_PREFIX))));
}

static struct str describe_system(struct arena *scratch)
{
    struct utsname os = {0};

    uname(&os);
    return arena_format(scratch, "%s %s %s", os.sysname, os.release, os.machine);
}

static struct str today(struct arena *scratch)
{
    time_t now = (time_t)(clock_unix_ms(loop_clock(task_loop())) / 1000);
    struct tm day = {0};
    char date[64];

    localtime_r(&now, &day);
    strftime(date, sizeof date, "%A, %Y-%m-%d (%Z)", &day);
    return arena_str(scratch, str_of(date));
}

/* --- what it may do --- */

static struct str describe_mode(enum permission_mode mode)
{
    static const char *const texts[] = {
        [MODE_PLAN] = "plan (look and make a plan; change nothing)",
        [MODE_DEFAULT] = "default (changes and most commands need the person's consent)",
        [MODE_ACCEPT_EDITS] =
            "acceptEdits (files may be changed; most commands need the person's consent)",
        [MODE_BYPASS] = "bypassPermissions (no call needs consent, so take care)",
    };

    return str_of(texts[mode]);
}

static void add_hosts(struct strbuf *text, const struct net_patterns *allowed)
{
    for (size_t i = 0; i < allowed->n && i < MAX_HOSTS; i++) {
        const struct net_pattern *p = &allowed->items[i];

        strbuf_addf(text, "%s%s%" STR_FMT, i ? ", " : "", p->is_below_only ? "*." : "",
                    STR_ARG(p->host.n ? p->host : S("every public host")));
    }
    if (allowed->n > MAX_HOSTS)
        strbuf_addf(text, " and %zu more", allowed->n - MAX_HOSTS);
}

static struct str describe_walls(struct agent *a, struct arena *scratch)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (!a->tool_config.is_confined)
        return S("not confined; they have the person's rights and network");
    strbuf_add_cstr(&text, "run in a sandbox: they write below the working directory and in "
                           "$TMPDIR, not in /tmp or elsewhere; ");
    if (net_rules_allow_any(&a->network)) {
        strbuf_add_cstr(&text, "their network reaches ");
        add_hosts(&text, &a->network.allow);
    } else {
        strbuf_add_cstr(&text, "they have no network");
    }
    return arena_str(scratch, strbuf_str(&text));
}

static struct str describe_person(const struct agent *a)
{
    if (!a->asker)
        return S("not there: nobody answers questions or gives consent, so decide for yourself "
                 "and say at the end what you would have asked");
    return S("there");
}

static struct surroundings find_surroundings(struct agent *a, struct arena *scratch)
{
    struct surroundings s = {0};

    surroundings_add(&s, "Working directory", str_of(a->runtime->options.cwd));
    surroundings_add(&s, "Further directories", join_dirs(a, scratch));
    surroundings_add(&s, "Git repository", describe_repository(a, scratch));
    surroundings_add(&s, "System", describe_system(scratch));
    surroundings_add(&s, "Date", today(scratch));
    surroundings_add(&s, "Permission mode", describe_mode(a->plan.mode));
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
    struct reattacher *list = ARENA_ARRAY(&a->arena, 4, struct reattacher);

    list[0] = (struct reattacher){attach, a};
    list[1] = reattach_request;
    list[2] = reattach_todos;
    list[3] = reattach_files;
    o->reattachers = list;
    o->n_reattachers = 4;
}

void agent_add_context(struct agent *a, struct str text)
{
    if (a->context.n)
        strbuf_add_cstr(&a->context, "\n\n");
    strbuf_add(&a->context, text);
}

struct message *agent_with_context(struct agent *a, struct message *input)
{
    AUTO(arena) struct arena scratch = {0};
    AUTO(strbuf) struct strbuf text = {0}, news = {0};
    struct surroundings now;
    struct message *longer;

    if (a->tells_surroundings) {
        now = find_surroundings(a, &scratch);
        surroundings_tell(&now, &a->session.conversation.history, &text);
    }
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
