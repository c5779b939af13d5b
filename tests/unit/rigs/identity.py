# SPDX-License-Identifier: GPL-2.0-or-later
"""What docs/report-format.md says of a race's identity, worked out of a report's JSON without Outrider's own code."""

import collections


def fnv1a(text):
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value


def hashed(text):
    """The 12 digits that Outrider makes of an identity's text: FNV-1a of "campaign", a newline and the text, folded to 48 bits."""
    value = fnv1a("\n".join(sorted(("campaign", text))))
    return f"{(value >> 48) ^ (value & (2**48 - 1)):012x}"


def side(race, which):
    """(function, module, kind, site) of a side."""
    it = race["sides"][which]
    kind = it["device"]["kind"] if it.get("device") else it["access"]["kind"] if not it["unknown"] else "unknown"
    function = it.get("function") or it.get("site") or "unknown"
    function = function[0] + function[1:].split(".")[0] if it.get("function") else function
    return function, it.get("module") or "", next((word for word in ("write", "read") if word in kind), "access"), it.get("site") or "unknown"


def sides(race):
    return sorted(side(race, which) for which in range(2))


def datum(race):
    """The datum's name from debug files, or ""."""
    name = race["name"]
    if not name or name["guess"]:
        return ""
    owner = name["variable"] if name["by"] == "variable" else name["owner"].removeprefix("const ").removeprefix("volatile ")
    if not owner or "{" in owner:
        return ""
    return owner + (f".{name['member']}" if name["member"] else "")


def place(race):
    """The datum's place in the guest's own tables, or ""."""
    memory = race.get("memory") or {}
    if memory.get("variable"):
        return f"{memory['module'] + ':' if memory['module'] else ''}{memory['variable']}+{memory['offset']}"
    if memory.get("type") and memory.get("member"):
        return f"struct {memory['type']}.{memory['member']}"
    return ""


def text(race, known):
    (a, a_module, a_kind, _), (b, b_module, b_kind, _) = sides(race)
    return f"{a_kind} {a} [{a_module}] <-> {b_kind} {b} [{b_module}] on {known}"


def identity(race):
    return hashed(text(race, datum(race) or (f"at {place(race)}" if place(race) else "?")))


def labels(races):
    """{id: the label that exports give the race: its identity, and a number for a further race of one identity}."""
    same = collections.defaultdict(list)
    for race in races:
        same[race["identity"]].append(race)
    found = {}
    for known, group in same.items():
        group.sort(key=lambda race: ([int(one[3].split("+")[1], 16) if "+" in one[3] else 0 for one in sides(race)], race["id"]))
        found.update((race["id"], f"{known}:{number}") for number, race in enumerate(group, 1))
    return found
