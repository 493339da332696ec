"""undo_commands_test.py - what real commands do to files, undone by `keel session rewind`: as the user
who runs the tests, and where that is root as an ordinary user, too."""
import json
import os
import shutil
import subprocess
import time
import unittest

import scripted
from agent import Call, Turn
from resume_test import SessionTest
from scripted import ANTHROPIC, HANG_SECONDS
from undone_commands import IS_ROOT, NOBODY, UndoneCommands, describe


# rw- for the owner and for user 1234, r-- for the others, as the kernel writes it.
ACCESS_LIST = bytes.fromhex("02000000" "01000600ffffffff" "02000600d2040000" "04000400ffffffff"
                            "10000600ffffffff" "20000400ffffffff")

# Announces that it writes a decoy, and puts the name of another file into that memory while keel reads
# the decoy. Changes that file, and sets its time back.
SWAPPING = """
import ctypes, mmap, os, threading

libc = ctypes.CDLL(None)
decoys = [f"decoy{i}" for i in range(20)]

def open_unseen(victim):
    while decoys:  # each is read once
        decoy = decoys.pop()
        path = ctypes.create_string_buffer(decoy.encode(), 256)
        has_ended = threading.Event()

        def swap():
            while os.stat(decoy).st_atime_ns == 0:
                if has_ended.is_set():
                    return
            path.value = victim.encode()

        swapper = threading.Thread(target=swap)
        swapper.start()
        fd = libc.open(path, os.O_RDWR)
        has_ended.set()
        swapper.join()
        if os.path.sameopenfile(fd, os.open(victim, os.O_RDONLY)):
            return fd
        if os.stat(decoy).st_atime_ns == 0:
            raise SystemExit("no time of reading")

def write_unseen(victim):
    was = os.stat(victim)
    fd = open_unseen(victim)
    with mmap.mmap(fd, 0) as content:
        content[0:4] = b"EVIL"
    os.utime(fd, ns=(was.st_atime_ns, was.st_mtime_ns))
    os.close(fd)
    print("unseen:", victim)

"""


