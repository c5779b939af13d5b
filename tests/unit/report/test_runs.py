#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `outrider report` says of the runs that its files are of, and that no run is counted twice."""

import copy
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
RACES = ROOT / "tests/data/ground-truth-races.json"
RACE = "f5b4a133e53e"  # seen 125 times in RACES


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.document = json.loads(RACES.read_text())
        self.document["run"].update(started="2026-11-22T07:36:55.123Z", host={"name": "lab3", "kernel": "6.12", "cpu": "A", "cpus": 4},
                                    options=["run", "--seed", "1349088050"], duration_s=90)

    def file(self, name, *changes):
        """The document with changes, each a path of keys and a value."""
        document = copy.deepcopy(self.document)
        for keys, value in changes:
            node = document
            for key in keys[:-1]:
                node = node[key]
            node[keys[-1]] = value
        path = self.folder / name
        path.write_text(json.dumps(document))
        return path

    def report(self, *arguments, command="report"):
        done = subprocess.run([BUILD / "outrider", command, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, [line for line in done.stderr.splitlines() if "counted once" in line]

    def count(self, text):
        return int(re.search(rf"^  {RACE} +\d+ [a-z ]+ \d+ +(\d+) ", text, re.M).group(1))

    def test_head(self):
        text = self.report(self.file("a.json"))[0]
        self.assertTrue(text.startswith(f"RUN       {self.folder}/a.json\n  kernel        Linux version 6.1."), text[:200])
        for line in ("started       2026-11-22 07:36:55 UTC", "host          lab3, Linux 6.12, 4 CPUs, A",
                     "command       outrider run --seed 1349088050",
                     "finished      85.7 s sampled of 90.0 s asked for; guest powered off"):
            self.assertIn(f"\n  {line}\n", text)

    def test_unfinished_run_is_said_to_be_one(self):
        text = self.report(self.file("a.json", (("complete",), False), (("summary",), None)))[0]
        self.assertIn("\n  NOT FINISHED  ", text)
        self.assertNotIn("\n  finished ", text)

    def test_same_file_twice(self):
        path = self.file("a.json")
        link = self.folder / "link.json"
        link.symlink_to(path)
        for command in ("report", "prune"):
            text, said = self.report(path, link, path, command=command)
            self.assertIn("125", re.search(f"^.*{RACE}.*$", text.split("SUMMARY")[-1], re.M).group(0))
            self.assertEqual(said, [f"outrider: {other}: the same run as {path}; it is counted once" for other in (link, path)])

    def test_copy_of_a_run(self):
        first, second = self.file("a.json"), self.file("b.json")
        text, said = self.report(first, second)
        self.assertEqual(self.count(text), 125)
        self.assertEqual(said, [f"outrider: {second}: the same run as {first}; it is counted once"])
        self.assertEqual(len(re.findall("^RUN ", text, re.M)), 1)

    def test_copy_of_a_run_of_an_older_version(self):
        copied = self.folder / "copy.json"
        copied.write_bytes(RACES.read_bytes())
        text, said = self.report(RACES, copied)
        self.assertEqual(self.count(text), 125)
        self.assertEqual(len(said), 1)

    def test_finished_copy_is_taken(self):
        early = self.file("early.json", (("complete",), False), (("summary",), None), (("races", 0, "count"), 1))
        late = self.file("late.json")
        for files in ((early, late), (late, early)):
            text, said = self.report(*files)
            self.assertEqual(self.count(text), 125)
            self.assertEqual(said, [f"outrider: {early}: the same run as {late}; it is counted once"])

    def test_other_runs_are_other_runs(self):
        first = self.file("a.json")
        for name, keys, value in (("seed", ("run", "seed"), "1"), ("start", ("run", "started"), "2026-11-22T07:36:55.124Z"),
                                  ("host", ("run", "host", "name"), "lab4")):
            with self.subTest(name):
                text, said = self.report(first, self.file("b.json", (keys, value)))
                self.assertEqual(self.count(text), 250)
                self.assertEqual(said, [])
                self.assertEqual(len(re.findall("^RUN ", text, re.M)), 2)


if __name__ == "__main__":
    unittest.main()
