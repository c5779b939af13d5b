# SPDX-License-Identifier: GPL-2.0-or-later
"""kvm_intel on the VT-x that Bochs emulates: exact, deterministic, slow."""

import os
import shutil
import subprocess

from . import images
from .error import LabFailure

NAME = "kvm_intel in Bochs"
KVM_MODULE = "kvm-intel"
CPUS = 2
MEMORY = 1024  # MiB
BOOT_LIMIT = 1800  # seconds; about 20 on an idle machine
STILL = None  # no limit: time goes slowly here, and no lab host has hung
IPS = 50000000  # instructions of each CPU in a virtual second
# Bochs counts one TSC tick an instruction slot, IPS a virtual second, and its CPUID claims 3.5 GHz: told the true rate, the
# kernel's delays, clocks and the clocks of its KVM guests are right; else every udelay() is 70 times too long. All CPUs
# share one counter, so it is reliable. Self-tests of unused ciphers took 15 s of each boot. Idle CPUs must halt: Bochs misses
# stores to a line that MWAIT watches, and a wake-up by such a store came only with the next timer, up to 4 s late.
COMMAND_LINE = ("console=ttyS0,115200 quiet panic=0 nokaslr idle=halt mitigations=off cryptomgr.notests "
                f"tsc_early_khz={IPS // 1000} tsc=reliable")
BIOS = "/usr/share/bochs/BIOS-bochs-latest"
VGA_BIOS = "/usr/share/bochs/VGABIOS-lgpl-latest"
ISOLINUX = "/usr/lib/ISOLINUX/isolinux.bin"
LDLINUX = "/usr/lib/syslinux/modules/bios/ldlinux.c32"

BOCHSRC = """\
cpu: model=corei7_skylake_x, count={cpus}, quantum=32, ips={ips}, reset_on_triple_fault=0, msrs="{msrs}"
memory: guest={memory}, host={memory}
romimage: file={bios}
vgaromimage: file={vga_bios}
display_library: term
boot: cdrom
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata1: enabled=1, ioaddr1=0x170, ioaddr2=0x370, irq=15
ata0-master: type=disk, path={payload}, mode=flat
ata0-slave: type=disk, path={results}, mode=flat
ata1-master: type=cdrom, path={cd}, status=inserted
com1: enabled=1, mode=file, dev={console}
com2: enabled=1, mode=file, dev={output}
clock: sync=none
log: {log}
panic: action=report
error: action=report
info: action=ignore
debug: action=ignore
"""

# MPERF and APERF, promised by this model's CPUID but not there: the kernel would fault on both at every tick. Standing still
# (all their bits ignored when written) makes it give up frequency invariance at its first look. Columns: address, type,
# reset, reserved, ignored bits, each as high and low half.
MSRS = """\
0xe7 0 0 0 0 0 0xffffffff 0xffffffff
0xe8 0 0 0 0 0 0xffffffff 0xffffffff
"""

MENU = """\
default lab
prompt 0
label lab
  kernel vmlinuz
  append initrd=initrd {command_line}
"""


def start(spec):
    """Boot the lab; returns (process, terminal). See lab.Spec for what `spec` holds."""
    if spec.disks:
        raise LabFailure("the intel lab has no room for --disk; use --kvm amd")
    if spec.line:
        raise LabFailure("the intel lab has no --line; use --kvm amd")
    for path in (BIOS, VGA_BIOS, ISOLINUX, LDLINUX):
        if not os.path.exists(path):
            raise LabFailure(f"{path} is missing; run `make deps-check`")
    paths = images.fetch("kernel")
    cd = _make_cd(spec.folder, paths, f"{COMMAND_LINE} {spec.append}")
    rc, msrs = spec.folder / "bochsrc", spec.folder / "msrs"
    rc.write_text(BOCHSRC.format(cpus=spec.cpus, ips=IPS, msrs=msrs, memory=spec.memory, bios=BIOS, vga_bios=VGA_BIOS, payload=spec.payload,
                                 results=spec.results, cd=cd, console=spec.console, output=spec.output, log=spec.emulator_log))
    msrs.write_text(MSRS)
    # Debian's build stops in its debugger first; the rc file tells it to continue.
    (spec.folder / "debugger").write_text("c\n")
    # The text display needs a terminal, though its text is thrown away.
    terminal, slave = os.openpty()
    try:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "bochs", "-q", "-f", str(rc), "-rc", str(spec.folder / "debugger")],
            stdin=slave, stdout=slave, stderr=slave, env=dict(os.environ, TERM="vt100"), cwd=spec.folder, start_new_session=True)
    finally:
        os.close(slave)
    return process, terminal


def _make_cd(folder, paths, command_line):
    """A bootable CD image: ISOLINUX, the stock kernel, the initramfs."""
    tree = folder / "cd"
    (tree / "isolinux").mkdir(parents=True)
    shutil.copy(ISOLINUX, tree / "isolinux")
    shutil.copy(LDLINUX, tree / "isolinux")
    shutil.copy(paths["vmlinuz"], tree / "isolinux/vmlinuz")
    images.initramfs(tree / "isolinux/initrd", paths["folder"], KVM_MODULE)
    (tree / "isolinux/isolinux.cfg").write_text(MENU.format(command_line=command_line))
    cd = folder / "cd.iso"
    done = subprocess.run(
        ["genisoimage", "-quiet", "-o", str(cd), "-b", "isolinux/isolinux.bin", "-c", "isolinux/boot.cat", "-no-emul-boot",
         "-boot-load-size", "4", "-boot-info-table", "-r", str(tree)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabFailure(f"genisoimage failed: {done.stderr.strip()}")
    return cd
