# SPDX-License-Identifier: GPL-2.0-or-later
"""
A Debian system on a disk of its own: an ext4 file system on the whole disk (root=/dev/vda), and the initramfs that finds it. Made of
packages by mmdebstrap, and of the tar archive that it writes by mke2fs: nothing is mounted, so no root is needed where mmdebstrap
needs none. The same packages, modules and recipe give the same bytes.
"""

import hashlib
import io
import os
import pathlib
import re
import shlex
import subprocess
import tarfile
import uuid

from . import apt, cache, initramfs, mke2fs
from .error import Failure

RECIPE = pathlib.Path(__file__).resolve().parents[1] / "rootdisk"
EPOCH = 1686355200  # 2023-06-10, when Debian 12 came out; nothing in the image is younger than what it was made of or than this
MINBASE = ["?essential", "?priority(required)"]  # apt's patterns for what mmdebstrap's variant minbase installs
PACKAGES = [
    # a system that boots, has a network and can install more
    "systemd", "systemd-sysv", "libpam-systemd", "udev", "dbus", "kmod", "iproute2", "iputils-ping", "ca-certificates", "procps",
    # file systems, and what checks them
    "e2fsprogs", "xfsprogs",
    # workloads
    "stress-ng", "fio", "rt-tests", "iperf3",
]
UNITS = ["systemd-networkd.service"]
# What would start by itself at some time and be taken for the workload, wants what the machine does not have, or takes an emulated CPU
# seconds of each boot and is of no use to a guest that is thrown away.
MASKED = ["apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "e2scrub_reap.service",
          "fstrim.timer", "getty@tty1.service", "systemd-networkd-wait-online.service", "systemd-binfmt.service",
          "proc-sys-fs-binfmt_misc.automount", "systemd-machine-id-commit.service", "systemd-pstore.service", "modprobe@drm.service",
          "modprobe@dm_mod.service", "modprobe@efi_pstore.service", "modprobe@loop.service", "dev-hugepages.mount"]
# Run in the new root. A login may take an emulated CPU longer than any limit. The servers of this machine's apt belong to this machine.
# Manual pages and the like are not missed. The folder of a journal on disk, which is not used, has another owner when mmdebstrap is run
# without root.
SETTLE = f"""set -e
passwd -q -d root
sed -i 's/^LOGIN_TIMEOUT.*/LOGIN_TIMEOUT 0/' /etc/login.defs
systemctl -q enable {' '.join(UNITS)}
systemctl -q mask {' '.join(MASKED)}
rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /usr/share/doc/* /usr/share/man/* /usr/share/locale/* /boot/*
rm -f /etc/passwd- /etc/shadow- /etc/group- /etc/gshadow- /var/log/lastlog /var/log/faillog
rmdir /var/log/journal
: >/etc/apt/sources.list
"""
# Spelled out, since the machine's /etc/mke2fs.conf must not matter: what Linux 5.10 and the image's own e2fsck know.
FEATURES = ("none,has_journal,ext_attr,resize_inode,dir_index,filetype,extent,64bit,flex_bg,sparse_super,large_file,huge_file,"
            "dir_nlink,extra_isize,metadata_csum")
DRIVERS = ["virtio_pci", "virtio_blk", "ext4"]
JOURNAL = 64   # MiB
SMALLEST, LARGEST = 1, 1024  # GiB, of a disk


def build(modules, extra, size):
    """
    The cache folder that holds disk.img (of `size` GiB, sparse, read-only) and initrd.img for the kernel with these `modules`
    (modules.Modules), and packages, the list of what is in it. `extra` are names of packages to be had besides.
    """
    names = sorted({*PACKAGES, *extra})
    for name in extra:
        if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", name):
            raise Failure(f"'{name}' is no name of a Debian package")
    try:
        return _build(names, modules, size, apt.LISTS_MAX_AGE)
    except _OtherVersions:
        return _build(names, modules, size, 0)


class _OtherVersions(Failure):
    """Other packages were installed than those that the cache entry's name was made from: most likely, the lists are old."""


def _build(names, modules, size, age):
    """build(), with package lists that are younger than `age` seconds."""
    everything = [*MINBASE, *names]
    versions = cache.remember(f"rootdisk-packages-{_digest(everything)}", [apt.lists_state(), everything], age,
                              lambda: apt.Apt(bare=True, age=age).missing_for(everything))
    program, maker = mke2fs.fetch()
    key = _digest([versions, _recipe(), modules.release, modules.digest(), maker, size])

    def fill(scratch):
        archive = scratch / "overlay.tar"
        _overlay(archive, modules)
        (scratch / "root.tar").touch()
        _bootstrap(scratch / "root.tar", archive, names)
        others = sorted({*_installed(scratch / "root.tar")} ^ {*versions})
        if others:
            raise _OtherVersions(f"mmdebstrap installed other packages than apt's lists name: {' '.join(others[:4])}; if Debian has just "
                                 "published an update, run it again")
        _file_system(scratch / "disk.img", scratch / "root.tar", program, key, size)
        with open(scratch / "initrd.img", "wb") as out:
            _initramfs(modules).write(out)
        (scratch / "packages").write_text("".join(f"{version}\n" for version in sorted(versions)))
        for name in ("root.tar", "overlay.tar"):
            (scratch / name).unlink()
        (scratch / "disk.img").chmod(0o444)

    return cache.entry(f"rootdisk_{modules.release}_{key}", fill)


