/* login_aws.c - AWS's variables, its two files, and credential_process. */
#include "base/ini.h"
#include "config/key_command.h"
#include "config/login.h"
#include "sys/env.h"
#include "sys/fs.h"

#include <stdio.h>
#include <time.h>

/* --- files --- */

struct str login_setting(const struct login *l, const char *name)
{
    struct str text = json_get_text(l->profile, name);

    return env_is_reference(text) ? env_resolve(text, l->environment) : text;
}

const char *login_path(const char *const *environment, struct arena *a, struct str path)
{
    const char *home = env_find(environment, "HOME");

    if (home && str_starts(path, S("~/")))
        return arena_format(a, "%s%" STR_FMT, home, STR_ARG(str_skip(path, 1))).p;
    return arena_cstr(a, path);
}

/* The profile that is asked for, and the two files. */
struct aws_files {
    struct str profile;
    bool is_chosen; /* the settings name it */
    struct str credentials, config;
};

static struct err *read_file(const struct login *l, struct arena *a, const char *variable,
                             const char *usual, struct str *ret_text)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct str named = env_get(l->environment, str_of(variable));
    bool exists;

    *ret_text = (struct str){0};
    if (!named.n && !env_find(l->environment, "HOME"))
        return NULL;
    strbuf_init(&text, INI_MAX_BYTES);
    TRY(fs_read(login_path(l->environment, a, named.n ? named : str_of(usual)), &text, &exists));
    *ret_text = arena_str(a, strbuf_str(&text));
    if (text.n)
        mem_wipe(text.p, text.n);
    return NULL;
}

static struct err *read_files(const struct login *l, struct arena *a, struct aws_files *ret)
{
    static const char *const names[] = {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"};

    *ret = (struct aws_files){.profile = login_setting(l, "awsProfile")};
    ret->is_chosen = ret->profile.n > 0;
    for (size_t i = 0; i < ARRAY_LEN(names) && !ret->profile.n; i++)
        ret->profile = env_get(l->environment, str_of(names[i]));
    if (!ret->profile.n)
        ret->profile = S("default");
    TRY(read_file(l, a, "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials", &ret->credentials));
    return read_file(l, a, "AWS_CONFIG_FILE", "~/.aws/config", &ret->config);
}

/* A profile is [NAME] in one file and [profile NAME] in the other. */
static struct str config_section(const struct aws_files *f, struct arena *a)
{
    if (str_is(f->profile, "default"))
        return f->profile;
    return arena_format(a, "profile %" STR_FMT, STR_ARG(f->profile));
}

static struct str file_get(const struct aws_files *f, struct arena *a, const char *name)
{
    struct str value = ini_get(f->credentials, f->profile, str_of(name));

    return value.n ? value : ini_get(f->config, config_section(f, a), str_of(name));
}

struct str login_aws_region(const struct login *l, struct arena *a)
{
    struct aws_files files;
    AUTO(err) struct err *unread = read_files(l, a, &files);

    return unread ? (struct str){0} : file_get(&files, a, "region");
}

/* --- keys --- */

static void use_keys(struct login *l, struct str id, struct str key, struct str session)
{
    secret_set_signing(&l->key, id, key, session);
    secrets_learn(l->secrets, &(struct secret_value){S("the AWS secret key"), key});
    secrets_learn(l->secrets, &(struct secret_value){S("the AWS session token"), session});
}

static bool use_variables(struct login *l)
{
    struct str id = env_get(l->environment, S("AWS_ACCESS_KEY_ID")),
               key = env_get(l->environment, S("AWS_SECRET_ACCESS_KEY"));

    if (!id.n || !key.n)
        return false;
    use_keys(l, id, key, env_get(l->environment, S("AWS_SESSION_TOKEN")));
    return true;
}

/* "2026-11-17T15:04:05Z", or with the distance from UTC; 0: it is no time. */
static int64_t parse_time(struct str text)
{
    char buffer[32], sign = 'Z';
    struct tm t = {0};
    int hours = 0, minutes = 0, n = 0;

    snprintf(buffer, sizeof buffer, "%" STR_FMT, STR_ARG(text));
    if (sscanf(buffer, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday,
               &t.tm_hour, &t.tm_min, &t.tm_sec, &n) != 6)
        return 0;
    if (buffer[n] == '.')
        n += 1 + (int)strspn(buffer + n + 1, "0123456789");
    if (sscanf(buffer + n, "%c%2d:%2d", &sign, &hours, &minutes) < 3)
        hours = minutes = 0;
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    return ((int64_t)timegm(&t) - (sign == '-' ? -1 : 1) * (hours * 60 + minutes) * 60) * 1000;
}

/* https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html */
static struct err *use_process(struct login *l, struct str command)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf output = {0};
    struct json *root = NULL;
    struct json_where where;
    struct str id, key;

