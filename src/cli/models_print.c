/* models_print.c - lists of models, for people and as JSON. */
#include "cli/models.h"

#include "cli/command.h"
#include "cli/text.h"

#define MIN_ID_WIDTH 20
#define MAX_ID_WIDTH 36
#define LEGEND_WIDTH 80
#define DATE_CHARS 10 /* of an ISO time */

static bool is_shown(const struct models *m, const struct model_info *info)
{
    return info->lifecycle != LIFECYCLE_RETIRED || args_has(m->args, "all");
}

static void add_price(struct strbuf *out, int64_t microcents)
{
    bool is_whole_cents = microcents % (MICROCENTS_PER_USD / 100) == 0;

    if (microcents < 0)
        strbuf_addf(out, "%7s", "-");
    else
        strbuf_addf(out, is_whole_cents ? "%7.2f" : "%7.4g",
                    (double)microcents / MICROCENTS_PER_USD);
}

static void add_count(struct strbuf *out, int64_t n)
{
    char text[16] = "-";

    if (n > 0)
        token_count_format(n, text);
    strbuf_addf(out, "%7s", text);
}

/* A letter for each ability, so that a line fits a narrow terminal. */
static const struct {
    unsigned bit;
    const char *letter, *meaning;
} abilities[] = {
    {CAN_TOOLS, "t", "tools"},           {CAN_SEE_IMAGES, "i", "images"},
    {CAN_READ_PDF, "p", "PDF"},          {CAN_HEAR_AUDIO, "a", "audio"},
    {CAN_REASON, "r", "reasoning"},      {CAN_FOLLOW_SCHEMA, "s", "schemas"},
    {CAN_SEARCH_WEB, "w", "web-search"}, {CAN_FETCH_WEB, "f", "web-fetch"},
    {CAN_CACHE_PROMPT, "c", "caching"},  {CAN_MAKE_IMAGES, "o", "image-output"},
};

static void add_legend(struct strbuf *out)
{
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 0; i < ARRAY_LEN(abilities); i++)
        strbuf_addf(&text, "%s%s=%s", i ? " " : "", abilities[i].letter, abilities[i].meaning);
    strbuf_add_cstr(out, "\ncan: ");
    text_wrap(out, strbuf_str(&text), strlen("can: "), LEGEND_WIDTH);
    strbuf_add_char(out, '\n');
}

static void add_model(const struct vendor *v, const struct model_info *info, int id_width,
                      struct strbuf *out)
{
    strbuf_addf(out, "  %-*s", id_width, info->id);
    add_count(out, info->context_window);
    add_count(out, info->max_output);
    add_price(out, info->price.input);
    add_price(out, info->price.output);
    strbuf_add_cstr(out, "  ");
    for (size_t i = 0; i < ARRAY_LEN(abilities); i++)
        if (info->capabilities & abilities[i].bit)
            strbuf_add_cstr(out, abilities[i].letter);
    if (info->lifecycle != LIFECYCLE_ACTIVE)
        strbuf_addf(out, " %s", lifecycle_name(info->lifecycle));
    if (v->default_model && strcmp(info->id, v->default_model) == 0)
        strbuf_add_cstr(out, " (default)");
    strbuf_add_char(out, '\n');
}

/* Wide enough for all, unless providers have listed very long ones. */
static int longest_id(const struct models *m)
{
    size_t longest = MIN_ID_WIDTH;

    for (size_t i = 0; i < m->n; i++)
        for (size_t k = 0; k < m->listings[i].models.n; k++)
            longest = MAX(longest, strlen(m->listings[i].models.items[k].id));
    return (int)MIN(longest, (size_t)MAX_ID_WIDTH);
}

