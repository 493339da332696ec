/* sandbox.c - the launcher: works the policy out, starts the command under it, says why not. */
#include "sandbox/sandbox.h"

#include "sandbox/guard/guard.h"
#include "sandbox/parking.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/read_rules.h"
#include "sandbox/plan/roots.h"
#include "sandbox/proxy/proxy.h"
#include "sandbox/watch/write_notices.h"
#include "sys/work.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_TRIES = 8 };

/* --- refusals --- */

static bool is_about_namespaces(enum exec_step step)
{
    return step == EXEC_STEP_NAMESPACES || step == EXEC_STEP_PROC || step == EXEC_STEP_LOOPBACK ||
           step == EXEC_STEP_MOUNTS;
}

/* Forbidden or unknown here, now and later. What may pass, such as too many processes, is not:
 * the second way must not be had by exhausting the first. */
static bool are_namespaces_forbidden(const struct exec_record *r)
{
    return r->kind == EXEC_REFUSED && is_about_namespaces(r->step) &&
           (r->value == EPERM || r->value == EACCES || r->value == ENOSYS || r->value == EINVAL ||
            r->value == EOPNOTSUPP || r->value == ENODEV || r->value == EUSERS ||
            (r->value == ENOSPC && r->step == EXEC_STEP_NAMESPACES));
}

const char *sandbox_step_text(enum exec_step step)
{
    switch (step) {
    case EXEC_STEP_POLICY:
        return "keel-exec cannot read the policy";
    case EXEC_STEP_NAMESPACES:
        return "namespaces are not available";
    case EXEC_STEP_PROC:
        return "/proc cannot be mounted";
    case EXEC_STEP_LOOPBACK:
        return "the loopback network cannot be started";
    case EXEC_STEP_MOUNTS:
        return "file systems cannot be mounted read-only";
    case EXEC_STEP_CWD:
        return "the working directory is hidden from commands";
    case EXEC_STEP_LANDLOCK:
        return "Landlock is missing";
    case EXEC_STEP_SECCOMP:
        return "system calls cannot be filtered (seccomp)";
    case EXEC_STEP_PRIVILEGES:
        return "privileges cannot be dropped";
    case EXEC_STEP_CHANGED:
        return "the workspace keeps changing";
    case EXEC_STEP_ITEM:
    case EXEC_STEP_NONE:
        break;
    }
    return "a rule cannot be applied";
}

static struct err *add_hint(struct err *e, enum exec_step step, bool has_namespaces)
{
    switch (step) {
    case EXEC_STEP_LANDLOCK:
        return err_hint(e, "%s. Then run keel doctor",
                        sandbox_remedy(has_namespaces, sandbox_landlock_version()));
    case EXEC_STEP_CWD:
        return err_hint(e, "run it in the workspace, or add the directory with --add-dir");
    case EXEC_STEP_CHANGED:
        return err_hint(e, "another program or a background command keeps replacing files there; "
                           "stop it, or wait until it ends");
    case EXEC_STEP_POLICY:
        return err_hint(e, "install keel and keel-exec from the same version");
    default:
        return err_hint(e, "run keel doctor");
    }
}

static struct err *explain(const struct exec_record *r, struct str plan, bool has_namespaces)
{
    const char *item = r->step == EXEC_STEP_ITEM || r->step == EXEC_STEP_CHANGED
                           ? plan_item_text(plan, r->item)
                           : NULL;
    struct err *e;

    if (r->step == EXEC_STEP_ITEM && r->value == EACCES && item && strcmp(item, "/") == 0)
        return err_hint(err_new(ERR_SANDBOX, "the sandbox cannot be built: / cannot be listed"),
                        "%s", NESTED_SANDBOX_HINT);
    if (r->step == EXEC_STEP_CHANGED)
        e = err_new(ERR_SANDBOX, "the sandbox cannot be built: %s: %s was replaced",
                    sandbox_step_text(r->step), item ? item : "a file");
    else
        e = err_errno(ERR_SANDBOX, r->value, "the sandbox cannot be built: %s",
                      item ? item : sandbox_step_text(r->step));
    return add_hint(e, r->step, has_namespaces);
}

/* Several tasks start commands at a time, some of them in other threads: one looks at the workspace
 * while the others wait. */
struct blocking {
    struct sandbox *sandbox;
    struct err *(*fn)(void *);
    void *arg;
};

static struct err *run_locked(void *arg)
{
    struct blocking *b = arg;
    struct err *e;

