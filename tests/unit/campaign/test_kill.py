#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/check: about 30 s
"""SIGKILL of a campaign's runner and of its runs at random moments loses nothing that was reported, and --resume does the rest."""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
import campaign_rig as rig  # noqa: E402

KILLS = 20
PACE = 0.02  # seconds a race
RUNS_KILLED = 2  # of one runner, which takes a run that is killed three times for broken


class Kill(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = rig.make_campaign(self.folder)
        self.store = self.folder / "killed/store.db"
        self.store.parent.mkdir()
        self.random = random.Random(20)
        self.kills = {"runner": 0, "run": 0}

    def unfinished(self):
        return self.store.exists() and rig.ask(self.store, "SELECT 1 FROM part WHERE ended = 0")

    def start(self):
        words = [rig.OUTRIDER, "campaign", "run", "--quiet", "--overcommit", "--store", self.store, self.file]
        return subprocess.Popen(words + ["--resume"] * bool(self.unfinished()), env=dict(os.environ, PACE=str(PACE)), stdin=subprocess.DEVNULL)

    def kill(self, runner, run):
        """Returns whether there was something to kill."""
        below = rig.children(runner.pid)
        victim = self.random.choice(below) if run and below else runner.pid
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            return False
        self.kills["runner" if victim == runner.pid else "run"] += 1
        return True

    def until_killed(self, length):
        """One runner, from its start until it ends or is killed; some of its runs may be killed on the way."""
        runner = self.start()
        spared = RUNS_KILLED
        while sum(self.kills.values()) < KILLS:
            try:
                runner.wait(timeout=self.random.uniform(0, length / 4))
            except subprocess.TimeoutExpired:
                run = spared and self.random.random() < 0.5
                if self.kill(runner, run) and not run:
                    break
                spared -= bool(run)
            if runner.returncode is not None:
                break
        runner.wait(timeout=rig.CAP)
        self.assertIn(runner.returncode, (0, -signal.SIGKILL))
        self.assertEqual(rig.check_file(self.store), "ok")

    def test_nothing_is_lost(self):
        plain = self.folder / "plain/store.db"
        plain.parent.mkdir()
        begin = time.monotonic()
        rig.outrider("run", "--overcommit", "--store", plain, self.file, pace=PACE)
        length = time.monotonic() - begin
        while sum(self.kills.values()) < KILLS:
            self.until_killed(length)
        while self.unfinished():
            self.until_killed(length)
        rounds = len(rig.ask(self.store, "SELECT id FROM round"))
        for _ in range(1, rounds):
            rig.outrider("run", "--overcommit", "--store", plain, self.file, pace=PACE)
        expected, found = rig.dump(plain), rig.dump(self.store)
        aside = [row for row in found["runs"] if "~" in row[0]]
        print(f"# {self.kills['runner']} runners and {self.kills['run']} processes of runs killed in {rounds} rounds of {rig.RUNS} runs; "
              f"{len(aside)} unfinished attempts are kept", file=sys.stderr)
        self.assertEqual(len(rig.finished(found)["runs"]), rounds * rig.RUNS)
        for name, rows in rig.finished(expected).items():
            self.assertEqual(rig.finished(found)[name], rows, name)
        self.assertEqual(found["races"], expected["races"])
        self.assertEqual([row[:2] for row in found["sites"]], [row[:2] for row in expected["sites"]])
        # All that any attempt has reported, finished or not, is in the store, and as often.
        self.assertEqual(rig.stored(self.store), rig.reported(self.store.parent / "runs"))
        self.assertTrue(aside)
        self.assertGreater(self.kills["runner"], 0)
        self.assertGreater(self.kills["run"], 0)


if __name__ == "__main__":
    unittest.main()
