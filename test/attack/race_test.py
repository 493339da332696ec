"""race_test.py - a command in the background exchanges files while sandboxes are built on them:
race_test.py RACE KEEL [WORD]...

Each shape is a workspace in which something that the sandbox is built on can be exchanged, by one
rename, for a link that leads out of it. A command in the sandbox does so without pause, and the next
ones try to read a secret and to write to the home. None may succeed. A sample is tried with a seed
that is printed (KEEL_RACE_SEED repeats it); KEEL_TEST_DEPTH=all tries everything 50 times, or
KEEL_RACE_TRIES times: test/race.sh has the build that is shipped do so 500 times.
"""
import dataclasses
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time
import typing

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from attempt import MODES  # noqa: E402
from stage import HANG_SECONDS, Person, Stage, USER_ID, World  # noqa: E402

IS_DEEP = os.environ.get("KEEL_TEST_DEPTH") == "all"
TRIES = int(os.environ.get("KEEL_RACE_TRIES") or (50 if IS_DEEP else 12))
SAMPLE = 10  # of all shapes, people and ways

# What a command tries, with nothing but a shell: to print, and to write.
LOOT = """
for f in "$@"; do while read -r line; do echo "$line"; done <"$f"; done 2>/dev/null
echo x >>"$HOME/.ssh/authorized_keys"
echo x >>"$HOME/.bashrc"
echo x >"$HOME/new"
exit 0
"""


@dataclasses.dataclass(frozen=True)
class Shape:
    name: str
    build: typing.Callable          # of a Stage: a Setting
    who: tuple = ("root", "user")
    agents: int = 1                 # 2: the exchange is made by another agent's command
    held: tuple = ()                # the ways in which not even the exchange can be made


@dataclasses.dataclass
class Setting:
    exchange: tuple                 # two paths in the workspace
    loot: tuple                     # files that a command tries to read
    script: str = ""                # what the command in the background does before
    options: tuple = ()             # of race.c
    home: pathlib.Path = None       # where it is another than the stage's


DENY_ENV = ("--deny", "Read(.env)")


def early(stage):
    """A workspace whose name sorts before the home's, so that it is dealt with before."""
    return move_workspace(stage, stage.dir / "code")


def move_workspace(stage, path):
    path.parent.mkdir(exist_ok=True)
    shutil.move(stage.workspace, path)
    stage.workspace = path


def keys(stage, *more):
    return (*more, stage.home / ".ssh/id_ed25519", stage.home / ".aws/credentials",
            stage.keel_home / "credentials.json")


# ---- shapes: what is to be hidden or protected is made by the command in the background ----

def parent_of_the_home(stage):
    """On the way to a denied file: the directory that the home is in."""
    return Setting(("d", "e"), keys(stage),
                   f"mkdir -p d/home; echo >d/home/.env; ln -s {stage.dir} e", DENY_ENV)


def deeper(stage):
    (stage.home / "c").mkdir()
    return Setting(("a/b", "a/e"), keys(stage),
                   f"mkdir -p a/b/home/c; echo >a/b/home/c/.env; ln -s {stage.dir} a/e",
                   ("--deny", "Read(**/.env)"))


def the_hidden_place(stage):
    return Setting(("d", "e"), keys(stage),
                   f"mkdir -p d/.ssh; echo >d/.ssh/.env; ln -s {stage.home} e", DENY_ENV)


def by_dots(stage):
    return Setting(("x/d", "x/e"), keys(stage),
                   "mkdir -p x/d/home; echo >x/d/home/.env; ln -s ../.. x/e", DENY_ENV)


def link_to_a_link(stage):
    return Setting(("d", "e"), keys(stage), "mkdir -p d/home; echo >d/home/.env; ln -s f e; "
                   f"ln -s {stage.dir} f", DENY_ENV)


def the_entry_itself(stage):
    """An entry of a split directory, which is granted as a whole, is exchanged for a link."""
    return Setting(("d", "e"), keys(stage, "d/.ssh/id_ed25519"),
                   f"echo >.env; mkdir d; ln -s {stage.home} e", DENY_ENV)


def a_repository_in_the_way(stage):
    """The mount of a protected file's directory: of the real ~/.aws, before it is hidden."""
    early(stage)
    return Setting(("d", "e"), keys(stage, "d/.aws/credentials"),
                   "mkdir -p d/.aws/.git; echo '[core]' >d/.aws/.git/config; "
                   f"echo 'ref: refs/heads/main' >d/.aws/.git/HEAD; ln -s {stage.home} e")


def a_protected_file(stage):
    early(stage)
    return Setting(("d", "e"), keys(stage, "d/.aws/credentials"),
                   f"mkdir -p d/.aws; echo >d/.aws/credentials; ln -s {stage.home} e",
                   ("--deny", "Edit(d/.aws/credentials)"))


def above_a_denied_file(stage):
    early(stage)
    return Setting(("d", "e"), keys(stage, "d/.ssh/id_ed25519"),
                   f"mkdir -p d/.ssh; echo >d/.ssh/none; ln -s {stage.home} e",
                   ("--deny", "Read(d/.ssh/none)"))


def the_protected_file_itself(stage):
    early(stage)
    return Setting(("d/file", "d/e"), keys(stage, "d/file", "d/e"),
                   f"mkdir d; echo >d/file; ln -s {stage.home}/.ssh/id_ed25519 d/e",
                   ("--deny", "Edit(d/file)"))


# ---- shapes: what makes the policy what it is ----

def an_added_directory(stage):
    (stage.workspace / "added").mkdir()
    return Setting(("added", "e"), keys(stage), f"ln -s {stage.home} e",
                   ("--add-dir", stage.workspace / "added"))


