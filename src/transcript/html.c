/* html.c - writes a transcript as one page: no script, nothing loaded from elsewhere, all text
 * escaped. */
#include "transcript/html_text.h"
#include "transcript/tool_face.h"
#include "transcript/words.h"
#include "transcript/writer.h"

#include "base/base64.h"
#include "base/clip.h"
#include "sys/clock.h"

#define HEAD_LINES 400
#define TAIL_LINES 200
#define SHOWN_CHARS ((size_t)96 << 10)
#define SHORT_DIFF_LINES 40
#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)
#define MAX_IMAGE_BYTES ((size_t)8 << 20)

enum html_place { OUTSIDE, IN_ANSWER };

struct html {
    struct writer writer;
    struct story *story;
    struct strbuf cwd; /* of the stream */
    struct md4c_api md4c;
    bool has_md4c;
    unsigned n_streams;
    enum html_place place;
    int64_t day; /* of the last message */
};

static struct strbuf *out_of(struct html *h)
{
    return &h->writer.out;
}

/* --- pieces --- */

static void add_time(struct strbuf *out, int64_t unix_ms)
{
    char iso[CLOCK_ISO_SIZE];

    clock_format_iso(unix_ms, iso);
    strbuf_addf(out, "<time datetime=\"%s\">", iso);
    words_add_time(out, unix_ms);
    strbuf_add_cstr(out, "</time>");
}

/* The first message of a day shows the day. */
static void add_hour(struct html *h, int64_t unix_ms)
{
    char iso[CLOCK_ISO_SIZE];
    int64_t day = unix_ms / DAY_MS;

    clock_format_iso(unix_ms, iso);
    strbuf_addf(out_of(h), "<time datetime=\"%s\">", iso);
    if (day != h->day)
        strbuf_addf(out_of(h), "%.10s ", iso);
    strbuf_addf(out_of(h), "%.5s</time>", iso + 11);
    h->day = day;
}

/* "m3", or "s2-m3" in the second stream. */
static void add_id(struct html *h, unsigned number)
{
    if (h->n_streams > 1)
        strbuf_addf(out_of(h), "s%u-", h->n_streams);
    strbuf_addf(out_of(h), "m%u", number);
}

static void begin_article(struct html *h, const struct story_item *item, const char *class,
                          const char *who)
{
    struct strbuf *out = out_of(h);

    strbuf_addf(out, "<article class=\"%s\" id=\"", class);
    add_id(h, item->number);
    strbuf_addf(out, "\">\n<div class=\"who\"><b>%s</b> ", who);
    if (item->model.n) {
        strbuf_add_cstr(out, "<span>");
        html_add(out, item->model);
        strbuf_add_cstr(out, "</span> ");
    }
    strbuf_add_cstr(out, "<a href=\"#");
    add_id(h, item->number);
    strbuf_add_cstr(out, "\">");
    add_hour(h, item->unix_ms);
    strbuf_add_cstr(out, "</a></div>\n");
}

static void leave_answer(struct html *h)
{
    if (h->place == IN_ANSWER)
        strbuf_add_cstr(out_of(h), "</article>\n");
    h->place = OUTSIDE;
}

/* Everything between two prompts is one answer, including tool calls. */
static void enter_answer(struct html *h, const struct story_item *item)
{
    if (h->place == IN_ANSWER)
        return;
    begin_article(h, item, "answer", "Agent");
    h->place = IN_ANSWER;
}

static void add_markdown(struct html *h, struct str text)
{
    strbuf_add_cstr(out_of(h), "<div class=\"text\">");
    html_add_markdown(out_of(h), text, h->has_md4c ? &h->md4c : NULL);
    strbuf_add_cstr(out_of(h), "</div>\n");
}

static bool is_picture(const struct media *m)
{
    static const char *const types[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(m->mime, types[i]))
            return m->source == MEDIA_BYTES && m->data.n && m->data.n <= MAX_IMAGE_BYTES;
    return false;
}

static void add_media(struct strbuf *out, const struct story_item *item)
{
    for (size_t i = 0; i < item->n_media; i++) {
        const struct media *m = &item->media[i].media;

        if (is_picture(m)) {
            strbuf_addf(out, "<img src=\"data:%" STR_FMT ";base64,", STR_ARG(m->mime));
            base64_add(out, m->data);
            strbuf_add_cstr(out, "\" alt=\"");
            html_add(out, m->name.n ? m->name : S("an image"));
            strbuf_add_cstr(out, "\">\n");
        } else {
            strbuf_add_cstr(out, "<p class=\"attachment\">");
            html_add(out, m->name.n ? m->name : m->mime);
            strbuf_add_cstr(out, "</p>\n");
        }
    }
}

/* --- tool calls --- */

static void add_diff_line(struct strbuf *out, struct str line)
{
    const char *class = "";

    if (line.n)
        class = line.p[0] == '+'              ? " class=\"add\""
                : line.p[0] == '-'            ? " class=\"del\""
                : str_starts(line, S("@@"))   ? " class=\"hunk\""
                : str_starts(line, S("*** ")) ? " class=\"hunk\""
                                              : "";
    strbuf_addf(out, "<span%s>", class);
    html_add(out, line);
    strbuf_add_cstr(out, "</span>");
}

