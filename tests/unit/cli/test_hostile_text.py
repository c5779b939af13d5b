#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""No format passes hostile text of a record on raw: no control characters reach a terminal or a log, text forges no line and no element,
every document is well formed, and a refusal is one clear line.

The tests replace every string of a document, and every key of an object whose keys are names, by hostile text in turn. A string in a
list stands for all strings at that place of the list's objects."""

import contextlib
import html.parser
import json
import lzma
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
import campaign_nights  # noqa: E402
import device_side  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))

HOSTILE = {
    "escape sequences": "\x1b[2J\x1b]0;title\x07\x9b31m",
    "newlines": "x\r\n" + "=" * 66 + "\nBUG: KCSAN: data-race in forged / forged\n\nRACE 0123456789ab  forged\noutrider: forged\n",
    "not ASCII": "ä" * 200,
    "direction": "a\u202ecod.exe\u2028\ufeff",
    "script": "</pre></td><script>alert(1)</script>&\"'<!--",
    "CDATA": "]]>]]&gt;<failure/>",
    "backslashes": "\\x1b\\x1\\\\" * 40,
    "long": "A" * 100000,
    "long, not ASCII": "\u0416" * 7000,
}
# The texts for every place of a document in turn: one text of all short ones, and each long one.
IN_TURN = {"short": "".join(text for text in HOSTILE.values() if len(text) < 200), "not ASCII": HOSTILE["not ASCII"],
           "backslashes": HOSTILE["backslashes"], "long": HOSTILE["long"]}
# Bytes that JSON does not allow in a string: every command refuses the file.
RAW = {"invalid UTF-8": b"\xff\xc3(\x9b", "half a character": b"\xe2\x82", "raw control characters": b"\x1b[2J\x00"}
BATCH = 8  # places with the same text in one document; more would exceed the size that a report may have
FORMATS = ("text", "json", "sarif", "kcsan", "junit", "html")
TREACHEROUS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
NAMED = {"sections"}  # objects whose keys come from the guest


def small_document():
    """Returns three races of a recorded run with names from debug files. One has an unseen writer, and one has a device's side."""
    document = json.loads(lzma.decompress((ROOT / "tests/data/recorded/gt-amd/named.json.xz").read_bytes()))
    races = document["races"]
    seen = max((race for race in races if race["memory"]), key=lambda race: len(json.dumps(race["name"])))
    unseen = next((race for race in races if race["sides"][1]["unknown"]), races[-1])
    device = next(race for race in races if race not in (seen, unseen))
    device_side.make(device)
    document["races"] = [seen, unseen, device]
    document["modules"] = document["modules"][:2]
    return document


