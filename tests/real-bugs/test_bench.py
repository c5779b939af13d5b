#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The bench of real bugs without a lab: each bug is whole, and what ends a run is what the table calls found."""

import json
import lzma
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from bench import bug, explored, guest, judge  # noqa: E402

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

    def test_a_trigger_under_explore_makes_one_step_of_each_side(self):
        """The trigger of a bug without a subsystem of its own, with two programs that let its sides go as those of a guest do."""
        with tempfile.TemporaryDirectory() as work:
            source = pathlib.Path(work, "trigger.c")
            source.write_text(f"""#include "{HERE}/trigger.h"
static void seven(void *opaque) {{ (void)opaque; step_status = 7; }}
static void fails(void *opaque) {{ (void)opaque; die("do it"); }}
int main(void) {{ repeat_both(seven, fails, NULL); }}""")
            subprocess.run([*guest.COMPILE, "-o", f"{work}/trigger", source], check=True)
            with subprocess.Popen([f"{work}/trigger"], env={**os.environ, "EXPLORED": work}, stdout=subprocess.DEVNULL) as trigger:
                try:
                    while not pathlib.Path(work, "done.0").is_fifo() or not pathlib.Path(work, "done.1").is_fifo():
                        self.assertIsNone(trigger.poll())
                        time.sleep(0.01)
                    sides = [subprocess.run(["sh", "-c", explored.SIDE.format(side).replace("/tmp", work)], check=False) for side in (0, 1)]
                finally:
                    trigger.kill()
            self.assertEqual([side.returncode for side in sides], [7, 1])

    def test_a_bug_json_that_is_none(self):
        for text in ("", "[]", "{}", '{"title": "x", "unknown": 1}', json.dumps({"title": "x", "fix": "", "fixed_in": "", "kernel": "none", "sides": [[], []],
                                                                                  "harm": "", "sample": ["x"]})):
            with self.subTest(text=text), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "bug.json")
                path.write_text(text)
                with self.assertRaisesRegex(bug.Unusable, "bug.json"):
                    bug.read(path)

    def report(self, folder):
        """Races of a recorded run, as text and as JSON."""
        report = pathlib.Path(folder, "races.json")
        report.write_bytes(lzma.decompress(RECORDED.read_bytes()))
        text = subprocess.run([BUILD / "outrider", "report", "--all", report], capture_output=True, text=True, check=True).stdout
        return text, json.loads(report.read_bytes())["races"]

    def found(self, folder, one, text):
        """Whether found.awk sees a race of the bug in the text of a report, which it passes on."""
        found = pathlib.Path(folder, "found")
        found.unlink(missing_ok=True)
        words = ["busybox", "awk"]
        for setting in (f"first={one.regex(0)}", f"second={one.regex(1)}", f"locks={bug.regex(bug.LOCKS)}", f"found={found}"):
            words += ["-v", setting]
        done = subprocess.run([*words, "-f", HERE / "found.awk"], input=text, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, text)
        return found.exists()

    def test_what_ends_a_run_is_what_the_table_calls_found(self):
        """found.awk reads the text of races, and judge.py their JSON: both must recognise the same ones."""
        with tempfile.TemporaryDirectory() as folder:
            text, races = self.report(folder)
            pairs = [(["smpboot_thread_fn"], ["try_to_wake*"]), (["dequeue_task_*"], ["select_task_rq_fair"]), (["smpboot_thread_fn"], ["no_such"]),
                     (["no_such"], ["*"]), (["d_walk"], ["d_move"]), (["update_process_times", "hrtimer_*"], ["do_idle"]), (["filemap_map_pages"], ["release_pages"])]
            seen = set()
            for first, second in pairs:
                one = made_up(first, second)
                found = self.found(folder, one, text)
                with self.subTest(first=first, second=second):
                    self.assertEqual(any(judge.is_the_bugs(one, race) for race in races), found)
                seen.add(found)
            self.assertEqual(seen, {True, False})

    def test_an_interrupted_function_is_no_side(self):
        """An interrupt's access to the time is no race of the function that it interrupted."""
        with tempfile.TemporaryDirectory() as folder:
            text, races = self.report(folder)
            interrupted = {frame["function"] for race in races for side in race["sides"] for frame in (side.get("stack") or {}).get("frames") or []
                           if frame["function"]} - {name for race in races for side in race["sides"] for name in judge.functions(side)}
            self.assertTrue(interrupted)
            one = made_up(sorted(interrupted), ["*"])
            self.assertFalse(self.found(folder, one, text))
            self.assertFalse(any(judge.is_the_bugs(one, race) for race in races))

    def test_a_race_of_a_locks_word_is_not_the_bugs(self):
        """The same functions call the lock, in the fixed kernel too."""
        one = made_up(["d_walk"], ["d_move"])
        with tempfile.TemporaryDirectory() as folder:
            text, races = self.report(folder)
            self.assertTrue(self.found(folder, one, text))
            self.assertTrue(any(judge.is_the_bugs(one, race) for race in races))
            for lock in ("_raw_spin_lock", "queued_write_lock_slowpath"):
                for race in races:
                    for side in race["sides"]:
                        side["function"] = lock if side.get("function") in ("d_walk", "d_move", "__d_move") else side.get("function")
                text = re.sub(r"^(  (?:read|write|read-write) +)\w*d_(?:walk|move)\+", rf"\1{lock}+", text, flags=re.MULTILINE)
                self.assertFalse(self.found(folder, one, text))
                self.assertFalse(any(judge.is_the_bugs(one, race) for race in races))

    def test_what_kcsan_says(self):
        """A report of KCSAN is the bug's if each access, or what has called it, is on its own side."""
        def report(at, first, second):
            stack = "".join(f"[    {at}]  {name}+0x1f/0x80\n" for name in second)
            rule = f"[    {at}] {'=' * 66}\n"
            return (f"{rule}[    {at}] BUG: KCSAN: data-race in {first} / {second[0]}\n[    {at}]\n[    {at}] write to 0xffff888003d1c0a8 of 1 bytes by task 70 on "
                    f"cpu 0:\n[    {at}]  {first}+0x3a/0x90\n[    {at}] \n[    {at}] read to 0xffff888003d1c0a8 of 6 bytes by task 71 on cpu 1:\n{stack}"
                    f"[    {at}] \n[    {at}] Reported by Kernel Concurrency Sanitizer on:\n{rule}")

        one = made_up(["store_it"], ["show_it*"])
        start = "[    2.500000] bench: the trigger starts\ntrigger: ready\n"
        others = report("3.000000", "store_it", ["other"]) + report("3.100000", "show_it", ["show_it"])
        row = judge.of_kcsan(one, "kcsan", "1", 60.0, start + others)
        self.assertIsNone(row.found_after)
        self.assertEqual(row.end, "0 of 2 reports of KCSAN are of the bug")
        row = judge.of_kcsan(one, "kcsan", "1", 60.0, start + others + report("4.750000", "store_it", ["helper", "show_it.isra.0"]))
        self.assertEqual((row.found_after, row.end), (2.25, "1 of 3 reports of KCSAN are of the bug"))
        cut_off = report("4.850000", "store_it", ["show_it"]).split("Reported")[0]
        self.assertEqual(judge.of_kcsan(one, "kcsan", "1", 60.0, start + others + cut_off).end, row.end.replace("1 of 3", "0 of 2"))
        with self.assertRaisesRegex(bug.Unusable, "no call stacks"):
            judge.of_kcsan(one, "kcsan", "1", 60.0, start + others + report("4.900000", "store_it", ["show_it"]).replace("+0x1f/0x80", ""))


if __name__ == "__main__":
    unittest.main()
