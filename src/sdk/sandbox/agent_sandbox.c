/* agent_sandbox.c - a policy for each command, a place for its temporary files, and what becomes of
 * them. */
#include "sdk/sandbox/agent_sandbox.h"

#include "config/settings_keys.h"
#include "sandbox/refusal.h"
#include "sys/dir_watch.h"
#include "sys/fs.h"
#include "sys/work.h"

#include <limits.h>
#include <stdlib.h>

const struct setting_key sandbox_settings[] = {
    {"sandbox", SETTING_OBJECT, .not_from = FROM_OTHERS, .help = "how commands are confined"},
    {"sandbox.enabled", SETTING_BOOL, .help = "false: commands run with all your rights (true)"},
    {"sandbox.hooks", SETTING_BOOL, .help = "run command hooks in the sandbox too (false)"},
    {"sandbox.environment", SETTING_STRINGS, MERGE_ADD, .not_from = FROM_PROJECT,
     .help =
         "variables to pass to commands although they look like credentials: DATABASE_URL, CI_*"},
    {"sandbox.requireFull", SETTING_BOOL,
     .help = "do not run commands where a protection is missing (false)"},
    {0},
};

/* --- taking turns --- */

/* Starting and looking after a command both wait, and share what is known of all commands. */
static struct err *begin_turn(struct agent_sandbox *s)
{
    return chan_send(s->turn, s);
}

static void end_turn(struct agent_sandbox *s)
{
    void *item;

    chan_try_receive(s->turn, &item);
}

/* --- before a command, mostly in a worker --- */

struct agent_walls {
    struct sandbox sandbox;
    struct arena arena;
};

struct preparation {
    struct agent_sandbox *sandbox;
    struct agent_walls *walls;
    bool only_looks;
    const char *cwd;
    char real_cwd[PATH_MAX]; /* a link may lie where commands do not see it */
    struct arena arena;
    struct sandbox_policy policy;
};

static struct err *make_tmp_dir(struct agent_sandbox *s)
{
    char path[PATH_MAX];

    if (s->tmp_dir)
        return NULL;
    TRY(sandbox_make_tmp(path));
    s->tmp_dir = mem_strdup(path);
    return NULL;
}

static const char *guard_dir(const struct agent_sandbox *s, struct arena *a)
{
    const char *home = s->options.source.keel_home;

    return home && *home == '/' ? fs_join(a, home, "guard") : NULL;
}

/* What does not exist cannot be hidden, and commands write down there what they change. */
static void make_keel_home(const struct agent_sandbox *s)
{
    const char *home = s->options.source.keel_home;

    if (home && *home == '/')
        err_ignore(fs_make_dirs(home, 0700), "who needs it says that it cannot be made");
}

static struct err *prepare(void *arg)
{
    struct preparation *p = arg;
    struct agent_sandbox *s = p->sandbox;

    if (!realpath(p->cwd, p->real_cwd))
        return err_new(ERR_TOOL_FAILED, "%s no longer exists", p->cwd);
    if (!s->maker) {
        make_keel_home(s);
        s->maker = policy_maker_new(&s->options.source);
    }
    TRY((p->only_looks ? policy_make_looking : policy_make)(s->maker, p->real_cwd, &p->arena,
                                                            &p->policy));
    TRY(make_tmp_dir(s));
    p->policy.tmp_dir = s->tmp_dir;
    p->policy.watches = s->watches;
    p->policy.is_fresh = true;
    p->policy.guard_dir = guard_dir(s, &p->arena);
    return NULL;
}

static struct err *run_prepare(struct preparation *p)
{
    const struct policy_maker *maker = p->sandbox->maker;

    return maker && policy_maker_is_quick(maker, p->only_looks) ? prepare(p) : work_run(prepare, p);
}

static void warn(const struct agent_sandbox *s, struct str text)
{
    event_stream_notice(s->options.notices, SEVERITY_WARNING, "sandbox", text);
}

/* --- starting --- */

static struct err *add_remedy(const struct agent_sandbox *s, struct err *e)
{
    const char *hint = err_find_hint(e);
    AUTO_FREE char *text = hint ? mem_strdup(hint) : NULL;