def places(node, path=()):
    """Yields the path of every string below `node`."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from places(value, path + (key,))
            if path and path[-1] in NAMED:
                yield path + (("key", key),)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from places(value, path + (index,))
    elif isinstance(node, str):
        yield path


def shape(path):
    return tuple("*" if isinstance(step, int) else "key" if isinstance(step, tuple) else step for step in path)


def replaced(document, paths, text):
    """A copy of the document with the text at all these places."""
    copy = json.loads(json.dumps(document))
    for path in paths:
        node = copy
        for step in path[:-1]:
            node = node[step]
        if isinstance(path[-1], tuple):
            node[text] = node.pop(path[-1][1])
        else:
            node[path[-1]] = text
    return copy


class Page(html.parser.HTMLParser):
    EMPTY = {"meta", "br", "input", "link", "wbr"}

    def __init__(self):
        super().__init__()
        self.open, self.scripts, self.wrong = [], 0, []

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.wrong += [key for key, _ in attrs if key.startswith("on")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class HostileText(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "races.json")
        cls.document = small_document()
        cls.places = list({shape(path): path for path in places(cls.document)}.values())
        cls.counts = {kind: cls.count(kind, cls.report(kind, cls.document)[1]) for kind in FORMATS}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def report(cls, kind, document=None):
        if document:
            with open(cls.path, "w", encoding="utf-8") as file:
                json.dump(document, file)
        done = subprocess.run([BUILD / "outrider", "report", "--all", "--format", kind, cls.path], capture_output=True, check=False)
        return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")

    @staticmethod
    def count(kind, text):
        """Returns the number of lines or elements that hostile text could forge."""
        if kind == "text":
            return len(re.findall(r"^RACE ", text, re.MULTILINE))
        if kind == "kcsan":
            return len(re.findall(r"^BUG: ", text, re.MULTILINE)), len(re.findall(r"^=+$", text, re.MULTILINE))
        if kind == "json":
            return len(json.loads(text)["races"])
        if kind == "sarif":
            return len(json.loads(text)["runs"][0]["results"])
        if kind == "junit":
            root = xml.etree.ElementTree.fromstring(text)
            return len(list(root.iter("testcase"))), len(list(root.iter("failure")))
        page = Page()
        page.feed(text)
        assert not page.open and not page.wrong, (page.open, page.wrong)
        return page.scripts

    def check_refused(self, code, stderr):
        self.assertEqual(code, 3, stderr)
        self.assertRegex(stderr, r"\Aoutrider: [^\n]+\n\Z")
        self.assertNotIn("out of memory", stderr)
        self.assertLess(len(stderr), 700)

    def check_shown(self, kind, stdout, stderr):
        self.assertIsNone(TREACHEROUS.search(stdout), kind)
        self.assertEqual(self.count(kind, stdout), self.counts[kind], kind)
        for line in stderr.splitlines():
            self.assertTrue(line.startswith("outrider: "), stderr)

    def check(self, document, formats):
        """Returns whether the document was read."""
        for kind in formats:
            code, stdout, stderr = self.report(kind, document if kind == formats[0] else None)
            self.assertIsNone(TREACHEROUS.search(stderr), stderr)
            if code:
                self.check_refused(code, stderr)
                self.assertEqual(kind, formats[0], "one format refuses what another has read")
                return False
            self.check_shown(kind, stdout, stderr)
        return True

    def test_the_small_document_has_it_all(self):
        shapes = {shape(path) for path in self.places}
        for key in ("site", "function", "module", "site", "id"):
            self.assertTrue(any(path[-1] == key for path in shapes), key)
        self.assertIn(("kernel", "banner"), shapes)
        self.assertIn(("races", "*", "sides", "*", "context", "comm"), shapes)
        self.assertIn(("races", "*", "sides", "*", "stack", "frames", "*", "source", "*", "file"), shapes)
        self.assertIn(("races", "*", "sides", "*", "datum", "path"), shapes)
        self.assertIn(("modules", "*", "sections", "key"), shapes)
        for key in ("type", "op", "thread", "gpa", "kind"):
            self.assertIn(("races", "*", "sides", "*", "device", key), shapes)
            self.assertIn(("races", "*", "instances", "*", "sides", "*", "device", key), shapes)

    def check_in_turn(self, paths, name, formats=FORMATS):
        """Returns the number of places that were read with this text."""
        read = 0
        for path in paths:
            with self.subTest(place=shape(path), text=name):
                read += self.check(replaced(self.document, [path], IN_TURN[name]), formats)
        return read

    def check_batch(self, batch, name):
        """As check_in_turn(), with the text in all these places at once. If the document is refused, each place is tried alone."""
        document = replaced(self.document, batch, IN_TURN[name])
        with self.subTest(places=[shape(path) for path in batch], text=name):
            if self.check(document, FORMATS):
                return len(batch)
        return self.check_in_turn(batch, name)

    def test_every_string(self):
        """The short text is tried at each place alone in one format. Places that may have it have all texts in batches: one place alone takes
        six runs of outrider for each text."""
        free = [path for path in self.places if self.check_in_turn([path], "short", FORMATS[:1])]
        bound = [path for path in self.places if path not in free]
        renamed = [path for path in free if isinstance(path[-1], tuple)]
        plain = [path for path in free if path not in renamed]
        read = 0
        for name in IN_TURN:
            if name != "short":
                read += self.check_in_turn(bound, name)
            read += self.check_in_turn(renamed, name)
            read += sum(self.check_batch(plain[i:i + BATCH], name) for i in range(0, len(plain), BATCH))
        self.assertGreater(read, 20 * len(IN_TURN))

    def test_all_at_once(self):
        """Every string that may have any content has hostile text at once."""
        for name, text in HOSTILE.items():
            with self.subTest(text=name):
                free = [path for path in places(self.document)
                        if path[-1] in ("banner", "site", "function", "comm", "module", "file", "cmdline", "kernel_file", "member", "cache",
                                        "thread") or path[-2:] == ("device", "type")]
                self.assertTrue(self.check(replaced(self.document, free, text), FORMATS))

    def test_raw_bytes(self):
        for path in self.places:
            if isinstance(path[-1], tuple):
                continue
            whole = json.dumps(replaced(self.document, [path], "@HERE@")).encode()
            for name, raw in RAW.items():
                with self.subTest(place=shape(path), text=name):
                    pathlib.Path(self.path).write_bytes(whole.replace(b"@HERE@", raw))
                    code, stdout, stderr = self.report("text")
                    self.assertEqual(stdout, "")
                    self.assertIsNone(TREACHEROUS.search(stderr), stderr)
                    self.check_refused(code, stderr)

    def test_what_is_written_is_read_again(self):
        for name, text in HOSTILE.items():
            with self.subTest(text=name):
                free = [path for path in places(self.document) if path[-1] in ("site", "function", "comm", "banner")]
                document = replaced(self.document, free, text)
                once = self.report("json", document)[1]
                self.assertEqual(self.report("json", json.loads(once))[1], once)

    def test_lists_and_suppressions(self):
        """Reports also show texts that users write into lists."""
        listed = os.path.join(self.folder.name, "list")
        site = self.document["races"][0]["sides"][0]["site"]
        for name, text in HOSTILE.items():
            text = re.sub(r"[\r\n]", " ", text)
            for kind in FORMATS:
                with self.subTest(text=name, format=kind):
                    with open(listed, "w", encoding="utf-8", newline="") as file:
                        file.write(f"[suppress]\nsite = {site}\nreason = {text}\n")
                    with open(self.path, "w", encoding="utf-8") as file:
                        json.dump(self.document, file)
                    done = subprocess.run([BUILD / "outrider", "report", "--all", "--format", kind, "--suppress", listed, self.path],
                                          capture_output=True, check=False)
                    stderr = done.stderr.decode()
                    self.assertIsNone(TREACHEROUS.search(stderr), stderr)
                    if done.returncode:
                        self.check_refused(done.returncode, stderr)
                    else:
                        self.assertIsNone(TREACHEROUS.search(done.stdout.decode()))
                        self.count(kind, done.stdout.decode())

    def test_arguments(self):
        for name, text in HOSTILE.items():
            for arguments in (["report", text[:3000]], ["report", "--race", text[:3000], self.path], [text[:3000]], ["report", "--" + text[:3000]],
                              ["run", "--kernel", text[:3000]]):
                with self.subTest(text=name, command=arguments[0]):
                    done = subprocess.run([BUILD / "outrider", *arguments], capture_output=True, check=False)
                    self.assertIn(done.returncode, (2, 3))
                    self.assertRegex(done.stderr.decode(), r"\Aoutrider: [^\n]+\n\Z")
                    self.assertIsNone(TREACHEROUS.search(done.stderr.decode()), done.stderr)


class HostileCampaign(unittest.TestCase):
    """The same checks for the output of a campaign's store: the guest's names, its console's lines, and the notes of users on races."""
    COUNTS = {"text": lambda text: (len(re.findall(r"^(NEW|GONE|BROKE|BACK|RACE) ", text, re.MULTILINE)), len(re.findall(r"^  panic ", text, re.MULTILINE))),
              "mail": lambda text: (len(re.findall(r"^(Subject|Bcc): ", text, re.MULTILINE)), len(re.findall(r"^  panic ", text, re.MULTILINE))),
              "json": lambda text: (len(json.loads(text)["races"]), len(json.loads(text)["findings"])),
              "html": lambda text: (HostileText.count("html", text), len(re.findall('<section class="race"', text)),
                                    len(re.findall('<section class="finding"', text)))}

    def night(self, document, line=b"Kernel panic - not syncing: x\n"):
        """Returns a store with one round, whose only run has this report."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        nights = campaign_nights.Nights(folder.name, ["k"])
        done = nights.round(k={"--json": document, "--console": line, "status": 4})
        self.assertIsNone(TREACHEROUS.search(done.stderr.decode().replace("\r", "")), done.stderr)
        return nights

    def shown(self, nights, *arguments):
        text = nights.said("show", *arguments)
        self.assertIsNone(TREACHEROUS.search(text), arguments)
        return text

    def counts(self, nights):
        return {kind: count(self.shown(nights, "--all", "--format", kind)) for kind, count in self.COUNTS.items()}

    def test_what_guests_say(self):
        document = small_document()
        plain = self.counts(self.night(document))
        for name, text in HOSTILE.items():
            with self.subTest(text=name):
                free = [path for path in places(document)
                        if path[-1] in ("banner", "site", "function", "comm", "module", "file", "cmdline", "kernel_file", "member", "cache", "thread",
                                        "path", "owner", "evidence", "type") or path[-2:] == ("device", "type")]
                hostile = replaced(document, free, text)
                nights = self.night(hostile, b"Kernel panic - not syncing: " + text.replace("\n", " ").encode()[:2000] + b"\n")
                counts = self.counts(nights)
                races = json.loads(nights.said("show", "--format", "json"))["races"]
                self.assertEqual(counts, plain)
                for race in races:
                    self.assertEqual(len(re.findall(r"^RACE ", self.shown(nights, race["id"]), re.MULTILINE)), 2)
                    json.loads(self.shown(nights, "--format", "json", race["id"]))

    def test_what_a_store_says(self):
        """Another program may have written the store: hostile text in every text column in turn."""
        nights = self.night(small_document())
        race = json.loads(nights.said("show", "--format", "json"))["races"][0]["id"]
        nights.said("triage", race, "known", "--note", "x")
        store, shown = nights.store, 0
        with contextlib.closing(sqlite3.connect(nights.store)) as database:
            columns = [(table, column) for table, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                       for _, column, kind, *_ in database.execute(f"PRAGMA table_info({table})").fetchall() if kind in ("TEXT", "BLOB")]
        self.assertGreater(len(columns), 30)
        for table, column in columns:
            for text in (IN_TURN["short"], "A" * 5000):
                nights.store = store.with_name("hostile.db")
                nights.store.unlink(missing_ok=True)
                with contextlib.closing(sqlite3.connect(store)) as database:
                    database.execute("VACUUM INTO ?", (str(nights.store),))
                with contextlib.closing(sqlite3.connect(nights.store)) as database, database:
                    database.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (text,))
                for arguments in (["show", "--all"], ["show", "--format", "json"], ["show", "--format", "html"], ["show", "--format", "mail"],
                                  ["show", race], ["show", race, "--format", "json"], ["status"], ["diff", "1", "2"]):
                    with self.subTest(column=f"{table}.{column}", command=arguments):
                        done = nights.command(*arguments)
                        self.assertIn(done.returncode, (0, 2, 3), done.stderr)
                        self.assertIsNone(TREACHEROUS.search(done.stdout.decode() + done.stderr.decode()))
                        if done.returncode:
                            self.assertRegex(done.stderr.decode(), r"\Aoutrider: [^\n]+\n\Z")
                        shown += done.returncode == 0
        self.assertGreater(shown, len(columns))

    def test_what_people_say(self):
        nights = self.night(small_document())
        race = json.loads(nights.said("show", "--format", "json"))["races"][0]["id"]
        plain = self.counts(nights)
        for name, text in HOSTILE.items():
            with self.subTest(text=name):
                said = nights.said("triage", race, "known", "--note", text, "--who", text[:5000])
                self.assertIsNone(TREACHEROUS.search(said))
                self.assertEqual(self.counts(nights), plain)
                self.shown(nights, race)
                self.shown(nights, race, "--format", "json")

    def test_arguments(self):
        nights = self.night(small_document())
        for name, text in HOSTILE.items():
            text = text[:3000]
            for arguments in (["show", text], ["show", "--campaign", text], ["show", "--since", text], ["diff", "1", text], ["triage", text, "known"],
                              ["triage", "1", text], ["status", "--campaign", text], ["show", "--store", text], ["show", "--sources", text], [text]):
                with self.subTest(text=name, command=arguments[0][:9]):
                    done = nights.command(*arguments)
                    self.assertIn(done.returncode, (2, 3))
                    self.assertRegex(done.stderr.decode(), r"\Aoutrider: [^\n]+\n\Z")
                    self.assertIsNone(TREACHEROUS.search(done.stderr.decode()), done.stderr)


if __name__ == "__main__":
    unittest.main()
