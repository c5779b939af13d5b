#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long it takes until sampling and naming begin: start.py FOLDER BUILD, the folder of tests/bench/start-in-lab.sh and what make has built."""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

from figures import Figures, ratio

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A report of the stock kernel's that the documents have too.
REPORT = ROOT / "docs/evaluation/example.json"


def said(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def cpu(*command):
    """The CPU seconds of a command, in user space and in the kernel."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def pool(build, rounds, debug):
    """What choosing the first points costs, where functions are decoded when the choice falls on them, and all functions beside it."""
    runs = []
    for _ in range(rounds):
        lines = said(build / "pool_start", debug["system_map"], debug["vmlinux"]).splitlines()
        runs.append({name: float(value) for name, value in map(str.split, lines)})
    first = [run["functions"] + run["first-points"] for run in runs]
    whole = [run["functions"] + run["first-points"] + run["the-rest"] for run in runs]
    return [["functions of the kernel", round(runs[0]["functions-number"]), ""],
            ["sites in them", round(runs[0]["sites-number"]), ""],
            ["CPU time until the first 512 points are chosen, relative to the time for all sites", ratio(a / b for a, b in zip(first, whole, strict=True)),
             f"{1e3 * statistics.median(first):.0f} ms of {1e3 * statistics.median(whole):.0f} ms"]]


def naming(build, rounds, debug):
    """What one race costs to name, in a process that has not read the debug file before, beside eu-addr2line for its two sides' addresses."""
    race = said("jq", "-r", ".races[0].id", REPORT).strip()
    sites = said("jq", "-r", ".races[0].sides[].site", REPORT).split()
    with tempfile.TemporaryDirectory() as empty:
        # A folder without debug files, to count what a report costs without them.
        without = [cpu(build / "outrider", "report", "--quiet", "--symbols", empty, "--race", race, REPORT) for _ in range(rounds)]
    named = [cpu(build / "outrider", "report", "--quiet", "--symbols", debug["vmlinux"], "--race", race, REPORT) for _ in range(rounds)]
    other = [cpu("eu-addr2line", "-i", "-f", "-e", debug["vmlinux"], *sites) for _ in range(rounds)]
    text = said(build / "outrider", "report", "--quiet", "--symbols", debug["vmlinux"], "--race", race, REPORT)
    assert ".c:" in text, "the race was not named"
    return [["CPU time of a report of one race with a debug file of 590 MB, relative to one without debug files",
             ratio(a / b for a, b in zip(named, without, strict=True)), f"{1e3 * statistics.median(named):.0f} ms"],
            ["the same, relative to eu-addr2line for the race's two places", ratio(a / b for a, b in zip(named, other, strict=True)),
             f"{1e3 * statistics.median(other):.0f} ms"]]


def boots(folder):
    took = dict(line.split() for line in (folder / "boots").read_text(encoding="utf-8").splitlines())
    return [[f"time of a boot with {what}, relative to a boot without a detector", f"{float(took[arm]) / float(took['bare']):.2f}", ""]
            for arm, what in (("waiting", "a detector that waits for a module"), ("sampling", "a detector that samples the whole kernel"))]


def main():
    folder, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    rounds = int(os.environ["ROUNDS"])
    debug = dict(line.split("=", 1) for line in said(ROOT / "vm-images/fetch", "kernel-dbg").splitlines())
    figures = Figures("start", rounds=rounds, cpus=os.environ["CPUS"], lab_cpus=os.environ["LAB_CPUS"])
    figures.table("times", ["what", "figure", "here"], [*pool(build, rounds, debug), *naming(build, rounds, debug), *boots(folder)])
    figures.write()


main()