    AUTO(err) struct err *closed = fs_check_entry(s->options.source.workspace);

    if (closed)
        return err_hint(e, "Only a person can open it again: %s", err_find_hint(closed));
    if (!err_is(e, ERR_SANDBOX) || !s->options.remedy)
        return e;
    return err_hint(e, "%s%s%s", text ? text : "", text ? ". " : "", s->options.remedy);
}

/* The model may keep it to itself. Told once, and again only for another reason. */
static void tell_refusal(struct agent_sandbox *s, const struct err *e)
{
    AUTO_FREE char *text = err_message(e);
    const char *hint = err_find_hint(e);
    AUTO(strbuf) struct strbuf line = {0};

    if (!err_is(e, ERR_SANDBOX) || !s->options.remedy)
        return;
    strbuf_addf(&line, "a command did not run: %s; %s", text, hint ? hint : "run keel doctor");
    if (s->told_refusal && strcmp(s->told_refusal, strbuf_cstr(&line)) == 0)
        return;
    mem_free(s->told_refusal);
    s->told_refusal = mem_strdup(strbuf_cstr(&line));
    warn(s, strbuf_str(&line));
}

/* Told once a host: the person may want to allow it. */
static void on_refusal(void *self, struct str host, const struct err *why)
{
    const struct agent_sandbox *s = self;
    AUTO_FREE char *text = err_message(why);
    const char *hint = err_find_hint(why);
    AUTO(strbuf) struct strbuf line = {0};

    strbuf_addf(&line, "blocked a command's connection: %s%s%s", text, hint ? "; " : "",
                hint ? hint : "");
    warn(s, strbuf_str(&line));
}

static void end_proxy(struct agent_sandbox *s)
{
    if (!s->proxy)
        return;
    group_cancel(&s->proxy_tasks);
    err_ignore(group_end(&s->proxy_tasks), "they were cancelled");
    proxy_free(TAKE(s->proxy));
    s->proxy_rests = false;
}

static void set_network(struct agent_sandbox *s, struct sandbox_policy *policy)
{
    const struct agent_sandbox_options *o = &s->options;

    policy->network = SANDBOX_NO_NETWORK;
    if (!o->network || !net_rules_allow_any(o->network))
        return;
    if (s->proxy_rests)
        end_proxy(s);
    if (!s->proxy) {
        group_begin_in(&s->proxy_tasks, NULL);
        s->proxy = proxy_new(&(struct proxy_options){.rules = o->network,
                                                     .environment = o->environment,
                                                     .group = &s->proxy_tasks,
                                                     .on_refusal = on_refusal,
                                                     .self = s});
    }
    policy->network = SANDBOX_PROXY_ONLY;
    policy->proxy = s->proxy;
}

static void walls_init(const struct agent_sandbox *s, struct agent_walls *w,
                       const struct sandbox_policy *policy)
{
    enum sandbox_way known = w == s->look_walls ? s->look_way : s->way;

    sandbox_init(&w->sandbox, policy);
    if (known)
        w->sandbox.way = known;
}

static void use_policy(struct agent_sandbox *s, struct preparation *p)
{
    struct agent_walls *walls = p->walls;

    p->policy.no_namespaces = s->options.no_namespaces;
    p->policy.require_full = s->options.require_full;
    p->policy.is_for_one = s->options.is_for_one;
    if (!p->only_looks)
        set_network(s, &p->policy);
    if (!s->has_told_tmp_dir && s->options.on_tmp_dir)
        s->options.on_tmp_dir(s->options.tmp_self, s->tmp_dir);
    s->has_told_tmp_dir = true;
    if (!walls->sandbox.launcher.start)
        walls_init(s, walls, &p->policy);
    else
        walls->sandbox.policy = p->policy;
    arena_done(&walls->arena);
    walls->arena = p->arena;
    p->arena = (struct arena){0};
}

