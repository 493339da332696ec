/* json.c - lists of models as one JSON object. */
#include "cli/models/models.h"

static void write_number(struct json_writer *w, const char *key, int64_t n, bool is_known)
{
    jw_key(w, key);
    if (is_known)
        jw_int(w, n);
    else
        jw_null(w);
}

static void write_model(struct json_writer *w, const struct vendor *v,
                        const struct model_info *info)
{
    AUTO(strbuf) struct strbuf can = {0};
    struct str rest, name;

    jw_begin_object(w);
    jw_kv_str(w, "id", str_of(info->id));
    jw_kv_str(w, "name", str_of(info->name ? info->name : info->id));
    jw_kv_bool(w, "default", model_is_default(v, info));
    write_number(w, "contextWindow", info->context_window, info->context_window > 0);
    write_number(w, "maxOutput", info->max_output, info->max_output > 0);
    jw_key(w, "microcentsPerMillion");
    jw_begin_object(w);
    write_number(w, "input", info->price.input, info->price.input >= 0);
    write_number(w, "output", info->price.output, info->price.output >= 0);
    write_number(w, "cacheRead", info->price.cache_read, info->price.cache_read >= 0);
    write_number(w, "cacheWrite", info->price.cache_write, info->price.cache_write >= 0);
    jw_end_object(w);
    jw_kv_str(w, "lifecycle", str_of(lifecycle_name(info->lifecycle)));
    capability_names(info->capabilities, &can);
    jw_key(w, "capabilities");
    jw_begin_array(w);
    rest = strbuf_str(&can);
    while (can.n && str_split(&rest, ' ', &name))
        jw_str(w, name);
    jw_end_array(w);
    if (info->source)
        jw_kv_str(w, "source", str_of(info->source));
    if (info->last_verified)
        jw_kv_str(w, "lastVerifiedAt", str_of(info->last_verified));
    jw_end_object(w);
}

static void write_listing(const struct models *m, const struct listing *l, struct json_writer *w)
{
    jw_begin_object(w);
    jw_kv_str(w, "vendor", str_of(l->vendor->name));
    jw_kv_str(w, "displayName", str_of(l->vendor->display_name));
    jw_kv_str(w, "protocol", str_of(l->vendor->protocol->name));
    jw_kv_str(w, "status", str_of(catalogue_status_name(l->status)));
    if (l->fetched_at.n)
        jw_kv_str(w, "fetchedAt", l->fetched_at);
    if (l->problem)
        jw_kv_str(w, "problem", str_of(err_code(l->problem->kind)));
    jw_key(w, "defaultModel");
    if (l->vendor->default_model)
        jw_str(w, str_of(l->vendor->default_model));
    else
        jw_null(w);
    jw_key(w, "models");
    jw_begin_array(w);
    for (size_t i = 0; i < l->models.n; i++)
        if (models_shows(m, &l->models.items[i]))
            write_model(w, l->vendor, &l->models.items[i]);
    jw_end_array(w);
    jw_end_object(w);
}

void models_add_json(const struct models *m, struct strbuf *out)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_object(&w);
    jw_key(&w, "vendors");
    jw_begin_array(&w);
    for (size_t i = 0; i < m->n; i++)
        write_listing(m, &m->listings[i], &w);
    jw_end_array(&w);
    jw_end_object(&w);
    strbuf_add_char(out, '\n');
}
