/* gate.h - the permission gate: rules and a mode decide, and a person if they do not.
 *
 * Deciding is pure (permission_decide). Looking up where paths lead (gate/prepared.h) may wait, and
 * so may the walk, for a person.
 *
 * Rules are patterns: `Tool` matches every call of the tool, `Tool(argument)` the calls whose
 * permission argument it describes. `Tool(*)` is any argument. A tool's name may contain `*`, and
 * `mcp__server` names all tools of that server. The kind of argument decides what the parentheses
 * mean:
 *
 *     command    Bash(git log:*) Bash(git *)   the command with any arguments
 *                Bash(npm run test)            exactly this
 *     path       Edit(src/x*.c) Edit(/docs)    a glob below the project's root, the session's first
 *                                              cwd
 *                Read(//etc) Read(~/.ssh)      of the file system, of the home directory
 *     url        WebFetch(domain:example.com)  the host and its subdomains, on any port
 *                WebFetch(host:example.com)    the host alone, on the scheme's own port
 *     other      mcp__db__query(select *)      text in which `*` is anything
 *
 * `\*` is a star, `\\` a backslash. Rules that allow are read narrowly, rules that deny or ask
 * widely:
 * - `Bash`, `Bash(*)` or its exact text allows a line of several commands. So do rules that allow
 *   each command in it as written, and each file that it redirects to (by a rule or the mode, as if
 *   Edit or Write wrote it). Expanded text matches only a `*`. Nothing else allows an assignment
 *   before a command, a function, or text that cannot be split for sure.
 * - A line whose commands all only look (gate/look/look.h) is allowed by a rule of keel's own,
 *   after those of the person. It runs where nothing can be changed.
 * - A line is denied if any command in it is, with any path of the program. This includes commands
 *   that env, sudo, xargs, find, sh -c and the like start. Unseen commands are in doubt.
 * - A denied path is denied with everything below it, relative to the root and to the current
 *   directory, and `/x` also as an absolute path. A path denied to Read is denied to every tool
 *   that takes a path; a path denied to Edit is denied to every tool that changes files. Both are
 *   denied to redirections. A command changes what it redirects to or obviously writes.
 * - Single letters are denied in any order and any number of words: `rm -rf` is `rm -r -f`.
 * - A path that leads elsewhere by links is denied by either name and by those on the way. The path
 *   in a rule may be such a link too. It is allowed only if its target is allowed, and the given
 *   path as well, unless it leads from outside into the workspace. All names of the workspace and
 *   the home count.
 * - A deny rule that cannot be evaluated for a call asks; in plan mode it denies.
 *
 * An answer that holds for longer is remembered as the pattern of what was shown (STATE_ALLOWED in
 * the session; see struct rule_keeper). A later answer (gate_call.answer) is to the arguments that
 * were asked about. Hooks run again and may still deny. If they now change the arguments
 * differently (STATE_ASKED remembers what they did), the person is asked again. A denial stays one,
 * and arguments that came with the answer are used as they are. */
#ifndef KEEL_GATE_GATE_H
#define KEEL_GATE_GATE_H

#include "gate/hard_policy.h"
#include "port/gate.h"
#include "port/hook.h"

struct permission_rules {
    const struct str *allow;
    size_t n_allow;
    const struct str *ask;
    size_t n_ask;
    const struct str *deny;
    size_t n_deny;
    /* Which deny rules come from an untrusted project, one flag each; NULL: none. Calls obey these
     * rules like others. */
    const bool *deny_is_untrusted;
    const char *const *environment; /* for "~", the same as the tools'; NULL: the process's own */
    /* A line that only looks needs no question: it runs in a sandbox where nothing can be changed
     * (struct verdict, port/gate.h). Set only if there is such a sandbox. */
    bool looks_freely;
    bool commands_run_freely; /* commands need no question if the mode would only ask */
    bool other_shell;         /* another shell than bash reads commands: nothing is sure */
};

/* The same rules, parsed once for many calls. Decisions do not change it: threads may share it. It
 * borrows the texts. Patterns that the session remembers are not in it. */
struct rulebook;
struct rulebook *rulebook_new(const struct permission_rules *rules) MUST_USE;
void rulebook_free(struct rulebook *b);
DEFINE_AUTO_PTR(rulebook, rulebook_free)

enum rule_kind { RULE_DENY, RULE_ASK, RULE_ALLOW, N_RULE_KINDS };
void rulebook_add(struct rulebook *b, enum rule_kind kind, struct str text); /* after the others */

enum decision { DECISION_AUTO, DECISION_APPROVE, DECISION_DENY };
const char *decision_name(enum decision d); /* "auto", "approve", "deny" */

/* The names of DECIDED_BY_LOOKING and DECIDED_BY_SANDBOXED where rules are shown. */
#define RULE_LOOKING "built-in:looking"
#define RULE_SANDBOXED "permissions.sandboxedCommands"

