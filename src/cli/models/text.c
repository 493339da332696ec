/* text.c - lists of models for a person: a table, or paragraphs on a narrow screen. */
#include "cli/models/models.h"

#include "cli/command.h"
#include "cli/output/text.h"

#define MIN_ID_WIDTH 20
#define MAX_ID_WIDTH 36
#define NUMBERS_WIDTH 32 /* of a line, with the blanks around them */
#define MIN_WORDS 12     /* with less room behind the numbers, a model takes several lines */
#define INDENT 2
#define DATE_CHARS 10 /* of an ISO time */

static void add_wrapped(struct strbuf *out, struct str text, size_t indent)
{
    strbuf_addf(out, "%*s", (int)indent, "");
    text_wrap(out, text, indent, cli_n_columns());
    strbuf_add_char(out, '\n');
}

static void add_price(struct strbuf *out, int64_t microcents)
{
    bool is_whole_cents = microcents % (MICROCENTS_PER_USD / 100) == 0;

    if (microcents < 0)
        strbuf_add_char(out, '-');
    else
        strbuf_addf(out, is_whole_cents ? "%.2f" : "%.4g", (double)microcents / MICROCENTS_PER_USD);
}

static void add_count(struct strbuf *out, int64_t n)
{
    char text[16] = "-";

    if (n > 0)
        token_count_format(n, text);
    strbuf_add_cstr(out, text);
}

/* --- what it can do --- */

static const struct {
    unsigned bit;
    const char *name;
} abilities[] = {
    {CAN_TOOLS, "tools"},           {CAN_SEE_IMAGES, "images"},
    {CAN_READ_PDF, "PDF"},          {CAN_HEAR_AUDIO, "audio"},
    {CAN_REASON, "reasoning"},      {CAN_FOLLOW_SCHEMA, "schemas"},
    {CAN_SEARCH_WEB, "web search"}, {CAN_FETCH_WEB, "web fetch"},
    {CAN_CACHE_PROMPT, "caching"},  {CAN_MAKE_IMAGES, "image output"},
};

static void add_abilities(struct strbuf *out, unsigned can)
{
    const char *before = "";

    for (size_t i = 0; i < ARRAY_LEN(abilities); i++) {
        if (!(can & abilities[i].bit))
            continue;
        strbuf_addf(out, "%s%s", before, abilities[i].name);
        before = ", ";
    }
}

/* Most models of a vendor can do the same: that is printed once. */
static unsigned common_abilities(const struct models *m, const struct listing *l)
{
    unsigned common = ~0u;
    bool any = false;

    for (size_t i = 0; i < l->models.n; i++) {
        if (!models_shows(m, &l->models.items[i]))
            continue;
        common &= l->models.items[i].capabilities;
        any = true;
    }
    return any ? common : 0;
}

/* --- one model --- */

/* "(default) (preview)" */
static void add_marks(struct strbuf *out, const struct vendor *v, const struct model_info *info)
{
    if (model_is_default(v, info))
        strbuf_add_cstr(out, " (default)");
    if (info->lifecycle != LIFECYCLE_ACTIVE)
        strbuf_addf(out, " (%s)", lifecycle_name(info->lifecycle));
}

static void add_cell(struct strbuf *out, int64_t value,
                     void (*add)(struct strbuf *out, int64_t value))
{
    AUTO(strbuf) struct strbuf text = {0};

    add(&text, value);
    strbuf_addf(out, "%7s", strbuf_cstr(&text));
}

static void add_row(const struct vendor *v, const struct model_info *info, unsigned common,
                    int id_width, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf words = {0};

    strbuf_addf(out, "%*s%-*s", INDENT, "", id_width, info->id);
    add_cell(out, info->context_window, add_count);
    add_cell(out, info->max_output, add_count);
    add_cell(out, info->price.input, add_price);
    add_cell(out, info->price.output, add_price);
    add_marks(&words, v, info);
    strbuf_add_char(&words, ' ');
    add_abilities(&words, info->capabilities & ~common);
    if (str_trim(strbuf_str(&words)).n)
        strbuf_add_cstr(out, "  ");
    text_wrap(out, str_trim(strbuf_str(&words)), (size_t)id_width + NUMBERS_WIDTH, cli_n_columns());
    strbuf_add_char(out, '\n');
}

/* Where there is no room for columns. */
static void add_paragraph(const struct vendor *v, const struct model_info *info, unsigned common,
                          struct strbuf *out)
{
    AUTO(strbuf) struct strbuf name = {0}, text = {0}, also = {0};

