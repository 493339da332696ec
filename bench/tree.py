"""tree.py - a source tree to search: 50,000 files, nested, with .gitignore files and binaries."""
import pathlib
import random

N_FILES = 50000
WORDS = ("return static const struct buffer length offset parse write read token value index error "
         "result context config stream handler request response session message update delete "
         "insert lookup cache queue worker thread signal socket timer event object method class "
         "import export function define include public private char void double float").split()
SUFFIXES = (".c", ".c", ".h", ".py", ".js", ".ts", ".md", ".txt", ".json", ".rs")


def make_line(r):
    return " " * (4 * r.randrange(4)) + "_".join(r.choices(WORDS, k=2)) + "(" + \
        ", ".join(r.choices(WORDS, k=r.randrange(6))) + ");" + str(r.randrange(100000)) + "\n"


def make_bodies(r):
    return ["".join(make_line(r) for _ in range(r.randrange(5, 200))) for _ in range(500)]


def write_file(directory, r, bodies, i):
    if i % 100 == 7:
        (directory / f"data{i}.bin").write_bytes(r.randbytes(4096))
        return
    text = f"/* number {i} */\n" + bodies[r.randrange(len(bodies))]
    if i % 20000 == 11:
        text += "the_needle_in_the_haystack(1);\n"
    (directory / f"file{i}{r.choice(SUFFIXES)}").write_text(text)


def make(top):
    """A repository of its own: no rules from outside apply."""
    r = random.Random(1)
    bodies = make_bodies(r)
    directories = [top]
    (top / ".git").mkdir(parents=True)
    (top / ".gitignore").write_text("*.log\n/out/\nbuild*/\n!keep.log\n")
    while len(directories) < N_FILES // 20:
        d = r.choice(directories[-200:]) / f"dir{len(directories)}"
        if len(d.relative_to(top).parts) > 12:
            continue
        d.mkdir()
        directories.append(d)
        if len(directories) % 25 == 0:
            (d / ".gitignore").write_text("*.json\n!file*1.json\ntmp/\n")
        if len(directories) % 40 == 0:
            directories.append(d / "build-x")
            directories[-1].mkdir()
    for i in range(N_FILES):
        write_file(directories[i % len(directories)], r, bodies, i)
