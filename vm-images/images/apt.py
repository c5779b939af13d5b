# SPDX-License-Identifier: GPL-2.0-or-later
"""
Debian packages through apt, without root and without changing the machine. The machine's own package lists are used where its
suite will do. For another suite there are private lists, from the servers that the machine uses already (apt-get indextargets
names them).
"""

import os
import pathlib
import re
import shutil
import subprocess
import time

from . import cache
from .error import Failure

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
LISTS_MAX_AGE = 24 * 3600  # seconds; private lists as old as this are refreshed
ROOM_NEEDED = 1 << 30  # bytes; the largest entry, a kernel's debug symbols, takes 0.9 GB while it is made
SUITE = re.compile(r"[a-z][a-z0-9-]*\Z")


def command(words, cwd=None):
    """Run a tool of Debian's and return what it printed. When it fails, the last line that it complained of is in the Failure."""
    environment = dict(os.environ, LC_ALL="C.UTF-8", DEBIAN_FRONTEND="noninteractive")
    try:
        done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise Failure(f"{words[0]} is not installed; run `make deps`") from error
    if done.returncode:
        complaint = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        raise Failure(f"{words[0]} failed: {complaint[-1].strip()}")
    return done.stdout


def lists_state():
    """A value that changes whenever `apt-get update` or a change of sources may have changed what apt offers."""
    places = ("/var/lib/apt/lists", "/etc/apt", "/etc/apt/sources.list", "/etc/apt/sources.list.d", "/etc/apt/preferences.d")
    return [os.stat(place).st_mtime_ns if os.path.exists(place) else 0 for place in places]


def machine_sources():
    """The machine's own Debian sources: {codename-like suite: address}, for example {"bookworm": ..., "bookworm-security": ...}."""
    wanted = "$(ORIGIN)|$(LABEL)|$(RELEASE)|$(SITE)"
    sources = {}
    for line in command(["apt-get", "indextargets", "--format", wanted, "Created-By: Packages"]).splitlines():
        origin, _label, suite, site = line.split("|")
        if origin == "Debian" and SUITE.match(suite):
            sources.setdefault(suite, site)
    if not sources:
        raise Failure("apt knows no Debian package lists; run `apt-get update` as root first")
    return sources


def check_suite(suite):
    """
    Fail when `suite` is no name of a suite. The name becomes part of file names and of apt's sources, so nothing else may pass
    for one. None stands for the machine's own suite.
    """
    if suite is not None and not SUITE.match(suite):
        raise Failure(f"'{suite}' is not a Debian suite; for example bookworm-backports, bullseye, trixie")


def _site(suite, sources):
    """Of the machine's own servers the one that has `suite`. Security suites have a server of their own."""
    same_kind = [site for name, site in sources.items() if name.endswith("-security") == suite.endswith("-security")]
    return (same_kind or list(sources.values()))[0]


class Apt:
    """
    apt over some package lists. Without `suite` these are the machine's own. With `suite` they are private lists, which have that
    suite besides the machine's own. With `bare` they have that suite alone (and the suite that a -backports builds upon), as if
    nothing were installed: missing_for() then names everything down to libc. That is for programs of another release, for which
    this machine's libraries are too old. With `bare` and no `suite` they are private lists of the machine's own suites, as if nothing
    were installed: missing_for() then names all that a new root of this release has. Private lists that are `age` seconds old or older
    are refreshed.
    """

    def __init__(self, suite=None, bare=False, age=LISTS_MAX_AGE):
        check_suite(suite)
        self.age = age
        sources = machine_sources()
        self.suite = suite
        self.options = ["-o", f"APT::Default-Release={suite}"] if suite else []
        base = _site(suite or "", sources)
        if bare and not suite:
            self._private_lists("apt-bare", sources, bare)
        elif bare:
            self._private_lists(f"apt-{suite}-bare", {suite.removesuffix("-backports"): base, suite: base}, bare)
        elif suite and suite not in sources:
            self._private_lists(f"apt-{suite}", {**sources, suite: base}, bare)

    def _private_lists(self, name, sources, bare):
        folder = cache.root() / name
        for part in ("lists/partial", "archives/partial", "parts"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        options = [
            f"Dir::Etc::SourceList={folder}/sources.list", f"Dir::Etc::SourceParts={folder}/parts",
            f"Dir::State::Lists={folder}/lists", f"Dir::Cache={folder}", "Debug::NoLocking=1",
            # The cache is in the home of the user who runs this, where apt's sandbox user cannot write.
            "APT::Sandbox::User=root",
        ]
        if bare:
            (folder / "status").touch()
            options.append(f"Dir::State::status={folder}/status")
        self.options += [word for option in options for word in ("-o", option)]
        text = "".join(f"deb [signed-by={KEYRING}] {site} {suite} main\n" for suite, site in sources.items())
        with cache.lock(name):
            self._refresh(folder, text)

    def _refresh(self, folder, text):
        listing, stamp = folder / "sources.list", folder / "updated"
        fresh = stamp.exists() and time.time() - stamp.stat().st_mtime < self.age
        if fresh and listing.exists() and listing.read_text() == text:
            return
        listing.write_text(text)
        command(["apt-get", *self.options, "-q", "update"])
        # apt-get reports success even when it could fetch nothing. Old lists are good enough, but there must be some.
        if not any((folder / "lists").glob(f"*_dists_{self.suite or '*'}_*Release")):
            raise Failure(f"the package lists of {self.suite or 'Debian'} cannot be fetched; is this machine on the network?")
        stamp.write_text("")

    def field(self, package, name):
        """A control field of the newest `package` that this apt would choose. Failure when there is no such package or field."""
        text = command(["apt-cache", *self.options, "show", "--no-all-versions", package])
        for line in text.splitlines():
            if line.startswith(f"{name}: "):
                return line.split(": ", 1)[1].strip()
        raise Failure(f"package {package} has no field {name} in apt's lists; run `apt-get update` as root first")

    def missing_for(self, packages):
        """The packages, and what they need, as far as this machine lacks them: words name=version for download()."""
        plan = command(["apt-get", *self.options, "-s", "-q", "--no-install-recommends", "install", *packages])
        needed = re.findall(r"^Inst (\S+) (?:\[\S+\] )?\((\S+) ", plan, re.MULTILINE)
        return [f"{name}={version}" for name, version in needed]

    def download(self, packages, folder):
        """Fetch the packages' archives into `folder` and return their paths. apt checks them against the signed lists."""
        if shutil.disk_usage(folder).free < ROOM_NEEDED:
            raise Failure(f"less than 1 GiB free in {folder}; make room or set XDG_CACHE_HOME")
        command(["apt-get", *self.options, "-q", "-o", "APT::Sandbox::User=root", "download", *packages],
                cwd=folder)
        return sorted(pathlib.Path(folder).glob("*.deb"))


def unpack(archives, folder):
    """Unpack each archive into `folder` and delete it, so that a cache entry holds only what is used."""
    for archive in archives:
        command(["dpkg", "-x", str(archive), str(folder)])
        archive.unlink()
