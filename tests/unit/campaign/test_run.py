#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rounds of campaigns. A script stands in for outrider; each test tells the script to end, hang, crash or use up resources."""

import json
import lzma
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build")).resolve()
GUEST = ROOT / "tests/data/campaign/guest"
REPORT = ROOT / "tests/data/recorded/gt-dma/named.json.xz"
CAP = 120  # seconds; every step here takes far less
# The control group in which a runner makes the groups of its runs, if it may. Empty without cgroup v2.
GROUPS = [pathlib.Path(mount.split()[4] + own.rstrip("/")) for mount in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
          if " - cgroup2 " in mount and mount.split()[3] == "/"
          for own in re.findall(r"^0::(.*)$", pathlib.Path("/proc/self/cgroup").read_text(), re.M)][:1]
OUTCOMES = ("ok", "panic", "hang", "lockup", "crash", "limit", "failed", "no-report", "truncated", "unsampled", "complaint")
NO_REPORT = ("no-report", "the run left no report")


class Campaign(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.report = lzma.decompress(REPORT.read_bytes())
        (self.folder / "races.json").write_bytes(self.report)
        (self.folder / "nothing.json").write_text(json.dumps(json.loads(self.report) | {"races": []}))
        (self.folder / "vmlinuz").touch()
        # A TMPDIR of its own: the runners of other tests sweep what killed runners left in theirs.
        (self.folder / "t").mkdir()
        self.environment = {**os.environ, "GUEST_FOLDER": str(self.folder), "TMPDIR": str(self.folder / "t")}

    def write(self, *works, limits="", more="", seeds="count='1'", vcpus=1):
        workloads = "".join(f"<workload name='{work}'><cmdline>work={{workload}}</cmdline></workload>" for work in works)
        (self.folder / "c.xml").write_text(
            f"<campaign name='c'><emulator>{GUEST}</emulator>{more}<limits>{limits}</limits><machine><vcpu>{vcpus}</vcpu></machine>"
            "<kernels><os name='k'><kernel>vmlinuz</kernel></os></kernels><images><image name='i'/></images>"
            f"<workloads>{workloads}</workloads><seeds {seeds}/></campaign>")

    def command(self, *arguments, store="store.db"):
        return [BUILD / "outrider", "campaign", "run", "--store", self.folder / store, *arguments, self.folder / "c.xml"]

    def start(self, *arguments, **more):
        process = subprocess.Popen(self.command(*arguments, **more), env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_round(self, *arguments, **more):
        done = subprocess.run(self.command(*arguments, **more), env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=CAP, check=False)
        return done

    def ask(self, query, store="store.db"):
        with sqlite3.connect(self.folder / store) as database:
            return database.execute(query).fetchall()

    def outcomes(self, **more):
        """{key: outcome} of all runs that are done."""
        return {key: OUTCOMES[outcome] for key, outcome in self.ask("SELECT cell, outcome FROM run WHERE state = 1", **more)}

    def findings(self):
        """{workload: [(kind, line)]}"""
        found = {}
        for workload, kind, line in self.ask("SELECT workload, kind, line FROM finding JOIN run ON run_id = run.id ORDER BY run_id, number"):
            found.setdefault(workload, []).append((kind, line))
        return found

    def notes(self, what):
        path = self.folder / "notes"
        return [line.split() for line in path.read_text().splitlines() if line.startswith(what)] if path.exists() else []

    def wait_for(self, condition):
        end = time.monotonic() + CAP
        while not condition():
            self.assertLess(time.monotonic(), end, "waited in vain")
            time.sleep(0.02)

    def is_at(self, *works):
        return all((self.folder / f"at-{work}").exists() for work in works)

    def none_lives(self):
        """Whether no process of a run is left. Each process of a run has this folder in its environment."""
        mark = f"GUEST_FOLDER={self.folder}".encode()
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    return False
            except OSError:
                pass
        return True


class Ends(Campaign):
    def test_each_end_is_told_for_what_it_is(self):
        works = {"finds": "ok", "nothing": "ok", "panic": "panic", "dies": "panic", "lockup": "lockup", "crash": "crash",
                 "sanitizer": "crash", "fault": "crash", "odd": "crash", "refused": "failed", "absent": "no-report"}
        self.write(*works)
        done = self.run_round()
        self.assertEqual(done.returncode, 1, done.stderr)  # findings, and new harmful candidates
        self.assertEqual(self.outcomes(), {f"k/i/{work}/all/#1": outcome for work, outcome in works.items()})
        self.assertEqual(self.findings(), {
            "panic": [("panic", "Kernel panic - not syncing: Fatal exception in interrupt")],
            "dies": [("panic", "the guest died of a triple fault")],
            "lockup": [("lockup", "watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [reader:81]"),
                       ("lockup", "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:"),
                       ("lockup", "INFO: task writer:82 blocked for more than 120 seconds."),
                       ("complaint", "BUG: KASAN: use-after-free in ext4_foo+0x12/0x40"),
                       ("complaint", "WARNING: CPU: 1 PID: 83 at fs/ext4/inode.c:12 ext4_bar+0x1/0x2")],
            "crash": [("crash", "outrider was killed by SIGSEGV"), NO_REPORT],
            "sanitizer": [("crash", "ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010"),
                          ("crash", "outrider ended with the status 1"), NO_REPORT],
            "fault": [("crash", "the store of races is damaged"), NO_REPORT],
            "odd": [("crash", "outrider ended with the status 77"), NO_REPORT],
            "refused": [("failed", "/dev/kvm: permission denied")],
            "absent": [NO_REPORT]})
        races = len(json.loads(self.report)["races"])
        self.assertEqual(self.ask("SELECT count(*) FROM build_race"), [(races,)])
        self.assertRegex(done.stdout, rf"\Ac: round 1: 11 of 11 runs done, 7 broke, 6 failed \(1 did not run properly, 5 left no report\); "
                                      r"\d+ hits, \d+ races, \d+ new.*\n\Z")

    def test_what_is_good_of_a_run_is_kept(self):
        """One of a run's two files is damaged. The store takes the other file, and the run's line says what is wrong."""
        armed = [{"site": "vfs_read+0x1c", "armed": 4, "hits": 3}, {"site": "vfs_read+0x33", "armed": 1}]
        (self.folder / "coverage.json").write_text(json.dumps({
            "schema": "outrider-coverage/1", "tool_version": "0.1.0", "complete": True, "seed": "1", "build_id": "aabb",
            "totals": {"functions": 1, "sites": 2, "pool_sites": 9, "hits": 3, "windows": 0, "conflicts": 0, "sampled_s": 1.0},
            "functions": [{"function": "vfs_read", "sites": 5, "armed": armed}]}))
        self.write("half", "torn")
        done = self.run_round()
        self.assertEqual(self.outcomes(), {"k/i/half/all/#1": "failed", "k/i/torn/all/#1": "truncated"}, done.stderr)
        races = len(json.loads(self.report)["races"])
        self.assertEqual(self.ask("SELECT workload, count(*) FROM sighting JOIN run ON run.id = run_id GROUP BY workload"), [("half", races)])
        self.assertEqual(self.ask("SELECT workload FROM cover JOIN run ON run.id = run_id"), [("torn",)])
        self.assertEqual(self.ask("SELECT name, armed, hits FROM site"), [("vfs_read+0x1c", 4, 3), ("vfs_read+0x33", 1, 0)])
        said = dict(self.ask("SELECT workload, detail FROM run"))
        self.assertRegex(said["half"], r"\A[^\n;]+/coverage\.json: [^\n]+\Z")
        self.assertRegex(said["torn"], r"\A[^\n;]+/races\.json: [^\n]+\Z")
        self.assertEqual(self.findings(), {"half": [("failed", said["half"])], "torn": [("truncated", said["torn"])]})

    def test_what_is_kept_repeats_the_run(self):
        self.write("panic")
        self.run_round()
        (command, folder, seed), = self.ask("SELECT command, folder, seed FROM run")
        self.assertEqual(pathlib.Path(folder, "command").read_text(), command + "\n")
        self.assertIn(f"--seed {seed} ", command)
        self.assertIn("Fatal exception", pathlib.Path(folder, "console.log").read_text())
        (file,), = self.ask("SELECT file FROM finding")
        self.assertEqual(file, f"{folder}/console.log")
        self.assertEqual(subprocess.run(["sh", "-c", command], env=self.environment, capture_output=True, check=False).returncode, 4)
        self.assertEqual([note[2] for note in self.notes("begin")], [seed, seed])

    def test_sampling_is_in_the_command(self):
        self.write("nothing", more="<samplings><sampling name='s'><module>m</module><callees>2</callees></sampling></samplings>")
        self.run_round()
        (command,), = self.ask("SELECT command FROM run")
        self.assertIn(" --module m --sample-with-callees=2 ", command)

    def test_exit_status_is_what_the_file_calls_a_failure(self):
        for on, works, status in (("", ["finds", "panic"], 0), ("finding", ["finds"], 0), ("finding", ["lockup"], 1),
                                  ("new-harmful", ["panic"], 0), ("new-harmful", ["finds"], 1), ("new-race", ["finds"], 1),
                                  ("limit", ["panic"], 0)):
            with self.subTest(on=on, works=works):
                self.write(*works, more=f"<failure on='{on}'/>")
                self.assertEqual(self.run_round(store=f"{on}-{'-'.join(works)}.db").returncode, status)

    def test_a_night_in_which_nothing_could_run_is_no_quiet_one(self):
        self.write("refused")
        done = self.run_round()
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"outrider: c: no run of the round gave an answer; `outrider campaign show` says why\n\Z")
        self.write("refused", "nothing")
        self.assertEqual(self.run_round().returncode, 1)
        self.write("refused", "nothing", more="<failure on=''/>")
        self.assertEqual(self.run_round().returncode, 0)

    def test_nothing_is_new_the_second_night(self):
        self.write("finds", more="<failure on='new-race'/>")
        self.assertEqual(self.run_round().returncode, 1)
        done = self.run_round()
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"\Ac: round 2: 1 of 1 runs done; \d+ hits, [1-9]\d* races, 0 new\n\Z")
        seeds = self.ask("SELECT DISTINCT seed FROM run")
        self.assertEqual(len(seeds), 2)

    def test_quiet_where_nobody_looks(self):
        self.write("finds", "nothing", more="<failure on=''/>")
        done = self.run_round()
        self.assertEqual((done.stderr, done.stdout.count("\n")), ("", 1))
        done = self.run_round("--quiet")
        self.assertEqual((done.stderr, done.stdout), ("", ""))

    def test_progress_on_a_terminal(self):
        self.write("finds", "waits")
        child, terminal = pty.fork()
        if child == 0:
            os.execve(BUILD / "outrider", self.command("--jobs", "2"), self.environment)
        seen = ""
        end = time.monotonic() + CAP
        wanted = r"1 of 2 runs done, 1 at work, [1-9]\d* hits, [1-9]\d* races, [1-9]\d* new, 0 broke"
        while not re.search(wanted, seen) and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                seen += os.read(terminal, 4096).decode()
        (self.folder / "go-on").touch()
        try:
            while True:
                seen += os.read(terminal, 4096).decode()
        except OSError:
            pass  # how a terminal says that nobody has it open any more
        os.close(terminal)
        os.waitpid(child, 0)
        self.assertRegex(seen, wanted)
        self.assertIn("c: round 1: 2 of 2 runs done", seen)


