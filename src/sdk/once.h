/* once.h - what a person is told once, and not at every start.
 *
 * A file for each thing that was said, named after its digest, below KEEL_HOME. Without such a
 * place everything is said each time. */
#ifndef KEEL_SDK_ONCE_H
#define KEEL_SDK_ONCE_H

#include "base/str.h"

/* Is this to be said now? Then it counts as said. `keel_home` may be empty. */
bool once_begin(struct str keel_home, struct str text) MUST_USE;

#endif
