/* saved_catalogue.c - keeps what providers say about their models. */
#include "sdk/saved_catalogue.h"

#include "sys/clock.h"
#include "sys/fs.h"

#define MAX_FILE ((size_t)8 << 20)

static const char *path_of(struct arena *a, const char *home, const struct vendor *v)
{
    return fs_join(a, fs_join(a, home, "models"), arena_format(a, "%s.json", v->name).p);
}

static void fill_in(const struct vendor *v, struct model_info *m)
{
    const struct model_info *known = vendor_find_model(v, str_of(m->id));

    if (!known)
        return;
    if (m->context_window <= 0)
        m->context_window = known->context_window;
    if (m->max_output <= 0)
        m->max_output = known->max_output;
    if (m->price.input < 0)
        m->price = known->price;
    m->capabilities |= known->capabilities;
    m->lifecycle = known->lifecycle;
    m->source = known->source;
    m->last_verified = known->last_verified;
}

static void write_model(struct json_writer *w, const struct model_info *m)
{
    jw_begin_object(w);
    jw_kv_str(w, "id", str_of(m->id));
    jw_kv_str(w, "name", str_of(m->name));
    jw_kv_int(w, "contextWindow", m->context_window);
    jw_kv_int(w, "maxOutput", m->max_output);
    jw_key(w, "price");
    jw_begin_array(w);
    jw_int(w, m->price.input);
    jw_int(w, m->price.output);
    jw_int(w, m->price.cache_read);
    jw_int(w, m->price.cache_write);
    jw_end_array(w);
    jw_kv_int(w, "capabilities", m->capabilities);
    jw_kv_int(w, "lifecycle", m->lifecycle);
    jw_end_object(w);
}

struct err *saved_catalogue_write(const char *home, const struct vendor *v,
                                  struct model_list *models)
{
    AUTO(strbuf) struct strbuf out = {0};
    AUTO(arena) struct arena a = {0};
    char now[CLOCK_ISO_SIZE];
    struct json_writer w;

    for (size_t i = 0; i < models->n; i++)
        fill_in(v, &models->items[i]);
    if (!home || !*home)
        return NULL;
    clock_format_iso(clock_unix_ms(&clock_system), now);
    jw_init(&w, &out);
    jw_begin_object(&w);
    jw_kv_str(&w, "fetchedAt", str_of(now));
    jw_key(&w, "models");
    jw_begin_array(&w);
    for (size_t i = 0; i < models->n; i++)
        write_model(&w, &models->items[i]);
    jw_end_array(&w);
    jw_end_object(&w);
    TRY(fs_make_dirs(fs_join(&a, home, "models"), 0700));
    return fs_write_atomic(path_of(&a, home, v), strbuf_str(&out), 0600);
}

static struct model_info read_model(struct arena *a, const struct json *v)
{
    const struct json *price = json_get(v, "price");

    return (struct model_info){
        .id = arena_cstr(a, json_get_text(v, "id")),
        .name = arena_cstr(a, json_get_text(v, "name")),
        .context_window = json_int_or(json_get(v, "contextWindow"), 0),
        .max_output = json_int_or(json_get(v, "maxOutput"), 0),
        .price = {json_int_or(json_at(price, 0), -1), json_int_or(json_at(price, 1), -1),
                  json_int_or(json_at(price, 2), -1), json_int_or(json_at(price, 3), -1)},
        .capabilities = (unsigned)json_int_or(json_get(v, "capabilities"), 0),
        .lifecycle = json_int_or(json_get(v, "lifecycle"), 0) == LIFECYCLE_DEPRECATED
                         ? LIFECYCLE_DEPRECATED
                         : LIFECYCLE_ACTIVE,
    };
}

bool saved_catalogue_read(const char *home, const struct vendor *v, struct arena *a,
                          struct model_list *ret_models, struct str *ret_fetched_at)
{
    AUTO(strbuf) struct strbuf text;
    AUTO(err) struct err *e = NULL;
    const struct json *list;
    struct json_where where;
    struct json *root;
    bool exists = false;

    strbuf_init(&text, MAX_FILE);
    e = fs_read(path_of(a, home, v), &text, &exists);
    if (e || !exists ||
        !json_parse_at(a, arena_str(a, strbuf_str(&text)), JSON_REPAIR_UTF8, &root, &where))
        return false;
    list = json_get(root, "models");
    *ret_fetched_at = json_get_text(root, "fetchedAt");
    *ret_models =
        (struct model_list){.items = ARENA_ARRAY(a, (list ? list->n : 0) + 1, struct model_info)};
    json_each (entry, list)
        if (json_get_text(entry, "id").n)
            ret_models->items[ret_models->n++] = read_model(a, entry);
    return ret_models->n > 0;
}
