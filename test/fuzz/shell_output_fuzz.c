/* shell_output_fuzz.c - what commands print and how they end, made into words for a model: any
 * bytes give valid text without NULs, and no command line leads anywhere. */
#include "base/utf8.h"
#include "sandbox/refusal.h"
#include "tool/shell/exit_code.h"
#include "tool/shell/output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const hidden[] = {"/w/secret", "/home/a/.ssh"};
    struct str bytes = str_make((const char *)data, size);
    size_t half = size / 2;
    struct sandbox s = {
        .way = SANDBOX_WITH_NAMESPACES,
        .policy = {
            .workspace = "/w", .home = "/home/a", .hidden = hidden, .n_hidden = ARRAY_LEN(hidden)}};
    struct command_ending e = {.command = str_slice(bytes, 0, half),
                               .output = str_skip(bytes, half),
                               .failed = size & 1,
                               .timed_out = size & 2};
    AUTO(strbuf) struct strbuf clean = {0}, words = {0};
    unsigned told = 0;

    output_add_clean(&clean, bytes);
    BUG_IF(!utf8_is_valid(strbuf_str(&clean)));
    BUG_IF(str_find_char(strbuf_str(&clean), '\0') != STR_NONE);
    exit_code_meaning(e.command, 1, e.output);
    sandbox_explain(&s, &e, &told, &words);
    sandbox_explain(&s, &e, &told, &words);
    return 0;
}
