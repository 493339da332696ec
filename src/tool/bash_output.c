/* bash_output.c - the BashOutput tool: what a background command has printed since. */
#include "base/utf8.h"
#include "sys/work.h"
#include "tool/builtin.h"
#include "tool/search/engine.h"
#include "tool/search/pattern.h"
#include "tool/shell/background.h"
#include "tool/shell/output.h"

#include <inttypes.h>

/* --- filter --- */

/* In a worker, since a pattern may take long. */
struct filter_job {
    struct str pattern, text;
    struct strbuf kept; /* the lines that match */
};

static void filter_job_done(struct filter_job *j)
{
    strbuf_done(&j->kept);
}
DEFINE_AUTO_VAL(filter_job, filter_job_done)

static struct str line_at(struct str text, size_t at)
{
    size_t start = str_rfind_char(str_slice(text, 0, at), '\n') + 1; /* STR_NONE + 1 is 0 */
    size_t n = str_find_char(str_skip(text, start), '\n');

    return str_slice(text, start, n == STR_NONE ? text.n : n + 1);
}

static struct err *filter_lines(void *arg)
{
    struct filter_job *j = arg;
    struct grep_query query = {.pattern = j->pattern};
    AUTO(grep_pattern) struct grep_pattern *p = NULL;
    AUTO(grep_matcher) struct grep_matcher *m = NULL;
    struct grep_span match;
    bool found = true;

    TRY(grep_pattern_compile(&query, &p));
    m = grep_matcher_new(p);
    grep_matcher_begin(m, j->text, NULL);
    for (size_t at = 0; at < j->text.n && !work_cancelled();) {
        struct str line;

        TRY(grep_matcher_find(m, at, &found, &match));
        if (!found)
            return NULL;
        line = line_at(j->text, match.start);
        strbuf_add(&j->kept, line);
        at = (size_t)(line.p - j->text.p) + line.n;
    }
    return NULL;
}

/* --- the tool --- */

/* While it runs, a line or a character may still be going on. */
static size_t unfinished(struct str bytes, bool by_line)
{
    if (!by_line)
        return utf8_incomplete_tail(bytes);
    return bytes.n - (str_rfind_char(bytes, '\n') + 1); /* STR_NONE + 1 is 0 */
}

static void write_result(const struct shell *k, uint64_t n_lost, struct str text, bool is_filtered,
                         struct tool_result *r)
{
    struct json *details = tool_result_details(r);

    tool_result_addf(r, "%s: ", shell_id(k));
    shell_describe(k, &r->text);
    tool_result_addf(r, "\n");
    if (n_lost > 0)
        tool_result_addf(r, "... [%" PRIu64 " bytes of older output lost] ...\n", n_lost);
    strbuf_add(&r->text, text);
    if (text.n == 0)
        tool_result_addf(r, is_filtered ? "(no new line matches the filter)" : "(no new output)");
    shell_add_details(k, &r->arena, details);
    json_set_int(&r->arena, details, "lostBytes", (int64_t)n_lost);
}

static struct err *run(const struct tool *t, struct tool_context *c, const struct json *args,
                       struct tool_result *r)
{
    AUTO(strbuf) struct strbuf bytes = {0}, text = {0};
    AUTO(filter_job) struct filter_job job = {.pattern = json_get_text(args, "filter")};
    struct str id = json_get_text(args, "bash_id");
    struct shell *k = background_find(c->session, id);
    bool has_filter = job.pattern.n > 0;
    uint64_t n_lost, end;

    if (!k) {
        background_unknown(c->session, id, r);
        return NULL;
    }
    shell_peek(k, &bytes, &n_lost, &end);
    if (shell_state(k) == SHELL_RUNNING) {
        size_t n_later = unfinished(strbuf_str(&bytes), has_filter);

        strbuf_cut(&bytes, bytes.n - n_later);
        end -= n_later;
    }
    output_add_clean(&text, strbuf_str(&bytes));
    job.text = strbuf_str(&text);
    if (has_filter) {
        TRY(work_run(filter_lines, &job));
        k = background_find(c->session, id); /* it may have been forgotten meanwhile */
    }
    if (!k) {
        background_unknown(c->session, id, r);
        return NULL;
    }
    shell_mark_read(k, end);
    write_result(k, n_lost, has_filter ? strbuf_str(&job.kept) : job.text, has_filter, r);
    return NULL;
}

static const char description[] =
    "Returns what a background command has printed since this was last called for it, and whether "
    "it still runs. With a filter only the lines that match are returned; the others are gone. "
    "The last 1 MiB that was not read is kept.";

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"bash_id\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The id that Bash gave with run_in_background: bash_1.\"},"
    "\"filter\":{\"type\":\"string\","
    "\"description\":\"Regular expression that a line must match to be returned.\"}},"
    "\"required\":[\"bash_id\"],\"additionalProperties\":false}";

struct tool tool_bash_output = {
    .name = "BashOutput",
    .description = description,
    .schema = schema,
    .aliases = "shell_id=bash_id id=bash_id bashId=bash_id shellId=bash_id",
    .risk = RISK_INSPECT,
    .needs = NEEDS_LAUNCHER,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = run,
};
