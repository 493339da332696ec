/* sandbox_test.c - what commands can and cannot do, with namespaces and without. */
#include "sandbox/box.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* --- files --- */

BOX_TEST(a_command_writes_in_its_workspace_and_in_tmpdir)
{
    TRY(box_run(b, "echo more >> file && mkdir d && echo x > d/new && mv d/new d/old && "
                   "echo y > \"$TMPDIR/z\" && cat d/old \"$TMPDIR/z\""));
    EXPECT_OUTPUT(b->out, "x\ny\n");
    EXPECT(file_is(box_path(b, "ws/file"), "text\nmore\n"));
    EXPECT(file_is(box_path(b, "tmp/z"), "y\n"));
    return NULL;
}

BOX_TEST(an_added_directory_is_writable)
{
    const char *added[] = {b->outside.path};

    b->policy.writable = added;
    b->policy.n_writable = 1;
    TRY(box_run(b, arena_format(&b->arena, "echo mine > %s/new", b->outside.path).p));
    EXPECT(b->exit_code == 0 && file_is(box_outside(b, "new"), "mine\n"));
    return NULL;
}

BOX_TEST(nothing_outside_is_changed)
{
    const char *script =
        arena_format(
            &b->arena,
            "cd %s; echo x > new; echo x >> file; cat /dev/null > file; rm -f file; mv file other; "
            "ln file hard; ln -s file soft; mkdir d; ln file %s/hard; "
            "ln -s $PWD/file %s/soft; echo x >> %s/soft; mkfifo p; truncate -s 0 file; ls",
            b->outside.path, b->policy.workspace, b->policy.workspace, b->policy.workspace)
            .p;

    TRY(box_run(b, script));
    EXPECT(str_ends(strbuf_str(&b->out), S("\nfile\n")));
    EXPECT(file_is(box_outside(b, "file"), "theirs\n"));
    EXPECT(!fs_exists(box_path(b, "ws/hard")));
    return NULL;
}

BOX_TEST(modes_owners_times_and_attributes_outside_stay)
{
    const char *path = box_outside(b, "file");
    struct stat before, after;

    EXPECT(stat(path, &before) == 0);
    TRY(box_run(b, arena_format(&b->arena,
                                "f=%s; chmod 777 $f; touch -d 2000-01-01 $f; chown 1:1 $f; "
                                "setfattr -n user.x -v y $f; chattr +A $f; exec 9< $f; "
                                "chmod 777 /proc/self/fd/9; touch /proc/self/fd/9",
                                path)
                       .p));
    EXPECT(stat(path, &after) == 0);
    EXPECT(before.st_mode == after.st_mode && before.st_uid == after.st_uid);
    EXPECT(before.st_mtim.tv_sec == after.st_mtim.tv_sec);
    EXPECT(before.st_ctim.tv_sec == after.st_ctim.tv_sec &&
           before.st_ctim.tv_nsec == after.st_ctim.tv_nsec);
    return NULL;
}

BOX_TEST(a_secret_is_not_read_by_any_name)
{
    TRY(box_run(b, "h=$(cd ../home && pwd); ln -s $h/.ssh/id link; ln $h/.ssh/id hard; "
                   "cat $h/.ssh/id link hard ../home/.ssh/../.ssh/id /proc/self/root$h/.ssh/id "
                   "/proc/self/cwd/../home/.ssh/id; cp -r $h/.ssh copy; cat copy/*; "
                   "mv $h/.ssh $h/ssh; cat $h/ssh/id; cat $h/notes"));
    EXPECT(str_find(strbuf_str(&b->out), S("the key")) == STR_NONE);
    EXPECT(str_ends(strbuf_str(&b->out), S("notes\n")));
    return NULL;
}

