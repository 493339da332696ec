/* input.h - `--input-format stream-json`: a host speaks to keel in lines of JSON on standard input.
 *
 * Lines of type `user` are prompts: each is a run in the same conversation, one after another.
 * Lines of type `control_request` are answered at once, also while a run goes on, with a
 * `control_response` on standard output; `control_response` lines answer what keel asks the host.
 * The end of input ends the program after the last run. A line that is none of this ends the input:
 * what came before it is still answered, then it is told as an error. */
#ifndef KEEL_CLI_INPUT_H
#define KEEL_CLI_INPUT_H

#include "cli/args.h"
#include "cli/print.h"
#include "sdk/agent.h"

struct input;

/* What the lines are about. */
struct input_host {
    struct agent *agent;
    struct print_json *json; /* all lines go out through it */
    /* Runs one prompt to its end; the error is the run's. */
    struct err *(*answer)(void *self, struct message *prompt);
    void *self;
};

/* Does the command line ask for lines? */
bool input_is_wanted(const struct args *args);
/* NULL when lines are not wanted. ERR_VALIDATION: flags that do not go with what is wanted. */
MUST_USE struct err *input_new(const struct args *args, struct input **ret_input);
void input_free(struct input *in);
DEFINE_AUTO_PTR(input, input_free)

/* Asks the host; NULL when it does not want to be asked. */
struct asker *input_asker(struct input *in);

/* In a task: answers all lines. The last run's error, or what was wrong with the input. */
MUST_USE struct err *input_serve(struct input *in, const struct input_host *host);

#endif
