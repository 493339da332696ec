/* inline_tags_fuzz.c - text with tags in it reads the same however its pieces are cut. */
#include "provider/inline_tags.h"

static struct err *add(struct reply *r, enum part_kind kind, struct str text)
{
    size_t index;

    TRY(reply_continue(r, kind, &index));
    return reply_add_text(r, index, text);
}

static void read_in_pieces(struct reply *r, struct str text, size_t piece)
{
    AUTO(arena) struct arena scratch = {0};
    struct inline_tags tags = {.add = add};
    struct err *e = NULL;

    reply_init(r, (struct delta_sink){0});
    for (size_t at = 0; at < text.n && !e; at += piece)
        e = inline_tags_feed(&tags, r, &scratch, str_slice(text, at, piece));
    if (!e)
        e = inline_tags_end(&tags, r, &scratch);
    err_free(e);
    BUG_IF(tags.n_call > INLINE_TAGS_MAX_CALL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(reply) struct reply whole, cut;
    struct str text = str_make((const char *)data, size);

    read_in_pieces(&whole, text, SIZE_MAX / 2);
    read_in_pieces(&cut, text, size ? 1 + data[0] % 7 : 1);
    BUG_IF(whole.n_parts != cut.n_parts);
    for (size_t i = 0; i < whole.n_parts; i++) {
        BUG_IF(whole.parts[i].part.kind != cut.parts[i].part.kind);
        BUG_IF(!str_eq(reply_part_text(&whole, i), reply_part_text(&cut, i)));
        BUG_IF(!str_eq(reply_part_args(&whole, i), reply_part_args(&cut, i)));
    }
    return 0;
}
