/* background.c - the background commands of a session, and the life of one. */
#include "tool/shell/background.h"

#include "tool/shell/command.h"
#include "tool/shell/follow.h"
#include "tool/shell/output.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_KNOWN 64

struct shell {
    char id[sizeof SHELL_ID + 20];
    char *command, *call_id;
    struct tool_state *tools;
    enum shell_state state;
    bool is_seen;        /* the model knows that it has ended */
    bool is_left;        /* background_stop() has ended it */
    char *output_handle; /* handle of its stored output; NULL: none */
    int pid;             /* 0: it is starting and has no pid yet */
    struct shell_command running;
    struct follow follow;
    struct tail output;
    uint64_t n_read;     /* position in the output */
    struct strbuf notes; /* what was put right after it */
    struct chan *ended;  /* closed at the end, for tasks that wait for it */
    unsigned n_waiting;  /* number of those tasks */
    struct shell *next;
};

struct shells {
    struct shell *first; /* the oldest */
    size_t n_known;
    uint64_t last_number;
};

/* --- one of them --- */

const char *shell_id(const struct shell *k)
{
    return k->id;
}

const char *shell_text(const struct shell *k)
{
    return k->command;
}

int shell_pid(const struct shell *k)
{
    return k->pid;
}

enum shell_state shell_state(const struct shell *k)
{
    return k->state;
}

/* A signal counts as in shells, so that there is always a code. */
static int exit_code(const struct proc_status *s)
{
    return s->exited ? s->exit_code : 128 + s->signal;
}

void shell_describe(const struct shell *k, struct strbuf *out)
{
    const struct proc_status *s = &k->follow.status;

    strbuf_add_cstr(out, shell_state_name(k->state));
    if (k->state == SHELL_RUNNING || !k->follow.has_status)
        return;
    if (s->exited) {
        strbuf_addf(out, " with exit code %d", s->exit_code);
    } else {
        strbuf_add_cstr(out, " by ");
        follow_add_signal(out, s->signal);
    }
    if (s->lost_protection)
        strbuf_add_cstr(out, " (" PROC_LOST_PROTECTION ")");
}

static struct kept_shell kept(const struct shell *k)
{
    const struct proc_status *status = &k->follow.status;
    bool has_ended = k->state != SHELL_RUNNING && k->follow.has_status;

    return (struct kept_shell){
        .id = str_of(k->id),
        .command = str_of(k->command),
        .call_id = str_of(k->call_id),
        .state = k->state,
        .has_exit_code = has_ended,
        .exit_code = has_ended ? exit_code(status) : 0,
        .signal = has_ended && status->signalled ? status->signal : 0,
        .pid = k->pid,
        .is_seen = k->is_seen,
        .output = k->output_handle ? str_of(k->output_handle) : (struct str){0},
    };
}

void shell_add_details(const struct shell *k, struct arena *a, struct json *details)
{
    struct kept_shell now = kept(k);

    kept_shell_add_outcome(&now, a, details);
}

static void save_shell(const struct shell *k)
{
    struct kept_shell now = kept(k);

    kept_shell_set(k->tools, &now);
}

bool shell_is_news(const struct shell *k)
{
    return k->state != SHELL_RUNNING && !k->is_seen;
}

bool shell_is_left(const struct shell *k)
{
    return k->is_left || (k->state == SHELL_KILLED && !k->is_seen);
}

void shell_mark_seen(struct shell *k)
{
    if (!shell_is_news(k))
        return;
    k->is_seen = true;
    save_shell(k);
}

void shell_set_output(struct shell *k, const char *handle)
{
    mem_free(k->output_handle);
    k->output_handle = mem_strdup(handle);
    save_shell(k);
}

static void shell_free(struct shell *k)
{
    shell_command_done(&k->running);
    strbuf_done(&k->notes);
    tail_done(&k->output);
    chan_free(k->ended);
    mem_free(k->command);
    mem_free(k->call_id);
    mem_free(k->output_handle);
    mem_free(k);
}

void shell_add_notes(const struct shell *k, struct tool_result *result)
{
    if (k->state != SHELL_RUNNING)
        notes_add(strbuf_str(&k->notes), result);
}

/* --- its output --- */

