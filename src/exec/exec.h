/* exec.h - the parts of keel-exec, the supervisor of one command.
 *
 * It is written to be read in one sitting: main.c reads the options and chooses the mode,
 * namespace.c makes the namespaces, command.c becomes the command, monitor.c waits and ends the
 * tree, tree.c finds descendants where there is no namespace, covers.c and covered.c look after
 * mounts. parked.c waits for a command where keel-exec is started before there is one. A sandbox is
 * built by policy.c, which reads what keel wants, locate.c, which opens what that names, mounts.c,
 * listener.c, privileges.c, landlock.c and seccomp.c with filter.c; notices.c lets keel see what
 * the command changes. Nothing here allocates. */
#ifndef KEEL_EXEC_EXEC_H
#define KEEL_EXEC_EXEC_H

#include "exec/policy.h"
#include "exec/protocol.h"

#include <sys/types.h>

enum {
    EXIT_SUPERVISOR = 125, /* keel-exec itself failed */
    EXIT_CANNOT_RUN = 126, /* the command could not be started */
};

/* While it is parked, the numbers below are left to the command's descriptors. */
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

/* Why a sandbox could not be built; error 0: it could. */
struct fault {
    int error; /* errno */
    enum exec_step step;
    unsigned item; /* of the policy */
};

/* --- a policy --- */

/* NULL when it cannot be read or does not hold together. */
const struct policy_header *policy_open(int fd);
const struct policy_item *policy_next(const struct policy_header *p,
                                      const struct policy_item *item); /* NULL: the first */

#define policy_each(item, p)                                                                       \
    for (const struct policy_item *item = NULL; (item = policy_next(p, item));)

/* --- what it names --- */

/* "/", then what the roots of the policy are in this sandbox, in their order; -1: not there. */
struct root_fds {
    int fd[POLICY_MAX_ROOTS + 1];
    unsigned n;
    /* The directories on the way to the item that was located last, as far as they are kept open:
     * most items share them with the one before. */
    struct {
        int fd;
        size_t n_bytes;  /* of the item's path from its root: that of this directory */
        bool is_watched; /* covers.c */
    } dirs[32];
    unsigned n_dirs;
    const struct policy_item *dirs_of;
    int own; /* the file system of what stands in the place of hidden things: mounts.c */
    dev_t own_device;
    /* File systems of the sandbox's own that were made ahead and are mounted nowhere yet; 0: none
     */
    int ahead_own, ahead_proc, ahead_pts;
    char masked[1024]; /* names in /proc that are covered, each with its NUL */
    size_t n_masked;   /* bytes; 0: they were not looked for yet */
};
bool roots_begin(struct root_fds *roots);                                       /* with "/" */
struct fault roots_open(const struct policy_header *p, struct root_fds *roots); /* POLICY_ROOT */
void roots_close(struct root_fds *roots);

/* Opens a path below a directory, itself no link and through none (O_PATH); "" is the directory. */
int open_below(int dir, const char *path);
/* Opens what the item names, if it is what keel expects there. -1 and errno: ENOENT when nothing is
 * there and need not be, ESTALE when it has been exchanged. It may be a link.
 *
 * Items are sorted, so whatever is mounted on a directory is there before anything in it is looked
 * for. Who begins with the first again calls locate_anew(). */
int locate(struct root_fds *roots, const struct policy_item *item, struct stat *ret_st);
void locate_anew(struct root_fds *roots);
/* Whatever is there by now, or nothing (ENOENT and the like). */
int locate_now(struct root_fds *roots, const struct policy_item *item, struct stat *ret_st);
/* The same for where the machine has it, before anything is mounted. */
int locate_source(const struct root_fds *roots, const struct policy_item *item,
                  struct stat *ret_st);
/* Only looks: the directory that it lies in, which stays open until the next item, or -1 and errno
 * as above. *ret_name, which may be NULL, is its name there. */
int locate_name(struct root_fds *roots, const struct policy_item *item, struct stat *ret_st,
                const char **ret_name);

