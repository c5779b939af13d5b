# SPDX-License-Identifier: GPL-2.0-or-later
"""A bug of the bench, as its bug.json describes it."""

import dataclasses
import fnmatch
import json
import pathlib

KERNELS = {"cloud": "-cloud", "generic": ""}  # Debian's stock kernels, and what their packages are called
BUILT = "built"  # instead of these: from Debian's 6.1 source, with put-back.patch of each such bug
ARMS = ["buggy", "fixed", "kcsan", "kcsan-often"]  # the last two: the built kernel with the bugs and with CONFIG_KCSAN, without Outrider
# Functions that access a lock's word. Callers of a bug's sides still meet there in the fixed kernel, whose fix may be that very lock.
LOCKS = ["_raw_*lock*", "*queued_*lock*", "*mutex_*lock*", "*rwsem_*", "down_*", "up_*", "osq_*"]


class Unusable(Exception):
    """An input of the bench cannot be used; the text says which, and what to do."""


@dataclasses.dataclass
class Bug:
    folder: pathlib.Path
    title: str
    fix: str  # the commit of the mainline kernel; "": not known, and the stable release has to do
    fixed_in: str  # the stable release that has the fix
    kernel: str  # a key of KERNELS, or BUILT
    sides: list  # two lists of globs: functions of one side, and of the other
    harm: str
    modules: list = dataclasses.field(default_factory=list)  # of the kernel, loaded before the trigger
    sample: list = dataclasses.field(default_factory=list)  # globs for --sample
    module: list = dataclasses.field(default_factory=list)  # names for --module
    options: list = dataclasses.field(default_factory=list)  # of outrider run, more
    datum: list = dataclasses.field(default_factory=list)  # names of the variable or member, for the reader
    cve: str = ""
    append: str = ""  # to the guest's command line
    memory: int = 512  # MiB
    control: bool = False  # a race that cannot harm: to be found, and not to be called harmful
    in_both: bool = False  # the later kernel has the bug, too
    in_built: bool = False  # the built kernel has it without a patch
    explored: bool = False  # its trigger is for outrider explore, too
    explored_append: str = ""  # more of the guest's command line under outrider explore
    explored_options: list = dataclasses.field(default_factory=list)  # of outrider explore, more
    fixed_differs: str = ""  # what the fixed kernel still does with this datum, and why it is right
    files: dict = dataclasses.field(default_factory=dict)  # of the guest: path there -> file in the folder

    @property
    def name(self):
        return self.folder.name

    def is_built(self, kernel):
        return self.kernel == BUILT or kernel.startswith("kcsan")

    def package(self, kernel):
        """The Debian package of the kernel, and its suite: `kernel` is buggy or fixed."""
        number, suite = {"buggy": ("32", "bullseye"), "fixed": ("46", "bullseye-security")}[kernel]
        return f"linux-image-5.10.0-{number}{KERNELS[self.kernel]}-amd64", suite

    @staticmethod
    def is_lock(function):
        """Whether an access in this function is one of a lock's word: a race with such a side is never the bug's."""
        return any(fnmatch.fnmatchcase(function, glob) for glob in LOCKS)

    def is_side(self, which, functions):
        """Whether these functions, of an access and of its call stack, are those of side 0 or 1."""
        return any(fnmatch.fnmatchcase(function, glob) for glob in self.sides[which] for function in functions)

    def regex(self, which):
        """The globs of a side as one extended regular expression, for found.awk."""
        return regex(self.sides[which])


def regex(globs):
    plain = [glob.replace(".", "[.]").replace("*", ".*").replace("?", ".") for glob in globs]
    return f"^({'|'.join(plain)})$"


def read(path):
    """The bug of this bug.json. Unusable if it is none."""
    try:
        one = Bug(folder=path.parent, **json.loads(path.read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise Unusable(f"{path}: {error}") from error
    if one.kernel not in [*KERNELS, BUILT] or (one.kernel == BUILT) != (one.folder / "put-back.patch").exists() or len(one.sides) != 2 or bool(one.sample) == bool(one.module):
        raise Unusable(f"{path}: kernel is one of {', '.join([*KERNELS, BUILT])} (the last one with put-back.patch), sides are two lists, "
                       "and either sample or module is given")
    return one
