/* runtime.c - puts keel together from flags, settings and environment. */
#include "sdk/runtime.h"

#include "net/http1.h"
#include "sdk/login.h"
#include "sys/env.h"
#include "sys/fs.h"
#include "sys/leftover.h"

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

static void find_place(struct runtime *r)
{
    struct runtime_options *o = &r->options;
    const char *repository;

    if (!o->cwd)
        o->cwd = working_directory(&r->arena);
    repository = find_repository(&r->arena, o->project_dir ? o->project_dir : o->cwd);
    r->is_repository = repository != NULL;
    if (!o->project_dir)
        o->project_dir = repository ? repository : o->cwd;
}

/* --settings <(command): the shell has opened it. Any other FIFO would be waited for for ever. */
static bool is_descriptor(const char *path)
{
    return str_starts(str_of(path), S("/dev/fd/")) ||
           str_starts(str_of(path), S("/proc/self/fd/")) || strcmp(path, "/dev/stdin") == 0;
}

static struct err *read_flag_settings(struct runtime *r, struct json **ret_tree)
{
    const char *given = r->options.settings_file;
    AUTO(strbuf) struct strbuf text = {0};
    struct err *e;

    *ret_tree = NULL;
    if (!given)
        return NULL;
    if (str_starts(str_trim(str_of(given)), S("{")))
        return settings_parse_flag(&r->arena, str_of(given), "--settings", ret_tree);
    e = is_descriptor(given) ? fs_read_stream(given, &text) : fs_read(given, &text, NULL);
    if (e) {
        e->kind = ERR_VALIDATION; /* not a store that failed: a flag that names no file */
        return err_wrap(e, "--settings");
    }
    return settings_parse_flag(&r->arena, strbuf_str(&text), given, ret_tree);
}

/* What this process must be able to leave behind when it is killed, and what others left. */
static void watch_leftovers(struct runtime *r)
{
    AUTO(arena) struct arena a = {0};
    struct str home = runtime_home(r, &a);
    const char *dir = home.n ? fs_join(&a, home.p, LEFTOVER_DIR) : NULL;

    if (!dir)
        return;
    leftover_keep_in(dir);
    leftover_sweep(dir);
}

/* Read once: what is digested here is what is parsed later. */
static struct err *read_project(struct runtime *r)
{
    struct str keel_home = runtime_home(r, &r->arena);

    r->place = (struct project_place){.dir = r->options.project_dir,
                                      .cwd = r->options.cwd,
                                      .home = env_find(r->options.environment, "HOME"),
                                      .keel_home = keel_home.n ? keel_home.p : NULL};
    project_files_read(&r->arena, &r->place, &r->project);
    return trust_check(&r->arena, keel_home, r->place.dir, &r->project, &r->trust);
}

/* Once for a run: which file it is that makes the project foreign. */
static struct str trust_note(struct runtime *r)
{
    if (r->trust.reason.n == 0)
        return (struct str){0};
    return arena_format(&r->arena, "%s: %" STR_FMT "%s", r->options.project_dir,
                        STR_ARG(r->trust.reason),
                        r->trust.trust == TRUST_CHANGED ? "; to review it: keel trust" : "");
}

static struct err *load_settings(struct runtime *r, const struct json *flags)
{
    return settings_load(
        &(struct settings_sources){
            .home = r->place.home,
            .keel_home = env_find(r->options.environment, "KEEL_HOME"),
            .project_dir = r->options.project_dir,
            .project = &r->project,
            .skipped = r->options.skipped_layers,
            .project_is_trusted = r->trust.trust == TRUST_GIVEN,
            .trust_note = trust_note(r),
            .environment = r->options.environment,
            .flags = flags,
            .on_broken = r->options.on_broken_settings,
            .self = r->options.self,
        },
        &r->settings);
}

struct err *runtime_open(struct runtime *r, const struct runtime_options *options)
{
    struct json *flags;

    *r = (struct runtime){.options = *options};
    if (options->loads_ahead)
        ahead_load_store(&r->ahead);
    if (!r->options.environment)
        r->options.environment = (const char *const *)environ;
    watch_leftovers(r);
    TRY(read_flag_settings(r, &flags));
    find_place(r);
    if (r->options.cwd)
        TRY(fs_check_entry(r->options.cwd));
    TRY(read_project(r));
    TRY(load_settings(r, flags));
    profile_credentials_init(&r->credentials, r->settings, r->options.environment);
    r->credentials.http = &r->http;
    return NULL;
}

void runtime_done(struct runtime *r)
{
    ahead_end(&r->ahead);
    http_client_free(r->http);
    provider_free(r->provider);
    profile_credentials_done(&r->credentials);
    settings_free(r->settings);
    arena_done(&r->arena);
    leftover_end();
    *r = (struct runtime){0};
}

struct profile_query runtime_query(struct runtime *r, const char *model)
{
    return (struct profile_query){.model = model,
                                  .environment = r->options.environment,
                                  .home = runtime_home(r, &r->arena).p};
}

struct err *runtime_use_model(struct runtime *r, const char *model)
{
    struct profile_query query = runtime_query(r, model);

    TRY(profile_resolve(r->settings, &query, &r->arena, &r->profile));
    if (r->options.loads_ahead)
        ahead_load_tls(&r->ahead, r->options.environment, r->profile.base_url);
    return profile_make_provider(&r->profile, &r->provider);
}

static const char *extra_ca_file(struct runtime *r)
{
    struct str path = settings_text(r->settings, "caFile", &r->arena);

    return path.n ? login_path(r->options.environment, &r->arena, path) : NULL;
}

struct err *runtime_call(struct runtime *r, struct provider_call *ret_call)
{
    struct http1_options options = {
        .ca = {.environment = r->options.environment, .extra_file = extra_ca_file(r)}};

    if (!r->http) {
        r->http = http1_client_new(&options);
        r->http->trace = r->options.trace;
    }
    *ret_call = (struct provider_call){
        .http = r->http,
        .credentials = &r->credentials.port,
        .idle_ms = r->profile.idle_ms,
        .total_ms = r->profile.total_ms,
    };
    return NULL;
}

struct str runtime_home(const struct runtime *r, struct arena *a)
{
    const char *keel_home = env_find(r->options.environment, "KEEL_HOME"),
               *home = env_find(r->options.environment, "HOME");

    if (keel_home)
        return arena_str(a, str_of(keel_home));
    /* That directory is keel's to make, the home is not. */
    return home && home[0] == '/' && fs_is_dir(home) ? arena_format(a, "%s/.keel", home)
                                                     : (struct str){0};
}
