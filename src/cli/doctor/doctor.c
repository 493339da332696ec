/* doctor.c - `keel doctor`: what works here, and what to do about what does not. */
#include "cli/doctor/doctor.h"

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output/progress.h"
#include "cli/output/text.h"

#include <stdarg.h>
#include <unistd.h>

static const struct option options[] = {
    {"probe", 0, NULL, "also request the list of models from the provider in use"},
    {"model", 0, "VENDOR/MODEL", "check this one instead of the one in use",
     .words = COMPLETE_MODELS},
    {"json", 0, NULL, "print one JSON object"},
    {"settings", 0, "FILE|JSON", "more settings; they override all files"},
    {0},
};

void report_done(struct report *r)
{
    arena_done(&r->arena);
}

void report_add(struct report *r, enum health health, const char *section, const char *name,
                const char *format, ...)
{
    AUTO(strbuf) struct strbuf text = {0};
    va_list args;

    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    r->findings = arena_grow(&r->arena, r->findings, r->n, &r->room, sizeof *r->findings);
    r->findings[r->n++] = (struct doctor_finding){.health = health,
                                                  .section = section,
                                                  .name = arena_str(&r->arena, str_of(name)),
                                                  .text = arena_str(&r->arena, strbuf_str(&text))};
}

void report_add_error(struct report *r, const char *section, const char *name, const struct err *e)
{
    AUTO_FREE char *message = err_message(e);
    const char *hint = err_find_hint(e);

    report_add(r, HEALTH_BAD, section, name, "%s%s%s", message, hint ? "; " : "", hint ? hint : "");
}

/* --- the probe --- */

struct probe {
    struct project *project;
    struct report *report;
    const char *model;
};

static bool lists(const struct model_list *models, struct str id)
{
    for (size_t i = 0; i < models->n; i++)
        if (str_is(id, models->items[i].id))
            return true;
    return false;
}

static struct err *list_models(struct probe *p, struct arena *a, struct model_choice **ret_asked,
                               struct model_list *ret_models)
{
    struct provider_call call;

    TRY(project_choose_model(p->project, p->model, ret_asked));
    call = project_provider_call(p->project, &(*ret_asked)->profile);
    return provider_list_models((*ret_asked)->provider, &call, a, ret_models);
}

static struct err *probe(void *arg)
{
    struct probe *p = arg;
    AUTO(arena) struct arena a = {0};
    AUTO(model_choice) struct model_choice *asked = NULL;
    struct model_list models = {0};
    AUTO(err) struct err *e = list_models(p, &a, &asked, &models);

    if (err_is(e, ERR_CANCELLED))
        return TAKE(e);
    if (e)
        report_add_error(p->report, "Probe", "answer", e);
    else
        report_add(p->report, HEALTH_GOOD, "Probe", "answer",
                   "%" STR_FMT " answers and lists %zu model%s", STR_ARG(asked->profile.id),
                   models.n, models.n == 1 ? "" : "s");
    if (!e && !lists(&models, asked->profile.model))
        report_add(p->report, HEALTH_NOTE, "Probe", "model",
                   "%" STR_FMT " is not in that list; it may still work",
                   STR_ARG(asked->profile.model));
    return NULL;
}

/* --- printing --- */

static const char *mark(enum health h, bool in_colour)
{
    static const char *const plain[] = {"ok  ", "note", "BAD "};
    static const char *const coloured[] = {"\033[32mok  \033[0m", "\033[33mnote\033[0m",
                                           "\033[31mBAD \033[0m"};
    return in_colour ? coloured[h] : plain[h];
}

/* Where the texts begin. With less room than that for them, they go below. */
#define COLUMN 25
#define MIN_TEXT 30
#define BELOW_INDENT 4

/* Names and texts may come from a project's settings, or from a provider. */
static void add_finding(struct strbuf *out, const struct doctor_finding *f, size_t width,
                        bool in_colour)
{
    AUTO(strbuf) struct strbuf name = {0}, text = {0};

    cli_add_visible(&name, f->name);
    cli_add_visible(&text, f->text);
    if (width && width < COLUMN + MIN_TEXT) {
        strbuf_addf(out, "  %s  %s\n%*s", mark(f->health, in_colour), strbuf_cstr(&name),
                    BELOW_INDENT, "");
        text_wrap(out, strbuf_str(&text), BELOW_INDENT, width);
        return;
    }
    strbuf_addf(out, "  %s  %-16s ", mark(f->health, in_colour), strbuf_cstr(&name));
    text_wrap(out, strbuf_str(&text), COLUMN, width);
}

