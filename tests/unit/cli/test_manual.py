#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The manual pages: one for each subcommand, with the options that the subcommand has and no other, whole, and installed."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
PAGES = ROOT / "docs/man"
BUILDERS = ["build-initramfs", "build-rootdisk"]  # programs of their own, installed beside outrider
PROGRAMS = [*BUILDERS, "lab"]
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "ENVIRONMENT", "FILES", "EXIT STATUS", "LIMITATIONS", "EXAMPLES", "SEE ALSO"]


def help_of(*command):
    return subprocess.run([BUILD / "outrider", *command, "--help"], check=True, capture_output=True, text=True).stdout


def commands():
    return re.findall(r"^  ([a-z]+) +", help_of().split("Commands:\n")[1].split("\n\n")[0], re.M)


def inner(command):
    """The commands that a command has: itself, or those of `outrider campaign`."""
    if "[OPTION" in help_of(command) or "Commands:\n" not in help_of(command):
        return [[command]]
    return [[command, name] for name in re.findall(r"^  ([a-z]+) +", help_of(command).split("Commands:\n")[1].split("\n\n")[0], re.M)]


def page(command):
    return (PAGES / (f"outrider-{command}.1" if command else "outrider.1")).read_text()


def section(text, name):
    return re.search(rf'^\.SH {name}\n(.*?)(?=^\.SH |\Z)', text, re.M | re.S).group(1)


def options_of_page(text):
    """The options that the tags of the section OPTIONS name."""
    tags = re.findall(r"^\.TP[^\n]*\n([^\n]*)", section(text, "OPTIONS"), re.M)
    return {option for tag in tags for option in re.findall(r"--[a-z][a-z-]*", tag.replace(r"\-", "-"))}


def options_of_help(text):
    return set(re.findall(r"^ +(?:-\w(?: [A-Z]+)?, )*(--[a-z][a-z-]*)", text, re.M))


class Manual(unittest.TestCase):
    def test_each_subcommand_has_a_page(self):
        self.assertEqual({f"outrider-{command}.1" for command in [*commands(), *PROGRAMS]} | {"outrider.1"}, {p.name for p in PAGES.iterdir()})

    def test_options_are_in_help_and_page(self):
        for command in commands():
            with self.subTest(command=command):
                said = {option for words in inner(command) for option in options_of_help(help_of(*words))}
                self.assertIn("--help", said)
                self.assertEqual(said, options_of_page(page(command)))

    def test_exit_codes_are_in_help_and_page(self):
        for command in commands():
            with self.subTest(command=command):
                said = sorted({code for words in inner(command) for code in
                               re.findall(r"^  (\S+)  ", help_of(*words).split("Exit status:\n")[1], re.M)}, key=int)
                self.assertEqual(said, re.findall(r"^\.TP\n\.B (\S+)\n", section(page(command), "EXIT STATUS"), re.M))

    def test_options_of_the_image_builders_are_in_their_pages(self):
        for builder in BUILDERS:
            with self.subTest(builder=builder):
                said = subprocess.run([ROOT / "vm-images" / builder, "--help"], check=True, capture_output=True, text=True).stdout
                self.assertEqual(options_of_help(said) - {"--help"}, options_of_page(page(builder)))

    def test_pages_are_whole(self):
        for command in ["", *commands(), *PROGRAMS]:
            with self.subTest(page=command):
                text = page(command)
                found = [name.strip('"') for name in re.findall(r"^\.SH (.*)$", text, re.M)]
                self.assertEqual([name for name in found if name in SECTIONS], SECTIONS)
                self.assertRegex(text, r'(?m)^\.TH OUTRIDER\S* 1 "\d{4}-\d\d-\d\d" ')
                for other in commands():
                    if command not in (other, *PROGRAMS):
                        self.assertIn(rf".BR outrider\-{other} (1)", section(text, "SEE ALSO"))

    def test_mandoc_finds_nothing(self):
        done = subprocess.run(["mandoc", "-T", "lint", *sorted(PAGES.iterdir())], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_pages_are_installed(self):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["make", "-s", "-C", ROOT, "install", f"BUILD={BUILD.resolve()}", f"DESTDIR={root}", "PREFIX=/usr"], check=True,
                           stdout=subprocess.DEVNULL)
            installed = pathlib.Path(root, "usr/share/man/man1")
            self.assertEqual({p.name for p in installed.iterdir()}, {p.name for p in PAGES.iterdir()})


if __name__ == "__main__":
    unittest.main()
