/* rule_index.h - the rules of a rulebook, and which of them a call needs to be matched against.
 *
 * Each rule has a key, made once: a hash of its tool's name, how a command that it matches begins,
 * and bytes that its text must contain. A filter is made once for a call. A rule that it rejects
 * would not have matched; the others are matched completely (gate/pattern.h). Pure. */
#ifndef KEEL_GATE_RULE_INDEX_H
#define KEEL_GATE_RULE_INDEX_H

#include "gate/gate.h"
#include "gate/pattern.h"
#include "gate/shell/split.h"

struct command_line;

/* --- trigrams: three bytes in a row, by a hash --- */

#define TRIGRAM_BITS 10
#define TRIGRAM_NONE (1 << TRIGRAM_BITS) /* a key without plain text: every text has it */

/* The first and the last trigram in the plain text of a pattern. */
struct gram_key {
    uint16_t first, last;
};

/* The trigrams of some texts. Zeroed: no text. */
struct grams {
    bool has[TRIGRAM_NONE + 1];
};
void grams_add(struct grams *g, struct str text);

/* --- commands --- */

#define N_COMMAND_DEPTHS 3
#define COMMAND_SLOT_BITS 10

/* How every text begins that the pattern matches or may match, as hashes of several lengths, and
 * the trigrams of every text that it matches. */
struct command_key {
    uint16_t starts[N_COMMAND_DEPTHS];
    struct gram_key grams;
};

/* The same for all texts of a line that patterns are matched against. */
struct command_glance {
    bool starts[N_COMMAND_DEPTHS][1 << COMMAND_SLOT_BITS];
    bool may_start[N_COMMAND_DEPTHS]; /* with anything: a text is unknown within this length */
    struct grams grams;
    bool is_in_doubt; /* some text is not known completely */
};
void command_glance_init(struct command_glance *g, struct str line,
                         const struct shell_split *split);

/* --- rules --- */

struct rule_key {
    struct command_key command;
    struct gram_key path;
    uint8_t tool; /* a hash of its name */
};
struct rule_key rule_key_of(const struct pattern *p);

/* In the order in which they count. The keys are separate, since most rules are never looked at. */
struct rule_list {
    struct pattern *patterns;
    struct rule_key *keys;
    size_t n, patterns_room, keys_room;
};

struct rulebook {
    struct rule_list lists[N_RULE_KINDS];
    const char *const *environment;
    bool looks_freely, commands_run_freely, other_shell; /* as in struct permission_rules */
    struct arena arena;
};

/* --- a call --- */

enum tool_ties {
    TIE_BY_NAME = 1 << 0,  /* rules for this name may be for the call's tool */
    TIE_BY_FILES = 1 << 1, /* rules for another tool apply to the files of the call */
};

struct rule_filter {
    uint8_t ties[256];                   /* tool_ties by the hash of a name */
    bool is_about_path;                  /* and so are the patterns of rules for the tool */
    const struct command_glance *glance; /* borrowed; NULL: the call runs no command */
    struct grams paths;                  /* of the call, or of the files of its command */
};
/* The subject has names if the call is about a path, and its command is split. */
void rule_filter_init(struct rule_filter *v, const struct subject *s);

/* False: a rule with this key does not match the call. A rule that could only be unclear is
 * rejected too, unless that counts. */
bool rule_filter_passes(const struct rule_filter *f, const struct rule_key *key,
                        bool unclear_counts);
/* The next rule that may match the call or, if that counts, may be unclear; NULL: none. Start with
 * *at = 0. */
const struct pattern *rule_list_next(const struct rule_list *l, const struct rule_filter *v,
                                     bool unclear_counts, size_t *at);

#endif
