#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`outrider diff`: new, gone, changed, moved and unchanged races of recorded runs, and the exit status."""

import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
import device_side  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
RACES = ROOT / "tests/data/ground-truth-races.json"
HARMFUL = "f5b4a133e53e"  # gt_rwrace_reader() against gt_rwrace_writer()
BENIGN = "263cd17fba2a"   # gt_flagbits_marker() against gt_flagbits_tester()


def diff(*arguments, status=0):
    done = subprocess.run([BUILD / "outrider", "diff", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def by_id(document, race):
    return next(r for r in document["races"] if r["id"] == race)


def move(race, by, seed):
    """Turns the race into that of another build: each function begins with `by` more bytes, which do nothing, and the id differs."""
    for side in race["sides"]:
        if side["unknown"]:
            continue
        side["offset"] += by
        side["site"] = f"{side['site'].split('+')[0]}+{side['offset']:#x}"
        pc = int(side["pc"], 16)
        side["pc"] = f"{pc + by:#x}"
        side["registers"]["rip"] = f"{int(side['registers']['rip'], 16) + by:#x}"
        side["function_size"] += by
        side["code"]["bytes"] = ("90" * by + side["code"]["bytes"])[:2 * 512]
        for call in side["code"]["calls"]:
            call["at"] += by
    race["id"] = f"{seed:012x}"


def rebuild(document):
    """Gives the kernel and its modules the build ids of another build."""
    for built in [document["kernel"], *document["modules"]]:
        built["build_id"] = built["build_id"][::-1]


class Diff(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.races = json.loads(RACES.read_text())

    def save(self, name, document):
        # Files with the same seed and start belong to one run, so each file gets its own seed.
        document = copy.deepcopy(document)
        document["run"]["seed"] = str(abs(hash(name)) % 10**9)
        path = self.top / name
        path.write_text(json.dumps(document))
        return path

    def without(self, *ids):
        document = copy.deepcopy(self.races)
        document["races"] = [race for race in document["races"] if race["id"] not in ids]
        return document

    def changes(self, *arguments, status=0):
        document = json.loads(diff("--format", "json", *arguments, status=status)[0])
        self.assertEqual(document["schema"], "outrider-diff/1")
        for kind, count in document["summary"].items():
            self.assertEqual(count, sum(race["change"] == kind for race in document["races"]), kind)
        return {(race["new"] or race["old"])["id"]: race for race in document["races"]}

    def kinds(self, *arguments):
        found = {}
        for name, race in self.changes(*arguments).items():
            found.setdefault(race["change"], set()).add(name)
        return found

    def test_the_same(self):
        every = {race["id"] for race in self.races["races"]}
        self.assertEqual(self.kinds(RACES, RACES), {"same": every})
        self.assertEqual(diff(RACES, RACES, "--fail-on", "any-new")[1].count("exit status"), 0)
        self.assertNotIn("\n\n\n", diff(RACES, RACES)[0])

    def test_new_and_gone(self):
        old, new = self.save("old.json", self.without(HARMFUL)), self.save("new.json", self.without(BENIGN))
        found = self.kinds(old, new)
        self.assertEqual((found["new"], found["gone"]), ({HARMFUL}, {BENIGN}))
        self.assertEqual(len(found["same"]), 17)
        text, _ = diff(old, new)
        self.assertRegex(text, rf"(?s)NEW       only the new side.* {HARMFUL} .*\nGONE .* {BENIGN} ")
        self.assertIn("1 new, 0 changed, 1 gone, 0 moved, 17 the same", text)
        self.assertNotIn("SAME", text)
        self.assertIn("SAME", diff("--all", old, new)[0])

    def test_several_old_files(self):
        one, two = self.save("one.json", self.without(HARMFUL)), self.save("two.json", self.without(BENIGN))
        self.assertEqual(set(self.kinds("--old", one, "--old", two, RACES)), {"same"})
        self.assertEqual(self.kinds("--old", one, RACES, two)["new"], {HARMFUL})

    def test_another_build(self):
        """Ids and offsets differ; functions and data are the same."""
        moved = copy.deepcopy(self.races)
        for seed, race in enumerate(moved["races"]):
            move(race, 0x20, seed + 1)
        rebuild(moved)
        new = self.save("new.json", moved)
        found = self.changes(RACES, new)
        self.assertEqual({race["change"] for race in found.values()}, {"moved"})
        for race in found.values():
            self.assertEqual([site.split("+")[0] for site in race["old"]["sites"]], [site.split("+")[0] for site in race["new"]["sites"]])
            offsets = [[int(site.split("+")[1], 16) for site in race[side]["sites"] if "+" in site] for side in ("old", "new")]
            self.assertEqual([offset + 0x20 for offset in offsets[0]], offsets[1])
        self.assertEqual(diff(RACES, new, "--fail-on", "any-new")[1], "")

    def test_one_build_has_its_offsets(self):
        """In one build two places of one function are two races, although they have one identity."""
        moved = copy.deepcopy(self.races)
        move(by_id(moved, HARMFUL), 0x20, 1)
        found = self.changes(RACES, self.save("new.json", moved))
        self.assertEqual((found[f"{1:012x}"]["change"], found[HARMFUL]["change"]), ("new", "gone"))
        self.assertEqual(found[f"{1:012x}"]["new"]["identity"], found[HARMFUL]["old"]["identity"])

    def test_another_datum_is_another_race(self):
        other = copy.deepcopy(self.races)
        race = by_id(other, HARMFUL)
        move(race, 0x20, 1)
        rebuild(other)
        for name in (race["name"], *(side["datum"] for side in race["sides"])):
            name.update(member="other", path="gt_rwrace_ptr->other")
        found = self.kinds(RACES, self.save("new.json", other))
        self.assertEqual((found["new"], found["gone"]), ({f"{1:012x}"}, {HARMFUL}))

    def test_a_device(self):
        """A device's side keeps its identity in another build, for another sector and on another queue; not for another operation."""
        old, new, other = (copy.deepcopy(self.races) for _ in range(3))
        device_side.make(by_id(old, HARMFUL))
        device_side.make(by_id(new, HARMFUL), sector=16, queue=0, descriptor=7, thread="blk0/q0", tid=9)
        device_side.make(by_id(other, HARMFUL), op="get-id", sector=None)
        for document in (new, other):
            move(by_id(document, HARMFUL), 0x20, 1)
            rebuild(document)
        old = self.save("old.json", old)
        race = self.changes(old, self.save("new.json", new))[f"{1:012x}"]
        self.assertEqual(race["change"], "moved")
        self.assertEqual(race["new"]["sites"][1], "virtio-blk:read")
        found = self.kinds(old, self.save("other.json", other))
        self.assertEqual((found["new"], found["gone"]), ({f"{1:012x}"}, {HARMFUL}))

    def test_changed_verdict(self):
        rules = self.top / "rules.conf"
        rules.write_text("[special]\nvariable = nothing_of_this_name\nreason = none\n")
        marked = copy.deepcopy(self.races)
        for side in by_id(marked, HARMFUL)["sides"]:
            side["access"]["locked"] = True
        new = self.save("new.json", marked)
        found = self.changes(RACES, new, "--rules", rules)
        race = found[HARMFUL]
        self.assertEqual((race["change"], race["worse"]), ("changed", False))
        self.assertEqual((race["old"]["verdict"]["class"], race["new"]["verdict"]["class"]), ("harmful candidate", "synchronisation"))
        self.assertRegex(diff(RACES, new)[0], rf"CHANGED .*\n.* {HARMFUL} .*\n +was \d+ harmful candidate, no-benign-pattern\n")
        self.assertTrue(self.changes(new, RACES)[HARMFUL]["worse"])

    def test_exit_status(self):
        old = self.save("old.json", self.without(HARMFUL, BENIGN))
        benign = self.save("benign.json", self.without(HARMFUL))
        diff(old, RACES)
        _, said = diff(old, RACES, "--error-exitcode", "9", status=9)
        self.assertIn("1 of 2 groups (1 of 2 races) is a harmful candidate: exit status 9", said)
        diff(old, benign, "--error-exitcode", "9")
        diff(old, benign, "--fail-on", "any-new", status=1)
        diff(RACES, old, "--fail-on", "any-new")
        known = self.top / "known"
        known.write_text("[suppress]\nsite = gt_rwrace_*\nsite = gt_rwrace_*\nreason = known\n")
        diff(old, RACES, "--fail-on", "harmful", "--suppress", known)

    def test_new_side_that_cannot_clear_a_kernel(self):
        """With --fail-on, `diff` says that a new run is not finished: such a run cannot clear a kernel."""
        document = copy.deepcopy(self.races)
        document.update(complete=False, summary=None)
        unfinished = self.save("unfinished.json", document)
        line = f"outrider: {unfinished}: the run is not finished: it goes on or was killed, and only what was found so far is here"
        self.assertEqual(diff(RACES, unfinished, "--fail-on", "harmful", status=1)[1], f"{line}: exit status 1 (--fail-on unfinished)\n")
        self.assertEqual(diff(RACES, unfinished, "--fail-on", "harmful,no-unfinished")[1], f"{line}\n")
        self.assertEqual(diff(RACES, unfinished)[1], "")
        self.assertEqual(diff(unfinished, RACES, "--fail-on", "harmful")[1], "")

    def test_new_side_that_sampled_nothing(self):
        """No race is gone if the new side did not look, in whatever way it did not."""
        for name, change in (("unarmed", {"seconds": 0, "hits": 0, "windows": 0}), ("unhit", {"hits": 0, "windows": 0}), ("no-window", {"windows": 0})):
            with self.subTest(name):
                document = self.without(*(race["id"] for race in self.races["races"]))
                document["summary"] = copy.deepcopy(document["summary"])
                document["summary"]["sampling"].update(change)
                new = self.save(f"{name}.json", document)
                self.assertEqual(self.kinds(RACES, new), {"unsampled": {race["id"] for race in self.races["races"]}})
                text, said = diff(RACES, new)
                self.assertEqual(said, "")
                self.assertIn("UNKNOWN   not looked for: the new side sampled nothing", text)
                self.assertIn("0 new, 0 changed, 19 not looked for, 0 moved, 0 the same", text)
                self.assertIn(f"UNSAMPLED  {new}: nothing was sampled: ", text)
                self.assertNotIn("GONE", text)
                self.assertIn("(--fail-on unsampled)", diff(RACES, new, "--fail-on", "harmful", status=1)[1])
                diff(RACES, new, "--fail-on", "harmful,no-unsampled")
                self.assertEqual(set(self.kinds("--old", RACES, new, self.save("other.json", self.races))), {"same"})

    def test_suspicions_are_not_compared(self):
        self.assertIn("diff compares races only", diff("--fail-on", "suspicion", RACES, RACES, status=2)[1])

    def test_wrong_words_of_fail_on(self):
        for option, why in (("--fail-on", "--fail-on often: give harmful, unclear, any-new, suspicion, atomicity, complaint, unsampled, unfinished, no-unsampled or no-unfinished"),
                            ("--error-exitcode", "--error-exitcode often: give a number from 1 to 255")):
            self.assertEqual(diff(option, "often", RACES, RACES, status=2), ("", f"outrider: {why}\n"))

    def test_wrong_arguments(self):
        for arguments in ([], [RACES], [RACES] * 3):
            self.assertIn("diff needs two FILEs", diff(*arguments, status=2)[1])
        self.assertIn("beside --old", diff("--old", RACES, status=2)[1])
        self.assertIn("No such file", diff(RACES, self.top / "none", status=3)[1])
        self.assertIn("give text or json", diff("--format", "sarif", RACES, RACES, status=2)[1])


if __name__ == "__main__":
    unittest.main()
