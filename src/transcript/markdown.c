/* markdown.c - writes a transcript as a Markdown document: prompts are headings, answers are
 * unchanged, a tool call is a line and its result. */
#include "transcript/tool_face.h"
#include "transcript/words.h"
#include "transcript/writer.h"

#include "base/clip.h"
#include "base/utf8.h"

#define HEAD_LINES 20
#define TAIL_LINES 10
#define LINE_CHARS 400
#define HEADING_BYTES 100
#define MIN_FENCE 3

struct markdown {
    struct writer writer;
    struct story *story;
    struct strbuf cwd; /* of the stream */
    unsigned depth;
};

/* --- pieces --- */

/* One line of plain text. */
static void add_escaped(struct strbuf *out, struct str text)
{
    AUTO(strbuf) struct strbuf clean = {0};

    words_add_clean(&clean, text);
    for (size_t i = 0; i < clean.n; i++) {
        char c = clean.p[i];

        if (c == '\n' || c == '\t')
            c = ' ';
        if (strchr("\\`*_[]<>#|~&$", c))
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, c);
    }
}

static size_t longest_run(struct str text, char c)
{
    size_t longest = 0, run = 0;

    for (size_t i = 0; i < text.n; i++) {
        run = text.p[i] == c ? run + 1 : 0;
        longest = MAX(longest, run);
    }
    return longest;
}

static void add_run(struct strbuf *out, char c, size_t n)
{
    while (n-- > 0)
        strbuf_add_char(out, c);
}

/* In one line, whatever it holds. */
static void add_code_span(struct strbuf *out, struct str text)
{
    AUTO(strbuf) struct strbuf clean = {0};
    size_t n_ticks;

    words_add_clean(&clean, text);
    for (size_t i = 0; i < clean.n; i++)
        if (clean.p[i] == '\n')
            clean.p[i] = ' ';
    n_ticks = longest_run(strbuf_str(&clean), '`') + 1;
    add_run(out, '`', n_ticks);
    if (n_ticks > 1)
        strbuf_add_char(out, ' ');
    strbuf_add(out, strbuf_str(&clean));
    if (n_ticks > 1)
        strbuf_add_char(out, ' ');
    add_run(out, '`', n_ticks);
}

/* Head and tail of it, with long lines cut. */
static void clip(struct strbuf *out, struct str text)
{
    AUTO(strbuf) struct strbuf clean = {0}, lines = {0};
    struct str rest, line;

    words_add_clean(&clean, text);
    clip_lines(&lines, strbuf_str(&clean), HEAD_LINES, TAIL_LINES);
    rest = strbuf_str(&lines);
    while (str_split(&rest, '\n', &line)) {
        clip_line(out, line, LINE_CHARS);
        if (rest.p)
            strbuf_add_char(out, '\n');
    }
}

static void add_fenced(struct strbuf *out, struct str text, const char *language)
{
    AUTO(strbuf) struct strbuf shown = {0};
    size_t n;

    clip(&shown, text);
    n = MAX(longest_run(strbuf_str(&shown), '`') + 1, (size_t)MIN_FENCE);
    add_run(out, '`', n);
    strbuf_addf(out, "%s\n", language);
    strbuf_add(out, strbuf_str(&shown));
    if (shown.n && shown.p[shown.n - 1] != '\n')
        strbuf_add_char(out, '\n');
    add_run(out, '`', n);
    strbuf_add_cstr(out, "\n\n");
}

static void add_quoted(struct strbuf *out, struct str text)
{
    AUTO(strbuf) struct strbuf clean = {0};
    struct str rest, line;

    words_add_clean(&clean, text);
    rest = strbuf_str(&clean);
    while (str_split(&rest, '\n', &line))
        strbuf_addf(out, line.n ? "> %" STR_FMT "\n" : ">%" STR_FMT "\n", STR_ARG(line));
    strbuf_add_char(out, '\n');
}

