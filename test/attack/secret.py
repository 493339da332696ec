"""secret.py - attempts to read what the sandbox hides."""
import os

from attempt import Attempt, Read, WATCHED
from outside import handle, own_home_in_workspace
from stage import SECRET_FILES


def symlinks_to_secrets(stage):
    (stage.workspace / "key").symlink_to(stage.home / ".ssh/id_ed25519")
    (stage.workspace / "keys").symlink_to(stage.home / ".ssh")
    (stage.workspace / "all").symlink_to("/")
    stage.own()


def protected_place_is_a_link(stage):
    """If the sandbox mounts what a protected name leads to, it shows what it should hide."""
    (stage.workspace / ".vscode").symlink_to(stage.home / ".ssh")
    stage.own()


def secrets_lie_behind_links(stage):
    real = stage.home / "dotfiles"
    real.mkdir()
    os.rename(stage.home / ".aws", real / "aws")
    os.rename(stage.home / ".netrc", real / "netrc")
    (stage.home / ".aws").symlink_to(real / "aws")
    (stage.home / ".netrc").symlink_to("dotfiles/netrc")
    stage.own()


def home_on_input(stage):
    stage.standard_input(stage.home, os.O_RDONLY | os.O_DIRECTORY)


def inherit_home(stage):
    stage.inherit(stage.home, os.O_RDONLY | os.O_DIRECTORY)


def inherit_root(stage):
    stage.inherit("/", os.O_RDONLY | os.O_DIRECTORY)
    stage.vars["NAME"] = str(stage.home / ".ssh/id_ed25519")[1:]


def handle_of_secret(stage):
    handle(stage, stage.home / ".ssh/id_ed25519")


def others_home(stage):
    if stage.world.others_home:
        path = stage.world.others_home / stage.token
        path.write_text(stage.secret + "\n")
        path.chmod(0o644)
        stage.vars["OTHER"] = path
        stage.closers.append(path.unlink)


def many_private_files(stage):
    """As a command could have left them."""
    for number in range(600):
        stage.owned(stage.workspace / f"private-{number}", "", mode=0o600)
    stage.owned(stage.home / ".config/tool/token", stage.secret + "\n", mode=0o600)


def deny_rules(stage):
    stage.owned(stage.keel_home / "settings.json",
                '{"permissions": {"deny": ["Read(./private/**)", "Read(/%s/**)"]}}\n'
                % (stage.outside / "dir"))
    stage.owned(stage.workspace / "private/key", stage.secret + "\n")
    stage.owned(stage.outside / "dir/key", stage.secret + "\n")


def victim(stage):
    stage.attack_victim()


def shared_memory(stage):
    stage.vars["KEY"] = int(stage.token[-6:], 16) + 1
    make(stage, "shm-make", str(stage.vars["KEY"]), stage.secret)
    stage.closers.append(lambda: make(stage, "shm-remove", str(stage.vars["KEY"])))


def message_queue(stage):
    stage.vars["QUEUE"] = "/" + stage.token
    make(stage, "mq-make", "/" + stage.token, stage.secret)
    stage.closers.append(lambda: make(stage, "mq-remove", "/" + stage.token))


def make(stage, *words):
    stage.person.start([stage.world.probe, *words], cwd="/", stdout=-3, stderr=-3).wait()


# A home on btrfs, which is a subvolume of its owner's. The words behind it run as the person.
BTRFS_HOME = ("unshare", "-m", "bash", "-c", """
    set -e; home=$(dirname "$PWD"); secret=$(cat "$home/.ssh/id_ed25519")
    truncate -s 120M "$home/../image"; mkfs.btrfs -q "$home/../image"
    mount -o loop "$home/../image" "$home"
    mkdir -p "$home/.ssh" "$home/project"; echo "$secret" >"$home/.ssh/id_ed25519"
    chown -R "$0:$0" "$home"; cd "$home/project"
    setpriv --reuid "$0" --regid "$0" --clear-groups "$@" """, "UID")


# Of a file that anybody on this machine has open: it may be of any length, or wait for something.
BEGINNING = 'dd if="$f" bs=200 count=1 iflag=nonblock status=none'


def by_every_process(path):
    """Reads the file by a directory of each, without a program for each: there may be many."""
    return f'for p in /proc/[0-9]*; do read -r line <"$p/{path}" && echo "$line"; done 2>/dev/null'


def again(mounts):
    """Mounts that show what is hidden a second time. The words behind it run as the person."""
    return {"around": ("unshare", "-m", "bash", "-c",
                       f'set -e; mkdir -p ../outside/again again; {mounts}; '
                       'setpriv --reuid "$0" --regid "$0" --clear-groups "$@"', "UID"),
            "needs": "a mount, which only root can make"}


# Somebody logs in for the first time when the command says so, which hears when it is done.
LOGIN = ("mount --bind ../home ../outside/again; token=$(cat ../home/.ssh/id_ed25519); "
         "(until [ -e up ]; do sleep 0.01; done; echo \"$token\" >../home/new; "
         "chmod 644 ../home/new; mv ../home/new ../home/.vault-token; touch then) & true")