class Limits(Campaign):
    def check(self, work, limits, outcome, line, vcpus=1):
        self.write(work, limits=limits, vcpus=vcpus, more="<failure on='limit'/>")
        done = self.run_round()
        self.assertEqual(self.findings(), {work: [(outcome, line)]}, done.stderr)
        self.assertEqual(self.outcomes(), {f"k/i/{work}/all/#1": outcome})
        self.assertEqual(done.returncode, 1 if outcome == "limit" else 0)
        self.wait_for(self.none_lives)

    def test_time(self):
        self.check("silent", "<time unit='s'>1</time>", "limit", "the run took more than its limit of 1 s")

    def test_cpu(self):
        self.check("spins", "<cpu unit='s'>1</cpu>", "limit", "the run used more CPU time than its limit of 1 s")

    def test_memory(self):
        self.check("eats", "<memory unit='MiB'>200</memory>", "limit", "the run used more memory than its limit of 200 MiB")

    def test_output(self):
        self.write("floods", limits="<output unit='MiB'>2</output>")
        self.run_round()
        # Either limit may end the run first: the kernel's on a file, or ours on the folder.
        (kind, line), = self.findings()["floods"]
        self.assertEqual(kind, "limit")
        self.assertRegex(line, r"the run wrote more than its limit of 2048 KiB|a file of the run became longer than its limit")
        (folder,), = self.ask("SELECT folder FROM run")
        self.assertLess(sum(path.stat().st_size for path in pathlib.Path(folder).iterdir()), 3 << 20)

    def test_silence(self):
        self.check("silent", "<silence unit='s'>1</silence>", "hang", "the guest's console was silent for more than 1 s")

    def test_heartbeat(self):
        self.check("heart", "<heartbeat unit='s'>2</heartbeat>", "hang", "the guest's agent was silent for more than 2 s")
        # The stored command names no socket, because the socket of this run is gone when a user repeats the command.
        (command,), = self.ask("SELECT command FROM run")
        self.assertRegex(command, r" --vsock 3( |\Z)")
        self.assertNotIn("socket=", command)

    def test_budget(self):
        self.write("waits-1", "waits-2", "waits-3", more="<budget unit='s'>2</budget><jobs>1</jobs>")
        done = self.run_round()
        self.assertEqual(len(self.notes("asked")), 1)
        self.assertIn("1 of 3 runs done", done.stdout)
        self.assertIn("2 runs were left out, as the budget was used up", done.stdout)
        self.assertEqual(list(self.outcomes().values()), ["ok"])
        self.assertIn("there is no unfinished round to go on with", self.run_round("--resume").stdout)

    def test_what_a_run_leaves_is_ended(self):
        self.write("leaves")
        done = self.run_round()
        # The program ends only after the process that it leaves has started.
        self.assertTrue((self.folder / "left").exists(), done.stderr)
        self.wait_for(self.none_lives)