/* Told once: commands are confined, but less than elsewhere. Who has chosen it knows. */
static void tell_weakness(struct agent_sandbox *s, const struct sandbox *sandbox)
{
    const char *weakness = sandbox_weakness(sandbox);
    AUTO(strbuf) struct strbuf line = {0};

    if (s->has_told_weakness || !weakness || s->options.no_namespaces)
        return;
    s->has_told_weakness = true;
    strbuf_addf(&line, "the sandbox is weaker here: %s; keel doctor says more", weakness);
    warn(s, strbuf_str(&line));
}

/* git is run so that neither its repository nor the person's settings start a program or write:
 * others may have made the repository, and it may be somebody else's. The walls hold what is left
 * (a driver for diffs, say). */
static const char *const look_variables[] = {
    "GIT_OPTIONAL_LOCKS=0",
    "GIT_NO_LAZY_FETCH=1",
    "GIT_TERMINAL_PROMPT=0",
    "GIT_CONFIG_COUNT=5",
    "GIT_CONFIG_KEY_0=core.fsmonitor",
    "GIT_CONFIG_VALUE_0=false",
    "GIT_CONFIG_KEY_1=core.hooksPath",
    "GIT_CONFIG_VALUE_1=/dev/null",
    "GIT_CONFIG_KEY_2=log.showSignature",
    "GIT_CONFIG_VALUE_2=false",
    "GIT_CONFIG_KEY_3=safe.directory",
    "GIT_CONFIG_VALUE_3=*",
    "GIT_CONFIG_KEY_4=log.diffMerges", /* one of its values writes objects */
    "GIT_CONFIG_VALUE_4=separate",
    NULL,
};

/* What gives commands of the table another meaning: functions, options, programs. */
static const char *const dropped_variables[] = {
    "BASH_FUNC_",    "GIT_EXTERNAL_DIFF=", "RIPGREP_CONFIG_PATH=",
    "NODE_OPTIONS=", "GIT_CONFIG_",        NULL};

static bool is_dropped(const char *entry)
{
    for (const char *const *name = dropped_variables; *name; name++)
        if (strncmp(entry, *name, strlen(*name)) == 0)
            return true;
    return false;
}

static const char *const *look_environment(struct arena *a, const char *const *given)
{
    size_t n_given = 0, n = 0;
    const char **all;

    while (given && given[n_given])
        n_given++;
    all = ARENA_ARRAY(a, n_given + ARRAY_LEN(look_variables), const char *);
    for (size_t i = 0; i < n_given; i++)
        if (!is_dropped(given[i]))
            all[n++] = given[i];
    for (size_t i = 0; look_variables[i]; i++)
        all[n++] = look_variables[i];
    return all;
}

static struct err *start_confined(struct agent_sandbox *s, struct preparation *p,
                                  const struct proc_spec *spec, struct proc **ret_proc)
{
    struct proc_spec at_real_place = *spec;
    struct err *e = run_prepare(p);

    if (!e) {
        use_policy(s, p);
        at_real_place.cwd = p->real_cwd;
        at_real_place.environment = p->only_looks
                                        ? look_environment(&p->walls->arena, spec->environment)
                                        : spec->environment;
        e = launcher_start(&p->walls->sandbox.launcher, &at_real_place, ret_proc);
    }
    if (!e) {
        s->last = p->walls;
        tell_weakness(s, &p->walls->sandbox);
    }
    arena_done(&p->arena);
    return e;
}

/* The next command is mostly of the same kind; another one starts its supervisor itself. */
static void expect(struct launcher *l)
{
    struct agent_sandbox *s = (struct agent_sandbox *)l;

    if (s->last && s->options.tasks)
        sandbox_expect(&s->last->sandbox, s->options.tasks);
}

static struct agent_walls *get_walls(struct agent_walls **walls)
{
    if (!*walls)
        *walls = mem_alloc(sizeof **walls);
    return *walls;
}

