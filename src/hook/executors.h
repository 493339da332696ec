/* executors.h - the kinds of hooks that keel runs itself. The structs belong to the caller. */
#ifndef KEEL_HOOK_EXECUTORS_H
#define KEEL_HOOK_EXECUTORS_H

#include "port/hook.h"
#include "port/launcher.h"
#include "port/tool.h"

/* "command": a shell gets the input on stdin. The environment is keel's own without credentials,
 * then the group's env, then CLAUDE_PROJECT_DIR and KEEL_PROJECT_DIR. When the command ends or its
 * time is over, everything it started is ended too. */
struct command_hooks {
    struct hook_executor executor;
    struct launcher *launcher;         /* NULL: no commands can run */
    struct launcher *project_launcher; /* for hooks of the project; NULL: the same launcher */
    const char *project_dir;
    const char *const *environment;     /* NULL: the process's own */
    const struct str *secret_variables; /* also hidden, though their names look harmless */
    size_t n_secret_variables;
    const struct secrets *secrets; /* variables that contain one of these are hidden; may be NULL */
    bool is_confined;              /* the launcher uses the sandbox */
};
void command_hooks_init(struct command_hooks *x, struct launcher *launcher, const char *project_dir,
                        const char *const *environment);

/* "http": sends the input to a URL. 2xx is exit 0 with the body as stdout, 403 is exit 2 with the
 * body as the reason, anything else (redirects too) is a failure. Header values may be
 * "$ENV:NAME". */
struct http_hooks {
    struct hook_executor executor;
    const struct http_source *http; /* NULL: no network */
    const char *const *environment; /* NULL: the process's own */
};
void http_hooks_init(struct http_hooks *x, const struct http_source *http,
                     const char *const *environment);

/* "callback": a function of the host program, which gets the id in the hook's definition. */
struct callback_hooks {
    struct hook_executor executor;
    /* May wait; a deadline limits its time. An error: it did not run. */
    struct err *(*call)(void *self, struct str id, struct str input, struct hook_reply *reply);
    void *self;
};
void callback_hooks_init(struct callback_hooks *x,
                         struct err *(*call)(void *self, struct str id, struct str input,
                                             struct hook_reply *reply),
                         void *self);

/* Resolves "$ENV:NAME". ERR_CONFIGURATION names a variable that is not set. */
MUST_USE struct err *hook_resolve(struct str value, const char *const *environment,
                                  struct str *ret_value);

#endif
