#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--sources finds the sources of a module that was built outside the kernel's tree, and a report cannot make it read other files."""

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
RACES = ROOT / "tests/data/ground-truth-races.json"
RACE = "f5b4a133e53e"  # gt_rwrace_ptr->value, read in one function and written in another
MODULE = """#include <linux/compiler.h>

void reader(void) { show(READ_ONCE(gt_rwrace_ptr->value)); }
void writer(void) { WRITE_ONCE(gt_rwrace_ptr->value, 1); }
"""


class Sources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.kernel, self.hold = self.top / "kernel", self.top / "tree" / "hold"
        self.kernel.mkdir()
        self.hold.mkdir(parents=True)
        (self.hold / "hold.c").write_text(MODULE)

    def judge(self, file, *arguments):
        """Returns the class and the evidence of a race whose sides are in lines 3 and 4 of `file`, and the messages."""
        document = json.loads(RACES.read_text())
        document["races"] = [race for race in document["races"] if race["id"] == RACE]
        for side, line in zip(document["races"][0]["sides"], (3, 4)):
            for place in [side, *side["stack"]["frames"][:1]]:
                place["source"][0].update(file=str(file), line=line)
        races = self.top / "races.json"
        races.write_text(json.dumps(document))
        done = subprocess.run([BUILD / "outrider", "report", "--format", "json", *arguments, races], capture_output=True, text=True,
                              check=True, timeout=600)
        verdict = json.loads(done.stdout)["races"][0]["verdict"]
        return verdict["class"], verdict["evidence"], done.stderr

    def test_module_built_elsewhere(self):
        file = self.hold / "hold.c"
        self.assertEqual(self.judge(file, "--sources", self.kernel)[0], "harmful candidate")
        verdict, evidence, _ = self.judge(file, "--sources", self.kernel, "--sources", self.hold)
        self.assertEqual(verdict, "synchronisation")
        self.assertIn("READ_ONCE()", evidence)
        self.assertIn("WRITE_ONCE()", evidence)

    def test_module_built_on_another_machine(self):
        self.assertEqual(self.judge("/build/hold/hold.c", "--sources", self.hold)[0], "synchronisation")

    def test_link_out(self):
        (self.kernel / "a.c").symlink_to(self.hold / "hold.c")
        verdict, _, said = self.judge("a.c", "--sources", self.kernel)
        self.assertEqual(verdict, "harmful candidate")
        self.assertEqual(said, "outrider: source file a.c is not read: it leads out of the folder\n")

    def test_name_that_goes_up(self):
        verdict, _, said = self.judge("../tree/hold/hold.c", "--sources", self.kernel)
        self.assertEqual((verdict, said), ("harmful candidate", ""))

    def test_fifo(self):
        os.mkfifo(self.kernel / "a.c")
        verdict, _, said = self.judge("a.c", "--sources", self.kernel)
        self.assertEqual(verdict, "harmful candidate")
        self.assertEqual(said, "outrider: source file a.c is not read: it is no regular file\n")

    def test_device(self):
        verdict, _, said = self.judge("zero", "--sources", "/dev")
        self.assertEqual(verdict, "harmful candidate")
        self.assertEqual(said, "outrider: source file zero is not read: it is no regular file\n")

    def show(self, *arguments):
        done = subprocess.run([BUILD / "outrider", "report", *arguments, RACES], capture_output=True, text=True, check=True)
        return done.stdout

    def test_code_as_instructions(self):
        """A full report lists the code's instructions, and marks the accessing instruction."""
        for arguments in (["--race", RACE], ["--all"]):
            with self.subTest(arguments=arguments):
                text = self.show(*arguments)
                self.assertRegex(text, r"(?m)^ +> \+0xc +movl +\(%rax\), %eax +tests/ground-truth/module/races_basic.c:30$")
                self.assertNotRegex(text, r"(?m)^ +code( [0-9a-f]{2})+ <")
        self.assertRegex(self.show(), r"(?m)^ +code( [0-9a-f]{2})+ <8b>")

    def test_debug_file_gives_each_instruction_its_line(self):
        """Names a run without names from the recorded module. The text shows the lines where it finds the module's source."""
        module, races = self.top / "module.ko", self.top / "raw.json"
        for packed, path in (("module.ko.xz", module), ("races.json.xz", races)):
            path.write_bytes(lzma.decompress((ROOT / "tests/data/recorded/gt-amd" / packed).read_bytes()))
        command = [BUILD / "outrider", "report", "--race", "26f72e203400"]
        text = subprocess.run([*command, "--symbols", module, "--sources", ROOT, races], capture_output=True, text=True, check=True).stdout
        instructions = re.findall(r"(?m)^ +(?:code +)?(> )?(\+0x[0-9a-f]+) +(\S.*?) {2,}(\S+/races_lock\.c):(\d+)  (.+)$", text)
        self.assertGreater(len(instructions), 10)
        self.assertEqual(sum(bool(access) for access, *_ in instructions), 1)
        source = (ROOT / "tests/ground-truth/module/races_lock.c").read_text().splitlines()
        for _access, place, _text, file, line, said in instructions:
            self.assertEqual(file, "tests/ground-truth/module/races_lock.c", place)
            self.assertEqual(said, source[int(line) - 1].strip(), place)
        self.assertRegex(text, r"(?m) callq  mutex_lock$")
        bare = subprocess.run([*command, races], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("races_lock.c", bare)
        self.assertRegex(bare, r"(?m)^ +> \+0x2b +movl ")

    def test_source_beside_the_instruction(self):
        text = self.show("--race", RACE, "--sources", ROOT)
        line = (ROOT / "tests/ground-truth/module/races_basic.c").read_text().splitlines()[29].strip()
        self.assertRegex(text, rf"(?m)^ +> .*races_basic.c:30  {re.escape(line)}$")


if __name__ == "__main__":
    unittest.main()