class AtOnce(Campaign):
    def most_at_once(self):
        events = sorted((int(note[4]), 1 if note[0] == "begin" else -1) for note in self.notes(""))
        now = most = 0
        for _, step in events:
            now += step
            most = max(most, now)
        return most

    def test_never_more_vcpus_than_the_host_has(self):
        cpus = os.sysconf("SC_NPROCESSORS_ONLN")
        self.write(*(f"finds-{i}" for i in range(cpus + 2)))
        self.assertIn("runs done", self.run_round("--jobs", str(cpus + 2)).stdout)
        self.assertLessEqual(self.most_at_once(), cpus)
        self.assertEqual(len(self.outcomes()), cpus + 2)

    def test_more_where_asked(self):
        cpus = os.sysconf("SC_NPROCESSORS_ONLN")
        works = [f"waits-{i}" for i in range(cpus + 1)]
        self.write(*works)
        process = self.start("--jobs", str(cpus + 1), "--overcommit")
        self.wait_for(lambda: self.is_at(*works))
        (self.folder / "go-on").touch()
        process.communicate(timeout=CAP)
        self.assertEqual(len(self.outcomes()), cpus + 1)

    def test_jobs(self):
        self.write(*(f"finds-{i}" for i in range(4)))
        self.run_round("--jobs", "1")
        self.assertEqual(self.most_at_once(), 1)


