#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Which figures benchmarks keep, and how tests/bench/page puts them into a page. Only a run can show that they measure right."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/bench"))
import figures  # noqa: E402
import kcsan  # noqa: E402
import plot  # noqa: E402


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.environ["BENCH_OUT"] = str(self.folder / "out")

    def kept(self):
        made = figures.Figures("cost", rounds=3)
        made.table("slow", ["load", "ratio"], [["loop", 0.5], ["pipes", 1]])
        made.plot("races", "s", "races", {"a < b": [[0, 0], [4, 2]]}, steps=True)
        return made.write()

    def test_a_ratio_is_the_median_with_its_extremes(self):
        self.assertEqual(figures.ratio(figures.pairs([1, 3, 2], [2, 2, 2])), "1.00 (0.50 to 1.50)")
        self.assertEqual(figures.ratio([0.25]), "0.25")
        with self.assertRaises(ValueError):
            figures.pairs([1], [1, 2])

    def test_figures_are_kept_as_json(self):
        kept = json.loads(self.kept().read_text())
        self.assertEqual(kept["tables"]["slow"]["rows"], [["loop", 0.5], ["pipes", 1]])
        self.assertEqual(kept["options"], {"rounds": 3})
        self.assertNotIn(os.uname().nodename, kept["machine"])

    def test_a_row_has_a_cell_for_each_column(self):
        with self.assertRaises(AssertionError):
            figures.Figures("cost").table("slow", ["load", "ratio"], [["loop"]])

    def test_a_grid_has_few_lines(self):
        for most in (0.03, 0.7, 1, 8, 9, 640, 12345):
            self.assertTrue(4 <= most / plot.nice(most) <= 10, most)

    def test_stairs_keep_a_value_until_the_next(self):
        self.assertEqual(plot.stairs([[0, 0], [2, 1], [5, 3]]), [[0, 0], [2, 0], [2, 1], [5, 1], [5, 3]])

    def test_reports_of_kcsan_are_read_off_a_console(self):
        console = (
            "[    1.000000] ==================================================================\r\n"
            "[    1.234567] BUG: KCSAN: data-race in gt_rwrace_reader [outrider_gt] / gt_rwrace_writer [outrider_gt]\r\n"
            "[    1.250000] write to 0xffffffffc0012340 of 4 bytes by task 85 on cpu 1:\r\n"
            "[   20.500000] BUG: KCSAN: data-race in gt_alias_reader+0x1c/0x60 [outrider_gt]\r\n"
            "[   21.000000] BUG: KCSAN: data-race in rcu_gp_kthread / rcu_core\r\n"
            "gt: case BUG: running\r\n")
        pair, alone, kernel = kcsan.of_kcsan(console)
        case = {"sides": [{"function": "gt_rwrace_writer"}, {"function": "gt_rwrace_reader"}]}
        self.assertEqual((pair.at, alone.at), (1.234567, 20.5))
        self.assertTrue(pair.of(case, "outrider_gt"))
        self.assertFalse(alone.of(case, "outrider_gt"))
        self.assertTrue(alone.of({"sides": [{"function": "gt_alias_writer"}, {"function": "gt_alias_reader"}]}, "outrider_gt"))
        self.assertEqual(kernel.sides, {(None, "rcu_gp_kthread"), (None, "rcu_core")})
        self.assertFalse(kernel.of(case, "outrider_gt"))

    def test_races_of_outrider_are_compared_alike(self):
        known = {"unknown": False, "module": "outrider_gt", "function": "gt_a"}
        report = {"races": [{"first_s": 2, "sides": [known, {**known, "function": "gt_b"}]}, {"first_s": 3, "sides": [known, {"unknown": True}]},
                            {"first_s": 4, "sides": [known, {**known, "module": None, "function": "memcpy"}]}]}
        case = {"sides": [{"function": "gt_b"}, {"function": "gt_a"}]}
        self.assertEqual([race.of(case, "outrider_gt") for race in kcsan.of_outrider(report)], [True, True, False])

    def page(self, text):
        """Runs tests/bench/page on a copy of the documents with this page. Returns its status, and the page that it leaves."""
        shutil.copytree(ROOT / "tests/bench", self.folder / "tests/bench")
        (self.folder / "docs/evaluation").mkdir(parents=True)
        page = self.folder / "docs/performance.md"
        page.write_text(text)
        status = subprocess.run([self.folder / "tests/bench/page", self.kept()], capture_output=True, text=True, check=False)
        return status, page.read_text()

    def test_tables_and_plots_come_into_the_page(self):
        status, text = self.page("before\n<!-- figures cost slow -->\nold\n<!-- end -->\nafter\n")
        self.assertEqual(status.returncode, 0, status.stderr)
        self.assertEqual(text, "before\n<!-- figures cost slow -->\n| load | ratio |\n|---|---:|\n| loop | 0.5 |\n| pipes | 1 |\n<!-- end -->\nafter\n")
        drawn = xml.etree.ElementTree.parse(self.folder / "docs/evaluation/cost-races.svg")
        self.assertIn("a < b", [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")])

    def test_a_table_without_a_place_is_said(self):
        status, text = self.page("nothing here\n")
        self.assertEqual(status.returncode, 1)
        self.assertIn("<!-- figures cost slow -->", status.stderr)
        self.assertEqual(text, "nothing here\n")

    def test_the_page_has_a_place_for_what_make_bench_runs(self):
        makefile = (ROOT / "Makefile").read_text()
        page = (ROOT / "docs/performance.md").read_text()
        for bench in makefile.split("BENCH ?= ")[1].split("\n")[0].split():
            with self.subTest(bench=bench):
                self.assertTrue((ROOT / "tests/bench" / bench).exists())
                self.assertIn(f"<!-- figures {bench} ", page)


if __name__ == "__main__":
    unittest.main()
