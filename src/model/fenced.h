/* fenced.h - JSON that a model put into a fenced block of Markdown. Pure. */
#ifndef KEEL_MODEL_FENCED_H
#define KEEL_MODEL_FENCED_H

#include "base/str.h"

/* The trimmed text; or, if it has exactly one fenced block without a language or with JSON, the
 * content of the block. Words around the block are for people. Points into `text`. */
struct str fenced_json(struct str text);

#endif
