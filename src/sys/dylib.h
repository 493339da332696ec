/* dylib.h - a shared library that is loaded on first use.
 *
 * A library that most commands do not need must not delay their start. So heavy libraries are not
 * linked: their functions are looked up by name into a struct of pointers. Thread-safe. A caller
 * that asks again does not wait while another library loads. */
#ifndef KEEL_SYS_DYLIB_H
#define KEEL_SYS_DYLIB_H

#include "base/err.h"

struct library {
    const char *name, *soname, *package; /* for people, the file, Debian's package */
};

struct dylib_symbol {
    const char *name; /* a literal */
    void **slot;
};

/* Opens `soname` and fills every slot; the error names the library, the missing symbol and the
 * Debian package. The library is never closed. */
MUST_USE struct err *dylib_load(const char *soname, const char *package,
                                const struct dylib_symbol *symbols, size_t n_symbols);

#endif
