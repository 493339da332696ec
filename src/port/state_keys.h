/* state_keys.h - every key of the tools' state (port/tool_state.h).
 *
 * A row of the table is a key, or a kind of keys: one whose text ends with a colon is followed by
 * a name. Only these files know the texts; others name the kind. A new key is a row here, and a
 * reader and a writer of its value in the file that the row names. */
#ifndef KEEL_PORT_STATE_KEYS_H
#define KEEL_PORT_STATE_KEYS_H

#include "base/json.h"

/* A person has said it: it counts in all runs of a tree, and the root's state has it. */
#define STATE_OF_PERSON 1u
/* A rewind leaves it as it is: it is no memory of the conversation. */
#define STATE_STAYS 2u

/* kind, key, its properties */
#define STATE_KEYS(X)                                                                              \
    /* The working directory: tool_state_cwd(). */                                                 \
    X(CWD, "cwd", 0)                                                                               \
    /* PATH as last read: tool/file/seen.h; when that was: port/file_stamp.h. */                   \
    X(FILE, "file:", 0)                                                                            \
    /* The todo list: port/todos.h. */                                                             \
    X(TODOS, "todos", 0)                                                                           \
    /* A background command by its id: port/kept_shell.h. */                                       \
    X(SHELL, "shell:", STATE_STAYS)                                                                \
    /* A stored result by its handle: port/stored_result.h. */                                     \
    X(RESULT, "handle:", 0)                                                                        \
    /* A pattern that the person has allowed for the session, a flag: gate/remember.c. */          \
    X(ALLOWED, "allow:", STATE_OF_PERSON)                                                          \
    /* The arguments that call ID was asked about: gate/remember.c. */                             \
    X(ASKED, "asked:", 0)                                                                          \
    /* Named by the person in a prompt, flags: gate/typed.h. */                                    \
    X(TYPED_HOST, "typed:host:", STATE_OF_PERSON)                                                  \
    X(TYPED_PATH, "typed:path:", STATE_OF_PERSON)                                                  \
    /* A file, by its SHA-256, that a provider has refused: engine/refused_media.c. */             \
    X(REFUSED, "refused:", 0)                                                                      \
    /* A provider that does not show its reasoning, a flag: engine/ask_request.c. */               \
    X(HIDDEN_THOUGHTS, "hidden_thoughts:", 0)                                                      \
    /* The permission mode, a text: sdk/agent/session.c. */                                        \
    X(MODE, "mode", 0)                                                                             \
    /* What requests begin with: sdk/prompt/prefix.h. */                                           \
    X(PREFIX, "prefix", 0)                                                                         \
    /* What was granted beyond the budget: session/budget.c. */                                    \
    X(BUDGET, "budget", STATE_STAYS)                                                               \
    /* A rewind that is under way: session/rewind.c. */                                            \
    X(REWIND, "rewind", STATE_STAYS)

enum state_key {
#define STATE_KEY_NAME(name, text, flags) STATE_##name,
    STATE_KEYS(STATE_KEY_NAME)
#undef STATE_KEY_NAME
        STATE_N_KEYS /* of another version of keel: kept and passed on, never read */
};

#define STATE_UNNAMED ((struct str){0}) /* the name of a key that has none */

struct state_entry {
    enum state_key kind;
    struct str key;  /* "file:/project/a.c" */
    struct str name; /* "/project/a.c"; of a key that is not in the table all of it */
    const struct json *value;
};

unsigned state_key_flags(enum state_key kind);
/* The whole key, in `a`. */
struct str state_key_text(struct arena *a, enum state_key kind, struct str name);
/* Which key of the table this is, as events have it. */
enum state_key state_key_find(struct str key, struct str *ret_name);
/* Is it of this kind? Then *ret_name, which may be NULL, is the rest. */
bool state_key_is(struct str key, enum state_key kind, struct str *ret_name);

#endif
