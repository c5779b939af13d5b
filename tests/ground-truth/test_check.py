#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The checker must accept what the manifest asks for, and fail on everything that is a little off."""

import contextlib
import copy
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
CHECK = os.path.join(HERE, "check")
MANIFEST = os.path.join(HERE, "manifest.json")
UNKNOWN = {"unknown": True}


def load_checker():
    """The program as a module. A process for each of some 600 runs took 45 s of CPU time, most of it for starting Python."""
    sys.path.insert(0, HERE)
    loader = importlib.machinery.SourceFileLoader("checker", CHECK)
    checker = importlib.util.module_from_spec(importlib.util.spec_from_loader("checker", loader))
    loader.exec_module(checker)
    return checker


CHECKER = load_checker()


def side(expected, kind=None):
    if "device" in expected:
        device = {"type": expected["device"], "op": expected["op"], "sector": expected.get("sector"), "kind": kind or expected["kinds"][-1],
                  "gpa": "0x1002", "bytes": 6, "thread": "blk0/q0", "tid": 4711}
        return {"unknown": True, "site": f"{device['type']}:{device['op']}", "device": device}
    access = {"kind": kind or expected["kinds"][-1], "address": "0xffffc90000000000", "size": expected["sizes"][0]}
    return {"unknown": False, "module": "outrider_gt", "function": expected["function"], "offset": 12, "access": access}


def race(first, second, number=0):
    return {"id": f"{number:012x}", "count": 3, "datum": {"physical": "0x1000", "size": 8}, "sides": [first, second]}


def plain(function, kind="write"):
    return side({"function": function, "kinds": [kind], "sizes": [8]})


