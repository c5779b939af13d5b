# SPDX-License-Identifier: GPL-2.0-or-later
"""The member `locks` of a report, as a run with --locks writes it."""

ID = "0123456789ab"
TEXT = "nic.flags: nic.cb_lock held in 412 of 418 accesses, but not in <watchdog>(), which ran at the same time as configure()"
SLAB = {"kind": "slab", "variable": None, "module": None, "cpu": None, "cache": "nics", "merged": False,
        "object": "0xffff888012345600", "object_size": 1024, "offset": 64, "type": None, "member": None}


def access(site, function, kind, held, count):
    return {"site": site, "pc": "0xffffffffc0100000", "name": "nic.flags", "kind": kind, "locked": False, "address": "0xffff888012345640",
            "size": 4, "life": 0, "memory": SLAB, "context": "task", "irqs_off": False, "preempt_off": False, "in_rcu": False,
            "held": [{"lock": lock, "no_softirq": False, "no_irq": False, "shared": False, "maybe": False} for lock in held],
            "held_overflow": False, "function": function, "operation": function, "count": count, "count_shared": count, "who": 42 + function,
            "several": False, "first_ns": 1, "last_ns": 1000}


def locks():
    """What a run with --locks records of a driver whose watchdog lacks the lock."""
    return {
        "moments": {"accesses": 418, "takes": 412, "gives": 412, "frees": 0, "lost": 0},
        "functions": ["e100:configure", "e100:<watchdog>", "kernel_function"],
        "locks": [{"name": "nic.cb_lock", "kind": "spin", "address": "0xffff888012345680", "memory": SLAB | {"offset": 128}}],
        "accesses": [access("e100:configure+0x1c", 0, "write", [0], 412), access("e100:<watchdog>+0x33", 1, "read", [], 6),
                     access("kernel_function+0x1", 2, "read", [0], 10) | {"name": "other", "address": "0xffff888012345648"}],
        "pairs": [{"a": 0, "b": 1, "count": 3}],
        "takes": [],
        "suspicions": [{"id": ID, "kind": "unprotected",
                        "sides": [{"index": 0, "site": "e100:configure+0x1c"}, {"index": 1, "site": "e100:<watchdog>+0x33"}],
                        "lock": 0, "held": 412, "total": 418, "met": True, "rank": 80, "text": TEXT,
                        "proof": {"state": "given-up", "reached": [120, 70]}}],
        "left_out": {"unpublished": 0, "per-cpu": 0, "marked": 0, "rcu": 7, "apart": 0, "maybe": 0, "handed-over": 0, "ordered": 0, "lost": 0},
    }


def two_sections(held=3):
    """A suspicion about two sections of configure(), with the watchdog's in between in `held` of 40 cases."""
    return {"id": "ba9876543210", "kind": "atomicity", "pattern": "check-then-act", "between": {"index": 1, "site": "e100:<watchdog>+0x33"},
            "by_hold": min(held, 2), "sides": [{"index": 0, "site": "e100:configure+0x1c"}, {"index": 0, "site": "e100:configure+0x1c"}], "lock": 0,
            "held": held, "total": 40, "met": True, "rank": 90, "text": "nic.flags: check-then-act in configure()",
            "proof": {"state": "none", "reached": [0, 0]}}
