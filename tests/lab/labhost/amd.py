# SPDX-License-Identifier: GPL-2.0-or-later
"""kvm_amd on the SVM that QEMU's TCG emulates: fast, one host thread a CPU."""

import os
import subprocess

from . import images

NAME = "kvm_amd in QEMU TCG"
KVM_MODULE = "kvm-amd"
CPUS = 1  # with more, the lab host or a guest dies every now and then (docs/labs.md)
MEMORY = 2048  # MiB
BOOT_LIMIT = 900  # seconds; a few on an idle machine
# Seconds. The lab's init speaks every ten seconds. A lab host in which a timer's interrupt was lost never speaks again (docs/labs.md).
STILL = 600
# Only what a console and a reproducible boot need. On a machine with much to do the timer may not tick in the moment that the kernel
# gives it to show that it works, which would be a panic. Nor may the kernel compare the TSC, which is this machine's, with the emulated
# HPET: on a busy machine it then takes the TSC for unstable, and the clocks of KVM's guests jump by half a minute (docs/labs.md). No KASLR: nothing here depends on it, and the console is easier to read.
COMMAND_LINE = "console=ttyS0,115200 quiet panic=0 nokaslr no_timer_check tsc=reliable"
# TCG carries out REP MOVSB and REP STOSB one byte at a time. A kernel whose CPU promises that they are fast copies and clears pages with
# them; without that promise it moves 8 bytes an instruction, and a guest's boot needs a third less CPU time.
CPU = "max,+svm,+npt,-erms,-fsrm,-fzrm,-fsrs"


def start(spec):
    """Boot the lab; returns (process, terminal). See lab.Spec for what `spec` holds."""
    paths = images.fetch("kernel", "qemu")
    initrd = spec.folder / "initramfs"
    images.initramfs(initrd, paths["kernel.folder"], KVM_MODULE, bool(spec.disks))
    words = [
        "setpriv", "--pdeathsig", "KILL", paths["qemu.emulator"],
        "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-monitor", "none",
        "-accel", "tcg,thread=multi", "-cpu", CPU, "-smp", str(spec.cpus), "-m", str(spec.memory),
        "-kernel", paths["kernel.vmlinuz"], "-initrd", str(initrd), "-append", f"{COMMAND_LINE} {spec.append}",
        "-serial", f"file:{spec.console}", "-serial", f"file:{spec.output}",
        *_line(spec.line), *_disk(0, spec.payload), *_disk(1, spec.results),
        *[word for number, disk in enumerate(spec.disks) for word in _more(number, disk.source)],
    ]
    with open(spec.emulator_log, "wb") as log:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=spec.folder)
    return process, None


def _line(path):
    return ["-serial", f"unix:{_escaped(os.path.abspath(path))},server=on,wait=off"] if path else []


def _disk(index, path):
    return ["-drive", f"file={_escaped(path)},format=raw,if=ide,index={index},cache=unsafe"]


def _more(number, path):
    """A disk of --disk. The lab's init finds it by its serial number. What is written goes to a temporary file that has no name."""
    return ["-drive", f"file={_escaped(os.path.abspath(path))},format=raw,if=none,id=disk{number},snapshot=on,cache=unsafe",
            "-device", f"virtio-blk-pci,drive=disk{number},serial=disk{number}"]


def _escaped(path):
    """A comma in a file name is doubled for QEMU's option parser."""
    return str(path).replace(",", ",,")
