# SPDX-License-Identifier: GPL-2.0-or-later
"""Gives a race of a report's document a device as its second side."""

DEVICE = {"type": "virtio-blk", "index": 0, "queue": 1, "op": "read", "sector": 8192, "descriptor": 3, "segment": 1, "kind": "write",
          "gpa": "0x1234000", "bytes": 8, "thread": "blk0/q1", "tid": 4711}


def make(race, **changes):
    """Let a device have made the access during the window, in all instances."""
    device = {**DEVICE, **changes}
    race["how"] = "device"
    race["sides"][1] = {"unknown": True, "site": f"{device['type']}:{device['op']}", "device": device}
    for instance in race["instances"]:
        instance["how"] = "device"
        instance["sides"][1] = {"unknown": True, "device": device}
