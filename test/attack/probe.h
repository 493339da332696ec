/* probe.h - the attempts of the attack suite that need system calls no shell command makes.
 *
 * probe DEED [ARGUMENT]... makes one attempt. It prints what the attempt was after (a secret, or
 * the line REACHED) and ends with 0; or it says on stderr what stopped it and ends with 1. */
#ifndef KEEL_TEST_ATTACK_PROBE_H
#define KEEL_TEST_ATTACK_PROBE_H

#include <stddef.h>

struct deed {
    const char *name;
    int n_arguments;
    int (*run)(char **arguments);
};

extern const struct deed file_deeds[], network_deeds[], process_deeds[], kernel_deeds[];

/* What a deed returns: it was done, or a call failed with errno. */
int reached(void);
int stopped(const char *call);
/* As the call came back: stopped where it failed. */
int ended(const char *call, long result);

/* Prints what can be read from `fd`. */
int print_all(int fd);
/* Prints what can be read below the directory `fd` under this relative name. */
int print_file(int dir_fd, const char *name);
/* Adds a line to the file `fd`. */
int write_line(int fd);

#endif
