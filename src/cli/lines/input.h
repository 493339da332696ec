/* input.h - `--input-format stream-json`: a host speaks to keel in lines of JSON on standard input.
 *
 * A face of a live session: it reads lines, and prints lines. Lines of type `user` are prompts.
 * Lines of type `control_request` are answered at once, also during a run, with a
 * `control_response` on standard output; `control_response` lines answer what keel asks the host.
 * The end of input ends the program after the last run. Any other line ends the input: the prompts
 * before it are still answered, then it is reported as an error. */
#ifndef KEEL_CLI_LINES_INPUT_H
#define KEEL_CLI_LINES_INPUT_H

#include "cli/args.h"
#include "cli/print/json.h"
#include "sdk/live_session.h"

struct input;

/* Does the command line ask for lines? */
bool input_is_wanted(const struct args *args);
/* NULL when lines are not wanted. ERR_VALIDATION: flags that cannot be combined. */
MUST_USE struct err *input_new(const struct args *args, struct input **ret_input);
void input_free(struct input *in);
DEFINE_AUTO_PTR(input, input_free)

/* Shows questions to the host; NULL when it does not want to be asked. */
const struct question_face *input_questions(struct input *in);

/* In a task, until all prompts are answered. Returns the error of the input; all lines are printed
 * through `json`. */
MUST_USE struct err *input_serve(struct input *in, struct live_session *live,
                                 struct print_json *json);

#endif
