/* checks.c - what works on this machine, looked at without changing anything. */
#include "cli/doctor/doctor.h"

#include "config/login.h"
#include "config/passed_variables.h"
#include "net/ca.h"
#include "net/http.h"
#include "net/tls.h"
#include "net/url.h"
#include "sdk/agent_sandbox.h"
#include "sdk/rule_set.h"
#include "sys/clean_env.h"
#include "sys/fs.h"
#include "sys/proc.h"

#include <dlfcn.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* --- settings --- */

void doctor_check_settings(struct report *r, const struct project *project)
{
    const struct settings *s = project->settings;

    for (size_t i = 0; i < settings_n_warnings(s); i++)
        report_add(r, HEALTH_NOTE, "Settings", "file", "%" STR_FMT,
                   STR_ARG(settings_warning(s, i)));
    for (int l = 0; l < N_LAYERS; l++) {
        struct str note = settings_foreign_note(s, (enum layer)l, &r->arena);

        if (note.n)
            report_add(r, HEALTH_NOTE, "Settings", "other programs", "%" STR_FMT, STR_ARG(note));
    }
}

/* A rule that is not understood may be one that was to forbid something. */
void doctor_check_rules(struct report *r, const struct project *project)
{
    struct agent_options options = {0};
    struct rule_set set = {0};
    AUTO(err) struct err *e = rule_set_init(&set, &r->arena, project, &options);
    AUTO_FREE char *text = e ? err_message(e) : NULL;
    const char *hint = e ? err_find_hint(e) : NULL;

    for (size_t i = 0; i < set.n_warnings; i++)
        report_add(r, HEALTH_NOTE, "Settings", "rules", "%" STR_FMT, STR_ARG(set.warnings[i]));
    if (e)
        report_add(r, HEALTH_BAD, "Settings", "rules", "%s%s%s", text, hint ? "; " : "",
                   hint ? hint : "");
}

/* --- providers --- */

static void check_vendor(struct report *r, const struct project *project, const struct vendor *v)
{
    struct str variable = vendor_key_variable(v, host_environment(project->host));

    if (!variable.n)
        return;
    if (http_is_value(env_get(host_environment(project->host), variable)))
        report_add(r, HEALTH_GOOD, "Providers", v->name, "%" STR_FMT " is set", STR_ARG(variable));
    else
        report_add(r, HEALTH_BAD, "Providers", v->name,
                   "%" STR_FMT " contains a line break or another control character: set it again, "
                   "without it",
                   STR_ARG(variable));
}

static void check_profile(struct report *r, const struct project *project, struct str name)
{
    AUTO_FREE char *id = str_dup(name);
    struct profile p;
    struct profile_query query = project_query(project, id);
    AUTO(err) struct err *e = profile_resolve(project->settings, &query, &r->arena, &p);
    AUTO_FREE char *message = e ? err_message(e) : NULL;

    if (e)
        report_add(r, HEALTH_BAD, "Providers", id, "%s", message);
    else
        report_add(r, HEALTH_GOOD, "Providers", id, "profile: %" STR_FMT " over %s at %" STR_FMT,
                   STR_ARG(p.model), p.protocol->name, STR_ARG(url_redact(&r->arena, p.base_url)));
}

static void add_no_provider(struct report *r)
{
    AUTO(strbuf) struct strbuf others = {0};

    for (const struct vendor *v = vendors + 1; v->name; v++) {
        struct str rest = str_of(v->key_env), name;

        if (v->key_need == KEY_REQUIRED && str_split(&rest, ' ', &name) && name.n &&
            str_find(strbuf_str(&others), name) == STR_NONE)
            strbuf_addf(&others, ", %" STR_FMT, STR_ARG(name));
    }
    report_add(r, HEALTH_BAD, "Providers", "none", "set %s (get a key at %s)%s%s",
               vendors[0].key_env, vendor_setup_link(&vendors[0]),
               others.n ? ", or one of these: " : "", others.n ? strbuf_cstr(&others) + 2 : "");
}

