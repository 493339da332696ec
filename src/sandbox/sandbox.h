/* sandbox.h - a launcher whose commands reach only what their policy lets them reach.
 *
 * The policy is made from settings, rules and the workspace by keel itself; nothing that a model
 * writes or that lies in a repository can widen it. What must hold is described in docs/sandbox.md.
 * Everything is probed: where a protection that the policy wants cannot be had, the command does
 * not start, and the error says what is missing and how a person can allow it. */
#ifndef KEEL_SANDBOX_SANDBOX_H
#define KEEL_SANDBOX_SANDBOX_H

#include "base/arena.h"
#include "port/launcher.h"
#include "sys/mounts.h"

#include <pthread.h>

struct dir_watches;
struct proxy;
struct secret_dirs;
struct write_notices;

enum sandbox_network {
    SANDBOX_NO_NETWORK,
    SANDBOX_PROXY_ONLY, /* through keel's filtering proxy, by domain */
    SANDBOX_NETWORK,    /* a person has allowed all of it */
};

/* Paths are absolute and canonical. All lists are borrowed. */
struct sandbox_policy {
    const char *workspace;
    bool workspace_is_read_only; /* a rule denies writing all of it */
    const char *const *writable; /* added directories */
    size_t n_writable;
    const char *const *visible; /* to be read, though they may lie in a hidden place */
    size_t n_visible;
    /* Not to be read, files or directories, also in what is writable: secret places, denied paths,
     * keel's home. */
    const char *const *hidden;
    size_t n_hidden;
    /* keel's own directories: hidden, too. Where one lies in what is writable, what is in it is
     * neither saved nor compared: keel itself changes it all the time, and no command reaches it.
     */
    const char *const *own;
    size_t n_own;
    /* What is to be hidden as soon as it is there (secret_dirs.h); NULL: nothing. */
    const struct secret_dirs *secret_dirs;
    /* Inside what is writable, files or directories: what rules deny to write. Hooks, settings and
     * start-up files the sandbox finds by itself. */
    const char *const *read_only;
    size_t n_read_only;
    /* Directories that are not to be read but for what lies in them and is visible or writable.
     * Unlike what is hidden they hold no secret: by other paths, what is in them may be seen. */
    const char *const *closed;
    size_t n_closed;
    /* Workspace, added directories and tmp_dir are only to be read, and so is all the rest: nobody
     * has to look after them. */
    bool nothing_is_writable;
    /* Directories in which nothing can be made or removed, but in those of them that are open:
     * where git keeps repositories. With namespaces only; the sandbox finds them by itself. */
    const char *const *sealed, *const *open;
    size_t n_sealed, n_open;
    const char *home;    /* the person's */
    const char *tmp_dir; /* private, made for this session; becomes TMPDIR */
    enum sandbox_network network;
    struct proxy *proxy; /* for SANDBOX_PROXY_ONLY (proxy.h); outlives the sandbox */
    /* Where keels meet that run commands in the same directories, in keel's home, and what they
     * leave for the time after a crash (guard.h); NULL: this one is alone. */
    const char *guard_dir;
    /* The directories as others know them too (sys/dir_watch.h); NULL: the sandbox has its own. */
    struct dir_watches *watches;
    bool is_fresh;      /* they have been updated for this command */
    bool is_for_one;    /* no second command will come */
    bool require_full;  /* where a protection cannot be had, no command runs */
    bool no_namespaces; /* as if they could not be made: for tests */
};

/* What this machine can do, for keel doctor and for messages. */
struct sandbox_probe {
    bool user_namespace, mount_namespace, net_namespace, pid_namespace;
    int landlock_abi; /* 0: none */
    bool seccomp;
    bool is_complete;        /* every protection can be had */
    char missing[512];       /* why commands do not run, and what a person can do; empty: they do */
    const char *weakness;    /* what they can do all the same; NULL: nothing */
    char no_namespaces[256]; /* why they cannot be made; empty: they can */
};
/* Blocks for some milliseconds. */
MUST_USE struct err *sandbox_probe(struct sandbox_probe *ret_probe);
#define SANDBOX_LANDLOCK_SIGNALS 6 /* from this version on it covers signals */
/* "/proc cannot be mounted" */
const char *sandbox_step_text(enum exec_step step);
/* What a person can do on a machine that has only this, or nothing, of the two: a sentence without
 * its full stop. */
const char *sandbox_remedy(bool has_namespaces, int landlock_abi);

/* Paths in an arena. */
struct path_list {
    struct arena *arena;
    const char **paths;
    size_t n, room;
};
void path_list_add(struct path_list *l, const char *path); /* borrows */

/* See read_rules.h. */
struct read_rules {
    bool is_made;
    int fd; /* -1: they cannot be made */
    struct arena arena;
    struct path_list granted;
    uint64_t dirs_version, mounts_version;
    unsigned n_commands;
};

