/* providers.c - checks of what a request needs: settings, rules, keys, certificates. */
#include "cli/doctor/doctor.h"

#include "config/login.h"
#include "net/ca.h"
#include "net/http.h"
#include "net/tls.h"
#include "net/url.h"
#include "sdk/agent/rule_set.h"

#include <errno.h>
#include <stdlib.h>
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

    for (size_t i = 0; i < set.n_warnings; i++)
        report_add(r, HEALTH_NOTE, "Settings", "rules", "%" STR_FMT, STR_ARG(set.warnings[i]));
    if (e)
        report_add_error(r, "Settings", "rules", e);
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

    for (const struct vendor *v = vendors; v->name; v++)
        check_vendor(r, project, v);
    json_each (profile, json_get(settings_root(project->settings), "providers"))
        check_profile(r, project, profile->key);
    e = profile_resolve(project->settings, &query, &r->arena, &chosen);
    if (!e)
        elsewhere = profile_elsewhere(&chosen, &r->arena);
    if (!e)
        report_add(r, HEALTH_GOOD, "Providers", "in use", "%" STR_FMT "/%" STR_FMT "%s%" STR_FMT,
                   STR_ARG(chosen.id), STR_ARG(chosen.model), elsewhere.n ? " at " : "",
                   STR_ARG(elsewhere));
    else if (r->n > before || model)
        report_add_error(r, "Providers", "in use", e);
    else
        add_no_provider(r);
}

/* --- network --- */

/* Authorities of one's own, beside those of the system. */
static void check_extra(struct report *r, const struct ca_options *options, struct ca *ca)
{
    const char *named = env_find(options->environment, "NODE_EXTRA_CA_CERTS");
    AUTO(strbuf) struct strbuf extra = {0};
    AUTO(err) struct err *e = NULL;

    if (!options->extra_file && !named)
        return;
    e = ca_read_extra(options, ca, &extra);
    if (e)
        report_add_error(r, "Network", "authorities", e);
    else
        report_add(r, HEALTH_GOOD, "Network", "authorities", "%s",
                   options->extra_file ? options->extra_file : named);
}

static void check_certificates(struct report *r, const struct project *project)
{
    struct str own = settings_text(project->settings, "caFile", &r->arena);
    struct ca_options options = {.environment = host_environment(project->host)};
    struct ca ca;

    if (own.n)
        options.extra_file = login_path(options.environment, &r->arena, own);
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
    check_extra(r, &options, &ca);
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
