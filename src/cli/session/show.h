/* show.h - a session as `keel session show` goes through it: event by event, never as a whole. */
#ifndef KEEL_CLI_SESSION_SHOW_H
#define KEEL_CLI_SESSION_SHOW_H

#include "archive/turns.h"
#include "cli/output/display.h"
#include "cli/output/progress.h"
#include "cli/session/session.h"
#include "session/load.h"

struct session_show {
    struct session_work *work;
    struct store_summary summary;
    struct loaded loaded; /* its state */
    struct turn_list turns;
    enum turn_state state; /* as the list of sessions has it */
    unsigned only;         /* this turn; 0: all that are part of the conversation */
    bool with_tools;       /* what tools gave back, summaries in full */
    bool is_whole;         /* all of what tools gave back, not only the first lines */
    struct display show;   /* the text */
    bool wants_prompt;
    const struct turn_entry *turn; /* that is being shown */
    bool has_error;                /* of this turn was shown */
    struct strbuf plan;            /* id of the call whose plan was shown last */
    struct arena calls_arena;      /* of the calls of the last answer */
    struct shown_call {
        size_t index;
        struct str id, name; /* of a copied session */
        const struct json *args;
        uint64_t end_seq; /* the event that has all that it gave back; 0: none was read */
        bool was_shown;
    } *calls;
    size_t n_calls, calls_room;
    struct progress progress;
    struct strbuf out; /* the JSON that is not yet printed */
    struct json_writer json;
    bool is_in_turn;
};

/* The turn that has the state of the session; NULL: it has none of its own. */
const struct turn_entry *session_show_last(const struct session_show *s);
bool session_show_is_running(const struct session_show *s, const struct turn_entry *t);

/* As text: as a person would have seen it. */
MUST_USE struct err *session_show_header(struct session_show *s);
MUST_USE struct err *session_show_event(struct session_show *s, const struct event *e);
MUST_USE struct err *session_show_end(struct session_show *s);
void session_show_stream(struct session_show *s, struct str text); /* as if it had just come */

/* Calls, as text. A call's arguments are in its request, its result in its end. */
void session_show_note_request(struct session_show *s, const struct event_tool *t);
void session_show_note_end(struct session_show *s, const struct event *e);
MUST_USE struct err *session_show_tool(struct session_show *s, const struct event *e);
/* In a copied session there are messages and no events: calls are shown when their results come. */
void session_show_note_calls(struct session_show *s, const struct message *m);
MUST_USE struct err *session_show_base_results(struct session_show *s, const struct message *m);
MUST_USE struct err *session_show_other_calls(struct session_show *s); /* without results */
void session_show_forget_calls(struct session_show *s);

/* As one JSON object. */
MUST_USE struct err *session_json_header(struct session_show *s);
MUST_USE struct err *session_json_event(struct session_show *s, const struct event *e);
MUST_USE struct err *session_json_end(struct session_show *s);

#endif