enum decided_by {
    DECIDED_BY_DENY,
    DECIDED_BY_UNCLEAR_DENY, /* the rule could not be evaluated */
    DECIDED_BY_ASK,
    DECIDED_BY_ALLOW,
    DECIDED_BY_LOOKING,   /* every command of the line only looks, and only where Read may */
    DECIDED_BY_SANDBOXED, /* all commands run without a question, in the sandbox */
    DECIDED_BY_PERSON,    /* the person typed the host or path in a prompt (gate/typed.h) */
    DECIDED_BY_MODE,
    DECIDED_BY_HOOK, /* it asks, or replaces the mode's question */
};

struct place;           /* gate/place.h */
struct protected_place; /* base/protected_places.h */
struct prepared;        /* gate/prepared.h: where the paths of the call lead */

struct decided {
    enum decision decision;
    enum decided_by by;
    struct str
        rule; /* the pattern, or "mode:default/execute"; lives as long as rules and session */
    struct str said;                      /* why the hook asks; may be empty */
    const struct place *outside;          /* the reason to ask: it is there; or NULL */
    const struct protected_place *obeyed; /* the reason to ask: other programs obey it; or NULL */
    bool starts_others; /* asked about: a program of the line could start what the rule denies */
};

/* Step 7: deny patterns, ask patterns, allow patterns (the session's own, STATE_ALLOWED, too), then
 * the mode's table over the risk. Pure. `prepared` NULL: no link is known. */
struct decided permission_decide(const struct rulebook *rules, enum permission_mode mode,
                                 const struct tool *tool, const struct json *args,
                                 const struct tool_state *state, const struct prepared *prepared);

/* The same with what PreToolUse hooks say: their ask beats every allow; their allow replaces the
 * question that the mode would ask, and nothing else. Pure. */
struct decided permission_decide_hooked(struct decided d, enum hook_permission hook,
                                        struct str reason);

/* The mode's table alone, and the name of its cell: "mode:default/execute". */
enum decision permission_mode_decide(enum permission_mode mode, enum risk risk);
struct str permission_mode_cell(enum permission_mode mode, enum risk risk);
/* The name of another cell: "mode:default/outside", for reading outside. */
struct str permission_outside_cell(enum permission_mode mode);

/* Would the pattern allow this call if it were in the list? */
bool permission_pattern_matches(struct str pattern, const struct tool *tool,
                                const struct json *args, const struct tool_state *state);
/* "Tool" or "Tool(something)", nothing else; for WebFetch something that means addresses. */
bool permission_pattern_is_valid(struct str pattern);
/* What to write instead of one that is not valid. */
const char *permission_pattern_hint(struct arena *a, struct str pattern);
/* The name of the tool in a pattern. */
struct str permission_pattern_tool(struct str pattern);

/* What the deny rules for Read and WebFetch hide from searches. A snapshot of the rules, the
 * current directory and the targets of links, which it looks up: that blocks. Threads may share
 * it. */
struct denied_paths;
struct denied_paths *denied_paths_new(const struct permission_rules *rules,
                                      const struct tool_state *state) MUST_USE;
/* Also hides the secrets of the policy, which it copies. */
void denied_paths_hide_secrets(struct denied_paths *d, const struct hard_policy *policy);
void denied_paths_free(struct denied_paths *d);
DEFINE_AUTO_PTR(denied_paths, denied_paths_free)
struct path_filter denied_paths_filter(const struct denied_paths *d);

/* Steps 5 and 7 for a call, without hooks and without a person. Looks up links, so it may wait. The
 * result is in `a`. */
struct judged {
    enum decision decision;
    enum gate_step step;
    struct str rule, reason; /* the reason is a sentence; never empty */
};
MUST_USE struct err *permission_judge(const struct permission_rules *rules,
                                      const struct hard_policy *policy, enum permission_mode mode,
                                      const struct tool *tool, const struct json *args,
                                      const struct tool_state *state, struct arena *a,
                                      struct judged *ret_judged);

/* Saves an answer for the project: `rule` is the narrowest pattern that covers what was shown; for
 * a path that leads elsewhere there are two. May wait. If it fails, the rule holds for the session,
 * and the verdict's hook_message says so. */
struct rule_keeper {
    struct err *(*keep)(void *self, struct str rule);
    void *self;
};

/* The gate of the port over these rules. The session remembers the patterns that a person adds by
 * an answer; they count from the next call on. */
struct permission_gate {
    struct gate gate;
    struct permission_rules rules; /* borrowed; changed only by permission_gate_set_rules() */
    struct rulebook *book;         /* of these rules */
    struct hard_policy policy;     /* borrowed; may be changed between calls */
    struct rule_keeper keeper;     /* keep NULL: "project" answers hold for the session */
    struct hooks *hooks;           /* borrowed; NULL: none */
};
void permission_gate_init(struct permission_gate *g, const struct permission_rules *rules);
void permission_gate_done(struct permission_gate *g);
/* Sets the rules for the following calls. Not while a call is judged. */
void permission_gate_set_rules(struct permission_gate *g, const struct permission_rules *rules);

#endif
