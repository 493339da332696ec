/* manifest.c - reads lists of files that earlier versions wrote. */
#include "snapshot/manifest.h"

#include "port/snapshot.h"

#define VERSION "keel-tree 1 "
#define N_NUMBERS 6
#define STEP ((size_t)1 << 20) /* read at once */

static struct err *damaged(struct str handle)
{
    return err_new(ERR_STORAGE, "the list of files %.12s... is damaged", handle.p);
}

static bool take_word(struct str *rest, struct str *ret_word)
{
    return rest->n && str_split(rest, ' ', ret_word);
}

static bool is_mode(struct str octal)
{
    for (size_t i = 0; i < octal.n; i++)
        if (octal.p[i] < '0' || octal.p[i] > '7' || i == 5)
            return false;
    return octal.n > 0;
}

/* *ret_content is empty if it names none. */
static bool parse_record(struct str record, struct str *ret_content)
{
    size_t tab = str_find_char(record, '\t');
    struct str rest = str_slice(record, 0, tab), word;
    enum image_kind kind;
    int64_t number;

    if (tab == STR_NONE || tab + 1 == record.n || record.p[tab + 1] != '/' ||
        !take_word(&rest, &word) || !image_kind_find(word, &kind) || !take_word(&rest, &word) ||
        !is_mode(word) || !take_word(&rest, ret_content))
        return false;
    for (size_t i = 0; i < N_NUMBERS; i++)
        if (!take_word(&rest, &word) || !str_to_int64(word, &number))
            return false;
    if (str_is(*ret_content, "-"))
        *ret_content = (struct str){0};
    return !ret_content->n || blob_handle_is_valid(*ret_content);
}

/* Reports the contents in the records that the buffer has completely; the first record is the
 * head. */
static struct err *report_contents(struct strbuf *buffer, struct str handle, bool *is_first,
                                   void (*on_content)(void *self, struct str handle), void *self)
{
    struct str rest = strbuf_str(buffer);
    size_t end;

    while ((end = str_find_char(rest, '\0')) != STR_NONE) {
        struct str record = str_slice(rest, 0, end), content = {0};

        rest = str_skip(rest, end + 1);
        if (*is_first ? !str_starts(record, S(VERSION)) : !parse_record(record, &content))
            return damaged(handle);
        *is_first = false;
        if (content.n)
            on_content(self, content);
    }
    strbuf_drop_front(buffer, buffer->n - rest.n);
    return NULL;
}

struct err *manifest_each_content(struct blob_store *blobs, struct str handle,
                                  void (*on_content)(void *self, struct str handle), void *self)
{
    AUTO(strbuf) struct strbuf buffer = {.max_bytes = 2 * STEP};
    bool is_first = true;
    uint64_t at = 0;
    size_t n_before;

    do {
        n_before = buffer.n;
        TRY(blob_get_range(blobs, handle, at, STEP, &buffer));
        TRY(strbuf_check(&buffer, "a file of the list"));
        at += buffer.n - n_before;
        if (buffer.n == n_before)
            return buffer.n || is_first ? damaged(handle) : NULL;
        TRY(report_contents(&buffer, handle, &is_first, on_content, self));
    } while (true);
}
