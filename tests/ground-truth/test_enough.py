#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""enough.awk says of each racy case, as soon as its race is printed, that it is enough, and of nothing else."""

import json
import lzma
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", TREE / "build"))
GROUPS_RECORDED = ("basic", "locking", "irq", "memory")
RECORDED = TREE / "tests/data/ground-truth-races.json"


def side(expected, kind=None, size=None, module="[outrider_gt]", function=None):
    """A side's first lines as outrider prints them."""
    if "device" in expected:
        operation = expected["op"] + (" of sector 8192" if expected["device"] == "virtio-blk" else "")
        return (f"  {kind or expected['kinds'][-1]:<10} {expected['device']} 0, queue 1: {operation}, descriptor 3, segment 1   4096 bytes"
                f" at GPA 0x12345000\n             by thread q1 (tid 4711) of outrider\n")
    size = size or expected["sizes"][0]
    return (f"  {kind or expected['kinds'][-1]:<10} {function or expected['function']}+0xc {module}   {size} byte{'s' * (size != 1)}"
            f" at 0xff47c8ca5fe8d500\n             CPU 1, gt/x (pid 86), task, interrupts on, preemption on\n")


def race(*sides):
    return "".join(["RACE f5b4a133e53e  title\n", *sides, "  memory   page\n  seen by watchpoint, 2 ms into the window\n\n"])


class EnoughTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(HERE / "manifest.json", encoding="utf-8") as file:
            cls.racy = [case for case in json.load(file)["cases"] if case["kind"] == "racy"]
        cls.expected = subprocess.run([sys.executable, HERE / "expected"], check=True, capture_output=True, text=True).stdout

    def told(self, text, *options):
        """What is said to the guest; all the input must be passed on."""
        with tempfile.TemporaryDirectory() as folder:
            expected, tell = pathlib.Path(folder, "expected"), pathlib.Path(folder, "tell")
            expected.write_text(self.expected, encoding="utf-8")
            done = subprocess.run(["busybox", "awk", "-v", f"tell={tell}", *options, "-f", HERE / "enough.awk", expected, "-"],
                                  input=text, check=True, capture_output=True, text=True)
            self.assertEqual(done.stdout, text)
            return tell.read_text(encoding="utf-8").splitlines() if tell.exists() else []

    def pair(self, name, **changes):
        case = next(case for case in self.racy if case["name"] == name)
        return race(side(case["sides"][0], **changes), side(case["sides"][1]))

    def test_every_case_once(self):
        text = "".join(race(*map(side, case["sides"])) for case in self.racy)
        self.assertEqual(self.told(text + text), [f"enough {case['name']}" for case in self.racy])

    def test_either_order(self):
        text = "".join(race(*map(side, reversed(case["sides"]))) for case in self.racy)
        self.assertEqual(self.told(text), [f"enough {case['name']}" for case in self.racy])

    def test_one_side_is_enough_where_nothing_else_is_seen(self):
        text = "".join(race(side(case["sides"][0])) for case in self.racy)
        self.assertEqual(self.told(text), [f"enough {case['name']}" for case in self.racy if case["reread_only"]])

    def test_a_little_off(self):
        self.assertEqual(self.told(self.pair("wwrace")), ["enough wwrace"])
        for changes in ({"kind": "read"}, {"size": 2}, {"module": "[other]"}, {"module": ""}, {"function": "gt_rwrace_reader"}):
            with self.subTest(changes=changes):
                self.assertEqual(self.told(self.pair("wwrace", **changes)), [])

    def test_another_device(self):
        reader, device = next(case["sides"] for case in self.racy if case["name"] == "dmaread")
        self.assertEqual(self.told(race(side(reader), side(device))), ["enough dmaread"])
        for changes in ({"device": "virtio-net"}, {"op": "write"}, {"kinds": ["read"]}):
            with self.subTest(changes=changes):
                self.assertEqual(self.told(race(side(reader), side({**device, **changes}))), [])
        self.assertEqual(self.told(race(side(reader, module="[other]"), side(device))), [])
        self.assertEqual(self.told(race(side(reader))), [])

    def test_two_reads(self):
        sides = next(case["sides"] for case in self.racy if case["name"] == "refput")
        self.assertEqual(self.told(race(*(side(expected, kind="read") for expected in sides))), [])

    def test_not_before_the_race_is_told(self):
        self.assertEqual(self.told(self.pair("wwrace").split("  memory")[0]), [])

    def test_a_number_of_races(self):
        text = self.pair("wwrace") + self.pair("rwrace", module="[other]")
        self.assertEqual(self.told(text, "-v", "races=3"), ["enough wwrace"])
        self.assertEqual(self.told(text, "-v", "races=2"), ["enough wwrace", "enough busy"])

    def test_what_outrider_prints(self):
        text = subprocess.run([BUILD / "outrider", "report", "--all", RECORDED], check=True, capture_output=True, text=True).stdout
        recorded = [case for case in self.racy if case["group"] in GROUPS_RECORDED]
        self.assertEqual(set(self.told(text)), {f"enough {case['name']}" for case in recorded})

    def test_what_outrider_prints_of_devices(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "races.json")
            path.write_bytes(lzma.decompress((TREE / "tests/data/recorded/gt-dma/races.json.xz").read_bytes()))
            text = subprocess.run([BUILD / "outrider", "report", "--all", path], check=True, capture_output=True, text=True).stdout
        self.assertEqual(set(self.told(text)), {f"enough {case['name']}" for case in self.racy if case["group"] == "dma"})


if __name__ == "__main__":
    unittest.main()
