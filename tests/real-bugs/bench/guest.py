# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a bug's guest, and samples it in a lab."""

import os
import pathlib
import shutil
import subprocess

from .bug import LOCKS, Unusable, regex

HERE = pathlib.Path(__file__).resolve().parents[1]
TREE = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", TREE / "build"))
COMPILE = ["gcc", "-std=c17", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-pthread"]
LAB_DIED = 125  # status of tests/lab/run
TRIES = 2
# KCSAN watches 40 times as many accesses as it does by itself, and each of them 12 times as long, since a guest in a lab is slow.
KCSAN_OFTEN = "kcsan.skip_watch=100 kcsan.udelay_task=1000 kcsan.udelay_interrupt=250"
BOOT_S = 3600  # most seconds that a lab takes to boot and to boot its guest: many times what it ever took


def output(words):
    """What this command prints. Unusable if it fails."""
    done = subprocess.run(words, cwd=TREE, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unusable(f"{words[0]} failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    return done.stdout.strip()


def _built(kernel, key):
    """The kernel that is built here from Debian's source. What is not the fixed one has the bugs of all put-back.patch."""
    words = ["vm-images/build-kernel", "--print", key]
    lines = (HERE / "built.config").read_text().splitlines() + (["CONFIG_KCSAN=y"] if kernel.startswith("kcsan") else [])
    for line in lines:
        if line.startswith("CONFIG_"):
            words += ["--set", line]
    for patch in sorted(HERE.glob("*/put-back.patch")) if kernel != "fixed" else []:
        words += ["--patch", str(patch)]
    return output([*words, "vm-images/small-guest.config"])


def _kernel(one, kernel, key):
    if one.is_built(kernel):
        return _built(kernel, key)
    package, suite = one.package(kernel)
    return output(["vm-images/fetch", "kernel", "--suite", suite, "--package", package, "--print", key])


def build(one, kernel, work, contents):
    """The trigger, and the guest's kernel and initramfs with these contents, too: work/vmlinuz, work/initrd.img."""
    output([*COMPILE, "-o", str(work / "trigger"), str(one.folder / "trigger.c")])
    shutil.copyfile(_kernel(one, kernel, "vmlinuz"), work / "vmlinuz")
    words = ["vm-images/build-initramfs", "-o", str(work / "initrd.img"), *contents, "--file", f"{work / 'trigger'}:/trigger"]
    if not one.is_built(kernel):
        words += ["--kernel-dir", _kernel(one, kernel, "folder"), "--unsigned"]
    for name in one.modules if not one.is_built(kernel) else []:
        words += ["--module", name]
    for place, source in one.files.items():
        words += ["--file", f"{one.folder / source}:{place}"]
    output(words)


def _looks(one, kernel, options):
    """Options of outrider run: what this arm looks for races with."""
    if kernel.startswith("kcsan"):
        return ["--no-detect"]
    return [*_what_to_sample(one), *one.options, *options.options.split()]


def _append(one, kernel):
    """More of the guest's command line, after "quiet". KCSAN prints its call stacks with the default level, 4, which "quiet" hides."""
    peer = "loglevel=5" if kernel.startswith("kcsan") else ""
    return f"printk.time=1 {one.append} {peer} {KCSAN_OFTEN if kernel == 'kcsan-often' else ''}"


def _what_to_sample(one):
    return ["--sample", ",".join(one.sample)] if one.sample else ["--module", ",".join(one.module)]


def _run(one, kernel, work, seeds, options):
    """Run these seeds in one lab. Returns the seeds that are still to be run: those of a lab that died, or of a guest that died of it."""
    words = ["--memory", f"{one.memory}M", *_looks(one, kernel, options)]
    settings = {"SEEDS": " ".join(seeds), "SECONDS_EACH": options.seconds, "UNTIL_FOUND": int(options.until_found),
                "FIRST": one.regex(0), "SECOND": one.regex(1), "LOCKS": regex(LOCKS), "OPTIONS": " ".join(words), "APPEND": _append(one, kernel)}
    lab = ["tests/lab/run", "--kvm", options.kvm or output(["tests/lab/pick", "--outrider", str(BUILD / "outrider")]),
           "--timeout", str((BOOT_S + 10 * options.seconds) * len(seeds)), "--bin", str(BUILD / "outrider"), "--out", str(work / "new"),
           "--console", str(work / "lab.console")]
    for file in (work / "vmlinuz", work / "initrd.img", HERE / "found.awk", HERE / "in-lab.sh", TREE / "tests/integration/told.sh"):
        lab += ["--file", str(file)]
    for name, value in settings.items():
        lab += ["--env", f"{name}={value}"]
    shutil.rmtree(work / "new", ignore_errors=True)
    with open(work / "lab.log", "w", encoding="utf-8") as log:
        done = subprocess.run([*lab, "--", "sh", "in-lab.sh"], cwd=TREE, stdout=log, stderr=subprocess.STDOUT, check=False)
    if done.returncode not in (0, LAB_DIED):
        raise Unusable(f"{one.name}: the lab ended with status {done.returncode}; {work / 'lab.log'} says why")
    left = []
    for seed in seeds:
        errors = work / "new" / f"{seed}.err"
        if (work / "new" / f"{seed}.times").exists() and "triple fault" not in errors.read_text(errors="replace"):
            for file in (work / "new").glob(f"{seed}.*"):
                file.rename(work / file.name)
        else:
            left.append(seed)
    return left


def sample(one, kernel, options):
    """Run the seeds whose results are not there yet. Returns the folder with the results."""
    work = options.out.resolve() / f"{one.name}-{kernel}"
    work.mkdir(parents=True, exist_ok=True)
    seeds = [seed for seed in options.seeds.split(",") if not (work / f"{seed}.times").exists()]
    if seeds:
        build(one, kernel, work, ["--init", str(HERE / "guest-init")])
    # Some labs die, and so does one guest in some hundreds in a lab, with no detector in it too (docs/labs.md).
    for _ in range(TRIES):
        seeds = _run(one, kernel, work, seeds, options) if seeds else []
    if seeds:
        raise Unusable(f"{one.name}: {TRIES} labs died in turn; {work / 'lab.log'} has the last one")
    return work
