#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `outrider report` and `outrider prune` say of recorded races: order, folding, suppressions, and verdicts for tools."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
RACES = ROOT / "tests/data/ground-truth-races.json"


def outrider(*arguments, status=0):
    done = subprocess.run([BUILD / "outrider", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


class Verdicts(unittest.TestCase):
    def report(self, *arguments):
        return outrider("report", *arguments, RACES)[0]

    def suppress(self, text, *arguments):
        with tempfile.NamedTemporaryFile("w") as f:
            f.write(text)
            f.flush()
            return outrider("report", "--suppress", f.name, *arguments, RACES)

    def test_likely_bugs_first_and_the_rest_folded(self):
        text = self.report()
        shown = re.findall(r"^  verdict  (.*): (.*), rank (\d+)$", text, re.M)
        ranks = [int(rank) for _class, _rule, rank in shown]
        self.assertEqual(ranks, sorted(ranks, reverse=True))
        self.assertEqual({kind for kind, _rule, _rank in shown}, {"harmful candidate", "unclear"})
        self.assertEqual(len(re.findall("^RACE ", text, re.M)), len(shown))
        folded = text[text.index("FOLDED"):text.index("SUMMARY")]
        for rule in ("statistics-counter", "safe-flag-update", "double-checked-locking"):
            self.assertRegex(folded, rf"benign +{rule} ")
        self.assertIn("uses only the bits 0x1", folded)
        self.assertIn("19 races: 15 harmful candidates, 1 unclear, 0 synchronisation, 3 benign", text)

    def test_all(self):
        text = self.report("--all")
        self.assertEqual(len(re.findall("^RACE ", text, re.M)), 19)
        self.assertNotIn("FOLDED", text)

    def generate(self, *arguments):
        return outrider("report", "--gen-suppressions", *arguments, RACES)[0]

    def test_generated_suppressions(self):
        """What is generated suppresses the races that were shown, once it has reasons, and no entry is left over."""
        for arguments in ([], ["--all"]):
            with self.subTest(arguments=arguments):
                shown = set(re.findall("^RACE ([0-9a-f]+)", self.report(*arguments), re.M))
                text = self.generate(*arguments)
                written = set(re.findall("^# ([0-9a-f]{12}) ", text, re.M))
                self.assertLessEqual(written, shown)
                self.assertEqual(len(written), len(set(re.findall("^  group    ([0-9a-f]{12})", self.report(*arguments), re.M))))
                left, said = self.suppress(text.replace("reason =", "reason = known since June"))
                self.assertEqual(re.findall("^RACE", left, re.M), [])
                self.assertEqual(said, "")
                suppressed = set(re.findall(r"suppressed +[a-z-]+ +([0-9a-f]{12}) ", left))
                suppressed |= set(re.findall(r"^ {11}([0-9a-f]{12}) +\d+ suppressed, ", left, re.M))
                self.assertLessEqual(shown, suppressed)

    def test_generated_suppressions_say_no_more_than_asked(self):
        text = self.generate("--race", "f5b4a133e53e")
        left, _ = self.suppress(text.replace("reason =", "reason = known"))
        self.assertEqual(re.findall(r"suppressed +[a-z-]+ +([0-9a-f]{12}) ", left), ["f5b4a133e53e"])
        self.assertRegex(text, r"(?m)^group = [0-9a-f]{12}$")

    def test_generated_suppressions_want_reasons(self):
        with tempfile.NamedTemporaryFile("w") as f:
            f.write(self.generate())
            f.flush()
            _, said = outrider("report", "--suppress", f.name, RACES, status=3)
        self.assertRegex(said, rf"^outrider: {f.name}:\d+: a suppression needs a reason\n$")

    def test_generated_suppressions_have_one_form(self):
        _, said = outrider("report", "--gen-suppressions", "--format", "json", RACES, status=2)
        self.assertIn("give no --format", said)

    def test_one_race(self):
        folded = re.findall("benign +[a-z-]+ +([0-9a-f]{12}) ", self.report())
        text = self.report("--race", folded[0], "--race", folded[1], "--race", folded[1])
        self.assertEqual(set(re.findall("^RACE ([0-9a-f]+)", text, re.M)), set(folded[:2]))
        self.assertNotIn("FOLDED", text)
        document = json.loads(self.report("--race", folded[0], "--format", "json"))
        self.assertEqual([race["id"] for race in document["races"]], folded[:1])
        self.assertEqual(len(re.findall("^ +[0-9]+ benign", outrider("prune", "--race", folded[0], RACES)[0], re.M)), 1)
        for kind in ("text", "json"):
            self.assertIn("no race '123' in the files",
                          outrider("report", "--race", "123", "--format", kind, RACES, status=2)[1])

    def test_sort(self):
        order = re.findall("^RACE ([0-9a-f]+)", self.report("--all", "--sort", "time"), re.M)
        races = json.loads(RACES.read_text())["races"]
        self.assertEqual(order, [race["id"] for race in sorted(races, key=lambda race: race["first_s"])])
        order = re.findall("^RACE ([0-9a-f]+)", self.report("--all", "--sort", "count"), re.M)
        counts = {race["id"]: race["count"] for race in races}
        self.assertEqual([counts[race] for race in order], sorted(counts.values(), reverse=True))
        sites = re.findall("^RACE [0-9a-f]+ .* in (gt_[a-z_]+).*<->", self.report("--all", "--sort", "site"), re.M)
        self.assertEqual(sites, sorted(sites))
        self.assertIn("give rank", outrider("report", "--sort", "luck", RACES, status=2)[1])

    def test_suppressions(self):
        text, said = self.suppress("[suppress]\nmember = i_nlink\nreason = known since March\n"
                                   "[suppress]\nsite = nobody\nreason = gone\n")
        self.assertRegex(text, r"suppressed +reference-count .*gt_nlink_")
        self.assertIn("known since March", text)
        self.assertNotRegex(text, r"(?m)^RACE .*gt_nlink")
        self.assertRegex(text, r"; 1 of them suppressed")
        self.assertRegex(said, r":4: fits no race here: gone")
        self.assertIn(":1: a suppression needs a reason", self.refused("[suppress]\nsite = x\n"))

    def refused(self, text):
        with tempfile.NamedTemporaryFile("w") as f:
            f.write(text)
            f.flush()
            return outrider("report", "--suppress", f.name, RACES, status=3)[1]

    def test_json(self):
        document = json.loads(self.suppress("[suppress]\nmember = i_nlink\nreason = known\n", "--format", "json")[0])
        schema = json.loads((ROOT / "docs/report.schema.json").read_text())
        for race in document["races"]:
            verdict = {"$ref": "#/$defs/verdict", "$defs": schema["$defs"]}
            jsonschema.Draft202012Validator(verdict).validate(race["verdict"])
            nlink = "gt_nlink" in race["sides"][0]["site"]
            self.assertEqual(race["verdict"]["suppressed"], "known" if nlink else None)
        # Judged again it is the same: what a report says of a race is made anew.
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(document, f)
            f.flush()
            again = json.loads(outrider("report", "--format", "json", f.name)[0])
        self.assertEqual([race["verdict"]["rule"] for race in again["races"]],
                         [race["verdict"]["rule"] for race in document["races"]])

    def test_exports_know(self):
        sarif = json.loads(self.suppress("[suppress]\nmember = i_nlink\nreason = known\n", "--format", "sarif")[0])
        results = sarif["runs"][0]["results"]
        self.assertEqual((len(results), sum(len(result["properties"]["races"]) for result in results)), (18, 19))
        self.assertEqual(sum(bool(result.get("suppressions")) for result in results), 1)

    def test_prune(self):
        text = outrider("prune", RACES)[0]
        rows = re.findall(r"^  +(\d+) (harmful candidate|unclear|synchronisation|benign) +([a-z-]+) +([0-9a-f]{12}) ", text, re.M)
        self.assertEqual(len(rows), 19)
        self.assertEqual([int(row[0]) for row in rows], sorted((int(row[0]) for row in rows), reverse=True))
        explained = outrider("prune", "--explain", rows[-1][3], RACES)[0]
        self.assertEqual(len(explained.splitlines()), 2)
        self.assertIn("no race '123'", outrider("prune", "--explain", "123", RACES, status=2)[1])
        self.assertIn("needs a FILE", outrider("prune", status=2)[1])
        self.assertIn("/nonexistent", outrider("prune", "--symbols", "/nonexistent", RACES, status=3)[1])

    def test_every_rule_is_listed(self):
        listed = re.findall(r"^  ([a-z-]+) ", outrider("prune", "--list-rules")[0], re.M)
        used = {race["verdict"]["rule"] for race in json.loads(self.report("--format", "json"))["races"]}
        self.assertLessEqual(used, set(listed))

    def test_rules_of_ones_own(self):
        with tempfile.NamedTemporaryFile("w") as f:
            f.write("[special]\nvariable = gt_wwrace gt_rwrace*\nreason = mine\n")
            f.flush()
            found = outrider("prune", "--rules", f.name, RACES)[0]
            self.assertRegex(found, r"special-variable .*gt_rwrace")
            self.assertNotRegex(found, r"special-variable .*gt_wwrace")
            f.write("writers = two\n")
            f.flush()
            self.assertRegex(outrider("prune", "--rules", f.name, RACES)[0], r"special-variable .*gt_wwrace")
            f.write("[nonsense]\n")
            f.flush()
            self.assertIn(":5: [nonsense]", outrider("prune", "--rules", f.name, RACES, status=3)[1])


if __name__ == "__main__":
    unittest.main()
