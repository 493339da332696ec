/* log.c - one line per event, with secrets taken out before anything is written. */
#include "sys/log.h"

#include <stdarg.h>
#include <unistd.h>

#define MAX_LINE 65536

struct log {
    enum log_level level;
    enum log_format format;
    const struct clock *clock;
    struct log_sink sink;
    struct secrets *secrets;
    struct strbuf line, clean;
};

static const char *const level_names[] = {"error", "warn", "info", "debug", "trace"};

const char *log_level_name(enum log_level l)
{
    return level_names[l];
}

bool log_level_find(struct str name, enum log_level *ret_level)
{
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++)
        if (str_eq_nocase(name, str_of(level_names[i]))) {
            *ret_level = (enum log_level)i;
            return true;
        }
    return false;
}

struct log *log_new(enum log_level level, enum log_format format, const struct clock *clock,
                    struct log_sink sink)
{
    struct log *l = mem_alloc(sizeof *l);

    l->level = level;
    l->format = format;
    l->clock = clock ? clock : &clock_system;
    l->sink = sink;
    strbuf_init(&l->line, MAX_LINE);
    strbuf_init(&l->clean, MAX_LINE * 2);
    return l;
}

void log_free(struct log *l)
{
    if (!l)
        return;
    secrets_unref(l->secrets);
    strbuf_done(&l->line);
    strbuf_done(&l->clean);
    mem_free(l);
}

void log_hide(struct log *l, const struct secrets *secrets)
{
    struct secrets *before;

    if (!l)
        return;
    before = l->secrets;
    l->secrets = secrets_ref(secrets);
    secrets_unref(before);
}

static struct str clean(struct log *l, struct str text)
{
    return secrets_hide(l->secrets, text, &l->clean, NULL);
}

static struct str field_value(struct log *l, const struct log_field *f)
{
    return key_is_secret(str_of(f->key)) ? S(REDACTED) : clean(l, f->value);
}

static void write_json(struct log *l, const char *time, enum log_level level, const char *message,
                       const struct log_field *fields, size_t n)
{
    struct json_writer w;

    jw_init(&w, &l->line);
    jw_begin_object(&w);
    jw_kv_str(&w, "time", str_of(time));
    jw_kv_str(&w, "level", str_of(level_names[level]));
    jw_kv_str(&w, "message", clean(l, str_of(message)));
    for (size_t i = 0; i < n; i++)
        jw_kv_str(&w, fields[i].key, field_value(l, &fields[i]));
    jw_end_object(&w);
}

/* Values that could be taken for something else stand in quotes: one event is one line. */
static void add_text_value(struct strbuf *out, struct str value)
{
    bool plain = value.n > 0;

    for (size_t i = 0; plain && i < value.n; i++)
        plain = value.p[i] > ' ' && value.p[i] != '"' && value.p[i] != '=' && value.p[i] != 0x7f;
    if (plain)
        strbuf_add(out, value);
    else
        json_write_string(out, value);
}

static void add_message(struct strbuf *out, struct str message)
{
    for (size_t i = 0; i < message.n; i++) {
        unsigned char c = (unsigned char)message.p[i];
        strbuf_add_char(out, c < ' ' || c == 0x7f ? ' ' : (char)c);
    }
}

static void write_text(struct log *l, const char *time, enum log_level level, const char *message,
                       const struct log_field *fields, size_t n)
{
    strbuf_addf(&l->line, "%s %-5s ", time, level_names[level]);
    add_message(&l->line, clean(l, str_of(message)));
    for (size_t i = 0; i < n; i++) {
        strbuf_addf(&l->line, " %s=", fields[i].key);
        add_text_value(&l->line, field_value(l, &fields[i]));
    }
}

void log_event(struct log *l, enum log_level level, const char *message,
               const struct log_field *fields, size_t n_fields)
{
    char time[CLOCK_ISO_SIZE];

    if (!l || level > l->level)
        return;
    clock_format_iso(clock_unix_ms(l->clock), time);
    strbuf_clear(&l->line);
    if (l->format == LOG_JSON)
        write_json(l, time, level, message, fields, n_fields);
    else
        write_text(l, time, level, message, fields, n_fields);
    if (strbuf_is_over(&l->line)) {
        strbuf_clear(&l->line);
        strbuf_addf(&l->line,
                    l->format == LOG_JSON ? "{\"time\":\"%s\",\"level\":\"%s\",\"message\":"
                                            "\"an event was too large for the log\"}"
                                          : "%s %-5s an event was too large for the log",
                    time, level_names[level]);
    }
    strbuf_add_char(&l->line, '\n');
    l->sink.write(l->sink.self, level, strbuf_str(&l->line));
}

void log_printf(struct log *l, enum log_level level, const char *format, ...)
{
    AUTO(strbuf) struct strbuf text = {0};
    va_list args;

    if (!l || level > l->level)
        return;
    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    log_event(l, level, strbuf_cstr(&text), NULL, 0);
}

static void write_fd(void *self, enum log_level level, struct str line)
{
    ssize_t n = write((int)(intptr_t)self, line.p, line.n);

    (void)n; /* a log that cannot be written must not stop the work it tells about */
}

struct log_sink log_fd_sink(int fd)
{
    return (struct log_sink){write_fd, (void *)(intptr_t)fd};
}
