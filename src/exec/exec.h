/* exec.h - the parts of keel-exec, the supervisor of one command.
 *
 * It is written to be read in one sitting: main.c reads the options and chooses the mode,
 * namespace.c makes the namespaces, command.c becomes the command, monitor.c waits and ends the
 * tree, tree.c finds descendants if there is no namespace, covers.c and covered.c watch the mounts.
 * parked.c waits for a command if keel-exec is started before there is one. A sandbox is built by
 * policy.c, which reads the policy, locate.c, which opens what it names, mounts.c, listener.c,
 * privileges.c, landlock.c and seccomp.c with filter.c; notices.c shows keel what the command
 * changes. Nothing here allocates. */
#ifndef KEEL_EXEC_EXEC_H
#define KEEL_EXEC_EXEC_H

#include "exec/policy.h"
#include "exec/protocol.h"

#include <sys/types.h>

enum {
    EXIT_SUPERVISOR = 125, /* keel-exec itself failed */
    EXIT_CANNOT_RUN = 126, /* the command could not be started */
};

/* A parked supervisor keeps the numbers below free for the command's descriptors. */
enum { PARKED_FIRST_FD = EXEC_ORDER_MAX_FDS + 16 };

struct stat;

struct options {
    int control;
    int grace_ms;
    int policy_fd;           /* -1: none */
    int rules_fd;            /* -1: none */
    int user_fd, network_fd; /* namespaces to join; -1: none */
    bool tty, no_namespace, is_init, is_held, has_notices, is_parked;
    const char *program;
    char **argv;
};

/* Why a sandbox could not be built; error 0: it was built. */
struct fault {
    int error; /* errno */
    enum exec_step step;
    unsigned item; /* of the policy */
};

/* --- a policy --- */

/* NULL if it cannot be read or is inconsistent. */
const struct policy_header *policy_open(int fd);
const struct policy_item *policy_next(const struct policy_header *p,
                                      const struct policy_item *item); /* NULL: the first */

#define policy_each(item, p)                                                                       \
    for (const struct policy_item *item = NULL; (item = policy_next(p, item));)

/* --- the places that it names --- */

/* "/", then the roots of the policy in this sandbox, in their order; -1: not there. */
struct root_fds {
    int fd[POLICY_MAX_ROOTS + 1];
    unsigned n;
    /* The directories on the way to the item that was located last, as far as they are kept open:
     * most items share them with the one before. */
    struct {
        int fd;
        size_t n_bytes;  /* of the item's path from its root to this directory */
        bool is_watched; /* covers.c */
    } dirs[32];
    unsigned n_dirs;
    const struct policy_item *dirs_of;
    int own; /* the file system with the substitutes for hidden things: mounts.c */
    dev_t own_device;
    /* File systems of the sandbox that were created ahead and are not mounted yet; 0: none */
    int ahead_own, ahead_proc, ahead_pts;
    char masked[1024]; /* names in /proc to cover, each with its NUL */
    size_t n_masked;   /* bytes; 0: not looked up yet */
};
bool roots_begin(struct root_fds *roots);                                       /* with "/" */
struct fault roots_open(const struct policy_header *p, struct root_fds *roots); /* POLICY_ROOT */
void roots_close(struct root_fds *roots);

/* Opens a path below a directory (O_PATH), which neither is a link nor leads through one; "" is the
 * directory. */
int open_below(int dir, const char *path);
/* Opens the place of the item, if it is what keel expects there. -1 and errno: ENOENT if nothing is
 * there, as allowed, ESTALE if it was replaced. It may be a link.
 *
 * Items are sorted, so a directory has its mounts before anything in it is looked up. To begin with
 * the first item again, call locate_anew(). */
int locate(struct root_fds *roots, const struct policy_item *item, struct stat *ret_st);
void locate_anew(struct root_fds *roots);
/* Opens whatever is there now, or nothing (ENOENT and the like). */
int locate_now(struct root_fds *roots, const struct policy_item *item, struct stat *ret_st);
/* The same in the machine's tree, before anything is mounted. */
int locate_source(const struct root_fds *roots, const struct policy_item *item,
                  struct stat *ret_st);
/* Only looks it up: returns its directory, which stays open until the next item, or -1 and errno as
 * above. *ret_name, which may be NULL, is its name there. */
int locate_name(struct root_fds *roots, const struct policy_item *item, struct stat *ret_st,
                const char **ret_name);

