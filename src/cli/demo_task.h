/* demo_task.h - a small piece of work for the demonstration, in a directory of its own. */
#ifndef KEEL_CLI_DEMO_TASK_H
#define KEEL_CLI_DEMO_TASK_H

#include "base/strbuf.h"

/* What the person wants, what may be done for it, and the model's part. */
#define DEMO_PROMPT "the test fails: find out why and fix it"
#define DEMO_RULE "Bash(sh test.sh)"
#define DEMO_MODE "acceptEdits"
extern const char demo_script[];

/* Makes the directory; `path` is a buffer of DEMO_PATH_SIZE bytes. */
#define DEMO_PATH_SIZE 4096
MUST_USE struct err *demo_task_make(char *path);
void demo_task_remove(const char *path); /* with everything in it */

#endif
