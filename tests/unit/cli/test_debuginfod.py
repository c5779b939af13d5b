#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--debuginfod fetches debug files by build id from the servers that the user names. Here one listens on the loopback, and one is a folder."""

import http.server
import json
import lzma
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build")).resolve()
RECORDED = ROOT / "tests/data/recorded/gt-intel"


class Server(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_):
        pass


class Debuginfod(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("module.ko", "races.json"):
            (self.folder / name).write_bytes(lzma.decompress((RECORDED / f"{name}.xz").read_bytes()))
        notes = subprocess.run(["readelf", "-n", self.folder / "module.ko"], check=True, capture_output=True, text=True).stdout
        self.id = notes.split("Build ID: ")[1].split()[0]
        self.assertIn(self.id, (self.folder / "races.json").read_text())
        self.served = self.folder / "served/buildid" / self.id / "debuginfo"
        self.served.parent.mkdir(parents=True)
        (self.folder / "module.ko").rename(self.served)
        self.urls = f"file://{self.folder}/served"

    def report(self, *options, **environment):
        """Makes a report with an empty cache, and with no debug files besides those of the system."""
        cache = tempfile.mkdtemp(dir=self.folder)
        return subprocess.run([BUILD / "outrider", "report", "--format", "json", *options, self.folder / "races.json"],
                              capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], "HOME": cache, "DEBUGINFOD_URLS": self.urls, **environment})

    def test_same_names_as_with_the_file(self):
        done, file = self.report("--debuginfod", "-v"), self.report("--symbols", self.served)
        self.assertEqual((done.returncode, file.returncode), (0, 0))
        self.assertEqual(done.stdout, file.stdout)
        self.assertIn("debug file", done.stderr)
        self.assertNotEqual(self.report().stdout, file.stdout)

    def test_server_is_asked_only_on_request(self):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Server(*a, directory=self.folder / "served")) as server:
            server.asked = []
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.urls = f"http://127.0.0.1:{server.server_address[1]}"
            named = self.report("--symbols", self.served).stdout
            self.assertNotEqual(self.report().stdout, named)
            self.assertEqual(server.asked, [])
            self.assertEqual(self.report("--debuginfod").stdout, named)
            self.assertIn(f"/buildid/{self.id}/debuginfo", server.asked)
            server.shutdown()

    def test_file_of_another_build(self):
        self.served.write_bytes((BUILD / "outrider").read_bytes())
        done = self.report("--debuginfod")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, self.report().stdout)
        self.assertIn("outrider_gt: debuginfod: the downloaded file is of another build, or is not a debug file", done.stderr)

    def test_file_that_is_none(self):
        self.served.write_text("no ELF")
        done = self.report("--debuginfod")
        self.assertEqual((done.returncode, done.stdout), (0, self.report().stdout))
        self.assertTrue(all(line.startswith("outrider: ") for line in done.stderr.splitlines()))

    def test_no_server_has_it(self):
        self.served.unlink()
        done = self.report("--debuginfod")
        self.assertEqual((done.returncode, done.stdout), (0, self.report().stdout))
        self.assertRegex(done.stderr, r"(?m)^outrider: outrider_gt: debuginfod: no server has the debug file of this build$")

    def test_server_that_does_not_answer(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            self.urls = f"http://127.0.0.1:{silent.getsockname()[1]}"
            done = self.report("--debuginfod", DEBUGINFOD_TIMEOUT="1")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"(?m)^outrider: outrider_gt: debuginfod: .+$")
        self.assertGreater(len(json.loads(done.stdout)["races"]), 0)

    def test_no_server_is_named(self):
        for urls in ("", " "):
            done = self.report("--debuginfod", DEBUGINFOD_URLS=urls)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertEqual(done.stderr, "outrider: --debuginfod: no server is named: set DEBUGINFOD_URLS to its URL\n")


if __name__ == "__main__":
    unittest.main()
