# SPDX-License-Identifier: GPL-2.0-or-later
"""endless-disk.py CODE ELF: make an ELF file with a PVH note, as outrider boots it, of code that is linked for 1 MiB and begins with its entry."""

import struct
import sys

BASE = 0x100000
ROOM = 0x10000  # behind the code, for variables

with open(sys.argv[1], "rb") as file:
    code = file.read()
note = struct.pack("<III4sI", 4, 4, 18, b"Xen\0", BASE)  # XEN_ELFNOTE_PHYS32_ENTRY
at = 64 + 2 * 56
header = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, BASE, 64, 0, 0, 64, 56, 2, 0, 0, 0)
segments = struct.pack("<IIQQQQQQ", 4, 4, at, 0, 0, len(note), len(note), 4)
segments += struct.pack("<IIQQQQQQ", 1, 7, at + len(note), BASE, BASE, len(code), len(code) + ROOM, 1)
with open(sys.argv[2], "wb") as file:
    file.write(header + segments + note + code)
