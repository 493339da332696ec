/* saved_catalogue.c - keeps what providers say about their models. */
#include "config/saved_catalogue.h"

#include "provider/model_list.h"
#include "sys/clock.h"
#include "sys/fs.h"

#define MAX_FILE ((size_t)8 << 20)

/* The numbers of a price and what they are called in the file. */
static const struct {
    const char *name;
    size_t offset;
    int64_t unknown;
} price_members[] = {
    {"input", offsetof(struct price, input), -1},
    {"output", offsetof(struct price, output), -1},
    {"cacheRead", offsetof(struct price, cache_read), -1},
    {"cacheWrite", offsetof(struct price, cache_write), -1},
    {"longFrom", offsetof(struct price, long_from), 0},
    {"longInputPercent", offsetof(struct price, long_input_percent), 0},
    {"longOutputPercent", offsetof(struct price, long_output_percent), 0},
    {"search", offsetof(struct price, search), 0},
    {"longCachePercent", offsetof(struct price, long_cache_percent), 0},
    {"searchRequest", offsetof(struct price, search_request), 0},
};

static int64_t *price_member(struct price *p, size_t i)
{
    return (int64_t *)((char *)p + price_members[i].offset);
}

static const char *path_of(struct arena *a, const char *home, const struct vendor *v)
{
    return fs_join(a, fs_join(a, home, "models"), arena_format(a, "%s.json", v->name).p);
}

/* --- writing --- */

/* A model that the provider lists is not gone, whatever was compiled in. */
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
    m->lifecycle = MAX(m->lifecycle, MIN(known->lifecycle, LIFECYCLE_DEPRECATED));
    m->source = known->source;
    m->last_verified = known->last_verified;
}

static void write_model(struct json_writer *w, const struct model_info *m)
{
    struct price price = m->price;

    jw_begin_object(w);
    jw_kv_str(w, "id", str_of(m->id));
    jw_kv_str(w, "name", str_of(m->name));
    jw_kv_int(w, "contextWindow", m->context_window);
    jw_kv_int(w, "maxOutput", m->max_output);
    jw_key(w, "microcentsPerMillion");
    jw_begin_object(w);
    for (size_t i = 0; i < ARRAY_LEN(price_members); i++)
        if (*price_member(&price, i) != price_members[i].unknown)
            jw_kv_int(w, price_members[i].name, *price_member(&price, i));
    jw_end_object(w);
    jw_kv_int(w, "capabilities", m->capabilities);
    jw_kv_str(w, "lifecycle", str_of(lifecycle_name(m->lifecycle)));
    if (m->source)
        jw_kv_str(w, "source", str_of(m->source));
    if (m->last_verified)
        jw_kv_str(w, "lastVerifiedAt", str_of(m->last_verified));
    jw_end_object(w);
}

struct err *saved_catalogue_write(const char *home, const struct vendor *v,
                                  struct model_list *models)
{
    AUTO(strbuf) struct strbuf out;
    AUTO(arena) struct arena a = {0};
    char now[CLOCK_ISO_SIZE];
    struct json_writer w;

    strbuf_init(&out, MAX_FILE);
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
    TRY(strbuf_check(&out, "the list of models"));
    TRY(fs_make_dirs(fs_join(&a, home, "models"), 0700));
    return fs_write_atomic(path_of(&a, home, v), strbuf_str(&out), 0600);
}

/* --- reading --- */

static const char *text_or_null(struct arena *a, const struct json *object, const char *key)
{
    struct str text = json_get_text(object, key);

    return text.n ? arena_cstr(a, text) : NULL;
}

static int64_t count_or_zero(const struct json *object, const char *key)
{
    return MAX(json_int_or(json_get(object, key), 0), 0);
}

static struct price read_price(const struct json *object)
{
    struct price p = {0};

    for (size_t i = 0; i < ARRAY_LEN(price_members); i++) {
        int64_t n = json_int_or(json_get(object, price_members[i].name), -1);

        *price_member(&p, i) = n >= 0 ? n : price_members[i].unknown;
    }
    return p;
}

static enum model_lifecycle read_lifecycle(struct str name)
{
    for (int l = LIFECYCLE_ACTIVE; l <= LIFECYCLE_RETIRED; l++)
        if (str_is(name, lifecycle_name((enum model_lifecycle)l)))
            return (enum model_lifecycle)l;
    return LIFECYCLE_ACTIVE;
}

static bool read_model(struct arena *a, const struct json *entry, struct model_info *ret)
{
    const char *id = text_or_null(a, entry, "id"), *name = text_or_null(a, entry, "name");

    if (!id)
        return false;
    *ret = (struct model_info){
        .id = id,
        .name = name ? name : id,
        .context_window = count_or_zero(entry, "contextWindow"),
        .max_output = count_or_zero(entry, "maxOutput"),
        .price = read_price(json_get(entry, "microcentsPerMillion")),
        .capabilities = (unsigned)count_or_zero(entry, "capabilities"),
        .lifecycle = read_lifecycle(json_get_text(entry, "lifecycle")),
        .source = text_or_null(a, entry, "source"),
        .last_verified = text_or_null(a, entry, "lastVerifiedAt"),
    };
    return true;
}