BOX_TEST(a_denied_file_in_the_workspace_is_neither_read_nor_moved)
{
    const char **hidden = ARENA_ARRAY(&b->arena, b->policy.n_hidden + 1, const char *);

    TRY(put_file(box_path(b, "ws/conf/.env"), "password\n"));
    memcpy(hidden, b->policy.hidden, b->policy.n_hidden * sizeof *hidden);
    hidden[b->policy.n_hidden++] = box_path(b, "ws/conf/.env");
    b->policy.hidden = hidden;
    TRY(box_run(b, "cat conf/.env; mv conf/.env x; mv conf conf2; rm -rf conf; cat file"));
    EXPECT(str_ends(strbuf_str(&b->out), S("text\n")));
    TRY(box_run(b, "cat x conf2/.env conf/.env; cp -r conf c; cat c/.env; echo end"));
    EXPECT(str_find(strbuf_str(&b->out), S("password")) == STR_NONE);
    EXPECT(file_is(box_path(b, "ws/conf/.env"), "password\n"));
    return NULL;
}

/* --- keel's own directory --- */

/* keel writes there while the command runs. */
static struct err *write_own(void *self)
{
    struct box *b = self;

    TRY(put_file(box_path(b, "ws/.keel/keel.db"), "grown\n"));
    return put_file(box_path(b, "ws/.keel/guard/new"), "new\n");
}

BOX_TEST(keels_own_directory_is_out_of_reach_and_stays_as_keel_leaves_it)
{
    const char *own[] = {box_path(b, "ws/.keel")};
    struct proc_spec spec = box_spec(b, SHELL("cat .keel/keel.db; echo x > .keel/settings.json; "
                                              "mv .keel k; rm -rf .keel; cat file"));
    AUTO(proc_output) struct proc_output output = {0};
    AUTO(strbuf) struct strbuf large = {0};
    struct proc *p = NULL;

    for (int i = 0; i < 5 << 10; i++)
        strbuf_addf(&large, "%01023d\n", i);
    TRY(put_file(box_path(b, "ws/.keel/large"), strbuf_cstr(&large)));
    TRY(put_file(box_path(b, "ws/.keel/keel.db"), "database\n"));
    b->policy.own = own;
    b->policy.n_own = 1;
    TRY(box_open(b));
    spec.before_start = write_own;
    spec.before_self = b;
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(proc_collect(p, 60000, &output));
    proc_free(p);
    TRY(sandbox_command_ended(&b->sandbox, &b->notes));
    EXPECT_OUTPUT(b->notes, "");
    EXPECT(str_find(strbuf_str(&output.out), S("database")) == STR_NONE);
    EXPECT(str_ends(strbuf_str(&output.out), S("text\n")));
    EXPECT(file_is(box_path(b, "ws/.keel/keel.db"), "grown\n"));
    EXPECT(file_is(box_path(b, "ws/.keel/guard/new"), "new\n"));
    EXPECT(!fs_exists(box_path(b, "ws/.keel/settings.json")));
    return NULL;
}

BOX_TEST(one_that_a_command_makes_is_not_keels_own)
{
    const char *own[] = {box_path(b, "ws/.keel")};

    b->policy.own = own;
    b->policy.n_own = 1;
    TRY(box_run(b, "mkdir .keel && echo x > .keel/settings.json"));
    EXPECT(has_text(&b->notes, "/.keel was created by the command"));
    EXPECT(!fs_exists(own[0]));
    return NULL;
}

BOX_TEST(keels_own_directory_is_not_to_be_written)
{
    const char *own[] = {b->policy.workspace};
    AUTO(err) struct err *e = NULL;

    b->policy.own = own;
    b->policy.n_own = 1;
    e = box_run(b, "echo x > made");
    EXPECT(err_is(e, ERR_SANDBOX) && !fs_exists(box_path(b, "ws/made")));
    b->policy.nothing_is_writable = true; /* but looked at */
    TRY(box_open(b));
    TRY(box_run(b, "cat file"));
    EXPECT_OUTPUT(b->out, "text\n");
    return NULL;
}

/* --- what changes while a sandbox is built --- */

struct swap {
    const char *one, *other;
    int n_calls;
};

static struct err *swap_once(void *self)
{
    struct swap *s = self;

    s->n_calls++;
    EXPECT(renameat2(AT_FDCWD, s->one, AT_FDCWD, s->other, RENAME_EXCHANGE) == 0);
    return NULL;
}

