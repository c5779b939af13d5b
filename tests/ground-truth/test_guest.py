#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/check: about 30 s
"""The stock kernel with the agent and the module, under plain QEMU and without Outrider: every case runs on both sides, with a
disk and an entropy device, the guest's debugging works, and the kernel has nothing to complain of. What differs with Outrider is then Outrider's.

Wants $OUTRIDER_BUILD/guest-agent and $OUTRIDER_BUILD/outrider_gt.ko."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("OUTRIDER_BUILD", os.path.join(TREE, "build"))
BACKTRACE = "sh:echo l >/proc/sysrq-trigger"  # a call trace in the kernel log
# In order, with the status each must end with.
WORKLOADS = [("modules", 0), ("gt:all:0.5", 0), ("debug", 0), ("loop:0.5", 0), ("busy:5", 0), ("gtcase:rwrace:0.1:3600", 0), ("gtcase:spinlock:0.1:3600", 0),
             ("busy:0.1:3600", 0), ("wait:3600", 0), ("gtcase:rwrace:0.1:0.1", 1), ("gt:nosuch", 2), ("dmesg", 0), (BACKTRACE, 0),
             ("dmesg", 1), ("nosuch", 127)]
# What the console says when one of the workloads has begun.
ANSWERS = {"gtcase:rwrace:0.1:3600": "rwrace", "gtcase:spinlock:0.1:3600": "spinlock", "busy:0.1:3600": "busy", "wait:3600": "wait"}
DISK_BYTES = 8 << 20
# On a machine with much to do the timer of an emulated guest may not tick in the moment that the kernel gives it.
NO_TIMER_CHECK = "no_timer_check"
LIMIT = 1800  # seconds; some 30 on an idle machine
CASE = re.compile(r"gt: case (\w+): \w+=(\d+) \w+=(\d+)")
START = re.compile(r"outrider-agent: (.+): start")
DONE = re.compile(r"outrider-agent: (.+): done rc=(\d+)")


def tool(*words):
    return subprocess.run([sys.executable, *words], check=True, capture_output=True, text=True).stdout


def boot():
    """The console of a guest that ran the workloads."""
    lines = tool(os.path.join(TREE, "vm-images/fetch"), "kernel", "qemu").splitlines()
    paths = dict(line.split("=", 1) for line in lines)
    with tempfile.TemporaryDirectory() as folder:
        initrd = os.path.join(folder, "initrd")
        tool(os.path.join(TREE, "vm-images/build-initramfs"), "-o", initrd, "--init", os.path.join(BUILD, "guest-agent"),
             "--file", os.path.join(BUILD, "outrider_gt.ko") + ":/outrider_gt.ko", "--kernel-dir", paths["kernel.folder"],
             "--module", "virtio_pci", "--module", "virtio_blk")
        disk = os.path.join(folder, "disk")
        with open(disk, "wb") as file:
            file.truncate(DISK_BYTES)
        command = ["setpriv", "--pdeathsig", "KILL", paths["qemu.emulator"],
                   "-accel", "tcg,thread=multi", "-smp", "2", "-m", "512", "-kernel", paths["kernel.vmlinuz"],
                   "-initrd", initrd, "-append", f"console=ttyS0 quiet {NO_TIMER_CHECK} -- " + " ".join(f'"{word}"' for word, _ in WORKLOADS),
                   "-drive", f"file={disk},format=raw,if=none,id=disk", "-device", "virtio-blk-pci,drive=disk", "-device", "virtio-rng-pci",
                   "-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio"]
        return converse(command)


def converse(command):
    """What the guest says, which is answered."""
    said = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as guest:
        limit = threading.Timer(LIMIT, guest.kill)
        limit.start()
        for line in guest.stdout:
            said.append(line)
            start = START.search(line)
            if start and start.group(1) in ANSWERS:
                guest.stdin.write(f"enough {ANSWERS[start.group(1)]}\n")
                guest.stdin.flush()
        limit.cancel()
    return "".join(said)


class GuestTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.console = boot()

    def test_every_case_ran_on_both_sides(self):
        with open(os.path.join(HERE, "manifest.json"), encoding="utf-8") as f:
            names = {case["name"] for case in json.load(f)["cases"]}
        rounds = {name: (int(a), int(b)) for name, a, b in CASE.findall(self.console)}
        self.assertEqual(set(rounds), names, self.console)
        for name, sides in rounds.items():
            self.assertGreater(min(sides), 0, name)

    def test_workloads_end_as_they_should(self):
        status = [(word, int(rc)) for word, rc in DONE.findall(self.console)]
        self.assertEqual(status, WORKLOADS, self.console)
        self.assertIn("outrider-agent: end workloads=15 failed=4", self.console)
        self.assertIn('the console did not say "enough rwrace" within 0.1 seconds', self.console)

    def test_the_kernel_log_is_clean_until_it_is_not(self):
        trouble = [int(count) for count in re.findall(r"dmesg: lines=\d+ trouble=(\d+)", self.console)]
        self.assertEqual(len(trouble), 2, self.console)
        self.assertEqual(trouble[0], 0)
        self.assertGreater(trouble[1], 0)

    def test_it_powered_off(self):
        self.assertIn("reboot: Power down", self.console.replace("\r", "") + "\n")


if __name__ == "__main__":
    for needed in ("guest-agent", "outrider_gt.ko"):
        if not os.path.exists(os.path.join(BUILD, needed)):
            sys.exit(f"test_guest: no {os.path.join(BUILD, needed)}; run make check")
    unittest.main()
