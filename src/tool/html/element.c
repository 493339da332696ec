/* element.c - answers questions about an element from its tag and attributes. */
#include "tool/html/tree.h"

static const GumboAttribute *find_attribute(const struct gumbo_api *api, const GumboNode *element,
                                            const char *name)
{
    return api->get_attribute(&element->v.element.attributes, name);
}

struct str html_attribute(const struct gumbo_api *api, const GumboNode *element, const char *name)
{
    const GumboAttribute *attribute = find_attribute(api, element, name);

    return attribute ? str_of(attribute->value) : (struct str){0};
}

bool html_has_attribute(const struct gumbo_api *api, const GumboNode *element, const char *name)
{
    return find_attribute(api, element, name) != NULL;
}

int64_t html_number(const struct gumbo_api *api, const GumboNode *element, const char *name,
                    int64_t low, int64_t high, int64_t otherwise)
{
    int64_t value;

    if (!str_to_int64(str_trim(html_attribute(api, element, name)), &value) || value < low ||
        value > high)
        return otherwise;
    return value;
}

/* Whether the style contains `wanted`, such as "display:none", which has no blanks. */
static bool style_says(struct str style, const char *wanted)
{
    size_t n = 0;

    for (size_t i = 0; i < style.n && wanted[n]; i++) {
        char c = style.p[i] >= 'A' && style.p[i] <= 'Z' ? (char)(style.p[i] + 32) : style.p[i];

        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f')
            continue;
        n = c == wanted[n] ? n + 1 : c == wanted[0];
    }
    return !wanted[n];
}

bool html_is_hidden(const struct gumbo_api *api, const GumboNode *element)
{
    struct str style = html_attribute(api, element, "style");

    return html_has_attribute(api, element, "hidden") ||
           str_eq_nocase(html_attribute(api, element, "aria-hidden"), S("true")) ||
           (style.n &&
            (style_says(style, "display:none") || style_says(style, "visibility:hidden")));
}

bool html_is_omitted(const struct gumbo_api *api, const GumboNode *node)
{
    if (node->type == GUMBO_NODE_TEMPLATE || node->type == GUMBO_NODE_COMMENT)
        return true;
    if (!html_is_element(node))
        return false;
    if (node->v.element.tag_namespace == GUMBO_NAMESPACE_SVG)
        return true;
    switch (html_tag(node)) {
    case GUMBO_TAG_HEAD:
    case GUMBO_TAG_TITLE:
    case GUMBO_TAG_SCRIPT:
    case GUMBO_TAG_STYLE:
    case GUMBO_TAG_TEMPLATE:
    case GUMBO_TAG_NOSCRIPT:
    case GUMBO_TAG_NOFRAMES:
    case GUMBO_TAG_NOEMBED:
    case GUMBO_TAG_IFRAME:
    case GUMBO_TAG_OBJECT:
    case GUMBO_TAG_EMBED:
    case GUMBO_TAG_APPLET:
    case GUMBO_TAG_CANVAS:
    case GUMBO_TAG_AUDIO:
    case GUMBO_TAG_VIDEO:
    case GUMBO_TAG_INPUT:
    case GUMBO_TAG_BUTTON:
    case GUMBO_TAG_SELECT:
    case GUMBO_TAG_TEXTAREA:
    case GUMBO_TAG_DATALIST:
    case GUMBO_TAG_PROGRESS:
    case GUMBO_TAG_METER:
        return true;
    default:
        return html_is_hidden(api, node);
    }
}

bool html_is_block(GumboTag tag)
{
    switch (tag) {
    case GUMBO_TAG_ADDRESS:
    case GUMBO_TAG_ARTICLE:
    case GUMBO_TAG_ASIDE:
    case GUMBO_TAG_BODY:
    case GUMBO_TAG_CAPTION:
    case GUMBO_TAG_CENTER:
    case GUMBO_TAG_DETAILS:
    case GUMBO_TAG_DIV:
    case GUMBO_TAG_DL:
    case GUMBO_TAG_FIELDSET:
    case GUMBO_TAG_FIGCAPTION:
    case GUMBO_TAG_FIGURE:
    case GUMBO_TAG_FOOTER:
    case GUMBO_TAG_FORM:
    case GUMBO_TAG_HEADER:
    case GUMBO_TAG_HGROUP:
    case GUMBO_TAG_LEGEND:
    case GUMBO_TAG_MAIN:
    case GUMBO_TAG_NAV:
    case GUMBO_TAG_P:
    case GUMBO_TAG_SECTION:
    case GUMBO_TAG_TABLE:
    case GUMBO_TAG_TR:
    case GUMBO_TAG_TD:
    case GUMBO_TAG_TH:
        return true;
    default:
        return false;
    }
}

static struct str language_in(struct str classes)
{
    static const struct str fronts[] = {{"language-", 9}, {"lang-", 5}};
    struct str name;

    while (str_split(&classes, ' ', &name)) {
        for (size_t i = 0; i < ARRAY_LEN(fronts); i++) {
            struct str language = str_skip(name, fronts[i].n);
            size_t n = 0;

            if (!str_starts(name, fronts[i]))
                continue;
            while (n < language.n && language.p[n] > ' ' && language.p[n] < 0x7F &&
                   language.p[n] != '`')
                n++;
            if (n && n == language.n && n <= 32)
                return language;
        }
    }
    return (struct str){0};
}

struct str html_code_language(const struct gumbo_api *api, const GumboNode *pre)
{
    const GumboVector *children = &pre->v.element.children;
    struct str language = language_in(html_attribute(api, pre, "class"));

    for (unsigned i = 0; i < children->length && !language.n; i++) {
        const GumboNode *child = children->data[i];

        if (html_tag(child) == GUMBO_TAG_CODE)
            return language_in(html_attribute(api, child, "class"));
    }
    return language;
}
