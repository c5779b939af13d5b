# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands in the code blocks of documents and in the EXAMPLES of manual pages, with the output that is shown after each of them."""

import dataclasses
import re
import shlex

# A block without a `$` is one of commands if a line begins with one of these words. They are also what a simple command may be.
PROGRAMS = re.compile(r"(build/)?outrider(-\w+)*$|(vm-images|tests|docs)/[\w./-]+$|(apt-get|cp|crash|gdb|jq|make|scripts/config|socat|systemctl|tar)$")
ASSIGNMENT = re.compile(r"\w+=")
# A block that is part of an output, without a command: what its first line begins with.
OUTPUTS = re.compile(r"RACE [0-9a-f]{12} |SUMMARY |[\w-]+, round \d+ ")


@dataclasses.dataclass
class Command:
    """One simple command of a document. `shown` is the output after it, as (line number, text without the block's indentation)."""

    page: str
    line: int
    words: list
    shown: list = dataclasses.field(default_factory=list)

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def text(self):
        return shlex.join(self.words)


@dataclasses.dataclass
class Excerpt:
    """An output that is shown without a command."""

    page: str
    line: int
    shown: list


def _blocks_of_markdown(text):
    """Lists of (line number, text): fenced blocks, and lines that are indented by four blanks or more, without these blanks."""
    block, fence, last = [], False, -1
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith("```"):
            fence = not fence
            continue
        if not fence and not line.startswith("    "):
            continue
        if number != last + 1 and block:
            yield block
            block = []
        block.append((number, line if fence else line[4:]))
        last = number
    if block:
        yield block


def _blocks_of_manual(text):
    """The blocks without filling (.nf to .fi) of the section EXAMPLES."""
    block, inside, section = [], False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(".SH "):
            section = line[4:]
        elif section != "EXAMPLES":
            continue
        elif line == ".nf":
            block, inside = [], True
        elif line == ".fi":
            yield block
            inside = False
        elif inside:
            block.append((number, line.replace(r"\-", "-").replace(r"\e", "\\")))


def simple_commands(line):
    """The words of each simple command of a line of shell, and of those in $(...) and in `sh -c '...'`."""
    found = []

    def inner(match):
        found.extend(simple_commands(match.group(1)))
        return "SUBSTITUTED"

    line = re.sub(r"\s#\s.*$", "", line)
    line = re.sub(r"\$\(([^()]*)\)", inner, line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words, skip = [], False
    for word in [*lexer, ";"]:
        if skip:
            skip = False
        elif word in ("<", ">", ">>", "2>"):
            skip = True  # the file of a redirection
        elif set(word) <= set("|&;"):
            while words and (ASSIGNMENT.match(words[0]) or words[0] == "exec"):
                del words[0]
            if words:
                found.append(words)
            if words[1:2] == ["-c"] or "-c" in words and "sh" in words:
                found.extend(simple_commands(words[words.index("-c") + 1]))
            words = []
        else:
            words.append(word)
    return found


def _begins_command(line):
    words = line.split()
    while words and ASSIGNMENT.match(words[0]):
        del words[0]
    return bool(words and PROGRAMS.match(words[0]))


def _commands_of_block(page, block):
    """The commands of a block; nothing if it is of another kind."""
    prompt = any(text.lstrip().startswith("$ ") for _, text in block)
    base = min(len(text) - len(text.lstrip()) for _, text in block if text.strip())
    last, rest = None, list(block)
    while rest:
        number, text = rest.pop(0)
        text = text[base:]
        if not (text.startswith("$ ") if prompt else _begins_command(text)):
            if last:
                last.shown.append((number, text))
            continue
        text = text.removeprefix("$ ")
        while text.endswith("\\") and rest:
            text = text[:-1] + rest.pop(0)[1].strip()
        for words in simple_commands(text):
            last = Command(page, number, words)
            yield last


def read(page, text):
    """(commands, excerpts) of a document. `page` is its path; one that ends with .1 is a manual page."""
    commands, excerpts = [], []
    for block in (_blocks_of_manual if page.endswith(".1") else _blocks_of_markdown)(text):
        found = list(_commands_of_block(page, block)) if block else []
        commands += found
        if not found and block and OUTPUTS.match(block[0][1]):
            excerpts.append(Excerpt(page, block[0][0], block))
    return commands, excerpts


def mentions(text):
    """(line number, words) of each command of outrider that running text names in backquotes. Its arguments may be left out."""
    for match in re.finditer(r"(?<!`)`(?:build/)?outrider ([^`]+)`(?!`)", text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1).replace("[", "").replace("]", "").split()


# ---- the shape of an output ----

WILD = [
    (re.compile(r"^[0-9a-f]{12}$"), "ID"),
    (re.compile(r"^\+?(0x[0-9a-f]+|[\d,.:]+%?)$"), "N"),
    (re.compile(r".*[_\d:].*"), "NAME"),
]


def label(line):
    """What must be the same in two lines of one kind: where the text begins, or a number in front of it ends, and the first word, in which
    ids, numbers, addresses and names of code count as the same. None: the line says nothing, as `...` does."""
    words = line.split()
    if not words or set(words[0]) <= {"."}:
        return None
    start = len(line) - len(line.lstrip())
    for pattern, kind in WILD:
        if pattern.match(words[0]):
            return (start + len(words[0]) if kind == "N" and not words[0].startswith(("+", "0x")) else start, kind)
    return start, words[0].rstrip(":")
