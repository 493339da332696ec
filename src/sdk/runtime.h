/* runtime.h - keel put together: settings, provider, credentials, HTTP client.
 *
 * The composition root: the one place that names concrete adapters. What a command does not ask
 * for is not made: settings when opened, the provider on runtime_use_model(), the HTTP client on
 * the first runtime_call(). */
#ifndef KEEL_SDK_RUNTIME_H
#define KEEL_SDK_RUNTIME_H

#include "sdk/ahead.h"
#include "sdk/credentials.h"
#include "sdk/profile.h"
#include "sdk/trust.h"

struct runtime_options {
    const char *settings_file;      /* --settings: a file, or JSON text starting with '{' */
    unsigned skipped_layers;        /* of the settings, a bit each: 1 << LAYER_USER */
    const char *cwd;                /* absolute; NULL: the process's working directory */
    const char *project_dir;        /* NULL: the working directory's project */
    const char *const *environment; /* NULL: environ */
    struct http_trace trace;        /* line NULL: none */
    bool loads_ahead;               /* a model will be asked: load what that takes meanwhile */
    /* As in settings.h; NULL: a file that cannot be used is an error. */
    void (*on_broken_settings)(void *self, const struct err *e);
    void *self;
};

struct runtime {
    struct arena arena;
    struct runtime_options options; /* with the defaults filled in; cwd NULL: there is none */
    bool is_repository;             /* is the project a git repository? */
    struct project_place place;
    struct project_files project; /* as they were when this was opened */
    struct trust_state trust;     /* in them */
    struct settings *settings;
    struct profile_credentials credentials;
    struct profile profile; /* after runtime_use_model() */
    struct provider *provider;
    struct http_client *http;
    struct ahead ahead;
};

MUST_USE struct err *runtime_open(struct runtime *r, const struct runtime_options *options);
void runtime_done(struct runtime *r); /* inside the loop's task if runtime_call() was used */
DEFINE_AUTO_VAL(runtime, runtime_done)

/* Asks for a profile as this runtime is set up; `model` is --model or NULL. */
struct profile_query runtime_query(struct runtime *r, const char *model);
/* Finds profile and provider. */
MUST_USE struct err *runtime_use_model(struct runtime *r, const char *model);
/* Fills in what a provider call needs; makes the HTTP client if there is none. In a task. */
MUST_USE struct err *runtime_call(struct runtime *r, struct provider_call *ret_call);

/* keel's home directory: KEEL_HOME, else ~/.keel. Empty when there is no home. */
struct str runtime_home(const struct runtime *r, struct arena *a);

#endif