/* Rules are made when the command is about to start; mounts were built on it before. */
BOX_TEST(a_directory_that_was_exchanged_is_looked_at_again)
{
    struct swap swap = {box_path(b, "ws/d"), box_path(b, "ws/link")};
    const char *hidden[] = {box_path(b, "ws/d/home/.env"), box_path(b, "home/.ssh")};
    struct proc_spec spec = box_spec(b, SHELL("cat ../home/.ssh/id; cat file"));
    AUTO(proc_output) struct proc_output output = {0};
    struct proc *p = NULL;

    TRY(put_file(hidden[0], "password\n"));
    EXPECT(symlink(b->dir.path, swap.other) == 0);
    b->policy.hidden = hidden;
    b->policy.n_hidden = ARRAY_LEN(hidden);
    TRY(box_open(b));
    spec.before_start = swap_once;
    spec.before_self = &swap;
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(proc_collect(p, 60000, &output));
    proc_free(p);
    EXPECT(swap.n_calls == 1);
    EXPECT(str_find(strbuf_str(&output.out), S("the key")) == STR_NONE);
    EXPECT(str_ends(strbuf_str(&output.out), S("text\n")));
    return sandbox_command_ended(&b->sandbox, &b->notes);
}

BOX_TEST(a_command_starts_in_the_directory_that_was_chosen_or_not_at_all)
{
    struct swap swap = {box_path(b, "ws/d"), box_path(b, "ws/link")};
    struct proc_spec spec = box_spec(b, SHELL("cat id; cat chosen"));
    AUTO(proc_output) struct proc_output output = {0};
    AUTO(err) struct err *e = NULL;
    struct proc *p = NULL;

    TRY(put_file(box_path(b, "ws/d/.ssh/chosen"), "chosen\n"));
    EXPECT(symlink(b->policy.home, swap.other) == 0);
    TRY(box_open(b));
    spec.cwd = box_path(b, "ws/d/.ssh");
    spec.before_start = swap_once;
    spec.before_self = &swap;
    e = launcher_start(&b->sandbox.launcher, &spec, &p);
    EXPECT(!e || (err_is(e, ERR_SANDBOX) && strstr(e->text, "was replaced")));
    if (e)
        return NULL;
    /* On a busy machine it has entered the directory before that is exchanged. */
    TRY(proc_collect(p, 60000, &output));
    proc_free(p);
    EXPECT(str_find(strbuf_str(&output.out), S("the key")) == STR_NONE);
    EXPECT(str_ends(strbuf_str(&output.out), S("chosen\n")));
    return sandbox_command_ended(&b->sandbox, &b->notes);
}

BOX_TEST(a_denied_file_is_hidden_where_all_around_may_be_read)
{
    const char *hidden[] = {box_outside(b, ".env"), box_outside(b, "secrets")};

    TRY(put_file(hidden[0], "password\n"));
    TRY(put_file(box_outside(b, "secrets/key"), "password\n"));
    b->policy.workspace = b->outside.path;
    b->policy.hidden = hidden;
    b->policy.n_hidden = ARRAY_LEN(hidden);
    TRY(box_run(b, "cat .env secrets/key ./secrets/../.env /proc/self/cwd/.env; mv .env x; "
                   "cat x; mv secrets s; cat s/key; cat file"));
    EXPECT(str_find(strbuf_str(&b->out), S("password")) == STR_NONE);
    EXPECT(str_ends(strbuf_str(&b->out), S("theirs\n")));
    return NULL;
}

BOX_TEST(a_workspace_in_a_hidden_place_is_writable)
{
    const char *hidden[] = {b->dir.path};

    b->policy.hidden = hidden;
    b->policy.n_hidden = 1;
    b->policy.home = NULL;
    TRY(box_run(b, "echo x > new; cat ../home/notes; cat new"));
    EXPECT(str_ends(strbuf_str(&b->out), S("x\n")));
    EXPECT(str_find(strbuf_str(&b->out), S("notes\n")) == STR_NONE);
    EXPECT(file_is(box_path(b, "ws/new"), "x\n"));
    return NULL;
}

BOX_TEST(only_common_devices_can_be_used)
{
    TRY(box_run(b, "echo x > /dev/null && head -c 3 /dev/zero | wc -c; "
                   "for d in /dev/kmsg /dev/mem /dev/vda /dev/sda /dev/fuse /dev/kvm; do "
                   "head -c 1 $d && echo READ $d; done; echo end"));
    EXPECT(str_starts(strbuf_str(&b->out), S("3\n")));
    EXPECT(str_find(strbuf_str(&b->out), S("READ")) == STR_NONE);
    return NULL;
}

