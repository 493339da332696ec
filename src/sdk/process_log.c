/* process_log.c - where the log goes, and what a process says of itself. */
#include "sdk/process_log.h"

#include "config/login.h"
#include "config/settings_keys.h"
#include "sys/env.h"
#include "view/operator_log.h"

const struct setting_key log_settings[] = {
    {"log", SETTING_OBJECT, .not_from = FROM_PROJECT | FROM_OTHERS,
     .help = "the log of what keel does; only from your own settings"},
    {"log.file", SETTING_STRING, .not_from = FROM_PROJECT | FROM_OTHERS,
     .help = "file for the log, absolute or ~/...; as --log-file"},
    {"log.level", SETTING_STRING, .words = "error, warning, info, debug",
     .not_from = FROM_PROJECT | FROM_OTHERS, .help = "error, warning, info or debug (info)"},
    {"logLevel", SETTING_STRING, .help = "the same in settings of other programs"},
    {0},
};

/* --- where it goes --- */

/* "logLevel" is what settings of other programs call it: as far as it names a level it counts. */
static bool find_other_level(const struct settings *s, enum log_level *ret_level)
{
    struct str name = json_str(settings_get(s, "logLevel"));

    if (str_is(name, "warn"))
        name = S("warning");
    if (str_is(name, "trace"))
        name = S("debug");
    return log_level_find(name, ret_level);
}

static struct err *read_level(const struct settings *s, const struct log_flags *flags,
                              enum log_level *ret_level)
{
    struct str setting = json_str(settings_get(s, "log.level"));
    struct str given = flags->level ? str_of(flags->level) : setting;

    if (given.n && log_level_find(given, ret_level))
        return NULL;
    if (given.n)
        return err_hint(
            err_new(ERR_VALIDATION, "--log-level: \"%" STR_FMT "\" is not a level", STR_ARG(given)),
            "one of: error, warning, info, debug");
    if (!find_other_level(s, ret_level))
        *ret_level = LOG_INFO;
    return NULL;
}

/* A setting counts in every directory. */
static struct err *read_setting(const struct settings *s, const char *const *environment,
                                struct arena *a, const char **ret_path)
{
    struct str setting = settings_text(s, "log.file", a);

    *ret_path = NULL;
    if (!setting.n)
        return NULL;
    *ret_path = login_path(environment, a, setting);
    if (**ret_path == '/')
        return NULL;
    return err_hint(err_new(ERR_VALIDATION, "log.file: %s is not an absolute path", *ret_path),
                    "begin it with / or ~/");
}

static struct err *find_file(const struct project *p, const struct log_flags *flags,
                             struct arena *a, const char **ret_path)
{
    const char *const *environment = host_environment(p->host);

    *ret_path = flags->file ? flags->file : env_find(environment, "KEEL_LOG");
    if (!*ret_path)
        TRY(read_setting(p->settings, environment, a, ret_path));
    if (*ret_path || !flags->level)
        return NULL;
    return err_hint(err_new(ERR_VALIDATION, "--log-level requires a log file"),
                    "add --log-file FILE");
}

/* --- what it says of itself --- */

static void log_start(struct log *l, const struct project *p, const char *command,
                      const char *version)
{
    struct json_writer *w = log_begin(l, LOG_INFO, "process_start");

    if (!w)
        return;
    jw_kv_str(w, "version", str_of(version));
    jw_kv_str(w, "command", str_of(command));
    if (p->place.cwd)
        jw_kv_str(w, "cwd", str_of(p->place.cwd));
    log_end(l);
}

struct err *process_log_open(struct project *p, const struct log_flags *flags, const char *command,
                             const char *version)
{
    AUTO(arena) struct arena a = {0};
    enum log_level level;
    const char *path;
    struct log *l;

    TRY(read_level(p->settings, flags, &level));
    TRY(find_file(p, flags, &a, &path));
    if (!path)
        return NULL;
    TRY(log_open(path, level, &l));
    host_set_log(p->host, l);
    log_start(l, p, command, version);
    return NULL;
}

void process_log_end(struct log *l, int status, const struct err *e)
{
    bool is_bad = e && !err_is(e, ERR_CANCELLED);
    struct json_writer *w = log_begin(l, is_bad ? LOG_ERROR : LOG_INFO, "process_end");

    if (!w)
        return;
    jw_kv_int(w, "exitCode", status);
    operator_log_error(w, e);
    log_end(l);
}

void process_log_session(struct log *l, const char *event, const char *id, const char *how,
                         bool is_stored)
{
    struct json_writer *w = log_begin(l, LOG_INFO, event);

    if (!w)
        return;
    jw_kv_str(w, "session", str_of(id));
    if (how)
        jw_kv_str(w, "how", str_of(how));
    if (how && !is_stored)
        jw_kv_bool(w, "stored", false);
    log_end(l);
}