/* The characters that open or close a block of code, if this line does; else 0. */
static size_t fence_of(struct str line, char *ret_mark)
{
    size_t at = 0, n = 0;

    while (at < line.n && line.p[at] == ' ')
        at++;
    if (at > 3 || at == line.n || (line.p[at] != '`' && line.p[at] != '~'))
        return 0;
    *ret_mark = line.p[at];
    while (at + n < line.n && line.p[at + n] == *ret_mark)
        n++;
    return n >= MIN_FENCE ? n : 0;
}

/* The text is a document of its own: a code block that it leaves open must not swallow the rest. */
static void add_markdown(struct strbuf *out, struct str text)
{
    AUTO(strbuf) struct strbuf clean = {0};
    struct str rest, line;
    size_t open = 0;
    char mark = 0, open_mark = 0;

    words_add_clean(&clean, text);
    rest = strbuf_str(&clean);
    while (str_split(&rest, '\n', &line)) {
        size_t n = fence_of(line, &mark);

        if (n && !open) {
            open = n;
            open_mark = mark;
        } else if (n >= open && mark == open_mark) {
            open = 0;
        }
    }
    strbuf_add(out, str_trim(strbuf_str(&clean)));
    if (open) {
        strbuf_add_char(out, '\n');
        add_run(out, open_mark, open);
    }
    strbuf_add_cstr(out, "\n\n");
}

static void add_folded(struct strbuf *out, const char *title, struct str text)
{
    strbuf_addf(out, "<details><summary>%s</summary>\n\n", title);
    add_markdown(out, text);
    strbuf_add_cstr(out, "</details>\n\n");
}

static void add_media(struct strbuf *out, const struct story_item *item)
{
    for (size_t i = 0; i < item->n_media; i++) {
        const struct media *m = &item->media[i].media;

        strbuf_add_cstr(out, "*\\[");
        add_escaped(out, m->name.n ? m->name : m->mime);
        strbuf_add_cstr(out, "\\]*\n\n");
    }
}

/* --- items --- */

static void add_prompt(struct markdown *m, const struct story_item *item)
{
    struct strbuf *out = &m->writer.out;
    struct str text = str_trim(item->text);
    size_t end = str_find_char(text, '\n');
    struct str line =
        utf8_truncate(str_slice(text, 0, end == STR_NONE ? text.n : end), HEADING_BYTES);

    strbuf_add_cstr(out, m->depth ? "### " : "## ");
    add_escaped(out, line.n ? line : S("(no text)"));
    strbuf_add_cstr(out, line.n < text.n ? " …\n\n" : "\n\n");
    if (line.n < text.n)
        add_quoted(out, text);
    add_media(out, item);
}

static void add_todos(struct strbuf *out, const struct json *todos)
{
    static const char *const boxes[] = {
        [TODO_OPEN] = "[ ]", [TODO_ACTIVE] = "[ ] ▸", [TODO_DONE] = "[x]"};

    json_each (todo, todos) {
        strbuf_addf(out, "- %s ", boxes[todo_state_of(todo)]);
        add_escaped(out, todo_text(todo));
        strbuf_add_char(out, '\n');
    }
    strbuf_add_char(out, '\n');
}

static void add_outcome(struct strbuf *out, const struct story_item *item)
{
    if (item->was_denied)
        strbuf_add_cstr(out, " · not allowed");
    else if (item->is_error)
        strbuf_add_cstr(out, " · failed");
    else if (!item->has_result)
        strbuf_add_cstr(out, " · no result");
    if (item->duration_ms >= WORDS_SHORT_MS) {
        strbuf_add_cstr(out, " · ");
        words_add_duration(out, item->duration_ms);
    }
    strbuf_add_cstr(out, "\n\n");
}

static void add_tool(struct markdown *m, const struct story_item *item)
{
    AUTO(arena) struct arena a = {0};
    struct strbuf *out = &m->writer.out;
    struct tool_face face = tool_face_of(&a, item, strbuf_str(&m->cwd));

    strbuf_add_cstr(out, "**");
    add_escaped(out, item->tool);
    strbuf_add_cstr(out, "**");
    if (face.headline.n) {
        strbuf_add_char(out, ' ');
        add_code_span(out, face.headline);
    }
    add_outcome(out, item);
    if (face.todos)
        add_todos(out, face.todos);
    if (face.plan.n)
        add_markdown(out, face.plan);
    if (face.code.n)
        add_fenced(out, face.code, face.language);
    if (item->text.n && !face.todos && !face.has_result)
        add_fenced(out, item->text, "text");
    add_media(out, item);
}

