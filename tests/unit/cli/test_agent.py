#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`outrider agent` against an agent in this test, which connects to the socket as the vsock device does for a guest."""

import contextlib
import os
import pathlib
import socket
import stat
import subprocess
import tempfile
import threading
import time
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", TREE / "build"))
PATIENCE = 60  # seconds, many times what anything here takes
HELLO = b"hello protocol=1 cpus=2 heartbeat=5 uptime=1.00 jobs=0 kernel=6.1.0\n"


class Guest(threading.Thread):
    """An agent: it connects to `path` as soon as a process listens there, sends its greeting, and answers each line by `answer`."""

    def __init__(self, path, answer):
        super().__init__(daemon=True)
        self.path, self.answer, self.heard, self.mode = path, answer, [], None
        self.start()

    def run(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with socket.socket(socket.AF_UNIX) as link:
                try:
                    link.connect(self.path)
                except OSError:
                    time.sleep(0.01)
                    continue
                with contextlib.suppress(FileNotFoundError):
                    self.mode = stat.S_IMODE(os.stat(self.path).st_mode)
                link.sendall(HELLO)
                for line in link.makefile("rb"):
                    self.heard.append(line)
                    said = self.answer(line)
                    if said is None:
                        return
                    link.sendall(said)
                return


def outrider(*words, text=None):
    return subprocess.run([BUILD / "outrider", "agent", *words], input=text, capture_output=True, text=True, check=False, timeout=PATIENCE)


class Agent(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = f"{folder.name}/vm"

    def ask(self, *words, answer, text=None):
        guest = Guest(f"{self.path}_999", answer)
        done = outrider("--socket", self.path, "--timeout", f"{PATIENCE}s", *words, text=text)
        guest.join(PATIENCE)
        self.assertFalse(os.path.exists(f"{self.path}_999"))
        return done, guest

    def test_an_answer(self):
        done, guest = self.ask("status", answer=lambda _: b"heartbeat uptime=1 jobs=1\njob job=1 state=running\nok jobs=1\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "job job=1 state=running\nok jobs=1\n", ""))
        self.assertEqual(guest.heard, [b"status\n"])
        self.assertIn(guest.mode, (0o600, None))

    def test_words_become_a_line(self):
        _, guest = self.ask("start", "sh:echo a  b", "c", answer=lambda _: b"ok job=7\n")
        self.assertEqual(guest.heard, [b"start sh:echo a  b c\n"])

    def test_a_refusal(self):
        done, _ = self.ask("start", "x", "--wait", answer=lambda _: b"error there is no workload\n")
        self.assertEqual((done.returncode, done.stdout), (3, "error there is no workload\n"))

    def test_waits_for_its_job(self):
        for rc, status in ((0, 0), (7, 1)):
            with self.subTest(rc=rc):
                said = f"ok job=2\noutput job=2 text\ndone job=1 rc=9 word=other\ndone job=2 rc={rc} word=w\ndone job=3 rc=0 word=late\n"
                done, _ = self.ask("start", "w", "--wait", answer=lambda _, said=said: said.encode())
                self.assertEqual(done.returncode, status)
                self.assertIn("output job=2 text\n", done.stdout)

    def test_waits_for_what_it_stopped(self):
        done, _ = self.ask("stop", "--wait", answer=lambda _: b"ok stopping=2\ndone job=1 rc=143 word=a\ndone job=2 rc=143 word=b\n")
        self.assertEqual((done.returncode, done.stdout.count("done ")), (0, 2))
        self.assertEqual(self.ask("stop", "--wait", answer=lambda _: b"ok stopping=0\n")[0].returncode, 0)

    def test_a_guest_that_hangs_up(self):
        done, _ = self.ask("status", answer=lambda _: None)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, "^outrider: the agent has hung up before the command was done[^\n]*\n$")

    def test_a_guest_that_gave_its_first_connection_up(self):
        command = subprocess.Popen([BUILD / "outrider", "agent", "--socket", self.path, "--timeout", f"{PATIENCE}s", "status"],
                                   stdout=subprocess.PIPE, text=True)
        end = time.monotonic() + PATIENCE
        with socket.socket(socket.AF_UNIX) as first:
            while first.connect_ex(f"{self.path}_999") and time.monotonic() < end:
                time.sleep(0.01)
        guest = Guest(f"{self.path}_999", lambda _: b"ok jobs=0\n")
        self.assertEqual((command.communicate(timeout=PATIENCE)[0], command.returncode), ("ok jobs=0\n", 0))
        guest.join(PATIENCE)
        self.assertEqual(guest.heard, [b"status\n"])

    def test_talk(self):
        def answer(line):
            return None if line == b"bye\n" else b"ok " + line
        done, guest = self.ask(answer=answer, text="one\ntwo\nbye\n")
        self.assertEqual((done.returncode, done.stdout), (0, HELLO.decode() + "ok one\nok two\n"))
        self.assertEqual(guest.heard, [b"one\n", b"two\n", b"bye\n"])

    def test_the_guest_does_not_steer_the_terminal(self):
        done, _ = self.ask("status", answer=lambda _: b"job \x1b[2Jx\nok\x1b\n" + b"y" * 9000 + b"\nok\n")
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("\x1b", done.stdout)

    def test_nobody_comes(self):
        done = outrider("--socket", self.path, "--timeout", "100ms", "status")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn(f"no machine has the vsock socket {self.path}", done.stderr)
        pathlib.Path(self.path).touch()
        done = outrider("--socket", self.path, "--timeout", "100ms", "status")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no agent connected", done.stderr)
        self.assertFalse(os.path.exists(f"{self.path}_999"))

    def test_the_socket_is_in_use(self):
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(f"{self.path}_999")
            other.listen()
            done = outrider("--socket", self.path, "status")
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, f"^outrider: the socket {self.path}_999 is in use; [^\n]*\n$")
            self.assertTrue(os.path.exists(f"{self.path}_999"))
        # The socket is closed now, and its file remains, as after a program that was killed.
        self.assertEqual(self.ask("status", answer=lambda _: b"ok\n")[0].returncode, 0)
        pathlib.Path(f"{self.path}_999").write_text("a file")
        self.assertEqual(outrider("--socket", self.path, "status").returncode, 3)
        self.assertEqual(pathlib.Path(f"{self.path}_999").read_text(), "a file")

    def test_the_default_socket_is_in_a_folder_of_the_user(self):
        with tempfile.TemporaryDirectory() as runtime:
            environment = dict(os.environ, XDG_RUNTIME_DIR=runtime)
            words = [BUILD / "outrider", "agent", "--vsock", "5", "--timeout", "100ms", "status"]
            done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
            self.assertIn(f"{runtime}/outrider/vsock-5", done.stderr)
            self.assertEqual(stat.S_IMODE(os.stat(f"{runtime}/outrider").st_mode), 0o700)
            os.chmod(f"{runtime}/outrider", 0o755)
            done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
            self.assertEqual(done.returncode, 3)
            self.assertIn("is not a folder that only this user can enter", done.stderr)

    def test_wrong_values(self):
        for words in (["--vsock", "2"], ["--vsock", "x"], ["--timeout", "0"], ["--timeout", "x"], ["a\nb"], ["x" * 600]):
            with self.subTest(words=words):
                done = outrider(*words)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))
        self.assertEqual(outrider("--socket", "x" * 200, "status").returncode, 3)


if __name__ == "__main__":
    unittest.main()
