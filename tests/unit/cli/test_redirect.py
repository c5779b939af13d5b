#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the text of report and prune goes: a file or a pager; and what --quiet leaves out."""

import os
import pathlib
import pty
import re
import signal
import stat
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build")).resolve()
FORMATS = ("text", "json", "sarif", "kcsan", "html", "junit")


def on_terminal(*arguments, **environment):
    """Run outrider on a terminal. Returns its exit status and all that the terminal showed."""
    child, terminal = pty.fork()
    if child == 0:
        without = {name: value for name, value in os.environ.items() if name not in ("PAGER", "OUTRIDER_PAGER", "LESS")}
        os.execve(BUILD / "outrider", ["outrider", *arguments], {**without, "TERM": "xterm", **environment})
    shown = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:
            more = b""
        if not more:
            break
        shown += more
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode(errors="replace").replace("\r\n", "\n")


class WithRaces(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.races = os.path.join(self.folder.name, "races.json")
        self.out = pathlib.Path(self.folder.name, "out")
        subprocess.run([BUILD / "unit/report/test_json", "--write", self.races], check=True)

    def run_it(self, *arguments, **more):
        return subprocess.run([BUILD / "outrider", *arguments], text=True, capture_output=True, **more)


class ToAFile(WithRaces):
    def test_a_file(self):
        for arguments in (["prune"], ["prune", "--list-rules"], *(["report", "--format", form] for form in FORMATS)):
            with self.subTest(arguments=arguments):
                self.out.write_text("before")
                plain = self.run_it(*arguments, self.races)
                done = self.run_it(*arguments, "-o", self.out, self.races)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", plain.stderr))
                self.assertEqual(self.out.read_text(), plain.stdout)
                self.assertEqual(sorted(os.listdir(self.folder.name)), ["out", "races.json"])

    def test_a_file_has_the_access_of_new_files(self):
        mask = os.umask(0o027)
        self.addCleanup(os.umask, mask)
        self.run_it("report", "--output", self.out, self.races)
        self.assertEqual(stat.S_IMODE(self.out.stat().st_mode), 0o640)

    def test_over_its_own_input(self):
        named = self.run_it("report", "--format", "json", self.races).stdout
        self.assertEqual(self.run_it("report", "--format", "json", "-o", self.races, self.races).returncode, 0)
        self.assertEqual(pathlib.Path(self.races).read_text(), named)

    def test_over_its_own_input_by_a_link(self):
        named = self.run_it("report", "--format", "json", self.races).stdout
        link = pathlib.Path(self.folder.name, "link")
        link.symlink_to("races.json")
        done = self.run_it("report", "--format", "json", "-o", link, self.races)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(link.is_symlink())
        self.assertEqual(pathlib.Path(self.races).read_text(), named)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["link", "races.json"])

    def test_a_failure_keeps_what_a_link_leads_to(self):
        self.out.write_text("before")
        link = pathlib.Path(self.folder.name, "link")
        link.symlink_to("out")
        self.assertEqual(self.run_it("report", "-o", link, "/nowhere").returncode, 3)
        self.assertEqual(self.out.read_text(), "before")

    def test_nothing_is_left_of_a_failure(self):
        self.out.write_text("before")
        pathlib.Path(self.folder.name, "broken.json").write_text("{")
        for arguments in (["broken.json"], ["nowhere.json"], ["--race", "ffffffffffff", "races.json"]):
            done = self.run_it("report", "-o", "out", *arguments, cwd=self.folder.name)
            self.assertIn(done.returncode, (2, 3))
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertEqual(self.out.read_text(), "before")
            self.assertEqual(sorted(os.listdir(self.folder.name)), ["broken.json", "out", "races.json"])

    def test_nothing_is_left_when_a_signal_comes(self):
        self.out.write_text("before")
        os.mkfifo(f"{self.folder.name}/never")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # A shell's background job ignores SIGINT, and so would this test's child.
            child = subprocess.Popen([BUILD / "outrider", "report", "-o", self.out, f"{self.folder.name}/never"],
                                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            # The writer's open waits for the reader, and by then the output is begun.
            writer = os.open(f"{self.folder.name}/never", os.O_WRONLY)
            child.send_signal(number)
            self.assertEqual(child.wait(60), -number)
            os.close(writer)
            self.assertEqual(self.out.read_text(), "before")
            self.assertEqual(sorted(os.listdir(self.folder.name)), ["never", "out", "races.json"])

    def test_where_no_file_can_be(self):
        for where, why in (("/nowhere/out", "No such file or directory"), (self.folder.name, "Is a directory"),
                           (f"{self.races}/out", "Not a directory")):
            done = self.run_it("report", "-o", where, self.races)
            self.assertEqual((done.returncode, done.stderr), (3, f"outrider: --output {where}: {why}\n"))
        self.assertRegex(self.run_it("report", "-o", "/" + "x" * 5000, self.races).stderr, r"\Aoutrider: --output /x+: File name too long\n\Z")
        self.assertEqual(self.run_it("report", "-o", "", self.races).stderr, "outrider: --output is empty: give a file\n")

    def test_a_full_disk(self):
        for arguments in (["prune"], *(["report", "--format", form] for form in FORMATS)):
            with self.subTest(arguments=arguments):
                done = self.run_it(*arguments, "-o", "/dev/full", self.races)
                self.assertEqual((done.returncode, done.stderr), (3, "outrider: /dev/full: cannot be written\n"))

    def test_quiet_and_verbose(self):
        twice = ["report", self.races, self.races]
        self.assertIn("the same run as", self.run_it(*twice).stderr)
        self.assertEqual(self.run_it(*twice, "-q").stderr, "")
        self.assertNotEqual(self.run_it("report", "-q", "/nowhere").stderr, "")
        self.assertEqual(self.run_it(*twice, "--quiet").stdout, self.run_it(*twice).stdout)


class Pager(WithRaces):
    def test_what_is_the_pager(self):
        for environment in ({"PAGER": "sed s/^/page:/"}, {"OUTRIDER_PAGER": "sed s/^/page:/", "PAGER": "false"}):
            for command in (["report"], ["prune"]):
                with self.subTest(environment=environment, command=command):
                    status, shown = on_terminal(*command, self.races, **environment)
                    self.assertEqual(status, 0)
                    self.assertTrue(all(line.startswith("page:") for line in shown.splitlines()), shown)

    def test_when_there_is_none(self):
        mark = {"PAGER": "sed s/^/page:/"}
        self.assertNotIn("page:", on_terminal("report", "--no-pager", self.races, **mark)[1])
        self.assertNotIn("page:", on_terminal("report", "--format", "kcsan", self.races, **mark)[1])
        self.assertNotIn("page:", self.run_it("report", self.races, env={**os.environ, **mark}).stdout)
        plain = on_terminal("report", "--no-pager", self.races)[1]
        for pager in ("", "cat"):
            self.assertEqual(on_terminal("report", self.races, PAGER="false", OUTRIDER_PAGER=pager)[1], plain)
        status, shown = on_terminal("report", self.races, PAGER="no-such-pager -x")
        self.assertEqual((status, shown), (0, "outrider: the pager 'no-such-pager' is not in $PATH: going on without it\n" + plain))

    def test_what_it_gets(self):
        shown = on_terminal("report", self.races, PAGER='cat; echo "LESS is $LESS"')[1]
        self.assertTrue(shown.endswith("LESS is FRX\n"))
        self.assertIn("\033[", shown, "colours stay")
        self.assertTrue(on_terminal("report", self.races, PAGER='cat; echo "LESS is $LESS"', LESS="X")[1].endswith("LESS is X\n"))

    def test_its_end_is_no_failure(self):
        self.assertEqual(on_terminal("report", self.races, PAGER="head -n 1 >/dev/null; exit 7"), (0, ""))
        self.assertEqual(on_terminal("report", self.races, PAGER="sh -c 'exec <&-; exit 7'"), (0, ""))

    def test_text_has_the_width_of_the_terminal(self):
        wide = on_terminal("report", "--no-pager", self.races, NO_COLOR="1", COLUMNS="1000")[1]
        self.assertGreater(max(len(line) for line in wide.splitlines()), 100)
        for columns, pager in ((60, ["--no-pager"]), (80, [])):
            narrow = on_terminal("report", *pager, self.races, NO_COLOR="1", COLUMNS=str(columns), PAGER="sed s/^//")[1]
            self.assertEqual(narrow.split(), wide.split(), "no word is lost or broken")
            for line in narrow.splitlines():
                self.assertTrue(len(line) <= columns or " " not in line.strip(), line)
        coloured = on_terminal("report", "--no-pager", self.races, COLUMNS="60")[1]
        self.assertEqual(re.sub(r"\033\[[0-9;]*m", "", coloured),
                         on_terminal("report", "--no-pager", self.races, NO_COLOR="1", COLUMNS="60")[1])
        self.assertEqual(self.run_it("report", self.races, env={**os.environ, "COLUMNS": "60"}).stdout, wide)

    def test_errors_need_none(self):
        status, shown = on_terminal("report", "/nowhere", PAGER="sed s/^/page:/")
        self.assertEqual((status, shown), (3, "outrider: /nowhere: No such file or directory\n"))


if __name__ == "__main__":
    unittest.main()