static void add_source(struct strbuf *out, const struct story_item *item)
{
    strbuf_add_cstr(out, "- ");
    add_escaped(out, item->title.n ? item->title : item->url);
    if (item->title.n && item->url.n) {
        strbuf_add_cstr(out, ": ");
        add_code_span(out, item->url);
    }
    strbuf_add_cstr(out, "\n\n");
}

static void add_note(struct strbuf *out, const struct story_item *item)
{
    static const char *const marks[] = {
        [TONE_PLAIN] = "---\n\n*", [TONE_WARNING] = "**Note:** *", [TONE_ERROR] = "**Error:** *"};

    strbuf_add_cstr(out, marks[item->tone]);
    add_escaped(out, str_trim(item->text));
    strbuf_add_cstr(out, "*\n\n");
}

static void markdown_add_item(void *self, const struct story_item *item)
{
    struct markdown *m = self;
    struct strbuf *out = &m->writer.out;

    switch (item->kind) {
    case STORY_PROMPT:
        add_prompt(m, item);
        break;
    case STORY_ANSWER:
        if (item->text.n)
            add_markdown(out, item->text);
        add_media(out, item);
        break;
    case STORY_REASONING:
        add_folded(out, "Thinking", item->text);
        break;
    case STORY_TOOL:
        add_tool(m, item);
        break;
    case STORY_SOURCE:
        add_source(out, item);
        break;
    case STORY_SUMMARY:
        add_folded(out, "Summary", item->text);
        break;
    case STORY_NOTE:
        add_note(out, item);
        break;
    case STORY_TOLD:
        strbuf_add_cstr(out, "**Told by keel**\n\n");
        add_fenced(out, item->text, "text");
        break;
    }
}

/* --- the document --- */

static struct writer *markdown_new(void)
{
    struct markdown *m = mem_alloc(sizeof *m);

    return &m->writer;
}

static void markdown_begin(struct writer *w, const struct store_summary *s, unsigned depth)
{
    struct markdown *m = (struct markdown *)w;

    m->depth = depth;
    m->story = story_new(w->redaction, markdown_add_item, m);
    strbuf_clear(&m->cwd);
    strbuf_add(&m->cwd, s->cwd);
    strbuf_add_cstr(&w->out, depth ? "\n## Child run: " : "# ");
    add_escaped(&w->out, words_title(s));
    strbuf_add_cstr(&w->out, "\n\nSession ");
    add_code_span(&w->out, s->id);
    if (s->cwd.n) {
        strbuf_add_cstr(&w->out, " in ");
        add_code_span(&w->out, s->cwd);
    }
    if (s->model.n) {
        strbuf_add_cstr(&w->out, " · ");
        add_escaped(&w->out, s->model);
    }
    strbuf_add_cstr(&w->out, " · ");
    words_add_time(&w->out, s->created_ms);
    strbuf_add_cstr(&w->out, "\n\n");
}

static void markdown_event(struct writer *w, const struct event *e)
{
    story_event(((struct markdown *)w)->story, e);
}

static void end(struct writer *w)
{
    struct markdown *m = (struct markdown *)w;
    AUTO(strbuf) struct strbuf totals = {0};

    story_end(m->story);
    words_add_totals(&totals, story_totals(m->story));
    if (totals.n)
        strbuf_addf(&w->out, "---\n\n%s\n", strbuf_cstr(&totals));
    story_free(TAKE(m->story));
}

static void markdown_free(struct writer *w)
{
    struct markdown *m = (struct markdown *)w;

    story_free(m->story);
    strbuf_done(&m->cwd);
    mem_free(m);
}

const struct writer_ops writer_markdown = {
    .make = markdown_new,
    .begin = markdown_begin,
    .event = markdown_event,
    .end = end,
    .free = markdown_free,
    .unwanted = story_unwanted,
};
