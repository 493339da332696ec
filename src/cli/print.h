/* print.h - `keel -p`. */
#ifndef KEEL_CLI_PRINT_H
#define KEEL_CLI_PRINT_H

#include "cli/command.h"

struct err *print_run(const struct args *args, int *ret_status);

#endif
