#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The jq filters of docs/report-format.md do what the document says of them, on a recorded run that `outrider report` has judged."""

import collections
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


class Jq(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        text = (ROOT / "docs/report-format.md").read_text()
        filters = re.findall(r"^    (jq .* races\.json)$", text, re.M)
        if len(filters) != 8:
            raise AssertionError(f"{len(filters)} filters in docs/report-format.md")
        cls.what, cls.classes, cls.bugs, cls.data, cls.devices, cls.replays, cls.suspicions, cls.gate = filters
        judged = subprocess.run([BUILD / "outrider", "report", "--format", "json", RACES], check=True, capture_output=True).stdout
        cls.document = json.loads(judged)

    def run_filter(self, line, document=None, status=0):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "races.json").write_text(json.dumps(document or self.document))
            done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.splitlines()

    def test_what_the_run_was(self):
        banner = self.document["kernel"]["banner"]
        self.assertEqual(self.run_filter(self.what), [f"{banner} |  |  | 1349088050 | guest powered off"])
        said = {**self.document, "complete": False, "summary": None}
        said["run"] = {**said["run"], "started": "2026-11-22T07:36:55.123Z", "host": {"name": "lab3"}}
        self.assertEqual(self.run_filter(self.what, said),
                         [f"{banner} | 2026-11-22T07:36:55.123Z | lab3 | 1349088050 | NOT FINISHED"])

    def test_how_many_of_each_verdict(self):
        counts = collections.Counter(race["verdict"]["class"] for race in self.document["races"])
        self.assertEqual(sorted(self.run_filter(self.classes)), sorted(f"{n} {kind}" for kind, n in counts.items()))
        raw = json.loads(RACES.read_text())
        self.run_filter(self.classes, raw, status=5)

    def test_what_both_orders_showed(self):
        self.assertEqual(self.run_filter(self.replays), [])
        document = json.loads(json.dumps(self.document))
        race = document["races"][3]
        race["replay"] = {"outcome": "state-change", "telling": {"differences": [{"name": "gt_counter"}]}}
        self.assertEqual(self.run_filter(self.replays, document), [f"{race['id']}\tstate-change\tgt_counter"])

    def test_what_the_locks_make_suspect(self):
        self.assertEqual(self.run_filter(self.suspicions), [])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "races.json"
            subprocess.run([BUILD / "unit/report/test_json", "--write", path], check=True)
            document = json.loads(path.read_text())
        seen, open_, steps = document["locks"]["suspicions"]
        self.assertEqual((seen["proof"]["state"], open_["proof"]["state"]), ("seen", "none"))
        self.assertEqual(self.run_filter(self.suspicions, document), [f"{s['id']}\t{s['rank']}\t{s['text']}" for s in (open_, steps)])

    def test_likely_bugs(self):
        rows = [row.split("\t") for row in self.run_filter(self.bugs)]
        bugs = {race["group"] for race in self.document["races"] if race["verdict"]["class"] == "harmful candidate"}
        leads = {group["races"][0] for group in self.document["groups"] if group["id"] in bugs}
        self.assertEqual({row[0] for row in rows}, leads)
        ranks = [int(row[1]) for row in rows]
        self.assertEqual(ranks, sorted(ranks, reverse=True))
        self.assertTrue(all(row[3].startswith("outrider_gt:") for row in rows))

    def test_data(self):
        names = collections.Counter(race["name"]["path"] for race in self.document["races"] if race["name"])
        rows = self.run_filter(self.data)
        self.assertEqual(sorted(rows), sorted(f"{n} {path}" for path, n in names.items()))
        self.assertEqual([int(row.split()[0]) for row in rows], sorted(names.values(), reverse=True))

    def test_devices(self):
        self.assertEqual(self.run_filter(self.devices), [])
        document = json.loads(json.dumps(self.document))
        device_side.make(document["races"][0])
        device_side.make(document["races"][1], type="virtio-rng", index=2, op="fill", sector=None)
        self.assertEqual([row.split("\t") for row in self.run_filter(self.devices, document)],
                         [[document["races"][0]["id"], document["races"][0]["sides"][0]["site"], "virtio-blk 0", "1", "read", "8192"],
                          [document["races"][1]["id"], document["races"][1]["sides"][0]["site"], "virtio-rng 2", "1", "fill", ""]])

    def test_gate(self):
        harmless = [race for race in self.document["races"] if race["verdict"]["class"] != "harmful candidate"]
        known = [{**race, "verdict": {**race["verdict"], "suppressed": "known"}} for race in self.document["races"]]
        raw = json.loads(RACES.read_text())
        for document, passes in ((self.document, False), ({**self.document, "races": harmless}, True),
                                 ({**self.document, "races": known}, True), ({**self.document, "complete": False, "races": []}, False),
                                 ({**self.document, "judged": False, "races": []}, False), ({**raw, "races": []}, False)):
            self.run_filter(self.gate, document, status=0 if passes else 1)


if __name__ == "__main__":
    unittest.main()
