# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the commands of documents to the program: it parses each of them, and runs those that need no machine on recorded data."""

import functools
import json
import lzma
import os
import pathlib
import re
import resource
import shlex
import subprocess
import xml.etree.ElementTree as xml

from campaign_rig import BUILD, CAP, OUTRIDER, ROOT, make_campaign
from doc_commands import label

RUN = {"report", "prune", "diff", "locks", "doctor", "campaign show", "campaign status", "campaign check"}
# What is not run, and why. The options of outrider's own commands are parsed by the program all the same.
NOT_RUN = {
    "outrider run": "needs a KVM", "outrider attach": "needs a machine with a gdbstub", "outrider list": "needs libvirt",
    "outrider agent": "needs a guest", "outrider replay": "needs a KVM", "outrider explore": "needs a KVM", "outrider campaign run": "needs a KVM",
    "outrider campaign submit": "needs a cluster", "outrider campaign merge": "needs another store", "outrider campaign gc": "removes runs",
    "outrider campaign triage": "changes the store", "outrider-lab": "boots a lab", "make": "takes long", "image builder": "takes long",
    "program of the tree": "takes long or boots guests", "apt-get": "installs packages", "cat": "is read as the file that it shows", "cp": "copies files",
    "crash": "opens a core of a guest", "gdb": "connects to a guest", "sendmail": "sends mail", "socat": "stands for a user's program", "tar": "packs files",
    "systemctl": "starts services", "scripts/config": "is of a kernel's tree", "sh": "its commands are listed by themselves",
    "exit": "is the shell's", "nproc": "is the host's", "wc": "is the host's",
}
FILE_OPTIONS = ("--assert", "--suppress", "--rules", "--lock-list")
# The program opens what these name while it parses the words.
OPENS_OPERANDS = ("campaign merge",)


class Misfit(Exception):
    """A command or an output does not fit the program. The text says what does not."""


def _limited():
    """One file descriptor beside the standard ones: for `outrider doctor`, a host whose KVM will not do."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))


@functools.cache
def _help(words):
    done = subprocess.run([OUTRIDER, *words, "--help"], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


@functools.cache
def _options(words):
    """{option: whether it takes an argument} of a command."""
    found = {}
    for short, name, argument in re.findall(r"^ +(-\w(?: ?[A-Z]+)?, )?(--[a-z][a-z-]*)(\[?=)?", _help(words), re.M):
        found[name] = bool(argument)
        if short:
            found[short[:2]] = bool(argument)
    return found


@functools.cache
def _binary():
    return OUTRIDER.read_bytes()


def commands_of(words):
    """The names of the commands that `outrider WORDS` has."""
    text = _help(tuple(words))
    return re.findall(r"^  ([a-z]+) +", text.split("Commands:\n")[1].split("\n\n")[0], re.M) if "Commands:\n" in text else []


@functools.cache
def documents():
    """{name: document} of the recorded runs, with the names that debug files gave. Those of documents' own examples come first."""
    paths = [*sorted((ROOT / "tests/data/documents").glob("*.json.xz")), *sorted((ROOT / "tests/data/recorded").glob("*/named.json.xz"))]
    return {path.parent.name if path.name.startswith("named") else path.name.split(".")[0]: json.loads(lzma.decompress(path.read_bytes())) for path in paths}


