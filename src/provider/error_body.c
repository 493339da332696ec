/* error_body.c - looks for a message where others have put theirs. */
#include "provider/error_body.h"

#define MAX_DEPTH 4

const struct json *error_body_first(const struct json *body)
{
    return json_is(body, JSON_ARRAY) ? body->first : body;
}

/* Some put a phrase into "error" and say what is wrong in "message": texts beside it go first. */
static struct str find_message(const struct json *v, unsigned depth)
{
    static const char *const names[] = {"message", "detail", "error",   "error_message",
                                        "msg",     "errors", "details", "description",
                                        "title",   "reason"};
    struct str text = json_str(v);

    v = error_body_first(v);
    if (!text.n)
        text = json_str(v);
    if (!text.n && depth < MAX_DEPTH && json_is(json_get(v, "error"), JSON_OBJECT))
        text = find_message(json_get(v, "error"), depth + 1);
    for (size_t i = 0; !text.n && depth < MAX_DEPTH && i < ARRAY_LEN(names); i++)
        text = find_message(json_get(v, names[i]), depth + 1);
    return text;
}

struct str error_body_message(const struct json *body)
{
    struct str text = find_message(body, 0);

    return text.n ? text : json_get_text(json_get(body, "base_resp"), "status_msg");
}

static bool says_something(const struct json *v)
{
    return v && (v->n || json_str(v).n);
}

bool error_body_is_error(const struct json *event)
{
    event = error_body_first(event);
    return says_something(json_get(event, "error")) || json_get_text(event, "message").n ||
           says_something(json_get(event, "detail")) || says_something(json_get(event, "errors"));
}