class Signals(Campaign):
    def test_interrupted_and_gone_on_with(self):
        self.write("finds", "waits-1", "waits-2", more="<jobs>2</jobs>")
        process = self.start("--only", "finds,waits-1,waits-2")
        self.wait_for(lambda: self.is_at("waits-1") or self.is_at("waits-2"))
        process.send_signal(signal.SIGTERM)
        out, said = process.communicate(timeout=CAP)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertIn("SIGTERM: the runs are asked to end", said)
        self.assertIn("--resume goes on with them", out)
        self.assertGreaterEqual(len(self.notes("asked")), 1)
        self.wait_for(self.none_lives)
        (self.folder / "go-on").touch()
        done = self.run_round("--resume")
        self.assertIn("c: round 1: 3 of 3 runs done", done.stdout)
        ok = {key for key, outcome in self.outcomes().items() if outcome == "ok"}
        self.assertEqual(ok, {f"k/i/{work}/all/#1" for work in ("finds", "waits-1", "waits-2")})
        # The store keeps the attempt of each interrupted run that had found something. One run may have had no time to find anything.
        kept = [key for key in self.outcomes() if "~" in key]
        self.assertGreaterEqual(len(kept), len(self.notes("asked")))
        self.assertEqual(self.ask("SELECT count(*) FROM round"), [(1,)])

    def test_second_signal_ends_at_once(self):
        self.write("stubborn")
        process = self.start()
        self.wait_for(lambda: self.notes("begin"))
        process.send_signal(signal.SIGINT)
        self.assertIn("SIGINT", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=25)  # less than what a run is given to end properly
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.wait_for(self.none_lives)


