#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A command ends quietly if its reader goes away, and fails if it cannot write its output. outrider refuses a file that is no kernel before it
opens KVM."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
RACES = ROOT / "tests/data/ground-truth-races.json"

# Commands that print without further input. libvirt's test driver has one domain, and needs no daemon.
PRINTING = [*(["report", "--format", kind, str(RACES)] for kind in ("text", "json", "sarif", "kcsan", "junit", "html")),
            ["report", "--all", str(RACES)], ["prune", str(RACES)], ["prune", "--list-rules"], ["list", "--connect", "test:///default"],
            ["--help"], ["--version"], ["report", "--help"], ["completion", "bash"]]


def outrider(*arguments, stdout=subprocess.PIPE):
    done = subprocess.run([BUILD / "outrider", *arguments], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True,
                          check=False)
    return done.returncode, done.stderr


class Output(unittest.TestCase):
    def test_reader_that_has_gone(self):
        for command in PRINTING:
            with self.subTest(command=command):
                reader, writer = os.pipe()
                os.close(reader)
                status, said = outrider(*command, stdout=writer)
                os.close(writer)
                self.assertEqual((status, said), (0, ""))

    def test_reader_that_takes_one_line(self):
        for kind in ("text", "json", "html"):
            with self.subTest(kind):
                with subprocess.Popen([BUILD / "outrider", "report", "--all", "--format", kind, RACES], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE) as process:
                    self.assertTrue(process.stdout.readline())
                    process.stdout.close()
                    self.assertEqual(process.stderr.read(), b"")
                self.assertEqual(process.returncode, 0)

    def test_gate_does_not_pass_because_its_reader_has_gone(self):
        reader, writer = os.pipe()
        os.close(reader)
        status, said = outrider("report", "--fail-on", "harmful", str(RACES), stdout=writer)
        os.close(writer)
        self.assertEqual(status, 1)
        self.assertEqual(len(said.splitlines()), 1)

    def test_full_disk(self):
        for command in PRINTING:
            with self.subTest(command=command):
                with open("/dev/full", "w", encoding="ascii") as full:
                    self.assertEqual(outrider(*command, stdout=full), (3, "outrider: standard output: cannot be written\n"))


class Kernel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.mkfifo(self.folder / "fifo")
        (self.folder / "empty").touch()
        (self.folder / "text").write_text("no kernel\n" * 1000)
        (self.folder / "loop").symlink_to("loop")
        # A boot sector with the magic of a bzImage, and nothing after it.
        (self.folder / "cut").write_bytes(bytes(0x1f1) + b"\x1f" + bytes(12) + b"\x55\xaa\xeb\x66HdrS\x0f\x02" + bytes(24))

    def refused(self, *arguments):
        status, said = outrider("run", *arguments)
        self.assertEqual(status, 3)
        self.assertRegex(said, r"\Aoutrider: [^\n]+\n\Z")
        self.assertNotIn("KVM", said)
        return said

    def test_kernel_that_is_none(self):
        for name, why in (("nothing", "No such file"), ("text/x", "Not a directory"), ("loop", "Too many levels"), (".", "not a regular file"),
                          ("fifo", "not a regular file"), ("empty", "is empty"), ("text", "neither a bzImage nor an ELF vmlinux"),
                          ("cut", "")):
            with self.subTest(name):
                said = self.refused("--kernel", str(self.folder / name))
                self.assertIn("kernel ", said)
                self.assertIn(f"{self.folder / name}", said)
                self.assertIn(why, said)
        self.assertIn("is not an x86-64 vmlinux", self.refused("--kernel", str(BUILD / "outrider")))

    def test_initrd_that_is_none(self):
        kernel = self.folder / "vmlinux"
        # The header of an executable for x86-64, without segments.
        kernel.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\x3e\x00\x01\x00\x00\x00" + bytes(28) + b"\x40\x00\x38\x00" +
                           bytes(8))
        said = self.refused("--kernel", str(kernel), "--initrd", str(self.folder / "nothing"))
        self.assertIn(f"cannot open initrd {self.folder}/nothing: No such file", said)


if __name__ == "__main__":
    unittest.main()
