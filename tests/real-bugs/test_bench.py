#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The bench of real bugs without a lab: each bug is whole, and what ends a run is what the table calls found."""

import json
import lzma
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from bench import bug, guest, judge  # noqa: E402

TREE = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", TREE / "build"))
RECORDED = TREE / "tests/data/recorded/linux-5.10/races.json.xz"


def made_up(first, second):
    return bug.Bug(folder=HERE / "made-up", title="", fix="", fixed_in="", kernel="cloud", sides=[first, second], harm="", sample=["x"])


class Bench(unittest.TestCase):
    def test_each_bug_is_whole(self):
        paths = sorted(HERE.glob("*/bug.json"))
        self.assertGreater(len(paths), 0)
        for path in paths:
            with self.subTest(bug=path.parent.name), tempfile.TemporaryDirectory() as work:
                one = bug.read(path)
                self.assertRegex(one.fix or one.cve or one.fixed_in, r"^([0-9a-f]{12}|CVE-\d{4}-\d+|5\.10\.\d+)$")
                self.assertTrue(one.title and one.harm and one.fixed_in)
                for file in one.files.values():
                    self.assertTrue((one.folder / file).exists(), file)
                subprocess.run([*guest.COMPILE, "-o", f"{work}/trigger", one.folder / "trigger.c"], check=True)

    def test_a_bug_json_that_is_none(self):
        for text in ("", "[]", "{}", '{"title": "x", "unknown": 1}', json.dumps({"title": "x", "fix": "", "fixed_in": "", "kernel": "none", "sides": [[], []],
                                                                                  "harm": "", "sample": ["x"]})):
            with self.subTest(text=text), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "bug.json")
                path.write_text(text)
                with self.assertRaisesRegex(bug.Unusable, "bug.json"):
                    bug.read(path)

    def test_what_ends_a_run_is_what_the_table_calls_found(self):
        """found.awk reads the text of races, and judge.py their JSON: both must recognise the same ones."""
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder, "races.json")
            report.write_bytes(lzma.decompress(RECORDED.read_bytes()))
            text = subprocess.run([BUILD / "outrider", "report", "--all", report], capture_output=True, check=True).stdout
            races = json.loads(report.read_bytes())["races"]
            pairs = [(["smpboot_thread_fn"], ["try_to_wake*"]), (["dequeue_task_*"], ["select_task_rq_fair"]), (["smpboot_thread_fn"], ["no_such"]),
                     (["no_such"], ["*"]), (["d_walk"], ["d_move"]), (["update_process_times", "hrtimer_*"], ["do_idle"]), (["filemap_map_pages"], ["release_pages"])]
            seen = set()
            for first, second in pairs:
                one, found = made_up(first, second), pathlib.Path(folder, "found")
                found.unlink(missing_ok=True)
                done = subprocess.run(["busybox", "awk", "-v", f"first={one.regex(0)}", "-v", f"second={one.regex(1)}", "-v", f"found={found}",
                                       "-f", HERE / "found.awk"], input=text, capture_output=True, check=True)
                self.assertEqual(done.stdout, text)
                with self.subTest(first=first, second=second):
                    self.assertEqual(any(judge.is_the_bugs(one, race) for race in races), found.exists())
                seen.add(found.exists())
            self.assertEqual(seen, {True, False})


if __name__ == "__main__":
    unittest.main()