class Commands(UndoneCommands):
    def test_a_directory_that_nobody_may_enter_any_more(self):
        self.undoes("echo new > d/b/new.txt; echo changed > d/b/x; chmod 600 d/b")

    def test_a_directory_that_was_closed_before(self):
        self.undoes("chmod 700 d/b; echo changed > d/b/x; rm run.sh; chmod 000 d/b",
                    before="chmod 000 d/b")

    def test_a_closed_directory_that_is_moved(self):
        self.undoes("chmod 600 d/b; mv d e; chmod 000 e")

    def test_a_read_only_directory(self):
        self.undoes("chmod u+w src; rm src/main.c; echo x > src/new; chmod u-w src",
                    before="chmod 500 src")

    def test_a_tree_that_is_renamed(self):
        self.undoes("mv src lib; echo more >> lib/main.c; mkdir src; echo x > src/main.c")

    def test_a_tree_that_is_removed(self):
        self.undoes("rm -rf src d notes.txt")

    def test_files_that_are_edited_in_place(self):
        self.undoes("sed -i s/this/that/ src/main.c notes.txt; : > run.sh; truncate -s 3 d/b/x")

    def test_permissions(self):
        self.undoes("chmod 600 run.sh; chmod 000 notes.txt; chmod -R g+w,o-rx src; chmod 4755 d/b/x")

    def test_a_set_user_id_bit_that_the_kernel_drops(self):
        self.undoes("echo x >> run.sh", before="chmod 4755 run.sh")

    def test_hard_links(self):
        self.undoes("echo more >> also; sed -i s/is/was/ third; rm run.sh",
                    before="ln notes.txt also; ln run.sh second; ln src/main.c third")

    def test_a_file_that_is_written_by_a_name_that_git_ignores(self):
        self.own()
        self.prepare("git init -q .; echo build >.gitignore; mkdir build; ln run.sh build/old")
        was = describe(self.work)
        self.talk(Turn(Call("Bash", command="ln notes.txt build/x; echo evil >build/old")),
                  Turn(Call("Bash", command="echo evil >build/x; echo evil >build/old")),
                  Turn(Call("Bash", command="ln src/main.c build/y; echo evil >build/y; "
                                            "rm build/*")))
        self.assertIn("build", self.rewind(1).out)
        now = describe(self.work)
        for name in (b"notes.txt", b"run.sh", b"src/main.c"):
            self.assertEqual(now[name][4], was[name][4], name)

    def test_files_of_passwords_that_git_ignores(self):
        self.undoes("rm .env; python3 -c \"open('.env.local', 'a').write('x')\"; mv key.pem gone",
                    before="git init -q .; printf '.env*\\n*.pem\\n' >.gitignore; "
                           "echo KEY=1 >.env; echo KEY=2 >.env.local; echo KEY=3 >key.pem")

    def test_a_file_that_a_command_has_git_ignore(self):
        self.own()
        self.prepare("git init -q .; echo build >.gitignore; mkdir build; echo x >build/x")
        was = describe(self.work)
        self.talk(Turn(Call("Bash", command="echo notes.txt >>.gitignore; echo new >notes.txt2")),
                  Turn(Call("Bash", command="rm notes.txt")))
        self.rewind()
        now = describe(self.work)
        self.assertEqual(now.keys(), was.keys())
        self.assertEqual(now[b"notes.txt"][4], was[b"notes.txt"][4])

    def test_a_directory_that_a_command_has_git_ignore(self):
        """What comes next is not saved any more, and the person is told."""
        self.own()
        self.prepare("git init -q .")
        self.talk(Turn(Call("Bash", command="echo src >.gitignore")),
                  Turn(Call("Bash", command="rm -r src")))
        result = self.rewind(1)
        self.assertRegex(result.out, "leave|cannot")
        self.assertIn("src", result.out)

    def test_a_rule_of_git_for_nothing_that_is_there(self):
        self.own()
        self.prepare("git init -q .")
        self.talk(Turn(Call("Bash", command="echo build >.gitignore; mkdir build; echo >build/x")))
        self.rewind()

    def test_a_hard_link_that_a_command_makes(self):
        self.undoes("ln notes.txt also; echo more >> also")

    def test_a_directory_that_becomes_a_link(self):
        self.undoes("rm -r src; ln -s d src; rm link; mkdir link; echo x > link/y")

    def test_names_of_any_bytes(self):
        self.undoes("printf x > $'a\\nb'; printf x > $'bad\\377name'; mv notes.txt $'c\\n\\001'",
                    before="printf y > $'old\\376\\n'")

    def test_a_file_that_its_owner_may_only_write(self):
        self.undoes("echo more >> shut; chmod 000 notes.txt; chmod 200 notes.txt; echo x > notes.txt",
                    before="echo secret > shut; chmod 200 shut")

    def test_access_lists_and_other_extended_attributes(self):
        self.own()
        try:
            os.setxattr(self.work / "notes.txt", "user.colour", b"red")
            os.setxattr(self.work / "d", "system.posix_acl_default", ACCESS_LIST)
            os.setxattr(self.work / "run.sh", "system.posix_acl_access", ACCESS_LIST)
        except OSError as e:
            self.skipTest(f"no extended attributes here: {e}")
        os.setxattr(self.work / "src/deep/x.h", "user.colour", b"blue")
        (self.work / "d/plain").write_text("made in a directory that gives its list to new files")
        os.removexattr(self.work / "d/plain", "system.posix_acl_access")
        self.undoes("rm -r d; sed -i s/this/that/ run.sh; echo x > notes.txt; chmod 600 src/main.c",
                    "chmod 750 run.sh; mv src/deep/x.h y; rm y; python3 -c \"import os; "
                    "os.setxattr('src', 'user.new', b'1'); os.setxattr('src/main.c', 'user.new', b'1'); "
                    "os.setxattr('notes.txt', 'user.colour', b'green')\"; chmod 200 src/main.c")

    def test_write_and_edit_keep_an_access_list_and_its_mask(self):
        self.own()
        files = [self.work / "notes.txt", self.work / "run.sh"]
        try:
            for file in files:
                os.setxattr(file, "user.colour", b"red")
                os.setxattr(file, "system.posix_acl_access", ACCESS_LIST)
        except OSError as e:
            self.skipTest(f"no extended attributes here: {e}")
        was = describe(self.work)
        self.talk(Turn(*[Call("Read", file_path=str(file)) for file in files]),
                  Turn(Call("Edit", file_path=str(files[0]), old_string="this", new_string="that"),
                       Call("Write", file_path=str(files[1]), content="new")))
        self.assertEqual([file.read_text() for file in files], ["that is notes.txt\n", "new"])
        for file in files:
            self.assertEqual(os.getxattr(file, "user.colour"), b"red")
            self.assertEqual(os.getxattr(file, "system.posix_acl_access"), ACCESS_LIST)
        self.rewind()
        self.assertEqual(describe(self.work), was)

    def test_extended_attributes_that_a_rewind_has_restored_are_undone_with_it(self):
        self.own()
        try:
            os.setxattr(self.work / "notes.txt", "user.colour", b"red")
        except OSError as e:
            self.skipTest(f"no extended attributes here: {e}")
        self.bash("python3 -c \"import os; os.removexattr('notes.txt', 'user.colour'); "
                  "os.setxattr('run.sh', 'user.colour', b'blue')\"; rm src/main.c")
        after = describe(self.work)
        self.rewind()
        self.assertEqual(os.listxattr(self.work / "run.sh"), [])
        result = self.keel("session", "rewind", self.session, "--yes", "--to", "2", cwd=self.work)
        self.assert_status(result, 0)
        self.assertEqual(describe(self.work), after)

    def test_files_that_are_moved_about(self):
        self.undoes("mv notes.txt t; mv run.sh notes.txt; mv t run.sh; mv src/deep .; mv d src/")

    def test_several_commands_after_each_other(self):
        self.undoes("mkdir new; mv notes.txt new", "rm -r new src", "mkdir -p src/deep/er",
                    "echo x > src/deep/er/y; chmod 700 src/deep; echo z > notes.txt")

    def test_programs_that_change_files(self):
        self.undoes("python3 - <<'END'\nimport os, mmap\nf = open('notes.txt', 'r+b')\n"
                    "m = mmap.mmap(f.fileno(), 0)\nm[0:4] = b'THAT'\nm.close()\nos.makedirs('p/q')\n"
                    "os.replace('run.sh', 'p/q/run')\nos.symlink('x', 'p/l')\nEND\n"
                    "tar cf t.tar src; rm -r src/deep; tar xf t.tar; cp -a src copy; touch copy/n; "
                    "perl -pi -e s/this/those/ src/main.c")

    @unittest.skipUnless(shutil.which("git"), "no git here")
    def test_another_branch_is_checked_out(self):
        self.own()
        git = ("git -c user.name=a -c user.email=a@b -c commit.gpgsign=false "
               "-c init.defaultBranch=main")
        self.prepare(f"{git} init -q && {git} add -A && {git} commit -qm one && "
                     f"{git} checkout -qb other && {git} rm -qr src && echo 2 > notes.txt && "
                     f"mkdir n && echo new > n/new && {git} add -A && {git} commit -qm two && "
                     f"{git} checkout -q main")
        was = {path: what for path, what in describe(self.work).items()
               if not path.startswith(b".git")}
        self.talk(Turn(Call("Bash", command="git checkout -q other")))
        self.assertFalse((self.work / "src").exists())
        result = self.rewind(1)
        self.assertIn("cannot   undo Bash: git checkout -q other: not all changes were saved "
                      "(it moved HEAD", result.out)
        now = describe(self.work)
        self.assertEqual({path: now.get(path) for path in was}, was)
        self.assertFalse((self.work / "n").exists())

    @unittest.skipUnless(shutil.which("git"), "no git here")
    def test_a_repository_that_is_removed_is_told(self):
        for command in ("rm -rf .git; rm notes.txt", "rm -rf .git/objects; rm notes.txt"):
            with self.subTest(command):
                self.own()
                self.prepare("git init -q . && echo 'this is notes.txt' > notes.txt")
                result = self.talk(Turn(Call("Bash", command=command)))
                self.assertIn(".git was removed, and keel does not save .git", result.err)
                self.assertIn(".git was removed, and keel does not save .git", self.rewind(1).out)
                self.assertEqual((self.work / "notes.txt").read_text(), "this is notes.txt\n")

    def test_two_commands_at_once(self):
        self.own()
        was = describe(self.work)
        loop = "for i in $(seq 30); do echo {0} >> notes.txt; echo {0} > f$i; mv f$i {0}$i; done"
        self.talk(Turn(Call("Bash", command=loop.format("a")),
                       Call("Bash", command=loop.format("b"))))
        self.rewind()
        self.assertEqual(describe(self.work), was)

    def test_a_command_in_the_background(self):
        self.own()
        pipe, fd = self.make_pipe()
        if self.user is not None:
            os.chown(pipe, self.user, self.user)
        shutil.move(pipe, self.work / "pipe")
        was = describe(self.work)
        self.talk(Turn(Call("Bash", command="echo early > notes.txt; rm -r src; echo x > made; "
                            "echo > pipe; sleep 600", run_in_background=True)),
                  Turn(Call("Bash", command="until [ -e made ]; do sleep 0.02; done; echo 1 > f")))
        self.rewind()
        self.assertEqual(describe(self.work), was)

    def test_keel_is_killed_in_the_middle(self):
        self.own()
        self.prepare("mkfifo pipe; ln notes.txt also")
        was = describe(self.work)
        self.kill_in_the_middle("mv src lib; echo x >> lib/main.c; chmod 600 d/b; echo x >> also; "
                                "chmod 700 run.sh; echo x > new")
        self.assertTrue(list((self.keel_home / "undo").iterdir()))
        self.rewind()
        self.assertEqual(describe(self.work), was)
        self.assertEqual(list((self.keel_home / "undo").iterdir()), [])

    def test_more_than_20000_files(self):
        self.own()
        self.prepare("mkdir many; cd many; for i in $(seq 21); do mkdir $i; (cd $i; "
                     "seq 1000 | split -l 1 -a 3 -); done")
        was = describe(self.work)
        self.talk(Turn(Call("Bash", command="rm -r many/7; mv many/8 many/9; echo x > many/1/xaaa; "
                            "echo y > many/new")))
        self.rewind()
        self.assertEqual(describe(self.work), was)

    def test_a_change_behind_an_announced_chmod_is_reported(self):
        self.own()
        self.prepare("truncate -s 10000000 decoy{0..19}; touch -a -d @0 decoy*; ln src/main.c also")
        self.bash(f"python3 - <<'END'\n{SWAPPING}"
                  "for name in ('notes.txt', 'run.sh', 'src/main.c'):\n"
                  "    os.chmod(name, 0o600)\n    write_unseen(name)\n"
                  "open('notes.txt', 'a').write('announced')\n"
                  "open('also', 'a').write('announced')\nEND\n"
                  "echo changed >d/b/x")
        if "no time of reading" in self.heard[-1]:
            self.skipTest("this file system does not note when a file is read")
        self.assertEqual(self.heard[-1].count("unseen:"), 3, self.heard)
        result = self.rewind(status=1)
        for name in ("notes.txt", "run.sh", "src/main.c", "also"):
            self.assertIn(f"cannot   {name}: it changed while a command ran, but the change was "
                          "not reported", result.out)
        self.assertIn("4 files could not be restored", result.err)
        self.assertEqual((self.work / "d/b/x").read_text(), "this is d/b/x\n")

    def test_programs_that_change_permissions_times_and_content(self):
        self.undoes("chmod +x notes.txt && sed -i s/this/that/ notes.txt && chmod 600 run.sh && "
                    "touch -c -d 2020-01-01 run.sh && install -m 755 notes.txt d/b/x && "
                    "install -p -m 640 notes.txt made && cp -p run.sh src/deep/x.h",
                    "tar cf t.tar src && chmod -R a+rwX src && echo x >>src/main.c && "
                    "tar xpf t.tar && tar xpf t.tar --overwrite && cp -p src/main.c notes.txt && "
                    "chmod 600 src/main.c && ln src/main.c also && echo y >>also && rm src/main.c && "
                    "cp -al src copy && chmod 400 copy/deep/x.h && echo z >>src/deep/x.h",
                    "chmod 700 Makefile && if command -v make; then make; chmod 600 notes.txt; make; fi",
                    before="printf 'run.sh: notes.txt\\n\\tcp -p $< $@; chmod 755 $@; touch $@\\n' "
                           ">Makefile; touch -d 2021-01-01 run.sh")

    @unittest.skipUnless(shutil.which("git"), "no git here")
    def test_files_that_git_checks_out_after_their_permissions_changed(self):
        self.own()
        git = ("git -c user.name=a -c user.email=a@b -c commit.gpgsign=false "
               "-c init.defaultBranch=main")
        self.prepare(f"{git} init -q && {git} add -A && {git} commit -qm one && "
                     "echo mine >>notes.txt && chmod 600 run.sh")
        was = {path: what for path, what in describe(self.work).items()
               if not path.startswith(b".git")}
        self.talk(Turn(Call("Bash", command="chmod 755 notes.txt src/main.c && "
                                            "git checkout -q -- . && echo more >>src/main.c")))
        self.rewind()
        now = describe(self.work)
        self.assertEqual({path: now.get(path) for path in was}, was)

    def test_a_file_that_is_too_large_is_told(self):
        self.own()
        self.user_settings({"snapshot": {"maxFileBytes": 1000}})
        (self.work / "large").write_bytes(b"x" * 2000)
        self.talk(Turn(Call("Bash", command="rm large; chmod 600 run.sh; echo y > notes.txt")))
        result = self.rewind(status=1)
        self.assertIn("cannot   large: it is larger than snapshot.maxFileBytes allows", result.out)
        self.assertIn("1 file could not be restored", result.err)
        self.assertEqual((self.work / "notes.txt").read_text(), "this is notes.txt\n")

    def test_the_rewind_itself_is_undone(self):
        self.own()
        self.prepare("ln notes.txt also")
        self.talk(Turn(Call("Bash", command="mv src lib; echo x >> also; chmod 600 d/b run.sh")))
        after = describe(self.work)
        self.rewind()
        self.assertNotEqual(describe(self.work), after)
        result = self.keel("session", "rewind", self.session, "--yes", "--to", "2", cwd=self.work)
        self.assert_status(result, 0)
        self.assertEqual(describe(self.work), after)


