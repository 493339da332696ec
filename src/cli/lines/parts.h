/* parts.h - what the files of the line protocol share. Only they include this. */
#ifndef KEEL_CLI_LINES_PARTS_H
#define KEEL_CLI_LINES_PARTS_H

#include "cli/io.h"
#include "cli/lines/input.h"

struct input {
    bool asks_host;
    struct question_face questions;
    struct live_session *live;
    struct print_json *json;
    size_t n_lines; /* read so far */
};

/* --- message.c --- */

/* A `user` line as a message. Pure; ERR_VALIDATION says what is wrong with it. */
MUST_USE struct err *input_message(const struct json *line, struct message **ret_message);

/* --- control.c --- */

/* Answers a `control_request` line. An error ends the input: the host relies on something that
 * keel does not have. */
MUST_USE struct err *input_control(struct input *in, const struct json *line);

/* Switches the mode. ERR_VALIDATION: the host may not. */
MUST_USE struct err *input_set_mode(struct input *in, struct str name);

/* --- ask.c --- */

/* Takes a `control_response` line. */
void input_take_answer(struct input *in, const struct json *line);

/* --- input.c --- */

/* Prints a line. */
void input_say(struct input *in, struct strbuf *line);

#endif