static struct err *start_in_walls(struct agent_sandbox *s, bool only_looks,
                                  const struct proc_spec *spec, struct proc **ret_proc)
{
    AUTO_FREE struct preparation *p = mem_alloc(sizeof *p);
    struct err *e;

    p->sandbox = s;
    p->only_looks = only_looks;
    p->walls = get_walls(only_looks ? &s->look_walls : &s->walls);
    p->cwd = spec->cwd ? spec->cwd : s->options.source.workspace;
    TRY(begin_turn(s));
    e = start_confined(s, p, spec, ret_proc);
    end_turn(s);
    if (e) {
        tell_refusal(s, e);
        return add_remedy(s, e);
    }
    s->has_started = true;
    expect(&s->launcher);
    return NULL;
}

static struct err *start(struct launcher *l, const struct proc_spec *spec, struct proc **ret_proc)
{
    struct agent_sandbox *s = (struct agent_sandbox *)l;

    if (s->options.is_off)
        return launcher_start(&launcher_plain, spec, ret_proc);
    return start_in_walls(s, /* only_looks= */ false, spec, ret_proc);
}

static struct err *looker_start(struct launcher *l, const struct proc_spec *spec,
                                struct proc **ret_proc)
{
    struct agent_sandbox *s = ((struct agent_looker *)l)->of;

    BUG_IF(s->options.is_off); /* the gate lets nothing run here then */
    return start_in_walls(s, /* only_looks= */ true, spec, ret_proc);
}

static bool are_used(const struct agent_walls *w)
{
    return w && w->sandbox.launcher.start;
}

/* Who has just run a command is likely to run another, however long the model thinks. */
static void rest(struct launcher *l)
{
    struct agent_sandbox *s = (struct agent_sandbox *)l;
    bool had_command = s->has_started;

    s->has_started = false;
    if (had_command)
        return;
    if (are_used(s->walls))
        sandbox_rest(&s->walls->sandbox);
    if (are_used(s->look_walls))
        sandbox_rest(&s->look_walls->sandbox);
}

/* --- after a command --- */

static void tell(const struct agent_sandbox *s, struct str notes)
{
    struct str line;

    while (str_split(&notes, '\n', &line))
        warn(s, line);
}

static struct err *look_after(struct agent_sandbox *s, struct sandbox *sandbox,
                              struct strbuf *notes)
{
    struct err *e;

    TRY(begin_turn(s));
    e = sandbox_command_ended(sandbox, notes);
    end_turn(s);
    return e;
}

static struct err *ended(struct launcher *l, struct strbuf *notes)
{
    struct agent_sandbox *s = (struct agent_sandbox *)l;
    size_t before = notes->n;
    struct err *e;

    if (s->options.is_off)
        return NULL;
    task_shield_begin();
    e = look_after(s, &s->walls->sandbox, notes);
    task_shield_end();
    tell(s, str_skip(strbuf_str(notes), before));
    return e;
}

/* It has changed nothing. */
static struct err *looker_ended(struct launcher *l, struct strbuf *notes)
{
    struct agent_sandbox *s = ((struct agent_looker *)l)->of;
    struct err *e;

    task_shield_begin();
    e = look_after(s, &s->look_walls->sandbox, notes);
    task_shield_end();
    return e;
}

static void advise(struct launcher *l, const struct command_ending *e, struct strbuf *out)
{
    struct agent_sandbox *s = (struct agent_sandbox *)l;

    if (are_used(s->walls))
        sandbox_explain(&s->walls->sandbox, e, &s->explained, out);
}

static void looker_advise(struct launcher *l, const struct command_ending *e, struct strbuf *out)
{
    struct agent_looker *looker = (struct agent_looker *)l;

    sandbox_explain_look(&looker->of->look_walls->sandbox, e, &looker->is_explained, out);
}

/* --- after a crash --- */

struct guard_recovery {
    const struct agent_sandbox *sandbox;
    struct strbuf notes;
};

static struct err *recover(void *arg)
{
    struct guard_recovery *r = arg;
    const struct policy_source *source = &r->sandbox->options.source;
    AUTO(arena) struct arena a = {0};
    const char **roots = ARENA_ARRAY(&a, source->n_added_dirs + 1, const char *);
    const char *dir = guard_dir(r->sandbox, &a);
    size_t n = 0;