class AsMyself(Commands, SessionTest):
    @unittest.skipUnless(IS_ROOT, "only root may give files away")
    def test_owners(self):
        self.undoes("chown 1234:1235 notes.txt d; chown -h 1234 link; chown 7 run.sh; "
                    "echo x > run.sh; rm -r src", before="chown 55:66 src/main.c; chown 77 run.sh")

    @unittest.skipUnless(IS_ROOT, "only root may give files away")
    def test_an_owner_that_may_not_be_given_back(self):
        os.chown(self.work / "notes.txt", 1234, 1234)
        self.talk(Turn(Call("Bash", command="rm notes.txt")))
        self.user = NOBODY
        self.own()
        result = self.rewind(status=1)
        self.assertIn("notes.txt: it has another owner now", result.err)
        self.assertIn("1 file was restored in part", result.err)
        self.assertEqual((self.work / "notes.txt").read_text(), "this is notes.txt\n")

    def test_a_name_outside_of_the_workspace(self):
        outside = self.project / "outside"
        os.link(self.work / "notes.txt", outside)
        os.link(self.work / "run.sh", self.project / "other")
        self.talk(Turn(Call("Bash", command="echo x >> notes.txt; sed -i s/this/that/ run.sh")))
        self.assertIn("x\n", outside.read_text())
        result = self.rewind(status=1)  # run.sh is a file of its own now
        self.assertIn("run.sh: its other names (hard links)", result.err)
        self.assertEqual(outside.read_text(), "this is notes.txt\n")
        self.assertEqual((self.work / "run.sh").read_text(), "this is run.sh\n")

    def test_outside_of_the_sandbox_nothing_is_saved_and_each_call_says_so(self):
        self.user_settings({"sandbox": {"enabled": False}})
        self.talk(Turn(Call("Bash", command="rm run.sh")), Turn(Call("Bash", command="rm notes.txt")),
                  Turn(Call("Write", file_path="new", content="x")))
        result = self.keel("session", "rewind", self.session, "--yes", "--json", cwd=self.work)
        self.assert_status(result, 1)
        told = json.loads(result.out)
        self.assertEqual([call["what"] for call in told["notSaved"]], ["rm run.sh", "rm notes.txt"])
        self.assertFalse((self.work / "new").exists())

    def test_a_change_that_a_person_made_meanwhile_is_told(self):
        os.mkfifo(self.work / "pipe")
        provider = self.play(ANTHROPIC, Turn(Call("Bash", command="echo x > made; cat pipe")),
                             Turn("Done."))
        process = self.start_agent(ANTHROPIC, provider, "--session-id", self.session, "go",
                                   cwd=self.work)
        end = time.monotonic() + HANG_SECONDS
        while not (self.work / "made").exists():
            self.assertLess(time.monotonic(), end, "the command never ran")
            time.sleep(0.01)
        (self.work / "notes.txt").write_text("a person's\n")
        with open(self.work / "pipe", "wb") as pipe:
            pipe.write(b"go\n")
        process.communicate(timeout=HANG_SECONDS)
        result = self.rewind(status=1)
        self.assertIn("cannot   notes.txt: it changed while a command ran", result.out)
        self.assertEqual((self.work / "notes.txt").read_text(), "a person's\n")
        self.assertFalse((self.work / "made").exists())


class AsAnOrdinaryUser(Commands, SessionTest):
    user = NOBODY


if __name__ == "__main__":
    scripted.main()
