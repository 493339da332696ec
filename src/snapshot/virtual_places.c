/* virtual_places.c - reads the table of mounts. */
#include "snapshot/virtual_places.h"

#include "sys/mounts.h"

static bool is_below(struct str path, const char *root)
{
    size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);

    return str_starts(path, str_make(root, n)) && (path.n == n || path.p[n] == '/');
}

/* A mount that is covered by another one is not visible. */
static void add_places_below(struct virtual_places *v, const struct mount_table *t,
                             const char *root)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct mount_entry *e = &t->entries[i];

        if (mount_entry_is_virtual(e) && is_below(e->place, root) &&
            mount_table_find(t, e->place) == e)
            path_table_put(&v->table, e->place);
    }
}

void virtual_places_find(struct virtual_places *v, const char *const *roots, size_t n_roots)
{
    struct mounts mounts = MOUNTS_NONE;
    const struct mount_table *t = NULL;

    *v = (struct virtual_places){0};
    err_ignore(mounts_look(&mounts, &t), "inside another sandbox; then none is known");
    for (size_t i = 0; i < n_roots && t; i++) {
        const struct mount_entry *around = mount_table_find(t, str_of(roots[i]));

        if (around && mount_entry_is_virtual(around))
            path_table_put(&v->table, str_of(roots[i]));
        add_places_below(v, t, roots[i]);
    }
    mounts_done(&mounts);
}

void virtual_places_done(struct virtual_places *v)
{
    path_table_done(&v->table);
}

bool virtual_places_has(const struct virtual_places *v, struct str path)
{
    return v->table.n && path_table_find(&v->table, path);
}

bool virtual_places_hold(const struct virtual_places *v, struct str path)
{
    while (v->table.n && path.n) {
        size_t slash = str_rfind_char(path, '/');

        if (virtual_places_has(v, path))
            return true;
        path = str_slice(path, 0, slash == STR_NONE ? 0 : slash);
    }
    return virtual_places_has(v, S("/"));
}

/* --- walks --- */

void add_walked_path(struct strbuf *out, const char *root, struct str relative)
{
    strbuf_addf(out, "%s%s%" STR_FMT, strcmp(root, "/") == 0 ? "" : root, relative.n ? "/" : "",
                STR_ARG(relative));
}

bool virtual_filter_leaves_out(void *self, struct str relative, bool is_dir)
{
    const struct virtual_filter *f = self;
    AUTO(strbuf) struct strbuf path = {0};

    if (!is_dir || !f->places->table.n)
        return false;
    add_walked_path(&path, f->root, relative);
    return virtual_places_has(f->places, strbuf_str(&path));
}