    if (!dir || !fs_is_dir(dir))
        return NULL;
    roots[n++] = fs_resolve(&a, source->workspace);
    for (size_t i = 0; i < source->n_added_dirs; i++)
        roots[n++] = fs_resolve(&a, source->added_dirs[i][0] == '/'
                                        ? source->added_dirs[i]
                                        : fs_join(&a, source->workspace, source->added_dirs[i]));
    return sandbox_recover(dir, roots, n, source->home ? fs_resolve(&a, source->home) : NULL,
                           &r->notes);
}

void agent_sandbox_recover(struct agent_sandbox *s)
{
    struct guard_recovery r = {.sandbox = s};
    struct err *e = work_run(recover, &r);
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    if (e && !err_is(e, ERR_CANCELLED))
        strbuf_addf(&r.notes, "cannot check what a command left behind when keel exited: %s\n",
                    text);
    err_free(e);
    tell(s, strbuf_str(&r.notes));
    strbuf_done(&r.notes);
}

/* --- its life --- */

void agent_sandbox_init(struct agent_sandbox *s, const struct agent_sandbox_options *options)
{
    *s = (struct agent_sandbox){.launcher = {.start = start,
                                             .ended = ended,
                                             .advise = advise,
                                             .expect = expect,
                                             .rest = rest},
                                .looker = {.launcher = {.start = looker_start,
                                                        .ended = looker_ended,
                                                        .advise = looker_advise},
                                           .of = s},
                                .options = *options,
                                .watches = dir_watches_new(),
                                .turn = chan_new(1)};
    s->options.source.watches = s->watches;
}

struct dir_watches *agent_sandbox_watches(struct agent_sandbox *s)
{
    return s->watches;
}

static void walls_free(struct agent_walls *w)
{
    if (are_used(w))
        sandbox_done(&w->sandbox);
    if (w)
        arena_done(&w->arena);
    mem_free(w);
}

static bool are_idle(const struct agent_walls *w)
{
    return !are_used(w) || sandbox_is_idle(&w->sandbox);
}

/* Those that are being started or looked after, too. */
static bool has_commands(struct agent_sandbox *s)
{
    if (!chan_try_send(s->turn, s))
        return true;
    end_turn(s);
    return !are_idle(s->walls) || !are_idle(s->look_walls);
}

/* The proxy listens in the network of the walls and goes with it; who waits ends it. */
bool agent_sandbox_rest(struct agent_sandbox *s)
{
    if (has_commands(s))
        return false;
    if (s->proxy) {
        group_cancel(&s->proxy_tasks);
        s->proxy_rests = true;
    }
    s->way = are_used(s->walls) ? s->walls->sandbox.way : s->way;
    s->look_way = are_used(s->look_walls) ? s->look_walls->sandbox.way : s->look_way;
    walls_free(TAKE(s->walls));
    walls_free(TAKE(s->look_walls));
    s->last = NULL;
    policy_maker_free(TAKE(s->maker));
    dir_watches_trim(s->watches);
    return true;
}

static struct err *remove_tmp(void *arg)
{
    sandbox_remove_tmp(arg);
    return NULL;
}

void agent_sandbox_done(struct agent_sandbox *s)
{
    walls_free(s->walls);
    walls_free(s->look_walls);
    end_proxy(s);
    if (s->tmp_dir) {
        task_shield_begin();
        err_ignore(work_run(remove_tmp, s->tmp_dir), "it is in the system's own for such files");
        task_shield_end();
    }
    mem_free(s->tmp_dir);
    mem_free(s->told_refusal);
    policy_maker_free(s->maker);
    dir_watches_free(s->watches);
    chan_free(s->turn);
    *s = (struct agent_sandbox){0};
}

/* --- settings --- */

/* With Landlock alone there is a sandbox already. */
bool sandbox_is_there(const struct settings *s)
{
    struct sandbox_probe probe;
    AUTO(err) struct err *e = NULL;

    if (!settings_bool(s, "sandbox.enabled", true))
        return false;
    if (sandbox_landlock_version() > 0)
        return true;
    e = sandbox_probe(&probe);
    return !e && !probe.missing[0];
}
