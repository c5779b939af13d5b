# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's stock kernels, the newest cloud kernel or a named package, and their debug symbols, unpacked into the cache."""

import os
import pathlib
import re
import subprocess

from . import cache, foreign
from .apt import LISTS_MAX_AGE, Apt, check_suite, command, lists_state, unpack
from .error import Failure

LIBRARIES = ["libc6", "libelf1t64"]  # of the build's tools
TOOLS = ["tools/objtool/objtool.real-x86", "scripts/mod/modpost.real-lsb-64"]  # those of them that a module's build on x86-64 starts
METAPACKAGE = "linux-image-cloud-amd64"
PACKAGE = re.compile(r"linux-image-[0-9][a-z0-9.+-]*-amd64\Z")


def resolve(suite=None, package=None):
    """
    [package, version] of the newest stock kernel, or of the named package. apt takes a second to answer, so it is asked again only
    when the answer may have changed.
    """
    check_suite(suite)
    if package is None:
        return cache.remember(f"newest-kernel-{suite or 'default'}", lists_state(), LISTS_MAX_AGE, lambda: _ask(suite))
    if not PACKAGE.match(package):
        raise Failure(f"'{package}' is not a package of a kernel; for example linux-image-5.10.0-32-amd64")
    return cache.remember(f"newest-{package}-{suite or 'default'}", lists_state(), LISTS_MAX_AGE,
                          lambda: [package, Apt(suite).field(package, "Version")])


def _ask(suite):
    """The kernel package that the metapackage depends on."""
    found = named("image", Apt(suite).field(METAPACKAGE, "Depends"))
    if not found:
        raise Failure(f"{METAPACKAGE} depends on no kernel package; is this apt's amd64 list?")
    return found[0]


def named(part, depends):
    """[package, version] of each package linux-PART-RELEASE, for example linux-image-6.1.0-50-cloud-amd64, in a Depends field."""
    return [list(pair) for pair in re.findall(rf"\b(linux-(?:{part})-[0-9][a-z0-9.+-]*-amd64) \(= ([^\s)]+)\)", depends)]


def _parts(apt, package, version):
    """The packages, for download(), that hold the kernel. Since 7.2 linux-image-RELEASE is empty and depends on those that do."""
    parts = [[package, version], *named("binary|modules|base", apt.field(package, "Depends"))]
    return [f"{name}={its}" for name, its in parts]


def _merge_usr(folder):
    """Link lib to usr/lib: depmod and others look in lib/modules, and packages since trixie have usr/lib/modules."""
    if not (folder / "lib").exists() and (folder / "usr/lib/modules").is_dir():
        (folder / "lib").symlink_to("usr/lib")


def fetch(suite=None, package=None):
    """
    Get the kernel, as resolve() finds it. Returns its version and the paths folder, vmlinuz and modules (with modules.dep). Its System.map is a stub;
    fetch_debug() gets a real one.
    """
    package, version = resolve(suite, package)

    def build(scratch):
        apt = Apt(suite)
        unpack(apt.download(_parts(apt, package, version), scratch), scratch)
        _merge_usr(scratch)
        command(["/sbin/depmod", "-b", str(scratch), package.removeprefix("linux-image-")])

    return describe(cache.entry(f"{package}_{version}", build))


def describe(folder):
    """The version and the paths of an unpacked kernel package. Failure when a file is not there."""
    folder = pathlib.Path(folder)
    # Debian's kernels since 7.2 lie among their modules.
    images = sorted([*folder.glob("boot/vmlinuz-*"), *folder.glob("lib/modules/*/vmlinuz")])
    if len(images) != 1:
        raise Failure(f"{folder} does not hold one kernel; delete it and try again")
    release = images[0].parent.name if images[0].name == "vmlinuz" else images[0].name.removeprefix("vmlinuz-")
    paths = {"version": release, "folder": folder, "vmlinuz": images[0], "modules": folder / "lib/modules" / release}
    if not (paths["modules"] / "modules.dep").is_file():
        raise Failure(f"{paths['modules']} has no modules.dep; delete {folder} and try again")
    return paths