class Killed(Campaign):
    def test_runner(self):
        self.write("finds", "waits", seeds="count='2'", more="<jobs>2</jobs>")
        process = self.start()
        self.wait_for(lambda: self.is_at("waits"))
        process.kill()
        process.wait()
        self.wait_for(self.none_lives)
        (self.folder / "go-on").touch()
        done = self.run_round("--resume")
        self.assertIn("c: round 1: 4 of 4 runs done", done.stdout, done.stderr)
        outcomes = self.outcomes()
        self.assertEqual({key for key, outcome in outcomes.items() if outcome == "ok"},
                         {f"k/i/{work}/all/#{seed}" for work in ("finds", "waits") for seed in (1, 2)})
        self.assertIn("k/i/waits/all/#", " ".join(key for key in outcomes if key.endswith("~1")))
        # The store has every report that was written, by runs that ended and by runs that were killed.
        reports = len(list((self.folder / "runs").glob("*/*/races.json")))
        self.assertEqual(self.ask("SELECT count(*) FROM run WHERE hits > 0"), [(reports,)])
        self.assertGreater(reports, 4)
        self.assertEqual(self.run_round("--resume").returncode, 0)

    def test_runner_whose_status_was_written(self):
        """The runner is killed after a run has ended and before the store has it. The next runner does not repeat the run."""
        self.write("nothing")
        self.run_round()
        self.ask("DELETE FROM run")
        self.ask("UPDATE part SET ended = 0")
        before = len(self.notes("begin"))
        done = self.run_round("--resume")
        self.assertIn("1 of 1 runs done", done.stdout)
        self.assertEqual(self.outcomes(), {"k/i/nothing/all/#1": "ok"})
        self.assertEqual(len(self.notes("begin")), before)

    def test_runner_that_sets_a_run_aside(self):
        """The runner is killed after it has renamed the folder of an attempt and before it has made the new folder of the run."""
        self.write("waits")
        process = self.start()
        self.wait_for(lambda: self.is_at("waits"))
        process.kill()
        process.wait()
        self.wait_for(self.none_lives)
        folder = next((self.folder / "runs").glob("*/*/races.json")).parent
        folder.rename(f"{folder}~1")
        (self.folder / "go-on").touch()
        done = self.run_round("--resume")
        self.assertIn("c: round 1: 1 of 1 runs done", done.stdout, done.stderr)
        self.assertEqual(self.outcomes(), {"k/i/waits/all/#1": "ok", "k/i/waits/all/#1~1": "failed"})

    def test_machine(self):
        self.write("waits")
        process = self.start()
        self.wait_for(lambda: self.is_at("waits"))
        (self.folder / "at-waits").unlink()
        os.kill(int(self.notes("begin")[0][3]), signal.SIGKILL)
        self.wait_for(lambda: self.is_at("waits"))  # it was started again
        (self.folder / "go-on").touch()
        process.communicate(timeout=CAP)
        self.assertEqual(self.outcomes(), {"k/i/waits/all/#1": "ok", "k/i/waits/all/#1~1": "failed"})
        self.assertEqual(self.findings(), {})

    def test_machine_again_and_again(self):
        self.write("waits")
        process = self.start()
        for _ in range(3):
            self.wait_for(lambda: self.is_at("waits"))
            (self.folder / "at-waits").unlink()
            os.kill(int(self.notes("begin")[-1][3]), signal.SIGKILL)
        process.communicate(timeout=CAP)
        self.assertEqual(self.outcomes()["k/i/waits/all/#1"], "crash")
        self.assertEqual(len(self.notes("begin")), 3)

    def test_emulator_whose_machine_fails(self):
        """The runner repeats the run, because no guest caused the failure. The number of attempts is limited."""
        self.write("loses", "lost", more="<failure on=''/>")
        done = self.run_round()
        self.assertEqual(done.returncode, 0, done.stderr)
        outcomes = self.outcomes()
        self.assertEqual([outcomes[f"k/i/{work}/all/#1"] for work in ("loses", "lost")], ["ok", "failed"])
        self.assertEqual(self.findings(), {"lost": [("failed", "lab: the emulator died")]})
        self.assertEqual(sorted(note[1] for note in self.notes("begin")), ["loses"] * 3 + ["lost"] * 3)
        # The store has the races of every attempt.
        self.assertEqual(self.ask("SELECT count(*) FROM run WHERE hits > 0 AND workload = 'loses'"), [(3,)])

    def test_supervisor(self):
        """The supervisor is the process between a runner and its run."""
        self.write("waits")
        process = self.start()
        self.wait_for(lambda: self.is_at("waits"))
        (self.folder / "at-waits").unlink()
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        self.assertEqual(len(children), 1)
        os.kill(int(children[0]), signal.SIGKILL)
        self.wait_for(lambda: self.is_at("waits"))
        self.wait_for(lambda: len(self.notes("begin")) == 2)
        first = int(self.notes("begin")[0][3])
        self.wait_for(lambda: not os.path.exists(f"/proc/{first}"))
        (self.folder / "go-on").touch()
        process.communicate(timeout=CAP)
        self.assertEqual(self.outcomes()["k/i/waits/all/#1"], "ok")

    def sockets(self):
        """The folders with the heartbeat sockets of all runs so far."""
        return [pathlib.Path(path).parent for path in (self.folder / "sockets").read_text().split()]

    def test_what_a_killed_runner_has_left_is_swept(self):
        """The sweep spares the files of a runner that lives."""
        limits = "<heartbeat unit='s'>600</heartbeat>"
        self.write("waits", limits=limits)
        killed = self.start(store="killed.db")
        self.wait_for(lambda: self.is_at("waits"))
        killed.kill()
        killed.wait()
        self.wait_for(self.none_lives)
        self.assertEqual(self.sockets()[0].parent, self.folder / "t")
        self.assertTrue(self.sockets()[0].exists())
        (self.folder / "at-waits").unlink()
        living = self.start(store="living.db")
        self.wait_for(lambda: self.is_at("waits"))
        self.write("nothing", limits=limits)
        self.run_round(store="third.db")
        self.assertEqual([path.exists() for path in self.sockets()], [False, True, False])
        (self.folder / "go-on").touch()
        living.communicate(timeout=CAP)
        self.assertEqual(self.outcomes(store="living.db"), {"k/i/waits/all/#1": "ok"})
        self.assertEqual([path.exists() for path in self.sockets()], [False] * 3)

    def test_a_folder_that_somebody_deletes(self):
        """The store keeps the races of the deleted attempts. The next attempt gets a name that is not in the store."""
        self.write("waits")
        for attempt in range(3):
            process = self.start(*["--resume"] * bool(attempt))
            self.wait_for(lambda: self.is_at("waits"))
            process.kill()
            process.wait()
            self.wait_for(self.none_lives)
            (self.folder / "at-waits").unlink()
            for aside in (self.folder / "runs").glob("*/*~1"):
                shutil.rmtree(aside)
        (self.folder / "go-on").touch()
        self.run_round("--resume")
        self.assertEqual(sorted(self.outcomes()), ["k/i/waits/all/#1"] + [f"k/i/waits/all/#1~{number}" for number in (1, 2, 3)])
        self.assertEqual(self.ask("SELECT count(*) FROM run WHERE hits > 0"), [(4,)])

    @unittest.skipUnless(GROUPS and os.access(GROUPS[0], os.W_OK), "no control groups can be made here")
    def test_groups_of_killed_runners_are_swept(self):
        """The sweep spares the group of a runner that lives, even while no process is in the group."""
        ended = subprocess.Popen(["true"])
        ended.wait()
        living, dead = (GROUPS[0] / f"outrider-{pid}-777" for pid in (os.getpid(), ended.pid))
        for group in (living, dead):
            group.mkdir()
            self.addCleanup(lambda group=group: group.exists() and group.rmdir())
        self.write("nothing")
        self.run_round()
        self.assertEqual((living.exists(), dead.exists()), (True, False))

    def test_two_runners_on_one_round(self):
        self.write("waits")
        process = self.start()
        self.wait_for(lambda: self.is_at("waits"))
        done = self.run_round("--resume")
        self.assertEqual(done.returncode, 3)
        self.assertIn("is at work on this round", done.stderr)
        (self.folder / "go-on").touch()
        process.communicate(timeout=CAP)
        self.assertEqual(self.outcomes(), {"k/i/waits/all/#1": "ok"})


