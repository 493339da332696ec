/* message_form.h - what a protocol accepts in messages, and what else it requires.
 *
 * A protocol supplies it, and code that builds messages uses it instead of knowing protocols. Zero
 * means that everything is accepted and nothing checked. */
#ifndef KEEL_MODEL_MESSAGE_FORM_H
#define KEEL_MODEL_MESSAGE_FORM_H

#include <stdbool.h>

#define FORM_WEB_IMAGES " image/png image/jpeg image/webp image/gif "

struct message_form {
    /* Accepted types of files, each between blanks; "text/" means all texts. NULL: all in prompts
     * and results, none in answers. */
    const char *bytes, *addresses;
    const char *answers;     /* assistant messages may have these */
    bool finds_types;        /* it determines the type of a file at an address itself */
    bool has_plain_errors;   /* results that are errors may only have text */
    bool binds_reasoning;    /* rejects reasoning that is unsigned, or was made elsewhere */
    bool reasoning_leads_on; /* rejects an answer that ends with reasoning */
    bool pairs_server_tools; /* a call of its own tools and the result stay together */
    bool continues_pauses;   /* a paused answer goes back as the last message */
    bool
        counts_answer; /* rejects a prompt that fills the window together with its longest answer */
};

#endif
