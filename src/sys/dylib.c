/* dylib.c - dlopen() and dlsym(), all or nothing. */
#include "sys/dylib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* --- libraries found before --- */

/* The loader has one lock, and holds it while a library and its dependencies load. So what was
 * found once is not looked up again. */
struct found_library {
    const struct found_library *next;
    const char *soname; /* a literal, as the names are */
    size_t n;
    struct {
        const char *name;
        void *address;
    } symbols[];
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct found_library *all_found; /* only grows, like the loader's own list */

static bool holds(const struct found_library *l, const char *soname,
                  const struct dylib_symbol *symbols, size_t n)
{
    size_t i = 0;

    if (strcmp(l->soname, soname) != 0 || l->n != n)
        return false;
    while (i < n && strcmp(l->symbols[i].name, symbols[i].name) == 0)
        i++;
    return i == n;
}

static bool find_again(const char *soname, const struct dylib_symbol *symbols, size_t n,
                       void **found)
{
    const struct found_library *l;

    pthread_mutex_lock(&lock);
    l = all_found;
    pthread_mutex_unlock(&lock);
    while (l && !holds(l, soname, symbols, n))
        l = l->next;
    for (size_t i = 0; l && i < n; i++)
        found[i] = l->symbols[i].address;
    return l != NULL;
}

static void keep_found(const char *soname, const struct dylib_symbol *symbols, size_t n,
                       void *const *found)
{
    struct found_library *l = mem_alloc(sizeof *l + n * sizeof l->symbols[0]);

    l->soname = soname;
    l->n = n;
    for (size_t i = 0; i < n; i++) {
        l->symbols[i].name = symbols[i].name;
        l->symbols[i].address = found[i];
    }
    pthread_mutex_lock(&lock);
    l->next = all_found;
    all_found = l;
    pthread_mutex_unlock(&lock);
}

/* --- finding --- */

/* dlerror() usually begins with the library's name, which this message already has. */
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

/* Lazy binding avoids work for dependencies: libpq loads thirty libraries, and calls into a few of
 * them. */
static struct err *find_symbols(const char *soname, const struct dylib_symbol *symbols,
                                size_t n_symbols, void **found)
{
    void *library;

    if (find_again(soname, symbols, n_symbols, found))
        return NULL;
    library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return err_new(ERR_CONFIGURATION, "cannot load %s: %s", soname, reason(soname));
    for (size_t i = 0; i < n_symbols; i++) {
        found[i] = dlsym(library, symbols[i].name);
        if (!found[i])
            return err_new(ERR_CONFIGURATION, "cannot load %s: it has no symbol %s", soname,
                           symbols[i].name);
    }
    keep_found(soname, symbols, n_symbols, found);
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
