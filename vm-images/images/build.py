# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel built from Debian's source with a configuration of few options, into the cache, with what it cost to build."""

import hashlib
import json
import os
import pathlib
import re
import resource
import subprocess
import time

from . import cache, source
from .apt import command
from .error import Failure

OPTION = re.compile(r"CONFIG_[A-Z0-9_]+=\S+\Z")


def options(path, more):
    """The options that the file has, and more of them, the later ones before the earlier ones. Lines CONFIG_NAME=VALUE."""
    try:
        text = pathlib.Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"cannot read {path}: {getattr(error, 'strerror', None) or 'not ASCII'}") from error
    lines = [line.strip() for line in text.splitlines()]
    wanted = [line for line in lines if line and not line.startswith("#")] + list(more)
    for line in wanted:
        if not OPTION.match(line):
            raise Failure(f"'{line}' is not an option; give CONFIG_NAME=VALUE")
    return dict(line.split("=", 1) for line in wanted)


class Builder:
    def __init__(self, tree, folder, jobs):
        self.tree, self.folder, self.jobs = tree, folder, jobs
        self.log = folder / "log"

    def make(self, *targets):
        # The same inputs make the same kernel, on any host, for any user, at any time.
        fixed = {"MAKEFLAGS": "", "KBUILD_BUILD_TIMESTAMP": "1970-01-01", "KBUILD_BUILD_USER": "outrider", "KBUILD_BUILD_HOST": "outrider"}
        words = ["make", "-s", "-C", str(self.tree), f"O={self.folder}/tree", f"-j{self.jobs}", *targets]
        with open(self.log, "a", encoding="utf-8") as log:
            done = subprocess.run(words, env=dict(os.environ, LC_ALL="C.UTF-8", **fixed), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                  check=False)
        if done.returncode:
            said = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
            causes = [line for line in said if re.search(r"error|not found|No such file|Error", line)] or said or ["no message"]
            raise Failure(f"the kernel does not build: {causes[0].strip()}")

    def configure(self, wanted):
        (self.folder / "tree").mkdir()
        self.make("allnoconfig")
        config = self.folder / "tree/.config"
        names = "|".join(map(re.escape, wanted))
        rest = re.sub(rf"^(?:# )?(?:{names})(?:=| is not set).*\n", "", config.read_text(encoding="ascii"), flags=re.MULTILINE)
        config.write_text(rest + "".join(f"{name}={value}\n" for name, value in wanted.items()), encoding="ascii")
        self.make("olddefconfig")
        taken = set(config.read_text(encoding="ascii").splitlines())
        refused = [f"{name}={value}" for name, value in wanted.items() if f"{name}={value}" not in taken]
        if refused:
            raise Failure(f"this kernel, or this machine's compiler, does not take {', '.join(refused)}")

    def build(self):
        """Returns what it cost, in seconds of the clock and of CPU time."""
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        self.make("bzImage", "modules")
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {"jobs": self.jobs, "wall_s": round(time.monotonic() - began, 1),
                "cpu_s": round(spent.ru_utime + spent.ru_stime - before.ru_utime - before.ru_stime, 1)}


def _fill(scratch, tree, wanted, jobs):
    builder = Builder(tree, scratch, jobs)
    builder.configure(wanted)
    cost = builder.build()
    (scratch / "cost.json").write_text(json.dumps(cost) + "\n", encoding="ascii")
    # What modules are built against stays.
    command(["find", str(scratch / "tree"), "-name", "*.o", "-not", "-path", "*/scripts/*", "-not", "-path", "*/tools/*", "-delete"])
    (scratch / "tree/.tmp_vmlinux.btf").unlink(missing_ok=True)


def fetch(config, more=(), patches=(), jobs=None):
    """
    The kernel with the options of the file `config` and with `more` ones; what they do not say is as small as can be. The files `patches` are
    applied to its source. Returns the paths
    folder, vmlinuz, vmlinux (with DWARF where the options have it), tree (which modules are built against) and cost: JSON with wall_s,
    cpu_s and jobs of the build.
    """
    wanted = options(config, more)
    got = source.fetch()
    tree = source.patched(got, patches) if patches else got["tree"]
    compiler = command([os.environ.get("CC", "gcc"), "--version"]).splitlines()[0]
    key = json.dumps([compiler, sorted(wanted.items()), *([tree.parent.name] if patches else [])]).encode()
    name = f"linux_{got['version']}_{hashlib.sha256(key).hexdigest()[:16]}"
    folder = cache.entry(name, lambda scratch: _fill(scratch, tree, wanted, jobs or os.cpu_count()))
    return {"folder": folder, "vmlinuz": folder / "tree/arch/x86/boot/bzImage", "vmlinux": folder / "tree/vmlinux", "tree": folder / "tree",
            "cost": folder / "cost.json"}