def above_an_added_directory(stage):
    (stage.workspace / "d/home").mkdir(parents=True)
    return Setting(("d", "e"), keys(stage), f"ln -s {stage.dir} e",
                   ("--add-dir", stage.workspace / "d/home"))


def the_workspace_in_an_added_directory(stage):
    move_workspace(stage, stage.dir / "projects/ws")
    return Setting((stage.workspace, stage.dir / "projects/e"), keys(stage),
                   f"ln -s {stage.home} ../e", ("--add-dir", stage.dir / "projects"))


def the_working_directory(stage):
    (stage.workspace / "d/.ssh").mkdir(parents=True)
    return Setting(("d", "e"), keys(stage, "id_ed25519"), f"ln -s {stage.home} e",
                   ("--cwd", stage.workspace / "d/.ssh"))


def the_temporary_directory(stage):
    """Which lies in the workspace, where TMPDIR says so."""
    stage.tmp = stage.workspace / "tmp"
    stage.tmp.mkdir()
    return Setting(("tmp", "e"), keys(stage), f"ln -s {stage.home} e")


def a_home_in_the_workspace(stage):
    """The home is shown where it lies in a hidden place."""
    (stage.workspace / "home").mkdir()
    other = stage.world.others_home / stage.token
    other.mkdir()
    (other / "key").write_text(stage.secret + "\n")
    stage.closers.append(lambda: shutil.rmtree(other))
    return Setting(("home", "e"), (other / "key",), f"ln -s {other} e",
                   home=stage.workspace / "home")


SHAPES = [
    Shape("the parent of the home", parent_of_the_home),
    Shape("the parent of the home, by another agent", parent_of_the_home, agents=2),
    Shape("the parent of the home, deeper", deeper),
    Shape("the hidden place", the_hidden_place),
    Shape("by ..", by_dots),
    Shape("a link to a link", link_to_a_link),
    Shape("an entry of a split directory", the_entry_itself),
    Shape("a repository in the way", a_repository_in_the_way),
    Shape("a repository in the way, by another agent", a_repository_in_the_way, agents=2),
    Shape("above a protected file", a_protected_file),
    Shape("above a protected file, by another agent", a_protected_file, agents=2),
    Shape("above a denied file", above_a_denied_file),
    Shape("above a denied file, by another agent", above_a_denied_file, agents=2),
    Shape("a protected file", the_protected_file_itself),
    Shape("an added directory", an_added_directory),
    Shape("above an added directory", above_an_added_directory),
    Shape("the workspace in an added directory", the_workspace_in_an_added_directory,
          held=("namespaces",)),
    Shape("the working directory", the_working_directory),
    Shape("the temporary directory", the_temporary_directory),
    Shape("the home in the workspace", a_home_in_the_workspace, who=("root",),
          held=("namespaces",)),
]


def command_of(world, race, stage, shape, setting, way):
    script = f'{setting.script}\nexec "$0" exchange-always "$@"'
    command = [race, "--workspace", stage.workspace, "--home", setting.home or stage.home,
               "--keel-home", stage.keel_home, "--way", way, "--tries", TRIES,
               "--agents", shape.agents, "--secret", stage.secret, *setting.options,
               "--", "/bin/sh", "-c", script, world.probe, *setting.exchange,
               "--", "/bin/sh", "-c", LOOT, "sh", *setting.loot]
    return [str(word) for word in command]


def run(world, race, shape, person, way):
    """What is wrong with it, or nothing; and how it went."""
    stage = Stage(world, person)
    try:
        setting = shape.build(stage)
        stage.own()
        stage.before = stage.look()
        process = person.start(command_of(world, race, stage, shape, setting, way), cwd="/",
                               env=stage.environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = process.communicate(timeout=HANG_SECONDS * 10)
        if way in shape.held and "Device or resource busy" in out:
            return "", "cannot be exchanged"
        counts = re.match(r"(\d+) run, (\d+) refused, (\d+) leaked", out)
        if process.returncode != 0 or not counts:
            return f"BROKEN: {out.strip()}\n{err[-2000:]}", out
        changed = stage.changed()
        if int(counts[3]) or changed:
            return f"WON: {out.strip()}; {'; '.join(changed)[:300]}", out
        return "", out.strip()
    finally:
        stage.close()


def main():
    race, words = os.path.abspath(sys.argv[1]), sys.argv[3:]
    os.umask(0o022)
    began = time.monotonic()
    world = World(os.path.abspath(shutil.which(sys.argv[2]) or sys.argv[2]))
    try:
        race = world.reachable(race)
        people = [Person("root", 0), Person("user", USER_ID)] if world.is_root else [
            Person("user", os.getuid())]
        rounds = [(shape, person, way) for shape in SHAPES for person in people for way in MODES
                  if person.name in shape.who
                  and (not words or any(word in shape.name for word in words))]
        if not IS_DEEP and not words:
            seed = int(os.environ.get("KEEL_RACE_SEED") or random.randrange(1 << 32))
            print(f"a sample, with KEEL_RACE_SEED={seed}")
            rounds = random.Random(seed).sample(rounds, SAMPLE)
        wrong = 0
        for shape, person, way in rounds:
            problem, said = run(world, race, shape, person, way)
            wrong += bool(problem)
            print(f"{shape.name}, {person.name}, {way}: {problem or said}", flush=True)
    finally:
        world.close()
    print(f"{len(rounds)} races of {TRIES} tries, {wrong} not as they should be; "
          f"{time.monotonic() - began:.0f} s")
    return 1 if wrong or not rounds else 0


if __name__ == "__main__":
    sys.exit(main())
