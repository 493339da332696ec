/* project.h - a directory that keel works in: its files, whether they are trusted, the settings,
 * and what follows from them.
 *
 * Opened for a directory and a set of flags, and never changed: any number of agents share it. Its
 * files are read when it is opened, once; what is written to them later counts for a project that
 * is opened later. Members are for reading. Counted, and holds its host. */
#ifndef KEEL_SDK_PROJECT_H
#define KEEL_SDK_PROJECT_H

#include "config/credentials.h"
#include "config/profile.h"
#include "config/trust.h"
#include "sdk/host.h"
#include "sdk/prompt/prefix.h"

/* All is borrowed until the project is open. */
struct project_options {
    const char *settings_file; /* --settings: a file, or JSON text starting with '{' */
    unsigned skipped_layers;   /* of the settings, a bit each: 1 << LAYER_USER */
    const char *cwd;           /* absolute; NULL: the process's working directory */
    const char *dir;           /* NULL: the working directory's project */
    /* As in settings.h; NULL: a file that cannot be used is an error. */
    void (*on_broken_settings)(void *self, const struct err *e);
    void *self;
};

struct project {
    struct host *host;
    struct project_place place; /* cwd NULL: there is none any more */
    bool is_repository;         /* is it a git repository? */
    struct project_files files; /* as they were when it was opened */
    struct trust_state trust;   /* in them */
    struct settings *settings;
    struct profile_credentials credentials;
    struct http_source http;  /* the host's client, with the project's authorities */
    struct prefixes prefixes; /* of its sessions */
    struct agent_base *bases; /* of its agents (sdk/agent/base.h) */
    /* the rest is private */
    unsigned n_refs;
    struct arena arena;
    const char *ca_file; /* NULL: none */
    struct model_choice *choices;
    struct secrets *secrets; /* NULL: they were not needed yet */
};

/* `h` NULL: a host of its own. Blocks. */
MUST_USE struct err *project_open(struct host *h, const struct project_options *options,
                                  struct project **ret_project);
struct project *project_ref(struct project *p) MUST_USE;
void project_unref(struct project *p);
DEFINE_AUTO_PTR(project, project_unref)

/* All credentials that it knows of (known_secrets.h), with that in this address of a store; NULL:
 * none. One set for all its agents, borrowed, never NULL: keys that are fetched later join it. */
struct secrets *project_secrets(struct project *p, const char *store);

/* Asks for a profile as the project is set up; `model` is --model or NULL. */
struct profile_query project_query(const struct project *p, const char *model);
/* How a provider is reached: the project's client and keys, the time-outs of the profile (NULL:
 * none). In a task. */
struct provider_call project_provider_call(struct project *p, const struct profile *profile);

/* A model that was chosen: its profile, and the provider that asks it. Counted, never changed, and
 * holds its project; whoever chooses the same gets the same. */
struct model_choice {
    struct profile profile;
    struct provider *provider;
    /* the rest is private */
    unsigned n_refs;
    struct project *project;
    char *name; /* as it was given; NULL: nothing was */
    struct arena arena;
    struct model_choice *next;
};
/* `model` as in profile.h; NULL: the settings'. */
MUST_USE struct err *project_choose_model(struct project *p, const char *model,
                                          struct model_choice **ret_choice);
struct model_choice *model_choice_ref(struct model_choice *m) MUST_USE;
void model_choice_unref(struct model_choice *m);
DEFINE_AUTO_PTR(model_choice, model_choice_unref)

#endif
