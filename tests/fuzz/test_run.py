#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/fuzz/run, with programs in place of targets: its table, and that a slow target has to say why."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parent / "run"
# It runs until SIGUSR1 ends it, as libFuzzer does, and then prints how many inputs it has executed.
TARGET = """#!/bin/sh
trap 'echo "#5 DONE cov: 77 ft: 9 corp: 1" >&2; echo "stat::number_of_executed_units: %d" >&2; exit %d' USR1
while :; do :; done
"""


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copy(RUN, self.folder / "run")

    def target(self, name, inputs, source="", status=0):
        """A target with a corpus and a source."""
        path = self.folder / f"fuzz_{name}"
        path.write_text(TARGET % (inputs, status))
        path.chmod(0o755)
        (self.folder / f"fuzz_{name}.c").write_text(source)
        (self.folder / "corpus" / name).mkdir(parents=True)
        (self.folder / "corpus" / name / "one").write_text("1")
        return path

    def run_targets(self, *targets):
        return subprocess.run([self.folder / "run", "--seconds", "0.2", *targets], capture_output=True, text=True, check=False)

    def test_table(self):
        done = self.run_targets(self.target("fast", 10 ** 9))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"^target +inputs +CPU s +inputs/s +edges")
        self.assertRegex(done.stdout, r"(?m)^fast +1000000000 +[0-9.]+ +\d+ +77 *$")

    def test_slow_without_a_reason(self):
        done = self.run_targets(self.target("slow", 5))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("not ok - slow: fewer than 1000 inputs a second, and its source does not say why", done.stdout)

    def test_slow_with_a_reason(self):
        done = self.run_targets(self.target("one_line", 5, "/* fuzz: slow: each input boots a kernel */\n"),
                                self.target("longer", 5, "/*\n * What it is.\n *\n * fuzz: slow: it waits for a disk\n */\n"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^one_line +5 .* each input boots a kernel$")
        self.assertRegex(done.stdout, r"(?m)^longer +5 .* it waits for a disk$")

    def test_failure(self):
        done = self.run_targets(self.target("found", 10 ** 9, status=77))
        self.assertEqual(done.returncode, 1)
        self.assertIn("not ok - found: exit status 77", done.stdout)


if __name__ == "__main__":
    unittest.main()
