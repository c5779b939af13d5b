#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The documents quote what the program prints, and the files to which they link exist."""

import html
import lzma
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
RECORDED = ROOT / "tests/data/recorded"


def outrider(*arguments):
    return subprocess.run([BUILD / "outrider", *arguments], check=True, capture_output=True, text=True).stdout


def words(line):
    """Returns a line without its layout: the blanks, and the mark and label in front of an instruction."""
    return re.sub(r"^(code )?> ?|^code ", "", " ".join(line.split()))


class Documents(unittest.TestCase):
    def test_reading_a_report_quotes_a_report(self):
        text = (ROOT / "docs/reading-a-report.md").read_text()
        whole, side = re.search(r"RACE ([0-9a-f]{12})", text).group(1), re.search(r"race `([0-9a-f]{12})`", text).group(1)
        printed = set()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "races.json")
            for run, race in ("gt-amd", whole), ("gt-dma", side):
                path.write_bytes(lzma.decompress((RECORDED / run / "named.json.xz").read_bytes()))
                printed |= {words(line) for line in outrider("report", "--race", race, path).splitlines()}
                events = re.findall(r'<li[^>]*><span class="when">(.*?)</span> <span>(.*?)</span></li>',
                                    outrider("report", "--race", race, "--format", "html", path))
                self.assertGreater(len(events), 4)
                printed |= {words(f"{i}. {when} {html.unescape(event)}") for i, (when, event) in enumerate(events, 1)}
            path.write_bytes(lzma.decompress((ROOT / "tests/data/documents/complaint.json.xz").read_bytes()))
            printed |= {words(line) for line in outrider("report", path).splitlines()}
        quoted = [words(line) for line in re.findall(r"^    +(\S.*)$", text, re.M) if not line.startswith("outrider ")]
        self.assertGreater(len(quoted), 10)
        self.assertEqual([line for line in quoted if line not in printed], [])

    def test_documents_name_files_that_are_there(self):
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            for name in re.findall(r"`((?:docs|tests|hv|symbols|pruner|vm-images|guest-agent)/[\w./-]+)`", page.read_text()):
                if "NAME" not in name:  # NAME stands for any name
                    with self.subTest(page=page.name, name=name):
                        self.assertTrue((ROOT / name).exists())

    def test_rules_are_documented(self):
        """The page has the rules of the program's table, each with its class, and no others."""
        listed = dict(re.findall(r"^  ([a-z-]+) +([a-z ]+): ", outrider("prune", "--list-rules"), re.M))
        section = (ROOT / "docs/pruning.md").read_text().split("## Rules, in their order")[1].split("\n\n")[2]
        rows = [(re.findall(r"`([a-z]+(?:-[a-z]+)*)`", names), kind, text) for names, kind, text in
                re.findall(r"^\| (.*?) \| (.*?) \| (.*) \|$", section, re.M)]
        classes = {name: kind for names, kind, _ in rows for name in names if kind != "as below"}
        self.assertEqual({name: listed.get(name) for name in classes}, classes)
        named = {name for names, _, text in rows for name in [*names, *re.findall(r"`([a-z]+(?:-[a-z]+)*)`", text)]}
        self.assertEqual(listed.keys() - named, set())


if __name__ == "__main__":
    unittest.main()