class Started(Campaign):
    def test_where_ended_children_are_ignored(self):
        """The parent ignores SIGCHLD, and its children inherit that."""
        self.write("nothing")
        done = subprocess.run(["env", "--ignore-signal=CHLD", *self.command()], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=CAP, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.outcomes(), {"k/i/nothing/all/#1": "ok"})
        self.assertEqual(len(self.notes("begin")), 1)

    def test_nobody_else_reads_the_store(self):
        """The store contains data from the memory of guests, so only its owner may read it, as with the folders of the runs."""
        self.write("nothing")
        self.run_round(store="new/store.db")
        self.assertEqual((self.folder / "new/store.db").stat().st_mode & 0o777, 0o600)


class Stores(Campaign):
    """Stores that an attacker made, and stores that are damaged."""

    def test_a_round_that_leads_out_of_the_folder(self):
        self.write("nothing")
        self.run_round()
        self.ask("UPDATE round SET uuid = '../evil'")
        self.ask("UPDATE part SET ended = 0")
        done = self.run_round("--resume")
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertRegex(done.stderr, r"\Aoutrider: the store is damaged: [^\n]*\.\./evil[^\n]*\n\Z")
        self.assertFalse((self.folder / "evil").exists())

    def test_a_race_whose_id_is_html(self):
        self.write("finds")
        self.run_round()
        self.ask("UPDATE race SET name = '\"><script>/*'")
        page = subprocess.run([BUILD / "outrider", "campaign", "show", "--store", self.folder / "store.db", "--format", "html"],
                              capture_output=True, text=True, timeout=CAP, check=True).stdout
        self.assertIn("&lt;script&gt;/*", page)
        self.assertNotIn("<script>/*", page)

    def test_races_that_nobody_could_count(self):
        """If the store cannot count new races, the runner fails. Its exit status is not that of a round without new races."""
        self.write("finds", more="<failure on='new-race'/>")
        self.assertEqual(self.run_round().returncode, 1)
        self.ask("DROP TABLE said")
        done = self.run_round()
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("said", done.stderr)


