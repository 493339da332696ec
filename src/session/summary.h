/* summary.h - what the model is asked for when a history is to become a summary of it. Pure. */
#ifndef KEEL_SESSION_SUMMARY_H
#define KEEL_SESSION_SUMMARY_H

#include "base/strbuf.h"

/* Appends the question; empty wishes are omitted. */
void summary_question(const struct str *wishes, size_t n_wishes, struct strbuf *out);

/* What a question that was made by it cares for; empty: nothing special. */
struct str summary_wishes(struct str asked);

/* The summary without what models put around it. Borrows from the answer. */
struct str summary_trim(struct str answer, struct str prefix);

#endif