/* How commands are confined. The first one finds out; later ones do the same or fail. */
enum sandbox_way { SANDBOX_UNKNOWN, SANDBOX_WITH_NAMESPACES, SANDBOX_WITHOUT_NAMESPACES };

struct sandbox {
    struct launcher launcher; /* what tools are given */
    struct proc_judge judge;  /* of what is replaced while commands run */
    struct sandbox_policy policy;
    enum sandbox_way way;
    struct held_roots *roots;      /* the writable directories, open */
    struct mounts mounts;          /* by which other paths hidden places are reached */
    struct guard *guard;           /* looks after the writable directories */
    struct read_rules read_rules;  /* kept for the next command */
    size_t n_running;              /* commands, those that are being started too */
    bool has_lost_processes;       /* of a command; until the person is told */
    struct write_notices *notices; /* what they are about to change, for their observers */
    pthread_mutex_t lock;          /* for the guard */
    int network_fd, user_fd;       /* namespaces that all commands share; -1: not made yet */
    struct parking *parking;       /* of supervisors that are started ahead: parking.h */
    struct {
        struct strbuf plan;
        uint64_t mounts_version;
        int policy_fd;   /* -1: there was none with namespaces */
        uint64_t number; /* another one when plan or mounts have changed */
    } walls;             /* of the last command, in which the next one is expected to run */
};
void sandbox_init(struct sandbox *s, const struct sandbox_policy *policy);
void sandbox_done(struct sandbox *s); /* of one that sandbox_init() has seen */

/* A command is likely to come: starts its supervisor ahead, in a task of the group, which ends
 * before the sandbox does, and in the walls of the last command. The first one of a sandbox has
 * none. */
void sandbox_expect(struct sandbox *s, struct group *tasks);
void sandbox_rest(struct sandbox *s); /* none is expected any more */
/* Does no command run in it, and is none being started? Then it may be ended. */
bool sandbox_is_idle(const struct sandbox *s);

/* To be called once for every command that was started, after proc_free(): looks at the protected
 * places that the kernel could not protect, puts right what the command did there, and appends a
 * line for the person about each. May wait. */
MUST_USE struct err *sandbox_command_ended(struct sandbox *s, struct strbuf *notes);

/* That commands can do something here although they are confined, for the person, in brief; NULL:
 * they cannot, or none has run yet. */
const char *sandbox_weakness(const struct sandbox *s);
/* What it is, on any machine; NULL: nothing. */
const char *sandbox_weakness_of(bool has_namespaces, int landlock_abi);
int sandbox_landlock_version(void); /* 0: there is none */

/* Waits until all directories of a large workspace are followed, which the first command begins:
 * for tests and measurements. */
void sandbox_settle(struct sandbox *s);

/* What keels that ended while commands ran have left in these directories: puts it right, and
 * appends a line for the person about each. `home` is the person's, or NULL. Blocks. */
MUST_USE struct err *sandbox_recover(const char *guard_dir, const char *const *roots,
                                     size_t n_roots, const char *home, struct strbuf *notes);

/* What a model should know about the commands that it runs here, once a command has failed; NULL:
 * nothing that it would not expect. */
const char *sandbox_advice(const struct sandbox *s);

/* A private directory for temporary files, below TMPDIR or /tmp, and its end with all that is in
 * it. They block. */
MUST_USE struct err *sandbox_make_tmp(char ret_path[4096]);
void sandbox_remove_tmp(const char *path);

/* The places that are hidden from commands whatever the settings say (base/secret_places.h), the
 * homes of others, keel's own; whether they are there or not. In `a`. */
const char *const *sandbox_secret_places(struct arena *a, const char *home, const char *keel_home,
                                         size_t *ret_n);
/* Adds those of the secret places that are there and that the person may read. Blocks. */
void sandbox_find_secrets(struct path_list *l, const char *home, const char *keel_home);

/* Adds those that variables name and that are there (secret_variables; XDG_CONFIG_HOME and its like
 * for what is usually in ~/.config), but for devices and for what holds the home or the workspace:
 * such a value is a mistake. A relative path counts for
 * nothing. Blocks. */
void sandbox_find_named_secrets(struct path_list *l, const char *const *environment,
                                const char *home, const char *workspace);

/* The places in a workspace that are not writable: .git/hooks, .git/config, .keel, .claude,
 * .mcp.json, shell start-up files, programs that git's configuration names; nested repositories'
 * too. A sandbox finds them by itself; this is for those who want to know. Walks the workspace:
 * blocks. */
MUST_USE struct err *sandbox_protected_places(struct arena *a, const char *workspace,
                                              const char *const **ret_paths, size_t *ret_n);
/* Those of one directory: of the workspace itself, or of one in it that has a .git. */
void sandbox_protect_directory(struct path_list *l, const char *workspace, const char *directory);

#endif