# It tries for as long as the file can be read, and then once more.
AS_LONG_AS_IT_CAN = ('echo >up; until [ -e then ]; do sleep 0.01; done; n=0; '
                     'while [ $n -lt 20000 ] && read -r _ <"{0}"; do n=$((n + 1)); done '
                     '2>/dev/null; cat "{0}"')

OVERLAY = "mount -t overlay none -o lowerdir={} ../outside/again"

# The machine's queues as files, in a /dev that has a place for them.
QUEUES = ("mkdir ../dev; mount --rbind /dev ../dev; mount -t tmpfs none /dev; "
          "for f in null zero full random urandom tty; do "
          "touch /dev/$f; mount --bind ../dev/$f /dev/$f; done; "
          "mkdir /dev/shm /dev/pts /dev/mqueue; mount -t mqueue none /dev/mqueue")


def key_leaked(run):
    return run.stage.key in run.out


ATTEMPTS = [
    *[Read(f"~/{name}", f'cat ~/{name}') for name in SECRET_FILES],
    Read("keel's own home", 'cat "$KEEL_HOME/credentials.json"'),
    Read("by ..", 'cat ../home/.ssh/id_ed25519'),
    Read("by .., from a workspace in the home", 'cat ../.ssh/id_ed25519', place="home"),
    Read("by .., from a workspace in /tmp", 'cat "$HOME/.netrc"', place="tmp"),
    Read("all of the home, from a workspace in it", 'cd ..; tar c . 2>/dev/null', place="home"),
    Read("all of the home, by find -exec", 'find ~ -type f -exec cat {} +'),
    Read("all of the home, by grep -r", 'grep -r . ~'),
    Read("all of the home, copied", 'cp -r ~ copy; cat copy/.ssh/*'),
    *[Read("from a workspace that is the home, " + how, script, place="whole home")
      for how, script in (("by its path", 'cat .ssh/id_ed25519'),
                          ("renamed", 'mv .ssh s; cat s/*; mv .config c; cat c/gh/*'),
                          ("by a hardlink", 'ln .netrc n; cat n'),
                          ("copied", 'cp -r .aws copy; cat copy/*'))],
    Read("keel's own home, from a workspace that is the home", 'cat .keel/credentials.json; '
         'cp -r .keel .config/k; cat .config/k/*; tar c .keel', prepare=own_home_in_workspace,
         place="whole home"),
    Read("a private file, from a workspace with very many of them", 'cat ~/.config/tool/token',
         prepare=many_private_files, place="dotted"),
    Read("by a symlink that was there before", 'cat key', prepare=symlinks_to_secrets),
    Read("below a symlink that was there before", 'cat keys/id_ed25519',
         prepare=symlinks_to_secrets),
    Read("below a symlink to the root", 'cat "all$HOME/.ssh/id_ed25519"',
         prepare=symlinks_to_secrets),
    Read("by a symlink made just now", 'ln -s ~/.aws now; cat now/credentials'),
    Read("by a hardlink made just now", 'ln ~/.netrc here; cat here'),
    Read("by renaming the file into the workspace", '"$PROBE" rename ~/.netrc here; cat here'),
    Read("by renaming the directory into the workspace", '"$PROBE" rename ~/.ssh s; cat s/*'),
    Read("by renaming the directory aside", '"$PROBE" rename ~/.ssh ~/s; cat ~/s/*'),
    Read("where a hidden place is a symlink", 'cat ~/dotfiles/aws/credentials ~/dotfiles/netrc',
         prepare=secrets_lie_behind_links, alone=True),
    Read("through a protected name that leads to a hidden place", 'cat .vscode/id_ed25519',
         prepare=protected_place_is_a_link, alone=True),
    Read("by /proc/self/root", 'cat "/proc/self/root$HOME/.ssh/id_ed25519"'),
    Read("by the root of every process", by_every_process("root$HOME/.ssh/id_ed25519")),
    Read("by the working directory of every process",
         by_every_process("cwd/../home/.ssh/id_ed25519")),
    Read("by the descriptors of every process",
         f'for f in /proc/[0-9]*/fd/*; do [ -f "$f" ] && {BEGINNING}; done 2>/dev/null',
         prepare=victim),
    Read("by the working directory of a process, which is the root",
         'cat "/proc/$VICTIM/cwd$HOME/.netrc"', prepare=victim),
    Read("by the environment of every process", 'cat /proc/[0-9]*/environ 2>/dev/null',
         prepare=victim),
    Attempt("reads: keys in keel's environment, by /proc",
            "exec env -u ANTHROPIC_API_KEY bash -c 'cat /proc/[0-9]*/environ' 2>/dev/null",
            key_leaked, around_control=WATCHED),
    Attempt("reads: keys in its own environment", 'env', key_leaked),
    Read("below an inherited directory", '"$PROBE" read-below-fd "$INHERITED" .ssh/id_ed25519',
         prepare=inherit_home),
    Read("below the inherited root", '"$PROBE" read-below-fd "$INHERITED" "$NAME"',
         prepare=inherit_root),
    Read("below a directory on standard input", '"$PROBE" read-below-fd 0 .ssh/id_ed25519',
         prepare=home_on_input),
    Read("above a directory on standard input", '"$PROBE" read-below-fd 0 ../home/.netrc',
         prepare=home_on_input),
    Read("by a handle of the file", '"$PROBE" read-handle "$WS" "$HANDLE"',
         prepare=handle_of_secret, who=("root",), needs="file handles"),
    Read("the home of somebody else", 'cat "$OTHER"', prepare=others_home,
         needs="a second home, which only root can make"),
    Read("the home of somebody else, by ..", 'cd /usr; cat "..$OTHER"', prepare=others_home,
         needs="a second home, which only root can make"),
    Read("a directory that a rule denies, in the workspace", 'cat private/key',
         prepare=deny_rules, alone=True),
    Read("a directory that a rule denies, outside", 'cat "$OUT/dir/key"', prepare=deny_rules,
         alone=True),
    Read("a denied directory that is renamed", 'mv private public; cat public/key',
         prepare=deny_rules, alone=True),
    Read("a file of a denied directory, by a hardlink", 'ln private/key here; cat here',
         prepare=deny_rules, alone=True),
    Read("where the home is mounted again", 'cat "$OUT/again/.ssh/id_ed25519"',
         **again("mount --bind ../home ../outside/again")),
    Read("where all is mounted again", 'cat "$OUT/again$HOME/.ssh/id_ed25519"',
         **again("mount --bind / ../outside/again")),
    Read("where all is mounted again, with what is mounted in it",
         'cat "$OUT/again$HOME/.ssh/id_ed25519"', **again("mount --rbind / ../outside/again")),
    Read("where the hidden place is mounted again", 'cat "$OUT/again/id_ed25519"',
         **again("mount --bind ../home/.ssh ../outside/again")),
    Read("where the hidden file is mounted again", 'cat "$OUT/again/f"',
         **again("touch ../outside/again/f; mount --bind ../home/.netrc ../outside/again/f")),
    Read("where the home is mounted again in the workspace", 'cat again/.ssh/id_ed25519',
         **again("mount --bind ../home again")),
    Read("where the home is mounted twice", 'cat "$OUT/again/.ssh/id_ed25519"',
         **again("mount --bind ../home again; mount --bind again ../outside/again")),
    Read("where the home is a layer of an overlay", 'cat "$OUT/again/.ssh/id_ed25519"',
         **again(OVERLAY.format("$(realpath ../home):$(realpath ../outside/dir)"))),
    Read("where what is above the home is a layer of an overlay",
         'cat "$OUT/again/home/.ssh/id_ed25519"',
         **again(OVERLAY.format("/usr/share:$(realpath ..)"))),
    Read("where the hidden place is a layer of an overlay", 'cat "$OUT/again/id_ed25519"',
         **again(OVERLAY.format("$(realpath ../home/.ssh):$(realpath ../outside/dir)"))),
    Read("of a first login, where the home is mounted again",
         AS_LONG_AS_IT_CAN.format("$OUT/again/.vault-token"), **again(LOGIN)),
    *[Read(f"command lines, where /proc is mounted again {where}",
           f'cat {path}/[0-9]*/cmdline 2>/dev/null', prepare=victim,
           **again(f"mount -t proc none {mounted}"))
      for where, path, mounted in (("outside", '"$OUT"/again', "../outside/again"),
                                   ("in the workspace", "again", "again"))],
    Read("in a snapshot of the file system (btrfs)",
         '"$PROBE" snapshot "$HOME" . snapshot; cat snapshot/.ssh/id_ed25519', place="home",
         around=BTRFS_HOME, needs="btrfs and a loop device, which only root has"),
    Read("by taking the mask off", '"$PROBE" umount ~/.ssh ~/.ssh/id_ed25519'),
    Read("by taking the mask off in a user namespace",
         'unshare -Urm "$PROBE" umount ~/.ssh ~/.ssh/id_ed25519', needs="user namespaces"),
    Read("out of a chroot", 'mkdir -p jail; "$PROBE" chroot-escape jail '
         '"${HOME#/}/.ssh/id_ed25519"', who=("root",), needs="chroot"),
    Read("by a program in memory", '"$PROBE" memfd-exec print ~/.ssh/id_ed25519'),
    Read("shared memory by its key", '"$PROBE" shm-read "$KEY"', prepare=shared_memory),
    Read("a message queue", '"$PROBE" mq-read "$QUEUE"', prepare=message_queue,
         needs="message queues"),
    Read("a message queue, by its file", '"$PROBE" mq-read-file "/dev/mqueue$QUEUE"',
         prepare=message_queue, **again(QUEUES)),
]
