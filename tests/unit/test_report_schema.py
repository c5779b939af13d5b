#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the report writes is what docs/report.schema.json publishes, says a validator that is not ours; and the schema bites."""

import copy
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))


def written_document():
    """All kinds of races, as the report itself writes them."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "races.json")
        subprocess.run([BUILD / "unit/test_report_json", "--write", path], check=True)
        with open(path, encoding="utf-8") as f:
            return json.load(f)


def places(node, path=()):
    """Every object's key in a document, as a path."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield path + (key,)
            yield from places(value, path + (key,))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from places(value, path + (index,))


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(ROOT / "docs/report.schema.json", encoding="utf-8") as f:
            schema = json.load(f)
        jsonschema.Draft7Validator.check_schema(schema)
        cls.validator = jsonschema.Draft7Validator(schema)
        cls.document = written_document()

    def changed(self, path, change):
        document = copy.deepcopy(self.document)
        node = document
        for step in path[:-1]:
            node = node[step]
        change(node, path[-1])
        return document

    def test_written_document_is_valid(self):
        self.assertEqual([error.message for error in self.validator.iter_errors(self.document)], [])
        self.assertEqual(len(self.document["races"]), 3)

    def test_published_example_is_valid(self):
        with open(ROOT / "docs/evaluation/example.json", encoding="utf-8") as f:
            example = json.load(f)
        self.assertEqual([error.message for error in self.validator.iter_errors(example)], [])
        self.assertTrue(example["races"])

    def test_nothing_may_be_missing_but_some_figures(self):
        optional = {"armed_most", "planted", "passed", "stale_points", "arming_us", "asked_rate", "stopped_us", "armed", "stale_hits", "skipped_stack", "skipped_memory", "skipped_short", "skipped_last", "cut_short", "cut_idle",
                    "no_watch", "calls", "refused", "stacks", "stacks_unwound", "debug_exits", "stale_exits", "reinjected", "sampling", "started", "ended", "host", "options", "duration_s", "judged",
                    "verdict"}
        for path in places(self.document):
            with self.subTest(path=path):
                # Sections have names of their modules' making.
                may_go = path[-1] in optional or path[-2:-1] == ("sections",)
                self.assertEqual(self.validator.is_valid(self.changed(path, lambda node, key: node.pop(key))), may_go)

    def test_no_value_may_be_of_another_type(self):
        for path in places(self.document):
            with self.subTest(path=path):
                self.assertFalse(self.validator.is_valid(self.changed(path, lambda node, key: node.update({key: [[]]}))))

    def test_unfinished_document(self):
        def unfinish(node, _key):
            node.update(complete=False, summary=None, kernel=None)
        self.assertTrue(self.validator.is_valid(self.changed(("complete",), unfinish)))
        self.assertFalse(self.validator.is_valid(self.changed(("complete",), lambda node, key: node.update({key: False}))))


if __name__ == "__main__":
    unittest.main()