class Runs:
    """Runs commands in a folder of its own, with the files that documents show (`files`: {name: text})."""

    def __init__(self, work, files):
        self.work, self.files, self.rounds = pathlib.Path(work), files, False
        self.outputs = {}

    # ---- one command ----

    def check(self, command):
        """What was done with the command: "run", "parsed", or the name in NOT_RUN of what is neither. Raises Misfit."""
        program, words = command.words[0], [word for word in command.words[1:] if word != "..."]
        if program in ("outrider", "build/outrider"):
            return self._outrider(command, words)
        if program in ("outrider-lab", "tests/lab/outrider"):
            self._parse(words)
            return "outrider-lab"
        if program == "jq":
            self._jq(words)
            return "run"
        if program == "make":
            return self._make(command, words)
        if program.startswith("outrider-build-"):
            program = program.replace("outrider-", "vm-images/")
        if program.startswith(("vm-images/", "tests/", "docs/")):
            self._tree(program, words)
            return "image builder" if program.startswith("vm-images/") else "program of the tree"
        if program not in NOT_RUN:
            raise Misfit(f"`{program}` is neither run nor listed as a program that is not run (tests/unit/rigs/doc_runs.py: NOT_RUN)")
        return program

    def _outrider(self, command, words):
        name = self._parse(words)
        if name in RUN:
            # What doctor says depends on the host.
            self.compare(command.shown, self._labels(name, words[len(name.split()):]), name == "doctor")
            return "run"
        self.compare(command.shown, set(), True)
        return "parsed"

    @staticmethod
    def _command(words):
        """The words of the command's name."""
        name = []
        while commands_of(name) and words[len(name):] and not words[len(name)].startswith("-"):
            if words[len(name)] not in commands_of(name):
                raise Misfit(f"outrider {' '.join([*name, words[len(name)]])}: there is no such command")
            name.append(words[len(name)])
        return name

    def check_mention(self, words):
        """The command and its options exist. Raises Misfit."""
        name = self._command(words)
        for word in words[len(name):]:
            option = word.partition("=")[0]
            if option.startswith("--") and option not in _options(tuple(name)):
                raise Misfit(f"{option} is not an option of `outrider {' '.join(name)}`")

    def _parse(self, words):
        """Let the program parse the words without acting on them: --help comes last. Returns the command's name."""
        name = self._command(words)
        known, rest, line = _options(tuple(name)), words[len(name):], list(name)
        while rest:
            word = rest.pop(0)
            option, equals, value = word.partition("=")
            if not word.startswith("-") or word == "-":
                line += [] if " ".join(name) in OPENS_OPERANDS else [word]
                continue
            if option not in known:
                raise Misfit(f"{option} is not an option of `outrider {' '.join(name)}`")
            if known[option] and not equals and (not rest or rest[0].startswith("--")):
                raise Misfit(f"{option} of `outrider {' '.join(name)}` lacks its argument")
            value = value if equals or not known[option] else rest.pop(0)
            line += [option, self._value(option, value)] if known[option] else [word]
        done = subprocess.run([OUTRIDER, *line, "--help"], cwd=self.work, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode or not done.stdout.startswith("Usage: "):
            raise Misfit(f"the program refuses the command with status {done.returncode}: {done.stderr.strip()}")
        return " ".join(name)

    # ---- what is run ----

    def _labels(self, name, words):
        """The labels of all that the command prints, over all recorded runs that it can be about."""
        key = (name, *words)
        if key not in self.outputs:
            printed = self._doctor() if name == "doctor" else self._campaign(name, words) if name.startswith("campaign ") else self._reports(name, words)
            self.outputs[key] = {label(line) for line in printed.splitlines()}
        return self.outputs[key]

    def _outrider_says(self, words, statuses):
        environment = dict(os.environ, HOME=str(self.work), XDG_DATA_HOME=str(self.work / "data"), XDG_STATE_HOME=str(self.work / "state"),
                           XDG_CACHE_HOME=str(self.work / "cache"), DEBUGINFOD_URLS="", TZ="UTC")
        done = subprocess.run([OUTRIDER, *words], cwd=self.work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=CAP, check=False)
        said = done.stderr.decode(errors="replace")
        if done.returncode not in statuses:
            raise Misfit(f"`outrider {shlex.join(words)}` on recorded data ends with status {done.returncode}: {said.strip()[:300]}")
        return done.stdout.decode(errors="replace") + said

    def _statuses(self, words):
        return (0, 1) if "--fail-on" in words or "--assert" in words else (0,)

    def _doctor(self):
        limited = subprocess.run([OUTRIDER, "doctor"], capture_output=True, text=True, preexec_fn=_limited, check=False).stdout
        return limited + self._outrider_says(["doctor"], (0, 3))

    def _reports(self, name, words):
        """Give the command each recorded run in place of each file, and of each id that the run does not have an id that it has."""
        known, order, printed = _options((name,)), list(documents().items()), []
        if name == "locks":
            order = [item for item in order if item[1].get("locks")]
        asked = [words[i + 1] for i, word in enumerate(words) if word in ("--race", "--explain")]
        having = [item for item in order if all(any(race["id"].startswith(one) for race in item[1]["races"]) for one in asked)]
        for turn in range(len(having or order)):
            chosen, rest, line, files = (having or order)[turn:] + (having or order)[:turn], list(words), [name], 0
            while rest:
                word = rest.pop(0)
                option, equals, value = word.partition("=")
                line.append(word)
                if known.get(option) and option.startswith("-"):
                    value = value if equals else rest.pop(0)
                    line[-1:] = [option, self._value(option, value, chosen[files % len(chosen)][1], bool(having or not asked))]
                    files += option == "--old"
                elif not word.startswith("-"):
                    line[-1] = self._put_document(word, chosen[files % len(chosen)][1])
                    files += 1
            printed.append(self._outrider_says(line, self._statuses(words)))
        return "\n".join(printed)

    def _put_document(self, name, document):
        name = name.replace("*", "each")
        self._put(name, json.dumps(document))
        return name

    def _put(self, name, text):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _value(self, option, value, document=None, has=True):
        """The argument of an option, whose file is put into the folder. With a document, the command is going to be run with that."""
        if option in ("--race", "--explain") and not has:
            return document["races"][0]["id"]
        if option == "--module" and document:
            return "*"  # the recorded runs have other modules than the example
        if option == "--old" and document:
            return self._put_document(value, document)
        value = value.removeprefix("~/")
        if option in FILE_OPTIONS:
            self._put(value, self.files.get(value, "# nothing\n"))
        if option == "--sources" or (option == "--symbols" and value.endswith("/")):
            (self.work / value).mkdir(parents=True, exist_ok=True)
        elif option == "--symbols":
            module = ROOT / "tests/data/recorded/gt-amd/module.ko.xz"
            (self.work / value).parent.mkdir(parents=True, exist_ok=True)
            (self.work / value).write_bytes(lzma.decompress(module.read_bytes()))
        return value

    def _campaign(self, name, words):
        if name == "campaign check":
            for word in words:
                if word.endswith(".xml"):
                    self._put_campaign(word)
        elif not self.rounds:
            self.rounds = True
            folder = self.work / "made"
            folder.mkdir()
            path = make_campaign(folder, name="nightly")
            for _ in range(2):
                self._outrider_says(["campaign", "run", str(path)], (0, 1))
        return self._outrider_says([*name.split(), *words], self._statuses(words))

    def _put_campaign(self, name):
        """The campaign file that a document shows, and the files that it names."""
        text = self.files.get(name)
        if not text:
            raise Misfit(f"no document shows the campaign file {name}: <campaign name='{pathlib.Path(name).stem}'>")
        self._put(name, text)
        root = xml.fromstring(text)
        kernels = {os_.get("name"): os_.findtext("kernel") for os_ in root.iter("os")}
        images = [initrd.text.replace("{kernel}", kernel) for initrd in root.iter("initrd") for kernel in kernels]
        for file in [*kernels.values(), *images]:
            self._put(file, "made up\n")

    # ---- other programs ----

    @functools.cached_property
    def _judged(self):
        """The names of files with the documents and their verdicts."""
        names = []
        for turn, document in enumerate(documents().values()):
            self._put_document("recorded.json", document)
            self._put(f"judged{turn}.json", self._outrider_says(["report", "-q", "--format", "json", "recorded.json"], (0,)))
            names.append(f"judged{turn}.json")
        return names

    def _jq(self, words):
        for name in self._judged:
            files = [name if word.endswith(".json") else word for word in words]
            done = subprocess.run(["jq", *files], cwd=self.work, capture_output=True, text=True, check=False)
            if done.returncode not in ((0, 1) if "-e" in words else (0,)):
                raise Misfit(f"jq ends with status {done.returncode}: {done.stderr.strip()}")

    @staticmethod
    def _make(command, words):
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        if "-C" in words or any(re.search(r"config$|^bzImage$", word) for word in words):
            return "make"  # of a kernel's tree
        for word in words:
            if not word.startswith("-") and "=" not in word and not re.search(rf"^{re.escape(word)}:", makefile, re.M):
                raise Misfit(f"the Makefile has no target {word}")
        said = (ROOT / "tests/demo").read_text(encoding="utf-8")
        for number, text in command.shown:
            if text.startswith("demo: ") and " ".join(text.split()[:2]) not in said:
                raise Misfit(f"line {number}: tests/demo prints no `{' '.join(text.split()[:2])}`")
        return "make"

    @staticmethod
    def _tree(program, words):
        path = ROOT / program
        if not path.is_file() or not os.access(path, os.X_OK):
            raise Misfit(f"there is no program {program}")
        text = path.read_text(encoding="utf-8")
        if "argparse" in text:
            text = subprocess.run([path, "--help"], capture_output=True, text=True, check=False).stdout
        for word in words[:words.index("--")] if "--" in words else words:
            option = word.strip("[]").partition("=")[0]
            if option.startswith("--") and not re.search(rf"{re.escape(option)}(?![\w-])", text):
                raise Misfit(f"{option} is not an option of {program}")

    # ---- what is shown ----

    def compare(self, shown, labels, by_text):
        """Raises Misfit for a line of a kind that is not in `labels`. `by_text`: one whose first two words the program has as a text will do."""
        for number, text in shown:
            kind = label(text)
            words = [word for word in text.split()[:2] if re.fullmatch(r"[A-Za-z'-]+:?", word)]
            if kind is None or kind in labels or (by_text and (kind[1] in ("ID", "N", "NAME") or (words and " ".join(words).encode() in _binary()))):
                continue
            raise Misfit(f"line {number}: the program prints no line that begins, after {kind[0]} columns, with `{kind[1]}`: {text.strip()[:80]}")

    def check_excerpt(self, excerpt):
        """An output without a command is one of report, or of campaign show."""
        if excerpt.shown[0][1].startswith(("RACE", "SUMMARY")):
            labels = self._labels("report", ["--all", "races.json"]) | self._labels("report", ["races.json"])
        else:
            labels = self._labels("campaign show", [])
        self.compare(excerpt.shown, labels, True)
