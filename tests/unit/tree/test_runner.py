#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/check runs checks in parallel, the longest first, counts their results, and leaves no process and no file of them."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

CHECK = pathlib.Path(__file__).resolve().parents[2] / "check"
FOREVER = "sleep 1000"


class Runner(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def command(self, *words):
        return [sys.executable, CHECK, "--logs", self.folder / "logs", *words]

    def check(self, *words):
        done = subprocess.run(self.command(*words), capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def script(self, name, text):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def test_counts(self):
        cmocka = "printf '1..2\\nok 1 - one\\nnot ok 2 - two\\n# why\\n'; exit 1"
        python = "printf 'FAIL: test_x\\nRan 3 tests in 0.1s\\n\\nFAILED\\n'; exit 1"
        status, lines = self.check("--jobs", "1", "true", "false", "exit 3", "echo ok 1 - a; echo ok 2 - b", cmocka, python)
        self.assertEqual(status, 1)
        self.assertEqual(lines[-1], "6 passed, 4 failed")
        self.assertEqual([line for line in lines if line.startswith("failed: ")],
                         ["failed: false", "failed: exit 3", f"failed: {cmocka}", f"failed: {python}"])
        self.assertRegex("\n".join(lines), r"failed: two\n      \| # why\n")
        self.assertIn("      failed: exit status 3", lines)
        self.assertEqual(self.check("true"), (0, [unittest.mock.ANY, unittest.mock.ANY, "1 passed, 0 failed"]))

    def test_idle_time(self):
        """The line before the last says for how long the machine's CPUs had nothing to do."""
        status, lines = self.check("sleep 0.5")
        self.assertEqual(status, 0)
        seconds, percent = map(int, re.fullmatch(r"(\d+) s, for (\d+) % of which the CPUs were idle", lines[-2]).groups())
        self.assertLess(seconds, 600)
        self.assertLessEqual(percent, 100)

    def test_at_once(self):
        """Each check waits until the other check has begun."""
        meet = "touch {0}/{1}; until [ -e {0}/{2} ]; do sleep 0.05; done"
        checks = [meet.format(self.folder, "a", "b"), meet.format(self.folder, "b", "a")]
        self.assertEqual(self.check("--jobs", "2", *checks)[1][-1], "2 passed, 0 failed")

    def test_the_longest_first(self):
        order = self.folder / "order"
        checks = [self.script(name, f"{header}\necho {name} >>{order}") for name, header in
                  [("a", ""), ("b", "# tests/check: about 5 s"), ("c", "# tests/check: about 70 s"), ("d", "")]]
        self.check("--jobs", "1", *checks)
        self.assertEqual(order.read_text(encoding="utf-8").split(), ["c", "b", "a", "d"])

    def test_one_that_waits_runs_beside_the_others(self):
        meet = "touch {0}/{1}; until [ -e {0}/{2} ]; do sleep 0.05; done"
        checks = [self.script("waits", "# tests/check: about 5 s, waiting\n" + meet.format(self.folder, "a", "b")),
                  self.script("works", meet.format(self.folder, "b", "a"))]
        self.assertEqual(self.check("--jobs", "1", *checks)[1][-1], "2 passed, 0 failed")

    def tidy(self):
        """Makes a check that never ends by itself. On SIGTERM it removes the file that it made."""
        return self.script("tidy", f"""trap 'sleep 0.5; rm {self.folder}/made' EXIT
            trap 'exit 1' TERM
            touch {self.folder}/made
            {FOREVER} & wait""")

    def deaf(self):
        """Makes a check that ignores SIGTERM, as its children do."""
        return self.script("deaf", f"trap '' TERM; echo $$ >{self.folder}/pid.new; mv {self.folder}/pid.new {self.folder}/pid; {FOREVER}")

    def wait_for(self, name):
        while not (self.folder / name).exists():
            time.sleep(0.05)

    def is_gone(self, pid):
        """Waits until the process is gone. A killed process is gone only after its parent has reaped it."""
        with self.assertRaises(ProcessLookupError):
            for _ in range(1000):
                os.kill(pid, 0)
                time.sleep(0.05)

    def interrupted(self, *words, when):
        with subprocess.Popen(self.command(*words), stdout=subprocess.PIPE, text=True) as process:
            self.wait_for(when)
            process.send_signal(signal.SIGTERM)
            printed = process.communicate()[0]
            self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        return printed

    def test_a_check_that_takes_too_long_may_take_away_what_it_made(self):
        _, lines = self.check("--limit", "1", self.tidy())
        self.assertIn("      failed: exit status 124", lines)
        self.assertRegex("\n".join(lines), rf"stopped after 1 s, when these processes were there:(\n.*)*{FOREVER}")
        self.assertFalse((self.folder / "made").exists())

    def test_so_may_one_that_runs_when_all_is_interrupted(self):
        self.interrupted(self.tidy(), FOREVER, when="made")
        self.assertFalse((self.folder / "made").exists())

    def test_what_runs_when_all_is_interrupted_is_said(self):
        printed = self.interrupted(self.script("talks", f"echo here; touch {self.folder}/made; {FOREVER}"), when="made")
        self.assertRegex(printed, r"^stopped  /\S*/talks  \(\d+ s so far\)\n      \| here\n")

    def test_what_does_not_listen_is_killed(self):
        self.interrupted("--grace", "0.5", self.deaf(), when="pid")
        self.is_gone(int((self.folder / "pid").read_text(encoding="utf-8")))


if __name__ == "__main__":
    unittest.main()
