/* search.h - searches one file after another, in one thread. Private to the search.
 *
 * Files are read in blocks and never mapped: a file that shrinks meanwhile must not end the
 * program. They are decoded as in Read (tool/file/encoding.h), without the byte order mark. */
#ifndef KEEL_TOOL_GREP_SEARCH_H
#define KEEL_TOOL_GREP_SEARCH_H

#include "tool/file/encoding.h"
#include "tool/search/printer.h"

#define GREP_MAX_MULTILINE ((uint64_t)64 << 20) /* bytes of a file that is searched as a whole */
#define GREP_MAX_LINE ((size_t)64 << 20)        /* a file is searched up to its first longer line */

struct grep_search {
    const struct grep_query *query;
    struct grep_matcher *matcher;
    struct grep_printer printer;
    uint64_t max_file_bytes;
    const atomic_bool *is_over;

    /* of the last file */
    size_t n_matches;
    bool was_skipped; /* binary, too large or unreadable; perhaps only from some line on */
    int64_t modified_ns;

    int fd;
    char *buffer;
    size_t n, room;
    size_t n_left; /* bytes that the file should still have */
    bool at_end;
    enum text_encoding encoding; /* the buffer itself is UTF-8 */
    struct strbuf raw;           /* bytes that are not decoded yet; unless the file is UTF-8 */
};

void grep_search_init(struct grep_search *s, const struct grep_query *query,
                      const struct grep_pattern *pattern);
void grep_search_done(struct grep_search *s);

/* Searches the file. Its lines go to the printer's text under the name `path`. */
MUST_USE struct err *grep_search_file(struct grep_search *s, int fd, struct str path,
                                      const atomic_bool *is_over);

#endif
