/* login.h - keys that are not written down for keel: what clouds keep in files of their own, and
 * tokens that they give for those.
 *
 * AWS: AWS_ACCESS_KEY_ID and its like; else a profile (awsProfile, AWS_PROFILE, "default") of
 * ~/.aws/credentials and ~/.aws/config, with its credential_process. Google: the file that
 * credentialsFile or GOOGLE_APPLICATION_CREDENTIALS names, else the one that gcloud has written; a
 * service account signs a claim and gets a token for it. */
#ifndef KEEL_CONFIG_LOGIN_H
#define KEEL_CONFIG_LOGIN_H

#include "base/json.h"
#include "base/secrets.h"
#include "net/http.h"
#include "port/credential.h"

struct login {
    const char *const *environment;
    const struct json *profile; /* the settings of the provider; may be NULL */
    struct http_client *http;   /* for tokens; NULL: none can be fetched */
    struct secrets *secrets;    /* learns what is found on the way; may be NULL */
    int64_t unix_now_ms;
    struct secret key;       /* what was found; the caller's to wipe */
    int64_t expires_unix_ms; /* 0: not known */
};

/* May wait. ERR_PROVIDER_AUTH says what is missing. */
MUST_USE struct err *login_aws(struct login *l);
MUST_USE struct err *login_google(struct login *l);

/* What the same files say besides; empty if nothing. */
struct str login_aws_region(const struct login *l, struct arena *a);
struct str login_google_project(const struct login *l, struct arena *a);

/* A member of the profile with $ENV: resolved; empty if there is none. */
struct str login_setting(const struct login *l, const char *name);
/* "~/x" with the home directory in front; else the path itself. */
const char *login_path(const char *const *environment, struct arena *a, struct str path);

#endif
