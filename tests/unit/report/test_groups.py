#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One entry for a bug: the groups of races in every form of report, held to what the ground truth says is one bug."""

import collections
import json
import lzma
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
MANIFEST = json.loads((ROOT / "tests/ground-truth/manifest.json").read_text())
RUNS = ("gt-amd", "gt-dma", "gt-intel", "gt-ordered")
CLASSES = ("harmful candidate", "unclear", "synchronisation", "benign")
WORDS = ("likely bug", "unclear", "synchronisation", "benign")


def cases():
    """{function: the case of the manifest that it belongs to}. No function belongs to two."""
    found = {}
    for case in MANIFEST["cases"]:
        for function in case.get("functions") or [side["function"] for side in case["sides"] if "function" in side]:
            assert found.setdefault(function, case["name"]) == case["name"], function
    return found


def total(word, groups):
    """How the line of totals says the groups of one class."""
    races = sum(len(group["races"]) for group in groups)
    count = f"{len(groups)} {word}{'s' if word == 'likely bug' and len(groups) != 1 else ''}"
    return count if races == len(groups) else f"{count} ({races} races)"


class Groups(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.top = pathlib.Path(cls.folder.name)
        cls.paths = {}
        for run in (*RUNS, "linux-5.10", "linux-6.1", "linux-6.12"):
            for name in ("races", "named"):
                path = cls.top / f"{run}-{name}.json"
                path.write_bytes(lzma.decompress((ROOT / f"tests/data/recorded/{run}/{name}.json.xz").read_bytes()))
                cls.paths[run, name] = path

    @staticmethod
    def report(path, *options, status=0):
        done = subprocess.run([BUILD / "outrider", "report", *options, path], capture_output=True, text=True, check=False)
        assert done.returncode == status, (done.returncode, done.stderr)
        return done.stdout

    def document(self, run, name):
        return json.loads(self.report(self.paths[run, name], "--format", "json"))

    def test_no_group_spans_two_cases(self):
        case_of = cases()
        for run in RUNS:
            for name in ("races", "named"):
                document = self.document(run, name)
                case = {race["id"]: {case_of[side["function"]] for side in race["sides"] if side.get("function") in case_of}
                        for race in document["races"]}
                for group in document["groups"]:
                    self.assertLessEqual(len(set().union(*(case[race] for race in group["races"]))), 1, (run, name, group["text"]))

    def test_a_case_is_few_groups(self):
        """What is one bug in one datum is one group, and so is a reader and a writer of one sequence count."""
        case_of = cases()
        groups = collections.defaultdict(list)
        document = self.document("gt-ordered", "named")
        races = {race["id"]: race for race in document["races"]}
        for group in document["groups"]:
            for case in {case_of.get(side.get("function")) for side in races[group["races"][0]]["sides"]}:
                groups[case].append(len(group["races"]))
        for case, expected in (("nlink", [4]), ("refput", [3]), ("addtocache", [3]), ("irqsame", [2]), ("irqcross", [2]), ("bitfield", [2]),
                               ("seqignored", [6]), ("seqnoretry", [4]), ("seqother", [2]), ("seqlock", [6]), ("seqmutex", [6])):
            self.assertEqual(groups[case], expected, case)
        harmful = [group for group in document["groups"] if group["verdict"]["class"] == "harmful candidate"]
        rows = [race for race in document["races"] if race["verdict"]["class"] == "harmful candidate"]
        self.assertEqual((len(rows), len(harmful)), (49, 31))

    def test_a_group_is_of_two_functions_and_one_datum(self):
        for (run, name), path in self.paths.items():
            document = json.loads(self.report(path, "--format", "json"))
            races = {race["id"]: race for race in document["races"]}
            self.assertCountEqual([race for group in document["groups"] for race in group["races"]], races, (run, name))
            self.assertEqual(len({group["id"] for group in document["groups"]}), len(document["groups"]), (run, name))
            ranks = [group["verdict"]["rank"] for group in document["groups"]]
            self.assertEqual(ranks, sorted(ranks, reverse=True), (run, name))
            identities = collections.defaultdict(set)
            for group in document["groups"]:
                members = [races[race] for race in group["races"]]
                self.assertEqual({race["group"] for race in members}, {group["id"]})
                self.assertEqual(group["count"], sum(race["count"] for race in members))
                self.assertEqual(group["verdict"], members[0]["verdict"])
                self.assertEqual(max(race["verdict"]["rank"] for race in members), group["verdict"]["rank"])
                functions = {frozenset(str(side.get("function") or side.get("site")).split(".")[0] for side in race["sides"]) for race in members}
                self.assertEqual(len(functions), 1, (run, name, group["text"]))
                for race in members:
                    identities[race["identity"]].add(group["id"])
            self.assertEqual({len(found) for found in identities.values()}, {1}, "a race's identity is of one group")

    def test_totals_come_first(self):
        for key, path in self.paths.items():
            groups = self.document(*key)["groups"]
            line = ", ".join(total(word, [group for group in groups if group["verdict"]["class"] == kind]) for kind, word in zip(CLASSES, WORDS))
            text = self.report(path)
            self.assertIn(f"\nFOUND     {line}\n", text)
            self.assertLess(text.index("FOUND"), (text + "\nRACE ").index("\nRACE "))
            self.assertIn(f"\nSUMMARY  {line}\n", text)

    def test_text_has_an_entry_for_each_group(self):
        for key in (("gt-ordered", "named"), ("linux-6.1", "named")):
            text, groups = self.report(self.paths[key]), self.document(*key)["groups"]
            leads = [group["races"][0] for group in groups]
            folded = [group["races"][0] for group in groups if group["verdict"]["class"] in ("benign", "synchronisation")]
            self.assertEqual(re.findall("^RACE ([0-9a-f]{12}) ", text, re.M), [race for race in leads if race not in folded])
            self.assertEqual(re.findall(r"^ +\d+ (?:benign|synchronisation) +[a-z-]+ +([0-9a-f]{12}) ", text, re.M), folded)
            self.assertEqual(re.findall(r"^           ([0-9a-f]{12}) +\d+ [a-z ]+, ", text, re.M),
                             [race for part in (lambda lead: lead not in folded, lambda lead: lead in folded)
                              for group in groups if part(group["races"][0]) for race in group["races"][1:]])
            self.assertEqual(re.findall(r"^  ([0-9a-f]{12}) +\d+ [a-z ]+ \d+ ", text, re.M), leads)
            everything = self.report(self.paths[key], "--all")
            self.assertCountEqual(re.findall("^RACE ([0-9a-f]{12}) ", everything, re.M), [race for group in groups for race in group["races"]])

    def test_a_suppression_for_each_group(self):
        path = self.paths["gt-ordered", "named"]
        groups = self.document("gt-ordered", "named")["groups"]
        shown = [group for group in groups if group["verdict"]["class"] in ("harmful candidate", "unclear")]
        text = self.report(path, "--gen-suppressions")
        self.assertEqual(re.findall("^group = ([0-9a-f]{12})", text, re.M), [group["id"] for group in shown])
        known = self.top / "known"
        known.write_text(text.replace("reason =", "reason = known"))
        document = json.loads(self.report(path, "--format", "json", "--suppress", known))
        suppressed = {race["id"] for race in document["races"] if race["verdict"]["suppressed"]}
        self.assertEqual(suppressed, {race for group in shown for race in group["races"]})
        text = self.report(path, "--suppress", known, "--fail-on", "unclear")
        self.assertIn(f"SUMMARY  0 likely bugs, 0 unclear, 10 synchronisation (30 races), 3 benign; {total('suppressed', shown)}\n", text)

    def test_one_race_of_a_group_may_be_suppressed(self):
        """The most harmful race that is left leads the group."""
        path = self.paths["gt-ordered", "named"]
        group = next(group for group in self.document("gt-ordered", "named")["groups"] if len(group["races"]) == 4)
        known = self.top / "known"
        known.write_text(f"[suppress]\nrace = {group['races'][0]}\nreason = known\n")
        document = json.loads(self.report(path, "--format", "json", "--suppress", known))
        (now,) = [one for one in document["groups"] if one["id"] == group["id"]]
        self.assertEqual((now["races"], now["verdict"]["suppressed"]), (group["races"][1:] + group["races"][:1], None))

    def test_groups_decide_the_exit_status(self):
        path = self.paths["gt-ordered", "named"]
        done = subprocess.run([BUILD / "outrider", "report", "--fail-on", "harmful", path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("outrider: 31 of 50 groups (49 of 100 races) are harmful candidates: exit status 1 (--fail-on harmful)\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