static void add_diff(struct strbuf *out, struct str diff)
{
    struct str line;

    strbuf_add_cstr(out, "<pre class=\"diff\"><code>");
    diff = str_trim(diff);
    while (str_split(&diff, '\n', &line))
        add_diff_line(out, line);
    strbuf_add_cstr(out, "</code></pre>\n");
}

static void add_code(struct strbuf *out, struct str text, const char *language)
{
    AUTO(strbuf) struct strbuf lines = {0}, shown = {0};

    clip_lines(&lines, text, HEAD_LINES, TAIL_LINES);
    clip_middle(&shown, strbuf_str(&lines), SHOWN_CHARS);
    if (strcmp(language, "diff") == 0) {
        add_diff(out, strbuf_str(&shown));
        return;
    }
    strbuf_add_cstr(out, "<pre><code>");
    html_add(out, strbuf_str(&shown));
    strbuf_add_cstr(out, "</code></pre>\n");
}

static void add_todos(struct strbuf *out, const struct json *todos)
{
    static const char *const starts[] = {[TODO_OPEN] = "<li><i>○</i>",
                                         [TODO_ACTIVE] = "<li class=\"active\"><i>◐</i>",
                                         [TODO_DONE] = "<li class=\"done\"><i>●</i>"};

    strbuf_add_cstr(out, "<ul class=\"todos\">\n");
    json_each (todo, todos) {
        strbuf_add_cstr(out, starts[todo_state_of(todo)]);
        html_add(out, todo_text(todo));
        strbuf_add_cstr(out, "</li>\n");
    }
    strbuf_add_cstr(out, "</ul>\n");
}

