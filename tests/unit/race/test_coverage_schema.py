#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A validator from another project checks that the file of --coverage conforms to docs/coverage.schema.json. --prefer accepts the files
that docs/prefer.schema.json accepts, and refuses the files that it refuses."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))

WRONG = [
    {},
    {"schema": "outrider-prefer/2"},
    {"schema": "outrider-prefer/1", "weight": 0},
    {"schema": "outrider-prefer/1", "weight": 1000.5},
    {"schema": "outrider-prefer/1", "functions": []},
    {"schema": "outrider-prefer/1", "functions": {"f": "1"}},
    {"schema": "outrider-prefer/1", "sites": {"f": 1}},
    {"schema": "outrider-prefer/1", "sites": {"f+0x01": 1}},
    {"schema": "outrider-prefer/1", "sites": {"f+0x123456789": 1}},
    {"schema": "outrider-prefer/1", "build_id": "xyz"},
]


def schema_of(name):
    schema = json.loads((ROOT / "docs" / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


class Coverage(unittest.TestCase):
    def test_what_is_written_is_as_published(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "coverage.json")
            subprocess.run([BUILD / "unit/report/test_coverage", "--write", path], check=True)
            document = json.loads(path.read_text())
            self.assertEqual(os.listdir(folder), ["coverage.json"])
        schema = schema_of("coverage")
        jsonschema.validate(document, schema)
        self.assertEqual(len(document["functions"]), document["totals"]["functions"])
        self.assertEqual(sum(len(each["armed"]) for each in document["functions"]), document["totals"]["sites"])
        self.assertIn("mod:f0\\x22", [each["function"] for each in document["functions"]])
        for key in schema["required"]:
            with self.subTest(missing=key), self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate({name: value for name, value in document.items() if name != key}, schema)

    def test_examples(self):
        for name in "coverage", "prefer":
            schema = schema_of(name)
            for example in schema["examples"]:
                jsonschema.validate(example, schema)


class Prefer(unittest.TestCase):
    def run_with(self, document):
        """Returns what a run says about the weights. The kernel file is missing, which a run notices after it has read the weights."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "prefer.json")
            path.write_text(document if isinstance(document, str) else json.dumps(document))
            done = subprocess.run([BUILD / "outrider", "run", "--kernel", "nowhere", "--prefer", path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertRegex(done.stderr, r"\Aoutrider: [^\n]+\n\Z")
            return done.stderr.removeprefix("outrider: ").replace(str(path), "FILE").rstrip("\n")

    def test_right_ones_are_taken(self):
        for example in schema_of("prefer")["examples"]:
            self.assertNotIn("FILE", self.run_with(example))

    def test_wrong_ones_are_refused(self):
        schema = schema_of("prefer")
        for document in WRONG:
            with self.subTest(document=document):
                with self.assertRaises(jsonschema.ValidationError):
                    jsonschema.validate(document, schema)
                self.assertTrue(self.run_with(document).startswith("FILE: "))

    def test_no_file(self):
        done = subprocess.run([BUILD / "outrider", "run", "--kernel", "k", "--prefer", "/nowhere/p"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (3, "outrider: cannot read /nowhere/p: No such file or directory\n"))

    def test_a_file_without_end(self):
        done = subprocess.run([BUILD / "outrider", "run", "--kernel", "k", "--prefer", "/dev/zero"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (3, "outrider: /dev/zero: a file for --prefer has at most 64 MiB\n"))

    def test_not_json(self):
        self.assertRegex(self.run_with('{\n"schema": outrider}'), "^FILE:2: ")


if __name__ == "__main__":
    unittest.main()
