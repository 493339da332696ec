/* results.h - what a search found, from all its threads, and its output in order.
 *
 * Private to the search. Results that cannot be part of the output any more are dropped on the
 * way, so that the memory in use stays near what is printed. */
#ifndef KEEL_TOOL_GREP_RESULTS_H
#define KEEL_TOOL_GREP_RESULTS_H

#include "tool/search/engine.h"

#include <pthread.h>

struct grep_result {
    char *path;
    int64_t modified_ns;
    size_t n_matches;
    char *text; /* whole lines; NULL: the path alone, with a count if that is asked for */
    size_t n_text, n_lines;
    bool is_cut; /* there were more lines than any output could hold */
};

struct grep_results {
    const struct grep_query *query;
    size_t max_output_bytes;
    pthread_mutex_t lock;
    struct grep_result *items;
    size_t n, room;
    size_t n_bytes;
    size_t n_pruned, n_pruned_bytes; /* what was there after the last pruning */
    bool was_cut;
};

void grep_results_init(struct grep_results *r, const struct grep_query *query);
void grep_results_done(struct grep_results *r);
DEFINE_AUTO_VAL(grep_results, grep_results_done)

/* From any thread. Takes the strings. */
void grep_results_add(struct grep_results *r, struct grep_result take_result);

MUST_USE struct err *grep_results_print(struct grep_results *r, struct strbuf *out);

#endif