    pthread_mutex_lock(&b->sandbox->lock);
    e = b->fn(b->arg);
    pthread_mutex_unlock(&b->sandbox->lock);
    return e;
}

/* With namespaces, where few directories have changed or none can, it is a few dozen lstat(), less
 * than the way to a worker and back takes. Without them files are read and written. */
static struct err *run_blocking(struct sandbox *s, struct err *(*fn)(void *), void *arg,
                                bool namespaces)
{
    struct blocking b = {s, fn, arg};
    struct err *e = NULL;
    bool is_done = false;

    if (namespaces && pthread_mutex_trylock(&s->lock) == 0) {
        is_done = s->policy.nothing_is_writable || guard_is_quick(s->guard);
        if (is_done)
            e = fn(arg);
        pthread_mutex_unlock(&s->lock);
    }
    return is_done ? e : work_run(run_locked, &b);
}

/* --- starting --- */

/* A start that may have to be tried again: what waits for it is to happen once, and the command
 * starts where it was to start at first. */
struct start_attempt {
    struct sandbox *sandbox;
    const struct proc_spec *spec;
    bool namespaces;
    bool was_announced; /* before_start() has returned */
    bool is_again;
    struct arena arena;
    const char *cwd; /* by its own name; NULL: not looked at yet */
    struct exec_record refusal;
    bool died_unheard; /* its supervisor, before anything was started */
};

struct start {
    struct start_attempt *attempt;
    struct sandbox *sandbox;
    bool namespaces;
    struct strbuf plan;
    uint64_t mounts_version; /* that it is made for */
    int fd, rules_fd;
    struct arena arena;
};

static void start_done(struct start *s)
{
    if (s->fd >= 0)
        close(s->fd);
    if (s->rules_fd >= 0)
        close(s->rules_fd);
    strbuf_done(&s->plan);
    arena_done(&s->arena);
}
DEFINE_AUTO_VAL(start, start_done)

/* A file in memory that nobody can change any more. */
static struct err *open_plan(struct start *s)
{
    struct str rest = strbuf_str(&s->plan);

