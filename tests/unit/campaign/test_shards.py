#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A round that is split over runners finds what an undivided round finds: with merged stores, with one server for two runners, and under Slurm."""

import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
import campaign_rig as rig  # noqa: E402

PACE = 0.01  # seconds a race
SUBMITTED = 6  # rounds at once
SLURM_CONF = """ClusterName=outrider
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=1
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=16 RealMemory=16000 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def wait_until(what, why):
    end = time.monotonic() + rig.CAP
    while not what():
        if time.monotonic() > end:
            raise AssertionError(why())
        time.sleep(0.1)


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@contextlib.contextmanager
def daemon(words, log, **more):
    with open(log, "a", encoding="utf-8") as out:
        process = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=out, stderr=out, **more)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def slurm():
    """Run a Slurm cluster whose only node is this host, in a folder of its own and on loopback ports. Yields the variables for its commands."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="outrider-slurm."))
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    conf = folder / "slurm.conf"
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    conf.write_text(SLURM_CONF.format(host=socket.gethostname().split(".")[0], user=user, folder=folder, ports=free_ports(2)), encoding="utf-8")
    variables = dict(os.environ, SLURM_CONF=str(conf))

    def logs():
        return "\n".join(f"{path}:\n{path.read_text(encoding='utf-8', errors='replace')[-3000:]}" for path in folder.glob("*.log"))

    def is_up():
        for process in started:
            if process.poll() is not None:
                raise AssertionError(f"a daemon has ended\n{logs()}")
        done = subprocess.run(["sinfo", "-h", "-o", "%T"], env=variables, capture_output=True, text=True, check=False)
        return done.stdout.strip() == "idle"

    try:
        with contextlib.ExitStack() as stack:
            started = [stack.enter_context(daemon(
                ["/usr/sbin/munged", "--foreground", "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket",
                 f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed"], folder / "munged.log"))]
            wait_until((folder / "munge.socket").exists, logs)
            for name in ("slurmctld", "slurmd"):
                started.append(stack.enter_context(daemon([f"/usr/sbin/{name}", "-D", "-f", conf], folder / f"{name}.out.log", env=variables)))
            wait_until(is_up, logs)
            yield variables, logs
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def tasks(variables):
    """The array tasks that have begun and are not over, by number: the number of the job, the state, and how often Slurm restarted the task."""
    found = {}
    shown = subprocess.run(["scontrol", "show", "-o", "job"], env=variables, capture_output=True, text=True, check=False)
    for line in shown.stdout.splitlines():
        job = dict(word.split("=", 1) for word in line.split() if "=" in word)
        if job.get("ArrayTaskId", "").isdecimal() and job["JobState"] != "COMPLETED":
            found[job["ArrayTaskId"]] = (job["JobId"], job["JobState"], int(job["Restarts"]))
    return found


def are_over(variables):
    """Whether the queue is empty."""
    queue = subprocess.run(["squeue", "-h"], env=variables, capture_output=True, text=True, check=False)
    return queue.returncode == 0 and not queue.stdout.strip()


class Shards(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = rig.make_campaign(self.folder)

    def place(self, name):
        (self.folder / name).mkdir()
        return self.folder / name / "store.db"

    def whole(self):
        """The rows in the store of an undivided round."""
        store = self.place("whole")
        rig.outrider("run", "--overcommit", "--store", store, "--round", 1, self.file)
        content = rig.dump(store)
        self.assertEqual(len(content["runs"]), rig.RUNS)
        return content

    def shard(self, store, name, pace=0.0):
        (self.folder / f"data{name}").mkdir()
        words = [rig.OUTRIDER, "campaign", "run", "--quiet", "--overcommit", "--store", store, "--round", "1", "--shard", f"{name}/2", self.file]
        return subprocess.Popen(words, env=dict(os.environ, PACE=str(pace), XDG_DATA_HOME=str(self.folder / f"data{name}")),
                                stdin=subprocess.DEVNULL)

    def same(self, place, expected):
        found = rig.dump(place)
        for name, rows in expected.items():
            self.assertEqual(found[name], rows, name)

    def test_merged(self):
        parts = [self.place("first"), self.place("second")]
        for number, store in enumerate(parts, 1):
            self.assertEqual(self.shard(store, number).wait(timeout=rig.CAP), 0)
        expected = self.whole()
        counts = [len(rig.dump(store)["runs"]) for store in parts]
        self.assertEqual(sum(counts), rig.RUNS)
        self.assertTrue(all(counts), counts)
        for _ in range(2):  # merging twice changes nothing
            rig.outrider("merge", "--store", parts[0], parts[1])
            self.same(parts[0], expected)

    def test_two_runners_on_one_server(self):
        expected = self.whole()
        with rig.postgres() as url:
            runners = [self.shard(url, number, PACE) for number in (1, 2)]
            for runner in runners:
                self.assertEqual(runner.wait(timeout=rig.CAP), 0)
            self.same(url, expected)
            reported = sorted(rig.reported(self.folder / "data1/outrider/runs") + rig.reported(self.folder / "data2/outrider/runs"))
            self.assertEqual(rig.stored(url), reported)
            self.assertTrue(reported)

    def submit(self, url, variables, jobs=4):
        done = subprocess.run([rig.OUTRIDER, "campaign", "submit", "--slurm", "--shards", "2", "--jobs", str(jobs), "--store", url, self.file],
                              cwd=self.folder, env=variables, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("made: round 1 is submitted in 2 shards\n", done.stdout)

    def test_slurm(self):
        expected = self.whole()
        with rig.postgres() as url, slurm() as (variables, logs):
            variables |= {"PACE": str(PACE), "XDG_DATA_HOME": str(self.folder / "data")}
            self.submit(url, variables)
            wait_until(lambda: are_over(variables), logs)
            said = {path.name: path.read_text(encoding="utf-8") for path in self.folder.glob("*.log")}
            self.assertEqual(sorted(said), ["outrider-made-1-1.log", "outrider-made-1-2.log"], logs())
            for text in said.values():
                self.assertRegex(text, r"(?m)^made: round 1: (\d+) of \1 runs done")
            self.same(url, expected)
            # The next submission gets the number of another round.
            done = subprocess.run([rig.OUTRIDER, "campaign", "submit", "--slurm", "--shards", "2", "--print", "--store", url, self.file],
                                  capture_output=True, text=True, check=True)
            self.assertIn("--round 2 ", done.stdout)

    def test_slurm_starts_tasks_again(self):
        """Slurm puts one task back into the queue, then the node of both tasks fails. Each time the tasks go on with the runs that are not done."""
        expected = self.whole()
        gate = self.folder / "gate"
        gate.mkdir()
        runs = self.folder / "data/outrider/runs"

        def attempts():
            """The runs that wait in the middle, one for each task."""
            return [path for path in runs.glob("*/*/races.json") if "~" not in str(path) and path.read_text(encoding="utf-8").count('"count"') >= 4]

        with rig.postgres() as url, slurm() as (variables, logs):
            variables |= {"GATE": str(gate), "XDG_DATA_HOME": str(self.folder / "data")}

            def scontrol(*words):
                subprocess.run(["scontrol", *words], env=variables, check=True)

            def restarts(*wanted):
                """Whether both tasks run, and Slurm has restarted them as often as `wanted` says, task by task."""
                found = tasks(variables)
                return [found.get(task, (0, "", -1))[1:] for task in ("1", "2")] == [("RUNNING", count) for count in wanted]

            self.submit(url, variables, jobs=1)
            wait_until(lambda: restarts(0, 0) and len(attempts()) == 2, logs)
            scontrol("requeue", tasks(variables)["1"][0])
            wait_until(lambda: restarts(1, 0), logs)
            cut_off = "SELECT count(*) FROM run WHERE cell LIKE '%~%'"
            wait_until(lambda: rig.ask(url, cut_off) == [["1"]] and len(attempts()) == 2, logs)
            node = f"nodename={socket.gethostname().split('.')[0]}"
            scontrol("update", node, "state=down", "reason=test")
            scontrol("update", node, "state=resume")
            wait_until(lambda: restarts(2, 1), logs)
            wait_until(lambda: rig.ask(url, cut_off) == [["3"]], logs)
            (gate / "open").touch()
            wait_until(lambda: are_over(variables), logs)
            self.assertEqual(rig.finished(rig.dump(url)), rig.finished(expected))
            reported = rig.reported(runs)
            self.assertEqual(rig.stored(url), reported)
            # The store also has the races of the three attempts that were cut off.
            self.assertGreater(len(reported), len(expected["sightings"]))

    def test_submitted_at_once(self):
        """Rounds that are submitted at the same time get different numbers, although no runner has begun any of them."""
        with rig.postgres() as url:
            asked = [subprocess.Popen([rig.OUTRIDER, "campaign", "submit", "--slurm", "--shards", "2", "--print", "--store", url, self.file],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(SUBMITTED)]
            scripts = [asker.communicate(timeout=rig.CAP)[0] for asker in asked]
        numbers = [int(number) for script in scripts for number in re.findall(r" --round (\d+) ", script)]
        self.assertEqual(sorted(numbers), list(range(1, SUBMITTED + 1)), "\n".join(scripts))


if __name__ == "__main__":
    unittest.main()
