/* dylib.c - dlopen() and dlsym(), all or nothing. */
#include "sys/dylib.h"

#include <dlfcn.h>

/* dlerror() mostly begins with the library's name, which our text has already. */
static const char *reason(const char *soname)
{
    const char *why = dlerror();
    struct str rest = str_of(why);

    if (!why)
        return "no reason given";
    if (str_starts(rest, str_of(soname)) && str_starts(str_skip(rest, strlen(soname)), S(": ")))
        why += strlen(soname) + 2;
    return why;
}

/* Binding lazily spares what the library itself depends on: libcurl brings thirty libraries, and an
 * exchange calls into a few of them. */
static struct err *find_symbols(const char *soname, const struct dylib_symbol *symbols,
                                size_t n_symbols, void **found)
{
    void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);

    if (!library)
        return err_new(ERR_CONFIGURATION, "cannot load %s: %s", soname, reason(soname));
    for (size_t i = 0; i < n_symbols; i++) {
        found[i] = dlsym(library, symbols[i].name);
        if (!found[i])
            return err_new(ERR_CONFIGURATION, "cannot load %s: it has no symbol %s", soname,
                           symbols[i].name);
    }
    return NULL;
}

struct err *dylib_load(const char *soname, const char *package, const struct dylib_symbol *symbols,
                       size_t n_symbols)
{
    AUTO_FREE void **found = mem_alloc(n_symbols * sizeof *found);
    struct err *e = find_symbols(soname, symbols, n_symbols, found);

    if (e)
        return err_hint(e, "install the package %s", package);
    for (size_t i = 0; i < n_symbols; i++) /* two threads may be here with the same values */
        __atomic_store_n(symbols[i].slot, found[i], __ATOMIC_RELEASE);
    return NULL;
}
