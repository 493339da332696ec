"""run_script_test.py - run.sh: what it says, what it installs, and what happens when that fails.

The script is copied into a directory with a blank in its name. What it calls (meson, ninja, apt-get,
dpkg-query, sudo, id) are stand-ins in PATH that write down how they were called."""
import getpass
import os
import pathlib
import select
import shutil
import subprocess
import unittest.mock

import keel_test
from keel_test import KeelTest

BUILD = pathlib.Path(keel_test.KEEL).parent
FILES = {"bin/keel": 0o755, "libexec/keel/keel-exec": 0o755, "libexec/keel/keel-media": 0o755,
         "share/man/man1/keel.1": 0o644, "share/bash-completion/completions/keel": 0o644,
         "share/zsh/site-functions/_keel": 0o644, "share/fish/vendor_completions.d/keel.fish": 0o644}
KEEL = """#!/bin/sh
[ "$1 $2" != "config provider" ] || exit ${KEEL_HAS_PROVIDER:-6}
echo "keel runs: $*"
"""


class RunScript(KeelTest):
    def setUp(self):
        super().setUp()
        self.top = self.dir / "a tree"
        (self.top / "scripts").mkdir(parents=True)
        for name in ("run.sh", "scripts/packages.sh", "scripts/install.sh"):
            shutil.copy(keel_test.SOURCE / name, self.top / name)
        (self.top / "docs").mkdir()
        shutil.copy(keel_test.SOURCE / "docs/keel.1", self.top / "docs/keel.1")
        self.calls = self.dir / "calls"
        self.stub("id", "echo ${STUB_UID:-0}")
        self.stub("sudo", '"$@"')
        self.stub("dpkg-query", 'test -e "$STUB_INSTALLED" && echo "install ok installed"')
        self.stub("apt-get", 'echo "(Reading database ... 5%"; exit ${STUB_APT:-0}')
        self.stub("meson", 'mkdir -p "$2"; : >"$2/build.ninja"; echo meson talks; '
                           'exit ${STUB_MESON:-0}')
        self.stub("ninja", f"""case "$*" in *-n) echo "$STUB_PLAN"; exit ;; esac
echo "[1/2] Compiling a.c"; echo "[2/2] Linking keel"
[ -z "${{STUB_NINJA-}}" ] || {{ echo "a.c:1: error: no"; exit 1; }}
mkdir -p "$2/docs"; for f in keel-exec keel-media docs/keel docs/_keel docs/keel.fish; do
  echo x >"$2/$f"; done
cat >"$2/keel" <<'E'
{KEEL}E
chmod +x "$2/keel" """)

    def stub(self, name, body):
        path = self.write(f"bin/{name}", f'#!/bin/sh\necho "{name} $*" >>"{self.calls}"\n{body}\n')
        os.chmod(path, 0o755)

    def environment(self, more=None):
        return super().environment({"PATH": f"{self.dir}/bin:{os.environ['PATH']}",
                                    "STUB_INSTALLED": "/", **(more or {})})

    def run_script(self, *arguments, **env):
        return self.finish(self.start(*arguments, env=env, program=str(self.top / "run.sh")))

    def called(self):
        return self.calls.read_text() if self.calls.exists() else ""

    def test_alone_it_builds_shows_the_demo_and_says_how_to_continue(self):
        result = self.run_script()
        self.assert_status(result, 0)
        self.assertEqual(result.out, "keel runs: demo --no-next\n")
        build = f"{self.top}/build"
        self.assertEqual(result.err.splitlines(), [
            f"Setting up the build in {build} ...",
            "Building keel; the first time takes a few minutes, the last step longest ...", "",
            f"The program is '{build}/keel'. To put it on your PATH: '{self.top}/run.sh' --install",
            f"Next: export ANTHROPIC_API_KEY=... ('{build}/keel' doctor names the others), then",
            f"      '{build}/keel' \"what does this project do?\""])

    def test_the_commands_that_it_prints_can_be_pasted(self):
        for name in ("a tree", "it's $HOME", "plain"):
            self.top = self.top.rename(self.dir / name)
            lines = self.run_script().err.splitlines()
            for line, expected in ((lines[-1], "keel runs: what does this project do?"),
                                   (lines[-3].split("PATH: ")[1], f"Installed {self.home}/.local")):
                ran = subprocess.run(["bash", "-c", line], cwd=self.dir, input="", text=True,
                                     env=self.environment({"STUB_UID": "1000"}),
                                     capture_output=True, check=False)
                self.assertIn(expected, ran.stdout + ran.stderr, line)

    def test_sh_runs_it_as_well(self):
        result = self.finish(self.start("run.sh", "two words", program="sh", cwd=self.top))
        self.assert_status(result, 0)
        self.assertEqual(result.out, "keel runs: two words\n")
        result = self.finish(self.start("run.sh", program="sh", cwd=self.top))
        self.assertIn("To put it on your PATH: ./run.sh --install\n", result.err)

    def test_the_demo_is_shown_also_where_a_provider_is_set_up(self):
        result = self.run_script(KEEL_HAS_PROVIDER="0")
        self.assertEqual(result.out, "keel runs: demo --no-next\n")
        self.assertIn(f"Next: '{self.top}/build/keel' \"what", result.err)

    def test_with_arguments_it_adds_nothing_to_what_keel_prints(self):
        self.run_script("doctor")
        result = self.run_script("-p", "two words", STUB_PLAN="ninja: no work to do.")
        self.assertEqual((result.status, result.out, result.err), (0, "keel runs: -p two words\n", ""))

    def test_packages_are_installed_without_a_word_of_dpkg(self):
        result = self.run_script("version", STUB_INSTALLED="/nowhere")
        self.assert_status(result, 0)
        self.assertNotIn("Reading database", result.err)
        self.assertRegex(result.err, r"\AInstalling packages for the build: gcc make .*\nSetting up")
        self.assertIn("apt-get -q -o Dpkg::Use-Pty=0 install -y", self.called())
        self.assertNotIn("sudo", self.called())

    def test_sudo_is_named_where_it_is_used(self):
        result = self.run_script("version", STUB_INSTALLED="/nowhere", STUB_UID="1000")
        self.assertIn("Installing packages for the build (with sudo): gcc", result.err)
        self.assertIn("sudo env DEBIAN_FRONTEND", self.called())

    def test_without_a_network_it_says_what_to_do(self):
        result = self.run_script(STUB_INSTALLED="/nowhere", STUB_APT="100")
        self.assert_status(result, 1)
        self.assertIn("(Reading database", result.err)  # what apt-get said
        self.assertIn("\nThe packages could not be installed; see the output above. Is there a "
                      "network?\nInstall them yourself, then run this again: apt-get install gcc",
                      result.err)

    def test_a_failed_build_prints_its_log(self):
        result = self.run_script(STUB_NINJA="1")
        self.assert_status(result, 1)
        self.assertTrue(result.err.endswith("[2/2] Linking keel\na.c:1: error: no\n"
                                            "The build failed; see the output above.\n"), result)
        shutil.rmtree(self.top / "build")
        result = self.run_script(STUB_MESON="1")
        self.assert_status(result, 1)
        self.assertTrue(result.err.endswith("meson talks\nThe build could not be set up; see the "
                                            "output above.\n"), result)

    def test_an_interruption_is_not_called_a_failure(self):
        for name in ("ninja", "meson", "apt-get"):
            with self.subTest(name):
                path = self.dir / "bin" / name
                real = path.read_text()
                # ninja -n only asks what there is to do
                self.stub(name, 'case "$*" in *-n) exit ;; esac; echo talks; kill -INT $PPID; exit 130')
                result = self.run_script("version", STUB_INSTALLED="/nowhere")
                path.write_text(real)
                self.assert_status(result, 130)
                self.assertTrue(result.err.endswith("\nInterrupted. Run this again to continue.\n"),
                                result)
                self.assertNotIn("talks", result.err)
                shutil.rmtree(self.top / "build", ignore_errors=True)

    def script_on_terminal(self, *arguments, env=None):
        with unittest.mock.patch.object(keel_test, "KEEL", str(self.top / "run.sh")):
            return self.on_terminal(*arguments, env=env, with_status=True)

    def test_a_terminal_shows_the_progress_in_one_line(self):
        result = self.script_on_terminal("version")
        self.assert_status(result, 0)
        self.assertIn("\r\x1b[K[1/2] Compiling a.c\r\x1b[K[2/2] Linking keel\r\x1b[K"
                      "keel runs: version", result.out)

    def test_a_terminal_shows_what_apt_does(self):
        result = self.script_on_terminal("version", env={"STUB_INSTALLED": "/nowhere"})
        self.assert_status(result, 0)
        self.assertIn("\r\x1b[K(Reading database ... 5%\r\x1b[K", result.out)

    def test_a_terminal_shows_how_long_a_step_takes(self):
        """The step ends when the seconds have been seen."""
        seen = self.dir / "seen"
        os.mkfifo(seen)
        self.stub("apt-get", f'echo "Unpacking gcc"; test "$4" != install || read x <"{seen}"')
        master, slave = os.openpty()
        process = self.start("version", program=str(self.top / "run.sh"), stdin=slave, stdout=slave,
                             stderr=slave, env={"STUB_INSTALLED": "/nowhere"})
        os.close(slave)
        self.addCleanup(os.close, master)
        self.addCleanup(process.kill)
        self.read_until(master, b"\r\x1b[KUnpacking gcc (1 s ago)")
        seen.write_text("go on\n")
        self.read_until(master, b"keel runs: version")
        self.assertEqual(process.wait(keel_test.HANG_SECONDS), 0)

    def read_until(self, fd, wanted):
        shown = b""
        while wanted not in shown:
            ready, _, _ = select.select([fd], [], [], keel_test.HANG_SECONDS)
            self.assertTrue(ready, f"not shown: {wanted}; but {shown}")
            shown += os.read(fd, 4096)

    # --- --install ---

    def installed(self, prefix):
        return {str(path.relative_to(prefix)): path.stat().st_mode & 0o777
                for path in prefix.rglob("*") if path.is_file()}

    def test_install_puts_everything_below_the_directory_and_uninstall_removes_it(self):
        prefix = self.dir / "a prefix"
        for _ in range(2):  # a second time replaces the first
            result = self.run_script(f"--install={prefix}")
            self.assert_status(result, 0)
            self.assertIn(f"Installed {prefix}/bin/keel.\n{prefix}/bin is not on your PATH. Add this "
                          f"line to ~/.profile and log in again:\n"
                          f"  export PATH='{prefix}/bin':\"$PATH\"\n", result.err)
            self.assertEqual(self.installed(prefix), FILES)
        (prefix / "bin/other").touch()
        result = self.run_script(f"--uninstall={prefix}")
        self.assert_status(result, 0)
        self.assertIn(f"Removed keel from {prefix}.", result.err)
        self.assertEqual(list(self.installed(prefix)), ["bin/other"])
        self.assertFalse((prefix / "libexec/keel").exists())
        result = self.run_script(f"--uninstall={prefix}")
        self.assertEqual((result.status, result.err),
                         (0, f"Nothing of keel is installed in {prefix}.\n"))

    def test_an_ordinary_user_installs_into_the_home_directory_without_sudo(self):
        result = self.run_script("--install", STUB_UID="1000", PATH=(
            f"{self.home}/.local/bin:{self.dir}/bin:{os.environ['PATH']}"))
        self.assert_status(result, 0)
        self.assertTrue(result.err.endswith(f"Installed {self.home}/.local/bin/keel.\n"
                                            "Next: keel doctor\n"), result)
        self.assertEqual(self.installed(self.home / ".local"), FILES)
        self.assertNotIn("sudo", self.called())

    def test_a_login_shell_that_looks_there_anyway_needs_no_new_line(self):
        self.write("home/.profile", '# as Debian has it\nPATH="$HOME/.local/bin:$PATH"\n')
        result = self.run_script("--install", STUB_UID="1000")
        self.assert_status(result, 0)
        self.assertTrue(result.err.endswith(
            f"Your ~/.profile puts {self.home}/.local/bin on your PATH when you log in again. In this "
            f'shell:\n  export PATH={self.home}/.local/bin:"$PATH"\n'), result)

    def test_help_is_printed_before_anything_is_built(self):
        for flag in ("-h", "--help"):
            result = self.run_script(flag)
            self.assert_fine(result)
            self.assertIn("run.sh --uninstall  removes them again", result.out)
            self.assertNotRegex(result.out, "(?m)^(#|if)")
        self.assertEqual(self.called(), "")

    def test_a_misspelt_option_neither_builds_nor_removes(self):
        self.stub("rm", "exit 1")
        for word in ("--instal", "-install", "--uninstal", "--uninstalled", "--installs=/x"):
            result = self.run_script(word)
            self.assertEqual((result.status, result.out, result.err), (
                2, "", f"Unknown option {word}. Did you mean --install or --uninstall?\n"))
        self.assertNotRegex(self.called(), "ninja|meson|apt-get|install|rm")

    def test_a_tree_that_cannot_be_written_is_named(self):
        (self.top / "build").write_text("a file")
        result = self.run_script("version")
        self.assertEqual((result.status, result.err), (
            1, f"Cannot write to {self.top}/build, which belongs to {getpass.getuser()}. Build as that "
               "user, or remove it first.\n"))

    def test_a_build_of_another_user_is_named_before_the_compiler_fails(self):
        """As after `sudo ./run.sh`."""
        (self.top / "build").mkdir()
        (self.top / "build/build.ninja").touch()
        os.chmod(self.top / "build", 0o555)
        self.calls.touch()
        os.chmod(self.calls, 0o666)
        os.chmod(self.dir, 0o755)
        program = self.top / "run.sh"
        if os.geteuid() == 0:
            program = self.write("as-nobody", "#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 "
                                 f"--clear-groups '{program}' \"$@\"\n")
            os.chmod(program, 0o755)
        result = self.finish(self.start("version", env={}, program=str(program)))
        self.assert_status(result, 1)
        self.assertIn(f"Cannot write to {self.top}/build, which belongs to {getpass.getuser()}.",
                      result.err)
        self.assertNotIn("Building", result.err)

    def test_install_and_uninstall_take_the_directory_as_the_next_word(self):
        prefix = self.dir / "named"
        result = self.run_script("--install", str(prefix), STUB_UID="1000")
        self.assert_status(result, 0)
        self.assertEqual(self.installed(prefix), FILES)
        result = self.run_script("--install", STUB_UID="1000")
        result = self.run_script("--uninstall", str(prefix), STUB_UID="1000")
        self.assert_status(result, 0)
        self.assertEqual(self.installed(prefix), {})
        self.assertEqual(self.installed(self.home / ".local"), FILES)

    def test_a_relative_directory_is_told_as_an_absolute_one(self):
        result = self.run_script("--install=rel")
        self.assert_status(result, 0)
        self.assertIn(f'export PATH={self.project}/rel/bin:"$PATH"\n', result.err)

    def test_without_a_directory_nothing_is_built_or_installed(self):
        self.stub("install", "exit 1")  # the root directory is not for tests to write
        self.stub("rm", "exit 1")
        for arguments, env, message in (
                (["--install="], {}, "--install= needs a directory: --install=DIR\n"),
                (["--install", ""], {}, "--install= needs a directory: --install=DIR\n"),
                (["--uninstall="], {}, "--uninstall= needs a directory: --uninstall=DIR\n"),
                (["--install"], {"HOME": None, "STUB_UID": "1000"},
                 "HOME is not set; name a directory: --install=DIR\n"),
                (["--uninstall"], {"HOME": "", "STUB_UID": "1000"},
                 "HOME is not set; name a directory: --uninstall=DIR\n"),
                (["--install=/a", "/b"], {},
                 '--install takes one directory; "/b" is one argument too many\n'),
                (["--install", "--help"], {}, "--install takes a directory, not the option --help; "
                 "for a name like that: --install=./--help\n")):
            with self.subTest(arguments):
                result = self.run_script(*arguments, **env)
                self.assertEqual((result.status, result.out, result.err), (2, "", message))
        self.assertNotRegex(self.called(), "ninja|meson|apt-get|install|rm")

    def test_a_directory_that_cannot_be_written_is_named(self):
        self.write("file", "")
        result = self.run_script(f"--install={self.dir}/file/below")
        self.assert_status(result, 1)
        self.assertIn(f"Could not write to {self.dir}/file/below. Install elsewhere", result.err)

    def test_the_installed_program_finds_its_helpers(self):
        """The real programs, in the tree that --install makes."""
        prefix = self.dir / "prefix"
        for name, target in (("keel", "bin/keel"), ("keel-exec", "libexec/keel/keel-exec")):
            (prefix / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(BUILD / name, prefix / target)
        ran = subprocess.run([prefix / "bin/keel", "sandbox", "--", "echo", "it runs"],
                             env=super().environment({"KEEL_EXEC": None}), cwd=self.project,
                             capture_output=True, check=False, timeout=keel_test.HANG_SECONDS)
        self.assertEqual((ran.returncode, ran.stdout), (0, b"it runs\n"), ran.stderr)


if __name__ == "__main__":
    keel_test.main()