class Shards(Campaign):
    def test_parts_are_the_whole(self):
        works = [f"finds-{i}" for i in range(6)]
        self.write(*works, seeds="count='2'")
        for shard in (1, 2, 3):
            done = self.run_round("--shard", f"{shard}/3", "--round", "4", store=f"{shard}.db")
            self.assertIn("c: round 4: ", done.stdout, done.stderr)
        parts = [set(self.outcomes(store=f"{shard}.db")) for shard in (1, 2, 3)]
        self.assertEqual(sum(len(part) for part in parts), 12)
        self.assertEqual(set().union(*parts), {f"k/i/{work}/all/#{seed}" for work in works for seed in (1, 2)})
        self.assertEqual(len({self.ask("SELECT uuid FROM round", store=f"{shard}.db")[0] for shard in (1, 2, 3)}), 1)
        self.run_round("--round", "4", store="whole.db")
        whole = self.ask("SELECT cell, seed FROM run ORDER BY cell", store="whole.db")
        self.assertEqual(whole, sorted(row for shard in (1, 2, 3) for row in self.ask("SELECT cell, seed FROM run", store=f"{shard}.db")))

    def test_one_store_for_all(self):
        self.write(*(f"finds-{i}" for i in range(4)))
        for shard in (1, 2):
            self.run_round("--shard", f"{shard}/2", "--round", "1")
        self.assertEqual(len(self.outcomes()), 4)
        self.assertEqual(self.ask("SELECT count(*) FROM round"), [(1,)])

    def test_only(self):
        self.write("finds", "nothing")
        self.assertIn("1 of 1 runs done", self.run_round("--only", "nothing").stdout)
        self.assertEqual(set(self.outcomes()), {"k/i/nothing/all/#1"})
        for only in ("noting", "finds,noting"):
            done = self.run_round("--only", only)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (2, "", "outrider: --only noting: no run has such a name; did you mean nothing?\n"))
        self.assertEqual(self.ask("SELECT count(*) FROM round"), [(1,)])  # a mistake takes no number


class Mistakes(Campaign):
    def test_options(self):
        self.write("finds")
        for arguments, said in ((["--jobs", "0"], "--jobs 0: give a number from 1 to 1024"),
                                (["--shard", "3/2"], "--shard 3/2: give I/N, for example 1/4 for the first of four"),
                                (["--resume", "--round", "2"], "--resume goes on with the last round: leave out --round")):
            done = self.run_round(*arguments)
            self.assertEqual((done.returncode, done.stderr), (2, f"outrider: {said}\n"))

    def test_places(self):
        self.write("finds")
        shutil.copy(self.folder / "c.xml", self.folder / "store.db")
        done = self.run_round()
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"\Aoutrider: [^\n]+\n\Z")


if __name__ == "__main__":
    unittest.main()
