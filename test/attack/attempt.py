"""attempt.py - what an attempt is: what is run, and how one sees that it got what it was after."""
import dataclasses
import typing

BOTH = ("root", "user")
# Without the sandbox, somebody other than the suite has started the command.
WATCHED = ("bash", "-c", '"$@"; true', "bash")
MODES = {"namespaces": (), "no namespaces": ("--no-namespaces",)}


def nothing(_stage):
    pass


@dataclasses.dataclass(frozen=True)
class Attempt:
    name: str
    script: str                     # for bash, in the workspace; see Stage.vars for its names
    got: typing.Callable            # of a Run: did the attempt succeed?
    prepare: typing.Callable = nothing
    needs: str = ""                 # what may be lacking for it to succeed without a sandbox;
                                    # empty: then it must succeed there, or the suite is broken
    who: tuple = BOTH
    modes: tuple = tuple(MODES)
    place: str = "beside"           # where the workspace lies
    around: tuple = ()              # words before the command, run by root, for which UID stands
                                    # for the person, without and with the sandbox
    around_control: tuple = ()      # words before it without the sandbox only
    must_work: bool = False         # not an attack: it has to succeed inside
    alone: bool = False             # on a stage of its own also inside: it means to change the
                                    # workspace, or to harm whoever runs the others
    repositories: bool = False      # it needs a workspace with repositories

    @property
    def can_share(self):
        """Inside, where all attacks fail, many can be made on one stage, one after the other."""
        return not (self.alone or self.must_work or self.around or self.place != "beside")


# ---- what attempts are after ----

def changed(run):
    return run.stage.changed()


def leaked(run):
    return run.stage.secret in run.out + run.err


def reached(run):
    return "REACHED" in run.out


def heard(run):
    return run.stage.heard()


def hit(run):
    """The process outside is not as it was."""
    return run.stage.victim.report() != run.stage.victim.before


def typed(run):
    return run.stage.typed()


def survived(run):
    return run.stage.survivors()


def made(path):
    """A file came into being; `path` is a function of the stage."""
    return lambda run: path(run.stage).exists()


def file_differs(name, was):
    """A file of the workspace does not say what it said."""
    def differs(run):
        path = run.stage.workspace / name
        try:
            return path.read_text() != was
        except OSError:
            return True
    return differs


def evil_runs_in(*directories):
    """The person works with git afterwards, and the attacker's program is run."""
    def runs(run):
        for directory in directories:
            run.stage.as_person(f"cd {directory} && git status && git commit -q --allow-empty "
                                "-m later && git checkout -q -b later")
        return (run.stage.outside / "evil").exists()
    return runs


# ---- kinds of attempts ----

def Write(name, script, **more):
    return Attempt("writes: " + name, script, changed, **more)


def Read(name, script, **more):
    return Attempt("reads: " + name, script, leaked, **more)


def Reach(name, script, **more):
    return Attempt("kernel: " + name, script, reached, **more)


def Send(name, script, **more):
    return Attempt("network: " + name, script, heard, **more)


def Hit(name, script, **more):
    return Attempt("processes: " + name, script, hit, prepare=lambda stage: stage.attack_victim(),
                   **more)


def Work(name, script, **more):
    return Attempt("works: " + name, "set -e\n" + script + "\necho WORKED",
                   lambda run: "WORKED" in run.out and run.status == 0, must_work=True,
                   repositories=True, **more)
