#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Invented outcomes of both orders in recorded runs: equal states never fold a race that is labelled harmful, and every tool that rewrites a
report keeps the outcomes."""

import json
import lzma
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
RECORDED = sorted((ROOT / "tests/data/recorded").iterdir())
FOLDED = ("benign", "synchronisation")
OOPS = "BUG: unable to handle page fault for address: ffff8880deadbeef"


def order(trouble=None):
    regions = [{"end": "return", "instructions": 40}, {"end": "return", "instructions": 23}]
    return {"regions": regions, "machine": "panic" if trouble else "runs", "trouble": trouble}


def equal(instances):
    """The outcome of `instances` instances, none with a state change."""
    return {"outcome": "no-state-change", "counts": {"no_state_change": instances, "state_change": 0, "replay_failure": 0},
            "not_run": 0, "one_order_in_trouble": 0,
            "telling": {"outcome": "no-state-change", "why": None, "why_text": None, "orders": [order(), order()],
                        "difference_count": 0, "differences": []}}


def oops():
    """The outcome of two instances with a state change. In one of them the second order ends in an oops."""
    difference = {"name": "gt_object+0x8", "register_of": None, "physical": "0x1000", "address": None,
                  "first_order": "01000000", "second_order": "00000000"}
    return {"outcome": "state-change", "counts": {"no_state_change": 0, "state_change": 2, "replay_failure": 0},
            "not_run": 0, "one_order_in_trouble": 1,
            "telling": {"outcome": "state-change", "why": None, "why_text": None, "orders": [order(), order(OOPS)],
                        "difference_count": 9, "differences": [difference]}}


class Replayed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def document(self, run):
        return json.loads(lzma.decompress((run / "races.json.xz").read_bytes()))

    def write(self, document, name="races.json"):
        path = pathlib.Path(self.folder.name) / name
        path.write_text(json.dumps(document))
        return path

    def outrider(self, *arguments):
        done = subprocess.run([BUILD / "outrider", *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def judged(self, *paths):
        return json.loads(self.outrider("report", "--format", "json", *paths))["races"]

    def test_no_harmful_race_is_folded_by_equal_states(self):
        looked_at = 0
        for run in RECORDED:
            natures = dict(line.split()[:2] for line in (run / "verdicts").read_text().splitlines())
            document = self.document(run)
            for race in document["races"]:
                race["replay"] = equal(10**6)
            for race in self.judged(self.write(document)):
                if natures[race["id"]] == "harmful":
                    looked_at += 1
                    self.assertNotIn(race["verdict"]["class"], FOLDED, race["id"])
        self.assertGreater(looked_at, 50)

    def test_one_order_in_trouble_makes_every_race_a_harmful_candidate(self):
        document = self.document(RECORDED[0])
        for race in document["races"]:
            race["replay"] = oops()
        for race in self.judged(self.write(document)):
            self.assertEqual((race["verdict"]["class"], race["verdict"]["rule"], race["verdict"]["rank"]),
                             ("harmful candidate", "order-crashes", 99))
            self.assertIn(OOPS, race["verdict"]["evidence"])

    def test_a_report_keeps_it(self):
        document = self.document(RECORDED[0])
        for i, race in enumerate(document["races"]):
            race["replay"] = (oops(), equal(3), None)[i % 3]
        kept = self.judged(self.write(document))
        # A report from before there were last moments has no count of them.
        expected = [race["replay"] and {"last_moments": 0, **race["replay"]} for race in document["races"]]
        self.assertEqual([race["replay"] for race in kept], expected)

    def test_reports_are_merged(self):
        documents = [self.document(RECORDED[0]) for _ in range(2)]
        first, second = documents
        second["run"]["seed"] = "99"  # else it is the same run
        first["races"][0]["replay"] = equal(3)
        second["races"][0]["replay"] = oops()
        second["races"][1]["replay"] = equal(4)
        paths = [self.write(document, f"{i}.json") for i, document in enumerate(documents)]
        text = self.outrider("report", "--all", *paths)
        for part in ("both orders run 5 times: state change in 2, no state change in 3", OOPS, "both orders run 4 times: no state change in 4"):
            self.assertTrue(part in text, part)
        self.assertIn("order-crashes", self.outrider("prune", *paths[1:]))

    def test_every_export_says_it(self):
        document = self.document(RECORDED[0])
        document["races"] = document["races"][:1]
        document["races"][0]["replay"] = oops()
        path = self.write(document)
        for form in ("sarif", "junit", "html", "upstream"):
            with self.subTest(form):
                said = self.outrider("report", "--format", form, path)
                self.assertTrue(OOPS in " ".join(said.split()))
        # A parser of KCSAN's format takes "BUG:" for the start of another report.
        said = self.outrider("report", "--format", "kcsan", path)
        self.assertEqual(said.count("BUG:"), 1)
        self.assertIn("(order-crashes)", said)

    def test_page_has_orders_and_differences(self):
        document = self.document(RECORDED[0])
        document["races"] = document["races"][:1]
        document["races"][0]["replay"] = oops()
        document["races"][0]["replay"]["telling"]["differences"][0]["name"] = "<script>"
        page = self.outrider("report", "--format", "html", self.write(document))
        for part in ("<h3>Both orders</h3>", ">return, 40 instructions</td>", ">panic</td>", ">&lt;script&gt;</td><td"):
            self.assertTrue(part in page, part)
        del document["races"][0]["replay"]
        self.assertFalse("Both orders" in self.outrider("report", "--format", "html", self.write(document)))

    def test_diff_says_that_it_became_worse(self):
        document = self.document(RECORDED[0])
        benign = next(race["id"] for race in self.judged(self.write(document)) if race["verdict"]["class"] == "benign")
        old = self.write(document, "old.json")
        for race in document["races"]:
            race["replay"] = oops() if race["id"] == benign else None
        said = self.outrider("diff", old, self.write(document, "new.json"))
        self.assertIn(benign, said)
        self.assertIn("order-crashes", said)


if __name__ == "__main__":
    unittest.main()
