/* bash_output.c - the BashOutput tool: what a background command has printed since the last
 * call. */
#include "base/utf8.h"
#include "sys/work.h"
#include "tool/builtin.h"
#include "tool/search/engine.h"
#include "tool/search/pattern.h"
#include "tool/shell/background.h"
#include "tool/shell/output.h"

#include <inttypes.h>

/* --- from bytes to text --- */

struct filter_job {
    struct str bytes, filter;
    struct strbuf clean, matching; /* all lines, and those that match the filter */
};

static void filter_job_done(struct filter_job *j)
{
    strbuf_done(&j->clean);
    strbuf_done(&j->matching);
}
DEFINE_AUTO_VAL(filter_job, filter_job_done)

static struct str line_at(struct str text, size_t at)
{
    size_t start = str_rfind_char(str_slice(text, 0, at), '\n') + 1; /* STR_NONE + 1 is 0 */
    size_t n = str_find_char(str_skip(text, start), '\n');

    return str_slice(text, start, n == STR_NONE ? text.n : n + 1);
}

static struct err *filter_lines(struct filter_job *j)
{
    struct grep_query query = {.pattern = j->filter};
    AUTO(grep_pattern) struct grep_pattern *p = NULL;
    AUTO(grep_matcher) struct grep_matcher *m = NULL;
    struct str text = strbuf_str(&j->clean), line;
    struct grep_span match;
    bool found = true;

    TRY(grep_pattern_compile(&query, &p));
    m = grep_matcher_new(p);
    grep_matcher_begin(m, text, NULL);
    for (size_t at = 0; at < text.n && !work_cancelled(); at = (size_t)(line.p - text.p) + line.n) {
        TRY(grep_matcher_find(m, at, &found, &match));
        if (!found)
            break;
        line = line_at(text, match.start);
        strbuf_add(&j->matching, line);
    }
    return NULL;
}

static struct err *filter_job_run(void *arg)
{
    struct filter_job *j = arg;

    output_add_clean(&j->clean, j->bytes);
    return j->filter.n ? filter_lines(j) : NULL;
}

/* --- the tool --- */

/* While the command runs, its last line or character may be incomplete: the next call reads it. */
static size_t unfinished(const struct shell *k, struct str bytes, bool by_line)
{
    if (shell_state(k) != SHELL_RUNNING)
        return 0;
    if (!by_line)
        return utf8_incomplete_tail(bytes);
    return bytes.n - (str_rfind_char(bytes, '\n') + 1); /* STR_NONE + 1 is 0 */
}

/* The state at the time the output was read; it may change while a worker makes text of it. */
static void write_head(const struct shell *k, uint64_t n_lost, struct tool_result *r)
{
    struct json *details = tool_result_details(r);

    tool_result_addf(r, "%s: ", shell_id(k));
    shell_describe(k, &r->text);
    tool_result_addf(r, "\n");
    if (n_lost > 0)
        tool_result_addf(r, "... [%" PRIu64 " bytes of older output lost] ...\n", n_lost);
    shell_add_details(k, &r->arena, details);
    json_set_int(&r->arena, details, "lostBytes", (int64_t)n_lost);
}

static struct err *bash_output_run(const struct tool *t, struct tool_context *c,
                                   const struct json *args, struct tool_result *r)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    AUTO(filter_job) struct filter_job job = {.filter = json_get_text(args, "filter")};
    struct str id = json_get_text(args, "bash_id");
    struct shell *k = background_find(c->state, id);
    uint64_t n_lost, end;
    bool was_over, is_short;
    struct str text;

    if (!k) {
        background_unknown(c->state, id, r);
        return NULL;
    }
    shell_peek(k, &bytes, &n_lost, &end);
    write_head(k, n_lost, r);
    was_over = shell_state(k) != SHELL_RUNNING;
    job.bytes = strbuf_str(&bytes);
    job.bytes.n -= unfinished(k, job.bytes, /* by_line= */ job.filter.n > 0);
    is_short = job.filter.n == 0 && job.bytes.n <= OUTPUT_SHORT_BYTES;
    TRY(is_short ? filter_job_run(&job) : work_run(filter_job_run, &job));
    TRY(task_check()); /* a cancelled call has read nothing */
    text = strbuf_str(job.filter.n ? &job.matching : &job.clean);
    strbuf_add(&r->text, text);
    if (text.n == 0)
        tool_result_addf(r, job.filter.n ? "(no new line matches the filter)" : "(no new output)");
    k = background_find(c->state, id); /* it may be forgotten by now */
    if (!k)
        return NULL;
    shell_add_notes(k, r);
    shell_mark_read(k, end - (bytes.n - job.bytes.n));
    if (was_over)
        shell_mark_seen(k);
    return NULL;
}

static const char description[] =
    "Returns what a background command has printed since the last call for it, and whether it is "
    "still running. With filter, returns only matching lines and discards the others. Keeps at "
    "most the last 1 MiB of unread output.";

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"bash_id\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"The id that Bash returned, such as bash_1.\"},"
    "\"filter\":{\"type\":\"string\","
    "\"description\":\"Return only lines that match this regular expression.\"}},"
    "\"required\":[\"bash_id\"],\"additionalProperties\":false}";

struct tool tool_bash_output = {
    .name = "BashOutput",
    .description = description,
    .schema = schema,
    .aliases = "shell_id=bash_id id=bash_id bashId=bash_id shellId=bash_id",
    .risk = RISK_INSPECT,
    .is_barrier = true,
    .needs = NEEDS_LAUNCHER,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = bash_output_run,
};