static size_t count_lines(struct str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

static bool begins_open(const struct story_item *item, const struct tool_face *f)
{
    return f->todos || f->plan.n || item->n_media ||
           (strcmp(f->language, "diff") == 0 && count_lines(f->code) <= SHORT_DIFF_LINES);
}

static void add_outcome(struct strbuf *out, const struct story_item *item)
{
    const char *word = item->was_denied    ? "not allowed"
                       : item->is_error    ? "failed"
                       : !item->has_result ? "no result"
                                           : "";
    bool is_long = item->duration_ms >= WORDS_SHORT_MS;

    if (!*word && !is_long)
        return;
    strbuf_addf(out, " <span class=\"end\">%s%s", word, *word && is_long ? " · " : "");
    if (is_long)
        words_add_duration(out, item->duration_ms);
    strbuf_add_cstr(out, "</span>");
}

static void add_tool(struct html *h, const struct story_item *item)
{
    AUTO(arena) struct arena a = {0};
    struct strbuf *out = out_of(h);
    struct tool_face face = tool_face_of(&a, item, strbuf_str(&h->cwd));
    bool failed = item->is_error || item->was_denied;

    strbuf_addf(out, "<details class=\"tool%s\"%s><summary><b>", failed ? " failed" : "",
                begins_open(item, &face) ? " open" : "");
    html_add(out, item->tool);
    strbuf_add_cstr(out, "</b>");
    if (face.headline.n) {
        strbuf_add_cstr(out, " <code>");
        html_add(out, face.headline);
        strbuf_add_cstr(out, "</code>");
    }
    add_outcome(out, item);
    strbuf_add_cstr(out, "</summary><div>\n");
    if (face.todos)
        add_todos(out, face.todos);
    if (face.plan.n)
        add_markdown(h, face.plan);
    if (face.code.n)
        add_code(out, face.code, face.language);
    if (item->text.n && (failed || (!face.todos && !face.has_result)))
        add_code(out, item->text, "");
    add_media(out, item);
    strbuf_add_cstr(out, "</div></details>\n");
}

/* --- items --- */

static void add_prompt(struct html *h, const struct story_item *item)
{
    struct strbuf *out = out_of(h);

    leave_answer(h);
    begin_article(h, item, "prompt", "You");
    strbuf_add_cstr(out, "<div class=\"said\">");
    html_add(out, str_trim(item->text));
    strbuf_add_cstr(out, "</div>\n");
    add_media(out, item);
    strbuf_add_cstr(out, "</article>\n");
}

static void add_folded(struct html *h, const char *title, struct str text)
{
    strbuf_addf(out_of(h), "<details class=\"thinking\"><summary>%s</summary><div>\n", title);
    add_markdown(h, text);
    strbuf_add_cstr(out_of(h), "</div></details>\n");
}

static void add_source(struct strbuf *out, const struct story_item *item)
{
    bool is_link = html_url_is_safe(item->url);

    strbuf_add_cstr(out, "<p class=\"source\">");
    if (is_link) {
        strbuf_add_cstr(out, "<a rel=\"noreferrer noopener\" href=\"");
        html_add(out, item->url);
        strbuf_add_cstr(out, "\">");
    }
    html_add(out, item->title.n ? item->title : item->url);
    strbuf_add_cstr(out, is_link ? "</a></p>\n" : "</p>\n");
}

static void add_note(struct html *h, const struct story_item *item)
{
    static const char *const classes[] = {
        [TONE_PLAIN] = "mark", [TONE_WARNING] = "note", [TONE_ERROR] = "note error"};

    if (item->tone == TONE_PLAIN)
        leave_answer(h);
    strbuf_addf(out_of(h), "<div class=\"%s\">", classes[item->tone]);
    html_add(out_of(h), str_trim(item->text));
    strbuf_add_cstr(out_of(h), "</div>\n");
}

static void add_told(struct html *h, const struct story_item *item)
{
    struct strbuf *out = out_of(h);

    strbuf_add_cstr(out,
                    "<details class=\"tool\" open><summary><b>Told by keel</b></summary><div>\n");
    add_code(out, item->text, "");
    strbuf_add_cstr(out, "</div></details>\n");
}

static void html_add_item(void *self, const struct story_item *item)
{
    struct html *h = self;

    if (item->number && item->kind != STORY_PROMPT && item->kind != STORY_SUMMARY)
        enter_answer(h, item);
    switch (item->kind) {
    case STORY_PROMPT:
        add_prompt(h, item);
        break;
    case STORY_ANSWER:
        if (item->text.n)
            add_markdown(h, item->text);
        add_media(out_of(h), item);
        break;
    case STORY_REASONING:
        add_folded(h, "Thinking", item->text);
        break;
    case STORY_TOOL:
        add_tool(h, item);
        break;
    case STORY_SOURCE:
        add_source(out_of(h), item);
        break;
    case STORY_SUMMARY:
        add_folded(h, "Summary", item->text);
        break;
    case STORY_NOTE:
        add_note(h, item);
        break;
    case STORY_TOLD:
        add_told(h, item);
        break;
    }
}

/* --- the page --- */

static struct writer *html_new(void)
{
    struct html *h = mem_alloc(sizeof *h);
    AUTO(err) struct err *e = md4c_api_load(&h->md4c);

    h->has_md4c = !e; /* without it answers are shown unformatted */
    return &h->writer;
}

static void html_open(struct writer *w, const struct store_summary *root)
{
    strbuf_add_cstr(&w->out,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'; img-src data:\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"referrer\" content=\"no-referrer\">\n"
                    "<meta name=\"generator\" content=\"keel\">\n<title>");
    html_add(&w->out, words_title(root));
    strbuf_add_cstr(&w->out, "</title>\n<style>\n");
    strbuf_add_cstr(&w->out, html_style);
    strbuf_add_cstr(&w->out, "</style>\n</head>\n<body>\n<main>\n");
}

static void html_close(struct writer *w)
{
    strbuf_add_cstr(&w->out, "</main>\n</body>\n</html>\n");
}

static void add_fact(struct strbuf *out, const char *tag, struct str text)
{
    if (!text.n)
        return;
    strbuf_addf(out, "<%s>", tag);
    html_add(out, text);
    strbuf_addf(out, "</%s>", tag);
}

static void html_begin(struct writer *w, const struct store_summary *s, unsigned depth)
{
    struct html *h = (struct html *)w;
    const char *heading = depth ? "h2" : "h1";

    h->n_streams++;
    h->place = OUTSIDE;
    h->story = story_new(w->redaction, html_add_item, h);
    strbuf_clear(&h->cwd);
    strbuf_add(&h->cwd, s->cwd);
    strbuf_addf(&w->out, "<section>\n<header><%s>", heading);
    html_add(&w->out, words_title(s));
    strbuf_addf(&w->out, "</%s>\n<p class=\"meta\">", heading);
    add_time(&w->out, s->created_ms);
    add_fact(&w->out, "span", s->model);
    add_fact(&w->out, "code", s->cwd);
    add_fact(&w->out, "code", s->id);
    strbuf_add_cstr(&w->out, "</p>\n</header>\n");
}

static void html_event(struct writer *w, const struct event *e)
{
    story_event(((struct html *)w)->story, e);
}

static void html_end(struct writer *w)
{
    struct html *h = (struct html *)w;
    AUTO(strbuf) struct strbuf totals = {0};

    story_end(h->story);
    leave_answer(h);
    words_add_totals(&totals, story_totals(h->story));
    if (totals.n)
        strbuf_addf(&w->out, "<footer>%s</footer>\n", strbuf_cstr(&totals));
    strbuf_add_cstr(&w->out, "</section>\n");
    story_free(TAKE(h->story));
}

static void html_free(struct writer *w)
{
    struct html *h = (struct html *)w;

    story_free(h->story);
    strbuf_done(&h->cwd);
    mem_free(h);
}

const struct writer_ops writer_html = {html_new,   html_open, html_close, html_begin,
                                       html_event, html_end,  html_free,  story_unwanted};