    TRY(key_command_run(&(struct key_command){.name = "credential_process",
                                              .line = command,
                                              .environment = l->environment},
                        &output));
    if (json_parse_at(&a, strbuf_str(&output), 0, &root, &where)) {
        id = json_get_text(root, "AccessKeyId");
        key = json_get_text(root, "SecretAccessKey");
        l->expires_unix_ms = parse_time(json_get_text(root, "Expiration"));
        if (id.n && key.n)
            use_keys(l, id, key, json_get_text(root, "SessionToken"));
    }
    mem_wipe(output.p, output.n);
    if (l->key.n)
        return NULL;
    return err_hint(err_new(ERR_PROVIDER_AUTH, "credential_process did not print credentials"),
                    "it must print {\"Version\": 1, \"AccessKeyId\": ..., \"SecretAccessKey\": "
                    "...}");
}

/* --- what is missing --- */

static struct err *not_found(const struct aws_files *f, struct arena *a)
{
    static const char *const others[] = {"sso_session", "sso_start_url", "role_arn",
                                         "login_session", "web_identity_token_file"};
    bool is_there = ini_has_section(f->credentials, f->profile) ||
                    ini_has_section(f->config, config_section(f, a));

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (file_get(f, a, others[i]).n)
            return err_hint(err_new(ERR_PROVIDER_AUTH,
                                    "the AWS profile \"%" STR_FMT
                                    "\" uses %s, which keel does not support",
                                    STR_ARG(f->profile), others[i]),
                            "let the AWS CLI do it: add a profile with credential_process = aws "
                            "configure export-credentials --profile %" STR_FMT
                            " --format process, and set AWS_PROFILE to its name",
                            STR_ARG(f->profile));
    if (is_there)
        return err_hint(err_new(ERR_PROVIDER_AUTH,
                                "the AWS profile \"%" STR_FMT "\" has no aws_access_key_id and "
                                "aws_secret_access_key",
                                STR_ARG(f->profile)),
                        "add them, or credential_process");
    return err_hint(err_new(ERR_PROVIDER_AUTH, "no AWS credentials found"),
                    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                    "AWS_BEARER_TOKEN_BEDROCK, or add the profile \"%" STR_FMT "\" to "
                    "~/.aws/credentials",
                    STR_ARG(f->profile));
}

struct err *login_aws(struct login *l)
{
    AUTO(arena) struct arena a = {0};
    struct aws_files f;
    struct str id, key, process;
    struct err *e = read_files(l, &a, &f);

    if (e) {
        e->kind = ERR_PROVIDER_AUTH;
        return err_wrap(e, "AWS credentials");
    }
    if (!f.is_chosen && use_variables(l))
        return NULL;
    id = file_get(&f, &a, "aws_access_key_id");
    key = file_get(&f, &a, "aws_secret_access_key");
    process = file_get(&f, &a, "credential_process");
    if (id.n && key.n)
        use_keys(l, id, key, file_get(&f, &a, "aws_session_token"));
    else if (process.n)
        e = use_process(l, process);
    else
        e = not_found(&f, &a);
    if (f.credentials.n)
        mem_wipe((char *)f.credentials.p, f.credentials.n);
    return e;
}
