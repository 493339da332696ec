/* machine.c - checks of what this machine offers: sandbox, programs, stores, terminal. */
#include "cli/doctor/doctor.h"

#include "config/passed_variables.h"
#include "sdk/sandbox/agent_sandbox.h"
#include "sdk/session_store.h"
#include "sys/clean_env.h"
#include "sys/fs.h"
#include "sys/proc.h"

#include <dlfcn.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* --- sandbox --- */

static void add_verdict(struct report *r, const struct sandbox_probe *p, bool requires_full)
{
    int landlock = requires_full && !p->mount_namespace
                       ? SANDBOX_LANDLOCK_SIGNALS /* no version of it is enough then */
                       : p->landlock_abi;
    const char *remedy = sandbox_remedy(p->mount_namespace, landlock);

    if (p->missing[0])
        report_add(r, HEALTH_BAD, "Sandbox", "commands", "%s", p->missing);
    else if (p->weakness && requires_full)
        report_add(r, HEALTH_BAD, "Sandbox", "commands",
                   "do not run, because sandbox.requireFull is true: %s. %s", p->weakness, remedy);
    else if (p->weakness)
        report_add(r, HEALTH_NOTE, "Sandbox", "commands", "sandboxed, but %s. %s", p->weakness,
                   remedy);
    else
        report_add(r, HEALTH_GOOD, "Sandbox", "commands", "fully sandboxed: files and network");
}

static void add_sandbox(struct report *r, const struct sandbox_probe *p)
{
    if (p->mount_namespace)
        report_add(r, HEALTH_GOOD, "Sandbox", "namespaces", "available%s",
                   p->user_namespace ? ", with a user namespace" : "");
    else
        report_add(r, HEALTH_NOTE, "Sandbox", "namespaces", "%s; the sandbox works without them",
                   p->no_namespaces);
    if (p->landlock_abi > 0)
        report_add(r, HEALTH_GOOD, "Sandbox", "Landlock", "ABI version %d", p->landlock_abi);
    else
        report_add(r, HEALTH_NOTE, "Sandbox", "Landlock", "this kernel does not offer it");
    if (p->seccomp)
        report_add(r, HEALTH_GOOD, "Sandbox", "seccomp", "available");
    else
        report_add(r, HEALTH_BAD, "Sandbox", "seccomp", "this kernel does not offer it");
}

static void check_switch(struct report *r, const struct settings *s)
{
    struct setting_origin origin = settings_origin(s, "sandbox.enabled");

    if (!settings_bool(s, "sandbox.enabled", true))
        report_add(r, HEALTH_NOTE, "Sandbox", "in use",
                   "no: sandbox.enabled is false (%s), so commands have all your permissions",
                   origin.file.n ? origin.file.p : layer_name(origin.layer));
    else
        report_add(r, HEALTH_GOOD, "Sandbox", "in use", "for every command of the agent%s",
                   settings_bool(s, "sandbox.hooks", false) ? ", and for hooks" : "");
}

/* So that a person whose build lacks one knows why. */
static void check_environment(struct report *r, const struct project *project)
{
    struct clean_env_options clean = {.environment = host_environment(project->host),
                                      .is_confined = true};
    AUTO(strbuf) struct strbuf names = {0};
    size_t n = 0;

    clean.passed = passed_variables(project->settings, &r->arena, &clean.n_passed);
    for (const char *const *entry = clean.environment; entry && *entry; entry++)
        if (clean_env_withholds(&clean, *entry))
            strbuf_addf(&names, "%s%.*s", n++ ? ", " : "", (int)strcspn(*entry, "="), *entry);
    if (n)
        report_add(r, HEALTH_GOOD, "Sandbox", "environment",
                   "commands do not get %s; to pass one on, name it in sandbox.environment",
                   strbuf_cstr(&names));
}

void doctor_check_sandbox(struct report *r, const struct project *project)
{
    struct sandbox_probe probe;
    char path[4096];
    AUTO(err) struct err *e = proc_find_supervisor(path);

    check_switch(r, project->settings);
    check_environment(r, project);
    if (!e) {
        report_add(r, HEALTH_GOOD, "Sandbox", "keel-exec", "%s", path);
        e = sandbox_probe(&probe);
    }
    if (e) {
        report_add_error(r, "Sandbox", "keel-exec", e);
    } else {
        add_sandbox(r, &probe);
        if (settings_bool(project->settings, "sandbox.enabled", true))
            add_verdict(r, &probe, settings_bool(project->settings, "sandbox.requireFull", false));
    }
}

