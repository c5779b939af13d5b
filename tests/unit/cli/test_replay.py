#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`outrider replay` of files that are no scenarios, and at addresses that are invalid: one line, a documented exit status, and no file left.
The message says what is wrong with a scenario on any host, with KVM or without."""

import os
import pathlib
import socket
import struct
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build")).resolve()
MAGIC = b"\x93OUTRIDE"


class Replay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def replay(self, *arguments):
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(self.folder)}
        return subprocess.run([BUILD / "outrider", "replay", *arguments], cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env=environment, umask=0)

    def expect(self, status, line, *arguments):
        """Check that replay prints one line, which begins with the part of `line` before '...' and contains the part after it."""
        done = self.replay(*arguments)
        begin, _, rest = line.partition("...")
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (status, "", 1), done.stderr)
        self.assertTrue(done.stderr.startswith(f"outrider: {begin}") and rest in done.stderr, done.stderr)

    def scenario(self, name, content):
        (self.folder / name).write_bytes(content)
        return name

    def test_not_there(self):
        self.expect(3, "scenario nowhere: No such file or directory", "nowhere")

    def test_folder(self):
        self.expect(3, "scenario .: ", ".")

    def test_empty(self):
        self.expect(3, "scenario empty: ", self.scenario("empty", b""))

    def test_foreign(self):
        self.expect(3, "scenario foreign: it is no scenario...", self.scenario("foreign", b"\x7fELF" + bytes(4096)))

    def test_newer(self):
        self.expect(3, "scenario newer: ...newer", self.scenario("newer", MAGIC + struct.pack("<II", 2, 0) + bytes(64)))

    def test_cut(self):
        head = MAGIC + struct.pack("<II", 1, 0)
        for size in (9, 15, 16):
            with self.subTest(size=size):
                self.expect(3, "scenario cut: ", self.scenario("cut", head[:size]))

    def test_damaged(self):
        self.expect(3, "scenario damaged: ", self.scenario("damaged", MAGIC + struct.pack("<II", 1, 0) + bytes(range(256)) * 16))

    def test_no_machine_can_be_made_of_it(self):
        """The host may have no KVM or a CPU of another vendor, and no KVM accepts this state of the CPUs."""
        subprocess.run([BUILD / "unit/replay/test_scenario", "--write", self.folder / "made"], check=True)
        self.expect(3, "", "--for", "0", "--symbols", ".", "made")
        self.expect(3, "", "--vmcore", "core", "made")
        self.assertEqual({p.name for p in self.folder.iterdir()}, {"made"})

    def test_symbols_are_looked_at_behind_the_scenario(self):
        self.expect(3, "scenario empty: ", "--symbols", "nowhere", self.scenario("empty", b""))

    def test_core_is_not_touched(self):
        (self.folder / "core").write_text("of before")
        self.expect(3, "scenario nowhere: ", "--vmcore", "core", "nowhere")
        self.assertEqual((self.folder / "core").read_text(), "of before")
        self.assertEqual({p.name for p in self.folder.iterdir()}, {"core"})

    def test_socket_is_in_use(self):
        (self.folder / "taken").write_text("somebody's")
        self.expect(3, "unix:taken: there is a file already", "--gdb", "unix:taken", "nowhere")
        self.assertEqual((self.folder / "taken").read_text(), "somebody's")

    def test_socket_is_taken_away(self):
        self.expect(3, "scenario nowhere: ", "--gdb", "unix:sock", "nowhere")
        self.assertFalse((self.folder / "sock").exists())

    def test_socket_left_behind_is_replaced(self):
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(self.folder / "sock"))
        self.expect(3, "scenario nowhere: ", "--gdb", "unix:sock", "nowhere")
        self.assertFalse((self.folder / "sock").exists())

    def test_socket_without_a_path(self):
        """The socket is in a folder that only the user can enter, whatever the umask is."""
        self.expect(3, "scenario nowhere: ", "--gdb", "unix:", "nowhere")
        self.assertEqual((self.folder / "outrider").stat().st_mode & 0o7777, 0o700)
        self.assertEqual(list((self.folder / "outrider").iterdir()), [])
        (self.folder / "outrider").chmod(0o755)
        self.expect(3, f"{self.folder}/outrider is not a folder that only this user can enter; remove it, or name a socket: --gdb unix:PATH",
                    "--gdb", "unix:", "nowhere")

    def test_a_port_is_had_when_it_is_said(self):
        self.expect(2, "--gdb 127.0.0.1:1234: give unix:PATH; any user can connect to a port, so that needs --gdb-tcp", "--gdb", "127.0.0.1:1234", "nowhere")
        for host, who in ("", "any user of this host"), ("127.0.0.1:", "any user of this host"), ("0.0.0.0:", "anybody who reaches this host"):
            with socket.create_server(("127.0.0.1", 0)) as free:
                address = f"{host}{free.getsockname()[1]}"
            done = self.replay("--gdb-tcp", address, "nowhere")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(f"outrider: warning: {who} can connect to port {address}, and then read and change the machine; --gdb unix: lets in only you\n"
                          "outrider: scenario nowhere: ", done.stderr)

    def test_port_is_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            self.expect(3, f"cannot listen at {address}: Address already in use", "--gdb-tcp", address, "nowhere")

    def test_no_address(self):
        self.expect(2, "...localhost", "--gdb", "localhost", "nowhere")
        self.expect(2, "...localhost", "--gdb-tcp", "localhost", "nowhere")


if __name__ == "__main__":
    unittest.main()
