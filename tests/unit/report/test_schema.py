#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An independent validator finds that reports follow docs/report.schema.json, and that the schema rejects wrong ones."""

import copy
import json
import lzma
import os
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))


def written_document():
    """A document with all kinds of races, written by the report itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "races.json")
        subprocess.run([BUILD / "unit/report/test_json", "--write", path], check=True)
        with open(path, encoding="utf-8") as f:
            return json.load(f)


def places(node, path=()):
    """The path of every key of every object in a document."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield path + (key,)
            yield from places(value, path + (key,))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from places(value, path + (index,))


def objects(node):
    """Every schema of an object within a schema, except those in `if`, its branches and examples, which describe no object of their own."""
    if isinstance(node, dict):
        if "properties" in node:
            yield node
        for key, value in node.items():
            if key not in ("if", "then", "else", "examples"):
                yield from objects(value)
    elif isinstance(node, list):
        for value in node:
            yield from objects(value)


def strict(schema):
    """The schema of what this version writes: no unknown key, and no missing key, even of those that were added within /1."""
    schema = copy.deepcopy(schema)
    for node in objects(schema):
        node["additionalProperties"] = False
        node["required"] = list(node["properties"])
    schema["$defs"]["summary"]["required"].remove("sampling")  # a run that never sampled has no figures
    schema["required"].remove("locks")  # a run that followed no locks
    schema["$defs"]["race"]["required"].remove("suspected")  # a race that was not
    schema["$defs"]["race"]["required"].remove("complaint")  # a race that no complaint follows
    for key in "uses", "section_pairs", "section_fates", "section_replays", "told_apart":
        schema["$defs"]["locks"]["required"].remove(key)  # a run in which no function was seen to make two sections
    schema["$defs"]["lock_use"]["required"].remove("steps")  # no step along a list
    schema["$defs"]["lock_use"]["required"].remove("stores_back")  # code that only reads it there
    schema["$defs"]["lock_use"]["required"].remove("same_results")  # a check that decides what the function returns
    schema["$defs"]["lock_use"]["required"].remove("bits")  # code that does not decide
    schema["$defs"]["lock_use"]["required"].remove("check")  # code that compares with no constant, as far as is known
    for key in "two_locks", "caller":
        schema["$defs"]["lock_section_pair"]["required"].remove(key)  # sections of one lock in one function
    for key in "between", "pattern", "by_hold", "replay", "second_lock", "caller":
        schema["$defs"]["suspicion"]["required"].remove(key)  # a suspicion of another kind than atomicity
    schema["$defs"]["suspicion"]["then"]["required"].append("by_hold")
    return schema


def problems(validator, document):
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads((ROOT / "docs/report.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(cls.schema)
        cls.published = jsonschema.Draft202012Validator(cls.schema)
        cls.strict = jsonschema.Draft202012Validator(strict(cls.schema))
        cls.document = written_document()

    def changed(self, path, change):
        document = copy.deepcopy(self.document)
        node = document
        for step in path[:-1]:
            node = node[step]
        change(node, path[-1])
        return document

    def test_written_document_is_valid(self):
        for validator in (self.strict, self.published):
            self.assertEqual(problems(validator, self.document), [])
        self.assertEqual(len(self.document["races"]), 4)
        self.assertEqual(len(self.document["locks"]["suspicions"]), 3)
        self.assertTrue(any("suspected" in race for race in self.document["races"]))
        self.assertEqual([c["kind"] for c in self.document["complaints"]], ["oops"])
        self.assertEqual(self.document["races"][0]["complaint"]["link"], "same-instruction")

    def test_documents_of_older_versions_are_valid(self):
        """Later versions of the schema only add fields, so older documents stay valid."""
        examples = [json.loads((ROOT / path).read_text()) for path in ("docs/evaluation/example.json", "tests/data/ground-truth-races.json")]
        recorded = sorted((ROOT / "tests/data/recorded").glob("*/races.json.xz"))
        self.assertGreaterEqual(len(recorded), 5)
        for example in [*examples, *(json.loads(lzma.decompress(path.read_bytes())) for path in recorded)]:
            self.assertTrue(example["races"])
            # A few races of each run are enough. A run has up to 300, all written by the same code.
            example["races"] = example["races"][:3]
            self.assertEqual(problems(self.published, example), [])

    def test_documents_of_newer_versions_are_valid(self):
        """A newer version may add a field to any object."""
        document = copy.deepcopy(self.document)
        places_of_objects = {path[:-1] for path in places(document) if path[-2:-1] != ("sections",)}
        for path in places_of_objects:
            node = document
            for step in path:
                node = node[step]
            node["added_later"] = {"any": ["thing"]}
        self.assertGreater(len(places_of_objects), 30)
        self.assertEqual(problems(self.published, document), [])
        self.assertNotEqual(problems(self.strict, document), [])

    def test_every_property_is_described_with_its_unit(self):
        unit = {"integer": r"in bytes|in bits|in microseconds|in nanoseconds|hits per second|[Nn]umber|counted from 1|without a unit",
                "number": "in seconds", "hex": r"GVA|GPA|in bytes|a bit each|register|Flags|selector"}
        properties = [(name, node) for schema in objects(self.schema) for name, node in schema["properties"].items()]
        self.assertGreater(len(properties), 150)
        for name, node in properties:
            with self.subTest(name):
                said = node.get("description", "")
                self.assertRegex(said, r"^[A-Z\"].*\.$")
                for kind in self.kinds(node):
                    self.assertRegex(said, unit.get(kind, "."))

    def kinds(self, node):
        """The types that a value may have. "hex" stands for a number in a string."""
        if "$ref" in node:
            name = node["$ref"].removeprefix("#/$defs/")
            return [name] if name == "hex" else self.kinds(self.schema["$defs"][name])
        if "oneOf" in node:
            return [kind for choice in node["oneOf"] for kind in self.kinds(choice)]
        kinds = node.get("type", [])
        return [kinds] if isinstance(kinds, str) else kinds

    def test_schema_has_a_name_and_an_example(self):
        self.assertRegex(self.schema["$id"], "^urn:")
        self.assertTrue(self.schema["examples"])
        for example in self.schema["examples"]:
            self.assertEqual(problems(self.published, example), [])

    def test_nothing_may_be_missing(self):
        for path in places(self.document):
            with self.subTest(path=path):
                # The names of sections come from modules. In an instance, a side without its device is an unseen writer.
                may_go = path[-1] in ("sampling", "suspected", "complaint") or path[0] == "locks" and path[-1] == "replay" or path == ("locks",) or path[-2:-1] == ("sections",) or path[-1] in ("uses", "section_pairs", "section_fates", "section_replays", "told_apart") or (path[-1] == "device" and "instances" in path)
                self.assertEqual(self.strict.is_valid(self.changed(path, lambda node, key: node.pop(key))), may_go)

    def test_no_value_may_be_of_another_type(self):
        for path in places(self.document):
            with self.subTest(path=path):
                self.assertFalse(self.published.is_valid(self.changed(path, lambda node, key: node.update({key: [[]]}))))

    def test_unfinished_document(self):
        def unfinish(node, _key):
            node.update(complete=False, summary=None, kernel=None)
        self.assertTrue(self.strict.is_valid(self.changed(("complete",), unfinish)))
        self.assertFalse(self.published.is_valid(self.changed(("complete",), lambda node, key: node.update({key: False}))))


if __name__ == "__main__":
    unittest.main()