/* Which variables would do; the table has spaces between those that mean the same. */
static void add_set_up(const struct vendor *v, struct strbuf *out)
{
    struct str rest = str_of(v->key_env), name;
    const char *before = "  set ";

    if (v->key_need != KEY_REQUIRED || v->auth == AUTH_AWS || v->auth == AUTH_GOOGLE) {
        strbuf_addf(out, "  %s\n", v->setup_prompt);
        return;
    }
    for (; str_split(&rest, ' ', &name); before = " or ")
        strbuf_addf(out, "%s%" STR_FMT, before, STR_ARG(name));
    if (!v->base_url && v->base_url_env)
        strbuf_addf(out, " and %s", v->base_url_env);
    strbuf_addf(out, ": %s\n", vendor_setup_link(v));
}

static void add_heading(const struct models *m, const struct listing *l, struct strbuf *out)
{
    const struct vendor *v = l->vendor;

    strbuf_addf(out, "%s%s (%s)", out->n ? "\n" : "", v->display_name, v->name);
    if (l->status == CATALOGUE_LIVE)
        strbuf_add_cstr(out, ", as of now");
    if (l->status == CATALOGUE_GENERATED)
        strbuf_addf(out, ", as of %" STR_FMT, STR_ARG(str_slice(l->fetched_at, 0, DATE_CHARS)));
    if (l->status == CATALOGUE_FALLBACK)
        strbuf_addf(out, ", compiled in, verified %s", l->models.items[0].last_verified);
    strbuf_add_char(out, '\n');
    if (!models_is_set_up(m, v))
        add_set_up(v, out);
}

/* Of a server of one's own nothing is known before it is asked. */
static void add_any_model(const struct vendor *v, struct strbuf *out)
{
    strbuf_addf(out, "  any model: %s/NAME", v->name);
    if (v->models_path)
        strbuf_addf(out, " (see keel models %s --refresh)", v->name);
    strbuf_add_char(out, '\n');
}

static void add_listing(const struct models *m, const struct listing *l, int id_width,
                        struct strbuf *out)
{
    add_heading(m, l, out);
    if (l->models.n)
        strbuf_addf(out, "  %-*s%7s%7s%7s%7s  %s\n", id_width, "model", "window", "output", "$in/M",
                    "$out/M", "can");
    for (size_t i = 0; i < l->models.n; i++)
        if (is_shown(m, &l->models.items[i]))
            add_model(l->vendor, &l->models.items[i], id_width, out);
    if (l->models.n == 0)
        add_any_model(l->vendor, out);
}

/* --- JSON --- */

static void write_number(struct json_writer *w, const char *key, int64_t n, bool is_known)
{
    jw_key(w, key);
    if (is_known)
        jw_int(w, n);
    else
        jw_null(w);
}

static void write_model(struct json_writer *w, const struct model_info *info)
{
    AUTO(strbuf) struct strbuf can = {0};
    struct str rest, name;

    jw_begin_object(w);
    jw_kv_str(w, "id", str_of(info->id));
    jw_kv_str(w, "name", str_of(info->name ? info->name : info->id));
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
    jw_key(w, "models");
    jw_begin_array(w);
    for (size_t i = 0; i < l->models.n; i++)
        if (is_shown(m, &l->models.items[i]))
            write_model(w, &l->models.items[i]);
    jw_end_array(w);
    jw_end_object(w);
}

static bool has_models(const struct models *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->listings[i].models.n)
            return true;
    return false;
}

struct err *models_print(const struct models *m)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct json_writer w;

    if (args_has(m->args, "json")) {
        jw_init(&w, &out);
        jw_begin_object(&w);
        jw_key(&w, "vendors");
        jw_begin_array(&w);
        for (size_t i = 0; i < m->n; i++)
            write_listing(m, &m->listings[i], &w);
        jw_end_array(&w);
        jw_end_object(&w);
        strbuf_add_char(&out, '\n');
    } else {
        for (size_t i = 0; i < m->n; i++)
            add_listing(m, &m->listings[i], longest_id(m), &out);
        if (has_models(m))
            add_legend(&out);
    }
    /* names and dates come from providers */
    return cli_print_visible(strbuf_str(&out));
}
