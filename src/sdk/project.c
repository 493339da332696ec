/* project.c - finds the project of a directory, and reads its files and the settings. */
#include "sdk/project.h"

#include "config/login.h"
#include "sdk/known_secrets.h"
#include "sys/env.h"
#include "sys/fs.h"

#include <unistd.h>

static const char *working_directory(struct arena *a)
{
    AUTO_FREE char *dir = getcwd(NULL, 0);

    return dir ? arena_cstr(a, str_of(dir)) : NULL;
}

/* The nearest directory upwards that is a repository; NULL: there is none. */
static const char *find_repository(struct arena *a, const char *cwd)
{
    char *dir = cwd ? arena_cstr(a, str_of(cwd)) : NULL;

    while (dir) {
        char *slash = strrchr(dir, '/');

        if (fs_exists(fs_join(a, dir, ".git")))
            return dir;
        if (!slash || slash == dir)
            break;
        *slash = 0;
    }
    return NULL;
}

static const char *keep_text(struct arena *a, const char *text)
{
    return text ? arena_cstr(a, str_of(text)) : NULL;
}

static void find_place(struct project *p, const struct project_options *o)
{
    struct project_place *place = &p->place;
    const char *repository;

    place->home = env_find(host_environment(p->host), "HOME");
    place->keel_home = host_home(p->host);
    place->cwd = o->cwd ? keep_text(&p->arena, o->cwd) : working_directory(&p->arena);
    place->dir = keep_text(&p->arena, o->dir);
    repository = find_repository(&p->arena, place->dir ? place->dir : place->cwd);
    p->is_repository = repository != NULL;
    if (!place->dir)
        place->dir = repository ? repository : place->cwd;
}

/* --- settings --- */

/* --settings <(command): the shell has opened it. Any other FIFO would be waited for for ever. */
static bool is_descriptor(const char *path)
{
    return str_starts(str_of(path), S("/dev/fd/")) ||
           str_starts(str_of(path), S("/proc/self/fd/")) || strcmp(path, "/dev/stdin") == 0;
}

static struct err *read_flag_settings(struct project *p, const char *given, struct json **ret_tree)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct err *e;

    *ret_tree = NULL;
    if (!given)
        return NULL;
    if (str_starts(str_trim(str_of(given)), S("{")))
        return settings_parse_flag(&p->arena, str_of(given), "--settings", ret_tree);
    e = is_descriptor(given) ? fs_read_stream(given, &text) : fs_read(given, &text, NULL);
    if (e) {
        e->kind = ERR_VALIDATION; /* not a store that failed: a flag that names no file */
        return err_wrap(e, "--settings");
    }
    return settings_parse_flag(&p->arena, strbuf_str(&text), given, ret_tree);
}

/* Once for a run: which file it is that makes the project foreign. */
static struct str trust_note(struct project *p)
{
    if (p->trust.reason.n == 0)
        return (struct str){0};
    return arena_format(&p->arena, "%s: %" STR_FMT "%s", p->place.dir, STR_ARG(p->trust.reason),
                        p->trust.trust == TRUST_CHANGED ? "; to review it: keel trust" : "");
}

static struct err *load_settings(struct project *p, const struct project_options *o,
                                 const struct json *flags)
{
    const char *const *environment = host_environment(p->host);

    return settings_load(
        &(struct settings_sources){
            .home = p->place.home,
            .keel_home = env_find(environment, "KEEL_HOME"),
            .project_dir = p->place.dir,
            .project = &p->files,
            .skipped = o->skipped_layers,
            .project_is_trusted = p->trust.trust == TRUST_GIVEN,
            .trust_note = trust_note(p),
            .environment = environment,
            .flags = flags,
            .on_broken = o->on_broken_settings,
            .self = o->self,
        },
        &p->settings);
}

/* --- its life --- */

static struct err *get_http(void *self, struct http_client **ret_client)
{
    struct project *p = self;

    *ret_client = host_http(p->host, p->ca_file);
    return NULL;
}

