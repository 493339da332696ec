/* input_parts.h - what the files of the line protocol share. Only they include this. */
#ifndef KEEL_CLI_INPUT_PARTS_H
#define KEEL_CLI_INPUT_PARTS_H

#include "cli/input.h"
#include "port/question_board.h"

/* A prompt that waits for the runs before it. */
struct input_prompt {
    struct input_prompt *next;
    struct message *message;
    size_t n_bytes; /* of its line */
};

struct input {
    struct question_board board; /* what the host is asked */
    bool asks_host;
    bool allows_bypass; /* the host may switch permissions off */
    const struct input_host *host;
    size_t n_lines; /* read so far */

    struct input_prompt *first, *last;
    size_t n_prompts, n_bytes;
    bool is_closed;              /* no further line will come */
    struct err *error;           /* what was wrong with the last one */
    struct waker *reader, *main; /* that wait for room, and for a prompt; NULL: does not wait */
    struct group *run;           /* of the prompt that is being answered; NULL: none is */
};

/* --- input_message.c --- */

/* A `user` line as a message. Pure; ERR_VALIDATION says what is wrong with it. */
MUST_USE struct err *input_message(const struct json *line, struct message **ret_message);

/* --- input_control.c --- */

/* Answers a `control_request` line. An error ends the input: the host counts on something that
 * keel does not have. */
MUST_USE struct err *input_control(struct input *in, const struct json *line);

/* Switches the mode, as far as the host may: else why not. */
MUST_USE struct err *input_set_mode(struct input *in, struct str name);

/* --- input_ask.c --- */

void input_open_board(struct input *in);
/* Takes a `control_response` line. */
void input_take_answer(struct input *in, const struct json *line);

/* --- input.c --- */

/* Aborts the run that is under way; the conversation goes on. */
void input_interrupt(struct input *in);
/* One line out. */
void input_say(struct input *in, struct strbuf *line);

#endif