/* --- files --- */

void doctor_check_media(struct report *r)
{
    char path[4096];
    AUTO(err) struct err *e = proc_find_media(path);

    if (e)
        report_add(r, HEALTH_NOTE, "Files", "keel-media",
                   "%s; keel cannot scale large images or extract pages of PDF documents", e->text);
    else
        report_add(r, HEALTH_GOOD, "Files", "keel-media", "%s", path);
}

/* --- stores --- */

/* The path, or the nearest one above it that exists: there it would be made. */
static const char *nearest_directory(const char *path, struct arena *a)
{
    char *copy = (char *)arena_cstr(a, str_of(path)), *slash;

    while (!fs_exists(copy) && (slash = strrchr(copy, '/')) && slash > copy)
        *slash = 0;
    return fs_exists(copy) ? copy : "/";
}

static bool can_be_written(const char *home, struct arena *a)
{
    const char *where = nearest_directory(home, a);

    return fs_is_dir(where) && access(where, W_OK) == 0;
}

#define LITTLE_BYTES ((uint64_t)8 << 20) /* a session of a few prompts and its log */

static bool is_nearly_full(const char *home, struct arena *a, double *ret_mb)
{
    struct statvfs disk;

    if (statvfs(nearest_directory(home, a), &disk) < 0)
        return false;
    *ret_mb = (double)disk.f_bavail * (double)disk.f_frsize / 1e6;
    return (uint64_t)disk.f_bavail * disk.f_frsize < LITTLE_BYTES;
}

static void check_home(struct report *r, const char *home)
{
    double free_mb = 0;

    if (!home)
        report_add(
            r, HEALTH_BAD, "Stores", "home",
            "HOME and KEEL_HOME are not set to a directory: sessions are not stored; set one of "
            "them");
    else if (!can_be_written(home, &r->arena))
        report_add(r, HEALTH_BAD, "Stores", "home",
                   "%s cannot be written: sessions are not stored; check its permissions, or set "
                   "KEEL_HOME to another directory",
                   home);
    else if (is_nearly_full(home, &r->arena, &free_mb))
        report_add(
            r, HEALTH_BAD, "Stores", "home",
            "%s is on a disk with %.1f MB left: sessions may not be stored; free some space, "
            "or set KEEL_HOME to another directory",
            home, free_mb);
    else if (!fs_exists(home))
        report_add(r, HEALTH_NOTE, "Stores", "home", "%s does not exist yet; keel creates it",
                   home);
    else
        report_add(r, HEALTH_GOOD, "Stores", "home", "%s", home);
}

static void check_libraries(struct report *r)
{
    for (const struct store_kind *k = store_kinds; k->schemes; k++) {
        const struct library *l = k->library;
        bool is_there = l && dlopen(l->soname, RTLD_LAZY | RTLD_LOCAL) != NULL;

        if (l)
            report_add(r, is_there ? HEALTH_GOOD : HEALTH_NOTE, "Stores", l->name,
                       is_there ? "%s found" : "not installed (%s)",
                       is_there ? l->soname : l->package);
    }
}

void doctor_check_stores(struct report *r, const struct project *project)
{
    check_home(r, project->place.keel_home);
    check_libraries(r);
}

/* --- terminal --- */

void doctor_check_terminal(struct report *r)
{
    struct winsize size;
    const char *term = getenv("TERM");
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    const char *charset = locale ? nl_langinfo_l(CODESET, locale) : "unknown";

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0)
        report_add(r, HEALTH_GOOD, "Terminal", term ? term : "unknown", "%u columns, %u rows",
                   size.ws_col, size.ws_row);
    else
        report_add(r, HEALTH_NOTE, "Terminal", "none", "standard error is not a terminal");
    if (strcmp(charset, "UTF-8") == 0)
        report_add(r, HEALTH_GOOD, "Terminal", "characters", "UTF-8");
    else
        report_add(r, HEALTH_NOTE, "Terminal", "characters",
                   "%s: set LANG to a UTF-8 locale such as C.UTF-8", charset);
    if (getenv("NO_COLOR"))
        report_add(r, HEALTH_NOTE, "Terminal", "colours", "off, because NO_COLOR is set");
    if (locale)
        freelocale(locale);
}
