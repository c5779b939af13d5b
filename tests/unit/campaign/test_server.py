#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/check: about 90 s
"""A PostgreSQL server that goes away during a round costs no findings: the runs go on, and in the end the store has all that they found."""

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

JOBS = 2
LOSSES = 5  # of the server, at random moments
PACE = 0.02  # seconds a race, then


class Server(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = rig.make_campaign(self.folder, jobs=JOBS)
        self.gate = self.folder / "gate"
        self.gate.mkdir()
        self.spool = self.folder / "data/outrider/runs"
        self.server = rig.Server()
        self.addCleanup(self.server.remove)
        self.server.start()
        self.shown = self.server.url
        self.opened = set()

    def command(self, *words):
        return [rig.OUTRIDER, "campaign", "run", "--overcommit", "--store", self.server.url, *words, self.file]

    def variables(self, pace=0.0):
        return dict(os.environ, PACE=str(pace), GATE=str(self.gate), XDG_DATA_HOME=str(self.folder / "data"))

    def start(self, *words, pace=0.0):
        runner = subprocess.Popen(self.command(*words), env=self.variables(pace), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(runner.communicate)
        self.addCleanup(runner.kill)
        return runner

    def resume(self, status=0):
        done = subprocess.run(self.command("--resume"), env=self.variables(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=rig.CAP, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def wait_until(self, what):
        end = time.monotonic() + rig.CAP
        while not what():
            self.assertLess(time.monotonic(), end, "waited in vain")
            time.sleep(0.05)

    def ended(self):
        """The folders of the runs that have ended."""
        return {path.parent.name for path in self.spool.glob("*/*/status")}

    def running(self):
        return {path.parent.name for path in self.spool.glob("*/*/races.json")} - self.ended()

    def pass_runs(self, count):
        """Let `count` runs end, one by one, and wait until the next runs are at work."""
        for _ in range(count):
            self.wait_until(lambda: self.running() - self.opened)
            run = sorted(self.running() - self.opened)[0]
            (self.gate / run).touch()
            self.opened.add(run)
            self.wait_until(lambda run=run: run in self.ended())
        self.wait_until(lambda: len(self.running()) == min(JOBS, rig.RUNS - len(self.ended())))

    def stored_runs(self):
        return len(rig.ask(self.server.url, "SELECT 1 FROM run WHERE state = 1"))

    def pass_in_peace(self, runner, count):
        """Let `count` runs end while the server works, and wait until the store has them."""
        self.pass_runs(count)
        self.wait_until(lambda: runner.poll() is not None or self.stored_runs() == count)
        self.assertIsNone(runner.poll())

    def is_whole(self, rounds=1):
        """Check that the store has the rows of undisturbed rounds, and all races in the files of the runs."""
        plain = self.folder / "plain/store.db"
        plain.parent.mkdir()
        for _ in range(rounds):
            rig.outrider("run", "--overcommit", "--store", plain, self.file)
        expected, found = rig.dump(plain), rig.dump(self.server.url)
        self.assertEqual(len(expected["runs"]), rounds * rig.RUNS)
        for name, rows in expected.items():
            self.assertEqual(found[name], rows, name)
        reported = rig.reported(self.spool)
        self.assertTrue(reported)
        self.assertEqual(rig.stored(self.server.url), reported)
        self.assertFalse(self.unfinished())

    def unfinished(self):
        """Whether --resume would find unfinished work."""
        begun = rig.ask(self.server.url, "SELECT 1 FROM pg_tables WHERE schemaname = 'outrider' AND tablename = 'part'")
        return begun and rig.ask(self.server.url, "SELECT 1 FROM part WHERE ended = 0")

    def away(self, said):
        """The lines that say that the server is away. Each also says where the runner keeps the runs."""
        lines = [line for line in said.splitlines() if " away" in line]
        for line in lines:
            self.assertRegex(line, r"\Aoutrider: postgresql:///postgres: the store's server is away: .+; what the runs find is kept in "
                             + rf"{self.spool}/[0-9a-f]+ until the store can take it\Z")
        return lines

    def lose(self, runner, number):
        """Stop the server by signal `number` after three runs, and let four more runs end without the server."""
        self.pass_in_peace(runner, 3)
        self.server.stop(number)
        self.pass_runs(4)
        self.assertIsNone(runner.poll())
        self.assertEqual(len(self.ended()), 7)

    def test_comes_back_within_the_round(self):
        """The runner connects again by itself, while runs are still at work."""
        runner = self.start()
        self.lose(runner, signal.SIGQUIT)
        self.server.start()
        self.wait_until(lambda: runner.poll() is not None or self.stored_runs() == 7)
        # The store also knows the runs that started meanwhile.
        self.wait_until(lambda: runner.poll() is not None or len(rig.ask(self.server.url, "SELECT 1 FROM run WHERE state = 0")) == JOBS)
        self.assertIsNone(runner.poll())
        (self.gate / "open").touch()
        out, said = runner.communicate(timeout=rig.CAP)
        self.assertEqual(runner.returncode, 0, said)
        self.assertEqual(len(self.away(said)), 1, said)
        self.assertRegex(said, r"\A[^\n]* away: [^\n]*\noutrider: postgresql:///postgres: the store is back\n\Z")
        self.assertRegex(out, rf"\Amade: round 1: {rig.RUNS} of {rig.RUNS} runs done; ")
        self.is_whole()

    def test_killed_again_and_again(self):
        """SIGKILL ends the server three times. At the end of the round the runner stores the runs that are left."""
        runner = self.start()
        self.pass_in_peace(runner, 2)
        for count in (4, 6, 8):
            self.server.stop(signal.SIGKILL)
            self.pass_runs(2)
            self.assertEqual(len(self.ended()), count)
            self.server.start()
        (self.gate / "open").touch()
        out, said = runner.communicate(timeout=rig.CAP)
        self.assertEqual(runner.returncode, 0, said)
        self.assertIn(len(self.away(said)), (1, 2, 3), said)
        self.assertRegex(out, rf"\Amade: round 1: {rig.RUNS} of {rig.RUNS} runs done; ")
        self.is_whole()

    def test_at_random_moments(self):
        """The server may die within a transaction. The runner is never killed, so no run is repeated."""
        drawn = random.Random(7)
        (self.gate / "open").touch()
        losses, met = 0, 0
        while losses < LOSSES or self.unfinished():
            runner = self.start(*["--resume"] * bool(self.unfinished()), pace=PACE)
            if losses < LOSSES:
                time.sleep(drawn.uniform(0, 2))
                self.server.stop(drawn.choice((signal.SIGQUIT, signal.SIGKILL)))
                losses += 1
                met += runner.poll() is None
                time.sleep(drawn.uniform(0, 1))
                self.server.start()
            _, said = runner.communicate(timeout=rig.CAP)
            self.assertIn(runner.returncode, (0, 3), said)
            for line in said.splitlines():
                self.assertRegex(line, r"\Aoutrider: ")
        self.assertGreater(met, 0)
        rounds = len(rig.ask(self.server.url, "SELECT id FROM round"))
        print(f"# the server was lost {losses} times, {met} of them while a runner was at work, in {rounds} rounds", file=sys.stderr)
        self.is_whole(rounds)

    def test_stays_away(self):
        runner = self.start()
        self.lose(runner, signal.SIGQUIT)
        (self.gate / "open").touch()
        out, said = runner.communicate(timeout=rig.CAP)
        self.assertEqual((runner.returncode, out), (3, ""), said)
        self.assertEqual(len(self.away(said)), 1, said)
        self.assertRegex(said, r"\A[^\n]* away: [^\n]*\noutrider: [^\n]*the store postgresql:///postgres cannot take 9 runs?[^\n]*; "
                         rf"they are kept in {self.spool}/[0-9a-f]+, and --resume stores them\n\Z")
        self.assertEqual(len(self.ended()), rig.RUNS)
        # --resume fails as long as the server is away.
        self.assertRegex(self.resume(3).stderr, r"\Aoutrider: [^\n]*postgresql:///postgres: cannot reach the store's server: [^\n]+\n\Z")
        self.server.start()
        begun = {path: path.stat().st_mtime_ns for path in self.spool.glob("*/*/command")}
        done = self.resume()
        self.assertRegex(done.stdout, rf"\Amade: round 1: {rig.RUNS} of {rig.RUNS} runs done; ")
        self.assertEqual(done.stderr, "")
        # The runner has repeated no run.
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.spool.glob("*/*/command")}, begun)
        self.is_whole()

    def test_runner_is_killed_while_the_server_is_away(self):
        runner = self.start()
        self.lose(runner, signal.SIGQUIT)
        runner.kill()
        runner.wait()
        self.server.start()
        (self.gate / "open").touch()
        done = self.resume()
        self.assertRegex(done.stdout, rf"\Amade: round 1: {rig.RUNS} of {rig.RUNS} runs done; ")
        found = rig.dump(self.server.url)
        self.assertEqual(len(rig.finished(found)["runs"]), rig.RUNS)
        self.assertEqual(len(found["runs"]), rig.RUNS + JOBS)  # with the attempts that were cut off
        self.assertEqual(rig.stored(self.server.url), rig.reported(self.spool))

    def test_goes_away_when_all_runs_are_stored(self):
        """Then the end of the round is all that the store lacks."""
        runner = self.start()
        self.pass_in_peace(runner, 2)
        with subprocess.Popen(["psql", "-qAtX", self.server.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as locker:
            locker.stdin.write("BEGIN; LOCK TABLE outrider.part IN EXCLUSIVE MODE; SELECT 'locked';\n")
            locker.stdin.flush()
            self.assertEqual(locker.stdout.readline(), "locked\n")
            (self.gate / "open").touch()
            self.wait_until(lambda: rig.ask(self.server.url, "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'part'::regclass"))
            self.assertEqual(self.stored_runs(), rig.RUNS)
            self.server.stop(signal.SIGQUIT)
        out, said = runner.communicate(timeout=rig.CAP)
        self.assertEqual((runner.returncode, out), (3, ""), said)
        self.assertRegex(said, r"\Aoutrider: [^\n]*postgresql:///postgres: the store's server is away: [^\n]+; "
                         r"the store has all runs that have ended, and --resume ends the round\n\Z")
        self.server.start()
        self.assertRegex(self.resume().stdout, rf"\Amade: round 1: {rig.RUNS} of {rig.RUNS} runs done; ")
        self.is_whole()


if __name__ == "__main__":
    unittest.main()
