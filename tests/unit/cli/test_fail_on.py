#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Races decide the exit status where the user asks for it: --fail-on and --error-exitcode."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
RACES = ROOT / "tests/data/ground-truth-races.json"  # 15 harmful candidates, 1 unclear, 3 benign
FORMATS = ("text", "json", "sarif", "kcsan", "junit", "html")


def outrider(*arguments):
    done = subprocess.run([BUILD / "outrider", *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


class FailOn(unittest.TestCase):
    def report(self, *arguments):
        return outrider("report", *arguments, RACES)

    def ids(self, kind):
        done = subprocess.run([BUILD / "outrider", "prune", RACES], capture_output=True, text=True, check=True)
        return [line.split(kind, 1)[1].split()[1] for line in done.stdout.splitlines() if f" {kind} " in line[:25]]

    def test_default_is_as_ever(self):
        for kind in FORMATS:
            self.assertEqual(self.report("--format", kind)[0], 0)

    def test_every_format_fails(self):
        for kind in FORMATS:
            with self.subTest(kind):
                status, said = self.report("--format", kind, "--fail-on", "harmful")
                self.assertEqual(status, 1)
                self.assertIn("outrider: 14 of 18 groups (15 of 19 races) are harmful candidates: exit status 1 (--fail-on harmful)\n", said)

    def test_what_fails(self):
        kinds = {kind: self.ids(kind)[0] for kind in ("harmful candidate", "unclear", "benign")}
        fails = {"harmful": {"harmful candidate"}, "unclear": {"harmful candidate", "unclear"}, "any-new": set(kinds)}
        for what, failing in fails.items():
            for kind, race in kinds.items():
                with self.subTest(what=what, kind=kind):
                    self.assertEqual(self.report("--race", race, "--fail-on", what)[0], 1 if kind in failing else 0)

    def test_exit_code(self):
        self.assertEqual(self.report("--fail-on", "any-new", "--error-exitcode", "77")[0], 77)
        self.assertEqual(self.report("--error-exitcode", "255")[0], 255)
        benign = self.ids("benign")[0]
        self.assertEqual(self.report("--error-exitcode", "77", "--race", benign)[0], 0)

    def test_suppressed_races_do_not_fail(self):
        with tempfile.NamedTemporaryFile("w") as f:
            f.write("[suppress]\nsite = outrider_gt:*\nreason = known\n")
            f.flush()
            for what in ("harmful", "unclear", "any-new"):
                self.assertEqual(self.report("--suppress", f.name, "--fail-on", what)[0], 0)

    def test_codes_that_mean_something_else(self):
        for command in ("run", "attach", "report"):
            for code in ("0", "256", "-1", "x", "", "2", "3", "4", "5", "129", "130", "143"):
                with self.subTest(command=command, code=code):
                    status, said = outrider(command, f"--error-exitcode={code}")
                    self.assertEqual(status, 2)
                    self.assertIn(f"--error-exitcode {code}: " if code else "--error-exitcode is empty: ", said)
                    self.assertEqual(len(said.splitlines()), 1)

    def test_run_that_cannot_clear_a_kernel(self):
        """A gate that passes says so when it has not seen enough to pass."""
        document = json.loads(RACES.read_text())
        document["races"] = []
        for change, word, line in (
                ({"complete": False, "summary": None}, "unfinished",
                 "the run is not finished: it goes on or was killed, and only what was found so far is here"),
                ({"summary": {"end": "guest powered off"}}, "unsampled",
                 "nothing was sampled: no sample point was armed, so this run says nothing about the kernel"),
                ({}, None, None)):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
                json.dump({**document, **change}, f)
                f.flush()
                for kind in ("text", "json", "junit"):
                    with self.subTest(kind=kind, line=line):
                        said = f"outrider: {f.name}: {line}: exit status 1 (--fail-on {word})\n" if line else ""
                        self.assertEqual(outrider("report", "--format", kind, "--fail-on", "any-new", f.name), (1 if line else 0, said))
                        said = f"outrider: {f.name}: {line}\n" if line else ""
                        self.assertEqual(outrider("report", "--format", kind, "--fail-on", f"any-new,no-{word or 'unsampled'}", f.name), (0, said))
                        self.assertEqual(outrider("report", "--format", kind, f.name), (0, ""))

    def test_words(self):
        for command in ("run", "attach", "report"):
            status, said = outrider(command, "--fail-on", "harmfull")
            self.assertEqual(status, 2)
            self.assertIn("--fail-on harmfull: give harmful, unclear, any-new, suspicion, atomicity, complaint, unsampled, unfinished, no-unsampled or no-unfinished; did you mean harmful?", said)

    def test_options_of_a_run(self):
        status, said = outrider("run", "--kernel", "x", "--no-detect", "--fail-on", "harmful")
        self.assertEqual(status, 2)
        self.assertIn("--no-detect finds no race to fail on", said)
        status, said = outrider("attach", "x", "--suppress", "/nowhere/list")
        self.assertEqual(status, 3)
        self.assertIn("/nowhere/list", said)

    def test_a_failure_keeps_its_exit_code(self):
        self.assertEqual(outrider("report", "--fail-on", "any-new", "/nowhere/races.json")[0], 3)


if __name__ == "__main__":
    unittest.main()