    s->fd = memfd_create("policy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    while (s->fd >= 0 && rest.n > 0) {
        ssize_t n = write(s->fd, rest.p, rest.n);

        if (n < 0 && errno != EINTR)
            return err_errno(ERR_SANDBOX, errno, "cannot write the policy of a command");
        rest = str_skip(rest, n > 0 ? (size_t)n : 0);
    }
    if (s->fd < 0 ||
        fcntl(s->fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
        return err_errno(ERR_SANDBOX, errno, "cannot create the policy of a command");
    return NULL;
}

static struct err *find_cwd(struct start_attempt *a)
{
    const char *cwd = a->spec->cwd ? a->spec->cwd : ".";

    if (a->cwd)
        return NULL;
    if (strcmp(cwd, a->sandbox->policy.workspace) == 0)
        a->cwd = cwd;
    else
        a->cwd = realpath(cwd, arena_alloc(&a->arena, PATH_MAX));
    if (!a->cwd)
        return err_errno(ERR_TOOL_FAILED, errno, "cannot enter the directory %s", cwd);
    return NULL;
}

/* Another command may have the rules made anew before this one has been started. */
static struct err *keep_rules(struct start *s, int fd)
{
    if (fd < 0)
        return NULL;
    s->rules_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return s->rules_fd >= 0 ? NULL
                            : err_errno(ERR_SANDBOX, errno, "cannot store the rules of a command");
}

static struct err *prepare(void *arg)
{
    struct start *s = arg;
    struct sandbox *sandbox = s->sandbox;
    const struct mount_table *mounts = NULL;
    struct sandbox_policy policy;

    TRY(plan_check(&sandbox->policy));
    TRY(mounts_look(&sandbox->mounts, &mounts));
    s->mounts_version = sandbox->mounts.version;
    TRY(plan_check_places(&sandbox->policy, mounts));
    TRY(find_cwd(s->attempt));
    TRY(held_roots_update(sandbox->roots, &sandbox->policy));
    policy = sandbox->policy;
    if (!policy.nothing_is_writable) {
        TRY(guard_begin(sandbox->guard, &sandbox->policy, s->namespaces));
        policy = guard_policy(sandbox->guard, &sandbox->policy);
    }
    TRY(plan_write(&(struct plan_input){.policy = &policy,
                                        .roots = sandbox->roots,
                                        .mounts = mounts,
                                        .cwd = s->attempt->cwd,
                                        .namespaces = s->namespaces},
                   &s->plan));
    if (s->namespaces)
        TRY(keep_rules(s, read_rules_get(&sandbox->read_rules, &policy, sandbox->mounts.version)));
    return open_plan(s);
}

/* A command that is being started counts: it may rely on the guard that another has taken. */
static void end_one(struct sandbox *s)
{
    if (--s->n_running == 0)
        guard_end(s->guard);
}

/* Where temporary files go, under the names that programs know. */
static const char *const tmp_variables[] = {"TMPDIR", "TMP", "TEMP"};

static bool is_variable(const char *entry, struct str name)
{
    return strncmp(entry, name.p, name.n) == 0 && entry[name.n] == '=';
}

/* What tells the dynamic linker what to load. */
static bool is_for_linker(const char *entry)
{
    return strncmp(entry, "LD_", 3) == 0 || is_variable(entry, S("GLIBC_TUNABLES"));
}

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* "NAME=value", in place of another value. */
static void set_variable(const char **environment, size_t *n, const char *entry)
{
    struct str name = str_make(entry, strcspn(entry, "="));
    size_t n_kept = 0;

    for (size_t i = 0; i < *n; i++)
        if (!is_variable(environment[i], name))
            environment[n_kept++] = environment[i];
    environment[n_kept++] = entry;
    *n = n_kept;
}

/* The command's environment, with a place for temporary files, with the proxy, with a mark for a
 * keel that is started in it, and with nothing that could get into keel-exec before the command is
 * confined. */
static const char *const *make_environment(struct arena *a, const char *const *environment,
                                           const struct sandbox_policy *policy)
{
    size_t n = 0, n_given = count(environment);
    const char *const *proxied =
        policy->network == SANDBOX_PROXY_ONLY ? proxy_variables(policy->proxy, a) : NULL;
    size_t n_more = ARRAY_LEN(tmp_variables) + count(proxied) + 1;
    const char **copy = ARENA_ARRAY(a, n_given + n_more + 1, const char *);

    for (size_t i = 0; i < n_given; i++)
        copy[n++] = is_for_linker(environment[i])
                        ? arena_format(a, EXEC_KEPT_VARIABLE "%s", environment[i]).p
                        : environment[i];
    for (size_t i = 0; policy->tmp_dir && i < ARRAY_LEN(tmp_variables); i++)
        set_variable(copy, &n, arena_format(a, "%s=%s", tmp_variables[i], policy->tmp_dir).p);
    for (size_t i = 0; proxied && proxied[i]; i++)
        set_variable(copy, &n, proxied[i]);
    set_variable(copy, &n, GUARD_NESTED "=1");
    copy[n] = NULL;
    return copy;
}

static void keep_fd(int *fd, int made)
{
    if (*fd < 0)
        *fd = made;
    else if (made >= 0 && made != *fd)
        close(made); /* another command was faster */
}

/* The next command shares its network: a server in the background can be reached. */
static void note_start(struct sandbox *s, const struct proc_confinement *confinement)
{
    if (confinement->listener_fd >= 0)
        proxy_listen(s->policy.proxy, confinement->listener_fd);
    if (s->network_fd < 0 || s->network_fd != confinement->network_fd) {
        keep_fd(&s->user_fd, confinement->user_fd);
        keep_fd(&s->network_fd, confinement->network_fd);
    }
}

/* --- what it changes --- */

static void tell_unobserved(struct write_observer *o, int error)
{
    AUTO(strbuf) struct strbuf why = {0};

    if (error == EBUSY)
        strbuf_add(&why, S("keel runs under a program that already traces all system calls"));
    else
        strbuf_addf(&why, "the kernel does not report what commands change (%s)", strerror(error));
    o->missed(o, strbuf_cstr(&why));
}

/* The command waits with its first change until this has been called. */
static struct err *observe(struct sandbox *s, const struct proc_spec *spec,
                           const struct proc_confinement *confinement)
{
    AUTO(arena) struct arena a = {0};
    const struct sandbox_policy *p = &s->policy;
    const char **roots = ARENA_ARRAY(&a, p->n_writable + 1, const char *);
    struct write_notices_scope scope = {.roots = roots, .scratch = p->tmp_dir};

    if (confinement->notices_fd < 0) {
        tell_unobserved(spec->observer, confinement->notices_error);
        return NULL;
    }
    spec->observer->has_begun = true;
    for (size_t i = 0; i < p->n_writable; i++)
        roots[scope.n_roots++] = p->writable[i];
    if (!p->workspace_is_read_only)
        roots[scope.n_roots++] = p->workspace;
    return write_notices_add(s->notices, confinement->notices_fd, spec->observer, &scope);
}

/* --- while it runs --- */

struct judging {
    struct guard *guard;
    bool is_harmless;
};

static struct err *judge_replaced(void *arg)
{
    struct judging *j = arg;

    j->is_harmless = guard_check_replaced(j->guard);
    return NULL;
}

/* The notes come with those of the command's end. */
static bool sandbox_is_harmless(void *self)
{
    struct sandbox *s = self;
    struct judging judging = {.guard = s->guard};
    struct blocking b = {s, judge_replaced, &judging};

    task_shield_begin();
    err_ignore(work_run(run_locked, &b), "a shielded task is not cancelled");
    task_shield_end();
    return judging.is_harmless;
}

static void sandbox_note_lost(void *self)
{
    ((struct sandbox *)self)->has_lost_processes = true;
}

/* --- starting, from both ends --- */

static struct err *announce(void *self)
{
    struct start_attempt *a = self;

    a->was_announced = true;
    return a->spec->before_start(a->spec->before_self);
}

static struct err *spawn(struct sandbox *s, const struct proc_spec *spec, struct proc **ret_proc)
{
    AUTO(proc) struct proc *p = NULL;
    struct err *e = proc_spawn(spec, &p);

    if (e && spec->confinement->notices_fd >= 0)
        close(spec->confinement->notices_fd);
    if (!e && spec->observer)
        e = observe(s, spec, spec->confinement);
    if (!e)
        *ret_proc = TAKE(p);
    return e;
}

/* The next command is expected to run in the same. */
static void note_walls(struct sandbox *s, const struct start *start)
{
    struct str plan = strbuf_str(&start->plan);

    if (start->mounts_version == s->walls.mounts_version &&
        plan_is_same(plan, strbuf_str(&s->walls.plan)))
        return;
    strbuf_clear(&s->walls.plan);
    strbuf_add(&s->walls.plan, plan);
    s->walls.mounts_version = start->mounts_version;
    s->walls.number++;
    if (s->walls.policy_fd >= 0)
        close(s->walls.policy_fd);
    s->walls.policy_fd = start->namespaces ? fcntl(start->fd, F_DUPFD_CLOEXEC, 0) : -1;
}

/* A network that no command has made yet cannot be joined ahead. */
static struct parking_way way_of(const struct sandbox *s, bool namespaces)
{
    bool has_network = s->policy.network == SANDBOX_NETWORK || s->network_fd >= 0;
    struct proc_parking how = {.has_namespaces = namespaces,
                               .user_fd = namespaces ? s->user_fd : -1,
                               .policy_fd = namespaces && has_network ? s->walls.policy_fd : -1,
                               .network_fd = s->network_fd};

    return (struct parking_way){how, s->walls.number};
}

/* One that stood in walls which do not hold is not tried twice. */
static struct err *take_parked(const struct start_attempt *a, struct proc_parked **ret_parked)
{
    struct parking_way way = way_of(a->sandbox, a->namespaces);

    return a->is_again ? NULL : parking_take(a->sandbox->parking, &way, ret_parked);
}

static struct err *start_once(struct start_attempt *a, struct proc **ret_proc)
{
    struct sandbox *sandbox = a->sandbox;
    AUTO(start)
    struct start s = {
        .attempt = a, .sandbox = sandbox, .namespaces = a->namespaces, .fd = -1, .rules_fd = -1};
    struct proc_confinement confinement = {.network_fd = sandbox->network_fd,
                                           .user_fd = sandbox->user_fd,
                                           .listener_fd = -1,
                                           .wants_notices = a->spec->observer != NULL,
                                           .notices_fd = -1};
    struct proc_spec confined = *a->spec;
    struct err *e;

    a->refusal = (struct exec_record){0};
    a->died_unheard = false;
    sandbox->n_running++;
    e = run_blocking(sandbox, prepare, &s, a->namespaces);
    if (e) {
        end_one(sandbox);
        return e;
    }
    confinement.policy_fd = s.fd;
    confinement.rules_fd = s.rules_fd;
    confinement.judge = &sandbox->judge;
    confined.supervised = true;
    confined.may_linger = true;
    confined.confinement = &confinement;
    confinement.has_proxy = sandbox->policy.network == SANDBOX_PROXY_ONLY;
    confinement.has_namespaces = a->namespaces;
    confinement.held_fd = guard_held_fd(sandbox->guard);
    confined.environment = make_environment(&s.arena, a->spec->environment, &sandbox->policy);
    confined.before_start = a->spec->before_start && !a->was_announced ? announce : NULL;
    confined.before_self = a;
    note_walls(sandbox, &s);
    e = take_parked(a, &confinement.take_parked);
    if (!e)
        e = spawn(sandbox, &confined, ret_proc);
    proc_parked_free(confinement.take_parked); /* of a command that came to nothing before */
    if (e)
        end_one(sandbox);
    else
        note_start(sandbox, &confinement);
    a->refusal = confinement.refusal;
    a->died_unheard = confinement.died_unheard;
    if (!e || a->refusal.kind != EXEC_REFUSED)
        return e;
    err_ignore(e, "it is told with what was being done");
    return explain(&a->refusal, strbuf_str(&s.plan), a->namespaces);
}

/* Tries one way. What keel saw in the workspace may have been exchanged before the walls stood on
 * it: then it looks again. So it does when a supervisor died that waited for the command. */
static struct err *start_with(struct start_attempt *a, struct proc **ret_proc)
{
    struct err *e = start_once(a, ret_proc);

    for (int i = 1; e && (a->refusal.step == EXEC_STEP_CHANGED || a->died_unheard) && i < MAX_TRIES;
         i++) {
        err_ignore(e, "it is tried again");
        a->is_again = true;
        e = start_once(a, ret_proc);
    }
    return e;
}

/* Landlock knows ports, but not where they are. */
static struct err *refuse_domains(const struct net_rules *rules)
{
    return err_hint(
        err_new(ERR_SANDBOX,
                "network access by domain needs namespaces, which are not available here"),
        "allow namespaces for keel (keel doctor shows how), or %sremove the domains from the "
        "settings: network.allow, and rules WebFetch(domain:...)",
        rules->has_flags ? "leave out --allow-domain and --allow-private, and " : "");
}

/* Namespaces are missing; Landlock cannot take their place, whatever its version. */
static struct err *refuse_weakness(struct err *take_error)
{
    AUTO(err) struct err *e = take_error;

    return err_hint(err_new(ERR_SANDBOX,
                            "%s%ssandbox.requireFull is set, so commands need every protection",
                            e ? e->text : "", e ? "; " : ""),
                    "%s. Or set sandbox.requireFull to false",
                    sandbox_remedy(/* has_namespaces= */ false, SANDBOX_LANDLOCK_SIGNALS));
}

/* Once a command has run, the way that it went is the way for all. */
static struct err *start_either_way(struct start_attempt *a, struct proc **ret_proc)
{
    struct sandbox *s = a->sandbox;
    struct err *e;

    if (s->way != SANDBOX_WITHOUT_NAMESPACES) {
        a->namespaces = true;
        e = start_with(a, ret_proc);
        if (!e)
            s->way = SANDBOX_WITH_NAMESPACES;
        if (!e || !are_namespaces_forbidden(&a->refusal) || s->way == SANDBOX_WITH_NAMESPACES)
            return e;
        if (s->policy.require_full)
            return refuse_weakness(e);
        err_ignore(e, "there is a second way");
    }
    if (s->policy.require_full)
        return refuse_weakness(NULL);
    if (s->policy.network == SANDBOX_PROXY_ONLY)
        return refuse_domains(proxy_rules(s->policy.proxy));
    a->namespaces = false;
    TRY(start_with(a, ret_proc));
    s->way = SANDBOX_WITHOUT_NAMESPACES;
    return NULL;
}

static struct err *start(struct launcher *l, const struct proc_spec *spec, struct proc **ret_proc)
{
    struct start_attempt a = {.sandbox = (struct sandbox *)l, .spec = spec};
    struct err *e = start_either_way(&a, ret_proc);

    arena_done(&a.arena);
    return e;
}

/* --- after a command --- */

struct ended {
    struct sandbox *sandbox;
    struct strbuf *notes;
};

static struct err *check_guard(void *arg)
{
    struct ended *ended = arg;
    struct sandbox *s = ended->sandbox;

    TRY(guard_check(s->guard, ended->notes));
    if (!s->policy.is_for_one)
        guard_settle(s->guard);
    return NULL;
}

static struct err *settle(void *arg)
{
    write_notices_settle(arg);
    return NULL;
}

/* An observer may still save something for a process that was killed meanwhile. */
static void settle_notices(struct sandbox *s)
{
    if (write_notices_are_settled(s->notices)) {
        write_notices_settle(s->notices);
        return;
    }
    task_shield_begin();
    err_ignore(work_run(settle, s->notices), "a shielded task is not cancelled");
    task_shield_end();
}

/* Whoever finds out which way can be gone is not parked. */
void sandbox_expect(struct sandbox *s, struct group *tasks)
{
    struct parking_way way = way_of(s, s->way == SANDBOX_WITH_NAMESPACES);

    if (s->way != SANDBOX_UNKNOWN)
        parking_expect(s->parking, &way, tasks);
}

void sandbox_rest(struct sandbox *s)
{
    parking_rest(s->parking);
}

bool sandbox_is_idle(const struct sandbox *s)
{
    return s->n_running == 0 && !parking_is_starting(s->parking);
}

struct err *sandbox_command_ended(struct sandbox *s, struct strbuf *notes)
{
    struct ended ended = {s, notes};
    struct err *e;

    BUG_IF(s->n_running == 0);
    if (s->has_lost_processes)
        strbuf_add_cstr(notes, "processes of the command are still running, and keel cannot kill "
                               "them; find them with ps and kill them yourself\n");
    s->has_lost_processes = false;
    settle_notices(s);
    if (s->policy.nothing_is_writable) {
        end_one(s);
        return NULL;
    }
    e = run_blocking(s, check_guard, &ended, s->way == SANDBOX_WITH_NAMESPACES);
    end_one(s);
    return e;
}

#if defined(__aarch64__)
#define DYNAMIC_LINKER "/lib/ld-linux-aarch64.so.1"
#else
#define DYNAMIC_LINKER "/lib64/ld-linux-x86-64.so.2"
#endif

const char *sandbox_advice(const struct sandbox *s)
{
    if (s->way != SANDBOX_WITHOUT_NAMESPACES)
        return NULL;
    return "Namespaces are not available on this machine, so this sandbox has limits: chmod, "
           "chown, touch of existing files and setting extended attributes fail with EPERM "
           "everywhere (start a program that was just linked as " DYNAMIC_LINKER
           " ./program, a script as sh ./script); sockets, semaphores and message queues cannot "
           "be created; directories above hidden ones, such as /, cannot be listed; and /proc "
           "shows no processes (ps and top fail, only the shell itself can read /proc/self).";
}

void sandbox_settle(struct sandbox *s)
{
    guard_wait(s->guard);
}

struct err *sandbox_recover(const char *guard_dir, const char *const *roots, size_t n_roots,
                            const char *home, struct strbuf *notes)
{
    return guard_recover(guard_dir, roots, n_roots, home, notes);
}

void sandbox_done(struct sandbox *s)
{
    parking_free(TAKE(s->parking));
    write_notices_free(TAKE(s->notices));
    guard_free(TAKE(s->guard));
    read_rules_done(&s->read_rules);
    held_roots_free(TAKE(s->roots));
    mounts_done(&s->mounts);
    pthread_mutex_destroy(&s->lock);
    if (s->network_fd >= 0)
        close(s->network_fd);
    if (s->user_fd >= 0)
        close(s->user_fd);
    if (s->walls.policy_fd >= 0)
        close(s->walls.policy_fd);
    strbuf_done(&s->walls.plan);
    s->network_fd = s->user_fd = s->walls.policy_fd = -1;
}

void sandbox_init(struct sandbox *s, const struct sandbox_policy *policy)
{
    *s = (struct sandbox){
        .launcher = {.start = start}, .policy = *policy, .network_fd = -1, .user_fd = -1};
    s->walls.policy_fd = -1;
    s->judge = (struct proc_judge){sandbox_is_harmless, sandbox_note_lost, s};
    pthread_mutex_init(&s->lock, NULL);
    s->guard = guard_new(policy->guard_dir);
    s->roots = held_roots_new();
    s->notices = write_notices_new();
    s->mounts = MOUNTS_NONE;
    s->parking = parking_new();
    BUG_IF(policy->network == SANDBOX_PROXY_ONLY && !policy->proxy);
    if (policy->no_namespaces)
        s->way = SANDBOX_WITHOUT_NAMESPACES;
}