/* Where this process stands above the command. */
struct exec_place {
    enum exec_mode mode;
    bool own_user_namespace;            /* it gave us capabilities that the command must not have */
    bool is_new_user;                   /* and none has joined it */
    bool is_built;                      /* by namespace_build_ahead() */
    const struct policy_header *policy; /* NULL: the command is not confined */
    struct root_fds roots;              /* of a policy; until the command runs */
    int for_keel[3]; /* namespaces that later commands may join, and the listener */
    int n_for_keel;
};

/* Like fork(), with the child as init of a new pid namespace that has a /proc of its own; with a
 * policy, of all the namespaces and mounts that it wants. -1: this may not be made here, for the
 * reason given, and nothing has changed. */
pid_t namespace_fork(const struct options *o, struct exec_place *place, struct fault *ret_fault);
/* The same for a process that is init of a new pid namespace already, as its own next step. */
struct fault namespace_enter(const struct options *o, struct exec_place *place);
/* As namespace_fork(), for a policy that is not there yet: only what no policy changes.
 * namespace_enter() follows. */
pid_t namespace_park(const struct options *o, struct exec_place *place);

/* After it, for a policy that the one to come is likely to equal: network and mounts. Then
 * namespace_enter() only looks whether the mounts still lie where they belong; ESTALE: no. */
struct fault namespace_build_ahead(const struct options *o, struct exec_place *place);

/* Makes file systems ahead that are the sandbox's own, where that may be done. */
void mounts_make_ahead(struct root_fds *roots);

/* Waits for the command and fills in what the options lack; before that, builds what keel expects
 * it to need. False: none came. */
bool parked_wait(struct options *o, struct exec_place *place);

/* The steps of a sandbox, in their order. The first is for init, the others for the command. */
struct fault mounts_build(const struct policy_header *p, struct root_fds *roots);
/* The same for one place, later: binds it to itself, or puts what cannot be opened over it. */
bool mounts_pin(const struct policy_item *item, int place);
bool mounts_hide(const struct root_fds *roots, int place, const struct stat *st);
/* Where the command starts: the directory that keel has chosen, or none. */
struct fault cwd_enter(const struct policy_header *p, struct root_fds *roots);
struct fault privileges_drop(bool keep_files); /* root's rights over files may stay */
/* How many processes there may be; where the kernel cannot tell, as many as before. `proc` is of
 * this process's own pid namespace. */
void limits_set_for_namespace(int proc);
void limits_set_for_command(void); /* in a user namespace of its own */
/* `rules_fd`: further rules, for the reading of files; -1: none. */
struct fault landlock_confine(const struct policy_header *p, struct root_fds *roots, int rules_fd,
                              int *ret_abi);
/* Signals of this process, and of all that it starts from now on, reach nobody else: so kill(-1)
 * is for what it has started, all of it at once, and for nobody outside. False: it is not so, as
 * before Linux 6.12. */
bool landlock_enclose(void);
struct fault seccomp_confine(const struct policy_header *p, int landlock_abi);

/* Sends keel EXEC_NOTICES. The command runs even where that cannot be had: keel is the one to know
 * what it means. */
void notices_begin(int control);

struct fault fault_of_item(int error, unsigned index);

/* Where commands find keel's proxy. To be called in the new network; -1 and errno. */
int listener_open(void);

int landlock_version(void); /* of its interface; 0: there is none */

/* What can be built here, to stdout. */
int probe_run(const struct options *o);

/* The devices that every program may use; ends with NULL. */
extern const char *const common_devices[];

/* Starts the command and waits until it runs. Error 0, or the reason with nothing left behind. */
struct fault command_start(const struct options *o, struct exec_place *place, pid_t *ret_pid);

/* Tells keel. */
void report_fault(int control, const struct fault *fault);

/* Supervises until no descendant is left; gives the exit code. Signals are blocked. */
int monitor_run(const struct options *o, struct exec_place *place);

/* Lets go of the command's stdio and inherited fds, so that its pipes end when it closes them. */
void release_fds(int first_kept);

/* Signals every descendant of this process, those that forks hide included. True when there were
 * some that the last call did not find. */
bool tree_signal(int signal);

/* Decimal digits and nothing else. */
bool parse_number(const char *text, int *ret_value);

/* The exit code that a shell would give. */
int exit_code_of(int wait_status);

#endif
