/* executors.h - the kinds of hooks that keel runs by itself. Each is the caller's struct. */
#ifndef KEEL_HOOK_EXECUTORS_H
#define KEEL_HOOK_EXECUTORS_H

#include "port/hook.h"
#include "port/launcher.h"
#include "port/tool.h"

/* "command": a shell gets the input on stdin. The environment is keel's own without credentials,
 * then the group's env, then CLAUDE_PROJECT_DIR and KEEL_PROJECT_DIR. Whatever is left of the
 * command when it ends, or when its time is over, is ended with it. */
struct command_hooks {
    struct hook_executor executor;
    struct launcher *launcher;         /* NULL: commands cannot be run */
    struct launcher *project_launcher; /* of hooks that a project has brought; NULL: the same */
    const char *project_dir;
    const char *const *environment;     /* NULL: the process's own */
    const struct str *secret_variables; /* not to be seen though their names look harmless */
    size_t n_secret_variables;
    const struct secrets *secrets; /* nor variables that hold one of these; may be NULL */
    bool is_confined;              /* the launcher is the sandbox's */
};
void command_hooks_init(struct command_hooks *x, struct launcher *launcher, const char *project_dir,
                        const char *const *environment);

/* "http": the input is sent to a URL. 2xx is exit 0 with the body as stdout, 403 is exit 2 with the
 * body as the reason, anything else (a redirect too) is a failure. Values of headers may be
 * "$ENV:NAME". */
struct http_hooks {
    struct hook_executor executor;
    const struct http_source *http; /* NULL: there is no network */
    const char *const *environment; /* NULL: the process's own */
};
void http_hooks_init(struct http_hooks *x, const struct http_source *http,
                     const char *const *environment);

/* "callback": a function of the host that knows the hook by the id in its definition. */
struct callback_hooks {
    struct hook_executor executor;
    /* May wait; its time is limited by a deadline. An error: it could not be run. */
    struct err *(*call)(void *self, struct str id, struct str input, struct hook_reply *reply);
    void *self;
};
void callback_hooks_init(struct callback_hooks *x,
                         struct err *(*call)(void *self, struct str id, struct str input,
                                             struct hook_reply *reply),
                         void *self);

/* A value that may be "$ENV:NAME"; ERR_CONFIGURATION names a variable that is not set. */
MUST_USE struct err *hook_resolve(struct str value, const char *const *environment,
                                  struct str *ret_value);

#endif
