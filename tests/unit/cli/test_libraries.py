#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The libraries that outrider loads at its first call into them (hv/base/library.h): the program starts without them, and they have all the
functions that outrider calls. The linker, which checks the functions of other libraries, does not know these."""

import ctypes
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
LIBRARY = re.compile(r'^static const struct library (\w+) = \{"(\S+)", "(\S+)"\};$', re.MULTILINE)
CALL = re.compile(r"^LIBRARY_CALL\((\w+),[^,]*,\s*(\w+),", re.MULTILINE)


def lazy():
    """{soname: (package, functions)} of the library files of the tree."""
    found = {}
    for source in sorted([*ROOT.glob("hv/**/*library.c"), *ROOT.glob("symbols/**/*library.c")]):
        text = source.read_text()
        calls = CALL.findall(text)
        for name, soname, package in LIBRARY.findall(text):
            found[soname] = package, [function for library, function in calls if library == name]
    return found


class Libraries(unittest.TestCase):
    def test_the_program_starts_without_them(self):
        listing = subprocess.run(["readelf", "-d", BUILD / "outrider"], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(\S+)\]", listing))
        self.assertIn("libjansson.so.4", needed)
        self.assertEqual(set(lazy()), {"libvirt.so.0", "libvirt-qemu.so.0", "libpq.so.5", "libdebuginfod.so.1"})
        self.assertEqual(needed & set(lazy()), set())

    def test_they_have_the_functions(self):
        for soname, (_, functions) in lazy().items():
            self.assertGreater(len(functions), 1, soname)
            library = ctypes.CDLL(soname)
            for function in functions:
                with self.subTest(library=soname, function=function):
                    self.assertTrue(hasattr(library, function))

    def test_the_package_depends_on_theirs(self):
        control = (ROOT / "docs/debian/control").read_text()
        depends = re.findall(r"[\w.+-]+", re.search(r"^Package: outrider$.*?^Depends: (.*?)^\w", control, re.MULTILINE | re.DOTALL).group(1))
        for package, _ in lazy().values():
            self.assertIn(package, depends)


if __name__ == "__main__":
    unittest.main()
