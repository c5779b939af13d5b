#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The units of systemd that run a campaign every night are installed, and systemd finds nothing wrong with them."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))


class Units(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        # What MAKEFLAGS says is for the make that runs the tests.
        environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        subprocess.run(["make", "-s", "install", f"BUILD={BUILD.resolve()}", f"DESTDIR={self.root}", "PREFIX=/usr"], cwd=ROOT, env=environment,
                       check=True, stdout=subprocess.DEVNULL)

    def text(self, kind):
        """The unit, as it would be were this root the host's."""
        text = (self.root / f"usr/lib/systemd/system/outrider-campaign@.{kind}").read_text(encoding="utf-8")
        return text.replace("/usr/bin/", f"{self.root}/usr/bin/")

    def test_their_commands_are_those_that_there_are(self):
        commands = re.findall(r"^Exec\w+=-?(\S+) campaign (\w+) (.*)$", self.text("service"), re.M)
        self.assertEqual([command for _, command, _ in commands], ["run", "run", "show", "show"])
        for program, command, words in commands:
            self.assertEqual(program, f"{self.root}/usr/bin/outrider")
            said = subprocess.run([program, "campaign", command, "--help"], check=True, capture_output=True, text=True).stdout
            for option in re.findall(r"--[a-z]+", words):
                self.assertIn(option, said)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not here")
    def test_systemd_takes_them(self):
        for kind in ("service", "timer"):
            instance = self.root / f"outrider-campaign@nightly.{kind}"
            instance.write_text(self.text(kind), encoding="utf-8")
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", instance], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            # It sees what is wrong: the next line has no meaning there.
            instance.write_text(self.text(kind).replace("[Unit]", "[Unit]\nNonsense=1"), encoding="utf-8")
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", instance], capture_output=True, text=True, check=False)
            self.assertIn("Nonsense", done.stderr)
            instance.unlink()


if __name__ == "__main__":
    unittest.main()
