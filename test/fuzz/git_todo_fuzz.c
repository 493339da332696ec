/* git_todo_fuzz.c - what is left of any list holds no line to run but those that are known. */
#include "sandbox/guard/git_todo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_make((const char *)data, size);
    AUTO(strbuf) struct strbuf all = {0}, none = {0}, lines = {0}, again = {0};

    git_todo_find(text, &lines);
    BUG_IF(git_todo_strip(text, strbuf_str(&lines), &all));
    BUG_IF(!str_eq(strbuf_str(&all), text));
    BUG_IF(git_todo_strip(text, (struct str){0}, &none) != (lines.n > 0));
    git_todo_find(strbuf_str(&none), &again);
    BUG_IF(again.n > 0 || none.n > size);
    (void)git_sequencer_is_plain(text);
    return 0;
}
