"""tree.py - a source tree: thousands of files, nested, with .gitignore files and binaries."""
import random
import shutil

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
    return ["".join(make_line(r) for _ in range(r.randrange(5, 150))) for _ in range(500)]


def write_file(directory, r, bodies, i):
    if i % 100 == 7:
        (directory / f"data{i}.bin").write_bytes(r.randbytes(4096))
        return
    text = f"/* number {i} */\n" + bodies[r.randrange(len(bodies))]
    if i % 20000 == 11:
        text += "the_needle_in_the_haystack(1);\n"
    (directory / f"file{i}{r.choice(SUFFIXES)}").write_text(text)


def make_directories(top, r, n_files):
    directories = [top]
    for i in range(n_files // 20):
        name = f"build{i}" if i % 100 == 50 else f"dir{i}"
        directories.append(r.choice(directories[-200:] if i % 3 else directories) / name)
        directories[-1].mkdir()
        if i % 25 == 0:
            (directories[-1] / ".gitignore").write_text("*.json\n!file*1.json\ntmp/\n")
    return directories


def make(top, n_files=N_FILES):
    """Once: a tree that is there is taken as it is. It is a repository of its own, so that no rules
    from outside apply."""
    new = top.with_name(top.name + ".new")
    r = random.Random(1)
    if top.exists():
        return
    shutil.rmtree(new, ignore_errors=True)
    (new / ".git").mkdir(parents=True)
    (new / ".gitignore").write_text("*.log\n/out/\nbuild*/\n!keep.log\n")
    bodies = make_bodies(r)
    directories = make_directories(new, r, n_files)
    for i in range(n_files):
        write_file(directories[i % len(directories)], r, bodies, i)
    new.rename(top)