static void shell_add_output(void *self, struct str bytes)
{
    struct shell *k = self;

    tail_add(&k->output, bytes);
}

void shell_peek(const struct shell *k, struct strbuf *out, uint64_t *ret_n_lost, uint64_t *ret_end)
{
    uint64_t start = tail_start(&k->output);

    *ret_n_lost = start > k->n_read ? start - k->n_read : 0;
    *ret_end = k->output.end;
    tail_copy(&k->output, k->n_read, out);
}

void shell_mark_read(struct shell *k, uint64_t end)
{
    k->n_read = MAX(k->n_read, MIN(end, k->output.end));
}

/* --- its life --- */

static void end(struct shell *k)
{
    shell_command_end(&k->running, &k->notes);
    k->follow.proc = NULL;
    k->state = k->follow.was_stopped || !k->follow.has_status ? SHELL_KILLED : SHELL_ENDED;
    save_shell(k);
    chan_close(k->ended);
}

static struct err *shell_watch(void *arg)
{
    struct shell *k = arg;

    err_ignore(follow_run(&k->follow), "the session is cancelled, or its state tells the rest");
    end(k);
    return NULL;
}

static struct err *await_end(struct shell *k)
{
    struct err *e;
    void *item;
    bool is_open;

    k->n_waiting++;
    e = chan_receive(k->ended, &item, &is_open);
    k->n_waiting--;
    return e;
}

struct err *shell_kill(struct shell *k)
{
    if (k->state != SHELL_RUNNING)
        return NULL;
    follow_stop(&k->follow);
    return await_end(k);
}

/* --- the list --- */

static void shells_done(void *block)
{
    struct shells *s = block;

    while (s->first) {
        struct shell *k = s->first;

        s->first = k->next;
        shell_free(k);
    }
}

/* Numbers continue from an earlier run of the session. */
static uint64_t find_last_number(const struct tool_state *tools)
{
    struct state_entry x;
    uint64_t last = 0;
    size_t at = 0;

    while (tool_state_next(tools, STATE_SHELL, &at, &x)) {
        int64_t number;

        if (str_starts(x.name, S(SHELL_ID)) &&
            str_to_int64(str_skip(x.name, strlen(SHELL_ID)), &number) && number > 0)
            last = MAX(last, (uint64_t)number);
    }
    return last;
}

static struct shells *shells_of(struct tool_state *tools)
{
    static const char owner;
    struct shells *s = tool_state_attachment(tools, &owner, sizeof *s, shells_done);

    if (s->last_number == 0)
        s->last_number = find_last_number(tools);
    return s;
}

static size_t count_running(const struct shells *s)
{
    size_t n = 0;

    for (const struct shell *k = s->first; k; k = k->next)
        n += k->state == SHELL_RUNNING;
    return n;
}

static void remove_from(struct shells *s, struct shell **link)
{
    struct shell *k = *link;

    *link = k->next;
    s->n_known--;
    shell_free(k);
}

static void forget_oldest(struct shells *s)
{
    struct shell **link = &s->first;

    while (*link && ((*link)->state == SHELL_RUNNING || (*link)->n_waiting > 0))
        link = &(*link)->next;
    if (*link)
        remove_from(s, link);
}

static struct shell *add_shell(struct shells *s, const struct tool_context *c, struct str command)
{
    struct shell *k = mem_alloc(sizeof *k), **link = &s->first;

    if (s->n_known >= MAX_KNOWN)
        forget_oldest(s);
    snprintf(k->id, sizeof k->id, SHELL_ID "%" PRIu64, ++s->last_number);
    k->command = str_dup(command);
    k->call_id = str_dup(c->call_id);
    k->tools = c->state;
    k->ended = chan_new(1);
    tail_init(&k->output, BACKGROUND_MAX_BYTES);
    k->follow.on_output = shell_add_output;
    k->follow.self = k;
    while (*link)
        link = &(*link)->next;
    *link = k;
    s->n_known++;
    return k;
}

static void drop_shell(struct shells *s, const struct shell *k)
{
    struct shell **link = &s->first;

    while (*link != k)
        link = &(*link)->next;
    remove_from(s, link);
}