void doctor_check_providers(struct report *r, const struct project *project, const char *model)
{
    size_t before = r->n;
    struct profile_query query = project_query(project, model);
    struct profile chosen;
    struct str elsewhere = {0};
    AUTO(err) struct err *e = NULL;
    AUTO_FREE char *message = NULL;

    for (const struct vendor *v = vendors; v->name; v++)
        check_vendor(r, project, v);
    json_each (profile, json_get(settings_root(project->settings), "providers"))
        check_profile(r, project, profile->key);
    e = profile_resolve(project->settings, &query, &r->arena, &chosen);
    message = e ? err_message(e) : NULL;
    if (!e)
        elsewhere = profile_elsewhere(&chosen, &r->arena);
    if (!e)
        report_add(r, HEALTH_GOOD, "Providers", "in use", "%" STR_FMT "/%" STR_FMT "%s%" STR_FMT,
                   STR_ARG(chosen.id), STR_ARG(chosen.model), elsewhere.n ? " at " : "",
                   STR_ARG(elsewhere));
    else if (r->n > before || model)
        report_add(r, HEALTH_BAD, "Providers", "in use", "%s%s%s", message,
                   err_find_hint(e) ? "; " : "", err_find_hint(e) ? err_find_hint(e) : "");
    else
        add_no_provider(r);
}

/* --- network --- */

static void check_certificates(struct report *r, const struct project *project)
{
    const char *const *environment = host_environment(project->host);
    struct str own = settings_text(project->settings, "caFile", &r->arena);
    struct ca_options options = {.environment = environment};
    AUTO(strbuf) struct strbuf extra = {0};
    struct ca ca;

    if (own.n)
        options.extra_file = login_path(environment, &r->arena, own);
    ca_find(&options, &ca);
    if (strcmp(ca.kind, "none") == 0)
        report_add(r, HEALTH_BAD, "Network", "certificates",
                   "none found: install ca-certificates, or set SSL_CERT_FILE");
    else if (access(ca.path, R_OK) < 0)
        report_add(r, HEALTH_BAD, "Network", "certificates", "cannot read %s: %s; check %s",
                   ca.path, strerror(errno),
                   strcmp(ca.kind, "directory") == 0 ? "SSL_CERT_DIR" : "SSL_CERT_FILE");
    else
        report_add(r, HEALTH_GOOD, "Network", "certificates", "%s %s", ca.kind, ca.path);
    if (options.extra_file || env_find(environment, "NODE_EXTRA_CA_CERTS")) {
        AUTO(err) struct err *e = ca_read_extra(&options, &ca, &extra);
        AUTO_FREE char *message = e ? err_message(e) : NULL;

        if (e)
            report_add(r, HEALTH_BAD, "Network", "authorities", "%s; %s", message,
                       err_find_hint(e));
        else
            report_add(r, HEALTH_GOOD, "Network", "authorities", "%s",
                       options.extra_file ? options.extra_file
                                          : env_find(environment, "NODE_EXTRA_CA_CERTS"));
    }
}

void doctor_check_network(struct report *r, const struct project *project)
{
    static const char *const variables[] = {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY",
                                            "http_proxy",  "ALL_PROXY",   "NO_PROXY"};
    AUTO(err) struct err *e = tls_load();

    if (!e)
        report_add(r, HEALTH_GOOD, "Network", "HTTP client", "OpenSSL found");
    else
        report_add(r, HEALTH_BAD, "Network", "HTTP client", "https cannot be used: %s: %s", e->text,
                   e->hint);
    check_certificates(r, project);
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        struct str value = str_of(getenv(variables[i]));
        AUTO(arena) struct arena a = {0};

        if (value.n)
            report_add(r, HEALTH_NOTE, "Network", variables[i], "%" STR_FMT,
                       STR_ARG(url_redact(&a, value)));
    }
}

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
    if (e)
        report_add(r, HEALTH_BAD, "Sandbox", "keel-exec", "%s%s%s", e->text, e->hint ? "; " : "",
                   e->hint ? e->hint : "");
    else {
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

void doctor_check_stores(struct report *r, const struct project *project)
{
    static const struct {
        const char *name, *soname, *package;
    } libraries[] = {{"SQLite", "libsqlite3.so.0", "libsqlite3-0"},
                     {"PostgreSQL", "libpq.so.5", "libpq5"}};
    const char *home = project->place.keel_home;
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
    for (size_t i = 0; i < ARRAY_LEN(libraries); i++) {
        bool is_there = dlopen(libraries[i].soname, RTLD_LAZY | RTLD_LOCAL) != NULL;

        report_add(r, is_there ? HEALTH_GOOD : HEALTH_NOTE, "Stores", libraries[i].name,
                   is_there ? "%s found" : "not installed (%s)",
                   is_there ? libraries[i].soname : libraries[i].package);
    }
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