class CheckTest(unittest.TestCase):
    def setUp(self):
        with open(MANIFEST, encoding="utf-8") as f:
            self.manifest = json.load(f)
        self.head = {"schema": "outrider-races/1", "complete": True, "summary": {"sampling": {"windows": 1000}}}
        self.racy = [case for case in self.manifest["cases"] if case["kind"] == "racy"]
        self.have = ["--have", "disk", "--have", "rng"]
        self.races = {case["name"]: race(*[side(s) for s in case["sides"]]) for case in self.racy}
        for case in self.racy:
            if case["reread_only"]:
                self.races[case["name"]]["sides"][1] = UNKNOWN

    def check(self, *arguments, races=None, text=None):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            f.write(text if text is not None else json.dumps(dict(self.head, races=list(races or self.races.values()))))
            f.flush()
            command = [CHECK, "--manifest", MANIFEST, "--races", f.name, *self.have, *arguments]
            stdout, stderr = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr), mock.patch.object(sys, "argv", command), \
                    self.assertRaises(SystemExit) as ended:
                CHECKER.run()
        return ended.exception.code, stdout.getvalue() + stderr.getvalue()

    def extra(self, first, second):
        return self.check(races=[*self.races.values(), race(first, second)])

    def test_the_program(self):
        """The exit status and the streams of the process are those that the other tests see in this process."""
        for arguments, text, expected in (((), None, 0), (("--names",), None, 1), (("--group", "nonsense"), None, 3), ((), "{", 3),
                                          (("--nonsense",), None, 2)):
            with self.subTest(arguments=arguments, text=text), tempfile.NamedTemporaryFile("w", suffix=".json") as f:
                f.write(text if text is not None else json.dumps(dict(self.head, races=list(self.races.values()))))
                f.flush()
                done = subprocess.run([sys.executable, CHECK, "--manifest", MANIFEST, "--races", f.name, *self.have, *arguments],
                                      capture_output=True, text=True, check=False)
                status, output = self.check(*arguments, text=text)
                self.assertEqual((done.returncode, status), (expected, expected), done.stderr)
                self.assertEqual(re.sub(r"/\S+\.json", "", done.stdout + done.stderr), re.sub(r"/\S+\.json", "", output))

    def test_complete(self):
        status, output = self.check()
        self.assertEqual(status, 0, output)
        self.assertNotIn("MISSING", output)

    def name_all(self):
        """As `outrider report` with debug files does."""
        for case in self.racy:
            for named, expected in zip(self.races[case["name"]]["sides"], case["sides"]):
                if named["unknown"]:
                    continue
                datum = case["datum"]
                member = datum["member"].split(" or ")[0]
                named["datum"] = {"path": "p", "variable": datum["variable"] or "ptr", "owner": datum["type"] or "struct s",
                                  "member": member}
                named["source"] = [{"function": "inlined", "line": 3}, {"function": expected["function"], "line": 7}]

    def judge_all(self):
        """As `outrider report` does."""
        for case in self.racy:
            benign = case["nature"] == "benign"
            if case.get("needs") == "sources":
                self.races[case["name"]]["verdict"] = {"class": "unclear", "rule": "lone-word", "evidence": "e"}
                continue
            self.races[case["name"]]["verdict"] = {"class": "benign" if benign else "harmful candidate",
                                                   "rule": (case["pattern"] or "torn").split(" or ")[0], "evidence": "e"}

    def test_verdicts(self):
        self.judge_all()
        status, output = self.check("--verdicts")
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"harmful +36 +0 +0 +0\n")
        self.assertRegex(output, r"safe-flag-update +0 +0 +0 +1\n")

    def test_wrong_verdicts(self):
        for name, change in [("nlink", {"class": "benign", "rule": "statistics-counter"}), ("nlink", {"class": "unclear"}),
                             ("statcount", {"rule": "special-variable"}), ("dclock", {"class": "harmful candidate"})]:
            with self.subTest(name=name, change=change):
                self.judge_all()
                self.races[name]["verdict"].update(change)
                status, output = self.check("--verdicts")
                self.assertEqual(status, 1, output)
                self.assertIn(f"MISJUDGED: {name}", output)
        del self.races["nlink"]["verdict"]
        self.assertEqual(self.check("--verdicts")[0], 1)

    def test_any_rule_of_the_pattern(self):
        self.judge_all()
        self.races["spsc"]["verdict"].update({"class": "synchronisation", "rule": "marked-accesses"})
        self.assertEqual(self.check("--verdicts")[0], 0)
        self.races["spsc"]["verdict"]["rule"] = "marked"
        self.assertEqual(self.check("--verdicts")[0], 1)

    def test_what_only_sources_show(self):
        self.judge_all()
        for kind, rule, without, with_sources in (("unclear", "lone-word", 0, 1), ("harmful candidate", "value-used", 1, 1),
                                                  ("synchronisation", "marked-accesses", 1, 0)):
            with self.subTest(kind):
                self.races["onceword"]["verdict"] = {"class": kind, "rule": rule, "evidence": "e"}
                self.assertEqual(self.check("--verdicts")[0], without)
                self.assertEqual(self.check("--verdicts", "--sources")[0], with_sources)

    def test_bytes_that_a_case_is_not_about(self):
        self.judge_all()
        self.races["seqearly"]["verdict"] = {"class": "synchronisation", "rule": "sequence-count", "evidence": "e"}
        for offset, status in ((0, 0), (3, 0), (4, 1), (8, 1)):
            with self.subTest(offset=offset):
                self.races["seqearly"]["memory"] = {"offset": offset}
                self.assertEqual(self.check("--verdicts")[0], status)

    def test_names(self):
        self.name_all()
        status, output = self.check("--names")
        self.assertEqual(status, 0, output)

    def test_wrong_names(self):
        changes = [
            lambda side: side.pop("datum"),
            lambda side: side["datum"].update(member="other"),
            lambda side: side["datum"].update(owner="struct other", variable="other"),
            lambda side: side.pop("source"),
            lambda side: side["source"][0].update(line=None),
            lambda side: side["source"][-1].update(function="other"),
        ]
        for case in self.racy:
            for number, change in enumerate(changes):
                with self.subTest(case=case["name"], change=number):
                    self.name_all()
                    change(self.races[case["name"]]["sides"][0])
                    status, output = self.check("--names")
                    self.assertEqual(status, 1, output)
                    self.assertIn(f"MISNAMED: {case['name']}", output)

    def test_no_names_at_all(self):
        self.assertEqual(self.check("--names")[0], 1)

    def place_all(self):
        """As the guest's own tables tell it."""
        for case in self.racy:
            datum = case["datum"]
            kind = {"global": "module data", "heap": "slab", "page": "page", "per-cpu": "per-CPU"}[datum["storage"]]
            self.races[case["name"]]["memory"] = {"kind": kind, "variable": datum["variable"], "module": "outrider_gt",
                                                  "cache": "kmalloc-64" if kind == "slab" else None}

    def test_memory(self):
        self.place_all()
        status, output = self.check("--memory")
        self.assertEqual(status, 0, output)

    def test_wrong_memory(self):
        for case in self.racy:
            for change in ({"kind": "stack"}, {"variable": "other"}, {"module": None}, {"cache": None}):
                storage, key = case["datum"]["storage"], next(iter(change))
                if key in ("variable", "module") and storage != "global" or key == "cache" and storage != "heap":
                    continue
                with self.subTest(case=case["name"], change=change):
                    self.place_all()
                    self.races[case["name"]]["memory"].update(change)
                    status, output = self.check("--memory")
                    self.assertEqual(status, 1, output)
                    self.assertIn(f"MISPLACED: {case['name']}", output)

    def follow(self, atomic=False):
        """As `outrider run --locks` does, with the cases of the group atomic or with all others."""
        self.locks = {"locks": [{"kind": kind} for kind in ("spin", "mutex", "rwsem", "rwlock")], "accesses": [], "takes": [], "suspicions": []}
        for case in self.manifest["cases"]:
            if "suspected" in case and case["group"].startswith("atomic") == atomic:
                self.follow_case(case)
        self.head["locks"] = self.locks
        self.groups = ["--locks", "--group", "locking", "--group", "unprotected", "--group", "handed", "--group", "controls"]

    def access(self, function, kind="read", size=4, held=()):
        names = [lock["kind"] for lock in self.locks["locks"]]
        held = [{"lock": names.index(name), "maybe": False} for name in held]
        self.locks["accesses"].append({"site": f"outrider_gt:{function}+0x1f", "kind": kind, "size": size, "held": held})
        return len(self.locks["accesses"]) - 1

    def take(self, function):
        self.locks["takes"].append({"site": f"outrider_gt:{function}+0x1f"})
        return len(self.locks["takes"]) - 1

    def suspect(self, sides, kind="unprotected", proof="seen", number=0):
        self.locks["suspicions"].append({"id": f"{number:012x}", "kind": kind, "text": "t", "proof": {"state": proof, "reached": [1, 1]},
                                         "sides": [{"index": index} for index in sides]})

    def suspect_steps(self, function, other, second=None):
        """Two sections of one function, or of two, and one of the other function."""
        self.suspect([self.access(function), self.access(second or function, "write")], "atomicity", "none")
        self.locks["suspicions"][-1]["between"] = {"index": self.access(other, "write")}

    def follow_case(self, case):
        functions = case.get("functions") or [side["function"] for side in case["sides"]]
        number = len(self.locks["suspicions"]) + 1
        for function in functions if not case["suspected"] else []:
            self.access(function, held=case.get("held", []))
        if case["suspected"] and case["group"] == "atomic":
            self.suspect_steps(functions[0], functions[-1], functions[-2] if len(functions) > 2 else None)
        elif case["suspected"] and case["kind"] == "control":
            self.suspect([self.take(function) for function in functions], "interrupt", "none")
        elif case["suspected"]:
            self.suspect([self.access(side["function"], side["kinds"][-1], side["sizes"][0]) for side in case["sides"]], number=number)
            self.races[case["name"]].update(id=f"{number:012x}", suspected=True)

    def test_locks(self):
        self.follow()
        status, output = self.check(*self.groups)
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"suspected: \S+ unprotected gt_figone_set_rf_state write 1 / gt_figone_watchdog read 1: t \(seen\)")

    def test_sections(self):
        self.follow(atomic=True)
        status, output = self.check("--locks", "--group", "atomic", "--group", "atomicright", "--group", "atomicfate")
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"suspected: \S+ atomicity gt_actlen_enqueue read 4 / gt_actlen_enqueue write 4 / gt_actlen_change write 4: t")
        self.suspect_steps("gt_recheck_enqueue", "gt_recheck_change")
        self.assertIn("suspected wrongly", self.check("--locks", "--group", "atomic", "--group", "atomicright", "--group", "atomicfate")[1])
        for faulty in "actlen", "actboth":
            self.follow(atomic=True)
            self.locks["suspicions"] = [s for s in self.locks["suspicions"]
                                        if faulty not in self.locks["accesses"][s["sides"][0]["index"]]["site"]]
            self.assertIn(f"LOCKS: {faulty}: not suspected", self.check("--locks", "--group", "atomic", "--group", "atomicright", "--group", "atomicfate")[1])

    def test_locks_were_not_followed(self):
        self.assertEqual(self.check("--locks")[0], 1)

    def test_each_suspicion_is_needed(self):
        self.follow()
        for number in range(len(self.locks["suspicions"])):
            with self.subTest(number=number):
                self.follow()
                del self.locks["suspicions"][number]
                status, output = self.check(*self.groups)
                self.assertEqual(status, 1)
                self.assertRegex(output, "LOCKS: [a-z]+: not suspected")

    def test_a_suspicion_must_be_seen(self):
        self.follow()
        self.locks["suspicions"][0]["proof"]["state"] = "given-up"
        status, output = self.check(*self.groups)
        self.assertEqual(status, 1)
        self.assertIn("LOCKS: halflock: suspected, and its race was not seen", output)

    def test_a_race_must_say_that_it_was_suspected(self):
        self.follow()
        del self.races["halflock"]["suspected"]
        status, output = self.check(*self.groups)
        self.assertEqual(status, 1)
        self.assertIn("LOCKS: halflock: the race 000000000001 does not say", output)

    def test_wrong_suspicions(self):
        wrong = [
            lambda: self.suspect([self.access("gt_spinlock_adder", "write"), self.access("gt_spinlock_reader")]),
            lambda: self.suspect([self.access("gt_figone_set_rf_state", "write", 4), self.access("gt_figone_watchdog", "read", 4)]),
            lambda: self.suspect([self.access("gt_figone_set_rf_state", "write", 1), self.access("harness_task_loop", "read", 1)]),
            lambda: self.suspect([self.access("gt_twolocks_poll", "write"), self.access("gt_nlink_rename", "read-write")]),
            lambda: self.suspect([self.take("gt_irqlock_task"), self.take("gt_spinlock_reader")], "interrupt"),
            lambda: self.suspect([self.take("gt_spinlock_adder"), self.take("gt_spinlock_reader")], "interrupt"),
        ]
        for number, make in enumerate(wrong):
            with self.subTest(number=number):
                self.follow()
                make()
                status, output = self.check(*self.groups)
                self.assertEqual(status, 1)
                self.assertIn("LOCKS: suspected wrongly", output)
                self.assertIn("1 faults", output)

    def test_silence_of_locks_must_mean_something(self):
        for key, value in (("site", "outrider_gt:other+0x1f"), ("held", [])):
            with self.subTest(key=key):
                self.follow()
                access = next(access for access in self.locks["accesses"] if "gt_mutex_adder" in access["site"])
                access[key] = value
                if key == "held":
                    next(access for access in self.locks["accesses"] if "gt_mutex_reader" in access["site"])[key] = value
                status, output = self.check(*self.groups)
                self.assertEqual(status, 1)
                self.assertIn("LOCKS: mutex: no access " + ("in gt_mutex_adder" if key == "site" else "under a mutex lock"), output)

    def test_locks_that_point_nowhere(self):
        self.follow()
        self.locks["suspicions"][0]["sides"][0]["index"] = len(self.locks["accesses"])
        self.assertEqual(self.check(*self.groups)[0], 3)

    def test_sides_in_the_other_order(self):
        for found in self.races.values():
            found["sides"].reverse()
        self.assertEqual(self.check()[0], 0)

    def test_each_missing_race_is_a_fault(self):
        for name in self.races:
            rest = [found for other, found in self.races.items() if other != name]
            status, output = self.check(races=rest)
            self.assertEqual(status, 1, name)
            self.assertIn("MISSING", output)

    def test_only_the_chosen_groups_must_be_found(self):
        irq = [self.races[case["name"]] for case in self.racy if case["group"] == "irq"]
        self.assertEqual(self.check("--group", "irq", races=irq)[0], 0)
        self.assertEqual(self.check("--group", "irq", "--group", "basic", races=irq)[0], 1)

    def test_any_control_is_a_fault_whatever_the_group(self):
        for case in self.manifest["cases"]:
            if case["kind"] == "control":
                status, output = self.extra(plain(case["functions"][0]), plain(case["functions"][-1]))
                self.assertEqual(status, 1, case["name"])
                self.assertIn("REPORTED", output)
                found = [*self.races.values(), race(plain(case["functions"][0]), UNKNOWN)]
                self.assertEqual(self.check("--group", "irq", races=found)[0], 1, case["name"])

    def test_a_wrong_kind_size_or_module_is_a_fault(self):
        for key, value in (("kind", "read"), ("size", 2)):
            races = copy.deepcopy(self.races)
            races["wwrace"]["sides"][0]["access"][key] = value
            self.assertEqual(self.check(races=races.values())[0], 1, key)
        self.races["wwrace"]["sides"][0]["module"] = None
        self.assertEqual(self.check()[0], 1)

    def test_two_reads_prove_nothing(self):
        owner, user = next(case["sides"] for case in self.racy if case["name"] == "refput")
        self.races["refput"] = race(side(owner, "read"), side(user, "read"))
        self.assertEqual(self.check()[0], 1)

    def test_functions_of_two_cases_are_no_pair(self):
        status, output = self.extra(plain("gt_wwrace_first"), plain("gt_latesize_write"))
        self.assertEqual(status, 1)
        self.assertIn("WRONG", output)

    def test_one_function_with_the_kernel_is_a_fault(self):
        kernel = {**plain("kfree"), "module": None}
        self.assertEqual(self.extra(plain("gt_wwrace_first"), kernel)[0], 1)

    def test_the_harness_is_a_fault(self):
        self.assertEqual(self.extra(plain("harness_task_loop"), UNKNOWN)[0], 1)

    def test_rereading_does_not_prove_what_watchpoints_see(self):
        self.races["wwrace"]["sides"][1] = UNKNOWN
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertNotIn("WRONG", output)

    def test_hardware_that_was_not_there(self):
        needy = [case["name"] for case in self.racy if case.get("needs") in ("disk", "rng")]
        self.assertEqual(len(needy), 6)
        self.have = []
        rest = [found for name, found in self.races.items() if name not in needy]
        status, output = self.check(races=rest)
        self.assertEqual(status, 0, output)
        self.assertNotIn("dmaread", output)
        self.have = ["--have", "disk"]
        status, output = self.check(races=rest)
        self.assertEqual(status, 1)
        self.assertIn("MISSING: dmaread: no race of gt_dmaread_reader and virtio-blk", output)
        self.assertNotIn("MISSING: dmarng", output)

    def test_a_wrong_device_is_a_fault(self):
        for key, value in (("type", "virtio-net"), ("op", "flush"), ("sector", 8193), ("kind", "read")):
            with self.subTest(key=key):
                races = copy.deepcopy(self.races)
                races["dmaread"]["sides"][1]["device"][key] = value
                status, output = self.check(races=races.values())
                self.assertEqual(status, 1)
                self.assertIn("MISSING: dmaread", output)
                self.assertIn("WRONG", output)

    def test_what_is_said_of_a_device(self):
        for changes in ({"gpa": "0xfff"}, {"gpa": "0x1008", "bytes": 1}, {"bytes": 7}, {"bytes": 0}, {"thread": None}, {"tid": 0}):
            with self.subTest(changes=changes):
                races = copy.deepcopy(self.races)
                races["dmaread"]["sides"][1]["device"].update(changes)
                status, output = self.check(races=races.values())
                self.assertEqual(status, 1)
                self.assertIn("MISPLACED: ", output)

    def test_rereading_does_not_prove_a_device(self):
        self.races["dmaread"]["sides"][1] = UNKNOWN
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("MISSING: dmaread", output)

    def test_any_other_race_with_a_device_is_a_fault(self):
        """A ring of a stock driver's, for example."""
        device = side({"device": "virtio-blk", "op": "read", "kinds": ["write"]})
        for module in (None, "virtio_ring", "outrider_gt"):
            with self.subTest(module=module):
                status, output = self.extra({**plain("virtqueue_get_buf_ctx_split", "read"), "module": module}, device)
                self.assertEqual(status, 1)
                self.assertIn("WRONG", output)

    def test_a_device_against_a_control_is_a_fault(self):
        device = side({"device": "virtio-blk", "op": "read", "kinds": ["write"]})
        status, output = self.extra(plain("gt_dmareadwait_reader", "read"), device)
        self.assertEqual(status, 1)
        self.assertRegex(output, r"dmareadwait +controls +control +REPORTED")

    def test_a_device_against_an_allowed_function_is_a_fault(self):
        device = side({"device": "virtio-blk", "op": "read", "kinds": ["write"]})
        self.assertEqual(self.extra(plain("gt_rcu_fetch", "read"), device)[0], 1)

    def test_allowed_pair(self):
        status, output = self.extra(plain("gt_rcu_fetch", "read"), plain("gt_rcu_publish"))
        self.assertEqual(status, 0, output)
        self.assertIn("allowed", output)

    def test_the_kernel_alone_is_no_matter(self):
        kernel = {**plain("kfree"), "module": None}
        self.assertEqual(self.extra(kernel, kernel)[0], 0)

    def test_controls_need_windows(self):
        self.head["summary"]["sampling"]["windows"] = 99
        self.assertEqual(self.check()[0], 1)
        self.assertEqual(self.check("--windows", "99")[0], 0)
        self.assertEqual(self.check("--group", "irq")[0], 0)
        self.head.update(complete=False, summary={})
        self.assertEqual(self.check()[0], 1)

    def test_another_schema(self):
        self.head["schema"] = "outrider-races/2"
        self.assertEqual(self.check()[0], 3)

    def test_bad_input(self):
        head = '{"schema": "outrider-races/1", "complete": true, "races": '
        for text in (head + "[1]}", head + '[{"sides": []}]}', head + '[{"sides": [1, 2]}]}', head + "[]}",
                     "", "[]", '{"races": 1}', '{"races": []}'):
            status, output = self.check(text=text)
            self.assertEqual(status, 3, text)
            self.assertEqual(output.count("\n"), 1, output)
        self.assertEqual(self.check("--group", "nosuch")[0], 3)
        self.assertEqual(self.check("--nosuch")[0], 2)


if __name__ == "__main__":
    unittest.main()
