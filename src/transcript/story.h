/* story.h - a session as a person reads it: events go in, prompts, answers and tool calls come out.
 *
 * A call comes together with its result, when that is known. The base of a new history is not
 * repeated: a summary is folded away, messages that were rewound to are omitted. Texts lack what
 * the redaction hides, arguments also what is under the names of credentials. Everything is
 * borrowed until the callback returns. */
#ifndef KEEL_TRANSCRIPT_STORY_H
#define KEEL_TRANSCRIPT_STORY_H

#include "port/event.h"
#include "view/redact.h"

enum story_kind {
    STORY_PROMPT,    /* text, media */
    STORY_ANSWER,    /* text: Markdown */
    STORY_REASONING, /* text */
    STORY_TOOL,      /* tool, args, text: its result, media */
    STORY_SOURCE,    /* title, url: a source that an answer cites */
    STORY_SUMMARY,   /* text: the summary that a history continues with */
    STORY_NOTE,      /* text, tone */
    STORY_TOLD,      /* text: what keel sent to the model without a prompt */
};

enum story_tone { TONE_PLAIN, TONE_WARNING, TONE_ERROR };

struct story_item {
    enum story_kind kind;
    enum story_tone tone;
    int64_t unix_ms;
    unsigned number; /* of the message, from 1; 0: it has none of its own */
    bool is_first;   /* of its message */
    struct str text;
    struct str model; /* of an answer; may be empty */
    struct str title, url;
    const struct part *media; /* parts that are media */
    size_t n_media;
    /* a tool call */
    struct str tool;
    const struct json *args; /* an object; NULL: `free_args` is text, or came instead */
    struct str free_args;
    bool has_result, is_error, was_denied;
    uint64_t duration_ms; /* 0: unknown */
};

struct story_totals {
    struct usage usage;
    int64_t cost_microcents;
    bool cost_is_known;
    uint64_t n_runs, n_tool_calls, active_ms;
};

/* Types of events that it ignores. */
extern const bool story_unwanted[EVENT_N_TYPES];

struct story;
struct story *story_new(struct redaction *redaction,
                        void (*on_item)(void *self, const struct story_item *item),
                        void *self) MUST_USE;
void story_event(struct story *s, const struct event *e);
void story_end(struct story *s); /* emits the calls that still wait for a result */
const struct story_totals *story_totals(const struct story *s);
void story_free(struct story *s);

#endif
