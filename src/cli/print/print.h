/* print.h - `keel -p`: one prompt, or lines of them, and the answers on standard output. */
#ifndef KEEL_CLI_PRINT_PRINT_H
#define KEEL_CLI_PRINT_PRINT_H

#include "cli/args.h"

struct err *print_run(const struct args *args, int *ret_status);

/* Is standard input a pipe, a file or a socket? */
bool print_is_piped_in(void);

#endif
