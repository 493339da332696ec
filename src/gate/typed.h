/* typed.h - hosts and paths that the person typed in a prompt of this session.
 *
 * What a person names needs no question: requests to that host, looks at that path and below it.
 * Only the typed prompt counts: do not pass text that was piped in, expanded from a file or written
 * by a program. The tools' state keeps the names (STATE_TYPED_HOST, STATE_TYPED_PATH), so that they
 * hold after a restart.
 *
 * Reading is strict, since the words of a prompt are not meant as rules:
 * - A host is that of an http or https address, or a word that can hardly be anything else: it
 *   begins with www. or ends in one of a few top-level domains, and no file here has that name. It
 *   is only that host, without its subdomains, on the typed port or the scheme's own. Names with a
 *   user before them, with letters outside of ASCII or in punycode do not count.
 * - A path begins with /, ~/ or ../ and is outside the workspace, where links are the person's own.
 *   The root of the file system does not count, and neither does a path with wildcards.
 * - A prompt of more than TYPED_MAX_BYTES was not typed. */
#ifndef KEEL_GATE_TYPED_H
#define KEEL_GATE_TYPED_H

#include "port/tool_state.h"

#define TYPED_MAX_BYTES ((size_t)16 << 10)
#define TYPED_MAX_NAMES 64 /* of one prompt */

struct typed_name {
    enum state_key kind; /* STATE_TYPED_HOST, STATE_TYPED_PATH */
    struct str name;
};

struct typed_names {
    struct typed_name items[TYPED_MAX_NAMES];
    size_t n;
};

/* Looks at the file system: blocks. The names are in `a`. */
void typed_find(struct typed_names *names, struct arena *a, struct str prompt,
                const struct tool_state *state, const char *const *environment);
void typed_keep(const struct typed_names *names, struct tool_state *state);

/* The key under which the person named the host of this address; empty: they did not. */
struct str typed_host_of(const struct tool_state *state, struct str url);
/* The same for a path without links. */
struct str typed_path_of(const struct tool_state *state, const char *real_path);

/* --- the words, pure --- */

/* "example.com" or "example.com:8443" for an address, or for a word that is a host name; in `a`.
 * False: neither. *ret_is_bare: it was a word. */
bool typed_read_host(struct arena *a, struct str word, struct str *ret_host, bool *ret_is_bare);
/* The path in a word, as written: "/srv/x", "~/notes", "../other". False: not a path. */
bool typed_read_path(struct str word, struct str *ret_path);
/* Cuts off the next word: between blanks, without surrounding quotes and punctuation. Quoted words
 * may contain blanks. */
bool typed_next_word(struct str *rest, struct str *ret_word);

#endif