/* --- protected files --- */

static struct err *make_repository(struct box *b, const char *path)
{
    TRY(put_file(box_path(b, arena_format(&b->arena, "%s/.git/config", path).p), "[core]\n"));
    TRY(put_file(box_path(b, arena_format(&b->arena, "%s/.git/HEAD", path).p), "ref: x\n"));
    return put_file(box_path(b, arena_format(&b->arena, "%s/.git/hooks/pre-push", path).p),
                    "mine\n");
}

static struct err *expect_repository(struct box *b, const char *path)
{
    EXPECT(file_is(box_path(b, arena_format(&b->arena, "%s/.git/config", path).p), "[core]\n"));
    EXPECT(
        file_is(box_path(b, arena_format(&b->arena, "%s/.git/hooks/pre-push", path).p), "mine\n"));
    EXPECT(!fs_exists(box_path(b, arena_format(&b->arena, "%s/.git/hooks/evil", path).p)));
    EXPECT(!fs_exists(box_path(b, arena_format(&b->arena, "%s/.git/commondir", path).p)));
    return NULL;
}

static const char attack_on_git[] =
    "cd $1 2>/dev/null; echo evil > .git/hooks/evil; echo evil >> .git/hooks/pre-push; "
    "echo evil >> .git/config; echo /evil > .git/commondir; rm -f .git/config; "
    "mv .git/hooks .git/h; mkdir .git/hooks; echo x > .git/hooks/evil; "
    "mv .git git; mkdir -p .git/hooks; echo x > .git/hooks/evil; echo x > .git/HEAD; true";

BOX_TEST(hooks_and_configuration_of_git_are_as_they_were)
{
    TRY(make_repository(b, "ws"));
    TRY(box_run(b, attack_on_git));
    EXPECT(has_namespaces(b) ||
           has_text(&b->notes, "ws/.git was moved by the command; keel moved it back"));
    return expect_repository(b, "ws");
}

BOX_TEST(nested_repositories_are_protected_too)
{
    TRY(make_repository(b, "ws/lib/deep"));
    TRY(box_run(b, "mv lib/deep lib/d; mv lib l; mkdir -p lib/deep/.git/hooks; "
                   "echo x > lib/deep/.git/hooks/evil; for d in lib/deep lib/d l/deep l/d; do "
                   "echo evil > $d/.git/hooks/evil; echo evil >> $d/.git/config; done; true"));
    return expect_repository(b, "ws/lib/deep");
}

BOX_TEST(settings_of_keel_and_of_shells_are_as_they_were)
{
    TRY(put_file(box_path(b, "ws/.keel/settings.json"), "{}"));
    TRY(put_file(box_path(b, "ws/.mcp.json"), "{}"));
    TRY(put_file(box_path(b, "ws/.bashrc"), "true\n"));
    TRY(box_run(b, "for f in .keel/settings.json .mcp.json .bashrc; do echo evil > $f; rm -f $f; "
                   "echo evil > $f; done; echo x > .keel/new; rm -rf .keel; mv .keel k; true"));
    EXPECT(file_is(box_path(b, "ws/.keel/settings.json"), "{}"));
    EXPECT(file_is(box_path(b, "ws/.mcp.json"), "{}"));
    EXPECT(file_is(box_path(b, "ws/.bashrc"), "true\n"));
    EXPECT(!fs_exists(box_path(b, "ws/.keel/new")));
    return NULL;
}

BOX_TEST(what_was_not_there_is_moved_aside_and_told)
{
    TRY(box_run(b, "mkdir .claude; echo evil > .claude/settings.json; echo evil > .bashrc"));
    EXPECT(!fs_exists(box_path(b, "ws/.claude")) && !fs_exists(box_path(b, "ws/.bashrc")));
    EXPECT(file_is(box_path(b, "ws/.bashrc.keel-untrusted"), "evil\n"));
    EXPECT(has_text(&b->notes, "ws/.bashrc was created by the command"));
    return NULL;
}