def _relocate(folder, release, home):
    """Debian's headers name each other by absolute path: point them to `home`, the folder that `folder` will be."""
    makefile = folder / f"usr/src/linux-headers-{release}/Makefile"
    makefile.write_text(makefile.read_text().replace("/usr/src/", f"{home}/usr/src/"))


def _starts(program):
    """Whether the machine's libraries are new enough for the program. `ldd` fails, or says so, if they are not."""
    done = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    return done.returncode == 0 and "not found" not in done.stdout + done.stderr


def _with_libraries(suite, kbuild, folder):
    """Let the tools in the folder `kbuild` that the machine's libraries are too old for start with libraries of their own, in folder/libraries."""
    strangers = [kbuild / tool for tool in TOOLS if (kbuild / tool).exists() and not _starts(kbuild / tool)]
    if not strangers:
        return
    root = folder / "libraries"
    root.mkdir()
    apt = Apt(suite, bare=True)
    unpack(apt.download(apt.missing_for(LIBRARIES), root), root)
    for tool in strangers:
        program = tool.rename(tool.with_name(f"{tool.name}.program"))
        starter = foreign.write_starter(root, f"start-{tool.name}", os.path.relpath(program, root))
        tool.symlink_to(os.path.relpath(starter, tool.parent))


def fetch_headers(suite=None, package=None):
    """
    Get the headers and the build tools of the kernel that resolve() finds, to build modules for it with this machine's compiler. Returns its version
    and the paths folder and tree, which is the tree to build against.
    """
    package, version = resolve(suite, package)
    release = package.removeprefix("linux-image-")
    headers = f"linux-headers-{release}"
    name = f"{headers}_{version}"

    def build(scratch):
        apt = Apt(suite)
        needed = apt.field(headers, "Depends")
        # The configuration is in linux-base-RELEASE since 7.2, and the headers have a link to it.
        names = re.findall(r"\b(linux-(?:headers|kbuild|base)-[0-9][a-z0-9.+-]*)", needed)
        unpack(apt.download([f"{headers}={version}", *names], scratch), scratch)
        _merge_usr(scratch)
        _relocate(scratch, release, cache.root() / name)
        for kbuild in scratch.glob("usr/lib/linux-kbuild-*"):
            _with_libraries(suite, kbuild, scratch)

    folder = cache.entry(name, build)
    return {"version": release, "folder": folder, "tree": folder / "usr/src" / headers}


def fetch_debug(suite=None, package=None):
    """
    Get the kernel's symbols out of its -dbg package, which is a download of 283 MB for 6.1. Returns its version and the paths
    folder (laid out as /usr/lib/debug), vmlinux and modules (both with DWARF), and system_map.
    """
    package, version = resolve(suite, package)
    release = package.removeprefix("linux-image-")
    root = "./usr/lib/debug"
    wanted = [f"{root}/boot/vmlinux-{release}", f"{root}/boot/System.map-{release}", f"{root}/lib/modules/{release}/kernel"]

    def build(scratch):
        archive, = Apt(suite).download([f"{package}-dbg={version}"], scratch)
        with subprocess.Popen(["dpkg", "--fsys-tarfile", str(archive)], stdout=subprocess.PIPE) as source:
            done = subprocess.run(["tar", "-x", "--strip-components=4", "-C", str(scratch), *wanted],
                                  stdin=source.stdout, capture_output=True, text=True, check=False)
        archive.unlink()
        if done.returncode:
            raise Failure(f"{archive.name} does not hold {wanted[0]}: {done.stderr.strip().splitlines()[-1]}")

    folder = cache.entry(f"{package}-dbg-root_{version}", build)
    return {"version": release, "folder": folder, "vmlinux": folder / f"boot/vmlinux-{release}",
            "modules": folder / "lib/modules" / release, "system_map": folder / f"boot/System.map-{release}"}
