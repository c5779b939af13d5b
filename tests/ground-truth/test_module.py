#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The module's machine code must still be what the manifest says: compilers drop, merge and move what they may.

Wants $OUTRIDER_BUILD/outrider_gt.ko."""

import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE = os.path.join(os.environ.get("OUTRIDER_BUILD", os.path.join(HERE, "../../build")), "outrider_gt.ko")
MANIFEST = os.path.join(HERE, "manifest.json")

FUNCTION = re.compile(r"^[0-9a-f]+ <(\w+)>:$")
INSTRUCTION = re.compile(r"^\s+[0-9a-f]+:\t(.*)$")
MEMORY = re.compile(r"(?<![*\w])(?:%\w\w:)?(?:-?0x[0-9a-f]+)?\((?!%rsp)")
NO_ACCESS = ("lea", "nop", "call", "jmp", "data16", "cs nop", "prefetch")


def disassemble():
    """{function: [instruction, ...]}"""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", MODULE], check=True, capture_output=True, text=True).stdout
    functions, current = {}, None
    for line in text.splitlines():
        if match := FUNCTION.match(line):
            current = functions.setdefault(match.group(1), [])
        elif current is not None and (match := INSTRUCTION.match(line)):
            current.append(match.group(1).split("#")[0].strip())
    return functions


def plain_accesses(code):
    """Those that are sampled: memory, not the stack, not per-CPU by segment, and not LOCKed (XCHG is, by itself)."""
    return [i for i in code
            if MEMORY.search(i) and not i.startswith(("lock", "xchg", *NO_ACCESS)) and "%gs:" not in i]


class ModuleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(MANIFEST, encoding="utf-8") as f:
            cls.cases = {case["name"]: case for case in json.load(f)["cases"]}
        cls.code = disassemble()

    def functions(self, case):
        return case.get("functions") or [side["function"] for side in case["sides"] if "function" in side]

    def test_manifest_names_the_modules_functions(self):
        command = [os.path.join(HERE, "check"), "--manifest", MANIFEST, "--module", MODULE]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_function_has_a_plain_access(self):
        for name, case in self.cases.items():
            for function in self.functions(case):
                locked = case["group"] == "references" and any(line.startswith("lock ") for line in self.code[function])
                self.assertTrue(plain_accesses(self.code[function]) or locked, f"{name}: {function}: {self.code[function]}")

    def test_two_updates_stay_two(self):
        for function, count in (("gt_addtocache", 2), ("gt_nlink_rename", 2), ("gt_refput_owner", 2), ("gt_refput_user", 2)):
            self.assertEqual(len(plain_accesses(self.code[function])), count, f"{function}: {self.code[function]}")

    def test_increments_are_one_instruction(self):
        for function in ("gt_statcount_rx", "gt_irqsame_timer", "gt_irqcross_timer", "gt_bitfield_received"):
            (access,) = plain_accesses(self.code[function])
            self.assertRegex(access, r"^add[lq]")

    def test_a_task_against_its_own_interrupt_loads_and_stores(self):
        for function in ("gt_irqsame_task", "gt_irqcross_task", "gt_irqsoff_task"):
            accesses = plain_accesses(self.code[function])
            self.assertEqual([access.split()[0] for access in accesses], ["mov", "mov"], function)

    def test_the_copy_is_one_string_instruction(self):
        self.assertTrue(any(i.startswith("rep movsb") for i in self.code["gt_repmovs_copier"]))

    def test_atomics_take_and_give_the_bit_locked(self):
        for function in ("gt_atomics_adder", "gt_atomics_reader"):
            locked = [i for i in self.code[function] if i.startswith("lock")]
            self.assertGreaterEqual(len(locked), 3, self.code[function])


if __name__ == "__main__":
    if not os.path.exists(MODULE):
        sys.exit(f"test_module: no {MODULE}; run make check")
    unittest.main()
