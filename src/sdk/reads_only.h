/* reads_only.h - is it certain that a line of bash writes no file? Pure.
 *
 * Saves the cost of a snapshot, so it need not know much, but must never be wrong in this
 * direction: every command of the line must be in a short list, with options that do nothing else,
 * and the line must be one that can be split for sure. */
#ifndef KEEL_SDK_READS_ONLY_H
#define KEEL_SDK_READS_ONLY_H

#include "base/str.h"

bool command_reads_only(struct str line);

#endif
