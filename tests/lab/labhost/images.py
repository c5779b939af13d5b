# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab host's own kernel and initramfs, by way of vm-images/."""

import pathlib
import subprocess
import sys

from .error import LabFailure

# The image programs: in the source tree in vm-images, and installed in /usr/lib/outrider, beside the folder lab.
HERE = pathlib.Path(__file__).resolve()
TOOLS = HERE.parents[2] if (HERE.parents[2] / "build-initramfs").exists() else HERE.parents[3] / "vm-images"
INIT = pathlib.Path(__file__).with_name("init")
DISK_MODULES = ["ata_piix", "sd_mod"]
MORE_DISKS_MODULES = ["virtio_pci", "virtio_blk"]


def _tool(*words):
    done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabFailure(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"{words[0]} failed")
    return done.stdout


def fetch(*things):
    """{"kernel.vmlinuz": path, "qemu.emulator": path, ...} for two or more things of vm-images/fetch; one thing: no prefix."""
    lines = _tool(TOOLS / "fetch", *things).splitlines()
    return dict(line.split("=", 1) for line in lines)


def initramfs(out, kernel_folder, kvm_module, more_disks=False):
    """Write the lab host's initramfs to `out`; with `more_disks` it has the drivers for those of --disk."""
    wanted = [kvm_module, *DISK_MODULES, *(MORE_DISKS_MODULES if more_disks else [])]
    modules = [word for name in wanted for word in ("--module", name)]
    _tool(TOOLS / "build-initramfs", "-o", out, "--kernel-dir", kernel_folder, "--init", INIT, "--unsigned", *modules)


def libraries(programs):
    """Absolute paths of all the shared libraries the programs need."""
    sys.path.insert(0, str(TOOLS))
    from images import error, programs as elf  # noqa: PLC0415, found only through the line above
    try:
        return sorted({path for program in programs for path in elf.libraries(program)})
    except error.Failure as failure:
        raise LabFailure(str(failure)) from failure
