/* tool_set.h - which tools a run has: a registry that changes, and the snapshots it hands out.
 *
 * A round works with one snapshot from its request to its last result, whatever is added or removed
 * meanwhile; the snapshot's version tells the next round that something changed. Snapshots are
 * immutable and counted by reference. */
#ifndef KEEL_PORT_TOOL_SET_H
#define KEEL_PORT_TOOL_SET_H

#include "base/schema.h"
#include "port/tool.h"

struct tool_entry {
    struct tool *tool;
    struct tool_def def;       /* as the model sees it: without pinned arguments */
    const struct json *pinned; /* values that the configuration fixes; NULL: none */
    struct schema *schema;     /* of all arguments; compiled when first used */
};

struct tool_set {
    unsigned n_refs;
    uint64_t version; /* grows with every change of its registry */
    struct arena arena;
    struct tool_entry *entries;
    size_t n;
};

void tool_set_unref(struct tool_set *s);
struct tool_set *tool_set_ref(struct tool_set *s);
DEFINE_AUTO_PTR(tool_set, tool_set_unref)
struct tool_entry *tool_set_find(const struct tool_set *s, struct str name); /* exact; or NULL */
/* The tool that is meant by a name which is not in the set: another spelling, or what other agents
 * call such a tool. For messages only; NULL: none is similar. */
const struct tool_entry *tool_set_guess(const struct tool_set *s, struct str name);
/* The argument that says most about a call: its command, its file, its pattern. Of any tool, also
 * those of servers and of other programs' sessions; empty: none of them does. */
struct str tool_main_argument(const struct json *args);
/* "file_path, offset, limit": the arguments that the model sees. */
void tool_entry_add_arguments(const struct tool_entry *e, struct strbuf *out);
/* "Bash, Read, Write": for messages. */
void tool_set_names(const struct tool_set *s, struct strbuf *out);

/* 1 to TOOL_MAX_NAME letters, digits, "_" or "-": what all providers take. */
#define TOOL_MAX_NAME 64
bool tool_name_is_valid(struct str name);

struct tool_registry;
struct tool_registry *tool_registry_new(void) MUST_USE;
void tool_registry_free(struct tool_registry *r);
DEFINE_AUTO_PTR(tool_registry, tool_registry_free)

/* Takes a tool; one of the same name is replaced where it stands, since the order of tools is part
 * of what providers cache. `pinned` (copied; may be NULL) are arguments that the model neither sees
 * nor sets. The schema must be an object's. */
MUST_USE struct err *tool_registry_add(struct tool_registry *r, struct tool *take_tool,
                                       const struct json *pinned);
void tool_registry_remove(struct tool_registry *r, struct str name); /* absent is fine */
/* The current snapshot: a new reference, the same object until something changes. */
struct tool_set *tool_registry_snapshot(struct tool_registry *r) MUST_USE;

/* What a run may use of a set: an allow list, or all of it, and a deny list, which wins. "*" in a
 * list is every name. A child's grant must lie within its parent's: one that widens it is
 * ERR_VALIDATION. */
struct tool_filter {
    const struct str *allow;
    size_t n_allow;
    bool allows_all;
    const struct str *deny;
    size_t n_deny;
};
bool tool_filter_has(const struct tool_filter *f, struct str name);
/* The set with only those that the filter lets through and whose needs are met. */
struct tool_set *tool_set_narrow(struct tool_set *whole, const struct tool_filter *f,
                                 unsigned capabilities) MUST_USE;
/* The same tools as a session's model was told of them first: in that order and with those words,
 * whatever this version of keel says instead. `told` is a list of {"name", "description",
 * "inputSchema"}. One that is not in the set stays in the list, and says so when it is called. */
struct tool_set *tool_set_as_told(struct tool_set *now, const struct json *told) MUST_USE;
/* That list. */
struct json *tool_set_describe(const struct tool_set *s, struct arena *a) MUST_USE;
MUST_USE struct err *tool_filter_check(const struct tool_filter *parent,
                                       const struct tool_filter *child);

/* Step 4 of the gate: the model's arguments under their real names, pinned values on top, checked
 * against the schema. Where the schema asks for a number, a truth value, a list or an object and
 * the model gave its text as a string, it is that value; null for what may be missing is nothing.
 * So the gate, hooks and the journal see what the tool gets. ERR_VALIDATION tells the model what is
 * wrong, every place of it. What comes out lives in `a`. */
MUST_USE struct err *tool_entry_arguments(struct tool_entry *e, const struct json *given,
                                          struct arena *a, struct json **ret_args);
/* The object that a value without names stands for: the text of one, or a list where a list is the
 * one thing that must be there. NULL: it stands for none. */
struct json *tool_entry_object(const struct tool_entry *e, struct json *value, struct arena *a);
/* Only the first part of it: an object's members under the names that the tool has for them. */
struct json *tool_rename_arguments(const struct tool *t, const struct json *given,
                                   struct arena *a) MUST_USE;

#endif