def _digest(what):
    return hashlib.sha256(repr(what).encode()).hexdigest()[:16]


def _recipe():
    """All of this tree that decides what is in the image."""
    files = [pathlib.Path(__file__), *sorted(path for path in RECIPE.rglob("*") if path.is_file())]
    return [(path.name, path.read_bytes()) for path in files]


def _overlay(archive, modules):
    """A tar of the recipe's files and of the kernel's modules, whatever owners, modes and times these have on this machine."""
    with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as tar:
        tree = RECIPE / "tree"
        for path in sorted(tree.rglob("*")):
            if path.is_file():
                _add(tar, str(path.relative_to(tree)), path.read_bytes())
        # In /usr/lib, since /lib is a link to it.
        for name in modules.files():
            _add(tar, f"usr/lib/modules/{modules.release}/{name}", modules.read(name))


def _add(tar, place, data):
    entry = tarfile.TarInfo(place)
    entry.size, entry.mode, entry.mtime = len(data), 0o644, EPOCH
    tar.addfile(entry, io.BytesIO(data))


def _bootstrap(root, overlay, names):
    """Write the tar archive `root` of a new Debian root. The servers and suites are those of this machine's apt."""
    sources = "".join(f"deb [signed-by={apt.KEYRING}] {site} {suite} main\n" for suite, site in apt.machine_sources().items())
    words = ["mmdebstrap", "--quiet", "--variant=minbase", "--format=tar", f"--include={','.join(names)}",
             '--aptopt=Acquire::Languages "none"', f"--customize-hook=tar-in {shlex.quote(str(overlay))} /",
             f"--customize-hook=chroot \"$1\" sh -c {shlex.quote(SETTLE)}",
             _codename(), str(root), "-"]
    environment = dict(os.environ, LC_ALL="C.UTF-8", SOURCE_DATE_EPOCH=str(EPOCH), PATH=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    try:
        done = subprocess.run(words, input=sources, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise Failure("mmdebstrap is not installed; run `make deps-check`") from error
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("E: ")] or done.stderr.splitlines() or ["no message"]
        raise Failure(f"mmdebstrap failed: {said[0].removeprefix('E: ').strip()}")


def _installed(root):
    """What is installed in the tar archive `root`: words name=version."""
    try:
        with tarfile.open(root) as tar:
            status = tar.extractfile("./var/lib/dpkg/status").read().decode()
    except (tarfile.TarError, KeyError, AttributeError) as error:
        raise Failure(f"mmdebstrap has written no root that dpkg knows: {error}") from error
    fields = [dict(re.findall(r"^(Package|Version): (\S+)$", entry, re.MULTILINE)) for entry in status.split("\n\n")]
    return [f"{field['Package']}={field['Version']}" for field in fields if len(field) == 2]


def _codename():
    """The release of this machine's apt: the shortest of bookworm, bookworm-updates, bookworm-security."""
    return min(apt.machine_sources(), key=len)


def _file_system(disk, archive, program, key, size):
    """An ext4 file system with all of the archive, on a sparse file of `size` GiB."""
    # Whatever is random in a file system comes from the key instead: the same content has the same UUID.
    identity = uuid.uuid5(uuid.NAMESPACE_OID, key)
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(EPOCH), E2FSPROGS_FAKE_TIME=str(EPOCH), MKE2FS_CONFIG="/dev/null", LC_ALL="C.UTF-8")
    with open(disk, "wb") as handle:
        handle.truncate(size << 30)
    words = [program, "-q", "-F", "-t", "ext4", "-O", FEATURES, "-b", "4096", "-I", "256", "-i", "16384", "-m", "1", "-J", f"size={JOURNAL}",
             "-L", "outrider", "-U", str(identity), "-e", "remount-ro",
             "-E", f"hash_seed={identity},lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0", "-d", str(archive), str(disk)]
    done = subprocess.run([str(word) for word in words], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no message"]
        raise Failure(f"mke2fs failed: {said[-1]}")


def _initramfs(modules):
    archive = initramfs.skeleton()
    initramfs.add_busybox(archive)
    initramfs.add_modules(archive, modules, DRIVERS)
    initramfs.add_init(archive, str(RECIPE / "init"))
    return archive