/* The situation of this process above the command. */
struct exec_place {
    enum exec_mode mode;
    bool own_user_namespace;            /* it brings capabilities that the command must not have */
    bool is_new_user;                   /* and no command has joined it */
    bool is_built;                      /* by namespace_build_ahead() */
    const struct policy_header *policy; /* NULL: the command is not confined */
    struct root_fds roots;              /* of a policy; until the command runs */
    int for_keel[3]; /* namespaces that later commands may join, and the listener */
    int n_for_keel;
};

/* Like fork(), with the child as init of a new pid namespace with its own /proc; with a policy,
 * also in the other namespaces and mounts that it requires. -1: not allowed here, for the reason
 * given, and nothing has changed. */
pid_t namespace_fork(const struct options *o, struct exec_place *place, struct fault *ret_fault);
/* The same for a process that is already init of a new pid namespace, as its own next step. */
struct fault namespace_enter(const struct options *o, struct exec_place *place);
/* Like namespace_fork(), for a policy that has not arrived yet: only what no policy changes.
 * namespace_enter() follows. */
pid_t namespace_park(const struct options *o, struct exec_place *place);

/* Call it after that, for a policy that the next one probably equals: builds network and mounts.
 * Then namespace_enter() only checks that the mounts are still in place; ESTALE: they are not. */
struct fault namespace_build_ahead(const struct options *o, struct exec_place *place);

/* Creates the sandbox's own file systems ahead, if allowed. */
void mounts_make_ahead(struct root_fds *roots);

/* Waits for the command and completes the options; before that, builds what keel expects the
 * command to need. False: no command came. */
bool parked_wait(struct options *o, struct exec_place *place);

/* The steps of building a sandbox, in order. The first is for init, the others for the command. */
struct fault mounts_build(const struct policy_header *p, struct root_fds *roots);
/* The same for one place, later: binds it to itself, or covers what cannot be opened. */
bool mounts_pin(const struct policy_item *item, int place);
bool mounts_hide(const struct root_fds *roots, int place, const struct stat *st);
/* Enters the directory in which the command starts: the one that keel has chosen, or none. */
struct fault cwd_enter(const struct policy_header *p, struct root_fds *roots);
struct fault privileges_drop(bool keep_files); /* root may keep its rights over files */
/* Limits the number of processes; the limit does not change if the kernel cannot set it. `proc` is
 * of this process's own pid namespace. */
void limits_set_for_namespace(int proc);
void limits_set_for_command(void); /* if it has a user namespace of its own */
/* `rules_fd`: further rules, for reading files; -1: none. */
struct fault landlock_confine(const struct policy_header *p, struct root_fds *roots, int rules_fd,
                              int *ret_abi);
/* From now on signals of this process, and of all its descendants, reach no other processes: so
 * kill(-1) reaches all descendants at once, and nothing outside. False: not supported, as before
 * Linux 6.12. */
bool landlock_enclose(void);
struct fault seccomp_confine(const struct policy_header *p, int landlock_abi);

/* Sends EXEC_NOTICES to keel. The command runs even without notices: keel knows what that means. */
void notices_begin(int control);

struct fault fault_of_item(int error, unsigned index);

/* Opens the socket at which commands find keel's proxy. Call it in the new network; -1 and
 * errno. */
int listener_open(void);

int landlock_version(void); /* of its interface; 0: none */

/* Prints to stdout what can be built here. */
int probe_run(const struct options *o);

/* The devices that every program may use; ends with NULL. */
extern const char *const common_devices[];

/* Starts the command and waits until it runs. Error 0; else the reason, and nothing is left. */
struct fault command_start(const struct options *o, struct exec_place *place, pid_t *ret_pid);

/* Reports the fault to keel. */
void report_fault(int control, const struct fault *fault);

/* Supervises until no descendant is left; returns the exit code. Signals are blocked. */
int monitor_run(const struct options *o, struct exec_place *place);

/* Closes the command's stdio and inherited fds, so that its pipes end when it closes them. */
void release_fds(int first_kept);

/* Signals every descendant of this process, also those that forks hide. True if the last call had
 * not found all of them. */
bool tree_signal(int signal);

/* Parses decimal digits and nothing else. */
bool parse_number(const char *text, int *ret_value);

/* The exit code of a shell for this status. */
int exit_code_of(int wait_status);

#endif
