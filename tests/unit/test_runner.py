#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/check runs checks at once, the longest first, counts what they say, and leaves nothing of them behind."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

CHECK = pathlib.Path(__file__).resolve().parents[1] / "check"
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
        self.assertRegex("\n".join(lines), r"failed: two\n      \| # why\n")
        self.assertIn("      failed: exit status 3", lines)
        self.assertEqual(self.check("true"), (0, [unittest.mock.ANY, "1 passed, 0 failed"]))

    def test_at_once(self):
        """Each waits until the other has begun."""
        meet = "touch {0}/{1}; until [ -e {0}/{2} ]; do sleep 0.05; done"
        checks = [meet.format(self.folder, "a", "b"), meet.format(self.folder, "b", "a")]
        self.assertEqual(self.check("--jobs", "2", *checks)[1][-1], "2 passed, 0 failed")

    def test_the_longest_first(self):
        order = self.folder / "order"
        checks = [self.script(name, f"{header}\necho {name} >>{order}") for name, header in
                  [("a", ""), ("b", "# tests/check: about 5 s"), ("c", "# tests/check: about 70 s"), ("d", "")]]
        self.check("--jobs", "1", *checks)
        self.assertEqual(order.read_text(encoding="utf-8").split(), ["c", "b", "a", "d"])

    def leaver(self):
        """A check that takes away what it made when it is told to end, and whose child does not listen."""
        return self.script("leaver", f"""trap 'sleep 0.5; rm {self.folder}/made' EXIT
            trap 'exit 1' TERM
            touch {self.folder}/made
            sh -c 'trap "" TERM; echo $$ >{self.folder}/child.new; mv {self.folder}/child.new {self.folder}/child; exec {FOREVER}' &
            wait""")

    def nothing_is_left(self):
        self.assertFalse((self.folder / "made").exists())
        child = int((self.folder / "child").read_text(encoding="utf-8"))
        with self.assertRaises(ProcessLookupError):
            # Killed at once, but gone only when init has seen it.
            for _ in range(1000):
                os.kill(child, 0)
                time.sleep(0.01)

    def test_limit(self):
        _, lines = self.check("--limit", "2", "--grace", "1", self.leaver())
        self.assertIn("      failed: exit status 124", lines)
        self.nothing_is_left()

    def test_interrupted(self):
        with subprocess.Popen(self.command("--grace", "1", self.leaver(), FOREVER)) as process:
            while not (self.folder / "child").exists():
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 128 + signal.SIGTERM)
        self.nothing_is_left()


if __name__ == "__main__":
    unittest.main()