/* What has not been printed yet. */
static void add_text(struct report *r, struct strbuf *out)
{
    bool in_colour = cli_has_colour(STDOUT_FILENO);
    size_t width = cli_n_columns();
    const char *section = "";

    for (size_t i = r->n_printed; i < r->n; i++) {
        const struct doctor_finding *f = &r->findings[i];

        if (strcmp(section, f->section) != 0)
            strbuf_addf(out, "%s%s\n", i ? "\n" : "", f->section);
        section = f->section;
        add_finding(out, f, width, in_colour);
        strbuf_add_char(out, '\n');
    }
    r->n_printed = r->n;
}

static void add_json(const struct report *r, struct strbuf *out)
{
    static const char *const words[] = {"ok", "note", "bad"};
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_object(&w);
    jw_kv_str(&w, "version", S(KEEL_VERSION));
    jw_key(&w, "findings");
    jw_begin_array(&w);
    for (size_t i = 0; i < r->n; i++) {
        jw_begin_object(&w);
        jw_kv_str(&w, "section", str_of(r->findings[i].section));
        jw_kv_str(&w, "name", r->findings[i].name);
        jw_kv_str(&w, "health", str_of(words[r->findings[i].health]));
        jw_kv_str(&w, "text", r->findings[i].text);
        jw_end_object(&w);
    }
    jw_end_array(&w);
    jw_end_object(&w);
    strbuf_add_char(out, '\n');
}

static bool has_bad(const struct report *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->findings[i].health == HEALTH_BAD)
            return true;
    return false;
}

static struct err *doctor_probe(void *arg)
{
    return progress_around("asking the provider", probe, arg);
}

static void add_broken(void *self, const struct err *e)
{
    report_add_error(self, "Settings", "file", e);
}

/* A file that cannot be used is the first thing to report, and no reason to look at nothing else.
 * False: without settings at all the rest cannot be looked at. */
static bool open_project(struct report *r, const struct args *args, struct project **ret_project)
{
    struct project_options how = {
        .settings_file = args_get(args, "settings"), .on_broken_settings = add_broken, .self = r};
    AUTO(err) struct err *e = project_open(NULL, &how, ret_project);

    if (e)
        add_broken(r, e);
    return !e;
}

static void check_all(struct report *r, struct project *project, const char *model)
{
    doctor_check_settings(r, project);
    doctor_check_rules(r, project);
    doctor_check_providers(r, project, model);
    doctor_check_network(r, project);
    doctor_check_sandbox(r, project);
    doctor_check_media(r);
    doctor_check_stores(r, project);
    doctor_check_terminal(r);
}

static struct err *doctor_run(const struct args *args, int *ret_status)
{
    AUTO(project) struct project *project = NULL;
    AUTO(report) struct report report = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct probe p = {.report = &report, .model = args_get(args, "model")};
    bool is_json = args_has(args, "json"), is_open;

    TRY(args_count(args, 0, 0, "no arguments"));
    is_open = open_project(&report, args, &project);
    if (is_open)
        check_all(&report, project, p.model);
    p.project = project;
    if (is_open && args_has(args, "probe")) {
        if (!is_json) /* the probe may take long: what is known before it is printed first */
            add_text(&report, &out);
        TRY(cli_print(strbuf_str(&out)));
        strbuf_clear(&out);
        TRY(cli_run_task(NULL, doctor_probe, &p));
    }
    if (is_json)
        add_json(&report, &out);
    else
        add_text(&report, &out);
    *ret_status = has_bad(&report) ? 1 : 0;
    return cli_print(strbuf_str(&out));
}

const struct command command_doctor = {
    .name = "doctor",
    .usage = "[--probe] [--model VENDOR/MODEL] [--settings FILE|JSON] [--json]",
    .group = "Set up",
    .summary = "check what works on this machine",
    .details = "Checks providers and keys, certificates, sandbox, stores and the terminal.\n"
               "Sends nothing without --probe. Exits 1 if a check fails.\n\n"
               "  keel doctor --probe --model openai/gpt-5\n",
    .options = options,
    .run = doctor_run,
};