BOX_TEST(a_command_that_takes_all_names_for_asides_keeps_nothing)
{
    TRY(box_run(b, "echo x > .bashrc.keel-untrusted; for i in $(seq 1100); do "
                   "echo x > .bashrc.keel-untrusted-$i; done; echo evil > .bashrc"));
    EXPECT(!fs_exists(box_path(b, "ws/.bashrc")));
    EXPECT(has_text(&b->notes, "ws/.bashrc was created by the command; keel renamed it"));
    return NULL;
}

static size_t count_lines(const struct strbuf *text)
{
    size_t n = 0;

    for (size_t i = 0; i < text->n; i++)
        n += text->p[i] == '\n';
    return n;
}

BOX_TEST(thousands_of_new_hooks_are_told_in_some_lines_and_hide_no_other_note)
{
    TRY(make_repository(b, "ws"));
    TRY(box_run(b, "for i in $(seq 200); do mkdir -p d$i/.git/objects d$i/.git/refs "
                   "d$i/.git/hooks; echo x > d$i/.git/HEAD; echo evil > d$i/.git/hooks/evil; done; "
                   "echo x > .gitmodules"));
    EXPECT(count_lines(&b->notes) < 60);
    EXPECT(has_text(&b->notes, "ws are not listed: each was created by the command; keel renamed"));
    EXPECT(has_text(&b->notes, "ws/.gitmodules was changed by the command; check it"));
    EXPECT(!fs_exists(box_path(b, "ws/d200/.git/hooks/evil")));
    return NULL;
}

BOX_TEST(a_new_repository_stays_without_its_hooks)
{
    TRY(box_run(b, "mkdir -p .git/hooks; echo '[core]' > .git/config; echo x > .git/HEAD; "
                   "echo s > .git/hooks/a.sample; echo evil > .git/hooks/pre-commit"));
    EXPECT(fs_exists(box_path(b, "ws/.git/hooks/a.sample")));
    EXPECT(fs_exists(box_path(b, "ws/.git/config")));
    EXPECT(!fs_exists(box_path(b, "ws/.git/hooks/pre-commit")));
    TRY(box_run(b, "echo evil >> .git/config; true"));
    EXPECT(file_is(box_path(b, "ws/.git/config"), "[core]\n"));
    return NULL;
}

BOX_TEST(a_command_that_changes_nothing_gives_no_notes)
{
    TRY(make_repository(b, "ws"));
    TRY(box_run(b, "cat .git/config; echo x > .git/index; mkdir -p .git/objects/ab"));
    EXPECT_OUTPUT(b->out, "[core]\n");
    EXPECT_OUTPUT(b->notes, "");
    return NULL;
}

/* --- network and sockets --- */

BOX_TEST(a_server_outside_is_not_reached)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct err *e;

    EXPECT(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0);
    EXPECT(getsockname(fd, (struct sockaddr *)&address, &size) == 0);
    e = box_run(b, arena_format(&b->arena, "bash -c 'echo > /dev/tcp/127.0.0.1/%d'",
                                ntohs(address.sin_port))
                       .p);
    close(fd);
    TRY(e);
    EXPECT(b->exit_code != 0);
    return NULL;
}

BOX_TEST(a_unix_socket_outside_is_not_reached)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct err *e;

    snprintf(address.sun_path, sizeof address.sun_path, "%s", box_path(b, "ws/s"));
    EXPECT(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0);
    e = box_run(b, "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"s\")'");
    close(fd);
    TRY(e);
    EXPECT(b->exit_code == 1 && has_text(&b->out, "Error"));
    return NULL;
}

BOX_TEST(commands_of_one_sandbox_share_their_loopback)
{
    static const char server[] = "import socket, sys\n"
                                 "s = socket.create_server((\"127.0.0.1\", 4711))\n"
                                 "print(\"ready\", flush=True)\n"
                                 "s.accept()[0].send(b\"hello\")\n";
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = box_spec(b, ARGV("python3", "-c", server));

    TRY(box_open(b));
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(read_ready(p));
    TRY(box_run(b, "bash -c 'cat < /dev/tcp/127.0.0.1/4711'"));
    EXPECT_OUTPUT(b->out, "hello");
    return NULL;
}

