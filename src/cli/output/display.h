/* display.h - a run as a person watches it: text as it comes, a line for each thing that is done.
 *
 * A subscriber to events. The answer's text goes to standard output, everything else to the margin,
 * which is standard error, or standard output if the margin is what the person came for (keel demo,
 * keel session show). Text of child runs is not the answer and is not shown. */
#ifndef KEEL_CLI_OUTPUT_DISPLAY_H
#define KEEL_CLI_OUTPUT_DISPLAY_H

#include "port/event_stream.h"

enum display_flags {
    DISPLAY_TEXT = 1 << 0,      /* the answer, while it streams */
    DISPLAY_REASONING = 1 << 1, /* what the model thinks, in the margin */
    DISPLAY_TOOLS = 1 << 2,     /* a line when a tool begins, and for a call that did not */
    DISPLAY_RESULTS = 1 << 3,   /* the first lines of what tools give back */
    DISPLAY_RETRIES = 1 << 4,
    DISPLAY_DETAILS = 1 << 5,    /* how long, how much, what it cost */
    DISPLAY_LONG_WAITS = 1 << 6, /* for retries, over 2 s; for background commands */
    DISPLAY_FAILURES = 1 << 7,   /* how a call failed, in a line */
    DISPLAY_WHOLE = 1 << 8,      /* results: all lines, not only the first */
};

struct display {
    unsigned flags;
    int margin_fd;
    bool in_colour;          /* of the margin */
    bool is_visible;         /* a terminal shows the text: what could steer it is made visible */
    struct err *error;       /* standard output failed: the caller's to take */
    bool is_in_line;         /* the cursor is not at the beginning of a line */
    bool has_text;           /* of the answer, something has been printed */
    bool wants_blank;        /* before the next text */
    enum delta_kind in_kind; /* of the text in this line */
    size_t last_call;        /* in its batch: the call whose line was printed last */
};

void display_event(void *self, const struct event *e);
/* Without a run: prints the notices for the person, and nothing else. `self` is not used. */
void display_notices(void *self, const struct event *e);
/* Ends a line that has text. */
void display_end_line(struct display *s);

/* "Bash  make test": the call in one line. */
void display_call(struct strbuf *out, struct str tool, const struct json *args, size_t max_chars);

#endif
