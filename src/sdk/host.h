/* host.h - what all projects and agents of a process share: environment, HTTP clients, open stores,
 * and a place for work that outlives a call.
 *
 * Made once for a process. What needs a loop is made for the loop of the task that asks for it
 * first, and goes with that loop or with the host, whichever ends first: so the host may end in a
 * task or after its loop. It has one loop at a time, and only that loop's thread uses it.
 *
 * Counted: each project holds its host, and each agent its project, so they may be given back in
 * any order. */
#ifndef KEEL_SDK_HOST_H
#define KEEL_SDK_HOST_H

#include "net/http.h"
#include "port/store.h"
#include "sys/task.h"

struct log;
struct random;

/* All is borrowed. */
struct host_options {
    const char *const *environment; /* NULL: environ */
    const struct random *random;    /* for ids; NULL: the system's */
    struct http_trace trace;        /* line NULL: none */
    bool loads_ahead;               /* a model will be asked: load what that takes meanwhile */
};

struct host;
struct host *host_new(const struct host_options *options) MUST_USE;
struct host *host_ref(struct host *h) MUST_USE;
void host_unref(struct host *h);
DEFINE_AUTO_PTR(host, host_unref)

const char *const *host_environment(const struct host *h); /* never NULL */
const struct random *host_random(const struct host *h);    /* NULL: the system's */
/* keel's home directory: KEEL_HOME, else ~/.keel; NULL: there is no home. */
const char *host_home(const struct host *h);

/* The log of this process (sys/log.h); NULL: it is off. */
struct log *host_log(const struct host *h);
void host_set_log(struct host *h, struct log *take_log);

/* The client of all who trust the same authorities: the system's, and those of this file besides
 * (NULL: none). Lives as long as loop and host. In a task. */
struct http_client *host_http(struct host *h, const char *extra_ca_file) MUST_USE;
/* A request to this URL comes: loads what it takes beside other work, if the host loads ahead. */
void host_expect_request(struct host *h, struct str url);

/* Something that its owner keeps for its next use and can do without, in the owner's memory. */
struct host_warm {
    bool (*cool)(struct host_warm *w); /* gives it back; does not wait. False: not now */
    /* the rest is private */
    struct host_warm *newer, *older;
    struct warm_list *in; /* NULL: its owner uses it, or has given it back */
};
#define HOST_MAX_WARM 16 /* besides those that could not be given back, which are asked again */
/* The owner has used it, and keeps it until HOST_MAX_WARM others have been used after it. */
void host_keep_warm(struct host *h, struct host_warm *w);
/* It is in use, or its owner ends. */
void host_take_warm(struct host_warm *w);

/* What goes on between calls runs here, or in a group of its own in this one. In a task. */
struct group *host_tasks(struct host *h) MUST_USE;

/* The store of a name as store/open.h takes it. All who open the same place share one, which is
 * freed when the last of them has closed it; memory: is the caller's alone. Without what killed
 * processes have begun to make there. *ret_is_kept: it outlives the process; without a home there
 * is no place for the default. In a task; closing it may wait. */
MUST_USE struct err *host_open_store(struct host *h, struct str name, uint64_t timeout_ms,
                                     struct store **ret_store, bool *ret_is_kept);
void host_close_store(struct host *h, struct store *s); /* accepts NULL */

#endif
