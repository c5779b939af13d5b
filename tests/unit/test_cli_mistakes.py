#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user mistypes on the command line: one line that says what, where and what to do, and a documented exit status."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))

# The command line, and the line that is said of it behind "outrider: ". Nothing here gets as far as KVM.
MISSPELLED = [
    (["rn"], "'rn' is not a command; did you mean `outrider run`?"),
    (["reprot"], "'reprot' is not a command; did you mean `outrider report`?"),
    (["rep"], "'rep' is not a command; did you mean `outrider report`?"),
    (["walk"], "'walk' is not a command; see `outrider --help`"),
    (["help", "atach"], "'atach' is not a command; did you mean `outrider attach`?"),
    (["run", "--kernl", "x"], "--kernl is not an option of `outrider run`; did you mean --kernel?"),
    (["run", "--kernl=x"], "--kernl is not an option of `outrider run`; did you mean --kernel?"),
    (["run", "--xyzzy"], "--xyzzy is not an option of `outrider run`; see `outrider run --help`"),
    (["run", "--per-cpu=yes"], "--per-cpu takes no value; see `outrider run --help`"),
    (["run", "--kernel"], "--kernel needs a value: --kernel FILE; see `outrider run --help`"),
    (["report", "--al=1"], "--all takes no value; see `outrider report --help`"),
    (["report", "-x"], "-x is not an option of `outrider report`; see `outrider report --help`"),
]

# An option whose value is one of a few words, and what is near a wrong one.
CHOICES = [
    (["report", "--format", "jsn", "f"], "--format jsn: give ", "; did you mean json?"),
    (["report", "--format", "xml", "f"], "--format xml: give ", "junit"),
    (["report", "--sort", "rnak", "f"], "--sort rnak: give rank, count, time or site", "; did you mean rank?"),
]


def outrider(*arguments, **more):
    return subprocess.run([BUILD / "outrider", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)


class Mistakes(unittest.TestCase):
    def said(self, arguments, status=2):
        done = outrider(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Aoutrider: [^\n]+\n\Z")
        return done.stderr.removeprefix("outrider: ").rstrip("\n")

    def test_misspelled(self):
        for arguments, line in MISSPELLED:
            with self.subTest(arguments=arguments):
                self.assertEqual(self.said(arguments), line)

    def test_abbreviation_of_several(self):
        self.assertRegex(self.said(["prune", "--s", "x"]), r"^--s may be (--s\w+, )+--s\w+: give more of its name$")

    def test_choices(self):
        for arguments, begin, part in CHOICES:
            with self.subTest(arguments=arguments):
                line = self.said(arguments)
                self.assertTrue(line.startswith(begin), line)
                self.assertIn(part, line)


class Help(unittest.TestCase):
    def test_width(self):
        """Help fits the terminal, between 50 and 110 columns."""
        for columns, limit in (("40", 50), ("64", 64), ("100", 100), ("400", 110)):
            for command in ([], ["run"], ["report"]):
                with self.subTest(columns=columns, command=command):
                    text = outrider(*command, "--help", env={**os.environ, "COLUMNS": columns}).stdout
                    longest = max(len(line) for line in text.splitlines() if not line.startswith(("`", "Find")))
                    self.assertLessEqual(longest, limit)
                    self.assertGreater(longest, limit - 20)

    def test_of_a_command(self):
        self.assertEqual(outrider("help", "run").stdout, outrider("run", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
