/* fenced.h - JSON that a model has put into a fenced block of Markdown. Pure. */
#ifndef KEEL_MODEL_FENCED_H
#define KEEL_MODEL_FENCED_H

#include "base/str.h"

/* The text without white space around it; where it holds exactly one fenced block, and that one
 * names no language or JSON, what stands inside of the block. Words before and behind it are what
 * the model says to a person. Points into `text`. */
struct str fenced_json(struct str text);

#endif
