#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each command in the documents and in the examples of the manual pages is one that the program takes, and what documents show after it has the
shape of what the program prints. Commands that need no machine are run, on recorded data in place of the files that they name.

The output is TAP, a line a command. The last lines say how many commands were run, parsed, or neither, and which and why."""

import collections
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
from campaign_rig import ROOT  # noqa: E402
from doc_commands import Command, mentions, read  # noqa: E402
from doc_runs import NOT_RUN, Misfit, Runs  # noqa: E402

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/your-kernel").glob("*.md")),
         *sorted((ROOT / "docs/man").glob("*.1"))]

# A page that is wrong in each way that this test must see, and what it must say, by line.
WRONG = """
    $ outrider report --verdict races.json
    RACE 1019c792b67c  read in a+0x1 [m]
      verdict  harmful candidate: lost-update, rank 83
      opinion  harmful

    outrider report --al races.json
    outrider report --format pdf races.json
    outrider run --kernel bzImage --duration
    outrider run --kernel bzImage --rate often
    outrider judge races.json
    outrider campaign print
    vm-images/build-initramfs --outptu x
    tests/nothing here
    make everything

    $ outrider report races.json
    RACE 1019c792b67c  read in a+0x1 [m]
      verdict  harmful candidate: lost-update, rank 83
      opinion  harmful

    $ mystery

    RACE 1019c792b67c  read in a+0x1 [m]
      opinion  harmful
"""
EXPECTED = [
    (2, "--verdict is not an option of `outrider report`"), (7, "--al is not an option"), (8, "--format pdf"), (9, "--duration of `outrider run` lacks"),
    (10, "--rate often"), (11, "outrider judge: there is no such command"), (12, "outrider campaign print: there is no such"),
    (13, "--outptu is not an option of vm-images/build-initramfs"), (14, "there is no program tests/nothing"), (15, "no target everything"),
    (17, "line 20: the program prints no line that begins, after 2 columns, with `opinion`"), (22, "`mystery` is neither run nor listed"),
    (24, "line 25: the program prints no line that begins, after 2 columns, with `opinion`"),
]
RIGHT = """
    $ outrider report --race 1019 races.json
    RACE 1019c792b67c  read in a+0x1 [m]
      verdict  harmful candidate: lost-update, rank 83
      ...
    outrider: waiting
"""


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def verdict(self, passed, name, said=""):
        self.count += 1
        self.failed += not passed
        if said:
            print(f"# {said}")
        print(f"{'ok' if passed else 'not ok'} {self.count} - {name}", flush=True)


def tried(runs, item):
    """(what was done, what does not fit or "")."""
    try:
        return (runs.check(item) if isinstance(item, Command) else runs.check_excerpt(item)), ""
    except Misfit as misfit:
        return None, str(misfit)


def test_the_test(tap, runs):
    """The test sees what is wrong, and takes what is right."""
    commands, excerpts = read("made-up.md", WRONG)
    found = {item.line: tried(runs, item)[1] for item in [*commands, *excerpts]}
    for line, text in EXPECTED:
        tap.verdict(text in found.get(line, ""), f"a wrong page: line {line}: {text}", "" if text in found.get(line, "") else f"said: {found.get(line)!r}")
    tap.verdict(found.keys() == {line for line, _ in EXPECTED}, "a wrong page: all its commands are found, and no others")
    try:
        runs.check_mention("report --fial-on harmful".split())
        tap.verdict(False, "a wrong option in running text")
    except Misfit as misfit:
        tap.verdict("--fial-on is not an option of `outrider report`" in str(misfit), "a wrong option in running text")
    commands, _ = read("made-up.md", RIGHT.rsplit("\n", 2)[0])
    said = [tried(runs, command) for command in commands]
    tap.verdict(said == [("run", "")], "a right page", f"{said}" if said != [("run", "")] else "")


def shown_files(pages):
    """{name: text} of the campaign files and of the lists that documents show."""
    files = {}
    for name, text in pages.items():
        for campaign in re.findall(r"^    <campaign name='\w+'>\n(?:^    .*\n|^\n)*?^    </campaign>$", text, re.M):
            stem = re.search(r"name='(\w+)'", campaign).group(1)
            files.setdefault(f"{stem}.xml", re.sub(r"^    ", "", campaign, flags=re.M))
        for command in read(name, text)[0]:
            if command.words[0] == "cat":
                files[command.words[1]] = "".join(f"{line}\n" for _, line in command.shown)
    return files


def main():
    tap, done, reasons = Tap(), collections.Counter(), collections.Counter()
    pages = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES}
    with tempfile.TemporaryDirectory(prefix="outrider-docs.") as work:
        runs = Runs(work, shown_files(pages))
        test_the_test(tap, runs)
        for name, text in pages.items():
            commands, excerpts = read(name, text)
            for command in commands:
                what, wrong = tried(runs, command)
                kind = what if what in ("run", "parsed", None) else "neither"
                done[kind or "wrong"] += 1
                if kind == "neither":
                    reasons[what] += 1
                elif kind == "parsed":
                    words = command.words[1:3] if command.words[1] == "campaign" else command.words[1:2]
                    reasons[" ".join(["outrider", *words])] += 1
                tap.verdict(not wrong, f"{command.place}: {command.text[:100]}", wrong and f"{command.place}: {wrong}")
            wrong = []
            for line, words in mentions(text) if name.endswith(".md") else ():
                done["mentions"] += 1
                try:
                    runs.check_mention(words)
                except Misfit as misfit:
                    wrong.append(f"{name}:{line}: {misfit}")
            tap.verdict(not wrong, f"{name}: commands in running text", "; ".join(wrong))
            for excerpt in excerpts:
                done["excerpts"] += 1
                wrong = tried(runs, excerpt)[1]
                tap.verdict(not wrong, f"{name}:{excerpt.line}: an output without a command", wrong and f"{name}:{excerpt.line}: {wrong}")
    print(f"# {done['run']} commands were run, {done['parsed']} were parsed by the program and not run, {done['neither']} neither; "
          f"{done['excerpts']} outputs without a command were compared, "
          f"and the options of {done['mentions']} commands in running text")
    for what, count in sorted(reasons.items()):
        print(f"# not run: {count} of `{what}`, which {NOT_RUN[what]}")
    tap.verdict(done["run"] > 20 and done["parsed"] > 20, "documents have commands of each kind")
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


sys.exit(main())
