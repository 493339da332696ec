/* message_form.h - what a protocol takes in messages, and wants of them beyond what all want.
 *
 * A protocol brings it, and who builds messages asks it instead of knowing protocols. Zero is a
 * protocol that takes everything and checks nothing. */
#ifndef KEEL_MODEL_MESSAGE_FORM_H
#define KEEL_MODEL_MESSAGE_FORM_H

#include <stdbool.h>

#define FORM_WEB_IMAGES " image/png image/jpeg image/webp image/gif "

struct message_form {
    /* Types of files that it takes, with a blank around each; "text/" stands for all texts. NULL:
     * all, in prompts and results; none, in answers. */
    const char *bytes, *addresses;
    const char *answers;     /* what the assistant has said may hold these */
    bool finds_types;        /* it finds out itself what is behind an address without a type */
    bool has_plain_errors;   /* a result that is an error holds text only */
    bool binds_reasoning;    /* refuses reasoning that is not signed, or not where it was made */
    bool reasoning_leads_on; /* refuses an answer that ends with reasoning */
    bool pairs_server_tools; /* a use of its own tools and the result go together */
    bool continues_pauses;   /* an answer that it has paused goes back as the last message */
    bool counts_answer;      /* refuses a prompt that fills the window with its longest answer */
};

#endif
