#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""On a host without a KVM that works, `outrider doctor` names the command that starts a lab, and that command is there."""

import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build")).resolve()
LAB = "outrider can run in a lab, an emulated host with a KVM that works: "


def one_file_at_most():
    """With one file descriptor beside the standard ones, /dev/kvm opens at most, and no VM can be made: a host whose KVM will not do."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))


def doctor(program):
    done = subprocess.run([program, "doctor"], capture_output=True, text=True, preexec_fn=one_file_at_most, check=False)
    return done.returncode, re.findall(f"^{re.escape(LAB)}(.*)$", done.stdout, re.M)


class Doctor(unittest.TestCase):
    def assert_names(self, program, lab):
        """doctor names the program `lab`, and the command runs with --help in place of doctor."""
        code, commands = doctor(program)
        self.assertEqual((code, len(commands)), (3, 1))
        words = shlex.split(commands[0])
        self.assertEqual(words[-2:], [str(lab), "doctor"])
        helped = subprocess.run(["env", *words[:-1], "--help"], capture_output=True, text=True, check=False)
        self.assertEqual((helped.returncode, helped.stderr), (0, ""))
        return words

    def test_in_the_source_tree(self):
        if ROOT not in (BUILD.parent, BUILD.parent.parent):
            self.skipTest(f"{BUILD} is not in the source tree")
        words = self.assert_names(BUILD / "outrider", ROOT / "tests/lab/outrider")
        self.assertEqual(words[0], f"OUTRIDER_BUILD={BUILD}")

    def test_installed(self):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["make", "-s", "-C", ROOT, "install", f"BUILD={BUILD}", f"DESTDIR={root}", "PREFIX=/usr"], check=True,
                           stdout=subprocess.DEVNULL)
            usr = pathlib.Path(root, "usr")
            self.assert_names(usr / "bin/outrider", usr / "bin/outrider-lab")
            # The lab's programs find each other without the source tree: pick runs the installed outrider, and run gets the lab's parts.
            said = subprocess.run([usr / "lib/outrider/lab/pick", "--outrider", usr / "bin/outrider"], capture_output=True, text=True,
                                  check=True).stdout
            self.assertIn(said, ("native\n", "amd\n"))
            find = "from labhost import images; print(images.TOOLS); print(images.libraries(['/bin/sh'])); images.fetch('--help')"
            found = subprocess.run(["python3", "-B", "-c", find], cwd=usr / "lib/outrider/lab", capture_output=True, text=True, check=False)
            self.assertEqual(found.stdout.splitlines()[0], str(usr / "lib/outrider"))
            self.assertIn("libc.so", found.stdout)

    def test_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(BUILD / "outrider", folder)
            code, said = doctor(pathlib.Path(folder, "outrider"))
            self.assertEqual((code, len(said)), (3, 1))
            self.assertIn("install the Debian package outrider, which has outrider-lab, or get its source tree", said[0])


if __name__ == "__main__":
    unittest.main()