/* --- processes --- */

BOX_TEST(processes_outside_are_neither_signalled_nor_looked_into)
{
    TRY(box_run(b, arena_format(&b->arena,
                                "kill -0 %d && echo SIGNALLED; kill -0 $PPID && echo SIGNALLED; "
                                "cat /proc/%d/environ /proc/$PPID/environ | grep -q . && echo READ;"
                                "ls /proc/%d/fd /proc/$PPID/fd 2>/dev/null; echo end",
                                getpid(), getpid(), getpid())
                       .p));
    EXPECT(str_find(strbuf_str(&b->out), S("SIGNALLED")) == STR_NONE);
    EXPECT(str_find(strbuf_str(&b->out), S("READ")) == STR_NONE);
    return NULL;
}

BOX_TEST(no_privilege_is_gained)
{
    TRY(box_run(b, "mkdir m; mount -t tmpfs x m && echo MOUNTED; unshare -Ur true && echo UNSHARED;"
                   "mknod dev b 8 0 && echo MADE; chroot . true 2>/dev/null && echo ROOTED; "
                   "while read -r line; do case $line in NoNewPrivs*|Seccomp:*) echo \"$line\"; "
                   "esac; done </proc/self/status"));
    EXPECT(has_text(&b->out, "NoNewPrivs:\t1\nSeccomp:\t2\n"));
    EXPECT(str_find(strbuf_str(&b->out), S("ED\n")) == STR_NONE);
    EXPECT(str_find(strbuf_str(&b->out), S("MADE")) == STR_NONE);
    return NULL;
}

BOX_TEST(nothing_survives_the_command)
{
    const char *const *mark = new_mark();
    struct proc_spec spec = marked(
        box_spec(b, SHELL("setsid sleep 1000 & (setsid nohup sleep 1000 &) ; echo on")), mark);
    AUTO(proc) struct proc *p = NULL;
    struct proc_output output = {0};

    TRY(box_open(b));
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(proc_collect(p, 60000, &output));
    proc_output_done(&output);
    return wait_until_gone(mark);
}

BOX_TEST(programs_may_trace_their_own_children)
{
    TRY(box_run(b, "python3 - <<'end'\nimport ctypes, os, signal\n"
                   "libc = ctypes.CDLL(None)\nchild = os.fork()\n"
                   "if child == 0:\n    libc.ptrace(0, 0, 0, 0)\n"
                   "    os.kill(os.getpid(), signal.SIGSTOP)\n    os._exit(0)\n"
                   "print(os.WIFSTOPPED(os.waitpid(child, 0)[1]))\n"
                   "os.kill(child, signal.SIGKILL)\nend"));
    EXPECT_OUTPUT(b->out, "True\n");
    return NULL;
}

/* The linker complains once in each program that is told to load what is not there. */
BOX_TEST(a_command_begins_with_default_signals)
{
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before;

    EXPECT(sigaction(SIGUSR1, &ignored, &before) == 0);
    TRY(box_run(b, "kill -USR1 $$; echo alive"));
    EXPECT(sigaction(SIGUSR1, &before, NULL) == 0);
    EXPECT_OUTPUT(b->out, "");
    return NULL;
}

BOX_TEST(shared_memory_is_the_command_s_own)
{
    TRY(box_run(b, "echo x > /dev/shm/keel-test-$PPID && cat /dev/shm/keel-test-$PPID"));
    EXPECT_OUTPUT(b->out, "x\n");
    TRY(box_run(b, "ls -A /dev/shm; stat -c %a /dev/shm"));
    EXPECT_OUTPUT(b->out, "1777\n");
    return NULL;
}

BOX_TEST(what_hides_a_place_cannot_be_written)
{
    TRY(box_run(b,
                arena_format(&b->arena,
                             "for f in %s/.ssh/new /run/new /tmp/new; do "
                             "echo x > $f && echo written; mkdir $f && echo made; done; echo end",
                             b->policy.home)
                    .p));
    EXPECT(str_find(strbuf_str(&b->out), S("written")) == STR_NONE);
    EXPECT(str_find(strbuf_str(&b->out), S("made")) == STR_NONE);
    EXPECT(str_ends(strbuf_str(&b->out), S("end\n")));
    return NULL;
}

