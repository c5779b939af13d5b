#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest agent as an ordinary program: how it answers commands on its console, which is its standard input here."""

import os
import pathlib
import re
import subprocess
import time
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]
AGENT = pathlib.Path(os.environ.get("OUTRIDER_BUILD", TREE / "build")) / "guest-agent"
FOREVER = "3600"  # a limit that no test reaches


def agent(*words, said=""):
    """Runs the agent. Returns [status of each workload], and all that it printed."""
    done = subprocess.run([AGENT, *words], input=said, capture_output=True, text=True, check=False)
    return [int(rc) for rc in re.findall(r": done rc=(\d+)", done.stdout)], done.stdout


class Agent(unittest.TestCase):
    def test_waits_until_told(self):
        with subprocess.Popen([AGENT, f"wait:{FOREVER}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            while "start" not in process.stdout.readline():
                pass
            time.sleep(0.3)  # time enough for a broken agent to end
            self.assertIsNone(process.poll())
            output, _ = process.communicate("enough wait\n")
        self.assertIn("done rc=0", output)

    def test_each_line_is_for_one(self):
        status, output = agent(f"wait:{FOREVER}", f"wait:{FOREVER}", "wait:0.2", said="enough wait\nenough wait\n")
        self.assertEqual(status, [0, 0, 1], output)
        self.assertIn('the console did not say "enough wait" within 0.2 seconds', output)

    def test_other_lines_are_dropped(self):
        noise = "\nenough\nenough waiting\n" + "x" * 500 + "\nnot enough wait\nenough other\n"
        self.assertEqual(agent(f"wait:{FOREVER}", said=noise + "enough wait\r\n")[0], [0])
        self.assertEqual(agent("wait:0.2", said=noise)[0], [1])
        self.assertEqual(agent("wait:0.2", said="enough wait")[0], [1], "half a line")

    def test_help_names_each_workload(self):
        done = subprocess.run([AGENT, "--help"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        words = re.findall(r"^  ([a-z]+)[:\[]", done.stdout, re.M)
        self.assertIn("modules", words)
        for word in set(words) - {"poweroff", "serve"}:
            with self.subTest(word=word):  # an argument that no workload takes
                self.assertNotIn("no such workload", agent(word + ":")[1])

    def test_durations(self):
        for word in ("wait", "wait:", "wait:0", "wait:x", "busy", "busy:1:", "busy:1:x", "busy:1:2:3", "busy::5", "gt:all:1:0", "gtcase:x:1:"):
            with self.subTest(word=word):
                self.assertEqual(agent(word)[0], [2])


if __name__ == "__main__":
    unittest.main()
