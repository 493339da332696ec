/* provider_error.c - finds the kind and the message of an error. */
#include "provider/provider_error.h"

#include "base/utf8.h"

#include <math.h>

#define MAX_DEPTH 4
#define MAX_MESSAGE_BYTES 2000

enum err_kind provider_error_kind(int status)
{
    switch (status) {
    case 401:
    case 402:
    case 403:
        return ERR_PROVIDER_AUTH;
    case 404:
        return ERR_MODEL_NOT_AVAILABLE;
    case 408:
        return ERR_TIMEOUT;
    case 413:
        return ERR_CONTEXT_OVERFLOW;
    case 429:
        return ERR_PROVIDER_RATE_LIMIT;
    case 409:
        return ERR_PROVIDER_UNAVAILABLE;
    default:
        return status >= 500 && status != 501 ? ERR_PROVIDER_UNAVAILABLE : ERR_PROVIDER_ERROR;
    }
}

struct err *provider_error_new(enum err_kind kind, int status, struct str message)
{
    message = utf8_truncate(str_trim(message), MAX_MESSAGE_BYTES);
    if (message.n == 0)
        message = S("the provider gave no reason");
    if (status)
        return err_new(kind, "HTTP %d: %" STR_FMT, status, STR_ARG(message));
    return err_new(kind, "%" STR_FMT, STR_ARG(message));
}

/* --- bodies --- */

const struct json *error_body_first(const struct json *body)
{
    return json_is(body, JSON_ARRAY) ? body->first : body;
}

/* Some put a phrase into "error" and the reason into "message": texts beside "error" go first. */
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

bool error_value_is_set(const struct json *v)
{
    return v && (v->n || json_str(v).n);
}

bool error_body_is_error(const struct json *event)
{
    event = error_body_first(event);
    return error_value_is_set(json_get(event, "error")) || json_get_text(event, "message").n ||
           error_value_is_set(json_get(event, "detail")) ||
           error_value_is_set(json_get(event, "errors"));
}

/* --- sentences --- */

/* The end of the first `piece` in the text, in any case of letters; STR_NONE: not found. */
static size_t find_end(struct str text, struct str piece)
{
    for (size_t at = 0; at + piece.n <= text.n; at++)
        if (str_eq_nocase(str_slice(text, at, piece.n), piece))
            return at + piece.n;
    return STR_NONE;
}

/* Cuts the text up to the end of the sentence. */
static bool skip_sentence(struct str *text, struct str sentence)
{
    struct str piece;

    while (str_split(&sentence, '*', &piece)) {
        size_t end = find_end(*text, piece);

        if (end == STR_NONE)
            return false;
        *text = str_skip(*text, end);
    }
    return true;
}

static bool skip_sentences(struct str *text, const char *sentences)
{
    struct str rest = str_of(sentences), sentence;

    while (sentences && str_split(&rest, '|', &sentence)) {
        struct str behind = *text;

        if (sentence.n && skip_sentence(&behind, sentence)) {
            *text = behind;
            return true;
        }
    }
    return false;
}

bool error_text_has(struct str text, const char *sentences)
{
    return skip_sentences(&text, sentences);
}

#define MAX_DELAY_MS 86400000.0

/* A number with its unit, cut off the text: milliseconds, or -1. */
static double take_time(struct str *text)
{
    static const struct {
        const char *unit;
        double ms;
    } units[] = {{"ms", 1}, {"milli", 1}, {"h", 3600000}, {"m", 60000}, {"s", 1000}};
    size_t n = 0, unit;
    double value;

    while (n < text->n && n < 20 && strchr("0123456789.", text->p[n]))
        n++;
    if (n == 0 || !str_to_double(str_slice(*text, 0, n), &value) || !(value >= 0))
        return -1;
    unit = n + (n < text->n && text->p[n] == ' '); /* "11s" and "11 seconds" */
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_starts(str_skip(*text, unit), str_of(units[i].unit))) {
            *text = str_skip(*text, unit + strlen(units[i].unit));
            return MIN(value * units[i].ms, MAX_DELAY_MS);
        }
    return -1;
}

int64_t error_text_delay_ms(struct str text, const char *sentences)
{
    double total, more;

    if (!skip_sentences(&text, sentences))
        return -1;
    text = str_trim(text);
    total = take_time(&text);
    while (total >= 0 && (more = take_time(&text)) >= 0)
        total = MIN(total + more, MAX_DELAY_MS);
    return total < 0 ? -1 : (int64_t)ceil(total);
}