BOX_TEST(what_the_command_loads_is_not_loaded_before_it_is_confined)
{
    static const char *const environment[] = {"LD_PRELOAD=/no-such-library", NULL};
    struct proc_spec spec = box_spec(b, ARGV("/bin/true"));
    AUTO(proc) struct proc *p = NULL;
    struct proc_output output = {0};
    size_t first;

    TRY(box_open(b));
    spec.environment = environment;
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(proc_collect(p, 60000, &output));
    b->out = output.out;
    strbuf_done(&output.err);
    first = str_find(strbuf_str(&b->out), S("no-such-library"));
    EXPECT(first != STR_NONE);
    EXPECT(str_find(str_skip(strbuf_str(&b->out), first + 1), S("no-such-library")) == STR_NONE);
    return NULL;
}

/* --- refusals --- */

BOX_TEST(the_whole_file_system_is_no_workspace)
{
    struct proc_spec spec = box_spec(b, ARGV("true"));
    struct proc *p = NULL;

    b->policy.workspace = "/";
    sandbox_init(&b->sandbox, &b->policy);
    EXPECT_ERR(launcher_start(&b->sandbox.launcher, &spec, &p), ERR_SANDBOX);
    return NULL;
}

BOX_TEST(a_command_in_a_hidden_directory_does_not_run)
{
    struct proc_spec spec = box_spec(b, ARGV("true"));
    struct proc *p = NULL;

    TRY(box_open(b));
    TRY(fs_make_dirs(box_path(b, "other"), 0700));
    spec.cwd = box_path(b, "other");
    EXPECT_ERR(launcher_start(&b->sandbox.launcher, &spec, &p), ERR_SANDBOX);
    return NULL;
}

BOX_TEST(a_command_that_does_not_exist_is_not_the_sandbox_s_fault)
{
    struct proc_spec spec = box_spec(b, ARGV("no-such-command"));
    struct proc *p = NULL;

    TRY(box_open(b));
    EXPECT_ERR(launcher_start(&b->sandbox.launcher, &spec, &p), ERR_CONFIGURATION);
    return NULL;
}

BOX_TEST(what_fails_without_namespaces_is_explained)
{
    TRY(box_run(b, "chmod 700 file"));
    EXPECT(has_namespaces(b) ? b->exit_code == 0 && !sandbox_advice(&b->sandbox)
                             : b->exit_code != 0 && strstr(sandbox_advice(&b->sandbox), "chmod"));
    return NULL;
}

BOX_TEST(who_requires_every_protection_gets_it_or_an_error)
{
    struct proc_spec spec = box_spec(b, ARGV("/bin/true"));
    struct proc *p = NULL;

    b->policy.require_full = true;
    TRY(box_open(b));
    if (has_namespaces(b) && sandbox_landlock_version() > 0) {
        TRY(box_run(b, "echo run"));
        EXPECT_OUTPUT(b->out, "run\n");
        EXPECT(!sandbox_weakness(&b->sandbox));
    } else {
        EXPECT_ERR(launcher_start(&b->sandbox.launcher, &spec, &p), ERR_SANDBOX);
    }
    return NULL;
}

BOX_TEST(what_commands_can_do_all_the_same_is_told)
{
    EXPECT(!sandbox_weakness(&b->sandbox)); /* nothing is known yet */
    TRY(box_run(b, "true"));
    EXPECT(has_namespaces(b) ? sandbox_landlock_version() == 0 || !sandbox_weakness(&b->sandbox)
                             : strstr(sandbox_weakness(&b->sandbox), "Landlock alone") != NULL);
    return NULL;
}

TEST(every_machine_that_lacks_something_is_weaker)
{
    assert_null(sandbox_weakness_of(true, SANDBOX_LANDLOCK_SIGNALS));
    assert_non_null(strstr(sandbox_weakness_of(true, 0), "named pipes"));
    assert_non_null(strstr(sandbox_weakness_of(false, 1), "signal"));
    assert_null(strstr(sandbox_weakness_of(false, SANDBOX_LANDLOCK_SIGNALS), "signal"));
}