static const char *find_ca_file(struct project *p)
{
    struct str path = settings_text(p->settings, "caFile", &p->arena);

    return path.n ? login_path(host_environment(p->host), &p->arena, path) : NULL;
}

static struct err *open_in(struct project *p, const struct project_options *o)
{
    struct json *flags;

    TRY(read_flag_settings(p, o->settings_file, &flags));
    find_place(p, o);
    if (p->place.cwd)
        TRY(fs_check_entry(p->place.cwd));
    /* Read once: what is digested here is what is parsed later. */
    project_files_read(&p->arena, &p->place, &p->files);
    TRY(trust_check(&p->arena, str_of(p->place.keel_home), p->place.dir, &p->files, &p->trust));
    TRY(load_settings(p, o, flags));
    p->ca_file = find_ca_file(p);
    p->http = (struct http_source){get_http, p};
    profile_credentials_init(&p->credentials, p->settings, host_environment(p->host));
    p->credentials.http = &p->http;
    return NULL;
}

struct err *project_open(struct host *h, const struct project_options *options,
                         struct project **ret_project)
{
    AUTO(project) struct project *p = mem_alloc(sizeof *p);

    p->n_refs = 1;
    p->host = h ? host_ref(h) : host_new(&(struct host_options){0});
    TRY(open_in(p, options));
    *ret_project = TAKE(p);
    return NULL;
}

struct project *project_ref(struct project *p)
{
    p->n_refs++;
    return p;
}

void project_unref(struct project *p)
{
    if (!p || --p->n_refs)
        return;
    profile_credentials_done(&p->credentials);
    secrets_unref(p->secrets);
    settings_free(p->settings);
    arena_done(&p->arena);
    host_unref(p->host);
    mem_free(p);
}

/* --- secrets --- */

struct secrets *project_secrets(struct project *p, const char *store)
{
    if (!p->secrets)
        p->secrets = p->credentials.secrets = known_secrets(p, NULL);
    secrets_learn_store(p->secrets, store);
    return p->secrets;
}

/* --- models --- */

struct profile_query project_query(const struct project *p, const char *model)
{
    return (struct profile_query){
        .model = model, .environment = host_environment(p->host), .home = p->place.keel_home};
}

struct provider_call project_provider_call(struct project *p, const struct profile *profile)
{
    return (struct provider_call){
        .http = host_http(p->host, p->ca_file),
        .credentials = &p->credentials.port,
        .idle_ms = profile ? profile->idle_ms : 0,
        .total_ms = profile ? profile->total_ms : 0,
    };
}

static struct model_choice *find_choice(const struct project *p, const char *model)
{
    struct model_choice *m = p->choices;

    while (m && !(model && m->name ? strcmp(m->name, model) == 0 : m->name == model))
        m = m->next;
    return m;
}

struct err *project_choose_model(struct project *p, const char *model,
                                 struct model_choice **ret_choice)
{
    struct model_choice *known = find_choice(p, model);
    struct profile_query query;
    AUTO(model_choice) struct model_choice *m = NULL;

    if (known) {
        *ret_choice = model_choice_ref(known);
        return NULL;
    }
    m = mem_alloc(sizeof *m);
    m->n_refs = 1;
    m->project = project_ref(p);
    m->name = model ? mem_strdup(model) : NULL;
    m->next = p->choices;
    p->choices = m;
    query = project_query(p, m->name);
    TRY(profile_resolve(p->settings, &query, &m->arena, &m->profile));
    host_expect_request(p->host, m->profile.base_url);
    TRY(profile_make_provider(&m->profile, &m->provider));
    *ret_choice = TAKE(m);
    return NULL;
}

struct model_choice *model_choice_ref(struct model_choice *m)
{
    m->n_refs++;
    return m;
}

void model_choice_unref(struct model_choice *m)
{
    struct model_choice **at;

    if (!m || --m->n_refs)
        return;
    for (at = &m->project->choices; *at != m;)
        at = &(*at)->next;
    *at = m->next;
    provider_free(m->provider);
    arena_done(&m->arena);
    project_unref(m->project);
    mem_free(m->name);
    mem_free(m);
}