struct shell *background_next(struct tool_state *tools, const struct shell *before)
{
    struct shell *k = before ? before->next : shells_of(tools)->first;

    while (k && k->pid == 0)
        k = k->next;
    return k;
}

struct shell *background_find(struct tool_state *tools, struct str id)
{
    struct shell *k = background_next(tools, NULL);

    while (k && !str_is(id, k->id))
        k = background_next(tools, k);
    return k;
}

/* Waits for one after the other: by then the others may have ended too. */
static struct err *await_all(struct tool_state *tools)
{
    struct shell *k = background_next(tools, NULL);

    while (k) {
        if (k->state == SHELL_RUNNING) {
            TRY(await_end(k));
            k = NULL; /* the list may have changed */
        }
        k = background_next(tools, k);
    }
    return NULL;
}

struct err *background_wait(struct tool_state *tools, uint64_t timeout_ms)
{
    struct deadline limit;
    struct err *e;

    deadline_begin(&limit, timeout_ms, "background commands");
    e = await_all(tools);
    deadline_end(&limit);
    if (!err_is(e, ERR_TIMEOUT) || !limit.expired)
        return e;
    err_ignore(e, "those that still run tell it");
    return NULL;
}

struct err *background_stop(struct tool_state *tools)
{
    for (struct shell *k = background_next(tools, NULL); k; k = background_next(tools, k))
        if (k->state == SHELL_RUNNING) {
            k->is_left = true;
            follow_stop(&k->follow);
        }
    return await_all(tools);
}

size_t background_n_running(struct tool_state *tools)
{
    return count_running(shells_of(tools));
}

static void list_known(const struct shells *s, struct tool_result *result)
{
    static const char first[] = " Known commands: ";
    const char *separator = first;

    for (const struct shell *k = s->first; k; k = k->next) {
        if (k->pid == 0)
            continue;
        tool_result_addf(result, "%s%s (", separator, k->id);
        shell_describe(k, &result->text);
        tool_result_addf(result, ")");
        separator = ", ";
    }
    tool_result_addf(result, "%s", separator == first ? " None was started in this run." : ".");
}

void background_unknown(struct tool_state *tools, struct str id, struct tool_result *result)
{
    tool_result_fail(result, "There is no background command \"%" STR_FMT "\".", STR_ARG(id));
    if (tool_state_has(tools, STATE_SHELL, id))
        tool_result_addf(result, " It belonged to an earlier run; it has ended, and its output "
                                 "is gone.");
    list_known(shells_of(tools), result);
}

/* --- starting --- */

static void shell_begin(struct shell *k)
{
    k->pid = proc_pid(k->running.proc);
    k->follow.proc = k->running.proc;
    save_shell(k);
    group_spawn(tool_state_tasks(k->tools), k->id, shell_watch, k);
}

bool background_has_room(struct tool_state *tools)
{
    return tool_state_tasks(tools) && count_running(shells_of(tools)) < BACKGROUND_MAX_RUNNING;
}

struct shell *background_adopt(struct tool_context *c, struct str command,
                               struct shell_command *take_running)
{
    struct shell *k = add_shell(shells_of(c->state), c, command);

    k->running = *take_running;
    *take_running = (struct shell_command){0};
    shell_begin(k);
    return k;
}

struct err *background_start(struct tool_context *c, struct str command, struct tool_result *result,
                             struct shell **ret_shell)
{
    struct shells *s = shells_of(c->state);
    struct shell *k;
    struct err *e;

    *ret_shell = NULL;
    if (!tool_state_tasks(c->state)) {
        tool_result_fail(result, "Commands cannot run in the background here. Run it without "
                                 "run_in_background.");
        return NULL;
    }
    if (!background_has_room(c->state)) {
        tool_result_fail(result,
                         "%d commands are already running in the background. End one with "
                         "KillShell first.",
                         BACKGROUND_MAX_RUNNING);
        list_known(s, result);
        return NULL;
    }
    /* Add it before starting it, which may wait. */
    k = add_shell(s, c, command);
    e = shell_command_start(c, command, /* asks_place= */ false, &k->running);
    if (e) {
        drop_shell(s, k);
        return e;
    }
    shell_begin(k);
    *ret_shell = k;
    return NULL;
}
