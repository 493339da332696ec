/* diff_apply.h - applies diffs, to prove that diff_unified() writes what leads from one text to the
 * other. */
#ifndef KEEL_TEST_DIFF_APPLY_H
#define KEEL_TEST_DIFF_APPLY_H

#include "base/strbuf.h"

/* Applies a unified diff that diff_unified() made from this old text; to any other text only where
 * every line fits. Appends the whole new text or, with an error, nothing. */
MUST_USE struct err *diff_apply(struct strbuf *out, struct str old_text, struct str diff);

#endif
