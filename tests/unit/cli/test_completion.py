#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Completion in bash and zsh: the files that `outrider completion` writes, driven by the shells themselves."""

import os
import pathlib
import pty
import re
import select
import shlex
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build")).resolve()
CAP = 60  # seconds that nothing here ever took


def outrider(*arguments):
    return subprocess.run([BUILD / "outrider", *arguments], check=True, capture_output=True, text=True).stdout


def options(command):
    return set(re.findall(r"^ +(?:-\w, )*(--[a-z][a-z-]*)", outrider(command, "--help"), re.M))


class Shell:
    """A shell on a terminal of its own."""

    def __init__(self, *command, folder, environment):
        self.seen = ""
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, {"PATH": f"{BUILD}:{os.environ['PATH']}", "TERM": "dumb", "HOME": folder, **environment})

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, text):
        """Read until `text` has come, and forget all up to it."""
        end = time.monotonic() + CAP
        while text not in self.seen:
            if time.monotonic() > end or not select.select([self.terminal], [], [], CAP)[0]:
                raise AssertionError(f"{text!r} does not come; seen: {self.seen!r}")
            self.seen += os.read(self.terminal, 4096).decode(errors="replace")
        before, self.seen = self.seen.split(text, 1)
        return before

    def end(self):
        os.close(self.terminal)
        os.waitpid(self.child, 0)


class Bash(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.script = pathlib.Path(self.folder.name, "outrider.bash")
        self.script.write_text(outrider("completion", "bash"))

    def complete(self, *words, before=""):
        """What bash's variable COMPREPLY has when the words stand there and the last one is to be completed."""
        line = " ".join(shlex.quote(word) for word in ("outrider", *words))
        script = (f". {self.script}; {before}\n[[ $(complete -p outrider) == *'-F _outrider outrider' ]] || exit 9\n"
                  f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _outrider; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        done = subprocess.run(["bash", "--norc", "-c", script], cwd=self.folder.name, check=True, capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"})
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split())

    def test_commands(self):
        self.assertEqual(self.complete("r"), {"run", "report", "replay"})
        self.assertEqual(self.complete("help", "doc"), {"doctor"})

    def test_options_are_those_of_help(self):
        for command in re.findall(r"^  ([a-z]+) +", outrider("--help").split("Commands:\n")[1].split("\n\n")[0], re.M):
            with self.subTest(command=command):
                self.assertEqual({word for word in self.complete(command, "-") if word.startswith("--")}, options(command))

    def test_words(self):
        self.assertLessEqual({"text", "json", "sarif", "kcsan", "html", "junit"}, self.complete("report", "--format", ""))
        self.assertEqual(self.complete("report", "--format", "=", "js"), {"json"})
        self.assertEqual(self.complete("report", "--sort", "="), {"rank", "count", "time", "site"})
        self.assertEqual(self.complete("run", "--net", ""), {"none", "user", "tap="})
        self.assertEqual(self.complete("run", "--rate", ""), set())
        # This option takes a value only behind =, so another option can follow.
        self.assertIn("--module", self.complete("run", "--sample-with-callees", "--mod"))

    def test_files(self):
        pathlib.Path(self.folder.name, "races.json").touch()
        pathlib.Path(self.folder.name, "raw").mkdir()
        self.assertEqual(self.complete("report", "ra"), {"races.json", "raw"})
        self.assertEqual(self.complete("run", "--kernel", "rac"), {"races.json"})
        self.assertEqual(self.complete("run", "--disk", "rac"), {"races.json"})
        self.assertEqual(self.complete("prune", "--sources", "ra"), {"raw"})
        self.assertEqual(self.complete("doctor", "ra"), set())

    def test_domains(self):
        """The domains are asked of `outrider list`, over the connection that the line names; its errors stay away."""
        asked = 'outrider() { echo error >&2; printf "%s\\n" web1 web2; printf "%s_" "$@"; };'
        self.assertEqual(self.complete("attach", "w", before=asked), {"web1", "web2"})
        self.assertEqual(self.complete("attach", "--connect", "qemu:///session", "l", before=asked),
                         {"list_--names_--connect_qemu:///session_"})

    def test_names_of_domains_are_not_run(self):
        asked = "outrider() { echo 'web$(touch$IFS$9run)'; echo 'web`touch$IFS$9run`'; };"
        self.assertEqual(self.complete("attach", "w", before=asked),
                         {r"web\$\(touch\$IFS\$9run\)", r"web\`touch\$IFS\$9run\`"})
        self.assertFalse(pathlib.Path(self.folder.name, "run").exists())

    def test_on_a_terminal(self):
        shell = Shell("bash", "--norc", "--noprofile", "-i", folder=self.folder.name, environment={"PS1": "READY> "})
        self.addCleanup(shell.end)
        shell.wait_for("READY> ")
        shell.type(f". {self.script}\n")
        shell.wait_for("READY> ")
        # Ctrl-A goes to the begin of the line, so that echo says what the line has become.
        shell.type("outrider repo\t--sor\tco\t--format=sa\t\x01echo \n")
        shell.wait_for("\r\noutrider report --sort count --format=sarif")


class Zsh(unittest.TestCase):
    def test_on_a_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "_outrider").write_text(outrider("completion", "zsh"))
            subprocess.run(["zsh", "-n", f"{folder}/_outrider"], check=True)
            pathlib.Path(folder, "races.json").touch()
            shell = Shell("zsh", "-f", "-i", folder=folder, environment={"PS1": "READY> "})
            self.addCleanup(shell.end)
            shell.wait_for("READY> ")
            shell.type(f"unsetopt zle_bracketed_paste prompt_sp; fpath=({folder} $fpath); autoload -U compinit; compinit -u -d {folder}/dump\n")
            shell.wait_for("READY> ")
            shell.type("echo ${_comps[outrider]}-is-known\n")
            shell.wait_for("\r\n_outrider-is-known")
            shell.wait_for("READY> ")
            # Ctrl-A goes to the begin of the line, so that echo says what the line has become.
            shell.type("outrider repo\t--for\tsa\t--sor\tco\tra\t\x01echo \n")
            shell.wait_for("\r\noutrider report --format=sarif --sort=count races.json")
            shell.wait_for("READY> ")
            shell.type("outrider run --sample-w\t --modu\te100\x01echo \n")
            shell.wait_for("\r\noutrider run --sample-with-callees --module=e100")


class Installed(unittest.TestCase):
    def test_where_the_shells_look(self):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["make", "-s", "-C", ROOT, "install", f"BUILD={BUILD}", f"DESTDIR={root}", "PREFIX=/usr"], check=True,
                           stdout=subprocess.DEVNULL)
            share = pathlib.Path(root, "usr/share")
            self.assertEqual((share / "bash-completion/completions/outrider").read_text(), outrider("completion", "bash"))
            self.assertEqual((share / "zsh/vendor-completions/_outrider").read_text(), outrider("completion", "zsh"))

    def test_no_shell(self):
        for arguments in (["completion"], ["completion", "fish"]):
            done = subprocess.run([BUILD / "outrider", *arguments], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, "outrider: completion needs the name of a shell: bash or zsh\n")


if __name__ == "__main__":
    unittest.main()