static bool read_root(struct arena *a, const char *path, struct json **ret_root)
{
    AUTO(strbuf) struct strbuf text;
    AUTO(err) struct err *e = NULL;
    struct json_where where;
    bool exists = false;

    strbuf_init(&text, MAX_FILE);
    e = fs_read(path, &text, &exists);
    return !e && exists &&
           json_parse_at(a, arena_str(a, strbuf_str(&text)), JSON_REPAIR_UTF8, ret_root, &where);
}

bool saved_catalogue_read(const char *home, const struct vendor *v, struct arena *a,
                          struct model_list *ret_models, struct str *ret_fetched_at)
{
    struct model_list models = {0};
    const struct json *list;
    struct json *root;

    if (!home || !*home || !read_root(a, path_of(a, home, v), &root))
        return false;
    list = json_get(root, "models");
    if (!json_is(list, JSON_ARRAY))
        return false;
    models.items = ARENA_ARRAY(a, MIN(list->n, (uint32_t)MODEL_LIST_MAX), struct model_info);
    json_each (entry, list)
        if (models.n < MODEL_LIST_MAX)
            models.n += read_model(a, entry, &models.items[models.n]);
    if (models.n == 0)
        return false;
    *ret_models = models;
    *ret_fetched_at = json_get_text(root, "fetchedAt");
    return true;
}

/* --- single models --- */

#define LEARNED_FILE "learned.json"
#define LEAST_WINDOW 2048 /* less than any agent can work with: not meant */
#define MOST_WINDOW 100000000
#define LEAST_OUTPUT 256

bool learned_model_check(struct learned_model *m)
{
    if (m->window < LEAST_WINDOW || m->window > MOST_WINDOW)
        return false;
    if (m->max_output < LEAST_OUTPUT || m->max_output >= m->window)
        m->max_output = 0;
    return true;
}

static const char *learned_path(struct arena *a, const char *home)
{
    return fs_join(a, fs_join(a, home, "models"), LEARNED_FILE);
}

static const struct json *read_learned(struct arena *a, const char *home)
{
    struct json *root;
    const struct json *list;

    if (!home || !*home || !read_root(a, learned_path(a, home), &root))
        return NULL;
    list = json_get(root, "models");
    return json_is(list, JSON_ARRAY) ? list : NULL;
}

static bool is_about(const struct json *entry, struct str base_url, struct str model)
{
    return str_eq(json_get_text(entry, "url"), base_url) &&
           str_eq(json_get_text(entry, "id"), model);
}

bool saved_catalogue_recall(const char *home, struct str base_url, struct str model,
                            struct learned_model *ret_learned)
{
    AUTO(arena) struct arena a = {0};

    json_each (entry, read_learned(&a, home)) {
        struct learned_model m = {count_or_zero(entry, "contextWindow"),
                                  count_or_zero(entry, "maxOutput"),
                                  count_or_zero(entry, "unixMs")};

        if (!is_about(entry, base_url, model) || !learned_model_check(&m))
            continue;
        *ret_learned = m;
        return true;
    }
    return false;
}

static void write_learned(struct json_writer *w, struct str base_url, struct str model,
                          const struct learned_model *m)
{
    jw_begin_object(w);
    jw_kv_str(w, "url", base_url);
    jw_kv_str(w, "id", model);
    jw_kv_int(w, "contextWindow", m->window);
    if (m->max_output)
        jw_kv_int(w, "maxOutput", m->max_output);
    jw_kv_int(w, "unixMs", m->unix_ms);
    jw_end_object(w);
}

/* The newest first, so that the oldest are those that have no place. */
struct err *saved_catalogue_learn(const char *home, struct str base_url, struct str model,
                                  const struct learned_model *learned)
{
    AUTO(strbuf) struct strbuf out;
    AUTO(arena) struct arena a = {0};
    struct json_writer w;
    size_t n = 1;

    if (!home || !*home)
        return NULL;
    strbuf_init(&out, MAX_FILE);
    jw_init(&w, &out);
    jw_begin_object(&w);
    jw_key(&w, "models");
    jw_begin_array(&w);
    write_learned(&w, base_url, model, learned);
    json_each (entry, read_learned(&a, home))
        if (json_is(entry, JSON_OBJECT) && !is_about(entry, base_url, model) &&
            n++ < SAVED_LEARNED_MAX)
            jw_json(&w, entry);
    jw_end_array(&w);
    jw_end_object(&w);
    TRY(strbuf_check(&out, "the list of models"));
    TRY(fs_make_dirs(fs_join(&a, home, "models"), 0700));
    return fs_write_atomic(learned_path(&a, home), strbuf_str(&out), 0600);
}
