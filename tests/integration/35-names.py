#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
35-names' checks.

    NAMED.JSON SCHEMA VMLINUX     every call named by debug files is in the function that the guest's own tables say
    --rss MIB COMMAND...          runs the command, whose memory must stay within that
    --corrupt FILE SECTION        makes noise of a section of an ELF file
"""

import collections
import functools
import json
import re
import resource
import subprocess
import sys

import jsonschema

# What the compiler adds to the name of a function it made of another one.
SUFFIX = re.compile(r"(\.(constprop|isra|part|cold|lto_priv)(\.\d+)?)+$")


def same_function(table, debug):
    """Equal but for a compiler's suffix."""
    return SUFFIX.sub("", table) == debug


@functools.lru_cache(maxsize=1)
def symbols(vmlinux):
    """For each symbol's name, its addresses, and its types as readelf writes them: FUNC, NOTYPE and so on."""
    addresses = collections.defaultdict(set)
    types = collections.defaultdict(set)
    for line in subprocess.run(["readelf", "-sW", vmlinux], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if len(words) == 8 and words[0][:-1].isdigit() and words[6] != "UND":
            addresses[words[7]].add(words[1])
            types[words[7]].add(words[3])
    return addresses, types


def aliases(frame, debug, vmlinux):
    """Two names of one function: kallsyms and DWARF name a system call without arguments differently."""
    if frame["module"]:
        return False
    addresses, _ = symbols(vmlinux)
    return not addresses[frame["function"]].isdisjoint(addresses[debug])


def from_assembler(frame, source, vmlinux):
    """
    Labels in assembler need not be functions: debug files give the nearest that is one or has a size, kallsyms the nearest of all. The
    code's line may be in a header that the assembler's file includes, as the line of each __x86_indirect_thunk_*() is.
    """
    if (source[-1]["file"] or "").endswith(".S"):
        return True
    _, types = symbols(vmlinux)
    return not frame["module"] and types[frame["function"]] == {"NOTYPE"} and types[source[-1]["function"]] == {"NOTYPE"}


def frames_of(document):
    for race in document["races"]:
        for side in race["sides"]:
            yield from [] if side["unknown"] else side["stack"]["frames"]


def has_no_line(frame, vmlinux):
    """Whether elfutils has no line for the frame, as for an asm() between functions. Frames in modules are expected to have lines."""
    if frame["module"]:
        return False
    words = ["eu-addr2line", "-e", vmlinux, f"{frame['function']}+{frame['offset']:#x}"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.startswith("??")


def compare(path, schema_path, vmlinux):
    with open(path, encoding="utf-8") as file, open(schema_path, encoding="utf-8") as schema:
        document = json.load(file)
        jsonschema.Draft202012Validator(json.load(schema)).validate(document)
    seen = collections.Counter()
    wrong = []
    for frame in frames_of(document):
        source = frame["source"]
        if not frame["reliable"] or frame["function"] is None:
            seen["not looked at"] += 1
        elif not source or not source[-1]["line"]:
            if has_no_line(frame, vmlinux):
                seen["without a line for anybody"] += 1
                continue
            wrong.append(f"{frame['function']}: no line")
        elif same_function(frame["function"], source[-1]["function"] or ""):
            seen["equal"] += 1
        elif from_assembler(frame, source, vmlinux):
            seen["labels of assembler"] += 1
        elif aliases(frame, source[-1]["function"], vmlinux):
            seen["aliases"] += 1
        else:
            wrong.append(f"{frame['function']}: {source[-1]['function']} in debug files")
    named = sum(race["name"] is not None for race in document["races"])
    print(f"# {len(document['races'])} races, {named} data named; calls: " + ", ".join(f"{n} {what}" for what, n in seen.items()))
    for line in wrong:
        print(f"# {line}")
    return bool(wrong) or not seen["equal"] or not named


def limited(mib, command):
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"# {used} MiB")
    return done.returncode or used > mib


def corrupt(path, section):
    table = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
    found = re.search(rf"\s{re.escape(section)}\s+PROGBITS\s+[0-9a-f]+\s+([0-9a-f]+)", table)
    with open(path, "r+b") as file:
        file.seek(int(found.group(1), 16))
        file.write(bytes((7 * i + i // 251) % 256 for i in range(1 << 20)))
    return 0


def main():
    if sys.argv[1] == "--rss":
        return limited(int(sys.argv[2]), sys.argv[3:])
    if sys.argv[1] == "--corrupt":
        return corrupt(sys.argv[2], sys.argv[3])
    return compare(*sys.argv[1:4])


sys.exit(main())
