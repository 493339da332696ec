/* search.c - one search with the engine of Grep and Glob, printed as rg and fd print theirs.
 *
 *     bench-search ROOT files|content|glob PATTERN
 */
#include "bench.h"

#include "sys/loop.h"
#include "sys/work.h"
#include "tool/search/engine.h"

#include <stdlib.h>
#include <unistd.h>

struct search {
    const char *root, *what;
    struct str pattern;
    struct strbuf out;
};

static struct err *find_names(struct search *s, const struct walk_options *walk)
{
    AUTO(glob) struct glob *glob = NULL;
    struct grep_report report;

    TRY(glob_compile(s->pattern, 0, &glob));
    return glob_run(
        &(struct glob_query){.patterns = (const struct glob *const *)&glob, .n_patterns = 1}, walk,
        &s->out, &report);
}

static struct err *search(void *arg)
{
    struct search *s = arg;
    struct walk_options walk = {.root = s->root};
    struct grep_query query = {.pattern = s->pattern,
                               .mode = strcmp(s->what, "files") == 0 ? GREP_FILES : GREP_CONTENT,
                               .line_numbers = true,
                               .max_output_bytes = STRBUF_DEFAULT_MAX};
    struct grep_report report;

    if (strcmp(s->what, "glob") == 0)
        return find_names(s, &walk);
    return grep_run(&query, &walk, &s->out, &report);
}

static struct err *run(void *arg)
{
    return work_run(search, arg);
}

static bool print(struct str text)
{
    while (text.n) {
        ssize_t n = write(STDOUT_FILENO, text.p, text.n);

        if (n < 0)
            return false;
        text = str_skip(text, (size_t)n);
    }
    return true;
}

int main(int argc, char **argv)
{
    struct search s;
    AUTO(err) struct err *e = NULL;

    if (argc != 4) {
        fprintf(stderr, "usage: bench-search ROOT files|content|glob PATTERN\n");
        return EXIT_FAILURE;
    }
    s = (struct search){.root = argv[1], .what = argv[2], .pattern = str_of(argv[3])};
    e = loop_run_once(run, &s);
    if (e) {
        AUTO_FREE char *text = err_message(e);

        fprintf(stderr, "%s\n", text);
        return EXIT_FAILURE;
    }
    return print(strbuf_str(&s.out)) ? EXIT_SUCCESS : EXIT_FAILURE;
}