    strbuf_add_cstr(&name, info->id);
    add_marks(&name, v, info);
    add_wrapped(out, strbuf_str(&name), INDENT);
    strbuf_add_cstr(&text, "window ");
    add_count(&text, info->context_window);
    strbuf_add_cstr(&text, ", output ");
    add_count(&text, info->max_output);
    strbuf_add_cstr(&text, ", $in/M ");
    add_price(&text, info->price.input);
    strbuf_add_cstr(&text, ", $out/M ");
    add_price(&text, info->price.output);
    add_abilities(&also, info->capabilities & ~common);
    if (also.n)
        strbuf_addf(&text, "; also %s", strbuf_cstr(&also));
    add_wrapped(out, strbuf_str(&text), (size_t)2 * INDENT);
}

/* --- one vendor --- */

/* Wide enough for all, unless a provider has listed very long ones. */
static int longest_id(const struct models *m, const struct listing *l)
{
    size_t longest = MIN_ID_WIDTH;

    for (size_t i = 0; i < l->models.n; i++)
        if (models_shows(m, &l->models.items[i]))
            longest = MAX(longest, strlen(l->models.items[i].id));
    return (int)MIN(longest, (size_t)MAX_ID_WIDTH);
}

static void add_models(const struct models *m, const struct listing *l, struct strbuf *out)
{
    unsigned common = common_abilities(m, l);
    int id_width = longest_id(m, l);
    size_t needed = (size_t)id_width + NUMBERS_WIDTH + MIN_WORDS;
    bool is_narrow = cli_n_columns() && cli_n_columns() < needed;
    AUTO(strbuf) struct strbuf can = {0};

    strbuf_add_cstr(&can, "all can: ");
    add_abilities(&can, common);
    if (!str_ends(strbuf_str(&can), S(": ")))
        add_wrapped(out, strbuf_str(&can), INDENT);
    if (!is_narrow)
        strbuf_addf(out, "%*s%-*s%7s%7s%7s%7s  %s\n", INDENT, "", id_width, "model", "window",
                    "output", "$in/M", "$out/M", "also");
    for (size_t i = 0; i < l->models.n; i++) {
        const struct model_info *info = &l->models.items[i];

        if (models_shows(m, info) && is_narrow)
            add_paragraph(l->vendor, info, common, out);
        else if (models_shows(m, info))
            add_row(l->vendor, info, common, id_width, out);
    }
}

/* Which variables would do; the table has spaces between those that mean the same. */
static void add_set_up(const struct vendor *v, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct str rest = str_of(v->key_env), name;
    const char *before = "set ";

    if (v->key_need != KEY_REQUIRED || v->auth == AUTH_AWS || v->auth == AUTH_GOOGLE) {
        add_wrapped(out, str_of(v->setup_prompt), INDENT);
        return;
    }
    for (; str_split(&rest, ' ', &name); before = " or ")
        strbuf_addf(&text, "%s%" STR_FMT, before, STR_ARG(name));
    if (!v->base_url && v->base_url_env)
        strbuf_addf(&text, " and %s", v->base_url_env);
    strbuf_addf(&text, ": %s", vendor_setup_link(v));
    add_wrapped(out, strbuf_str(&text), INDENT);
}

static void add_heading(const struct models *m, const struct listing *l, struct strbuf *out)
{
    const struct vendor *v = l->vendor;
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text, "%s (%s)", v->display_name, v->name);
    if (l->status == CATALOGUE_LIVE)
        strbuf_add_cstr(&text, ", as of now");
    if (l->status == CATALOGUE_GENERATED)
        strbuf_addf(&text, ", as of %" STR_FMT, STR_ARG(str_slice(l->fetched_at, 0, DATE_CHARS)));
    if (l->status == CATALOGUE_FALLBACK)
        strbuf_addf(&text, ", compiled in, verified %s", l->models.items[0].last_verified);
    if (out->n)
        strbuf_add_char(out, '\n');
    add_wrapped(out, strbuf_str(&text), 0);
    if (!models_is_set_up(m, v))
        add_set_up(v, out);
}

/* Of a server of one's own nothing is known before it is asked. */
static void add_any_model(const struct vendor *v, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text, "any model: %s/NAME", v->name);
    if (v->models_path)
        strbuf_addf(&text, " (see keel models %s --refresh)", v->name);
    add_wrapped(out, strbuf_str(&text), INDENT);
}

static bool lists_default(const struct models *m, const struct listing *l)
{
    for (size_t i = 0; i < l->models.n; i++)
        if (models_shows(m, &l->models.items[i]) &&
            model_is_default(l->vendor, &l->models.items[i]))
            return true;
    return false;
}

static void add_listing(const struct models *m, const struct listing *l, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf text = {0};

    add_heading(m, l, out);
    if (l->models.n)
        add_models(m, l, out);
    else
        add_any_model(l->vendor, out);
    if (!l->vendor->default_model || lists_default(m, l))
        return;
    strbuf_addf(&text, "default: %s", l->vendor->default_model);
    add_wrapped(out, strbuf_str(&text), INDENT);
}

void models_add_text(const struct models *m, struct strbuf *out)
{
    for (size_t i = 0; i < m->n; i++)
        add_listing(m, &m->listings[i], out);
}