TEST(a_remedy_is_for_what_is_missing)
{
    assert_null(strstr(sandbox_remedy(true, 0), "Allow namespaces"));
    assert_non_null(strstr(sandbox_remedy(false, 0), "Allow namespaces"));
    assert_non_null(strstr(sandbox_remedy(false, 1), "a kernel of 6.12 or later"));
    assert_null(strstr(sandbox_remedy(false, SANDBOX_LANDLOCK_SIGNALS), "kernel of"));
}

TEST(a_probe_says_what_can_be_had)
{
    struct sandbox_probe p;

    assert_ok(sandbox_probe(&p));
    assert_int_equal(p.is_complete, p.missing[0] == 0 && !p.weakness);
    assert_int_equal(p.landlock_abi, sandbox_landlock_version());
    assert_int_equal(p.mount_namespace, p.no_namespaces[0] == 0);
}

RUN_TESTS(BOTH_WAYS(a_command_writes_in_its_workspace_and_in_tmpdir),
          BOTH_WAYS(an_added_directory_is_writable), BOTH_WAYS(nothing_outside_is_changed),
          BOTH_WAYS(modes_owners_times_and_attributes_outside_stay),
          BOTH_WAYS(a_secret_is_not_read_by_any_name),
          BOTH_WAYS(a_denied_file_in_the_workspace_is_neither_read_nor_moved),
          BOTH_WAYS(keels_own_directory_is_out_of_reach_and_stays_as_keel_leaves_it),
          BOTH_WAYS(one_that_a_command_makes_is_not_keels_own),
          BOTH_WAYS(keels_own_directory_is_not_to_be_written),
          BOTH_WAYS(a_directory_that_was_exchanged_is_looked_at_again),
          WAY(a_command_starts_in_the_directory_that_was_chosen_or_not_at_all, without_namespaces),
          BOTH_WAYS(a_denied_file_is_hidden_where_all_around_may_be_read),
          BOTH_WAYS(a_workspace_in_a_hidden_place_is_writable),
          BOTH_WAYS(only_common_devices_can_be_used),
          BOTH_WAYS(hooks_and_configuration_of_git_are_as_they_were),
          BOTH_WAYS(nested_repositories_are_protected_too),
          BOTH_WAYS(settings_of_keel_and_of_shells_are_as_they_were),
          BOTH_WAYS(what_was_not_there_is_moved_aside_and_told),
          BOTH_WAYS(a_command_that_takes_all_names_for_asides_keeps_nothing),
          BOTH_WAYS(thousands_of_new_hooks_are_told_in_some_lines_and_hide_no_other_note),
          BOTH_WAYS(a_new_repository_stays_without_its_hooks),
          BOTH_WAYS(a_command_that_changes_nothing_gives_no_notes),
          BOTH_WAYS(a_server_outside_is_not_reached),
          BOTH_WAYS(a_unix_socket_outside_is_not_reached),
          WAY(commands_of_one_sandbox_share_their_loopback, with_namespaces),
          BOTH_WAYS(processes_outside_are_neither_signalled_nor_looked_into),
          BOTH_WAYS(no_privilege_is_gained), BOTH_WAYS(nothing_survives_the_command),
          BOTH_WAYS(programs_may_trace_their_own_children),
          BOTH_WAYS(a_command_begins_with_default_signals),
          WAY(shared_memory_is_the_command_s_own, with_namespaces),
          BOTH_WAYS(what_hides_a_place_cannot_be_written),
          BOTH_WAYS(what_the_command_loads_is_not_loaded_before_it_is_confined),
          BOTH_WAYS(the_whole_file_system_is_no_workspace),
          BOTH_WAYS(a_command_in_a_hidden_directory_does_not_run),
          BOTH_WAYS(a_command_that_does_not_exist_is_not_the_sandbox_s_fault),
          BOTH_WAYS(what_fails_without_namespaces_is_explained),
          BOTH_WAYS(who_requires_every_protection_gets_it_or_an_error),
          BOTH_WAYS(what_commands_can_do_all_the_same_is_told),
          UNIT(every_machine_that_lacks_something_is_weaker), UNIT(a_remedy_is_for_what_is_missing),
          UNIT(a_probe_says_what_can_be_had))
